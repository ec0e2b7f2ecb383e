"""Libraries, their lines, and the cards of the releases of each line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, literal, select, update
from sqlalchemy import insert as insert_into

from abistore.errors import SnapshotNotFound
from abistore.model.declarations import FACETS, Facet
from abistore.model.history import LineKey, Release
from abistore.model.labels import AUTO
from abistore.model.snapshot import Evidence, Provenance, ReleaseTag, Snapshot, Target, decoder
from abistore.store import tables
from abistore.store.database import AMONG, Database, Row, damaged, insert_new
from abistore.store.tables import checksum

_LIBRARY, _LINE = tables.library.c, tables.line.c

SUMS = ("releases", "candidates", "moves")
_SEALED_LINE = (
    _LINE.library_id,
    _LINE.target,
    _LINE.profile,
    *(_LINE[name] for name in SUMS),
    _LINE.scheme,
    _LINE.checksum,
)
_SEALED_LIBRARY = (_LIBRARY.name, _LIBRARY.scheme, _LIBRARY.lines, _LIBRARY.checksum)

LINE_COLUMNS = (*_SEALED_LIBRARY, *_SEALED_LINE)
LINE_SOURCES = tables.library.outerjoin(tables.line)
OF_LIBRARY = _LIBRARY.name == bindparam("library")
OF_LINE = and_(OF_LIBRARY, _LINE.target == bindparam("target"), _LINE.profile == bindparam("profile"))
"""The conditions for a library, and for a line by its :func:`labels`."""

_EVERY = select(tables.root.c.libraries, *LINE_COLUMNS).select_from(tables.root.outerjoin(LINE_SOURCES, literal(True)))
_OF_LIBRARY = select(*LINE_COLUMNS).select_from(LINE_SOURCES).where(OF_LIBRARY)
_SCHEME = select(_LIBRARY.scheme, _LIBRARY.lines, _LIBRARY.checksum).where(OF_LIBRARY)
_LIBRARY_ID = select(_LIBRARY.id).where(OF_LIBRARY)
# no index is of what is made of a column
_INDEXED = select(exists().where(OF_LIBRARY), exists().where(_LIBRARY.name.concat("") == bindparam("library")))
_HELD = select(*_SEALED_LINE).where(_LINE.id == bindparam("line")).with_for_update()
_HELD_BY_LABELS = (
    select(_LINE.id, *_SEALED_LINE)
    .select_from(tables.line.join(tables.library))
    .where(OF_LINE)
    .with_for_update(of=tables.line)
)
_HELD_LIBRARY = select(*_SEALED_LIBRARY).where(_LIBRARY.id == bindparam("identifier")).with_for_update()
NEW_LIBRARY = insert_new(tables.library)
_AMEND_LINE = update(tables.line).where(_LINE.id == bindparam("line"))
_AMEND_LIBRARY = update(tables.library).where(_LIBRARY.id == bindparam("identifier"))
_COUNT_LIBRARY = update(tables.root).values(libraries=tables.root.c.libraries + bindparam("difference"))
UNCOUNTED = 0
"""The checksum of a line without a snapshot: it is held by a writer that has not stored one yet, and is not counted."""


class LineOverview(NamedTuple):
    """A line's labels, the sums over its releases, its candidates and the moves of its baselines, and its scheme.

    The scheme is ``None`` where that of the library orders the line.
    """

    key: LineKey
    releases: int
    candidates: int
    moves: int
    scheme: str | None


def verified(database: Database, rows: Iterable[Row]) -> list[LineOverview]:
    """The lines in rows that begin with :data:`COLUMNS` and hold every line of each library.

    Raises :class:`StoreError` where a row is damaged or missing.
    """
    found: list[LineOverview] = []
    missing: dict[str, int] = {}
    for name, scheme, lines, seal, *row in dict.fromkeys(tuple(row[: len(LINE_COLUMNS)]) for row in rows):
        if checksum(name, scheme, lines) != seal:
            raise damaged(database.where, f"the row of library {name}")
        missing.setdefault(name, lines)
        if row[-1] in {None, UNCOUNTED}:
            continue
        line = _line(database, name, row)
        found.append(line)
        missing[name] -= checksum(line.key.target, line.key.profile)
    for name, sum_ in missing.items():
        if sum_:
            raise damaged(database.where, f"a line of library {name} is missing")
    return found


def labels(key: LineKey) -> dict[str, str]:
    """The parameters of :data:`OF_LINE`."""
    return {"library": key.library, "target": key.target, "profile": key.profile}


def named(database: Database, statement: Select[Any], library: str) -> Sequence[Row]:
    """The rows that ``statement`` gives :data:`OF_LIBRARY`.

    Raises :class:`StoreError` where there are none because a library is missing, or the index of their names damaged.
    """
    rows = database.rows(statement, {"library": library})
    if not rows:
        ((indexed, stored),) = database.rows(_INDEXED, {"library": library})
        if indexed != stored:
            raise damaged(database.where, "the index of libraries")
        every(database)
    return rows


def _line(database: Database, library: str, row: Row) -> LineOverview:
    library_id, target, profile, releases, candidates, moves, scheme, seal = row
    key = LineKey(library, target, profile)
    if _line_seal(library_id, target, profile, (releases, candidates, moves), scheme) != seal:
        raise damaged(database.where, f"the row of line {key}")
    return LineOverview(key, releases, candidates, moves, scheme)


def _line_seal(library_id: int, target: str, profile: str, sums: Sequence[int], scheme: str | None) -> int:
    """A line's checksum; few lines have a scheme of their own."""
    return checksum(library_id, target, profile, *sums, *((scheme,) if scheme is not None else ()))


def every(database: Database) -> tuple[LineOverview, ...]:
    """All lines, sorted. Raises :class:`StoreError` where a row is damaged or missing."""
    rows = database.rows(_EVERY)
    own = [row[1:] for row in rows if row[1] is not None]
    found = verified(database, own)
    counted = {name: seal for name, _, lines, seal, *_ in own if lines}
    if not rows or sum(counted.values()) != rows[0][0]:
        raise damaged(database.where, "a library is missing")
    return tuple(sorted(found, key=lambda line: line.key))


def add(database: Database, line: int, differences: Mapping[str, int]) -> None:
    """Add to some of a line's :data:`SUMS`, whose row no other writer can change meanwhile."""
    library, target, profile, *before, scheme, seal = database.rows(_HELD, {"line": line})[0]
    if seal != UNCOUNTED and _line_seal(library, target, profile, before, scheme) != seal:
        raise damaged(database.where, f"the row of line {target} {profile}")
    sums = [one + differences.get(name, 0) for name, one in zip(SUMS, before, strict=True)]
    changed = dict(zip(SUMS, sums, strict=True)) | {"checksum": _line_seal(library, target, profile, sums, scheme)}
    database.run(_AMEND_LINE.values(changed), {"line": line})
    if seal == UNCOUNTED:
        _amend_library(database, library, lines=checksum(target, profile))


def new_library(name: str) -> dict[str, object]:
    """The row of a library that has no line yet."""
    return {"name": name, "scheme": AUTO, "lines": 0, "checksum": checksum(name, AUTO, 0)}


def scheme(database: Database, library: str) -> str:
    """The version scheme declared for ``library``: ``auto`` where none was declared. Raises :class:`StoreError`."""
    rows = named(database, _SCHEME, library)
    for chosen, lines, seal in rows:
        if checksum(library, chosen, lines) != seal:
            raise damaged(database.where, f"the row of library {library}")
    return str(rows[0][0]) if rows else AUTO


def schemes(database: Database) -> dict[LineKey, str]:
    """The scheme that orders each line: its own where it has one, else its library's. Raises :class:`StoreError`."""
    declared = {row[1]: row[2] for row in database.rows(_EVERY)}
    return {line.key: line.scheme or declared[line.key.library] for line in every(database)}


def states(database: Database) -> list[LineOverview]:
    """Every line, with the scheme that orders it: the sums are others where a release, a candidate or a move is.

    Raises :class:`StoreError` where a row is damaged or missing.
    """
    ordered_by = schemes(database)
    return [line._replace(scheme=ordered_by[line.key]) for line in every(database)]


def lines_of_library(database: Database, library: str) -> list[LineOverview]:
    """The lines of a library. Raises :class:`StoreError` where a row is damaged or missing."""
    return verified(database, named(database, _OF_LIBRARY, library))


def set_scheme(database: Database, library: str, scheme: str) -> None:
    """Write the scheme of a library, by which all its lines are ordered then."""
    ((identifier,),) = database.rows(_LIBRARY_ID, {"library": library})
    _amend_library(database, identifier, scheme=scheme)
    for line in lines_of_library(database, library):
        if line.scheme is not None:
            set_own_scheme(database, line.key, None)


def declare(database: Database, library: str, scheme: str) -> None:
    """Write a library that is ordered by ``scheme`` and has no line yet, unless it is there."""
    database.run(NEW_LIBRARY, {**new_library(library), "scheme": scheme, "checksum": checksum(library, scheme, 0)})


def set_own_scheme(database: Database, key: LineKey, scheme: str | None) -> None:
    """Write the scheme that orders one line; ``None`` where that of its library shall."""
    identifier, *row = database.rows(_HELD_BY_LABELS, labels(key))[0]
    line = _line(database, key.library, row)
    seal = _line_seal(row[0], key.target, key.profile, (line.releases, line.candidates, line.moves), scheme)
    database.run(_AMEND_LINE.values(scheme=scheme, checksum=seal), {"line": identifier})


def _amend_library(database: Database, identifier: int, *, lines: int = 0, scheme: str | None = None) -> None:
    name, before, counted, seal = database.rows(_HELD_LIBRARY, {"identifier": identifier})[0]
    if checksum(name, before, counted) != seal:
        raise damaged(database.where, f"the row of library {name}")
    chosen, lines = scheme or before, counted + lines
    changed = checksum(name, chosen, lines)
    database.run(_AMEND_LIBRARY.values(scheme=chosen, lines=lines, checksum=changed), {"identifier": identifier})
    # the root counts a library with its first line
    database.run(_COUNT_LIBRARY, {"difference": changed - (seal if counted else 0)})


Condition: TypeAlias = ColumnElement[bool]
SNAPSHOT, LINE, LIBRARY = tables.snapshot.c, tables.line.c, tables.library.c
_SEALED = (
    *(SNAPSHOT.id, LIBRARY.name, LINE.target, LINE.profile),
    *(column for column in SNAPSHOT if column.name not in {"id", "line_id", "checksum"}),
)
"""What a card's checksum is of: all columns of its row, and the labels of its line in place of that one's id."""

SEALED = tuple(f"{column.table.name}.{column.name}" for column in _SEALED)

RELEASES = and_(SNAPSHOT.superseded == 0, SNAPSHOT.candidate == 0)
"""The condition for what is a release now: neither replaced, nor taken back, nor a candidate."""

CANDIDATES = and_(SNAPSHOT.superseded == 0, SNAPSHOT.candidate == 1)
"""The condition for what failed its gate and was kept."""

COLUMNS = (*_SEALED, SNAPSHOT.checksum)
SOURCES = tables.snapshot.join(tables.line).join(tables.library)

_CARDS = select(*COLUMNS).select_from(SOURCES)
_OF_KEY = (
    LIBRARY.name == bindparam("library"),
    LINE.target == bindparam("target"),
    LINE.profile == bindparam("profile"),
    SNAPSHOT.version.in_(AMONG),
)
_LABELLED = [_CARDS.where(condition, *_OF_KEY).order_by(SNAPSHOT.id) for condition in (RELEASES, CANDIDATES)]
_WITH_LINE = select(SNAPSHOT.line_id, *COLUMNS).select_from(SOURCES)
_OF_RELEASE = _WITH_LINE.where(OF_LINE, SNAPSHOT.sequence == bindparam("sequence"))
_OF_LINE = _WITH_LINE.where(OF_LINE)
_OF_LINES = select(SNAPSHOT.facets, *COLUMNS).select_from(SOURCES).where(RELEASES, LINE.id.in_(AMONG))
_BY_ID = _WITH_LINE.where(SNAPSHOT.id == bindparam("identifier"))
_INSERT = insert_into(tables.snapshot)
_UPDATE = update(tables.snapshot).where(SNAPSHOT.id == bindparam("identifier"))

_target = decoder(Target)
_provenance = decoder(Provenance)
_evidence = decoder(tuple[Evidence, ...])
_tags = decoder(tuple[ReleaseTag, ...])
facet_counts = decoder(dict[Facet, int])


def find(database: Database, condition: Condition) -> list[Release]:
    """The releases that ``condition`` selects, in the order of ingestion.

    Raises :class:`StoreError` where a card is damaged.
    """
    statement = _CARDS.where(condition).order_by(SNAPSHOT.id)
    return [release_of(database, row) for row in database.rows(statement)]


def labelled(database: Database, condition: Condition, key: LineKey, versions: Sequence[str]) -> Release | None:
    """The one of :data:`RELEASES`, or :data:`CANDIDATES`, of a line with the first of some labels that one has.

    Raises :class:`StoreError` where its card is damaged.
    """
    statement = _LABELLED[condition is CANDIDATES]
    labels = {"library": key.library, "target": key.target, "profile": key.profile, "among": versions}
    found = {each.version: each for each in (release_of(database, row) for row in database.rows(statement, labels))}
    return next((found[each] for each in versions if each in found), None)


def of_library(database: Database, condition: Condition, meant: tuple[str, str | None, str | None]) -> list[Release]:
    """All :data:`RELEASES`, or :data:`CANDIDATES`, of a library, in the order of ingestion; ``meant`` are the library,
    the target and the profile (``None``: any).

    Raises :class:`StoreError` where a card, or the row of a line, is damaged or missing.
    """
    library, target, profile = meant
    wanted = [column == value for column, value in ((LINE.target, target), (LINE.profile, profile)) if value]
    chosen = LINE_SOURCES.outerjoin(tables.snapshot, and_(SNAPSHOT.line_id == LINE.id, condition, *wanted))
    statement = select(*LINE_COLUMNS, *COLUMNS).select_from(chosen).where(OF_LIBRARY).order_by(SNAPSHOT.id)
    # one statement: others may write meanwhile
    rows = named(database, statement, library)
    sums: dict[LineKey, int] = {}
    found = []
    for row in rows:
        card = row[len(LINE_COLUMNS) :]
        if card[0] is not None:
            found.append(release_of(database, card))
            sums[found[-1].line] = sums.get(found[-1].line, 0) + row[-1]
    for line in verified(database, rows):
        asked = target in {None, line.key.target} and profile in {None, line.key.profile}
        if asked and total(line, condition) != sums.get(line.key, 0):
            raise damaged(database.where, f"a release of {line.key} is missing")
    return found


def of_every_line(database: Database, condition: Condition) -> dict[LineKey, list[Release]]:
    """All :data:`RELEASES`, or :data:`CANDIDATES`, line by line, in the order of ingestion.

    Raises :class:`StoreError` where a card, or the row of a line, is damaged or missing.
    """
    found: dict[LineKey, list[Release]] = {}
    sums: Counter[LineKey] = Counter()
    for row in database.rows(_CARDS.where(condition).order_by(SNAPSHOT.id)):
        release = release_of(database, row)
        found.setdefault(release.line, []).append(release)
        sums[release.line] += row[-1]
    for line in every(database):
        if total(line, condition) != sums[line.key]:
            raise damaged(database.where, f"a release of {line.key} is missing")
    return found


def of_lines(database: Database, wanted: Mapping[int, LineOverview]) -> Iterator[tuple[Release, Mapping[Facet, int]]]:
    """The releases of lines by their rows' ids, with how many names each saw in each facet that it observed.

    Raises :class:`StoreError` where a card is damaged or missing.
    """
    sums: Counter[LineKey] = Counter()
    for facets, *row in database.within(_OF_LINES, sorted(wanted)):
        release = release_of(database, row)
        sums[release.line] += row[-1]
        yield release, facet_counts(facets)
    for line in wanted.values():
        if line.releases != sums[line.key]:
            raise damaged(database.where, f"a release of {line.key} is missing")


def total(line: LineOverview, condition: Condition) -> int:
    """The sum over a line's :data:`RELEASES`, or :data:`CANDIDATES`: 0 where it has none."""
    return line.releases if condition is RELEASES else line.candidates


def insert(database: Database, columns: Mapping[str, object]) -> int:
    """Write the row of a snapshot; its id."""
    identifier = database.insert(_INSERT, {**columns, "checksum": 0})
    line, row = _row(database, identifier)
    add(database, line, _seal(database, identifier, row))
    return identifier


def amend_card(database: Database, identifier: int, changes: Mapping[str, object]) -> None:
    """Change columns of a snapshot's row, and what seals them. Raises :class:`StoreError` where it is damaged."""
    line, row = _row(database, identifier)
    release_of(database, row)
    before = _counted(row, row[-1])
    database.run(_UPDATE.values(changes), {"identifier": identifier})
    _, row = _row(database, identifier)
    after = _seal(database, identifier, row)
    add(database, line, {column: after.get(column, 0) - before.get(column, 0) for column in after | before})


def columns_of(database: Database, release: Release) -> tuple[int, dict[str, Any]]:
    """The id of a release's line, and the columns of its own row.

    Raises :class:`SnapshotNotFound` where it is not in this store, :class:`StoreError` where it is damaged.
    """
    rows = database.rows(_OF_RELEASE, {**labels(release.line), "sequence": release.sequence})
    if not rows:
        raise SnapshotNotFound(f"{release.reference}: not in {database.where}")
    line_id, *row = rows[0]
    release_of(database, row)
    return line_id, dict(zip(SEALED, row, strict=False))


def by_identifier(database: Database, line: LineKey) -> dict[int, Release]:
    """Every snapshot of a line, replaced ones too, by its row's id. Raises :class:`StoreError`."""
    return {row[1]: release_of(database, row[1:]) for row in database.rows(_OF_LINE, labels(line))}


def digests_of(database: Database, library: str) -> Iterator[str]:
    """The digests of all that was ever stored of a library."""
    statement = select(SNAPSHOT.digest).select_from(SOURCES).where(OF_LIBRARY)
    for (key,) in database.rows(statement, {"library": library}):
        yield bytes(key).hex()


def identifier(database: Database, release: Release) -> int:
    """The id of a release's row. Raises :class:`SnapshotNotFound` where it is not in this store."""
    return int(columns_of(database, release)[1]["snapshot.id"])


def is_stored(database: Database, release: Release) -> bool:
    """Whether a release's row is there still: a build may have been pruned."""
    return bool(database.rows(_OF_RELEASE, {**labels(release.line), "sequence": release.sequence}))


def _row(database: Database, identifier: int) -> tuple[int, Row]:
    line, *row = database.rows(_BY_ID, {"identifier": identifier})[0]
    return line, row


def _seal(database: Database, identifier: int, row: Row) -> dict[str, int]:
    """Write the checksum of a row; what it adds to its line's sums."""
    seal = _sealed(row[:-1])
    database.run(_UPDATE.values(checksum=seal), {"identifier": identifier})
    return _counted(row, seal)


def _sealed(values: Row) -> int:
    """The checksum of a card. The tags, which stand last, are left out where there are none: schema 0010 added them."""
    return checksum(*(values if values[-1] is not None else values[:-1]))


def _counted(row: Row, seal: int) -> dict[str, int]:
    column = dict(zip(SEALED, row, strict=False))
    if column["snapshot.superseded"]:
        return {}
    return {"candidates" if column["snapshot.candidate"] else "releases": seal}


def declarations(snapshot: Snapshot) -> int:
    """How many declarations of its own any facet saw: all names but imports and the library itself."""
    names = {name for facet in FACETS for name in snapshot.entries.get(facet, {})}
    return sum(name.kind not in {"import", "library"} for name in names)


def release_of(database: Database, row: Row) -> Release:
    """The release of a row of :data:`COLUMNS`. Raises :class:`StoreError` where it is damaged."""
    *values, seal = row
    column = dict(zip(SEALED, values, strict=True))
    line = LineKey(column["library.name"], column["line.target"], column["line.profile"])
    if _sealed(values) != seal:
        raise damaged(database.where, f"the card of {line} {column['snapshot.version']}")
    released = column["snapshot.released"]
    return Release(
        line=line,
        version=column["snapshot.version"],
        sequence=column["snapshot.sequence"],
        digest=column["snapshot.digest"].hex(),
        target=_target(column["snapshot.target"]),
        soname=column["snapshot.soname"],
        exports=column["snapshot.exports"],
        declarations=column["snapshot.declarations"],
        ingested=datetime.fromisoformat(column["snapshot.ingested"]),
        released=datetime.fromisoformat(released) if released else None,
        revision=column["snapshot.revision"],
        url=column["snapshot.url"],
        provenance=_provenance(column["snapshot.provenance"]),
        evidence=_evidence(column["snapshot.evidence"]),
        candidate=bool(column["snapshot.candidate"]),
        tags=_tags(column["snapshot.tags"]) if column["snapshot.tags"] else (),
    )


def of_digest(database: Database, digits: str, *, candidates: bool = False) -> tuple[Release, ...]:
    """The releases, and perhaps candidates, whose digest begins with ``digits``, in the order of ingestion."""
    low, high = between(digits)
    digest, among = SNAPSHOT.digest, SNAPSHOT.superseded == 0 if candidates else RELEASES
    return tuple(find(database, and_(among, digest >= low, digest <= high)))


def of_file(database: Database, sha256: str) -> tuple[Release, ...]:
    """The releases that were read from a file with this SHA-256, in the order of ingestion."""
    return tuple(find(database, and_(RELEASES, SNAPSHOT.sha256 == sha256))) if sha256 else ()


def between(digits: str) -> tuple[bytes, bytes]:
    """The lowest and the highest digest that begin with ``digits``."""
    return bytes.fromhex(digits.ljust(32, "0")), bytes.fromhex(digits.ljust(32, "f"))


def evidence_state(evidence: tuple[Evidence, ...], facet: Facet) -> str:
    """How much ``facet`` saw: ``full``, ``partial`` or ``missing``."""
    return next((part.state for part in evidence if part.facet == facet), "missing")


def shows_types(evidence: str) -> bool:
    """Whether the evidence on a card, as its column has it, is of types too."""
    return evidence_state(_evidence(evidence), "layout") != "missing"


def speaks(count: int | None, full: bool) -> bool:
    """Whether a facet with ``count`` names (``None``: not observed) says anything about the declarations' history.

    An empty facet that did not see everything does not: it must not end what was seen before.
    """
    return count is not None and (count > 0 or full)
