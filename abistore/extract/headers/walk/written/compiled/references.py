"""What code in headers uses of the library's inside: private members, and what the linker has to find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from ctypes import c_uint
from typing import Final, NamedTuple

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import VISITOR, Cursor, LibClang, SourceLocation, SourceRange
from abistore.extract.headers.walk.shapes.names import Names
from abistore.extract.headers.walk.written.compiled.layouts import LOOKED_AT, SIZEOF, CodeLayouts
from abistore.model.declared import Uses
from abistore.model.names import Name
from abistore.model.words.telling import forbids_use

RECURSE: Final = 2
USES: Final = frozenset({kinds.TYPE_REF, kinds.MEMBER_REF, 101, 102, 103, 134, 135})
"""Uses of types, of members, of declarations, calls, ``new`` and ``delete``."""

SEEN: Final = USES | LOOKED_AT
EXTERNAL: Final = 4
"""CXLinkage_External."""

PRIVATE: Final = 3
"""CX_CXXPrivate."""

Own = Callable[[Cursor], bool]
"""Whether a declaration may be the library's own, and not another library's or the system's."""


class Used(NamedTuple):
    """What a piece of code uses; types by name. ``fields`` are in the order in which they are named first."""

    members: set[str]
    symbols: set[str]
    types: set[str]
    objects: set[Name]
    fields: dict[str, None]

    @classmethod
    def nothing(cls) -> Used:
        """What nothing was found of yet."""
        return cls(set(), set(), set(), set(), {})

    def add(self, other: Used) -> None:
        """Note all that another piece uses."""
        self.members.update(other.members)
        self.symbols.update(other.symbols)
        self.types.update(other.types)
        self.objects.update(other.objects)
        self.fields.update(other.fields)

    @property
    def sorted(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[Name, ...], tuple[str, ...]]:
        """All of it in order."""
        names = tuple(sorted(self.members)), tuple(sorted(self.symbols)), tuple(sorted(self.types))
        return *names, tuple(sorted(self.objects)), tuple(self.fields)

    @property
    def noted(self) -> Uses | None:
        """All of it in order; ``None`` where it is nothing."""
        return Uses(*self.sorted) if any(self) else None


class Use(NamedTuple):
    """A use of something in code, and the kind of what it stands in."""

    cursor: Cursor
    parent: int


class CodeReferences:
    """Finds what code refers to. What depends on arguments of a template refers to nothing yet."""

    def __init__(self, lib: LibClang, names: Names, own: Own) -> None:
        self._lib = lib
        self._names = names
        self.is_own = own
        self.layouts = CodeLayouts(lib, names, own)
        self._members: dict[int, str | None] = {}
        self._symbols: dict[int, str | None] = {}
        self._friends: dict[int, frozenset[int]] = {}

    def within(self, part: Cursor) -> list[Use]:
        """The uses in a statement or expression, itself among them."""
        found = [Use(part, 0)] if part.kind in SEEN else []

        def visit(cursor: Cursor, parent: Cursor, _data: c_uint) -> int:
            if cursor.kind in SEEN or parent.kind == SIZEOF:
                found.append(Use(cursor, parent.kind))
            return RECURSE

        self._lib.visitChildren(part, VISITOR(visit), None)
        return found

    def note(self, use: Use, by: Cursor, used: Used, chosen: Used) -> None:
        """Note what a use refers to, which stands in the declaration ``by``; the functions that a call in a template
        may choose among ``chosen``.
        """
        cursor = use.cursor
        referenced: Cursor | None = self._lib.getCursorReferenced(cursor) if cursor.kind in USES else None
        used.objects.update(self.layouts.objects(cursor, use.parent, referenced))
        if referenced is None:
            return
        if (field := self.layouts.field(referenced)) is not None:
            used.fields[field] = None
        if referenced.kind == kinds.OVERLOADED:
            for each in self._reachable(referenced, by):
                self._add(each, chosen.members, chosen)
        elif referenced.d0:
            self._add(referenced, used.types if cursor.kind == kinds.TYPE_REF else used.members, used)

    def name(self, declaration: Cursor, used: Used) -> None:
        """Note a declaration that code names: a function or variable, a data member, or a type of an object."""
        used.objects.update(self.layouts.named(declaration))
        if (field := self.layouts.field(declaration)) is not None:
            used.fields[field] = None
        self._add(declaration, used.members, used)

    def _add(self, referenced: Cursor, named: set[str], used: Used) -> None:
        key = referenced.d0
        if key not in self._members:
            self._members[key], self._symbols[key] = self._member(referenced), self._symbol(referenced)
        if (member := self._members[key]) is not None:
            named.add(member)
        if (symbol := self._symbols[key]) is not None:
            used.symbols.add(symbol)

    def _reachable(self, overloaded: Cursor, by: Cursor) -> Iterator[Cursor]:
        """The functions that one name stands for, without the private ones to which ``by`` has no access."""
        lib = self._lib
        around: Sequence[int] | None = None
        for index in range(lib.getNumOverloadedDecls(overloaded)):
            each: Cursor = lib.getOverloadedDecl(overloaded, index)
            if lib.getCXXAccessSpecifier(each) == PRIVATE:
                around = around or list(self._around(by))
                owner: Cursor = lib.getCursorSemanticParent(each)
                if lib.getCanonicalCursor(owner).d0 not in around and self._befriended(owner).isdisjoint(around):
                    continue
            yield each

    def _around(self, cursor: Cursor) -> Iterator[int]:
        """A declaration, and the classes and functions that it stands in, whatever declares them again."""
        lib = self._lib
        while cursor.d0 and cursor.kind not in (kinds.UNIT, kinds.NAMESPACE):
            yield lib.getCanonicalCursor(cursor).d0
            cursor = lib.getCursorSemanticParent(cursor)

    def _befriended(self, owner: Cursor) -> frozenset[int]:
        """The classes and functions that a class names as its friends, templates among them."""
        if owner.d0 not in self._friends:
            lib = self._lib
            friends = [child for child in lib.children(owner) if child.kind == kinds.FRIEND]
            named = (each for friend in friends for each in lib.children(friend)[-1:])
            shown = (lib.getCursorReferenced(each) if each.kind == kinds.TYPE_REF else each for each in named)
            self._friends[owner.d0] = frozenset(lib.getCanonicalCursor(each).d0 for each in shown)
        return self._friends[owner.d0]

    def _member(self, cursor: Cursor) -> str | None:
        """The qualified name of a member that is private or protected, or whose name forbids to use it."""
        lib = self._lib
        hidden = lib.getCXXAccessSpecifier(cursor) in kinds.HIDDEN
        if not hidden and not (cursor.kind == kinds.FIELD and forbids_use(lib.spelling(cursor))):
            return None
        return self._names.of(cursor) if self.is_own(cursor) else None

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
        if lib.getCursorLinkage(cursor) != EXTERNAL or self._is_built_in(cursor) or not self.is_own(cursor):
            return None
        if cursor.kind == kinds.VARIABLE:
            return lib.linked(cursor) or None
        if lib.Cursor_isFunctionInlined(cursor) or lib.CXXMethod_isVirtual(cursor) or lib.CXXMethod_isDefaulted(cursor):
            return None
        if cursor.kind in kinds.STRUCTORS:
            return next((each for each in lib.mangled(cursor) if "C1E" in each or "D1E" in each), None)
        return lib.linked(cursor) or None
