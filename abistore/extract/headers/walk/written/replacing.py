"""Macros that stand for no value: those with parameters, pieces of declarations, and empty ones."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, LibClang
from abistore.extract.headers.walk.clang.files import PublicFiles
from abistore.extract.headers.walk.written.expansion import Definition, Expansions
from abistore.extract.headers.walk.written.macros import RESERVED, is_value
from abistore.extract.headers.walk.written.tokens import SIZE, SourceText
from abistore.model.blake2 import blake2b
from abistore.model.declared import Declared, Replacement, Use
from abistore.model.names import Name
from abistore.model.snapshot import Location
from abistore.model.values.texts import words

GUARD: Final = re.compile(
    r"(?i)_(?:h|hh|hpp|hxx|inl|ipp|inc|incl|guard)_*$|_(?:h_)?included_*$|^have_|_have_|^config_h"
)
"""How include guards are called, and what ``configure`` finds out about a system."""

ABSENT: Final = re.compile(
    rb"\#[ \t]*(?:ifndef[ \t]+|if[ \t]+!?[ \t]*defined[ \t]*\(?[ \t]*)(\w+)[ \t]*\)?[ \t]*"
    rb"(?:/\*[^\n]*?\*/|//[^\n]*)?\s*\#[ \t]*define[ \t]+$"
)
"""What stands before the definition of an include guard, and of a default."""

ENDED: Final = re.compile(rb"(?:[^\n]*\\\n)*[^\n]*\n\s*\#[ \t]*endif")
"""What stands behind that of a default; a guard holds a whole header."""

SETTLED: Final = re.compile(rb"\#(?<![^\s]\#)[ \t]*(?P<word>define|undef)[ \t]+(?P<name>\w+)")
"""What defines a macro or takes it back; the last one in a file counts."""

FARTHEST: Final = 300
"""Characters before a definition that are looked at."""


class MacroUses:
    """Where public headers use macros themselves, and where they take them back."""

    def __init__(self, lib: LibClang, text: SourceText, top: Sequence[Cursor], files: PublicFiles) -> None:
        self._lib, self._text, self._top, self._files = lib, text, top, files
        self._ends: dict[int, dict[bytes, int]] = {}

    def of(self, names: Container[str]) -> Iterator[tuple[str, Use]]:
        """Uses of macros in text and conditions."""
        for cursor in self._top:
            if cursor.kind == kinds.EXPANSION and self._files.place(cursor) is not None:
                name = self._lib.spelling(cursor)
                if name in names:
                    yield name, "asked" if self._is_asked(cursor) else "declaration"

    def _is_asked(self, cursor: Cursor) -> bool:
        """Whether a use stands in a directive, which may go on over lines."""
        file, _, place = self._lib.place(self._lib.getCursorLocation(cursor))
        text = self._text.file(file) if file else b""
        begin = text.rfind(b"\n", 0, place) + 1
        while text.endswith((b"\\\n", b"\\\r\n"), max(0, begin - 3), begin):
            begin = text.rfind(b"\n", 0, begin - 1) + 1
        return text[begin:place].lstrip().startswith(b"#")

    def is_kept(self, cursor: Cursor, name: str) -> bool:
        """Whether a macro is no include guard, and nothing takes it back behind its definition."""
        file, begin, end = self._text.extent(cursor)
        if file is None:
            return False
        is_guard = end - begin == len(name.encode()) and self._is_guard(name, self._text.file(file), begin, end)
        return not is_guard and not self._is_taken_back(name, file, end)

    def _is_guard(self, name: str, text: bytes, begin: int, end: int) -> bool:
        absent = ABSENT.search(text, max(0, begin - FARTHEST), begin)
        return absent is not None and absent[1].decode() == name and not ENDED.match(text, end)

    def _is_taken_back(self, name: str, file: int, end: int) -> bool:
        """Another header that takes a macro back is one that others include last: what is left there is internal."""
        own = self._taken_back(file).get(name.encode(), -1)
        return own >= end or any(where != file for where in self._elsewhere.get(name.encode(), ()))

    @cached_property
    def _elsewhere(self) -> dict[bytes, list[int]]:
        """The library's files that take macros back, by macro."""
        found: dict[bytes, list[int]] = {}
        files = {self._lib.getIncludedFile(each) for each in self._top if each.kind == kinds.INCLUSION}
        for file in filter(self._files.is_public_file, files):
            for name in self._taken_back(file):
                found.setdefault(name, []).append(file)
        return found

    def _taken_back(self, file: int) -> dict[bytes, int]:
        """The macros that are not defined any more at the end of a file, and where it takes them back."""
        if file not in self._ends:
            text = self._text.file(file)
            last = {each["name"]: each for each in SETTLED.finditer(text)} if b"undef" in text else {}
            self._ends[file] = {name: each.start() for name, each in last.items() if each["word"] == b"undef"}
        return self._ends[file]


def replacements(
    defined: Iterable[tuple[Cursor, Location]],
    known: Mapping[Name, Declared],
    expansions: Expansions,
    uses: MacroUses,
) -> Iterator[tuple[Name, Location, Declared]]:
    """Public macros that are none of the constants ``known``, each by its last definition."""
    last = {expansions.spelled(cursor): (cursor, location) for cursor, location in defined}
    names = {name for name in last if Name("variable", name) not in known and not RESERVED.match(name)}
    used: dict[str, set[Use]] = {name: set() for name in names}
    for name, use in uses.of(names):
        used[name].add(use)
    for name in last:
        constant = known.get(Name("variable", name))
        macro = expansions.definition(name) if constant is None else None
        for token in names.intersection(macro.body if macro else words(constant.value or "") if constant else ()):
            used[token].add("macro")
    for name in sorted(names):
        cursor, location = last[name]
        macro = expansions.definition(name)
        if macro is not None and _is_told(name, macro) and uses.is_kept(cursor, name):
            replacement = _replacement(macro, used[name])
            yield Name("variable", name), location, Declared(traits=("macro",), replacement=replacement)


def _is_told(name: str, macro: Definition) -> bool:
    return macro.parameters is not None or bool(macro.body) or GUARD.search(name) is None


def _replacement(macro: Definition, uses: set[Use]) -> Replacement:
    used = tuple(sorted(uses - {"declaration"} if _is_expression(macro) else uses))
    if macro.parameters is None:
        return Replacement(_digest(macro.body), used=used)
    named = len(macro.parameters) - macro.variadic
    numbers = {each: f"\1{number}" for number, each in enumerate(macro.parameters)}
    return Replacement(_digest([numbers.get(each, each) for each in macro.body]), named, macro.variadic, used)


def _is_expression(macro: Definition) -> bool:
    """Whether a macro is written in expressions, as those of programs; ``EXPORT(x) x`` is around declarations."""
    return is_value(macro.body) and not set(macro.body) <= {*(macro.parameters or ()), "(", ")"}


def _digest(found: Sequence[str]) -> str:
    text = "\0".join(found).encode(errors="replace")
    return blake2b(text, digest_size=SIZE).hexdigest() if found else ""
