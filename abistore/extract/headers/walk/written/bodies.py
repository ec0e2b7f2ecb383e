"""The bodies of inline functions: programs have copies of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import c_uint
from typing import Final, NamedTuple

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import VISITOR, Cursor, LibClang, SourceLocation, SourceRange
from abistore.extract.headers.walk.shapes.names import Names
from abistore.extract.headers.walk.written.handing import FARTHEST, Handed, words_with
from abistore.extract.headers.walk.written.tokens import SourceText, digest
from abistore.model.declared import InlineBody
from abistore.model.words.telling import forbids_use

RECURSE: Final = 2
BODIES: Final = frozenset({kinds.COMPOUND, kinds.TRY})
USES: Final = frozenset({kinds.TYPE_REF, kinds.MEMBER_REF, 101, 102, 103, 134, 135})
"""Uses of types, of members, of declarations, calls, ``new`` and ``delete``."""

EXTERNAL: Final = 4
"""CXLinkage_External."""

Own = Callable[[Cursor], bool]
"""Whether a declaration may be the library's own, and not another library's or the system's."""


class _Used(NamedTuple):
    """What a body uses; types by name."""

    members: set[str]
    symbols: set[str]
    types: set[str]


class InlineBodies:
    """Reads bodies."""

    def __init__(self, lib: LibClang, names: Names, text: SourceText, own: Own) -> None:
        self._lib = lib
        self._names = names
        self._text = text
        self._own = own
        self._members: dict[int, str | None] = {}
        self._symbols: dict[int, str | None] = {}
        self._called: dict[int, str | None] = {}
        self.handed: dict[str, set[Handed]] = {}
        """The names that stand in calls of the library's functions, each with the functions that are called with it."""

    def of(self, function: Cursor, children: Sequence[Cursor]) -> InlineBody | None:
        """The body of a function, with what initialises members before it; ``None`` for one that has no body here."""
        body = next((each for each in children if each.kind in BODIES), None)
        if body is None:
            return None
        parts = [body]
        if function.kind == kinds.CONSTRUCTOR:
            first = self._initializer(function, children)
            parts = [*(children[first:] if first is not None else []), *([body] if first is None else [])]
        used = _Used(set(), set(), set())
        for part in parts:
            self._use(part, used)
            self._uses(part, used)
        file, begin, end = self._text.extent(body)
        start = self._text.extent(parts[0])
        text = self._text.between(file, min(begin, start[1]) if start[0] == file else begin, end)
        return InlineBody(digest(text), *(tuple(sorted(each)) for each in used))

    def _initializer(self, constructor: Cursor, children: Sequence[Cursor]) -> int | None:
        """Which of the children begins the initialisers: what stands before the name only qualifies it."""
        lib = self._lib
        name = lib.place(lib.getCursorLocation(constructor))[2]
        for place, each in enumerate(children):
            if each.kind in kinds.INITIALIZERS and self._text.extent(each)[1] > name:
                return place
        return None

    def _uses(self, part: Cursor, used: _Used) -> None:
        found: list[Cursor] = []

        def visit(cursor: Cursor, _parent: Cursor, _data: c_uint) -> int:
            if cursor.kind in USES:
                found.append(cursor)
            return RECURSE

        self._lib.visitChildren(part, VISITOR(visit), None)
        for cursor in found:
            self._use(cursor, used)
            if cursor.kind == kinds.CALL:
                self._hand(cursor)

    def _hand(self, call: Cursor) -> None:
        """Note what a function of the library is called with."""
        function = self._function(self._lib.getCursorReferenced(call))
        if function is not None:
            file, begin, end = self._text.extent(call)
            first = max(0, begin - FARTHEST)
            around = self._text.between(file, first, end + FARTHEST).decode("latin-1")
            for word, handed in words_with(around, begin - first, end - first, function):
                self.handed.setdefault(word, set()).add(handed)

    def _function(self, cursor: Cursor) -> str | None:
        """What a function of the library is called; ``None`` for all else."""
        key = cursor.d0
        if key not in self._called:
            own = bool(key) and cursor.kind in kinds.FUNCTIONS and self._own(cursor)
            self._called[key] = self._lib.spelling(cursor) if own else None
        return self._called[key]

    def _use(self, cursor: Cursor, used: _Used) -> None:
        if cursor.kind not in USES:
            return
        referenced: Cursor = self._lib.getCursorReferenced(cursor)
        key = referenced.d0
        if not key:
            return
        if key not in self._members:
            self._members[key], self._symbols[key] = self._member(referenced), self._symbol(referenced)
        if (member := self._members[key]) is not None:
            (used.types if cursor.kind == kinds.TYPE_REF else used.members).add(member)
        if (symbol := self._symbols[key]) is not None:
            used.symbols.add(symbol)

    def _member(self, cursor: Cursor) -> str | None:
        """The qualified name of a member that is private or protected, or whose name forbids to use it."""
        lib = self._lib
        hidden = lib.getCXXAccessSpecifier(cursor) in kinds.HIDDEN
        if not hidden and not (cursor.kind == kinds.FIELD and forbids_use(lib.spelling(cursor))):
            return None
        return self._names.of(cursor) if self._own(cursor) else None

    def _is_built_in(self, cursor: Cursor) -> bool:
        """Whether the compiler itself declares a function, where its name is used first: no type stands before it."""
        if cursor.kind != kinds.FUNCTION:
            return False
        extent: SourceRange = self._lib.getCursorExtent(cursor)
        name: SourceLocation = self._lib.getCursorLocation(cursor)
        return name.data == extent.begin

    def _symbol(self, cursor: Cursor) -> str | None:
        """The name by which the linker finds a function or variable; ``None`` where each program has its own copy."""
        lib = self._lib
        if cursor.kind not in kinds.FUNCTIONS and cursor.kind != kinds.VARIABLE:
            return None
        if lib.getCursorLinkage(cursor) != EXTERNAL or self._is_built_in(cursor) or not self._own(cursor):
            return None
        if cursor.kind == kinds.VARIABLE:
            return lib.linked(cursor) or None
        if lib.Cursor_isFunctionInlined(cursor) or lib.CXXMethod_isVirtual(cursor) or lib.CXXMethod_isDefaulted(cursor):
            return None
        if cursor.kind in kinds.STRUCTORS:
            return next((each for each in lib.mangled(cursor) if "C1E" in each or "D1E" in each), None)
        return lib.linked(cursor) or None
