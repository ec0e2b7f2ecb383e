"""What a snapshot must pass to become a release, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from abistore.errors import EvidenceMissing, UsageError
from abistore.model.history import IngestOutcome, IngestRequest, LineKey, Release
from abistore.model.snapshot import Snapshot
from abistore.service.judging.evidence import EvidenceRequirement, usual
from abistore.service.judging.ruling import Ruling

if TYPE_CHECKING:
    from abistore.report.model import Report
    from abistore.service.judging.judging import FailOn
    from abistore.store.store import Store


class Gate(msgspec.Struct, frozen=True):
    """What an arrival must pass to become a release, and what becomes of it.

    ``against`` is ``baseline[:channel]``, ``prev``, ``latest`` or a version; ``require`` is no less than that has seen,
    unless said otherwise. What fails is not stored, or as a candidate with ``keep_failed``. What passes becomes the
    baseline ``channel``, with ``if_unset`` only where there is none.
    """

    against: str | None = None
    fail_on: FailOn = "api_break"
    require: EvidenceRequirement | None = None
    by: Ruling | None = None
    keep_failed: bool = False
    channel: str | None = None
    if_unset: bool = False

    @property
    def is_open(self) -> bool:
        """Whether everything passes, and no baseline moves."""
        return not (self.against or self.channel or self.required.facets)

    @property
    def required(self) -> EvidenceRequirement:
        """The evidence that it asks for."""
        return usual(self.against, self.fail_on) if self.require is None else self.require

    def check(self) -> None:
        """Raise :class:`UsageError` where it could not mean what was meant: an empty word asks for nothing."""
        for what, word in (("--against", self.against), ("the channel of a baseline", self.channel)):
            if word == "":
                raise UsageError(
                    f"{what} is empty", "is a variable of the script unset? name something, or leave it out"
                )
        if self.required.no_less and not self.against:
            raise UsageError(
                "--require old needs a release to judge against",
                "pass --against, or name facets: --require symbol,layout",
            )


OPEN = Gate()


class Arrival(msgspec.Struct, frozen=True):
    """What is let in: a snapshot with what the caller says of it, or the ``release`` that is stored of this file."""

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
        """The arrival of a file that is stored."""
        return cls(release.line, IngestRequest(release.version, release.line.profile, actor=actor), release=release)


class GateOutcome(NamedTuple):
    """What the gate says. ``reports`` are the verdicts, the worst first; ``unjudged`` tells why there is none where one
    was asked for, ``lack`` which evidence is missing."""

    reports: tuple[Report, ...] = ()
    exit_code: int = 0
    lack: EvidenceMissing | None = None
    unjudged: str = ""


class Admitted(NamedTuple):
    """What became of an arrival: ``stored`` is ``None`` where it failed and was not kept; ``baseline`` has moved."""

    outcome: GateOutcome
    stored: IngestOutcome | None = None
    baseline: str | None = None


def as_known(release: Release) -> IngestOutcome:
    """The outcome for what is stored already."""
    return IngestOutcome(release, known=True, replaced=False, entries_written=0, shapes_written=0)


def store_as(store: Store, arrival: Arrival, *, candidate: bool = False) -> IngestOutcome:
    """Store a snapshot as a release, or as a candidate."""
    assert arrival.snapshot is not None
    return store.ingest(arrival.snapshot, msgspec.structs.replace(arrival.request, candidate=candidate))
