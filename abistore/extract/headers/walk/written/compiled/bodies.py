"""The bodies of inline functions and templates: programs have copies of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.written.compiled.references import CodeReferences, Used
from abistore.extract.headers.walk.written.handing import FARTHEST, Handed, words_with
from abistore.extract.headers.walk.written.tokens import SourceText, digest
from abistore.model.declared import InlineBody, Uses

BODIES: Final = frozenset({kinds.COMPOUND, kinds.TRY})
TYPES: Final = frozenset({*kinds.RECORDS, kinds.CLASS_TEMPLATE, kinds.PARTIAL_SPECIALIZATION, kinds.FRIEND})
"""What has further declarations in it."""

CODE: Final = frozenset({*kinds.FUNCTIONS, kinds.FUNCTION_TEMPLATE})
VALUES: Final = frozenset({kinds.FIELD, kinds.VARIABLE})
NAMING: Final = frozenset({101, 102, kinds.CALL})
"""Expressions that name a function."""


class Compiled(NamedTuple):
    """What programs compile of a function: its body where it is inline, and what else uses the library's inside."""

    body: InlineBody | None
    uses: Uses | None


class InlineBodies:
    """Reads bodies."""

    def __init__(
        self, lib: LibClang, text: SourceText, references: CodeReferences, is_given: Callable[[Cursor], bool]
    ) -> None:
        self.lib = lib
        self._text = text
        self._references = references
        self._is_given = is_given
        self._helpers: dict[int, tuple[Used, dict[int, Cursor]]] = {}
        self._called: dict[int, str | None] = {}
        self.handed: dict[str, set[Handed]] = {}
        """The names that stand in calls of the library's functions, each with the functions that are called with it."""

    def of(self, function: Cursor, children: Sequence[Cursor], defaults: Iterable[Cursor], *, inline: bool) -> Compiled:
        """The body of an ``inline`` function or a template, with what initialises members before it.

        ``defaults`` are the parameters that have one.
        """
        used, chosen = Used.nothing(), Used.nothing()
        for parameter in defaults:
            self._value(parameter, chosen)
        body = next((each for each in children if each.kind in BODIES), None)
        if body is None:
            return Compiled(None, chosen.noted)
        parts = self._parts(function, children, body)
        for part in parts:
            self._read(part, function, used if inline else chosen, chosen)
        if not inline:
            return Compiled(None, chosen.noted)
        file, begin, end = self._text.extent(body)
        start = self._text.extent(parts[0])
        text = self._text.between(file, min(begin, start[1]) if start[0] == file else begin, end)
        return Compiled(InlineBody(digest(text), *used.sorted), chosen.noted)

    def within(self, members: Iterable[Cursor]) -> Uses | None:
        """What all code in these members of a class uses, and in the classes in them."""
        found = Used.nothing()
        self._members(members, found)
        return found.noted

    def is_own(self, cursor: Cursor) -> bool:
        """Whether a declaration may be the library's own."""
        return self._references.is_own(cursor)

    def name(self, declaration: Cursor, used: Used) -> None:
        """Note that code names a function, a data member, or an object of a type, where no cursor tells of that."""
        self._references.name(declaration, used)
        if declaration.kind in kinds.FUNCTIONS:
            helpers: dict[int, Cursor] = {}
            self._meet_function(declaration, helpers)
            for helper in self._reached(helpers):
                used.add(self._helpers[helper.d0][0])

    def _members(self, members: Iterable[Cursor], found: Used) -> None:
        for each in members:
            if each.kind in CODE:
                self._function(each, found)
            elif each.kind in VALUES:
                self._value(each, found)
            elif each.kind in TYPES:
                self._members(self.lib.children(each), found)

    def _function(self, function: Cursor, found: Used) -> None:
        children = self.lib.children(function)
        for parameter in children:
            if parameter.kind == kinds.PARAMETER:
                self._value(parameter, found)
        body = next((each for each in children if each.kind in BODIES), None)
        for part in self._parts(function, children, body) if body is not None else ():
            self._read(part, function, found, found)

    def _value(self, declaration: Cursor, found: Used) -> None:
        """Read the value of a declaration, which stands last in it."""
        for value in self.lib.children(declaration)[-1:]:
            if kinds.is_expression(value.kind):
                self._read(value, declaration, found, found)

    def _parts(self, function: Cursor, children: Sequence[Cursor], body: Cursor) -> Sequence[Cursor]:
        first = self._initializer(function, children)
        return [body] if first is None else children[first:]

    def _initializer(self, function: Cursor, children: Sequence[Cursor]) -> int | None:
        """Which of a constructor's children begins the initialisers: what stands before the name only qualifies it."""
        lib = self.lib
        template = function.kind == kinds.FUNCTION_TEMPLATE
        if (lib.getTemplateCursorKind(function) if template else function.kind) != kinds.CONSTRUCTOR:
            return None
        name = lib.place(lib.getCursorLocation(function))[2]
        for place, each in enumerate(children):
            if each.kind in kinds.INITIALIZERS and self._text.extent(each)[1] > name:
                return place
        return None

    def _read(self, part: Cursor, by: Cursor, used: Used, chosen: Used) -> None:
        helpers: dict[int, Cursor] = {}
        for use in self._references.within(part):
            self._references.note(use, by, used, chosen)
            if use.cursor.kind == kinds.CALL and used is not chosen:
                self._hand(use.cursor)
            self._meet(use.cursor, helpers)
        for helper in self._reached(helpers):
            used.add(self._helpers[helper.d0][0])

    def _meet(self, use: Cursor, helpers: dict[int, Cursor]) -> None:
        """Note the function that a use names, where only a header defines it that was not given."""
        if use.kind in NAMING:
            self._meet_function(self.lib.getCursorReferenced(use), helpers)

    def _meet_function(self, function: Cursor, helpers: dict[int, Cursor]) -> None:
        if function.kind in kinds.FUNCTIONS and self._references.is_own(function):
            definition: Cursor = self.lib.getCursorDefinition(function)
            if definition.kind not in kinds.NOTHING and not self._is_given(definition):
                helpers.setdefault(definition.d0, definition)

    def _reached(self, helpers: dict[int, Cursor]) -> Iterable[Cursor]:
        """These functions, those that they call, and so on; each is read once."""
        pending, seen = list(helpers.values()), set(helpers)
        for helper in pending:
            if helper.d0 not in self._helpers:
                self._helpers[helper.d0] = self._of_helper(helper)
            pending += (each for key, each in self._helpers[helper.d0][1].items() if key not in seen)
            seen.update(self._helpers[helper.d0][1])
        return pending

    def _of_helper(self, helper: Cursor) -> tuple[Used, dict[int, Cursor]]:
        """What a function uses itself, and the functions that it calls and that are as it is."""
        used, called = Used.nothing(), dict[int, Cursor]()
        children = self.lib.children(helper)
        body = next((each for each in children if each.kind in BODIES), None)
        for part in self._parts(helper, children, body) if body is not None else ():
            for use in self._references.within(part):
                self._references.note(use, helper, used, used)
                self._meet(use.cursor, called)
        return used, called

    def _hand(self, call: Cursor) -> None:
        """Note what a function of the library is called with."""
        function = self._function_called(self.lib.getCursorReferenced(call))
        if function is not None:
            file, begin, end = self._text.extent(call)
            first = max(0, begin - FARTHEST)
            around = self._text.between(file, first, end + FARTHEST).decode("latin-1")
            for word, handed in words_with(around, begin - first, end - first, function):
                self.handed.setdefault(word, set()).add(handed)

    def _function_called(self, cursor: Cursor) -> str | None:
        """What a function of the library is called; ``None`` for all else."""
        key = cursor.d0
        if key not in self._called:
            own = bool(key) and cursor.kind in kinds.FUNCTIONS and self._references.is_own(cursor)
            self._called[key] = self.lib.spelling(cursor) if own else None
        return self._called[key]
