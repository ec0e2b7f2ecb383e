"""Approvals: breaks that somebody accepted, and where and until when that holds."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.model.labels.versions import AUTO, reading, series
from abistore.model.names import Kind
from abistore.model.snapshot import hide_secrets

FOREVER: Final = "forever"


class ApprovedFacts(msgspec.Struct, frozen=True):
    """What was approved: the kind of change, the declaration and its part, and the values before and after."""

    kind: str
    subject: Kind
    symbol: str
    part: str = ""
    old_value: str | None = None
    new_value: str | None = None

    @property
    def values(self) -> str:
        """The values in one line: ``int x -> long x``."""
        return values(self.old_value, self.new_value)


def values(old: str | None, new: str | None) -> str:
    """Two values in one line, whatever their spacing; one that a side lacks is left out."""
    return " -> ".join(" ".join(each.split()) for each in (old, new) if each is not None)


class Approval(msgspec.Struct, frozen=True):
    """A break of a library that somebody accepted. No verdict depends on it; a gate lets it through.

    ``identity`` is the finding's, and ``facts`` are what it said, ``None`` where no stored comparison had it. ``scope``
    is ``forever``, ``release:VERSION`` or ``branch:CHANNEL``; ``until`` is empty, ``date:``, ``version:`` or
    ``soname:``, each with the last that it holds for. ``approver`` decided, ``actor`` wrote it down. ``origin`` says
    where it came from if nobody typed it here: ``file approvals.yaml``. ``withdrawn`` takes back what was approved.
    """

    library: str
    identity: str
    facts: ApprovedFacts | None
    scope: str
    until: str
    reason: str
    ticket: str
    approver: str
    actor: str
    approved: datetime
    origin: str = ""
    withdrawn: bool = False

    def __post_init__(self) -> None:
        """A reason or ticket may quote a URL with a password."""
        hide_secrets(self, "reason")
        hide_secrets(self, "ticket")

    @property
    def key(self) -> tuple[str, str, str]:
        """What the last word is asked for: one finding may be approved for several scopes."""
        return self.library, self.identity, self.scope

    @property
    def terms(self) -> tuple[str, ...]:
        """What it says, without who wrote it down and when."""
        said = (self.until, self.reason, self.ticket, self.approver, self.origin)
        return (*self.key, *said, "withdrawn" * self.withdrawn)


class GatePlace(NamedTuple):
    """Where a gate stands: on which day, and before which release. What is ``None`` is not known."""

    today: date
    version: str | None = None
    soname: str | None = None
    channel: str | None = None
    scheme: str = AUTO


ApprovalState: TypeAlias = Literal["holds", "expired", "elsewhere"]


def state_at(approval: Approval, at: GatePlace) -> ApprovalState:
    """Whether an approval holds at a gate. What is not known does not hold: a release without a version, say."""
    if not _covers(approval.scope, at):
        return "elsewhere"
    word, _, last = approval.until.partition(":")
    if word == "date":
        return "holds" if at.today <= date.fromisoformat(last) else "expired"
    if word == "version":
        return "holds" if at.version is not None and _no_later(at.version, last, at.scheme) else "expired"
    if word == "soname":
        return "holds" if at.soname == last else "expired"
    return "holds"


def _covers(scope: str, at: GatePlace) -> bool:
    word, _, named = scope.partition(":")
    return scope == FOREVER or (bool(named) and named == {"release": at.version, "branch": at.channel}.get(word))


def _no_later(version: str, last: str, scheme: str) -> bool:
    """Whether a version comes no later than the last one. Labels that the scheme cannot order do not."""
    one, other = reading(version, scheme), reading(last, scheme)
    if one is None or other is None or series(version, scheme) != series(last, scheme):
        return False
    return one <= other


def in_words(approval: Approval) -> str:
    """By whom, where and until when: ``by ana until 2026-12-31 (LIB-7)``."""
    until = approval.until.partition(":")[2]
    scope = "" if approval.scope == FOREVER else f" for {approval.scope.replace(':', ' ', 1)}"
    ticket = f" ({approval.ticket})" if approval.ticket else ""
    return f"by {approval.approver}{scope}{f' until {until}' if until else ''}{ticket}"
