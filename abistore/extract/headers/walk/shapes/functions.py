"""Functions and variables as their users are compiled against them."""

from __future__ import annotations

import re

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, Type
from abistore.extract.headers.walk.shapes.classes import Classes
from abistore.extract.headers.walk.shapes.types import HeaderTypes
from abistore.model.mangling.symbols import qualifiers, with_external_linkage
from abistore.model.names import Kind, Name
from abistore.model.shapes import VOID, Function, Method, Variable

NORETURN = "__attribute__((noreturn))"
SAYS_NORETURN = re.compile(r"\[\[(?:\w+::)?_?_?noreturn_?_?\]\]|\b_Noreturn\b|__attribute__\(\(noreturn\)\)")
CALLED = frozenset({kinds.METHOD, kinds.CONVERSION})


class FunctionShapes:
    """Reads the shapes of functions and variables."""

    def __init__(self, types: HeaderTypes, classes: Classes) -> None:
        self._types = types
        self._lib = types.lib
        self._classes = classes

    def names(self, cursor: Cursor) -> list[Name]:
        """The names under which the linker sees a function or variable: all variants of a constructor.

        What each program has for itself, such as a constant, is called as if the linker saw it.
        """
        lib = self._lib
        kind: Kind = "variable" if cursor.kind == kinds.VARIABLE else "function"
        if cursor.kind in kinds.STRUCTORS:
            return [Name(kind, symbol) for symbol in lib.mangled(cursor)]
        symbol = with_external_linkage(lib.linked(cursor))
        return [Name(kind, symbol)] if symbol else []

    def function(self, cursor: Cursor) -> Function:
        """The shape of a function, member or not."""
        lib = self._lib
        type: Type = lib.getCursorType(cursor)
        count = max(0, lib.getNumArgTypes(type))
        made = cursor.kind in kinds.STRUCTORS
        return Function(
            display=self._types.names.of(cursor),
            result=VOID if made else self._types.of(lib.getResultType(type)),
            parameters=tuple([self._types.parameter(lib.getArgType(type, index)) for index in range(count)]),
            variadic=bool(lib.isFunctionTypeVariadic(type)) and type.kind != kinds.FUNCTION_NO_PROTOTYPE,
            noreturn=self._stops(cursor, type),
            prototyped=type.kind != kinds.FUNCTION_NO_PROTOTYPE,
            calling_convention=kinds.CONVENTIONS.get(lib.getFunctionTypeCallingConv(type)),
            method=self._method(cursor, type),
        )

    def variable(self, cursor: Cursor) -> Variable:
        """The shape of a data object."""
        lib = self._lib
        type = self._types.of(lib.getCursorType(cursor))
        display = self._types.names.of(cursor)
        owner = self._owner(cursor)
        if owner is None:
            return Variable(display, type)
        return Variable(display, type, owner, kinds.ACCESS.get(lib.getCXXAccessSpecifier(cursor), "public"))

    def _stops(self, cursor: Cursor, type: Type) -> bool:
        """Whether the function never returns: as its type, or as an attribute of C or C++ says it."""
        lib = self._lib
        if NORETURN in lib.text(lib.getTypeSpelling(type)):
            return True
        if not lib.Cursor_hasAttrs(cursor):
            return False
        return SAYS_NORETURN.search(lib.text(lib.getCursorPrettyPrinted(cursor, None)).partition("{")[0]) is not None

    def _owner(self, cursor: Cursor) -> Name | None:
        owner = self._types.names.owner(cursor)
        if owner.kind not in kinds.RECORDS:
            return None
        return Name("record", self._types.names.of(owner))

    def _method(self, cursor: Cursor, type: Type) -> Method | None:
        owner = self._owner(cursor)
        if owner is None:
            return None
        lib = self._lib
        virtual = bool(lib.CXXMethod_isVirtual(cursor))
        words = qualifiers(lib.linked(cursor)) if cursor.kind in CALLED else ()
        return Method(
            owner,
            kinds.ACCESS.get(lib.getCXXAccessSpecifier(cursor), "public"),
            static=bool(lib.CXXMethod_isStatic(cursor)),
            virtual="pure" if virtual and lib.CXXMethod_isPureVirtual(cursor) else "virtual" if virtual else "no",
            slot=self._slot(cursor) if virtual else None,
            qualifiers=tuple(word for word in words if word[0] != "&"),
            reference=("", "&", "&&")[lib.Type_getCXXRefQualifier(type)],
            explicit=bool(lib.CXXMethod_isExplicit(cursor)),
            deleted=bool(lib.CXXMethod_isDeleted(cursor)),
            defaulted=bool(lib.CXXMethod_isDefaulted(cursor)),
        )

    def _slot(self, cursor: Cursor) -> int | None:
        facts = self._classes.of(self._types.names.owner(cursor))
        if facts is None:
            return None
        return facts.slots.methods.get(self._lib.getCanonicalCursor(cursor).d0)
