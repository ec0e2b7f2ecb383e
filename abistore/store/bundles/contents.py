"""What a bundle says, checked: names, shapes and snapshots that a store may hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeVar

import msgspec

from abistore.errors import BundleError, SnapshotError, UsageError
from abistore.model.budget import TypeBudget
from abistore.model.digest import encode, sort_variants
from abistore.model.history import LineKey
from abistore.model.labels.versions import check_version
from abistore.model.names import FACETS, Facet, Name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Location, Snapshot, Variants
from abistore.model.snapshot_file.codec import ALLOWED, SPELLED_OUT
from abistore.model.snapshot_file.sound import Sound
from abistore.store.bundles.records import (
    AnyRecord,
    ApprovalRecord,
    AuditLine,
    ConsumerRecord,
    EntryRecord,
    FindingRecord,
    LibraryRecord,
    LineRecord,
    MoveRecord,
    NameRecord,
    ReviewRecord,
    ShapeRecord,
    SnapshotRecord,
    VerdictRecord,
)
from abistore.store.snapshots.memory import decode

Value = TypeVar("Value")

HIGHEST: Final = 2**31 - 2
"""The highest number that a snapshot of a line may have."""


@dataclass(slots=True)
class Contents:
    """The records of a bundle by their kinds, in the order in which they came."""

    libraries: list[LibraryRecord] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)
    shapes: list[AnyShape] = field(default_factory=list)
    lines: list[LineRecord] = field(default_factory=list)
    entries: list[EntryRecord] = field(default_factory=list)
    snapshots: list[SnapshotRecord] = field(default_factory=list)
    moves: list[MoveRecord] = field(default_factory=list)
    findings: list[FindingRecord] = field(default_factory=list)
    verdicts: list[VerdictRecord] = field(default_factory=list)
    reviews: list[ReviewRecord] = field(default_factory=list)
    approvals: list[ApprovalRecord] = field(default_factory=list)
    consumers: list[ConsumerRecord] = field(default_factory=list)
    audit: list[AuditLine] = field(default_factory=list)

    def key(self, line: int) -> LineKey:
        """The labels of a line."""
        found = self.lines[line]
        return LineKey(found.library, found.target, found.profile)


def contents(records: Iterable[AnyRecord], where: str) -> Contents:
    """The contents of a bundle. Raises :class:`BundleError` where they say what no store could say."""
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
    """Check the shape of a type that a consumer was built with."""
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
