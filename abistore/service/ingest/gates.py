"""Gates: what a snapshot must pass to become a release."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.errors import EvidenceMissing, UsageError
from abistore.model.history import IngestOutcome, IngestRequest, LineKey, Release
from abistore.model.judging.bump import AllowRule
from abistore.model.labels.blanks import Given
from abistore.model.labels.windows import DeprecationWindow
from abistore.model.snapshot import Snapshot
from abistore.service.judging.evidence import EvidenceRequirement, usual

if TYPE_CHECKING:
    from abistore.model.findings import FailOn
    from abistore.report.model import Report
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store


class Gate(Given, frozen=True):
    """What a file must pass to become a release, and what happens then.

    ``against`` is ``baseline[:channel]``, ``prev``, ``latest`` or a version. ``require`` is the evidence needed, by
    default no less than the other side's. ``allow`` says which releases may break. A file that fails is not stored, or
    as a candidate with ``keep_failed``. One that passes becomes the baseline ``channel``, if it passes beside the
    release at which that stands, too; with ``if_unset`` only if there is none, nor was before. With ``bootstrap`` a
    missing baseline is for new lines alone: one that ever had a baseline, at any channel, is refused. What is
    approved ``today`` does not fail it. With ``deprecation``, what a release removes must have been deprecated for that
    long. With ``consumers``, each break has the stored programs that it hurts.
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

    @property
    def is_open(self) -> bool:
        """Whether everything passes, and no baseline moves."""
        return not (self.against or self.channel or self.required.facets)

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

    @classmethod
    def known(cls, release: Release, actor: str) -> Arrival:
        """The arrival of a file that is stored already."""
        return cls(release.line, IngestRequest(release.version, release.line.profile, actor=actor), release=release)


class GateOutcome(NamedTuple):
    """What the gate decides. ``reports`` have the verdicts, worst first. ``unjudged`` says why there is none, ``lack``
    which evidence is missing."""

    reports: tuple[Report, ...] = ()
    exit_code: int = 0
    lack: EvidenceMissing | None = None
    unjudged: str = ""


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
