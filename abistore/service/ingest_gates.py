"""Gates that a snapshot passes to become a release, and what became of each ingested file."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.errors import EvidenceMissing, UsageError
from abistore.extract.reader import ExtractOptions
from abistore.model.decision import AllowRule, Decision
from abistore.model.history import IngestOutcome, IngestRequest, LineKey, Release
from abistore.model.labels import Given
from abistore.model.rules import BoundRule
from abistore.model.snapshot import Snapshot
from abistore.model.versions import DeprecationWindow
from abistore.report.model import Report
from abistore.service.judging import EvidenceRequirement, usual
from abistore.service.project import VersionFrom

if TYPE_CHECKING:
    from abistore.model.findings import FailOn
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store


class Gate(Given, frozen=True):
    """What a file must pass to become a release, and what happens then.

    ``against`` is ``baseline[:channel]``, ``prev``, ``latest`` or a version. ``require`` is the evidence needed, by
    default no less than the other side's. ``allow`` says which releases may break. A file that fails is not stored, or
    as a candidate with ``keep_failed``. One that passes becomes the baseline ``channel``, if it passes beside the
    release at which that stands, too; with ``if_unset`` only if there is none, nor was before. With ``bootstrap`` a
    missing baseline is for new lines alone: one that ever had a baseline, at any channel, is refused. What is
    approved ``today`` does not fail it. With ``deprecation``, what a release removes must have been deprecated for that
    long. With ``consumers``, each break has the stored programs that it hurts. ``rule`` is what the store binds.
    """

    against: str | None = None
    fail_on: FailOn = "api_break"
    require: EvidenceRequirement | None = None
    by: Ruling | None = None
    keep_failed: bool = False
    channel: str | None = None
    if_unset: bool = False
    bootstrap: bool = False
    today: date | None = None
    allow: AllowRule = "scheme"
    deprecation: DeprecationWindow | None = None
    consumers: bool = False
    rule: BoundRule | None = None

    @property
    def is_open(self) -> bool:
        """Whether everything passes, and no baseline moves."""
        is_bound = self.rule is not None and self.rule.since_soname
        return not (self.against or self.channel or self.required.facets or is_bound)

    @property
    def required(self) -> EvidenceRequirement:
        """The evidence that the gate needs."""
        return usual(self.against or self.moving, self.fail_on) if self.require is None else self.require

    @property
    def moving(self) -> str | None:
        """The channel that moves from where it stands to what passes."""
        return None if self.if_unset else self.channel

    def check(self) -> None:
        """Raise :class:`UsageError` for empty words, as unset variables of scripts give, and for contradictions."""
        for what, word in (("--against", self.against), ("the channel of a baseline", self.channel)):
            if word == "":
                raise UsageError(
                    f"{what} is empty", "is a variable of the script unset? name something, or leave it out"
                )
        if self.required.no_less and not (self.against or self.moving):
            raise UsageError(
                "--require old needs a release to judge against",
                "pass --against or --set-baseline, or name facets: --require symbol,layout",
            )


OPEN = Gate()

Status: TypeAlias = Literal["stored", "replaced", "known", "candidate", "refused", "failed"]


class Arrival(msgspec.Struct, frozen=True):
    """A file at the gate: its snapshot and what the caller says about it, or the ``release`` that is stored of it."""

    line: LineKey
    request: IngestRequest
    snapshot: Snapshot | None = None
    release: Release | None = None

    @classmethod
    def of(cls, snapshot: Snapshot, request: IngestRequest) -> Arrival:
        """The arrival of a file that was read."""
        line = LineKey(request.library or snapshot.library, str(snapshot.target), request.profile)
        labelled = msgspec.structs.replace(snapshot, library=line.library, version=request.version)
        return cls(line, request, labelled)

    @property
    def soname(self) -> str | None:
        """What programs load it by."""
        facts = self.snapshot.facts if self.snapshot else None
        return self.release.soname if self.release else facts.name if facts else None

    @classmethod
    def known(cls, release: Release, actor: str) -> Arrival:
        """The arrival of a file that is stored already."""
        return cls(release.line, IngestRequest(release.version, release.line.profile, actor=actor), release=release)


class GateOutcome(NamedTuple):
    """What the gate decides. ``reports`` have the verdicts, worst first. ``unjudged`` says why there is none, ``lack``
    which evidence is missing, and ``first`` is the decision about the first release of a line."""

    reports: tuple[Report, ...] = ()
    exit_code: int = 0
    lack: EvidenceMissing | None = None
    unjudged: str = ""
    first: Decision | None = None


class Admitted(NamedTuple):
    """What became of an arrival. ``stored`` is ``None`` if it was not; ``baseline`` is the channel that moved.

    ``foreseen`` is what would become of one that was only looked at.
    """

    outcome: GateOutcome
    stored: IngestOutcome | None = None
    baseline: str | None = None
    foreseen: Status | None = None


def as_known(release: Release) -> IngestOutcome:
    """The outcome for what is stored already."""
    return IngestOutcome(release, known=True, replaced=False, entries_written=0, shapes_written=0)


def store_as(store: Store, arrival: Arrival, *, candidate: bool = False) -> IngestOutcome:
    """Store a snapshot as a release, or as a candidate."""
    assert arrival.snapshot is not None
    return store.ingest(arrival.snapshot, msgspec.structs.replace(arrival.request, candidate=candidate))


class IngestPlan(Given, frozen=True):
    """What holds for every file of one call.

    Files for another platform than ``target`` are refused. Each file must pass the ``gate`` to be stored. ``replace``
    allows another binary under a taken version; if a baseline points at that release, ``replace_baseline`` must give
    the reason. ``profile``, ``revision``, ``url`` and ``released`` default to what a JSON snapshot was exported with.
    ``tags`` are put on each release. A file whose digest does not begin with ``expected_digest`` is refused. With
    ``dry_run`` nothing is written: the results say what would become of each file. What an exported snapshot says is
    approved is left out, and told, unless ``approvals`` takes it over.
    """

    library: str | None = None
    version: str | None = None
    version_from: VersionFrom | None = None
    target: str | None = None
    profile: str | None = None
    replace: bool = False
    replace_baseline: str = ""
    revision: str | None = None
    url: str | None = None
    released: datetime | None = None
    actor: str = ""
    tags: tuple[str, ...] = ()
    expected_digest: str | None = None
    dry_run: bool = False
    approvals: bool = False
    options: ExtractOptions = msgspec.field(default_factory=ExtractOptions)
    gate: Gate = OPEN


AS_IT_SAYS = IngestPlan()
"""Every file is stored under the names that it gives itself."""


class Ingested(msgspec.Struct, frozen=True):
    """What became of one file.

    ``status``: ``stored``, ``replaced``, ``known`` (stored already: nothing was read), ``candidate`` (it failed its
    gate and was kept), ``refused`` (it failed its gate and was not stored), or ``failed``. ``created`` tells that the
    store did not hold it before; with ``dry_run`` nothing was written, and ``status`` is what would become of it.
    ``code``, ``error`` and ``hint`` describe a failure, or missing evidence. ``verdict`` is the worst verdict; a
    replacement may have an ``other_verdict``, as it is judged against the release that it replaces too. ``unjudged``
    says why a first release has no verdict. ``decision`` is that about ``verdict``, or about a first release.
    ``mended`` names the facts of a known release that were empty and are filled now. Of a package with several
    libraries, ``members`` has a result for each, ``verdict`` is about all of them, and ``status`` the worst. ``notes``
    say what is unusual about the file, and which facts of a known release stay as they are.
    """

    path: str
    status: Status
    exit_code: int = 0
    created: bool = False
    dry_run: bool = False
    release: Release | None = None
    verdict: Report | None = None
    other_verdict: Report | None = None
    unjudged: str = ""
    decision: Decision | None = None
    baseline: str | None = None
    entries_written: int = 0
    shapes_written: int = 0
    code: str = ""
    error: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    members: tuple[Ingested, ...] = ()
