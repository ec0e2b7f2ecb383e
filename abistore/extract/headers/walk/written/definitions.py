"""Which functions headers define themselves, so that each program that includes them compiles its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.written.tokens import TOKEN, SourceText
from abistore.model.declared import Trait

INTERNAL: Final = 2
"""CXLinkage_Internal."""

EVERYTHING: Final = "*"
"""What a macro instantiates: its arguments are not looked for."""

_PERHAPS: Final = re.compile(rb"\btemplate\b(?!\s*<)")
_NAMED: Final = frozenset({b".", b"->", b"::"})
"""What stands before ``template`` where it only says that a name is one: ``object.template get<int>()``."""

IsOwn = Callable[[int], bool]
"""Whether a file may be the library's own."""


class Definitions:
    """Finds the definitions that come with declarations: in the same header, or in one that this includes."""

    def __init__(self, lib: LibClang, text: SourceText, top: Sequence[Cursor], is_own: IsOwn, *, cpp: bool) -> None:
        self._lib = lib
        self._text = text
        self._top = top
        self._is_own = is_own
        self._cpp = cpp

    def hold(self, function: Cursor) -> bool:
        """Whether whoever includes the header that declares a function, or a template of one, compiles it.

        In C an inline function without ``static`` is left to a unit that declares it ``extern``. So are all instances
        of a template to the library where headers say so of one (``extern template``).
        """
        lib = self._lib
        found: Cursor = lib.getCursorDefinition(function)
        if found.kind in kinds.NOTHING or not self._comes_with(found, function):
            return False
        if function.kind == kinds.FUNCTION_TEMPLATE:
            return not self._is_instantiated(function)
        if not lib.Cursor_isFunctionInlined(found) or lib.getCursorLinkage(found) == INTERNAL:
            return True
        return self._cpp

    def traits(self, template: Cursor) -> Iterator[Trait]:
        """What is said of a class template or a partial specialization of one.

        A specialization without classes in it does not contradict what is said of the others.
        """
        if self.hold_all(template):
            yield "defined"
        inner = self._classes_in(self._lib.getCursorDefinition(template))
        if (inner or template.kind == kinds.PARTIAL_SPECIALIZATION) and self._hold_within(template):
            yield "defined_within"

    def _hold_within(self, template: Cursor) -> bool:
        """Whether this is so of all functions of the classes in a class, which are instantiated with it."""
        found: Cursor = self._lib.getCursorDefinition(template)
        if found.kind in kinds.NOTHING or self._is_instantiated(template):
            return False
        return all(map(self._hold_inner, self._classes_in(found)))

    def _hold_inner(self, inner: Cursor) -> bool:
        found: Cursor = self._lib.getCursorDefinition(inner)
        if found.kind in kinds.NOTHING or not self._comes_with(found, inner):
            return False
        return self.hold_all(inner) and self._hold_within(inner)

    def _classes_in(self, definition: Cursor) -> list[Cursor]:
        children = [] if definition.kind in kinds.NOTHING else self._lib.children(definition)
        return [each for each in children if each.kind in kinds.CLASSES]

    def hold_all(self, template: Cursor) -> bool:
        """Whether this is so of all functions of a class template, private ones too."""
        lib = self._lib
        found: Cursor = lib.getCursorDefinition(template)
        if found.kind in kinds.NOTHING or self._is_instantiated(template):
            return False
        return all(
            self.hold(each) or lib.CXXMethod_isDeleted(each) or lib.CXXMethod_isDefaulted(each)
            for each in lib.children(found)
            if each.kind in kinds.FUNCTIONS or each.kind == kinds.FUNCTION_TEMPLATE
        )

    def _comes_with(self, definition: Cursor, declaration: Cursor) -> bool:
        file, by = self._file(definition), self._file(declaration)
        return file is not None and by is not None and (file == by or file in self._behind(by))

    def _file(self, cursor: Cursor) -> int | None:
        return self._lib.place(self._lib.getCursorLocation(cursor))[0]

    def _behind(self, header: int) -> frozenset[int]:
        """The files that a header includes, directly or not."""
        if header not in self._reached:
            pending, seen = [header], set[int]()
            while pending:
                come = self._included.get(pending.pop(), set()) - seen
                seen |= come
                pending += come
            self._reached[header] = frozenset(seen)
        return self._reached[header]

    @cached_property
    def _reached(self) -> dict[int, frozenset[int]]:
        return {}

    @cached_property
    def _included(self) -> dict[int, set[int]]:
        """The files that each file includes."""
        found: dict[int, set[int]] = {}
        for each in self._top:
            if each.kind == kinds.INCLUSION:
                by, file = self._file(each), self._lib.getIncludedFile(each)
                if by is not None and file:
                    found.setdefault(by, set()).add(file)
        return found

    def _is_instantiated(self, template: Cursor) -> bool:
        return not self._instantiated.isdisjoint((EVERYTHING, self._lib.spelling(template)))

    @cached_property
    def _instantiated(self) -> frozenset[str]:
        """The words in which the library's headers instantiate templates explicitly; libclang shows only classes."""
        files = {file for included in self._included.values() for file in included}
        texts = (self._text.file(file) for file in sorted(files) if self._is_own(file))
        return frozenset(word for text in texts if _PERHAPS.search(text) for word in instantiated(text))


def instantiated(text: bytes) -> Iterator[str]:
    """The words of explicit instantiations: of ``extern template int Box<int>::get();``, and ``*`` for a macro's."""
    in_macro = naming = by_macro = False
    before = line = b""
    for match in TOKEN.finditer(text):
        token = match[0]
        if match["skipped"] is not None:
            in_macro = in_macro and not _ends_line(token)
            line = b"" if _ends_line(token) else line
            continue
        in_macro = in_macro or (line, token) == (b"#", b"define")
        line = token if not line else line + token
        if naming:
            naming = token != b";"
            yield from _words([token])
        elif before == b"template" and token != b"<":
            naming = not by_macro
            yield from [EVERYTHING] if by_macro else _words([token])
        before, by_macro = b"" if token == b"template" and before in _NAMED else token, in_macro


def _ends_line(skipped: bytes) -> bool:
    return skipped[:1].isspace() and b"\n" in skipped


def _words(found: Iterable[bytes]) -> Iterator[str]:
    return (each.decode(errors="replace") for each in found if each[:1].isalpha() or each[:1] == b"_")
