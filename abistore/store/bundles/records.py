"""What a bundle consists of: one record a line, each of one struct, and where every table of a store has its place."""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from abistore.model.history import FindingReview
from abistore.model.judging.approvals import Approval
from abistore.model.judging.consumers import ConsumedSymbol, Unseen
from abistore.model.names import Facet, Kind, Name
from abistore.model.snapshot import Evidence, Provenance, ReleaseTag, Target

FORMAT: Final = 1
"""The number of this form. A reader refuses those that are higher."""


class BundleRecord(msgspec.Struct, frozen=True, tag_field="is", omit_defaults=True, forbid_unknown_fields=True):
    """One line of a bundle. Records name each other by their number among those of their kind, from 0."""


class Opening(BundleRecord, frozen=True, tag="bundle"):
    """The first line. ``digest`` of the last line tells whether all between is as it was written."""

    format: int
    schema: str


class LibraryRecord(BundleRecord, frozen=True, tag="library"):
    """A library, and the scheme that orders its versions."""

    name: str
    scheme: str


class NameRecord(BundleRecord, frozen=True, tag="name"):
    """The name of a declaration."""

    kind: Kind
    spelling: str


class ShapeRecord(BundleRecord, frozen=True, tag="shape"):
    """A shape as its canonical JSON."""

    body: msgspec.Raw


class LineRecord(BundleRecord, frozen=True, tag="line"):
    """A line of a library; ``scheme`` is its own where it has one."""

    library: str
    target: str
    profile: str
    scheme: str | None = None


class EntryRecord(BundleRecord, frozen=True, tag="entry"):
    """A name had a shape in a line's snapshots ``first`` to ``last`` (``None``: until now)."""

    line: int
    facet: int
    name: int
    shape: int
    first: int
    last: int | None


class SnapshotRecord(BundleRecord, frozen=True, tag="snapshot"):
    """The card of a snapshot, and where its declarations stand: name, file, line."""

    line: int
    sequence: int
    version: str
    digest: str
    target: Target
    provenance: Provenance
    evidence: tuple[Evidence, ...]
    facets: dict[Facet, int]
    ingested: str
    superseded: bool = False
    candidate: bool = False
    read_here: bool = False
    former: str | None = None
    released: str | None = None
    revision: str | None = None
    url: str | None = None
    tags: tuple[ReleaseTag, ...] = ()
    files: tuple[str, ...] = ()
    places: tuple[tuple[int, int, int], ...] = ()


class MoveRecord(BundleRecord, frozen=True, tag="move"):
    """A move of a baseline."""

    line: int
    channel: str
    version: str | None
    moved: str
    actor: str
    reason: str
    digest: str | None


class FindingRecord(BundleRecord, frozen=True, tag="finding"):
    """A finding as its JSON; ``key`` is its identity, and then what its body has for a digest."""

    key: str
    body: msgspec.Raw


class VerdictRecord(BundleRecord, frozen=True, tag="verdict"):
    """A judgement of two snapshots: the columns of its row, and the findings of each of its lists."""

    old: int
    new: int
    values: dict[str, int | str | None]
    findings: tuple[int, ...] = ()
    suppressed: tuple[int, ...] = ()
    advice: tuple[int, ...] = ()
    remarks: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET  # a union with None takes null alone


class ReviewRecord(BundleRecord, frozen=True, tag="review"):
    """What somebody said of a finding."""

    said: FindingReview


class ApprovalRecord(BundleRecord, frozen=True, tag="approval"):
    """A break that somebody accepted, or no longer does."""

    said: Approval


class TypeRecord(msgspec.Struct, frozen=True, array_like=True):
    """A type that a consumer was built with: its name, the file that declares it, and its shapes as canonical JSON."""

    name: Name
    file: str
    shapes: tuple[msgspec.Raw, ...]


class ConsumerRecord(BundleRecord, frozen=True, tag="consumer"):
    """A program, or a library that uses others, with what it imports and was built with."""

    name: str
    target: str
    file: str
    sha256: str
    added: str
    actor: str
    needed: tuple[str, ...] = ()
    unseen: tuple[Unseen, ...] = ()
    package: str = ""
    imports: tuple[ConsumedSymbol, ...] = ()
    types: tuple[TypeRecord, ...] = ()


class AuditLine(BundleRecord, frozen=True, tag="audit"):
    """A mutation of the store that the bundle was made of. ``origin`` is the digest that the record had there."""

    origin: str
    at: str
    actor: str
    action: str
    subject: str
    detail: str


class Ending(BundleRecord, frozen=True, tag="end"):
    """The last line: how many lines stand before it, and the digest of them."""

    lines: int
    digest: str


AnyRecord: TypeAlias = (
    Opening
    | LibraryRecord
    | NameRecord
    | ShapeRecord
    | LineRecord
    | EntryRecord
    | SnapshotRecord
    | MoveRecord
    | FindingRecord
    | VerdictRecord
    | ReviewRecord
    | ApprovalRecord
    | ConsumerRecord
    | AuditLine
    | Ending
)

CARRIED: Final[dict[str, tuple[type[BundleRecord], str]]] = {
    "library": (LibraryRecord, "lines and checksum are sums over what comes with it"),
    "line": (LineRecord, "its sums are over what comes with it"),
    "snapshot": (SnapshotRecord, "what its entries and provenance tell is worked out again, and its digest compared"),
    "location": (SnapshotRecord, ""),
    "name": (NameRecord, ""),
    "shape": (ShapeRecord, ""),
    "entry": (EntryRecord, ""),
    "baseline_move": (MoveRecord, ""),
    "verdict": (VerdictRecord, ""),
    "verdict_part": (VerdictRecord, ""),
    "finding": (FindingRecord, "the first verdict that had it is the first that comes with it"),
    "review": (ReviewRecord, ""),
    "approval": (ApprovalRecord, ""),
    "consumer": (ConsumerRecord, ""),
    "consumer_import": (ConsumerRecord, ""),
    "consumer_type": (ConsumerRecord, ""),
    "audit": (AuditLine, "as the history of where it came from"),
}
"""The record that carries what each table says, and what of it is not spelled out."""

ANEW: Final = frozenset(
    {"id", "line_id", "library_id", "old_id", "new_id", "snapshot_id", "verdict_id", "consumer_id", "checksum"}
)
"""The columns that every store gives for itself: numbers of rows, and what seals them."""

LEFT_OUT: Final[dict[str, frozenset[str]]] = {
    "library": frozenset({"lines"}),
    "line": frozenset({"releases", "candidates", "moves"}),
    "snapshot": frozenset({"sha256", "size", "build_id", "soname", "exports", "declarations", "members"}),
    "name": frozenset({"digest", "entries"}),
    "shape": frozenset({"digest"}),
    "verdict": frozenset({"parts", "brought"}),
    "consumer": frozenset({"imported", "built"}),
    "audit": frozenset({"digest"}),
}
"""The other columns that are worked out again: sums, digests, what entries and provenance tell, and who judged."""

DERIVED: Final[dict[str, str]] = {
    "root": "sums over what the other tables hold",
    "calling": "made of names and shapes where they are written",
    "calling_sum": "sums over calling",
    "consequence": "made of findings where they are written",
}
"""The tables that a store makes of the others."""
