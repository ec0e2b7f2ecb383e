"""The text of declarations, token by token: without comments, line breaks, and what the author spaced as they liked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ctypes import byref, c_size_t, string_at
from typing import Final

from abistore.extract.headers.walk.clang.cursors import MACROS, Cursor, LibClang, SourceRange
from abistore.model.blake2 import blake2b

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
    """What stands behind the first token ``mark`` that is in no brackets; empty where there is none.

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
