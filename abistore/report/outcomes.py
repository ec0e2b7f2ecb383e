"""Whether releases may ship, as marks and badges that need no colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from abistore.model.decision import Decision
from abistore.model.words import bounded
from abistore.report.history import OCTAGON, SQUARE, HistoryRow, Mark

ShownOutcome: TypeAlias = Literal["fail", "undecided", "waived", "pass"]
"""An outcome as pages mark it: one that passes by a waiver is told from others. The worst stands first."""

_SHIELD = ((-0.95, -0.95), (0.95, -0.95), (0.95, 0.25), (0, 1.15), (-0.95, 0.25))

OUTCOMES: Mapping[ShownOutcome, Mark] = {
    "fail": Mark("F", "fail", "Fail", OCTAGON),
    "undecided": Mark("?", "undecided", "Undecided", SQUARE),
    "waived": Mark("W", "waived", "Waived", _SHIELD),
    "pass": Mark("P", "pass", "Pass"),
}
MEANINGS: Mapping[ShownOutcome, str] = {
    "fail": "it breaks what its line promises",
    "undecided": "the evidence does not suffice",
    "waived": "it breaks, and somebody approved that",
    "pass": "nothing breaks, or the line allows it",
}
COLOURS: Mapping[ShownOutcome, str] = {
    "fail": "b3261e",
    "undecided": "7d5200",
    "waived": "0b6b5f",
    "pass": "0b5cad",
}
"""The colours of badges, which know no scheme: those of ``page.css`` in the light."""


def decision_of(row: HistoryRow) -> Decision:
    """The decision about a release of a timeline, which every stored history has."""
    if row.decision is None:
        raise ValueError(f"{row.release.reference}: nothing decided about it")
    return row.decision


def shown_outcome(decision: Decision) -> ShownOutcome:
    """The outcome as pages mark it."""
    if decision.outcome == "pass" and any(reason.code == "waived" for reason in decision.reasons):
        return "waived"
    return decision.outcome


def outcome_mark(decision: Decision) -> Mark:
    """The mark of a decision's outcome."""
    return OUTCOMES[shown_outcome(decision)]


class BadgeFacts(msgspec.Struct, frozen=True, rename="camel"):
    """What badge services read, by the keys of the endpoint badges of shields.io."""

    label: str
    message: str
    color: str
    schema_version: int = 1


def badge_facts(decision: Decision) -> BadgeFacts:
    """The badge of a release: ``ABI | 2.3.0 waived``."""
    shown = shown_outcome(decision)
    return BadgeFacts("ABI", f"{bounded(decision.version, 40)} {OUTCOMES[shown].words.lower()}", COLOURS[shown])
