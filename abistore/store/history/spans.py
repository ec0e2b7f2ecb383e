"""When each entry of a line begins and ends, and which do from one sequence number to another."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from itertools import islice
from typing import TypeAlias

from sqlalchemy import select

from abistore.model.names import FACETS, Facet
from abistore.store.database import tables
from abistore.store.database.database import AMONG, Database
from abistore.store.database.failures import damaged

Held: TypeAlias = tuple[int, int, int]
"""An entry: its facet's number, and the ids of its name and its shape."""


_AT_ONCE = 10_000


class EntrySpans:
    """The entries of a line in columns, some 30 bytes each: a long history has hundreds of thousands.

    With ``facet``, those of one facet alone; with ``names``, those of these rows of names.
    """

    def __init__(
        self, database: Database, line: int, facet: Facet | None = None, names: Collection[int] | None = None
    ) -> None:
        self._facet, self._name, self._shape = array("b"), array("q"), array("q")
        self._first, self._last = array("i"), array("i")
        columns = self._facet, self._name, self._shape, self._first, self._last
        entry = tables.entry.c
        selected = select(entry.facet, entry.name_id, entry.shape_id, entry.first_seq, entry.last_seq)
        statement = selected.where(entry.line_id == line).order_by(entry.first_seq)
        if facet is not None:
            statement = statement.where(entry.facet == FACETS.index(facet))
        try:
            if names is None:
                rows = database.each(statement)
            else:
                rows = iter(database.within(statement.where(entry.name_id.in_(AMONG)), sorted(names)))
            while some := tuple(islice(rows, _AT_ONCE)):
                for column, values in zip(columns, zip(*some, strict=True), strict=True):
                    column.extend(values)
        except (OverflowError, TypeError) as error:  # a flipped byte
            raise damaged(database.where, "an entry is out of range") from error
        # of a part of the line nobody asks for the steps from release to release
        every = range(len(self._last)) if facet is None and names is None else range(0)
        self._ends = array("I", sorted(every, key=self._last.__getitem__))
        self._lasts = array("i", (self._last[row] for row in self._ends))

    def rows(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Every entry: its facet's number, the ids of its name and shape, and its first and last sequence number."""
        return zip(self._facet, self._name, self._shape, self._first, self._last, strict=True)

    def between(self, before: int, after: int) -> dict[Held, bool]:
        """The entries that hold ``after`` and not ``before`` (true), or the reverse (false)."""
        if not before:
            spans = zip(self._first, self._last, self._facet, self._name, self._shape, strict=True)
            return {(facet, name, shape): True for first, last, facet, name, shape in spans if first <= after <= last}
        found: dict[Held, bool] = {}
        for row, comes in self._steps(before, after):
            held = self._facet[row], self._name[row], self._shape[row]
            if found.get(held) is (not comes):
                del found[held]  # it came and went, or the reverse
            else:
                found[held] = comes
        return found

    def _steps(self, before: int, after: int) -> Iterator[tuple[int, bool]]:
        """The rows of what ends and begins on the way, step by step."""
        for sequence in range(before, after):
            yield from ((row, False) for row in self._ending(sequence))
            yield from ((row, True) for row in self._beginning(sequence + 1))
        for sequence in range(before, after, -1):
            yield from ((row, False) for row in self._beginning(sequence))
            yield from ((row, True) for row in self._ending(sequence - 1))

    def _beginning(self, sequence: int) -> range:
        return range(bisect_left(self._first, sequence), bisect_right(self._first, sequence))

    def _ending(self, sequence: int) -> Iterator[int]:
        places = range(bisect_left(self._lasts, sequence), bisect_right(self._lasts, sequence))
        return (self._ends[place] for place in places)
