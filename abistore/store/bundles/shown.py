"""The lines of a store with their snapshots, entries, names and shapes, as a bundle has them: verified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from abistore.model.digest import digest, name_digest
from abistore.model.history import LineKey
from abistore.model.snapshot import Evidence, Provenance, ReleaseTag, Target
from abistore.store.bundles.records import EntryRecord, LineRecord, NameRecord, ShapeRecord, SnapshotRecord
from abistore.store.bundles.selection import BundleSelection
from abistore.store.database import tables
from abistore.store.database.database import AMONG, Database, Row
from abistore.store.database.failures import damaged
from abistore.store.database.tables import OPEN
from abistore.store.releases import cards, lines
from abistore.store.snapshots.locations import PackedLocations, columns
from abistore.store.snapshots.read import NAMES, PLACES
from abistore.store.snapshots.replay import line_problems

_CARD, _ENTRY, _NAME, _SHAPE = tables.snapshot.c, tables.entry.c, tables.name.c, tables.shape.c
_LINE_ID = select(tables.line.c.id).select_from(tables.line.join(tables.library)).where(lines.OF_LINE)
_SAID = (
    *("version", "superseded", "digest", "candidate", "read_here", "former", "released", "revision", "url", "tags"),
    *("target", "provenance", "evidence", "facets", "ingested"),
)
_CARDS = (
    select(_CARD.id, _CARD.sequence, _CARD.places, *(_CARD[column] for column in _SAID))
    .where(_CARD.line_id == bindparam("line"))
    .order_by(_CARD.id)
)
_ENTRIES = select(_ENTRY.facet, _ENTRY.name_id, _ENTRY.shape_id, _ENTRY.first_seq, _ENTRY.last_seq).where(
    _ENTRY.line_id == bindparam("line")
)
_SHAPES = select(_SHAPE.id, _SHAPE.digest, _SHAPE.body).where(_SHAPE.id.in_(AMONG))
_STRUCTS = {
    "target": Target,
    "provenance": Provenance,
    "evidence": tuple[Evidence, ...],
    "facets": dict[str, int],
    "tags": tuple[ReleaseTag, ...],
}
"""The columns that hold JSON."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line: the rows of the snapshots that are meant, and of the entries that hold in one of them."""

    key: LineKey
    scheme: str | None
    snapshots: dict[int, tuple[Row, PackedLocations | None]]
    entries: list[Row]

    @property
    def record(self) -> LineRecord:
        """The line itself."""
        return LineRecord(self.key.library, self.key.target, self.key.profile, self.scheme)


class ShownLines:
    """What a selection shows of the lines of a store. Raises :class:`StoreError` where something is damaged."""

    def __init__(self, database: Database, selection: BundleSelection) -> None:
        self._database = database
        meant = [(line, selection.meant(line.key)) for line in lines.every(database)]
        self.lines = [self._line(line, wanted) for line, wanted in meant if wanted != frozenset()]
        self.names, self._name_numbers = self._named()
        self.shapes, self._shape_numbers = self._shaped()
        owners = {row: number for number, line in enumerate(self.lines) for row in line.snapshots}
        self.order = {row: (place, owners[row]) for place, row in enumerate(sorted(owners))}
        """The number of each snapshot, and that of its line, by its row: in the order of ingestion."""

    def _line(self, line: lines.LineOverview, meant: frozenset[int] | None) -> ShownLine:
        ((identifier,),) = self._database.rows(_LINE_ID, lines.labels(line.key))
        for problem in line_problems(self._database, identifier, str(line.key)):
            raise damaged(self._database.where, problem)
        cards.by_identifier(self._database, line.key)  # verifies the rows
        rows = self._database.rows(_CARDS, {"line": identifier})
        own = {row[0]: (row, self._places(row)) for row in rows if meant is None or row[1] in meant}
        entries = [
            row
            for row in self._database.rows(_ENTRIES, {"line": identifier})
            if meant is None or any(row[3] <= number <= row[4] for number in meant)
        ]
        return ShownLine(line.key, line.scheme, own, entries)

    def _places(self, row: Row) -> PackedLocations | None:
        if row[2] is None:
            return None
        found = self._database.rows(PLACES, {"identifier": row[0]})
        if not found:
            raise damaged(self._database.where, f"the locations of {row[3]}")
        return columns(found[0][0])

    def _named(self) -> tuple[list[NameRecord], dict[int, int]]:
        wanted = {row[1] for line in self.lines for row in line.entries}
        packed = (places for line in self.lines for _, places in line.snapshots.values() if places)
        wanted.update(name for places in packed for name in accumulate(places.steps))
        rows = sorted((row[1], row[2], row[0], bytes(row[3])) for row in self._database.within(NAMES, sorted(wanted)))
        if len(rows) != len(wanted) or any(name_digest(kind, spelling) != key for kind, spelling, _, key in rows):
            raise damaged(self._database.where, "a name")
        return [NameRecord(row[0], row[1]) for row in rows], {row[2]: number for number, row in enumerate(rows)}

    def _shaped(self) -> tuple[list[ShapeRecord], dict[int, int]]:
        wanted = {row[2] for line in self.lines for row in line.entries}
        found = self._database.within(_SHAPES, sorted(wanted))
        rows = sorted((bytes(row[1]), row[0], row[2].encode()) for row in found)
        if len(rows) != len(wanted) or any(digest(body) != key for key, _, body in rows):
            raise damaged(self._database.where, "a shape")
        records = [ShapeRecord(msgspec.Raw(body)) for _, _, body in rows]
        return records, {identifier: number for number, (_, identifier, _) in enumerate(rows)}

    def entries(self) -> Iterator[EntryRecord]:
        """The entries of every line, sorted by what they say."""
        names, shapes = self._name_numbers, self._shape_numbers
        for number, line in enumerate(self.lines):
            rows = sorted((row[0], names[row[1]], shapes[row[2]], row[3], row[4]) for row in line.entries)
            for facet, name, shape, first, last in rows:
                yield EntryRecord(number, facet, name, shape, first, None if last == OPEN else last)

    def snapshots(self) -> Iterator[SnapshotRecord]:
        """The snapshots, in the order of ingestion."""
        for row, (_, line) in self.order.items():
            yield self._snapshot(line, *self.lines[line].snapshots[row])

    def _snapshot(self, line: int, row: Row, places: PackedLocations | None) -> SnapshotRecord:
        _, sequence, _, *values = row
        said: dict[str, Any] = dict(zip(_SAID, values, strict=True))
        for column, form in _STRUCTS.items():
            said[column] = msgspec.json.decode(said[column], type=form) if said[column] is not None else ()
        for column in ("superseded", "candidate", "read_here"):
            said[column] = bool(said[column])
        for column in ("digest", "former"):
            said[column] = bytes(said[column]).hex() if said[column] is not None else None
        located: Sequence[tuple[int, int, int]] = ()
        if places:
            names = (self._name_numbers[name] for name in accumulate(places.steps))
            located = sorted(zip(names, places.file, places.line, strict=True))
        return SnapshotRecord(
            line, sequence, **said, files=tuple(places.files if places else ()), places=tuple(located)
        )
