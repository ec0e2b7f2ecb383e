"""In which releases a declaration appeared, changed and vanished."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from abistore.errors import SnapshotNotFound
from abistore.model.digest import sort_variants
from abistore.model.history import LineKey, LogEvent, Release
from abistore.model.names import FACETS, Facet, Name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Variants
from abistore.store import cards, seals
from abistore.store.database import Database
from abistore.store.failures import damaged
from abistore.store.memory import Memory
from abistore.store.naming import names_called
from abistore.store.releases import no_library, releases

Action: TypeAlias = Literal["appeared", "changed", "vanished", "not-observed"]


@dataclass(frozen=True, slots=True)
class _Span:
    """A shape, and the sequences in which it held."""

    first: int
    last: int
    shape: AnyShape


Spans: TypeAlias = dict[tuple[Name, Facet], list[_Span]]


def log(
    database: Database, library: str, spelling: str, *, target: str | None, profile: str | None, memory: Memory
) -> tuple[LogEvent, ...]:
    """The events of all names that ``spelling`` means: by line, name, release order and facet.

    A release whose evidence could not show the declaration gives ``not-observed``, and the next one that could is
    compared with the last that could. Raises :class:`SnapshotNotFound` where no release ever had such a name.
    """
    by_line: dict[LineKey, list[Release]] = {}
    for release in releases(database, library, target, profile):
        by_line.setdefault(release.line, []).append(release)
    if not by_line:
        raise no_library(database, library, target, profile)
    events: list[LogEvent] = []
    for ordered in by_line.values():
        events += _line_events(database, ordered, spelling, memory)
    if not events:
        raise SnapshotNotFound(
            f"{spelling}: no release of {library} has a declaration of this name",
            "give a type's or function's qualified name, or a symbol",
        )
    return tuple(events)


def _line_events(database: Database, ordered: Sequence[Release], spelling: str, memory: Memory) -> Iterator[LogEvent]:
    line, counts = cards.counts(database, ordered)
    spans = _spans(database, line, names_called(database, line, spelling), memory)
    for name in sorted({name for name, _ in spans}):
        of_name = [
            event
            for facet in FACETS
            if (name, facet) in spans
            for event in _events(ordered, counts, name, facet, spans[name, facet])
        ]
        place = {release.sequence: position for position, release in enumerate(ordered)}
        yield from sorted(of_name, key=lambda event: place[event.release.sequence])


def _events(
    ordered: Sequence[Release],
    counts: Mapping[int, Mapping[Facet, int]],
    name: Name,
    facet: Facet,
    spans: Sequence[_Span],
) -> Iterator[LogEvent]:
    before: Variants = ()
    for release in ordered:
        sequence = release.sequence
        after = sort_variants(span.shape for span in spans if span.first <= sequence <= span.last)
        full = cards.evidence_state(release.evidence, facet) == "full"
        if not cards.speaks(counts[sequence].get(facet), full) or (not after and not full):
            yield LogEvent(release, name, facet, "not-observed", before, ())
        elif after != before:
            action: Action = "changed" if before and after else "appeared" if after else "vanished"
            yield LogEvent(release, name, facet, action, before, after)
            before = after


def _spans(database: Database, line: int, names: Mapping[int, Name], memory: Memory) -> Spans:
    """The entries of ``names`` in a line. Those in other lines are read too: their sum is that of all.

    Raises :class:`StoreError` where one is damaged or missing.
    """
    statement = (
        "SELECT name.id, name.entries, entry.line_id, entry.facet, entry.shape_id, entry.first_seq, entry.last_seq, "
        "shape.digest, CASE WHEN entry.line_id = ? THEN shape.body END FROM name "
        "LEFT JOIN entry ON entry.name_id = name.id LEFT JOIN shape ON shape.id = entry.shape_id "
        "WHERE name.id IN ({})"
    )
    found: list[tuple[int, int, _Span]] = []
    missing: dict[int, int] = {}
    for name_id, total, of_line, facet, shape_id, first, last, key, body in database.within(
        statement, sorted(names), line
    ):
        missing.setdefault(name_id, total)
        if key is None:
            continue
        missing[name_id] -= seals.entry(of_line, facet, seals.key(key), first, last)
        if body is not None:
            span = _Span(first, last, memory.whole_shape(database, shape_id, body, key))
            found.append((name_id, facet, span))
    for name_id in names:
        if missing.get(name_id) != 0:
            raise damaged(database.where, f"an entry of {names[name_id]} is missing or was changed")
    spans: Spans = {}
    for name_id, facet, span in found:
        spans.setdefault((names[name_id], FACETS[facet]), []).append(span)
    return spans
