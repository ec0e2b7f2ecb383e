"""Why answers about drawn edits are not the truth, as ``reasons.toml`` says."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.oracle.running.asking import MODES

FILE: Final = Path(__file__).parent / "reasons.toml"


@dataclass(frozen=True)
class Reason:
    """Why some answers are not the truth: how they compare with it, in which modes, and of which operators."""

    text: str
    words: frozenset[str]
    modes: frozenset[str]
    operators: frozenset[str]


def reasons() -> list[Reason]:
    """The reasons that are written down."""
    return [
        Reason(
            each["text"], frozenset(each["words"]), frozenset(each.get("modes", MODES)), frozenset(each["operators"])
        )
        for each in tomllib.loads(FILE.read_text())["reason"]
    ]


def reason(listed: Sequence[Reason], word: str, mode: str, operators: Iterable[str]) -> str:
    """The first that holds for an answer; empty where none does."""
    used = set(operators)
    found = (each for each in listed if word in each.words and mode in each.modes and each.operators & used)
    return next((each.text for each in found), "")
