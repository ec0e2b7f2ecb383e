"""Gathering what a store holds, or a part of it, as the records of a bundle."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

import msgspec
from sqlalchemy import bindparam, func, select

from abistore.errors import DamagedStore
from abistore.model.approvals import asks_for
from abistore.model.history import LineKey, Release
from abistore.model.snapshot import Evidence, Provenance, ReleaseTag, Target, digest, encode, name_digest
from abistore.store import consumers, environments, order, releases, rules, tables, timeline, verdicts
from abistore.store import database as audit
from abistore.store.bundle_files import (
    FORMAT,
    AnyRecord,
    ApprovalRecord,
    AuditLine,
    ConsumerRecord,
    EntryRecord,
    EnvironmentRecord,
    FindingRecord,
    LibraryRecord,
    LineRecord,
    MoveRecord,
    NameRecord,
    Opening,
    PartRecord,
    ReviewRecord,
    RuleRecord,
    ShapeRecord,
    SnapshotRecord,
    TypeRecord,
    VerdictRecord,
)
from abistore.store.database import AMONG, HEAD, Database, Row, damaged, stamp
from abistore.store.snapshots import NAMES, PLACES, PackedLocations, RowMemory, columns, line_problems
from abistore.store.tables import OPEN


class BundleSelection(msgspec.Struct, frozen=True):
    """Whole libraries, and releases of others. Both empty: everything."""

    libraries: Collection[str] = ()
    releases: Collection[Release] = ()

    @property
    def whole(self) -> bool:
        """Whether everything is meant."""
        return not self.libraries and not self.releases

    def names(self, library: str) -> bool:
        """Whether something of a library is meant."""
        return self.whole or library in self.libraries or any(one.line.library == library for one in self.releases)

    def meant(self, key: LineKey) -> frozenset[int] | None:
        """The sequence numbers that are meant of a line; ``None`` for all."""
        if self.whole or key.library in self.libraries:
            return None
        return frozenset(one.sequence for one in self.releases if one.line == key)


EVERYTHING = BundleSelection()

_CARD, _ENTRY, _NAME, _SHAPE = tables.snapshot.c, tables.entry.c, tables.name.c, tables.shape.c
_LINE_ID = select(tables.line.c.id).select_from(tables.line.join(tables.library)).where(releases.OF_LINE)
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


class ShownLine(msgspec.Struct, frozen=True):
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
        meant = [(line, selection.meant(line.key)) for line in releases.every(database)]
        self.lines = [self._line(line, wanted) for line, wanted in meant if wanted != frozenset()]
        self.names, self._name_numbers = self._named()
        self.shapes, self._shape_numbers = self._shaped()
        owners = {row: number for number, line in enumerate(self.lines) for row in line.snapshots}
        self.order = {row: (place, owners[row]) for place, row in enumerate(sorted(owners))}
        """The number of each snapshot, and that of its line, by its row: in the order of ingestion."""

    @property
    def libraries(self) -> list[str]:
        """The names of the libraries, sorted."""
        return sorted({line.key.library for line in self.lines})

    @property
    def digests(self) -> set[str]:
        """The digests of the snapshots."""
        return {bytes(row[5]).hex() for line in self.lines for row, _ in line.snapshots.values()}

    def _line(self, line: releases.LineOverview, meant: frozenset[int] | None) -> ShownLine:
        ((identifier,),) = self._database.rows(_LINE_ID, releases.labels(line.key))
        for problem in line_problems(self._database, identifier, str(line.key)):
            raise damaged(self._database.where, problem)
        releases.by_identifier(self._database, line.key)  # verifies the rows
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


def gather(database: Database, selection: BundleSelection = EVERYTHING) -> Iterator[AnyRecord]:
    """The records of what ``selection`` means, of one moment. Raises :class:`StoreError` where it is damaged."""
    try:
        with database.reading():
            yield from _gather(database, selection)
    except (msgspec.MsgspecError, zlib.error) as error:
        raise DamagedStore(f"{database.where}: what is stored is damaged ({error})") from error


MOST_TOGETHER: Final = 150_000
"""So many declarations have the releases of a part of a bundle, and of a slice of a store that is merged."""


def _gather(database: Database, selection: BundleSelection) -> Iterator[AnyRecord]:
    yield Opening(FORMAT, HEAD)
    numbers: dict[int, int] = {}
    libraries, digests = set[str](), set[str]()
    parts = _parts(database, selection)
    for part in parts:
        yield PartRecord()
        shown = ShownLines(database, part)
        yield from _of_lines(database, shown, part, len(numbers))
        numbers |= {row: len(numbers) + place for row, (place, _) in shown.order.items()}
        libraries.update(shown.libraries)
        digests.update(() if selection.whole else shown.digests)
    yield PartRecord()
    if len(parts) > 1:
        yield from _across(database, numbers)
    yield from _consumers(database, sorted(libraries), selection)
    if selection.whole:  # an environment names libraries of the whole store
        yield from _of_whole(database)
    for place, line in enumerate(_audit(database, libraries, digests, selection), 1):
        yield line
        if place % _LINES_TOGETHER == 0:
            yield PartRecord()


def _parts(database: Database, selection: BundleSelection) -> list[BundleSelection]:
    """What is meant, in parts of whole libraries that are small enough to be in memory together."""
    found = []
    for group in slices(database, MOST_TOGETHER):
        libraries = tuple(name for name in group if selection.whole or name in selection.libraries)
        chosen = tuple(one for one in selection.releases if one.line.library in group)
        if libraries or chosen:
            found.append(BundleSelection(libraries, chosen))
    return found


def _of_whole(database: Database) -> Iterator[AnyRecord]:
    """Environments and bound rules, which are about the whole store."""
    yield from (EnvironmentRecord(one) for one in environments.every(database))
    yield from (RuleRecord(one) for one in rules.every(database))


def _of_lines(database: Database, shown: ShownLines, selection: BundleSelection, first: int = 0) -> Iterator[AnyRecord]:
    """What belongs to libraries, and was said and judged of them; ``first`` is the number of the first snapshot."""
    libraries = shown.libraries
    for library in libraries:
        yield LibraryRecord(library, releases.scheme(database, library))
    yield from shown.names
    yield from shown.shapes
    for line in shown.lines:
        yield line.record
    yield from shown.entries()
    yield from shown.snapshots()
    yield from _moves(database, shown, selection)
    numbers = {row: first + place for row, (place, _) in shown.order.items()}
    yield from _verdicts(database, verdicts.every(database, sorted(numbers)), numbers)
    yield from (ReviewRecord(one) for one in timeline.every_review(database) if one.library in libraries)
    yield from (ApprovalRecord(one) for one in timeline.every_approval(database) if one.library in libraries)


_WEIGHTS = (
    select(tables.library.c.name, func.sum(_CARD.declarations), func.count())
    .select_from(tables.snapshot.join(tables.line).join(tables.library))
    .group_by(tables.library.c.name)
    .order_by(tables.library.c.name)
)
_SIDES = tables.verdict.c
_LIBRARY_OF = select(tables.line.c.library_id).select_from(tables.snapshot.join(tables.line))
_ACROSS = (
    select(*verdicts.SEALED)
    .where(
        _LIBRARY_OF.where(_CARD.id == _SIDES.old_id).scalar_subquery()
        != _LIBRARY_OF.where(_CARD.id == _SIDES.new_id).scalar_subquery()
    )
    .order_by(_SIDES.id)
)
"""The judgements of snapshots of two libraries."""

_OF_A_RELEASE = 200
"""What a snapshot without a declaration weighs, in declarations."""


def slices(database: Database, most: int) -> list[tuple[str, ...]]:
    """The libraries in groups whose releases have no more than ``most`` declarations, or that are one library."""
    found: list[list[str]] = []
    left = 0
    for library, declarations, releases_ in database.rows(_WEIGHTS):
        weight = int(declarations) + releases_ * _OF_A_RELEASE
        if not found or weight > left:
            found.append([])
            left = most
        found[-1].append(library)
        left -= weight
    return [tuple(group) for group in found]


def of_slice(database: Database, libraries: Sequence[str]) -> tuple[Sequence[int], Iterator[AnyRecord]]:
    """The rows of the snapshots of libraries, in the order of their numbers, and the records of these libraries.

    What :func:`of_none` has and the audit are left out. Raises :class:`StoreError`.
    """
    shown = ShownLines(database, BundleSelection(libraries))
    return list(shown.order), _of_lines(database, shown, BundleSelection(libraries))


def of_none(database: Database, numbers: Mapping[int, int]) -> Iterator[AnyRecord]:
    """What slices leave out, but the audit; ``numbers`` are those of the snapshots by their rows."""
    yield from _across(database, numbers)
    yield from _consumers(database, (), EVERYTHING)
    yield from _of_whole(database)


def _across(database: Database, numbers: Mapping[int, int]) -> Iterator[AnyRecord]:
    """The judgements of snapshots of two libraries."""
    return _verdicts(database, verdicts.stored_rows(database, database.rows(_ACROSS)), numbers)


def _moves(database: Database, shown: ShownLines, selection: BundleSelection) -> Iterator[AnyRecord]:
    """The moves of the baselines; of a part of a line, those of channels that stand at what is meant of it."""
    for number, line in enumerate(shown.lines):
        versions = {row[3] for row, _ in line.snapshots.values()}
        moves = [one for one in order.history(database, line.key.library) if one.line == line.key]
        standing = {one.channel: one.version for one in moves}
        for one in moves:
            if selection.meant(line.key) is None or standing[one.channel] in versions:
                moved = stamp(one.moved)
                yield MoveRecord(number, one.channel, one.version, moved, one.actor, one.reason, one.digest)


def _verdicts(
    database: Database, told: Iterable[verdicts.StoredRow], snapshots: Mapping[int, int]
) -> Iterator[AnyRecord]:
    """The judgements of snapshots, by whose rows are their numbers; each finding before the first that has it."""
    numbers: dict[int, int] = {}
    for verdict in told:
        if verdict.old not in snapshots or verdict.new not in snapshots:
            continue
        wanted = {row for rows in verdict.lists.values() for row in rows}
        new = verdicts.bodies(database, sorted(wanted - numbers.keys()))
        for row, (key, body) in sorted(new.items(), key=lambda item: item[1]):
            numbers[row] = len(numbers)
            yield FindingRecord(key.hex(), msgspec.Raw(body))
        lists = [tuple(sorted(numbers[row] for row in verdict.lists.get(part, ()))) for part in verdicts.LISTS]
        remarks = msgspec.Raw(verdict.remarks) if verdict.remarks else msgspec.UNSET
        sides = (snapshots[verdict.old], snapshots[verdict.new])
        yield VerdictRecord(*sides, verdict.values, lists[0], lists[1], lists[2], remarks)


def _consumers(database: Database, libraries: Sequence[str], selection: BundleSelection) -> Iterator[AnyRecord]:
    """The consumers; for a part of a store those that ask the loader for a library of it."""
    sonames = {name: {one.soname for one in order.ordered_releases(database, name) if one.soname} for name in libraries}
    imports, types = consumers.imports(database), consumers.types(database, RowMemory())
    for one in consumers.every(database):
        told = one.details
        if selection.whole or any(asks_for(told, library, names) for library, names in sonames.items()):
            built = sorted(types[told.key].items())
            yield ConsumerRecord(
                **msgspec.structs.asdict(told),
                added=stamp(one.added),
                actor=one.actor,
                imports=imports[told.key],
                types=tuple(
                    TypeRecord(name, one.file, tuple(msgspec.Raw(encode(shape)) for shape in one.shapes))
                    for name, one in built
                ),
            )


_LINES_TOGETHER = 500
"""So many records of the audit are in a part."""


def _audit(
    database: Database, libraries: Collection[str], digests: Collection[str], selection: BundleSelection
) -> Iterator[AnyRecord]:
    """The records of the audit; for a part of a store those that name a library of it, or the content of a snapshot."""
    for origin, said in audit.every(database):
        at, actor, action, subject, detail = said
        if selection.whole or audit.concerns(subject, libraries, digests):
            yield AuditLine(origin, at, actor, action, subject, detail)
