"""In which releases a declaration appeared, changed and vanished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from sqlalchemy import select

from abistore.model.digest import sort_variants
from abistore.model.history import LineKey, LogEvent, Release
from abistore.model.names import FACETS, Facet, Name
from abistore.model.recorded.common_ground import cut
from abistore.model.recorded.unrecorded import unrecorded_by
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Variants, evidence_of
from abistore.store.database import seals, tables
from abistore.store.database.database import AMONG, Database
from abistore.store.database.failures import damaged
from abistore.store.releases import cards, lines
from abistore.store.releases.releases import in_release_order
from abistore.store.snapshots import calling
from abistore.store.snapshots.memory import RowMemory
from abistore.store.snapshots.naming import MeantNames, called

_NAME, _ENTRY, _SHAPE, _LINE = tables.name.c, tables.entry.c, tables.shape.c, tables.line.c

_ENTRIES = (
    select(
        *(_NAME.entries, _NAME.id, _ENTRY.line_id, _ENTRY.facet, _ENTRY.shape_id, _ENTRY.first_seq, _ENTRY.last_seq),
        *(_SHAPE.digest, _SHAPE.body),
    )
    .select_from(tables.name.outerjoin(tables.entry).outerjoin(tables.shape))
    .where(_NAME.id.in_(AMONG))
)
_KEYS = (
    select(_LINE.id, tables.library.c.name, _LINE.target, _LINE.profile)
    .select_from(tables.line.join(tables.library))
    .where(_LINE.id.in_(AMONG))
)

Action: TypeAlias = Literal["appeared", "changed", "vanished", "not-observed"]


@dataclass(frozen=True, slots=True)
class _Span:
    """A shape, and the sequences in which it held."""

    first: int
    last: int
    shape: AnyShape


Spans: TypeAlias = dict[tuple[Name, Facet], list[_Span]]


class _Entry(NamedTuple):
    """A row of a name's life in one line."""

    name: int
    line: int
    facet: int
    shape: int
    first: int
    last: int
    digest: bytes
    body: str


class _Lived(NamedTuple):
    """The releases of a line in release order, what each saw of each facet, and the spans of names that are meant."""

    releases: Sequence[Release]
    counts: Mapping[int, Mapping[Facet, int]]
    spans: Spans


def logs(
    database: Database, spellings: Sequence[str], library: str | None, memory: RowMemory
) -> dict[LineKey, tuple[LogEvent, ...]]:
    """What became of the names that are meant, line by line, in the lines of ``library`` (``None``: of all).

    A line's events are by name, release order and facet, and of the first of ``spellings`` that means anything there.
    A release whose evidence could not show the declaration gives ``not-observed``, and the next one that could is
    compared with the last that could. Lines that never had such a name are left out.
    """
    known = {line.key: line for line in lines.every(database) if library in {None, line.key.library}}
    found: dict[LineKey, tuple[LogEvent, ...]] = {}
    for spelling in spellings:
        wanted = {key: line for key, line in known.items() if key not in found}
        for key, lived in _lived(database, called(database, spelling), wanted, memory):
            if events := tuple(_line_events(lived)):
                found[key] = events
    return {line: found[line] for line in sorted(found)}


def _line_events(lived: _Lived) -> Iterator[LogEvent]:
    ordered, spans = lived.releases, lived.spans
    place = {release.sequence: position for position, release in enumerate(ordered)}
    for name in sorted({name for name, _ in spans}):
        of_name = [
            event
            for facet in FACETS
            if (name, facet) in spans
            for event in _events(ordered, lived.counts, name, facet, spans[name, facet])
        ]
        yield from sorted(of_name, key=lambda event: place[event.release.sequence])


def _events(
    ordered: Sequence[Release],
    counts: Mapping[int, Mapping[Facet, int]],
    name: Name,
    facet: Facet,
    spans: Sequence[_Span],
) -> Iterator[LogEvent]:
    before: Variants = ()
    lacking: frozenset[str] = frozenset()
    for position, release in enumerate(ordered):
        sequence = release.sequence
        after = sort_variants(span.shape for span in spans if span.first <= sequence <= span.last)
        full = cards.evidence_state(release.evidence, facet) == "full"
        lacks = unrecorded_by(evidence_of(release.evidence, facet))
        hidden = not full or any(type(span.shape).__name__ in lacks for span in spans)
        if not cards.speaks(counts[sequence].get(facet), full) or (not after and hidden):
            yield LogEvent(release, name, facet, "not-observed", before, (), not position)
        elif not _alike(before, after, lacking | lacks if lacking != lacks else frozenset()):
            action: Action = "changed" if before and after else "appeared" if after else "vanished"
            yield LogEvent(release, name, facet, action, before, after, not position)
            before, lacking = after, lacks
        elif lacks <= lacking:
            before, lacking = after, lacks


def _alike(before: Variants, after: Variants, lacking: frozenset[str]) -> bool:
    """Whether nothing is seen to differ, given the facts that one of two releases does not record."""
    return after == before or bool(lacking and cut(lacking).variants(before) == cut(lacking).variants(after))


def _lived(
    database: Database, meant: MeantNames, wanted: Mapping[LineKey, lines.LineOverview], memory: RowMemory
) -> Iterator[tuple[LineKey, _Lived]]:
    """Those of the ``wanted`` lines that ever had a name that is meant."""
    names = meant.names
    entries: dict[int, list[_Entry]] = {}
    for entry in _entries(database, names):
        entries.setdefault(entry.line, []).append(entry)
    keys = _keys(database, sorted(entries))
    displays = tuple(calling.display_prefixes(meant.words))
    spans: dict[LineKey, Spans] = {}
    for identifier, own in entries.items():
        displayed = {entry.name for entry in own if entry.body.startswith(displays)}
        chosen = meant.within({entry.name for entry in own}, displayed)
        if chosen and keys[identifier] in wanted:
            spans[keys[identifier]] = _spans(database, names, memory, (one for one in own if one.name in chosen))
    seen = list(cards.of_lines(database, {identifier: wanted[key] for identifier, key in keys.items() if key in spans}))
    ordered: dict[LineKey, list[Release]] = {key: [] for key in spans}
    for release in in_release_order(database, [release for release, _ in seen]):
        ordered[release.line].append(release)
    counts: dict[LineKey, dict[int, Mapping[Facet, int]]] = {key: {} for key in spans}
    for release, count in seen:
        counts[release.line][release.sequence] = count
    for key in spans:
        yield key, _Lived(ordered[key], counts[key], spans[key])


def _spans(database: Database, names: Mapping[int, Name], memory: RowMemory, entries: Iterable[_Entry]) -> Spans:
    spans: Spans = {}
    for entry in entries:
        shape = memory.whole_shape(database, entry.shape, entry.body, entry.digest)
        span = _Span(entry.first, entry.last, shape)
        spans.setdefault((names[entry.name], FACETS[entry.facet]), []).append(span)
    return spans


def _entries(database: Database, names: Mapping[int, Name]) -> Iterator[_Entry]:
    """The entries of ``names`` in all lines. Raises :class:`StoreError` where one is damaged or missing."""
    missing: dict[int, int] = {}
    for total, name, *row in database.within(_ENTRIES, sorted(names)):
        missing.setdefault(name, total)
        entry = _Entry(name, *row)
        if entry.digest is not None:
            place = (entry.line, entry.facet, seals.key(entry.digest), entry.first, entry.last)
            missing[name] -= seals.entry(*place)
            yield entry
    for name in names:
        if missing.get(name) != 0:
            raise damaged(database.where, f"an entry of {names[name]} is missing or was changed")


def _keys(database: Database, identifiers: Sequence[int]) -> dict[int, LineKey]:
    """The labels of lines that have entries. Raises :class:`StoreError` where a line is missing."""
    found = {identifier: LineKey(*key) for identifier, *key in database.within(_KEYS, identifiers)}
    if len(found) < len(identifiers):
        raise damaged(database.where, "the line of an entry is missing")
    return found
