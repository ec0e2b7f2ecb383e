"""Whose layouts code has compiled in: the types of its objects, and the data members whose places it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, Type
from abistore.extract.headers.walk.shapes.names import Names
from abistore.model.names import Name

NAMED, MEMBER, UNARY, SUBSCRIPT, BINARY, COMPOUND_ASSIGNMENT, NEW, SIZEOF = 101, 102, 112, 113, 114, 115, 134, 136
"""Expressions: ``a``, ``a.b``, ``-a``, ``a[b]``, ``a + b``, ``a += b``, ``new``, ``sizeof``."""

COMPOUND_LITERAL, INITIALIZER_LIST, FUNCTIONAL_CAST = 118, 119, 128
"""``(type){...}``, ``{...}``, ``type(...)``."""

HOLDING: Final = frozenset({kinds.VARIABLE, SUBSCRIPT, BINARY, COMPOUND_LITERAL, INITIALIZER_LIST, FUNCTIONAL_CAST})
"""What has an object of its type, copies one, or steps by its size."""

STEPPING: Final = {UNARY: frozenset({1, 2, 3, 4}), BINARY: frozenset({6, 7}), COMPOUND_ASSIGNMENT: frozenset({25, 26})}
"""The operators that step over an object behind a pointer: increments and decrements, sums and differences."""

LOOKED_AT: Final = frozenset({*HOLDING, *STEPPING, NAMED, MEMBER, kinds.MEMBER_REF, kinds.CALL, NEW, kinds.TYPE_REF})
"""What is looked at in code for layouts."""

DEEPEST: Final = 8
"""How many templates are looked for arguments in one another."""


class CodeLayouts:
    """Tells whose layouts code depends on. ``met`` are the types, with their declarations.

    What depends on arguments of a template depends on no layout yet.
    """

    def __init__(self, lib: LibClang, names: Names, own: Callable[[Cursor], bool]) -> None:
        self._lib = lib
        self._names = names
        self._own = own
        self.met: dict[Name, Cursor] = {}
        self._types: dict[int, Name | None] = {}
        self._fields: dict[int, str | None] = {}
        self._parts: dict[int | None, tuple[Name, ...]] = {}
        self._calls: dict[int, tuple[Name, ...]] = {}

    def objects(self, cursor: Cursor, parent: int, referenced: Cursor | None) -> Sequence[Name]:
        """The types of which a use has objects; ``parent`` is the kind of what it stands in, ``referenced`` what it
        names.
        """
        lib = self._lib
        kind = cursor.kind
        if kind == kinds.CALL and referenced is not None:
            found = self._passed(cursor, referenced)
        elif kind == NAMED and referenced is not None and referenced.kind == kinds.ENUMERATOR:
            found = tuple(self.named(lib.getCursorSemanticParent(referenced)))
        elif kind == NEW or (kind in STEPPING and self._steps(cursor)):
            found = self._held(lib.getPointeeType(lib.getCanonicalType(lib.getCursorType(cursor))))
        else:
            found = ()
        if kind in HOLDING or parent == SIZEOF:
            found = (*found, *self._held(lib.getCursorType(cursor)))
        return found

    def field(self, referenced: Cursor) -> str | None:
        """The qualified name of a data member of the library's own classes."""
        if referenced.kind != kinds.FIELD:
            return None
        key = referenced.d0
        if key not in self._fields:
            self._fields[key] = self._field(referenced)
        return self._fields[key]

    def _field(self, field: Cursor) -> str | None:
        lib = self._lib
        owner: Cursor = lib.getCursorSemanticParent(field)
        while owner.kind in kinds.RECORDS and lib.Cursor_isAnonymous(owner):
            owner = lib.getCursorSemanticParent(owner)
        found = next(self.named(owner), None)
        return f"{found.spelling}::{lib.spelling(field)}" if found is not None else None

    def _steps(self, cursor: Cursor) -> bool:
        unary = cursor.kind == UNARY
        operator = self._lib.getCursorUnaryOperatorKind if unary else self._lib.getCursorBinaryOperatorKind
        return operator(cursor) in STEPPING[cursor.kind]

    def _passed(self, call: Cursor, called: Cursor) -> tuple[Name, ...]:
        """What a call constructs, takes or returns by value."""
        if called.kind == kinds.CONSTRUCTOR:
            return self._held(self._lib.getCursorType(call))
        if called.kind not in kinds.FUNCTIONS:
            return ()
        if called.d0 not in self._calls:
            self._calls[called.d0] = tuple(self._signature(self._lib.getCursorType(called)))
        return self._calls[called.d0]

    def _signature(self, type: Type) -> Iterator[Name]:
        lib = self._lib
        yield from self._held(lib.getResultType(type))
        for index in range(max(0, lib.getNumArgTypes(type))):
            yield from self._held(lib.getArgType(type, index))

    def _held(self, type: Type) -> tuple[Name, ...]:
        """The classes and enumerations of the library that are part of an object: itself, its items, its arguments."""
        if type.d0 not in self._parts:
            self._parts[type.d0] = tuple(self._parts_of(type, 0))
        return self._parts[type.d0]

    def _parts_of(self, type: Type, depth: int) -> Iterator[Name]:
        lib = self._lib
        type = lib.getCanonicalType(type)
        while type.kind in kinds.ARRAYS:
            type = lib.getCanonicalType(lib.getArrayElementType(type))
        if type.kind not in (kinds.RECORD_TYPE, kinds.ENUM_TYPE) or depth > DEEPEST:
            return
        yield from self.named(lib.getTypeDeclaration(type))
        for index in range(max(0, lib.Type_getNumTemplateArguments(type))):
            yield from self._parts_of(lib.Type_getTemplateArgumentAsType(type, index), depth + 1)

    def named(self, declaration: Cursor) -> Iterator[Name]:
        """What a type of the library's own is called; nothing for all else."""
        key = declaration.d0
        if key not in self._types:
            self._types[key] = self._name(declaration)
        if (found := self._types[key]) is not None:
            yield found

    def _name(self, declaration: Cursor) -> Name | None:
        """What a type of the library's own is called that has a name outside of functions and of templates."""
        lib = self._lib
        known = declaration.kind in kinds.RECORDS or declaration.kind == kinds.ENUM
        if not known or lib.Cursor_isAnonymous(declaration) or not self._own(declaration):
            return None
        owner = self._names.owner(declaration)
        while owner.kind in kinds.RECORDS:
            owner = self._names.owner(owner)
        if owner.kind not in (kinds.UNIT, kinds.NAMESPACE):
            return None
        name = Name("enum" if declaration.kind == kinds.ENUM else "record", self._names.of(declaration))
        self.met.setdefault(name, declaration)
        return name
