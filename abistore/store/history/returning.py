"""Exports that were gone for some releases and came back: from entries alone, without a shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from abistore.model.history import LineKey, Release
from abistore.model.names import EXPORTS, FACETS, Name
from abistore.store.database import tables
from abistore.store.database.database import Database
from abistore.store.database.failures import damaged
from abistore.store.releases import cards
from abistore.store.releases.lines import OF_LINE, labels

_ENTRY, _NAME = tables.entry.c, tables.name.c
_SYMBOL = _ENTRY.facet == FACETS.index("symbol")
_LINES = tables.line.join(tables.library)
_OF_LINE = select(tables.line.c.id).select_from(_LINES).where(OF_LINE).scalar_subquery()
_SEVERAL = (
    select(_ENTRY.name_id)
    .where(_ENTRY.line_id == _OF_LINE, _SYMBOL)
    .group_by(_ENTRY.name_id)
    .having(func.count() > 1)
    .scalar_subquery()
)
_SPANS = (
    select(_ENTRY.name_id, _NAME.kind, _NAME.spelling, _ENTRY.first_seq, _ENTRY.last_seq)
    .select_from(tables.entry.join(tables.name))
    .where(_ENTRY.line_id == _OF_LINE, _SYMBOL, _NAME.kind.in_(bindparam("kinds", expanding=True)))
    .where(_ENTRY.name_id.in_(_SEVERAL))
)


class ReturnedExport(NamedTuple):
    """An export that came back: the first release without it, and the first that has it again."""

    name: Name
    gone: Release
    back: Release


def returned(database: Database, line: LineKey, releases: Sequence[Release]) -> tuple[ReturnedExport, ...]:
    """The exports of a line that were gone and came back, by the ``releases`` in release order, then by name.

    A release whose evidence shows no symbols says nothing. Raises :class:`StoreError` where an entry is damaged.
    """
    shown = [each for each in releases if cards.evidence_state(each.evidence, "symbol") != "missing"]
    spans: dict[Name, list[tuple[int, int]]] = {}
    for _, kind, spelling, first, last in database.rows(_SPANS, {**labels(line), "kinds": EXPORTS}):
        if not (isinstance(first, int) and isinstance(last, int)):
            raise damaged(database.where, "an entry is out of range")
        spans.setdefault(Name(kind, spelling), []).append((first, last))
    found = [each for name, held in spans.items() for each in _gaps(name, held, shown)]
    places = {release.sequence: place for place, release in enumerate(shown)}
    return tuple(sorted(found, key=lambda each: (places[each.back.sequence], each.name)))


def _gaps(name: Name, held: Sequence[tuple[int, int]], releases: Sequence[Release]) -> Iterator[ReturnedExport]:
    seen, gone = False, None
    for release in releases:
        if any(first <= release.sequence <= last for first, last in held):
            if gone is not None:
                yield ReturnedExport(name, gone, release)
            seen, gone = True, None
        elif seen and gone is None:
            gone = release
