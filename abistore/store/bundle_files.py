"""A bundle as a file: its records, what they may hold, and checks of both."""

from __future__ import annotations

import gzip
import io
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import BinaryIO, Final, TypeAlias, TypeVar

import msgspec

from abistore.errors import BundleError, LimitExceeded, SnapshotError, UsageError
from abistore.model.approvals import Approval, ConsumedSymbol, Unseen
from abistore.model.declarations import FACETS, Facet, Kind, Name
from abistore.model.environments import Environment
from abistore.model.history import FindingReview, LineKey
from abistore.model.rules import Binding
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import (
    Evidence,
    Location,
    Provenance,
    ReleaseTag,
    Snapshot,
    Target,
    Variants,
    digest,
    encode,
    sort_variants,
)
from abistore.model.snapshot_files import ALLOWED, SPELLED_OUT, Sound
from abistore.model.structure import TypeBudget
from abistore.model.versions import Named, check_name, check_version
from abistore.store.snapshots import decode

FORMAT: Final = 1
"""The number of this form. A reader refuses those that are higher."""


class BundleRecord(msgspec.Struct, frozen=True, tag_field="is", omit_defaults=True, forbid_unknown_fields=True):
    """One line of a bundle. Records name each other by their number among those of their kind in a part, from 0.

    Snapshots alone are numbered through all parts.
    """


class Opening(BundleRecord, frozen=True, tag="bundle"):
    """The first line. ``digest`` of the last line tells whether all between is as it was written."""

    format: int
    schema: str


class PartRecord(BundleRecord, frozen=True, tag="part"):
    """Begins a part, which is read and merged by itself: whole libraries, or what belongs to none or to several."""


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


class EnvironmentRecord(BundleRecord, frozen=True, tag="environment"):
    """What was recorded of an environment, now and earlier."""

    said: Environment


class RuleRecord(BundleRecord, frozen=True, tag="rule"):
    """A rule that was bound there, or taken back."""

    said: Binding


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
    | PartRecord
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
    | EnvironmentRecord
    | RuleRecord
    | AuditLine
    | Ending
)

Value = TypeVar("Value")

HIGHEST: Final = 2**31 - 2
"""The highest number that a snapshot of a line may have."""


class Contents(msgspec.Struct):
    """The records of a part of a bundle by their kinds, in the order of the file."""

    libraries: list[LibraryRecord] = msgspec.field(default_factory=list)
    names: list[Name] = msgspec.field(default_factory=list)
    shapes: list[AnyShape] = msgspec.field(default_factory=list)
    lines: list[LineRecord] = msgspec.field(default_factory=list)
    entries: list[EntryRecord] = msgspec.field(default_factory=list)
    snapshots: list[SnapshotRecord] = msgspec.field(default_factory=list)
    moves: list[MoveRecord] = msgspec.field(default_factory=list)
    findings: list[FindingRecord] = msgspec.field(default_factory=list)
    verdicts: list[VerdictRecord] = msgspec.field(default_factory=list)
    reviews: list[ReviewRecord] = msgspec.field(default_factory=list)
    approvals: list[ApprovalRecord] = msgspec.field(default_factory=list)
    consumers: list[ConsumerRecord] = msgspec.field(default_factory=list)
    environments: list[EnvironmentRecord] = msgspec.field(default_factory=list)
    rules: list[RuleRecord] = msgspec.field(default_factory=list)
    audit: list[AuditLine] = msgspec.field(default_factory=list)

    def key(self, line: int) -> LineKey:
        """The labels of a line."""
        found = self.lines[line]
        return LineKey(found.library, found.target, found.profile)


def parts(records: Iterable[AnyRecord], where: str) -> Iterator[Contents]:
    """The contents of each part of a bundle; none is kept here. Raises as :func:`contents`."""
    libraries: set[str] = set()
    for is_beginning, own in groupby(records, lambda each: isinstance(each, Opening | PartRecord)):
        if not is_beginning:
            yield _part(own, where, libraries)


def _part(records: Iterable[AnyRecord], where: str, earlier: set[str]) -> Contents:
    """The contents of a part, whose libraries are in no ``earlier`` one, and become such."""
    found = contents(records, where)
    own = {each.name for each in found.libraries}
    if own & earlier:
        raise BundleError(f"{where}: a library comes twice")
    earlier |= own
    return found


def contents(records: Iterable[AnyRecord], where: str) -> Contents:
    """The contents of a part of a bundle. Raises :class:`BundleError` where they say what no store could say."""
    found, sound = Contents(), Sound()
    try:
        for record in records:
            _add(found, record, sound)
        _check(found)
    except (SnapshotError, UsageError, ValueError, IndexError, msgspec.MsgspecError) as error:
        raise BundleError(f"{where}: {error}") from error
    return found


def _add(found: Contents, record: AnyRecord, sound: Sound) -> None:
    match record:
        case NameRecord():
            found.names.append(Name(record.kind, record.spelling))
        case ShapeRecord():
            found.shapes.append(_shape(bytes(record.body), len(found.shapes), sound))
        case LibraryRecord():
            check_version("1.0.0", record.scheme)
            found.libraries.append(record)
        case LineRecord():
            found.lines.append(record)
        case EntryRecord():
            found.entries.append(record)
        case SnapshotRecord():
            for seen in record.evidence:
                sound.check(seen, f"evidence of {record.version}")
            sound.check(record.provenance, f"the provenance of {record.version}")
            found.snapshots.append(record)
        case MoveRecord():
            found.moves.append(record)
        case FindingRecord():
            found.findings.append(record)
        case VerdictRecord():
            found.verdicts.append(record)
        case ReviewRecord():
            found.reviews.append(record)
        case ApprovalRecord():
            found.approvals.append(record)
        case ConsumerRecord():
            datetime.fromisoformat(record.added)
            for built in record.types:
                for body in built.shapes:
                    _built(built.name, bytes(body), sound)
            found.consumers.append(record)
        case EnvironmentRecord():
            found.environments.append(record)
        case RuleRecord():
            found.rules.append(record)
        case AuditLine():
            bytes.fromhex(record.origin)
            datetime.fromisoformat(record.at)
            found.audit.append(record)


def _shape(body: bytes, number: int, sound: Sound) -> AnyShape:
    """A shape, if a snapshot may hold it and its JSON is the canonical one."""
    shape: AnyShape = decode(body)
    sound.check(shape, f"shape {number}")
    budget = TypeBudget()
    if encode(shape) != body or (len(body) > SPELLED_OUT and budget.shape(shape) is not shape and budget.refused):
        raise ValueError(f"shape {number} is too large, or not in its canonical form")
    return shape


def _built(name: Name, body: bytes, sound: Sound) -> None:
    shape = _shape(body, -1, sound)
    if (False, name.kind, type(shape)) not in ALLOWED:
        raise ValueError(f"a type of a consumer, {name}, is none")


def _check(found: Contents) -> None:
    """Raise :class:`ValueError` where a record names one that is not there, or twice the same."""
    libraries = [one.name for one in found.libraries]
    keys = [found.key(number) for number in range(len(found.lines))]
    cards = [(card.line, card.sequence) for card in found.snapshots]
    for what, values in (("library", libraries), ("name", found.names), ("line", keys), ("snapshot", cards)):
        if len(set(values)) != len(values):
            raise ValueError(f"a {what} comes twice")
    if {key.library for key in keys} - set(libraries):
        raise ValueError("the library of a line is missing")
    if any(not 0 <= move.line < len(keys) for move in found.moves):
        raise ValueError("the line of a baseline's move is missing")
    for card in found.snapshots:
        if _place(card.line, found.lines).target != str(card.target) or not 1 <= card.sequence <= HIGHEST:
            raise ValueError(f"{card.version} has another target than its line, or an impossible number")
        for moment in (card.ingested, card.released or card.ingested):
            datetime.fromisoformat(moment)
    for entry in found.entries:
        name, shape = _place(entry.name, found.names), _place(entry.shape, found.shapes)
        _place(entry.line, found.lines)
        facet = _place(entry.facet, FACETS)
        if (facet == "symbol", name.kind, type(shape)) not in ALLOWED or not 1 <= entry.first <= (
            entry.last or HIGHEST
        ):
            raise ValueError(f"an entry of {name} is none")


def _place(number: int, values: Sequence[Value]) -> Value:
    if number < 0:
        raise ValueError("a number is negative")
    return values[number]


class LineStates:
    """The snapshots of a bundle, one after the other in each line, by the entries that begin and end."""

    def __init__(self, found: Contents) -> None:
        self._found = found
        self._coming: dict[int, list[EntryRecord]] = defaultdict(list)
        for entry in sorted(found.entries, key=lambda entry: -entry.first):
            self._coming[entry.line].append(entry)
        self._held: dict[int, list[EntryRecord]] = defaultdict(list)
        self._last: dict[int, int] = {}

    def snapshot(self, card: SnapshotRecord) -> Snapshot:
        """The snapshot of a card. Raises :class:`ValueError` where its line had a later one before."""
        shapes: dict[Facet, dict[Name, list[AnyShape]]] = {facet: {} for facet in card.facets}
        for entry in self._holding(card.line, card.sequence):
            facet = FACETS[entry.facet]
            if card.facets.get(facet):
                name = self._found.names[entry.name]
                shapes[facet].setdefault(name, []).append(self._found.shapes[entry.shape])
        entries = {facet: dict(_sorted(shapes[facet])) for facet in FACETS if facet in shapes}
        line = self._found.lines[card.line]
        return Snapshot(
            library=line.library,
            version=card.version,
            target=card.target,
            entries=entries,
            evidence=card.evidence,
            provenance=card.provenance,
            locations={
                _place(name, self._found.names): Location(_place(file, card.files), at)
                for name, file, at in card.places
            },
        )

    def _holding(self, line: int, sequence: int) -> list[EntryRecord]:
        """The entries that hold in a snapshot of a line, which comes after those that were asked for before."""
        if sequence <= self._last.get(line, 0):
            raise ValueError("the snapshots of a line are not in their order")
        self._last[line] = sequence
        coming, held = self._coming[line], self._held[line]
        while coming and coming[-1].first <= sequence:
            held.append(coming.pop())
        self._held[line] = [entry for entry in held if entry.last is None or entry.last >= sequence]
        return self._held[line]


def _sorted(shapes: dict[Name, list[AnyShape]]) -> Iterator[tuple[Name, Variants]]:
    for name, own in shapes.items():
        yield name, (own[0],) if len(own) == 1 else sort_variants(own)


MAGIC: Final = b"\x1f\x8b"
BEGINNING: Final = b'{"is":"bundle","format":'

MOST_TEXT: Final = 2 << 30
"""Bytes that a bundle may unpack to: eighty times what a thousand releases of 5,000 declarations take."""
LONGEST_LINE: Final = 64 << 20
_PIECE: Final = 1 << 20

_decode: Callable[[bytes], AnyRecord] = msgspec.json.Decoder(AnyRecord).decode


def write(records: Iterable[AnyRecord]) -> bytes:
    """The records as a file; the same records give the same bytes."""
    packed = io.BytesIO()
    chain, lines = b"", 0
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        for record in records:
            line = encode(record)
            file.write(line + b"\n")
            chain, lines = digest(chain + line), lines + 1
        file.write(encode(Ending(lines, chain.hex())) + b"\n")
    return packed.getvalue()


def is_bundle(head: bytes) -> bool:
    """Whether a file that begins so is a bundle, of this format or another."""
    if not head.startswith(MAGIC):
        return False
    try:
        return zlib.decompressobj(31).decompress(head, len(BEGINNING)) == BEGINNING
    except zlib.error:
        return False


def read(file: BinaryIO, where: str) -> Iterator[AnyRecord]:
    """The records of a bundle but its last. Raises :class:`BundleError` for whatever is not as it was written."""
    chain, lines, ended = b"", 0, False
    for line in _lines(file, where):
        if ended:
            raise BundleError(f"{where}: data after the bundle's end")
        record = _record(line, where, lines)
        if (lines == 0) is not isinstance(record, Opening):
            raise BundleError(f"{where}: line {lines + 1} is not valid in a bundle")
        if isinstance(record, Ending):
            ended = True
            if (record.lines, record.digest) != (lines, chain.hex()):
                raise BundleError(f"{where}: the bundle was changed after it was written: its digest does not match")
            continue
        chain, lines = digest(chain + line), lines + 1
        yield record
    if not ended:
        raise BundleError(f"{where}: the bundle has no end", "copy it again; the file is not complete")


def check(file: BinaryIO, where: str) -> None:
    """Read a bundle to its end, which tells whether it is as it was written, and go back. Raises as :func:`read`."""
    for _ in read(file, where):
        pass
    file.seek(0)


def _record(line: bytes, where: str, number: int) -> AnyRecord:
    try:
        record = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        if number == 0 and line.startswith(BEGINNING):
            _refuse_newer(line, where)
        raise BundleError(f"{where}: line {number + 1} is malformed: {error}") from error
    except RecursionError as error:
        raise BundleError(f"{where}: line {number + 1} is nested too deeply") from error
    if isinstance(record, Opening) and record.format != FORMAT:
        _refuse_newer(line, where)
    return record


def _refuse_newer(line: bytes, where: str) -> None:
    number = line[len(BEGINNING) :].split(b",")[0].strip(b"}")[:20].decode("ascii", "replace")
    if number != str(FORMAT):
        raise BundleError(
            f"{where}: bundle format {number} is not supported (this abistore reads format {FORMAT})",
            "upgrade abistore, or write the bundle again with this version",
        )


def _lines(file: BinaryIO, where: str) -> Iterator[bytes]:
    """The lines, as they are unpacked; no more than :data:`MOST_TEXT` bytes."""
    left = b""
    for piece in _unpacked(file, where):
        *whole, left = (left + piece).split(b"\n")
        if len(left) > LONGEST_LINE:
            raise LimitExceeded(f"{where}: a line is longer than {LONGEST_LINE:,} bytes")
        yield from whole
    if left:
        raise BundleError(f"{where}: the bundle ends within a line", "copy it again; the file is not complete")


def _unpacked(file: BinaryIO, where: str) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(31)
    total = 0
    try:
        while not unpacker.eof:
            piece = unpacker.unconsumed_tail or file.read(_PIECE)
            text = unpacker.decompress(piece, _PIECE)
            if not piece and not text:
                break
            total += len(text)
            if total > MOST_TEXT:
                raise LimitExceeded(f"{where}: unpacks to more than {MOST_TEXT:,} bytes")
            yield text
    except zlib.error as error:
        raise BundleError(f"{where}: cannot be unpacked ({error})", "copy it again; the file is damaged") from error
    if not unpacker.eof:
        raise BundleError(f"{where}: the bundle ends too early", "copy it again; the file is not complete")
    if unpacker.unused_data or file.read(1):
        raise BundleError(f"{where}: data after the bundle's end")


class Unsayable(msgspec.Struct):
    """``snapshots`` are left out by their numbers, with the reason of each.

    ``told`` says of what stands there why it is left out; ``notes`` name what was replaced or taken back there.
    """

    snapshots: dict[int, str] = msgspec.field(default_factory=dict)
    told: list[str] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)


def leave_out(found: Contents) -> Unsayable:
    """Take out of the contents what cannot be said, and what stands at it; snapshots keep their numbers.

    Stores of before such names were refused have them, and so has what somebody forged.
    """
    left = Unsayable()
    libraries = {one.name: why for one in found.libraries if (why := _fault("library", one.name))}
    of_lines = [libraries.get(line.library) or _fault("profile", line.profile) for line in found.lines]
    for number, card in enumerate(found.snapshots):
        if why := of_lines[card.line] or _fault("version", card.version):
            left.snapshots[number] = why
            called = f"{found.key(card.line)} {card.version}, digest {card.digest[:12]}"
            if card.superseded:
                left.notes.append(f"left out because it was replaced or removed there: {called}")
            else:
                left.told.append(f"{called}: {why}")
    found.libraries = [one for one in found.libraries if one.name not in libraries]
    found.reviews = [one for one in found.reviews if one.said.library not in libraries]
    found.approvals = [one for one in found.approvals if one.said.library not in libraries]
    faults = {one.said.name: why for one in found.environments if (why := _fault("environment", one.said.name))}
    left.told += [f"environment {name}: {why}" for name, why in faults.items()]
    found.environments = [one for one in found.environments if one.said.name not in faults]
    found.moves = _sayable(found, of_lines, left)
    return left


def _sayable(found: Contents, of_lines: list[str], left: Unsayable) -> list[MoveRecord]:
    """The moves of channels that can be said, and that do not stand at what is left out."""
    refused = {(found.snapshots[number].line, found.snapshots[number].version) for number in left.snapshots}
    emptied = {line for line, _ in refused} - {
        card.line for number, card in enumerate(found.snapshots) if number not in left.snapshots
    }
    last = {(move.line, move.channel): move for move in found.moves}
    dropped = set()
    for (line, channel), move in last.items():
        why = of_lines[line] or _fault("channel", channel)
        if not why and (line, move.version) in refused:
            why = f"it is at {move.version} there, which is left out"
        elif not why and line in emptied:
            why = "nothing of its line comes"
        if why:
            dropped.add((line, channel))
            told = left.told if move.version is not None else left.notes
            told.append(f"baseline {channel} of {found.key(line)}: {why}")
    return [move for move in found.moves if (move.line, move.channel) not in dropped]


def _fault(what: Named, text: str) -> str:
    """Why no command could say a name, or nothing."""
    try:
        check_name(what, text)
    except UsageError as error:
        return f"{error.message} ({error.hint})"
    return ""
