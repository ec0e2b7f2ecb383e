"""The qualified names of declarations, spelled as debug information spells them after normalising."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang, Type
from abistore.model.cpp_names.normal import normal_name

POSITION: Final = re.compile(r"type-parameter-(\d+)-(\d+)")
IDENTIFIER: Final = re.compile(r"(?<![\w:])[A-Za-z_]\w*(?!\w|::)")
"""A name that nothing qualifies, and that qualifies nothing."""

RESERVED: Final = re.compile(r"_[A-Z_]")
"""How names begin that only the standard library gives its parameters."""

UNNAMED: Final = normal_name("(anonymous class)")
ANONYMOUS_NAMESPACE: Final = "(anonymous namespace)"

Arguments = Callable[[Cursor, Type], "str | None"]
"""Gives the template arguments of a class with their brackets; ``None`` for what is no template instance."""


class Names:
    """Names by declaration, each worked out once. ``arguments`` completes those of template instances."""

    def __init__(self, lib: LibClang, arguments: Arguments) -> None:
        self._lib = lib
        self._arguments = arguments
        self._known: dict[int, str] = {}
        self._scopes: dict[int, str] = {}

    def of(self, cursor: Cursor) -> str:
        """The qualified name of a declaration."""
        found = self._known.get(cursor.d0)
        if found is None:
            found = self._known[cursor.d0] = self.qualify(cursor, self._own(cursor))
        return found

    def qualify(self, cursor: Cursor, name: str) -> str:
        """``name`` in the scope of a declaration."""
        scope = self.scope(cursor)
        return f"{scope}::{name}" if scope else name

    def scope(self, cursor: Cursor) -> str:
        """The namespace or class that a declaration belongs to; empty for the outermost."""
        return self._spelled_scope(self._lib.getCursorSemanticParent(cursor))

    def owner(self, cursor: Cursor) -> Cursor:
        """The class or namespace that a declaration belongs to, without ``extern "C"`` between."""
        parent: Cursor = self._lib.getCursorSemanticParent(cursor)
        while parent.kind in (kinds.LINKAGE, kinds.UNEXPOSED_DECL):
            parent = self._lib.getCursorSemanticParent(parent)
        return parent

    def _spelled_scope(self, parent: Cursor) -> str:
        kind = parent.kind
        if kind == kinds.UNIT or not parent.d0:
            return ""
        found = self._scopes.get(parent.d0)
        if found is None:
            if kind == kinds.NAMESPACE:
                name = self._lib.spelling(parent)
                found = self.qualify(parent, name if name.isidentifier() else ANONYMOUS_NAMESPACE)
            elif kind in kinds.FUNCTIONS or kind == kinds.FUNCTION_TEMPLATE:
                found = f"{self.qualify(parent, self._lib.spelling(parent))}()"
            elif kind in kinds.RECORDS or kind in (kinds.ENUM, kinds.CLASS_TEMPLATE, kinds.PARTIAL_SPECIALIZATION):
                found = self.of(parent)
            else:
                found = self.scope(parent)
            self._scopes[parent.d0] = found
        return found

    def _own(self, cursor: Cursor) -> str:
        """The unqualified name in normal form."""
        lib = self._lib
        if cursor.kind in kinds.RECORDS:
            if lib.Cursor_isAnonymous(cursor):
                return UNNAMED
            arguments = self._arguments(cursor, lib.getCursorType(cursor))
            name = lib.spelling(cursor)
            return name if arguments is None else f"{name}{arguments}"
        if cursor.kind == kinds.PARTIAL_SPECIALIZATION:
            spelled = lib.type_name(lib.getCanonicalType(lib.getCursorType(cursor)))
            values = [lib.spelling(each) for each in lib.children(cursor) if each.kind == kinds.VALUE_PARAMETER]
            return by_position(in_own_words(spelled, lib.text(lib.getCursorDisplayName(cursor)), values))
        name = lib.spelling(cursor)
        if cursor.kind in kinds.STRUCTORS:
            name = name.partition("<")[0]
        return name if name.isidentifier() else normal_name(name)


def in_own_words(spelled: str, written: str, values: Iterable[str]) -> str:
    """A dependent type with the names that its own template has for its ``values``, as they are in what is ``written``.

    libclang spells equal types as the first of them was written in the unit, by the standard library for one.
    """
    here = dict.fromkeys(IDENTIFIER.findall(written))
    there = dict.fromkeys(IDENTIFIER.findall(spelled))
    own = [name for name in here if name in set(values) and name not in there]
    others = [name for name in there if RESERVED.match(name) and name not in here]
    if not own or len(own) != len(others):
        return spelled
    names = dict(zip(others, own, strict=True))
    return IDENTIFIER.sub(lambda word: names.get(word[0], word[0]), spelled)


def by_position(text: str) -> str:
    """``text`` with template parameters as numbers: ``#0`` of the template itself, ``#1.0`` of a member template."""
    return POSITION.sub(lambda match: f"#{match[2]}" if match[1] == "0" else f"#{match[1]}.{match[2]}", text)
