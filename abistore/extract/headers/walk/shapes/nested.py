"""Who can name a nested type, as headers tell: its access, unless the class around it shows it in other ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.types.derivable import OPEN, PUBLIC, Derivability
from abistore.model.shapes import Access

DERIVABLE: Final = "\0derivable"
"""Stands among what a class shows; no type is spelled so."""

MENTIONING: Final = frozenset(
    {*kinds.FUNCTIONS, kinds.FIELD, kinds.VARIABLE, kinds.TYPEDEF, kinds.ALIAS, kinds.BASE, kinds.FUNCTION_TEMPLATE}
)
"""What may give programs an object of a type that they cannot name."""


class NestedCursors:
    """Which nested types are closed to consumers: as debug information tells it, and of ``final`` classes besides."""

    def __init__(self, lib: LibClang) -> None:
        self._lib = lib
        self._shown: dict[int, frozenset[str]] = {}

    def access(self, cursor: Cursor) -> Access:
        """The access that consumers have to a record or enumeration."""
        lib = self._lib
        outer: Cursor = lib.getCursorSemanticParent(cursor)
        if outer.kind not in kinds.RECORDS:
            return "public"
        own = kinds.ACCESS.get(lib.getCXXAccessSpecifier(self._written(cursor)), "public")
        around = self.access(outer)
        if own == around == "public" or (own == "protected" and DERIVABLE in self._shown_by(outer)):
            return "public"
        spelling = lib.type_name(lib.getCanonicalType(lib.getCursorType(cursor)))
        while outer.kind in kinds.RECORDS:
            if self.access(outer) == "public" and any(spelling in each for each in self._shown_by(outer)):
                return "public"
            outer = lib.getCursorSemanticParent(outer)
        return around if own == "public" else own

    def _written(self, cursor: Cursor) -> Cursor:
        """What has the access of a type: of an instance of a template it is the template."""
        template = self._lib.getSpecializedCursorTemplate(cursor)
        while template.kind not in kinds.NOTHING:
            cursor, template = template, self._lib.getSpecializedCursorTemplate(template)
        return cursor

    def _shown_by(self, outer: Cursor) -> frozenset[str]:
        """What accessible members of a class mention; :data:`DERIVABLE` where anybody can derive from it."""
        found = self._shown.get(outer.d0)
        if found is None:
            definition = self._lib.getCursorDefinition(outer)
            derivable = self._is_derivable(definition)
            shown = self._mentions(definition, OPEN if derivable else PUBLIC)
            found = self._shown[outer.d0] = frozenset((*shown, *([DERIVABLE] if derivable else ())))
        return found

    def _mentions(self, record: Cursor, accessible: frozenset[Access]) -> Iterator[str]:
        lib = self._lib
        for each in lib.children(record):
            if kinds.ACCESS.get(lib.getCXXAccessSpecifier(each), "public") not in accessible:
                continue
            if each.kind in kinds.CLASSES:
                yield from self._mentions(each, accessible)
            elif each.kind in MENTIONING:
                yield lib.type_name(lib.getCanonicalType(lib.getCursorType(each)))

    def _is_derivable(self, record: Cursor) -> bool:
        lib = self._lib
        found, final = Derivability(), False
        for each in lib.children(record):
            final = final or each.kind == kinds.FINAL_ATTRIBUTE
            if each.kind in kinds.STRUCTORS:
                private = kinds.ACCESS.get(lib.getCXXAccessSpecifier(each), "public") == "private"
                copies = lib.CXXConstructor_isCopyConstructor(each) or lib.CXXConstructor_isMoveConstructor(each)
                usable = not private and not lib.CXXMethod_isDeleted(each)
                found.add(usable, destroys=each.kind == kinds.DESTRUCTOR, copies=bool(copies))
        return bool(found) and not final
