"""A stored snapshot's card: everything of a release but its entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, and_, bindparam, select, update
from sqlalchemy import insert as insert_into

from abistore.errors import SnapshotNotFound
from abistore.model.history import LineKey, Release
from abistore.model.names import FACETS, Facet
from abistore.model.snapshot import Evidence, Provenance, ReleaseTag, Snapshot, Target
from abistore.store.database import tables
from abistore.store.database.database import AMONG, Database, Row
from abistore.store.database.failures import damaged
from abistore.store.database.seals import checksum
from abistore.store.releases import lines
from abistore.store.releases.lines import OF_LIBRARY, OF_LINE, labels

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
_WITH_LINE = select(SNAPSHOT.line_id, *COLUMNS).select_from(SOURCES)
_OF_RELEASE = _WITH_LINE.where(OF_LINE, SNAPSHOT.sequence == bindparam("sequence"))
_OF_LINE = _WITH_LINE.where(OF_LINE)
_OF_LINES = select(SNAPSHOT.facets, *COLUMNS).select_from(SOURCES).where(RELEASES, LINE.id.in_(AMONG))
_BY_ID = _WITH_LINE.where(SNAPSHOT.id == bindparam("identifier"))
_INSERT = insert_into(tables.snapshot)
_UPDATE = update(tables.snapshot).where(SNAPSHOT.id == bindparam("identifier"))

_target = msgspec.json.Decoder(Target).decode
_provenance = msgspec.json.Decoder(Provenance).decode
_evidence = msgspec.json.Decoder(tuple[Evidence, ...]).decode
_tags = msgspec.json.Decoder(tuple[ReleaseTag, ...]).decode
facet_counts = msgspec.json.Decoder(dict[Facet, int]).decode


def find(database: Database, condition: Condition) -> list[Release]:
    """The releases that ``condition`` selects, in the order of ingestion.

    Raises :class:`StoreError` where a card is damaged.
    """
    statement = _CARDS.where(condition).order_by(SNAPSHOT.id)
    return [release_of(database, row) for row in database.rows(statement)]


def of_library(database: Database, condition: Condition, meant: tuple[str, str | None, str | None]) -> list[Release]:
    """All :data:`RELEASES`, or :data:`CANDIDATES`, of a library, in the order of ingestion; ``meant`` are the library,
    the target and the profile (``None``: any).

    Raises :class:`StoreError` where a card, or the row of a line, is damaged or missing.
    """
    library, target, profile = meant
    wanted = [column == value for column, value in ((LINE.target, target), (LINE.profile, profile)) if value]
    chosen = lines.SOURCES.outerjoin(tables.snapshot, and_(SNAPSHOT.line_id == LINE.id, condition, *wanted))
    statement = select(*lines.COLUMNS, *COLUMNS).select_from(chosen).where(OF_LIBRARY).order_by(SNAPSHOT.id)
    # one statement: others may write meanwhile
    rows = lines.named(database, statement, library)
    sums: dict[LineKey, int] = {}
    found = []
    for row in rows:
        card = row[len(lines.COLUMNS) :]
        if card[0] is not None:
            found.append(release_of(database, card))
            sums[found[-1].line] = sums.get(found[-1].line, 0) + row[-1]
    for line in lines.verified(database, rows):
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
    for line in lines.every(database):
        if total(line, condition) != sums[line.key]:
            raise damaged(database.where, f"a release of {line.key} is missing")
    return found


def of_lines(
    database: Database, wanted: Mapping[int, lines.LineOverview]
) -> Iterator[tuple[Release, Mapping[Facet, int]]]:
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


def total(line: lines.LineOverview, condition: Condition) -> int:
    """The sum over a line's :data:`RELEASES`, or :data:`CANDIDATES`: 0 where it has none."""
    return line.releases if condition is RELEASES else line.candidates


def insert(database: Database, columns: Mapping[str, object]) -> int:
    """Write the row of a snapshot; its id."""
    identifier = database.insert(_INSERT, {**columns, "checksum": 0})
    line, row = _row(database, identifier)
    lines.add(database, line, _seal(database, identifier, row))
    return identifier


def amend(database: Database, identifier: int, changes: Mapping[str, object]) -> None:
    """Change columns of a snapshot's row, and what seals them. Raises :class:`StoreError` where it is damaged."""
    line, row = _row(database, identifier)
    release_of(database, row)
    before = _counted(row, row[-1])
    database.run(_UPDATE.values(changes), {"identifier": identifier})
    _, row = _row(database, identifier)
    after = _seal(database, identifier, row)
    lines.add(database, line, {column: after.get(column, 0) - before.get(column, 0) for column in after | before})


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
