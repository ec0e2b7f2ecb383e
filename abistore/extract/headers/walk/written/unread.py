"""What C functions may use in whose bodies the parser met errors: every word there, and all that macros write."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from ctypes import POINTER, byref, c_uint, c_void_p
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

from abistore.extract.headers.clang import Diagnostic
from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import ClangToken, Cursor, SourceLocation, libclang
from abistore.extract.headers.walk.written.tokens import SourceText, tokens
from abistore.model.words.wildcards import ANY, matcher

_SPLICE: Final = re.compile(rb"\\[ \t]*\r?\n")
_WORD: Final = re.compile(r"[A-Za-z_$\x80-\U0010ffff][\w$]*")
_PASTED: Final = re.compile(r"[\w$\x80-\U0010ffff]+")
_LABEL: Final = re.compile(r'(?:u8|[uUL])?"([\w$.]+)"')
"""A string that may be a symbol, as in ``__asm__("name")``."""

_PASTES: Final = frozenset({"##", "%:%:"})
_MARKS: Final = frozenset({"#", "%:"})
_DIRECTIVES: Final = frozenset({"include", "include_next", "import", "embed"})


def unread_words(unit: Any, errors: Iterable[Diagnostic]) -> frozenset[str] | None:
    """The words of the functions that hold all ``errors`` of a unit of C, with the symbols that they may stand for.

    Where a macro pastes a name together of its arguments, these are wildcards. ``None`` where an error stands
    elsewhere, and where what a function becomes is not known: it includes a file, or pastes a name of arguments alone.
    """
    places: dict[str, set[int]] = {}
    for error in errors:
        if error.fatal or not error.file:
            return None
        places.setdefault(error.file, set()).add(error.offset)
    return _UnreadBodies(unit).words(places)


class _Macro(NamedTuple):
    """A macro: the names of its parameters, and what it stands for."""

    parameters: frozenset[str]
    body: Sequence[str]


class _UnreadBodies:
    def __init__(self, unit: Any) -> None:
        self._lib = libclang()
        self._unit = unit.obj
        self._top = self._lib.top(unit)
        self._text = SourceText(self._lib, unit.obj)
        self._names: dict[int | None, str] = {None: ""}

    def words(self, places: Mapping[str, set[int]]) -> frozenset[str] | None:
        left = {file: set(offsets) for file, offsets in places.items()}
        written: list[str] = []
        for file, begin, text in self._functions(places):
            held = {place for place in places[file] if begin <= place < begin + len(text)}
            if held:
                left[file] -= held
                written += tokens(_SPLICE.sub(b"", text))
        if any(left.values()) or _includes(written):
            return None
        return self._followed(written)

    def _functions(self, files: Collection[str]) -> Iterator[tuple[str, int, bytes]]:
        """The texts of the functions that some files define, with the whole uses of macros that write parts of them."""
        lib = self._lib
        uses = [self._range(each) for each in self._top if each.kind == kinds.EXPANSION]
        for function in self._top:
            if function.kind != kinds.FUNCTION or not lib.isCursorDefinition(function):
                continue
            file, begin, end = self._range(function)
            if self._name(file) in files:
                end = max([end, *(last for used, first, last in uses if used == file and first <= end <= last)])
                yield self._name(file), begin, self._text.between(file, begin, end)

    def _range(self, cursor: Cursor) -> tuple[int | None, int, int]:
        """Where in a file something stands as the parser tells places: that of a macro, for what it writes."""
        extent = self._lib.getCursorExtent(cursor)
        first, begin = self._place(self._lib.getRangeStart(extent))
        last, end = self._place(self._lib.getRangeEnd(extent))
        return (first, begin, end) if first == last else (None, 0, 0)

    def _place(self, location: SourceLocation) -> tuple[int | None, int]:
        file, offset = c_void_p(), c_uint()
        self._lib.getExpansionLocation(location, byref(file), None, None, byref(offset))
        return file.value, offset.value

    def _name(self, file: int | None) -> str:
        if file not in self._names:
            self._names[file] = self._lib.text(self._lib.getFileName(file))
        return self._names[file]

    def _followed(self, written: list[str]) -> frozenset[str] | None:
        """The words of a text, of the macros that these may be, and so on."""
        pending, found = [_Macro(frozenset(), written)], set[str]()
        while pending:
            for word in _words(pending.pop()):
                if set(word) == {ANY}:
                    return None
                if word not in found:
                    found.add(word)
                    pending += self._called(word)
        return frozenset(found | self._symbols(found))

    def _called(self, word: str) -> list[_Macro]:
        """The macros of that name: which definition holds in a body is not asked."""
        names = filter(matcher([word]), self._macros) if ANY in word else [word]
        return [self._definition(macro) for name in names for macro in self._macros.get(name, ())]

    @cached_property
    def _macros(self) -> Mapping[str, list[Cursor]]:
        found: dict[str, list[Cursor]] = {}
        for each in self._top:
            if each.kind == kinds.MACRO:
                found.setdefault(self._lib.spelling(each), []).append(each)
        return found

    def _definition(self, macro: Cursor) -> _Macro:
        """What a macro stands for, which may be one of the command line or of the compiler."""
        lib, first, count = self._lib, POINTER(ClangToken)(), c_uint()
        lib.tokenize(self._unit, lib.getCursorExtent(macro), byref(first), byref(count))
        try:
            _, *body = [lib.text(lib.getTokenSpelling(self._unit, first[place])) for place in range(count.value)]
        finally:
            lib.disposeTokens(self._unit, first, count)
        if not lib.Cursor_isMacroFunctionLike(macro):
            return _Macro(frozenset(), body)
        end = body.index(")")
        return _Macro(frozenset({"__VA_ARGS__", *body[:end]}), body[end + 1 :])

    def _symbols(self, words: set[str]) -> set[str]:
        """What the linker calls the functions and variables of these names."""
        lib, shared, meant = self._lib, {kinds.FUNCTION, kinds.VARIABLE}, matcher(words)
        return {lib.linked(each) for each in self._top if each.kind in shared and meant(lib.spelling(each))}


def _words(macro: _Macro) -> Iterator[str]:
    """The names in what a macro stands for; one that is pasted together with wildcards for its parameters."""
    body = macro.body
    for token in body:
        if _WORD.fullmatch(token):
            yield token
        elif label := _LABEL.fullmatch(token):
            yield label[1]
    joined = ""
    for place, token in enumerate(body):
        if token in _PASTES and place and body[place - 1] != ",":
            joined = joined or _part(macro, body[place - 1])
            joined += "".join(_part(macro, each) for each in body[place + 1 : place + 2])
        elif joined and body[place - 1] not in _PASTES:
            yield joined
            joined = ""
    if joined:
        yield joined


def _part(macro: _Macro, token: str) -> str:
    """What a token adds to a name that is pasted together."""
    return token if _PASTED.fullmatch(token) and token not in macro.parameters else ANY


def _includes(written: list[str]) -> bool:
    return any(mark in _MARKS and directive in _DIRECTIVES for mark, directive in pairwise(written))
