"""The tokens of declarations, and which functions headers define."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import byref, c_size_t, string_at
from functools import cached_property
from typing import Final

from abistore.extract.headers import cursors
from abistore.extract.headers.cursors import MACROS, Cursor, LibClang, SourceRange
from abistore.model.declarations import Trait, blake2b

TOKEN: Final = re.compile(
    rb"""(?P<skipped>\s+|\\\r?\n|//(?:[^\n\\]|\\(?:\r?\n|.))*|/\*.*?\*/)"""
    rb"""|(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)\""""
    rb"""|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*'"""
    rb"""|[A-Za-z_\x80-\xff$][\w\x80-\xff$]*|\.?\d(?:[eEpP][+-]|'[\w]|[\w.])*"""
    rb"""|::|->\*?|\.\.\.|\.\*|<=>|<<=?|>>=|[-+*/%^&|=!<>]=|&&|\|\||\+\+|--|\#\#|.""",
    re.DOTALL,
)
"""One token of C or C++, or what stands between two. ``>>`` is two tokens: it may end two lists of arguments."""

WORD: Final = re.compile(r"[\w$\"']")
OPENING: Final = frozenset({"(", "[", "{", "::", "~", "!", ".", "->"})
CLOSING: Final = frozenset({")", "]", "}", ",", ";", "::", ".", "->", "..."})
CLOSED: Final = frozenset({")", "]"})
PREFIXES: Final = frozenset({"+", "-", "*", "&", "++", "--"})
"""What stands directly before its operand, unless another operand is before it."""

SIZE: Final = 16


def tokens(text: bytes) -> list[str]:
    """The tokens of a piece of C or C++."""
    return [match[0].decode(errors="replace") for match in TOKEN.finditer(text) if match["skipped"] is None]


def digest(text: bytes) -> str:
    """A digest of the tokens."""
    kept = b"\0".join([match[0] for match in TOKEN.finditer(text) if match["skipped"] is None])
    return blake2b(kept, digest_size=SIZE).hexdigest()


def spelled(text: bytes) -> str:
    """The tokens as people write them: ``sizeof(T) < 9``, ``std::string("a, b")``.

    Only ``<`` and ``>`` keep the author's spaces, which tell a list of arguments from a comparison.
    """
    return "".join(_spaced(text))


def _spaced(text: bytes) -> Iterator[str]:
    before, gap, prefix, operand = "", False, False, False
    for match in TOKEN.finditer(text):
        if match["skipped"] is not None:
            gap = True
            continue
        token = match[0].decode(errors="replace")
        if before and not prefix and _apart(before, token, gap):
            yield " "
        yield token
        prefix = token in PREFIXES and not operand
        operand = WORD.match(token[-1]) is not None or token in CLOSED
        before, gap = token, False


def _apart(before: str, token: str, gap: bool) -> bool:
    if before in OPENING or token in CLOSING:
        return False
    if "<" in (before, token) or ">" in (before, token):
        return gap and not (before == ">" and token == ">")
    if token in "([":
        return WORD.match(before[-1]) is None and before not in CLOSED
    return True


def after(text: bytes, mark: str) -> bytes:
    """The text behind the first token ``mark`` outside of brackets; empty where there is none.

    Brackets may have opened before the text, as in ``call)(int) = nullptr``.
    """
    depth = 0
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in b"([{":
            depth += 1
        elif token in b")]}":
            depth -= 1
        elif depth <= 0 and token == mark.encode():
            return text[match.end() :]
    return b""


class SourceText:
    """The text of the files of one translation unit."""

    def __init__(self, lib: LibClang, unit: object) -> None:
        self._lib = lib
        self._unit = unit
        self._files: dict[int, bytes] = {}

    def of(self, cursor: Cursor) -> bytes:
        """The text of a declaration or expression; empty where no file holds it."""
        return self.between(*self.extent(cursor))

    def declarator(self, cursor: Cursor) -> bytes:
        """The text of a declaration from its name on: of ``int a = 1, b = 2``, only ``b = 2`` for the second."""
        file, begin, end = self.extent(cursor)
        if file is None:
            return b""
        named, _, name = self._lib.place(self._lib.getCursorLocation(cursor))
        return self.between(file, name if named == file and begin <= name <= end else begin, end)

    def extent(self, cursor: Cursor) -> tuple[int | None, int, int]:
        """The file of a declaration, and where in it its text begins and ends."""
        lib = self._lib
        extent: SourceRange = lib.getCursorExtent(cursor)
        file, _, begin = lib.place(lib.getRangeStart(extent))
        length = extent.end - extent.begin
        if file is not None and extent.end < MACROS and 0 <= length <= len(self.file(file)) - begin:
            return file, begin, begin + length
        other, _, end = lib.place(lib.getRangeEnd(extent))
        return (file, begin, end) if file == other else (None, 0, 0)

    def between(self, file: int | None, begin: int, end: int) -> bytes:
        """A piece of a file."""
        return b"" if file is None else self.file(file)[begin:end]

    def file(self, file: int) -> bytes:
        """The whole text of a file."""
        if file not in self._files:
            size = c_size_t()
            found = self._lib.getFileContents(self._unit, file, byref(size))
            self._files[file] = string_at(found, size.value) if found else b""
        return self._files[file]


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
        """Whether a program that includes the declaring header compiles a function or function template itself.

        In C an inline function without ``static`` is left to a unit that declares it ``extern``, and template instances
        to the library by ``extern template``.
        """
        lib = self._lib
        found: Cursor = lib.getCursorDefinition(function)
        if found.kind in cursors.NOTHING or not self._comes_with(found, function):
            return False
        if function.kind == cursors.FUNCTION_TEMPLATE:
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
        if (inner or template.kind == cursors.PARTIAL_SPECIALIZATION) and self._hold_within(template):
            yield "defined_within"

    def _hold_within(self, template: Cursor) -> bool:
        """Whether that holds for all functions of nested classes, which are instantiated together."""
        found: Cursor = self._lib.getCursorDefinition(template)
        if found.kind in cursors.NOTHING or self._is_instantiated(template):
            return False
        return all(map(self._hold_inner, self._classes_in(found)))

    def _hold_inner(self, inner: Cursor) -> bool:
        found: Cursor = self._lib.getCursorDefinition(inner)
        if found.kind in cursors.NOTHING or not self._comes_with(found, inner):
            return False
        return self.hold_all(inner) and self._hold_within(inner)

    def _classes_in(self, definition: Cursor) -> list[Cursor]:
        children = [] if definition.kind in cursors.NOTHING else self._lib.children(definition)
        return [each for each in children if each.kind in cursors.CLASSES]

    def hold_all(self, template: Cursor) -> bool:
        """Whether that holds for all functions of a class template, private ones too."""
        lib = self._lib
        found: Cursor = lib.getCursorDefinition(template)
        if found.kind in cursors.NOTHING or self._is_instantiated(template):
            return False
        return all(
            self.hold(each) or lib.CXXMethod_isDeleted(each) or lib.CXXMethod_isDefaulted(each)
            for each in lib.children(found)
            if each.kind in cursors.FUNCTIONS or each.kind == cursors.FUNCTION_TEMPLATE
        )

    def _comes_with(self, definition: Cursor, declaration: Cursor) -> bool:
        file, by = self._file(definition), self._file(declaration)
        return file is not None and by is not None and (file == by or file in self._behind(by))

    def _file(self, cursor: Cursor) -> int | None:
        return self._lib.place(self._lib.getCursorLocation(cursor))[0]

    def _behind(self, header: int) -> frozenset[int]:
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
        found: dict[int, set[int]] = {}
        for each in self._top:
            if each.kind == cursors.INCLUSION:
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
