"""In which headers two readings may declare something else: by text that one passed over, or by macros that differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from abistore.extract.headers.walk.clang import kinds
from abistore.extract.headers.walk.clang.cursors import Cursor, libclang
from abistore.extract.headers.walk.written.conditions import APART
from abistore.extract.headers.walk.written.tokens import SourceText, spelled

Named = Callable[[str], str | None]
"""What a file is called that is the library's; ``None`` for any other."""

_QUIET: Final = re.compile(
    r'(?:\s|extern|"C"|[{}]|noexcept|throw ?\( ?\)|inline|__inline(?:__)?|static|nullptr|NULL|\( ?\( ?void ?\) ?0 ?\))*'
)
"""What makes no other declaration, as ``extern "C" {`` for C++ and nothing for C."""

_DIRECTIVES: Final = re.compile(rb"^[ \t]*(?:\#|%:)(?![ \t]*pragma\b)(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
"""What declares nothing by itself; a pragma may pack what follows."""

_WORD: Final = re.compile(rb"[A-Za-z_]\w*")


def touched(first: ReadUnit, second: ReadUnit) -> frozenset[str]:
    """The headers of a library in which two units of them may declare something else."""
    apart = {file for file, _ in first.passed ^ second.passed}
    found = {file for file in apart if _declares(first, second, file)}
    differing = _differing(first.macros, second.macros)
    return frozenset({*found, *first.using(differing), *second.using(differing)})


class ReadUnit:
    """What one unit passed over of the library's headers, and the macros that these define."""

    def __init__(self, unit: Any, named: Named) -> None:
        self._lib = lib = libclang()
        self._text = SourceText(lib, unit.obj)
        self._top = lib.top(unit)
        self._named = named
        self._names: dict[int | None, str | None] = {None: None}
        self._files: dict[str, int] = {}
        self._texts: dict[str, list[bytes]] = {}
        self.passed = frozenset(self._passed(unit.obj))
        self.macros = {
            lib.spelling(each): self._text.of(each)
            for each in self._top
            if each.kind == kinds.MACRO and self._file(each) is not None
        }

    def using(self, macros: Collection[str]) -> Iterator[str]:
        """The headers that use some of these macros."""
        for each in self._top if macros else ():
            if each.kind == kinds.EXPANSION and (file := self._file(each)) and self._lib.spelling(each) in macros:
                yield file

    def lines(self, file: str, first: int, last: int) -> bytes:
        """The text between two lines, without comments."""
        if file not in self._texts:
            self._texts[file] = APART.sub(_blank, self._text.file(self._files[file])).split(b"\n")
        return b"\n".join(self._texts[file][first : last - 1])

    def _file(self, cursor: Cursor) -> str | None:
        file, _, _ = self._lib.place(self._lib.getCursorLocation(cursor))
        return self._name(file)

    def _name(self, file: int | None) -> str | None:
        if file not in self._names:
            self._names[file] = self._named(self._lib.text(self._lib.getFileName(file)))
        return self._names[file]

    def _passed(self, unit: Any) -> Iterator[tuple[str, tuple[int, int]]]:
        """The header and the lines of each text that was passed over."""
        lib = self._lib
        ranges = lib.getAllSkippedRanges(unit)
        try:
            for number in range(ranges.contents.count):
                file, begin, _ = lib.place(lib.getRangeStart(ranges.contents.ranges[number]))
                _, end, _ = lib.place(lib.getRangeEnd(ranges.contents.ranges[number]))
                if file is not None and (name := self._name(file)) is not None:
                    self._files[name] = file
                    yield name, (begin, end)
        finally:
            lib.disposeSourceRangeList(ranges)


def _blank(match: re.Match[bytes]) -> bytes:
    """A comment without its text; what is no comment as it is."""
    found = match[0]
    return found if found[:1] != b"/" else b" " + b"\n" * found.count(b"\n")


def _declares(first: ReadUnit, second: ReadUnit, file: str) -> bool:
    """Whether the text that only one of them passed over holds more than directives."""
    for own, other in ((first, second), (second, first)):
        for each, lines in own.passed - other.passed:
            text = _DIRECTIVES.sub(b"", own.lines(file, *lines)) if each == file else b""
            if not _QUIET.fullmatch(spelled(text)):
                return True
    return False


def _differing(first: Mapping[str, bytes], second: Mapping[str, bytes]) -> frozenset[str]:
    """The macros that differ, by themselves or by others that they name; those that make no difference are left out."""
    apart = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    found = {name for name in apart if not (_is_quiet(name, first) and _is_quiet(name, second))}
    fresh = set(found)
    words = (
        {name: {each.decode() for each in _WORD.findall(text)} - {name} for name, text in {**first, **second}.items()}
        if fresh
        else {}
    )
    while fresh:
        fresh = {name for name, used in words.items() if name not in found and not used.isdisjoint(fresh)}
        found |= fresh
    return frozenset(found)


def _is_quiet(name: str, macros: Mapping[str, bytes]) -> bool:
    return name not in macros or _QUIET.fullmatch(spelled(macros[name][len(name) :])) is not None
