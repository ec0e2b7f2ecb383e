"""Macros that stand for a value: compilers put it into consumers."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Final

from msgspec.structs import replace

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.collected import Collected
from abistore.extract.headers.walk.written.expansion import Expansion, Expansions, meaning
from abistore.extract.headers.walk.written.numbers.casts import numbers, plainly_cast
from abistore.extract.headers.walk.written.tokens import SourceText, spelled, tokens
from abistore.model.declared import Declared, Meaning
from abistore.model.names import Name
from abistore.model.shapes import Enum, Function
from abistore.model.snapshot import Location
from abistore.model.values.texts import words

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
        *("__restrict__", "__const", "__volatile__", "__forceinline", "_Noreturn", "__noreturn", "asm", "__asm__"),
        *("__thread", "_Thread_local", "thread_local", "consteval", "constinit", "_Alignas", "_Nonnull", "_Nullable"),
        *("__cdecl", "__stdcall", "__fastcall", "__vectorcall", "__thiscall", "_cdecl", "_stdcall"),
    }
)
"""What begins a piece of a declaration or statement, and no value."""

ENDING: Final = frozenset({";", "{", "}", ",", "("})
"""What ends no value."""

Place = Callable[[Cursor], "Location | None"]
"""Where a public macro is defined; ``None`` for one of another file."""


def public_definitions(lib: LibClang, top: Iterable[Cursor], place: Place) -> list[tuple[Cursor, Location]]:
    """The definitions of macros in public headers, in the order in which they are read."""
    found = ((cursor, place(cursor)) for cursor in top if cursor.kind == kinds.MACRO)
    return [(cursor, location) for cursor, location in found if location is not None]


def macros(
    lib: LibClang, text: SourceText, defined: Iterable[tuple[Cursor, Location]]
) -> Iterator[tuple[Name, Location, Declared]]:
    """Public object-like macros with a value. The last definition counts, and none that its file undefines again."""
    found: dict[str, tuple[Location, str]] = {}

    @cache
    def undefined(file: int) -> dict[bytes, int]:
        return {match[1]: match.start() for match in UNDEFINED.finditer(text.file(file))}

    for cursor, location in defined:
        if lib.Cursor_isMacroFunctionLike(cursor):
            continue
        name = lib.spelling(cursor)
        value = None if RESERVED.match(name) else _value(text, cursor, name, undefined)
        if value is None:
            found.pop(name, None)
        else:
            found[name] = location, value
    for name, (location, value) in found.items():
        yield Name("variable", name), location, Declared(traits=("constant", "macro"), value=value)


def is_value(words: Sequence[str]) -> bool:
    """Whether the tokens of a macro stand for a value."""
    return bool(words) and words[0] not in NO_VALUE and words[-1] not in ENDING


def is_initializer(words: Sequence[str]) -> bool:
    """Whether the tokens of a macro give members their first values: ``{17, 0}``, or ``(struct lock){17, 0}``.

    A block of statements has a semicolon in it.
    """
    if not words or words[0] not in "{(" or words[-1] != "}" or ";" in words:
        return False
    depths = list(accumulate((each in "{(") - (each in ")}") for each in words))
    return min(depths) == depths[-1] == 0


def settle_macros(found: Collected, expansions: Expansions, pointer: int) -> None:
    """Tell what macros stand for that name others; leave out those that name pieces of declarations in this way.

    A macro that becomes the name of a function in the end stands for that: ``NAME(saxpy)`` for ``saxpy_``.
    ``pointer`` is the size of a pointer in bytes.
    """
    constants, types, functions = dict(_constants(found)), numbers(found), frozenset(_functions(found))
    for name, declared in list(found.declared.items()):
        if "macro" not in declared.traits or declared.value is None or not words(declared.value):
            continue
        expansion = expansions.of(name.spelling, declared.value)
        if expansion is None:
            continue
        if "constant" in declared.traits and not (is_value(expansion.tokens) or is_initializer(expansion.tokens)):
            found.forget(name)
        else:
            plain = expansion._replace(tokens=tuple(plainly_cast(expansion.tokens, types)))
            known = meaning(plain, constants, pointer) or _function_named(expansion, declared.value, functions)
            found.declared[name] = replace(declared, meaning=known)


def _functions(found: Collected) -> Iterator[str]:
    """The names by which programs call what is declared."""
    return (shape.display for shapes in found.shapes.values() for shape in shapes if isinstance(shape, Function))


def _function_named(expansion: Expansion, text: str, functions: Container[str]) -> Meaning | None:
    """That a macro becomes the name of a function which its own text does not show."""
    word = expansion.tokens[0] if len(expansion.tokens) == 1 else text
    return Meaning(word, expansion.borrowed) if word != text and word in functions else None


def _constants(found: Collected) -> Iterator[tuple[str, str]]:
    """The values of enumerators, as programs name them, and of constants that are no macros."""
    for name, shapes in found.shapes.items():
        for shape in shapes:
            if name.kind == "enum" and isinstance(shape, Enum) and not shape.scoped:
                around = name.spelling.rpartition("::")[0]
                for each in shape.enumerators:
                    yield f"{around}::{each.name}" if around else each.name, str(each.value)
    for name, declared in found.declared.items():
        if "constant" in declared.traits and declared.value is not None and not words(declared.value):
            yield name.spelling, declared.value


def _value(text: SourceText, cursor: Cursor, name: str, undefined: Callable[[int], dict[bytes, int]]) -> str | None:
    """What a macro stands for; ``None`` where it is no value, or no longer defined at the end of its file.

    ``undefined`` tells where a file takes each macro back for the last time.
    """
    file, begin, end = text.extent(cursor)
    if file is None:
        return None
    replacement = text.between(file, begin, end)[len(name.encode()) :]
    found = tokens(replacement)
    if not (is_value(found) or is_initializer(found)):
        return None
    return None if undefined(file).get(name.encode(), -1) >= end else spelled(replacement)
