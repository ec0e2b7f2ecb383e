"""Why an evidence does not show a kind of change: the first entry of ``kinds_not_seen.toml`` that is about it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from abistore.diffing.context import load
from abistore.model.kind_names import former_names

SEEN: Final = "seen"
UNKNOWN: Final = "unknown"

_ROWS: Final[list[dict[str, Any]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["reason"]

REASONS: Final[dict[str, str]] = {row["key"]: row["says"] for row in _ROWS}
"""By key, what the page says."""


def why(kind: str, evidence: str, failed: Sequence[str]) -> str:
    """The key of the reason why no case of ``kind`` is seen. ``failed`` tells what kept each from being compared."""
    names = (kind, *former_names(kind))
    for row in _ROWS:
        if evidence in row.get("evidence", ()) and any(_begins(name, row["kinds"]) for name in names):
            return str(row["key"])
    if evidence != "headers" and load()[kind].evidence == "source":
        return "source"
    if all(failed):
        return "kept" if set(failed) == {"not compiled"} else "platform"
    return "binary" if evidence == "headers" else UNKNOWN


def _begins(name: str, beginnings: Sequence[str]) -> bool:
    """Whether one of them is the beginning of a kind's name: of a variant's only where it names the variant."""
    return name.startswith(tuple(each for each in beginnings if "." in each or "." not in name))
