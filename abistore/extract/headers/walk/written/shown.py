"""What templates and friends show their users of namespaces that say of themselves that they are internal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from ctypes import c_uint
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import CONTINUE, VISITOR, Cursor, LibClang
from abistore.extract.headers.walk.shapes.names import Names
from abistore.extract.headers.walk.written.compiled.bodies import BODIES
from abistore.extract.headers.walk.written.tokens import SourceText
from abistore.model.words.telling import names_internals

RECURSE: Final = 2
TYPES: Final = frozenset({kinds.TYPE_REF, kinds.TEMPLATE_REF})
VALUES: Final = frozenset({kinds.MEMBER_REF, kinds.OVERLOADED, 101, 102, kinds.CALL})
"""Uses of functions and objects, whose types are deduced."""

TYPED: Final = frozenset({*kinds.FUNCTIONS, kinds.FUNCTION_TEMPLATE, kinds.FIELD, kinds.VARIABLE})
QUALIFIED: Final = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+")


class ShownInternals:
    """Finds the types of internal namespaces that users of a declaration get objects of, or inherit from.

    What only bodies use, private members, and what is asked for its value (``detail::is_box<T>::value``) are not shown.
    """

    def __init__(self, lib: LibClang, names: Names, text: SourceText) -> None:
        self._lib = lib
        self._names = names
        self._text = text
        self._known: dict[int, str] = {}

    def by(self, cursor: Cursor, children: Sequence[Cursor]) -> tuple[str, ...]:
        """What a template shows, by qualified names in order."""
        found: set[str] = set()
        if cursor.kind in kinds.CLASSES:
            self._members(children, found)
        else:
            self._declaration(cursor, children, found)
        return tuple(sorted(found))

    def by_friends(self, members: Iterable[Cursor]) -> tuple[str, ...]:
        """What the friends of a class show."""
        found: set[str] = set()
        self._members([each for each in members if each.kind == kinds.FRIEND], found)
        return tuple(sorted(found))

    def by_variable(self, cursor: Cursor, printed: str) -> tuple[str, ...]:
        """What a variable template may show: the names in its text, in each scope around it."""
        parts = self._names.scope(cursor).split("::")
        scopes = ["::".join([*parts[:length], ""]) for length in range(len(parts) + 1)]
        words = [each.lstrip(":") for each in QUALIFIED.findall(printed) if names_internals(each)]
        return tuple(sorted({f"{scope.lstrip(':')}{word}" for word in words for scope in scopes}))

    def _members(self, members: Iterable[Cursor], found: set[str]) -> None:
        lib = self._lib
        for each in members:
            hidden = kinds.ACCESS.get(lib.getCXXAccessSpecifier(each), "public") == "private"
            if hidden and each.kind not in (kinds.FRIEND, kinds.BASE):
                continue
            inner = lib.children(each)
            if each.kind in kinds.CLASSES:
                self._members(inner, found)
            elif each.kind == kinds.FRIEND:
                for befriended in inner:
                    self._declaration(befriended, lib.children(befriended), found)
            else:
                self._declaration(each, inner, found)

    def _declaration(self, cursor: Cursor, children: Sequence[Cursor], found: set[str]) -> None:
        text = self._typed(cursor)
        by_body = b"auto" in text and b"->" not in text
        for each in children:
            if by_body or each.kind not in BODIES:
                self._walk(each, found, deduced=by_body or b"decltype" in text)

    def _typed(self, cursor: Cursor) -> bytes:
        """The type of a declaration as it is written."""
        if cursor.kind in TYPED:
            return self._lib.type_name(self._lib.getCursorType(cursor)).encode()
        return self._text.of(cursor)

    def _walk(self, part: Cursor, found: set[str], *, deduced: bool) -> None:
        used = TYPES | VALUES if deduced else TYPES

        def visit(cursor: Cursor, _parent: Cursor, _data: c_uint) -> int:
            if not deduced and kinds.is_expression(cursor.kind):
                return int(CONTINUE)
            if cursor.kind in used:
                self._note(cursor, found)
            return RECURSE

        if deduced or not kinds.is_expression(part.kind):
            if part.kind in used:
                self._note(part, found)
            self._lib.visitChildren(part, VISITOR(visit), None)

    def _note(self, use: Cursor, found: set[str]) -> None:
        lib = self._lib
        referenced: Cursor = lib.getCursorReferenced(use)
        if referenced.kind == kinds.OVERLOADED and lib.getNumOverloadedDecls(referenced):
            referenced = lib.getOverloadedDecl(referenced, 0)
        if not referenced.d0 or referenced.kind in kinds.TEMPLATE_PARAMETERS or referenced.kind in kinds.NOTHING:
            return
        name = self._known.get(referenced.d0)
        if name is None:
            name = self._names.of(referenced)
            self._known[referenced.d0] = name = name if names_internals(name) else ""
        if name:
            found.add(name)
