"""The decision about a release: what changed, what its line promises, and whether it may ship.

Three words. The *verdict* says what changed. The *outcome* says whether the release may ship. A *waiver* is a break
that somebody approved. Surfaces render a :class:`Decision`; none computes a part of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

import msgspec

from abistore.model.bump import Bump
from abistore.model.declarations import Facet
from abistore.model.findings import FailOn

Outcome: TypeAlias = Literal["pass", "fail", "undecided"]
"""Whether a release may ship: exit code 0; 2 or 4; 72 where the evidence does not suffice."""

ComparedAs: TypeAlias = Literal["first", "previous", "baseline", "release", "file"]
"""Why a release was compared with another one.

``first``: it is the first of its line, and was compared with nothing. ``previous``: the release that it follows in its
line. ``baseline``: the release at a channel. ``release``: a release that was named, even where it is the previous one.
``file``: two files.
"""

ReasonCode: TypeAlias = Literal[
    "first-release",
    "no-break",
    "tolerated",
    "allowed",
    "waived",
    "breaking",
    "source-breaking",
    "risk",
    "waiver-expired",
    "waiver-void",
    "inherited",
    "evidence-missing",
    "not-judged",
]
"""Why the outcome is what it is.

``tolerated``: the gate fails from a graver verdict on. ``allowed``: the line promises nothing that this step breaks, as
the SONAME or the label says so. ``waived``: all that would fail is approved. ``waiver-expired`` and ``waiver-void``: an
approval exists that does not apply any more, or to this. ``inherited``: the merge base has these breaks already.
"""

WayCode: TypeAlias = Literal["restore", "bump", "approve", "evidence", "baseline"]
"""What would make a release pass."""


class Counterpart(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a release was compared with, and why; ``channel`` is that of a baseline."""

    why: ComparedAs
    version: str = ""
    digest: str = ""
    channel: str = ""


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reason of an outcome, as a sentence; ``findings`` are the ids of those that it is about."""

    code: ReasonCode
    sentence: str
    findings: tuple[str, ...] = ()


class Way(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing to do, after which the release passes; ``command`` does it, where a command can."""

    code: WayCode
    sentence: str
    command: str = ""


class Waiver(msgspec.Struct, frozen=True, omit_defaults=True):
    """An approval of a finding of this release: who accepted it, why, and until when.

    ``state`` is ``expired`` after its end, and ``void`` where it does not apply to this finding; ``said`` says why.
    """

    finding: str
    kind: str
    display: str
    state: Literal["approved", "expired", "void"]
    part: str = ""
    approver: str = ""
    reason: str = ""
    ticket: str = ""
    scope: str = ""
    until: str = ""
    approved: str = ""
    said: str = ""


class MissingEvidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """Evidence that the decision needs and does not have, and how to get it."""

    facet: Facet | None
    sentence: str
    hint: str = ""


class HurtConsumer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A known program that a break hurts, and the ids of the findings that it meets."""

    name: str
    findings: tuple[str, ...] = ()


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether a release may ship, and everything that this rests on.

    ``verdict`` is ``None`` where the release was compared with nothing, or could not be judged. ``promise`` says what
    the line promises, by SONAME and label, and whether this step keeps it. ``reasons`` stand in the order of their
    weight; ``headline`` is all of it in one sentence. ``exit_code`` is that of every command that states the outcome.
    """

    library: str
    version: str
    against: Counterpart
    verdict: str | None
    outcome: Outcome
    exit_code: int
    headline: str
    reasons: tuple[Reason, ...]
    target: str = ""
    profile: str = ""
    fail_on: FailOn = "api_break"
    promise: Bump | None = None
    waivers: tuple[Waiver, ...] = ()
    missing: tuple[MissingEvidence, ...] = ()
    ways: tuple[Way, ...] = ()
    consumers: tuple[HurtConsumer, ...] = ()

    @property
    def code(self) -> ReasonCode:
        """Its first reason."""
        return self.reasons[0].code

    @property
    def failing(self) -> tuple[str, ...]:
        """The findings for which it fails."""
        return self.reasons[0].findings if self.outcome == "fail" else ()

    @property
    def waived(self) -> tuple[Waiver, ...]:
        """The waivers that apply."""
        return tuple(each for each in self.waivers if each.state == "approved")

    @property
    def waived_ids(self) -> frozenset[str]:
        """The findings that somebody approved."""
        return frozenset(each.finding for each in self.waived)


_RANKS: Final[dict[Outcome, int]] = {"pass": 0, "undecided": 1, "fail": 2}
_CODES: Final[tuple[ReasonCode, ...]] = ("first-release", "no-break")
"""Reasons of what passes without an excuse."""


def worst_decision(decisions: Iterable[Decision]) -> Decision:
    """The decision that asks most; of equal ones the first."""
    return max(decisions, key=_weight)


def best_decision(decisions: Iterable[Decision]) -> Decision:
    """The decision that asks least; of equal ones the first."""
    return min(decisions, key=_weight)


def _weight(decision: Decision) -> tuple[int, int, bool]:
    return _RANKS[decision.outcome], decision.exit_code, decision.code not in _CODES
