"""The verdicts of a release against its baselines, and the statement about a release."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Final, Literal, TypeAlias

import msgspec

from abistore.model.approvals import Deprecation
from abistore.model.decision import Decision, Outcome
from abistore.model.declarations import Facet, Kind
from abistore.model.findings import RulingFile, Verdict
from abistore.model.history import LineKey, Release, VerdictSummary
from abistore.model.snapshot import Evidence

Role: TypeAlias = Literal["previous", "soname", "file_name", "channel", "last_with", "bound"]
"""Why a release is measured by another: it is the one before, the first with the same SONAME (or without any, with the
same file name), a channel's, or the last one before a break that none of these shows."""

WITHDRAWN: Final = frozenset({"withdrawn", "yanked"})
"""Tags of releases that were taken back."""

UNSUPPORTED: Final = WITHDRAWN | {"eol", "unsupported"}
"""Tags of releases that nobody must stay compatible with any more."""


def is_supported(release: Release) -> bool:
    """Whether somebody must stay compatible with a release."""
    return not UNSUPPORTED & {tag.name for tag in release.tags}


def is_withdrawn(release: Release) -> bool:
    """Whether a release was taken back, so that others are not compared with it unasked."""
    return not WITHDRAWN.isdisjoint(tag.name for tag in release.tags)


class BaselineRole(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reason to measure a release by another; ``channel`` is its name for the role ``channel``.

    ``passed_over``: a supported release stands in this role beside it, as this one is tagged as withdrawn or no longer
    supported.
    """

    role: Role
    channel: str | None = None
    passed_over: bool = False

    def __str__(self) -> str:
        words = {
            "previous": "previous release",
            "soname": "first with this SONAME",
            "file_name": "first with this file name",
            "last_with": "last before a break",
            "bound": "with this SONAME, which a bound rule keeps",
        }
        word = words.get(self.role) or f"channel {self.channel}"
        return f"{word} (passed over)" if self.passed_over else word


def channels_of_roles(roles: Iterable[BaselineRole]) -> tuple[str | None, ...]:
    """The channels among the roles of a baseline, at each of which a gate may stand; ``None`` for no channel."""
    return tuple(each.channel for each in roles if each.channel is not None) or (None,)


class Standing(msgspec.Struct, frozen=True):
    """A release beside one of its baselines. A release that is a baseline for several reasons has all ``roles``.

    ``summary`` is ``None`` where nothing could be judged; ``unjudged`` says why. ``supported`` is false where the
    baseline is tagged as no longer supported: its verdict is told, and does not count. ``evidence_gap`` says what the
    verdict does not cover. ``decision`` says whether the release may ship beside this baseline: at the channel, if one
    stands there.
    """

    roles: tuple[BaselineRole, ...]
    against: Release
    summary: VerdictSummary | None
    decision: Decision
    unjudged: str = ""
    supported: bool = True
    evidence_gap: str = ""

    @property
    def role(self) -> Role:
        """The first of its roles."""
        return self.roles[0].role

    @property
    def channel(self) -> str | None:
        """The first channel that it is measured by."""
        return next((each.channel for each in self.roles if each.channel is not None), None)

    @property
    def channels(self) -> tuple[str | None, ...]:
        """All channels that it is measured by; none is ``None``."""
        return channels_of_roles(self.roles)

    @property
    def verdict(self) -> Verdict | None:
        """What was judged."""
        return self.summary.verdict if self.summary else None


class MissingLine(msgspec.Struct, frozen=True):
    """A line that has no release of a version which others have; ``why`` says which releases it has."""

    line: LineKey
    why: str


class Ledger(msgspec.Struct, frozen=True):
    """The verdicts about one release: against the previous one, the first with its SONAME, and each channel by name.

    Also against each release just before a break that these baselines miss: of declarations that were added, or
    temporarily changed, since the first release with this SONAME. ``worst`` is the worst against supported baselines;
    ``None`` without any, and where one could not be judged and the others break nothing. ``remarks`` are sentences
    about several releases: a break that no single step shows, and what the release restores or lacks. ``decision`` is
    the strictest one. ``channels`` point at the release itself. ``missing`` are lines without this version, which
    ``worst`` does not cover.
    """

    release: Release
    standings: tuple[Standing, ...]
    worst: Verdict | None
    decision: Decision
    remarks: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    missing: tuple[MissingLine, ...] = ()


class LineOfRelease(msgspec.Struct, frozen=True):
    """One line at a version: its ledger, or ``None`` where the line has no such release; ``missing`` says why."""

    line: LineKey
    ledger: Ledger | None
    missing: str = ""

    @property
    def release(self) -> Release | None:
        """The release of the line; ``None`` is a hole."""
        return self.ledger.release if self.ledger else None


class LineDifference(msgspec.Struct, frozen=True):
    """An export that only some lines of a library have at one version. ``symbols`` are its names where it is there."""

    library: str
    name: str
    symbols: tuple[str, ...]
    only_in: tuple[LineKey, ...]
    not_in: tuple[LineKey, ...]


class FoldedRelease(msgspec.Struct, frozen=True):
    """All lines of a release, of one library or of those in its release: one ``verdict``, the worst.

    A line that is missing is a hole: without a break elsewhere the verdict is ``None`` then, and never compatible. So
    it is where no line has anything to be measured by. ``outcome`` and ``exit_code`` are the worst of all lines, and
    undecided where one is missing and none fails. ``differences`` are exports that only some lines have.
    """

    library: str
    version: str
    libraries: tuple[str, ...]
    rows: tuple[LineOfRelease, ...]
    verdict: Verdict | None
    outcome: Outcome
    exit_code: int
    holes: int = 0
    differences: tuple[LineDifference, ...] = ()
    remarks: tuple[str, ...] = ()


class MovedFinding(msgspec.Struct, frozen=True):
    """A finding that a policy counts otherwise: the impact ``before`` and ``after``; empty where it is not found.

    ``suppressed`` is an impact here. ``reason`` is what the policy or the suppression gives.
    """

    id: str
    kind: str
    name: str
    part: str
    before: str
    after: str
    reason: str = ""


class MovedVerdict(msgspec.Struct, frozen=True):
    """A verdict about two releases under two policies, with the findings that count otherwise."""

    roles: tuple[BaselineRole, ...]
    old: str
    new: str
    before: Verdict
    after: Verdict
    findings: tuple[MovedFinding, ...] = ()

    @property
    def is_moved(self) -> bool:
        """Whether the verdict is another one, and not only a finding in it."""
        return self.before is not self.after


class Evaluation(msgspec.Struct, frozen=True):
    """A line's history by another policy: what ``moved`` of the ``judged`` verdicts, in release order.

    A verdict that stays is among them where findings in it count otherwise. ``unjudged`` says what could not be judged.
    """

    line: LineKey
    policy: str
    judged: int
    moved: tuple[MovedVerdict, ...]
    suppression_files: tuple[RulingFile, ...] = ()
    unjudged: tuple[str, ...] = ()


def worst_of(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """The worst verdict, of which ``None`` are missing: with a missing one nothing is known to be compatible."""
    found = tuple(verdicts)
    known = max((each for each in found if each is not None), default=None)
    if known is None or (None in found and known < Verdict.API_BREAK):
        return None
    return known


ApprovalState: TypeAlias = Literal["approved", "lapsed"]


class StatedApproval(msgspec.Struct, frozen=True):
    """A finding about a release that somebody accepted, beside one of its baselines.

    Of a ``lapsed`` one, ``said`` is why the approval does not hold for this release.
    """

    against: str
    id: str
    kind: str
    name: str
    part: str
    state: ApprovalState
    approver: str = ""
    reason: str = ""
    ticket: str = ""
    scope: str = ""
    until: str = ""
    approved: str = ""
    said: str = ""


class StatedGap(msgspec.Struct, frozen=True):
    """A facet that was not compared with a baseline: which side lacks it, why, and how to provide it.

    ``count`` is of ``names``; it is 0 where all of the facet is meant. ``against`` is ``any`` where the release
    does not show the facet, so that no baseline can be compared in it.
    """

    against: str
    facet: Facet
    side: Literal["old", "new", "both"]
    reason: str
    detail: str
    hint: str
    names: tuple[str, ...]
    count: int


class StatedExport(msgspec.Struct, frozen=True):
    """A function or a variable that only one of two releases exports."""

    kind: Kind
    symbol: str
    display: str


class StatedLine(msgspec.Struct, frozen=True):
    """A release in one line. Exports are compared with ``previous``; none is new in the first release.

    ``decision`` is the one that asks most of this line, and ``step`` the one about the step from ``previous``.
    ``removals`` are the declarations that headers had, with since when they were deprecated and whether that was long
    enough.
    """

    line: LineKey
    previous: str | None
    decision: Decision
    step: Decision | None
    evidence: tuple[Evidence, ...]
    exports: int
    new_exports: tuple[StatedExport, ...]
    removed_exports: tuple[StatedExport, ...]
    approvals: tuple[StatedApproval, ...]
    not_checked: tuple[StatedGap, ...]
    removals: tuple[Deprecation, ...] = ()


class ReleaseStatement(msgspec.Struct, frozen=True):
    """What is stated of a version of a library, over all its lines. ``sentence`` comes first and says the answer.

    ``outcome`` is the worst of all lines: undecided where a line is missing and none fails. ``verdict`` stays what was
    found. ``release`` has the verdicts
    against every baseline, the holes, and what only some lines export. ``today`` decided which approvals hold; it is
    ``None`` where there are none. ``deprecation`` is the window before which nothing may be removed. ``engine`` is the
    number of the judging; ``policy_digest`` and ``suppression_digest`` tell what the policy and the suppressions said.
    """

    library: str
    version: str
    sentence: str
    verdict: Verdict | None
    outcome: Outcome
    exit_code: int
    policy: str
    policy_file: RulingFile | None
    suppression_files: tuple[RulingFile, ...]
    today: date | None
    lines: tuple[StatedLine, ...]
    release: FoldedRelease
    deprecation: str = ""
    engine: str = ""
    policy_digest: str = ""
    suppression_digest: str = ""


class SignedSubject(msgspec.Struct, frozen=True):
    """A library that a signed statement is about: its file's name and SHA-256. ``file`` is the one that equals it."""

    name: str
    sha256: str
    file: str = ""


StatementPart: TypeAlias = Literal["engine", "policy", "suppressions", "baselines", "evidence", "approvals", "lines"]
"""What a decision rests on."""


class VerifiedStatement(msgspec.Struct, frozen=True):
    """A signed statement that was verified: what it says, and who signed it when.

    ``decided_again``: the store gives the same decision. ``changed`` is what it rests on and differs today all the
    same. ``key`` is a fingerprint, ``principals`` are those of the list of trusted signers.
    """

    library: str
    version: str
    sentence: str
    verdict: str | None
    outcome: Outcome
    exit_code: int
    signed: datetime
    key: str
    principals: tuple[str, ...]
    subjects: tuple[SignedSubject, ...]
    decided_again: bool = False
    changed: tuple[StatementPart, ...] = ()
