"""Macros that stand for a value: compilers put it into consumers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.written.tokens import SourceText, spelled, tokens
from abistore.model.names import Name
from abistore.model.shapes import Declared
from abistore.model.snapshot import Location

RESERVED: Final = re.compile(r"_[A-Z_]")
"""How names begin that belong to compilers: ``__GNUC__``, ``_POSIX_SOURCE``; include guards are often so."""

UNDEFINED: Final = re.compile(rb"^[ \t]*\#[ \t]*undef[ \t]+(\w+)", re.MULTILINE)
NO_VALUE: Final = frozenset(
    {
        *("__attribute__", "__attribute", "__declspec", "__extension__", "__inline", "__inline__", "_Pragma"),
        *("extern", "static", "inline", "constexpr", "namespace", "using", "typedef", "template", "typename"),
        *("if", "do", "while", "for", "return", "else", "switch", "goto", "throw", "try", "class", "struct"),
        *("const", "volatile", "restrict", "__restrict", "register", "virtual", "override", "final", "noexcept"),
        *("void", "enum", "union", "public", "private", "protected", "friend", "explicit", "mutable", "alignas"),
        *("[", "{", "}", ";", ",", ")", "="),
    }
)
"""What begins a piece of a declaration or statement, and no value."""

Place = Callable[[Cursor], "Location | None"]
"""Where a public macro is defined; ``None`` for one of another file."""


def macros(
    lib: LibClang, text: SourceText, top: Iterable[Cursor], place: Place
) -> Iterator[tuple[Name, Location, Declared]]:
    """Public object-like macros with a value. The last definition counts, and none that its file undefines again."""
    found: dict[str, tuple[Location, str]] = {}

    @cache
    def undefined(file: int) -> dict[bytes, int]:
        return {match[1]: match.start() for match in UNDEFINED.finditer(text.file(file))}

    for cursor in top:
        if cursor.kind != kinds.MACRO:
            continue
        location = place(cursor)
        if location is None or lib.Cursor_isMacroFunctionLike(cursor):
            continue
        name = lib.spelling(cursor)
        value = None if RESERVED.match(name) else _value(text, cursor, name, undefined)
        if value is None:
            found.pop(name, None)
        else:
            found[name] = location, value
    for name, (location, value) in found.items():
        yield Name("variable", name), location, Declared(traits=("constant", "macro"), value=value)


def _value(text: SourceText, cursor: Cursor, name: str, undefined: Callable[[int], dict[bytes, int]]) -> str | None:
    """What a macro stands for; ``None`` where it is no value, or no longer defined at the end of its file.

    ``undefined`` tells where a file takes each macro back for the last time.
    """
    file, begin, end = text.extent(cursor)
    if file is None:
        return None
    replacement = text.between(file, begin, end)[len(name.encode()) :]
    words = tokens(replacement)
    if not words or words[0] in NO_VALUE or words[-1] in (";", "{", "}", ",", "("):
        return None
    return None if undefined(file).get(name.encode(), -1) >= end else spelled(replacement)
