"""What is read of all lines at once: their releases, the judgements about them, and which of them import a symbol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sqlalchemy import select

from abistore.model.declarations import SELF
from abistore.model.findings import RulingKey
from abistore.model.history import LineKey, Release, VerdictSummary
from abistore.model.snapshot import name_digest
from abistore.model.versions import position
from abistore.store import releases as cards
from abistore.store import tables
from abistore.store.database import AMONG, Database, damaged
from abistore.store.snapshots import decode
from abistore.store.tables import OPEN
from abistore.store.verdicts import OF_ALL, told

Judgements: TypeAlias = dict[tuple[int, int, RulingKey], VerdictSummary]
"""The latest judgement between two releases of a line, by their sequence numbers and the ruling."""

_ENTRY, _NAME, _LINE, _LIBRARY = tables.entry.c, tables.name.c, tables.line.c, tables.library.c
_NOW = (_ENTRY.last_seq == OPEN, _ENTRY.facet == 0)
_CARDS = select(*cards.COLUMNS).select_from(cards.SOURCES).order_by(cards.SNAPSHOT.id)
_IMPORTS = (
    select(_ENTRY.line_id, _LIBRARY.name, _LINE.target, _LINE.profile, _NAME.spelling)
    .select_from(tables.entry.join(tables.name).join(tables.line).join(tables.library))
    .where(_NAME.digest.in_(AMONG), *_NOW)
)
_FACTS = (
    select(_ENTRY.line_id, tables.shape.c.body)
    .select_from(tables.entry.join(tables.name).join(tables.shape))
    .where(_ENTRY.line_id.in_(AMONG), _NAME.digest == name_digest(SELF.kind, SELF.spelling), *_NOW)
)


class WholeLine(NamedTuple):
    """A line: its releases in release order, the candidates that were kept, and what is stored about them."""

    key: LineKey
    releases: Sequence[Release]
    candidates: Sequence[Release]
    judgements: Judgements


class ImportingLine(NamedTuple):
    """A line whose latest snapshot imports some symbols; ``needed`` are the libraries that it asks the loader for."""

    key: LineKey
    symbols: frozenset[str]
    needed: tuple[str, ...]


def whole_lines(database: Database, engine: str) -> tuple[WholeLine, ...]:
    """All lines, sorted, with what this store judged by an engine. Raises :class:`StoreError` for damaged rows."""
    by_row: dict[int, Release] = {}
    for condition in (cards.RELEASES, cards.CANDIDATES):
        by_row |= _checked(database, condition)
    judgements: dict[LineKey, Judgements] = {}
    for old, new, summary in told(database, database.rows(OF_ALL, {"engine": engine}), by_row):
        if old.line == new.line:
            judgements.setdefault(new.line, {})[old.sequence, new.sequence, summary.ruling] = summary
    schemes = cards.schemes(database)
    lines: dict[LineKey, list[Release]] = {}
    for release in by_row.values():
        lines.setdefault(release.line, []).append(release)
    return tuple(_whole(key, lines[key], schemes[key], judgements.get(key, {})) for key in sorted(lines))


def _whole(key: LineKey, found: Iterable[Release], scheme: str, judgements: Judgements) -> WholeLine:
    placed = sorted(found, key=lambda each: position(each.version, each.sequence, scheme))
    released, kept = ([each for each in placed if each.candidate is word] for word in (False, True))
    return WholeLine(key, released, kept, judgements)


def _checked(database: Database, condition: cards.Condition) -> dict[int, Release]:
    """Releases, or candidates, by their rows, of which none is missing."""
    found: dict[int, Release] = {}
    sums: Counter[LineKey] = Counter()
    for row in database.rows(_CARDS.where(condition)):
        release = found[row[0]] = cards.release_of(database, row)
        sums[release.line] += row[-1]
    for line in cards.every(database):
        if cards.total(line, condition) != sums[line.key]:
            raise damaged(database.where, f"a release of {line.key} is missing")
    return found


def importing_lines(database: Database, symbols: Collection[str]) -> tuple[ImportingLine, ...]:
    """The lines whose latest snapshot imports one of some symbols, sorted."""
    found: dict[int, tuple[LineKey, set[str]]] = {}
    keys = sorted(name_digest("import", each) for each in symbols)
    for identifier, library, target, profile, symbol in database.within(_IMPORTS, keys):
        found.setdefault(identifier, (LineKey(library, target, profile), set()))[1].add(symbol)
    needed = _needed(database, sorted(found))
    lines = (ImportingLine(key, frozenset(own), needed.get(row, ())) for row, (key, own) in found.items())
    return tuple(sorted(lines, key=lambda each: each.key))


def _needed(database: Database, lines: Sequence[int]) -> Mapping[int, tuple[str, ...]]:
    rows = database.within(_FACTS, lines)
    return {row: tuple(getattr(decode(body), "needed", ())) for row, body in rows}
