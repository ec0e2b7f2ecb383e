"""Lines, releases, baselines and verdicts that the store remembers, and who did what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Literal, TypeAlias

import msgspec

from abistore.model.declarations import Facet, Name
from abistore.model.findings import Churn, Comparison, Finding, RulingKey, Verdict
from abistore.model.findings import Side as ComparedSide
from abistore.model.snapshot import Evidence, Provenance, ReleaseTag, Target, Variants, hide_secrets

Progress: TypeAlias = Callable[[str, float], None]
"""Is told what is being done, and how much of it is done, from 0 to 1."""

DEFAULT_CHANNEL = "release"
"""The baseline channel that is meant where none is named."""

CANDIDATE = "candidate:"
"""What a reference to a candidate has before its version: ``libfoo@candidate:1.2.0``."""

DEFAULT_PROFILE = "default"
"""The build profile that is meant where none is named."""


class LineKey(msgspec.Struct, frozen=True, order=True):
    """What has one history: a library, on one target, in one build profile (``default`` unless the caller says)."""

    library: str
    target: str
    profile: str = DEFAULT_PROFILE

    def __str__(self) -> str:
        return f"{self.library} ({self.target}, {self.profile})"


class IngestRequest(msgspec.Struct, frozen=True):
    """What the caller says about a snapshot that it ingests; the rest is in the snapshot's provenance.

    ``version`` is the release's label; ``replace`` allows another binary under a taken label. ``revision`` is the
    source revision and ``url`` the CI job. ``actor`` is who ingests, for the audit. ``replace_baseline`` is the reason
    for replacing a release at which a baseline stands. ``candidate`` keeps the snapshot without making it a release.
    ``read_here`` tells that it was read from the very file just now, so that the release may answer for that later.
    ``tags`` are put on the release.
    """

    version: str
    profile: str = DEFAULT_PROFILE
    library: str | None = None
    replace: bool = False
    revision: str | None = None
    url: str | None = None
    actor: str = ""
    released: datetime | None = None
    replace_baseline: str = ""
    candidate: bool = False
    read_here: bool = False
    tags: tuple[ReleaseTag, ...] = ()

    def __post_init__(self) -> None:
        """A token in the CI job's URL is not kept."""
        hide_secrets(self, "url")


class Release(msgspec.Struct, frozen=True):
    """One stored snapshot's card: everything but its entries. ``sequence`` is the order of ingestion in its line.

    ``digest`` is hexadecimal. ``exports`` counts the names of exported functions and variables, ``declarations`` the
    names that any facet saw, imports and the library itself aside. A ``candidate`` failed its gate: it is kept, and is
    no release. ``tags`` are sorted.
    """

    line: LineKey
    version: str
    sequence: int
    digest: str
    target: Target
    soname: str | None
    exports: int
    declarations: int
    ingested: datetime
    released: datetime | None
    revision: str | None
    url: str | None
    provenance: Provenance
    evidence: tuple[Evidence, ...]
    candidate: bool = False
    tags: tuple[ReleaseTag, ...] = ()

    @property
    def reference(self) -> str:
        """How to name it: ``libfoo@1.2.0``, or ``libfoo@candidate:1.2.0``."""
        return f"{self.line.library}@{CANDIDATE if self.candidate else ''}{self.version}"

    def __post_init__(self) -> None:
        """What older versions kept is not shown."""
        hide_secrets(self, "url")

    @property
    def recorded_name(self) -> str | None:
        """What programs record when they are linked: the SONAME, or the file's name where there is none."""
        return self.soname or self.provenance.file or None

    @property
    def side(self) -> ComparedSide:
        """The release as an operand of a comparison."""
        line = self.line
        return ComparedSide(
            line.library, self.version, self.digest, line.target, self.soname, self.evidence, self.exports
        )


class IngestOutcome(msgspec.Struct, frozen=True):
    """What an ingest did: ``known`` is true where the release is stored with this content and nothing was written.

    ``entries_written`` counts the entries that begin or end with this release.
    """

    release: Release
    known: bool
    replaced: bool
    entries_written: int
    shapes_written: int


class ReleaseFacts(msgspec.Struct, frozen=True):
    """What people say about a release, which no binary tells: its day, its source revision, the CI job that built it.

    ``None`` where nobody did.
    """

    released: datetime | None = None
    revision: str | None = None
    url: str | None = None

    def __post_init__(self) -> None:
        """A token in the CI job's URL is not kept."""
        hide_secrets(self, "url")


class Amendment(msgspec.Struct, frozen=True):
    """The outcome of correcting the facts of a stored release; ``before`` are the facts until then.

    ``changed`` names the facts that say something else now, ``kept`` those that were said otherwise and stay.
    """

    release: Release
    before: ReleaseFacts
    changed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class TaggedRelease(msgspec.Struct, frozen=True):
    """A release with the tags that it has now; ``changed`` where it had others before."""

    release: Release
    changed: bool


ReviewState: TypeAlias = Literal["open", "seen", "intended", "defect"]
"""What people say of a finding: looked at, deliberate, or to be mended; ``open`` takes that back."""


class FindingReview(msgspec.Struct, frozen=True):
    """What was said of a finding in a library, wherever it is found. It has no effect on any verdict."""

    library: str
    identity: str
    state: ReviewState
    note: str
    actor: str
    reviewed: datetime

    def __post_init__(self) -> None:
        """A note may quote a URL."""
        hide_secrets(self, "note")


class BaselineMove(msgspec.Struct, frozen=True):
    """One move of a baseline channel; ``version`` is ``None`` where the channel was cleared.

    ``digest`` (hexadecimal) is the content that the channel was moved to; ``None`` where an older abistore moved it.
    """

    line: LineKey
    channel: str
    version: str | None
    moved: datetime
    actor: str
    reason: str
    digest: str | None = None

    def __post_init__(self) -> None:
        """A reason may quote a URL."""
        hide_secrets(self, "reason")


class LineOrder(msgspec.Struct, frozen=True):
    """How a line is ordered. ``unordered`` are the labels that ``scheme`` cannot order, in the order of ingestion.

    ``moved`` are the releases that stand elsewhere since another scheme was declared just now, and ``latest_before``
    what was the latest until then.
    """

    line: LineKey
    scheme: str
    latest: str
    latest_before: str
    moved: tuple[str, ...] = ()
    unordered: tuple[str, ...] = ()


class StoredVerdict(msgspec.Struct, frozen=True):
    """An immutable judgement about two releases: what was found, without what the releases themselves tell.

    ``comparison`` has its sides, and the places where declarations stand, from the releases it is asked for. ``asker``
    is who or what asked for it first: ``ana: history``.
    """

    old: Release
    new: Release
    comparison: Comparison
    churn: Churn
    judged: datetime
    asker: str = ""


SeenFacets: TypeAlias = tuple[Mapping[Facet, str], Mapping[Facet, str]]
"""How much of each facet the old and the new side show: ``full``, ``partial`` or ``missing``."""


class VerdictSummary(msgspec.Struct, frozen=True):
    """A stored judgement as a timeline shows it. Counts are of findings; ``suppressed`` ones are in no other count.

    ``unequal_evidence`` names the facets that one side saw less of than the other, ``not_checked`` counts what was not
    compared for want of evidence. ``evidence`` is what both sides showed, ``None`` in rows of an older
    abistore; ``asker`` is who or what asked for the verdict first.
    """

    verdict: Verdict
    breaking: int
    api_breaks: int
    risk_changes: int
    compatible: int
    notices: int
    suppressed: int
    not_checked: int
    churn: Churn
    unequal_evidence: tuple[Facet, ...]
    ruling: RulingKey
    engine: str
    judged: datetime
    evidence: SeenFacets | None = None
    asker: str = ""


class Sighting(msgspec.Struct, frozen=True):
    """A finding of a stored judgement, with its identity there."""

    old: Release
    new: Release
    judged: datetime
    identity: str
    finding: Finding


class LogEvent(msgspec.Struct, frozen=True):
    """One release in which a declaration appeared, changed or vanished, with its shapes before and after.

    ``not-observed``: the release's evidence could not show it, so that it may have been there or not; ``before`` is
    what was last seen. ``first_stored``: the release is the line's oldest, so that nobody knows what was before.
    """

    release: Release
    name: Name
    facet: Facet
    action: Literal["appeared", "changed", "vanished", "not-observed"]
    before: Variants
    after: Variants
    first_stored: bool = False


class AuditRecord(msgspec.Struct, frozen=True):
    """One mutation of the store, written in the same transaction as what it describes.

    ``origin`` is the digest that the record has in another store, where it was merged from there.
    """

    at: datetime
    actor: str
    action: str
    subject: str
    detail: str
    origin: str = ""


class AuditHead(msgspec.Struct, frozen=True):
    """The last record of the audit: its number, 0 without any, and its digest, which depends on all before it."""

    number: int
    digest: str


class VerifiedAudit(msgspec.Struct, frozen=True):
    """A signed head of the audit that the store still has: who signed it when, and how many records were added since.

    ``key`` is a fingerprint, ``principals`` are those of the list of trusted signers.
    """

    head: AuditHead
    signed: datetime
    key: str
    principals: tuple[str, ...]
    added: int


class StoreStats(msgspec.Struct, frozen=True):
    """How much a store holds. ``size`` is in bytes; ``superseded`` counts the snapshots replaced or taken back,
    ``candidates`` those that failed their gate and were kept."""

    revision: str
    size: int
    libraries: int
    lines: int
    releases: int
    superseded: int
    candidates: int
    names: int
    shapes: int
    entries: int
    verdicts: int
    audit_records: int


class StoreUpgrade(msgspec.Struct, frozen=True):
    """A store's schema revision before and after; ``backup`` is the path of the copy that was taken first."""

    before: str
    after: str
    backup: str | None


Side: TypeAlias = Literal["here", "there"]
"""Which side wins where both say something else: the store that is written to, or what is brought into it."""

Came: TypeAlias = Literal["added", "known", "replaced", "kept", "conflict", "refused"]


class MergedRelease(msgspec.Struct, frozen=True):
    """A merged release or candidate.

    ``added`` is new here, ``known`` was here with this content, ``replaced`` replaced another content of this version,
    ``kept`` left the content here in place, and a ``conflict`` needs ``--prefer``. A ``refused`` one has a name that no
    command accepts, and is skipped.
    """

    line: LineKey
    version: str
    status: Came
    digest: str
    candidate: bool = False
    why: str = ""


class Merged(msgspec.Struct, frozen=True):
    """What a merge added to a store, or would add: the numbers count what was new.

    ``earlier`` are snapshots that were replaced or removed at the source. ``conflicts`` name what differs on both
    sides, and ``notes`` what stays unchanged here. ``left_out`` are releases and baselines with names that no command
    accepts.
    """

    source: str
    dry_run: bool
    changed: bool
    releases: tuple[MergedRelease, ...] = ()
    earlier: int = 0
    baseline_moves: int = 0
    verdicts: int = 0
    findings: int = 0
    reviews: int = 0
    approvals: int = 0
    consumers: int = 0
    environments: int = 0
    rules: int = 0
    audit_records: int = 0
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


PruneReason: TypeAlias = Literal["candidate", "replaced", "build"]
"""``candidate``: it failed its gate. ``replaced``: another took its label, or it was taken back. ``build``: its label
is of a build between releases, as ``git describe`` gives it."""
