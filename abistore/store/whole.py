"""What is read of all lines at once: their releases, the judgements about them, and what the loader sees of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from sqlalchemy import select

from abistore.model.declarations import EXPORTS, SELF
from abistore.model.findings import RulingKey
from abistore.model.history import LineKey, Release, VerdictSummary
from abistore.model.shapes import Import, Library
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
_NAMED = (
    select(_ENTRY.line_id, _NAME.kind, _NAME.spelling, tables.shape.c.body)
    .select_from(tables.entry.join(tables.name).join(tables.shape))
    .where(_NAME.digest.in_(AMONG), *_NOW)
)
_FACTS = (
    select(_ENTRY.line_id, _LIBRARY.name, _LINE.target, _LINE.profile, tables.shape.c.body)
    .select_from(
        tables.entry.join(tables.name)
        .join(tables.shape)
        .join(tables.line, _ENTRY.line_id == _LINE.id)
        .join(tables.library)
    )
    .where(_NAME.digest == name_digest(SELF.kind, SELF.spelling), *_NOW)
)


class WholeLine(NamedTuple):
    """A line: its releases in release order, the candidates that were kept, and what is stored about them."""

    key: LineKey
    releases: Sequence[Release]
    candidates: Sequence[Release]
    judgements: Judgements


class LoadingLine(NamedTuple):
    """A line as the loader meets its latest snapshot: the ``name`` that it is loaded by, and the libraries it needs.

    ``imports`` and ``exports`` are those among the symbols that were asked for; an import has the library that is to
    provide it, if the file names one.
    """

    key: LineKey
    name: str
    needed: tuple[str, ...]
    imports: frozenset[tuple[str, str]]
    exports: frozenset[str]


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


def loading_lines(database: Database, symbols: Collection[str]) -> tuple[LoadingLine, ...]:
    """All lines as the loader meets them, sorted, with those of some symbols that they import and export."""
    imports, exports = dict[int, set[tuple[str, str]]](), dict[int, set[str]]()
    keys = sorted(name_digest(kind, each) for each in symbols for kind in ("import", *EXPORTS))
    for identifier, kind, symbol, body in database.within(_NAMED, keys):
        if kind != "import":
            exports.setdefault(identifier, set()).add(symbol)
        elif isinstance(shape := decode(body), Import):
            imports.setdefault(identifier, set()).add((symbol, shape.library or ""))
    found = []
    for identifier, library, target, profile, body in database.rows(_FACTS):
        if isinstance(facts := decode(body), Library):
            both = frozenset(imports.get(identifier, ())), frozenset(exports.get(identifier, ()))
            found.append(LoadingLine(LineKey(library, target, profile), facts.name or "", facts.needed, *both))
    return tuple(sorted(found, key=lambda each: each.key))
