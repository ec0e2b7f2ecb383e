"""Declarations that were not read as they are written: an error lies in them, or in what they are made of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from abistore.extract.headers import clang
from abistore.extract.headers.faults import MISSING
from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.written.undefined import defined_macros
from abistore.extract.headers.walk.written.unsure import unsure
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import Alias, AnyShape, Function, Record

TYPED: Final = frozenset({*kinds.FUNCTIONS, kinds.FUNCTION_TEMPLATE, kinds.VARIABLE, kinds.TYPEDEF, kinds.ALIAS})
"""What libclang gives the type ``int`` where its own has an error."""

_TEMPLATES: Final = frozenset({kinds.CLASS_TEMPLATE, kinds.PARTIAL_SPECIALIZATION, kinds.ALIAS_TEMPLATE})
_ENDING: Final = frozenset({*kinds.RECORDS, kinds.ENUM, kinds.TYPEDEF, kinds.VARIABLE, *_TEMPLATES})
"""What goes on to a semicolon, with attributes before it."""

_MOST_BEHIND = 400


class Faults:
    """Where a translation unit has errors.

    A type is what its text says but for bodies of functions; what stands behind a condition with an error might not be
    there at all.
    """

    def __init__(self, lib: LibClang, unit: Any) -> None:
        self._lib = lib
        self._places: dict[str, list[int]] = {}
        self._names: dict[int | None, str] = {None: ""}
        self.lacks_files = False
        for error in clang.errors(unit):
            self._places.setdefault(error.file, []).append(error.offset)
            self.lacks_files |= MISSING in error.message
        self.any = bool(self._places)
        self._texts = dict(clang.included_texts(unit)) if self.any else {}
        self._defined = defined_macros(unit) if self.lacks_files else None
        self._regions = lru_cache(None)(self._found_regions)
        self._sorted = lru_cache(None)(lambda file: sorted(self._places.get(file, ())))

    def _found_regions(self, file: str) -> list[tuple[int, int]]:
        return list(unsure(self._texts.get(file, b""), self._places.get(file, ()), self._defined))

    def spoil(self, cursor: Cursor) -> bool:
        """Whether a declaration is not what its text says."""
        if not self.any:
            return False
        if self._lib.isInvalidDeclaration(cursor) and (cursor.kind in TYPED or cursor.kind in kinds.RECORDS):
            return True
        file, begin, end = self._range(cursor)
        if any(first <= begin < last for first, last in self._regions(file)):
            return True
        if cursor.kind == kinds.TYPEDEF and self._is_of_spoilt(cursor):
            return True
        if cursor.kind not in _ENDING and cursor.kind not in TYPED:
            return False
        end = self._ended(file, end) if cursor.kind in _ENDING else self._next(file, end) + 1
        places = self._sorted(file)
        held = places[bisect_left(places, begin) : bisect_left(places, end)]
        return bool(held) and not self._in_bodies(cursor, held)

    def _is_of_spoilt(self, typedef: Cursor) -> bool:
        """Whether a typedef names a class that is spoilt, as ``typedef struct { ... } name;`` may."""
        lib = self._lib
        type = lib.getTypeDeclaration(lib.getCanonicalType(lib.getTypedefDeclUnderlyingType(typedef)))
        return type.kind in kinds.RECORDS and bool(lib.isInvalidDeclaration(type))

    def attributed(self, variable: Cursor) -> Cursor | None:
        """The class behind which a "variable" stands that may be an attribute of it: ``struct P { ... } PACKED;``.

        The macro may be one of a file that was not found.
        """
        if not self.lacks_files:
            return None
        type = self._lib.getTypeDeclaration(self._lib.getCursorType(variable))
        is_class = type.kind in kinds.RECORDS
        return type if is_class and self._range(type)[:2] == self._range(variable)[:2] else None

    def _in_bodies(self, cursor: Cursor, places: Iterable[int]) -> bool:
        bodies = [self._range(each) for each in self._bodies(cursor)]
        return all(any(begin <= place < end for _, begin, end in bodies) for place in places)

    def _bodies(self, cursor: Cursor) -> Iterator[Cursor]:
        for each in self._lib.children(cursor):
            if each.kind == kinds.COMPOUND:
                yield each
            elif each.kind in kinds.FUNCTIONS or each.kind in (kinds.FUNCTION_TEMPLATE, *kinds.RECORDS, *_TEMPLATES):
                yield from self._bodies(each)

    def _range(self, cursor: Cursor) -> tuple[str, int, int]:
        """The file of a declaration, where it begins, and where it ends: with the file if another one goes on."""
        lib = self._lib
        extent = lib.getCursorExtent(cursor)
        file, _, begin = lib.place(lib.getRangeStart(extent))
        last, _, end = lib.place(lib.getRangeEnd(extent))
        name = self._name(file)
        return name, begin, end if last == file else len(self._texts.get(name, b""))

    def _name(self, file: int | None) -> str:
        if file not in self._names:
            self._names[file] = self._lib.text(self._lib.getFileName(file))
        return self._names[file]

    def _next(self, file: str, end: int) -> int:
        """Where something stands behind a function: no semicolon, where a macro was read as one."""
        behind = self._texts.get(file, b"")[end : end + _MOST_BEHIND]
        return end + len(behind) - len(behind.lstrip())

    def _ended(self, file: str, end: int) -> int:
        """Where a declaration ends with its attributes."""
        found = self._texts.get(file, b"").find(b";", end, end + _MOST_BEHIND)
        return end if found < 0 else found + 1


def spread(spoilt: set[Name], shapes: Mapping[Name, Iterable[AnyShape]]) -> set[Name]:
    """The names that are spoilt, and those that are made of them, or mention a typedef that is ``int`` instead."""
    found = set(spoilt)
    while more := {name for name, each in shapes.items() if name not in found and _is_made_of(found, name, each)}:
        found |= more
    return found


def declares_types(function: Name, shapes: Iterable[AnyShape]) -> bool:
    """Whether a function of C declares a type within its parameters, of which no file before had a declaration.

    No program has such a type: ``int norm(const struct point *p)`` lacks the header of ``struct point``.
    """
    if function.kind != "function":
        return False
    inside = f"{function.spelling}()::"
    return any(each.spelling.startswith(inside) for shape in shapes for each, _ in references(shape, function))


def _is_made_of(spoilt: set[Name], name: Name, shapes: Iterable[AnyShape]) -> bool:
    """Whether a declaration has the layout of what is spoilt, a slot in its table, or a typedef of it in its types."""
    for shape in shapes:
        if (
            isinstance(shape, Function)
            and shape.method
            and shape.method.virtual != "no"
            and shape.method.owner in spoilt
        ):
            return True
        is_laid = isinstance(shape, Record | Alias)
        if any(
            each in spoilt and (each.kind == "alias" or (by_value and is_laid))
            for each, by_value in references(shape, name)
        ):
            return True
    return False
