"""Written edits, as they stand in the files beside this one."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.oracle.pieces import Language

FILES: Final = Path(__file__).parent
MAKERS: Final = ("gcc", "clang")


@dataclass(frozen=True)
class Edit:
    """An edit: a text for each file and side, and whether it breaks what was built with the old side.

    ``breaks`` are the compilers of which this holds. ``known`` are ways of asking that cannot tell, with the reason.
    """

    title: str
    breaks: Collection[str]
    texts: Mapping[str, str]
    language: Language = "c++"
    flags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)

    def text(self, file: str, side: str) -> str:
        """A file as one side has it: ``header``, ``source``, ``client`` or ``map``; empty where there is none."""
        other = {"old": "+", "new": "-"}[side]
        lines = (line for line in self.texts.get(file, "").splitlines() if line[:1] != other)
        return "".join(f"{' ' + line[1:] if line[:1] in '-+' and line else line}\n" for line in lines)


def written() -> list[Edit]:
    """All edits, by file and in order."""
    return [edit for path in sorted(FILES.glob("*.toml")) for edit in _read(path)]


def _read(path: Path) -> Iterator[Edit]:
    for each in tomllib.loads(path.read_text())["edit"]:
        yield _edit(each)


def _edit(told: Mapping[str, Any]) -> Edit:
    texts = {name: told[name] for name in ("header", "source", "client", "map") if name in told}
    breaks = told["breaks"]
    makers = tuple(breaks) if isinstance(breaks, list) else MAKERS if breaks else ()
    flags = {name: told.get(name, "").split() for name in ("flags", "old_flags", "new_flags", "client_flags")}
    return Edit(told["title"], makers, texts, told.get("language", "c++"), flags, told.get("known", {}))
