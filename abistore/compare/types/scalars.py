"""The storage of a type as a list of scalars at offsets, to compare types that are spelled differently."""

from __future__ import annotations

import re

from abistore.model.layout.layouts import Layouts, standard_array
from abistore.model.names import Name
from abistore.model.shapes import Alias, Array, Foreign, Inline, Named, Qualified, Record, TypeRef
from abistore.model.snapshot import Snapshot

MOST_SCALARS = 256
"""A type of more scalars than this is not compared scalar by scalar."""

DEEPEST = 32
"""How many records and arrays deep a scalar is looked for."""

Place = tuple[int, int | None]
"""An offset in bits, and the width of a bit-field."""


def scalars(type: TypeRef, snapshot: Snapshot, layouts: Layouts) -> list[tuple[Place, TypeRef]] | None:
    """The scalars of ``type`` in memory order; ``None`` where it has too many, or holds what has no fixed layout.

    Unions, bases and vtable pointers have no such list.
    """
    collector = _Collector(snapshot, layouts)
    return collector.found if collector.collect(type, (0, None), 0) else None


def standard_atomic(name: Name, shape: Foreign) -> TypeRef | None:
    """What an object of ``std::atomic`` holds and nothing else; ``None`` for every other type, and for wide ones.

    Up to eight bytes all compilers keep the value alone: they change it by instructions that need no lock beside it.
    """
    if re.match(r"std::(__\w+::)?atomic<", name.spelling) and shape.size in (1, 2, 4, 8) and len(shape.arguments) == 1:
        return shape.arguments[0]
    return None


class _Collector:
    """Gathers the scalars of one type; each method tells whether all of it has a fixed layout."""

    def __init__(self, snapshot: Snapshot, layouts: Layouts) -> None:
        self.found: list[tuple[Place, TypeRef]] = []
        self._snapshot = snapshot
        self._layouts = layouts

    def collect(self, type: TypeRef, place: Place, depth: int) -> bool:
        if depth > DEEPEST or len(self.found) >= MOST_SCALARS:
            return False
        match type:
            case Qualified(target, qualifiers) if "atomic" not in qualifiers:
                return self.collect(target, place, depth + 1)
            case Array(element, count, False):
                each = self._layouts.size(element)
                if each is None or count is None or count > MOST_SCALARS:
                    return False
                steps = (place[0] + 8 * each * index for index in range(count))
                return all(self.collect(element, (step, None), depth + 1) for step in steps)
            case Inline(Record() as record):
                return self._fields(record, place[0], depth)
            case Named(name) if name.kind != "enum":
                return self._named(name, place, depth)
            case _:
                self.found.append((place, type))
                return True

    def _named(self, name: Name, place: Place, depth: int) -> bool:
        match self._snapshot.described(name):
            case (Alias(target),):
                return self.collect(target, place, depth + 1)
            case (Record() as record,):
                return self._fields(record, place[0], depth)
            case (Foreign() as foreign,) if (array := standard_array(name, foreign)) is not None:
                return self.collect(array, place, depth + 1)
            case (Foreign() as foreign,) if (held := standard_atomic(name, foreign)) is not None:
                return self._atomic(held, foreign, place)
            case _:
                return False

    def _atomic(self, held: TypeRef, atomic: Foreign, place: Place) -> bool:
        """An atomic object of one scalar is that scalar, of which all accesses are atomic."""
        inside = _Collector(self._snapshot, self._layouts)
        single = inside.collect(held, (0, None), 0) and [where for where, _ in inside.found] == [(0, None)]
        if not single or self._layouts.size(held) != atomic.size:
            return False
        self.found.append((place, Qualified(inside.found[0][1], ("atomic",))))
        return True

    def _fields(self, record: Record, start: int, depth: int) -> bool:
        if record.sort == "union" or record.bases or record.virtuals or record.has_vptr:
            return False
        return record.passing != "reference" and all(
            self.collect(each.type, (start + each.offset, each.bit_size), depth + 1) for each in record.fields
        )
