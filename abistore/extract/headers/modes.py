"""What programs see that are built in another mode than the one in which all headers are read.

A mode is read only where a condition of the headers asks for it: ``NDEBUG``, the other language, optimisation. So is a
header by itself, where it asks for a macro that other headers define and that it does not include.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from abistore.extract.headers import clang, cursors
from abistore.extract.headers.conditions import APART, Asked
from abistore.extract.headers.cursors import Cursor, libclang
from abistore.extract.headers.invocation import STANDARDS, Reading
from abistore.extract.headers.parsing import HeaderParser, HeaderUnit, ParsedHeaders
from abistore.extract.headers.tokens import SourceText, spelled
from abistore.extract.headers.walk import Walked, declarations
from abistore.extract.reader import Language
from abistore.model.declarations import Declared, Name
from abistore.model.names.spelling import spell
from abistore.model.names.symbols import c_name, is_mangled
from abistore.model.shapes import AnyShape, Enum, Function, HeadersMode, ModeEntry, Record
from abistore.model.snapshot import Location, Variants

Named = Callable[[str], str | None]
"""What a file is called that is the library's; ``None`` for any other."""

_QUIET: Final = re.compile(
    r'(?:\s|extern|"C"|[{}]|noexcept|throw ?\( ?\)|inline|__inline(?:__)?|static|nullptr|NULL|\( ?\( ?void ?\) ?0 ?\))*'
)
"""What makes no other declaration, as ``extern "C" {`` for C++ and nothing for C."""

_TOUCHED_DIRECTIVES: Final = re.compile(rb"^[ \t]*(?:\#|%:)(?![ \t]*pragma\b)(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
"""What declares nothing by itself; a pragma may pack what follows."""

_TOUCHED_WORD: Final = re.compile(rb"[A-Za-z_]\w*")


def touched(first: ReadUnit, second: ReadUnit) -> frozenset[str]:
    """The headers whose declarations may differ between two units."""
    apart = {file for file, _ in first.passed ^ second.passed}
    found = {file for file in apart if _declares_nothing_else(first, second, file)}
    differing = _differing(first.macros, second.macros)
    return frozenset({*found, *first.using(differing), *second.using(differing)})


class ReadUnit:
    """The skipped text and the macros of the library's headers in one unit."""

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
            if each.kind == cursors.MACRO and self._file(each) is not None
        }

    def using(self, macros: Collection[str]) -> Iterator[str]:
        """The headers that use some of these macros."""
        for each in self._top if macros else ():
            if each.kind == cursors.EXPANSION and (file := self._file(each)) and self._lib.spelling(each) in macros:
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


def _declares_nothing_else(first: ReadUnit, second: ReadUnit, file: str) -> bool:
    """Whether text that only one of two units skipped holds more than directives."""
    for own, other in ((first, second), (second, first)):
        for each, lines in own.passed - other.passed:
            text = _TOUCHED_DIRECTIVES.sub(b"", own.lines(file, *lines)) if each == file else b""
            if not _QUIET.fullmatch(spelled(text)):
                return True
    return False


def _differing(first: Mapping[str, bytes], second: Mapping[str, bytes]) -> frozenset[str]:
    apart = {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}
    found = {name for name in apart if not (_is_quiet(name, first) and _is_quiet(name, second))}
    fresh = set(found)
    words = (
        {
            name: {each.decode() for each in _TOUCHED_WORD.findall(text)} - {name}
            for name, text in {**first, **second}.items()
        }
        if fresh
        else {}
    )
    while fresh:
        fresh = {name for name, used in words.items() if name not in found and not used.isdisjoint(fresh)}
        found |= fresh
    return frozenset(found)


def _is_quiet(name: str, macros: Mapping[str, bytes]) -> bool:
    return name not in macros or _QUIET.fullmatch(spelled(macros[name][len(name) :])) is not None


ALONE: Final = "header alone"
OTHER: Final[Mapping[Language, tuple[Language, str]]] = {"c": ("c++", "C++"), "c++": ("c", "C")}
"""The other language, and what its mode is called."""

MOST_ALONE: Final = 4
"""How many headers are read one by one, where they do not parse in one text."""


class _Switch(NamedTuple):
    """A build mode; programs choose it with ``arguments``, and headers ask for its ``macros``."""

    name: str
    macros: frozenset[str]
    arguments: tuple[str, ...]


SWITCHES: Final = (
    _Switch("NDEBUG", frozenset({"NDEBUG"}), ("-DNDEBUG",)),
    _Switch("DEBUG", frozenset({"DEBUG", "_DEBUG"}), ("-DDEBUG", "-D_DEBUG")),
    _Switch("-O2", frozenset({"__OPTIMIZE__", "__NO_INLINE__"}), ("-O2",)),
    _Switch("_FORTIFY_SOURCE", frozenset({"_FORTIFY_SOURCE", "__USE_FORTIFY_LEVEL"}), ("-D_FORTIFY_SOURCE=2", "-O2")),
    _Switch("_GNU_SOURCE", frozenset({"_GNU_SOURCE", "__USE_GNU"}), ("-D_GNU_SOURCE",)),
    _Switch("_FILE_OFFSET_BITS", frozenset({"_FILE_OFFSET_BITS", "__USE_FILE_OFFSET64"}), ("-D_FILE_OFFSET_BITS=64",)),
    _Switch("-pthread", frozenset({"_REENTRANT"}), ("-pthread", "-D_REENTRANT")),
    _Switch("-fno-exceptions", frozenset({"__EXCEPTIONS", "__cpp_exceptions"}), ("-fno-exceptions",)),
    _Switch("-fno-rtti", frozenset({"__GXX_RTTI", "__cpp_rtti"}), ("-fno-rtti",)),
    _Switch("-funsigned-char", frozenset({"__CHAR_UNSIGNED__"}), ("-funsigned-char",)),
)
"""What ordinary programs differ in."""


class _Seen(NamedTuple):
    """Declarations and locations in one mode, the headers they are from, and the first error of this mode alone."""

    entries: Mapping[Name, Variants]
    locations: Mapping[Name, Location]
    files: frozenset[str]
    failure: str


class _Only(NamedTuple):
    """A subset of headers as if no others were public; all without ``files``."""

    parser: HeaderParser
    files: frozenset[str] | None

    def public(self, path: str, /) -> str | None:
        name = self.parser.public(path)
        return name if self.files is None or name in self.files else None

    def beside(self, path: str, /, *, system: bool) -> str | None:
        return self.parser.beside(path, system=system)

    def surrounds(self, path: str, /) -> bool:
        return self.parser.surrounds(path)

    def lent(self, path: str, /) -> bool:
        return self.parser.lent(path)

    def any(self, path: str) -> str | None:
        return self.public(path) or self.beside(path, system=True)


class HeaderModes:
    """Reads headers again in each mode, and compares the declarations with those of the main reading."""

    def __init__(self, parser: HeaderParser, parsed: ParsedHeaders, walked: Walked, *, runtime: bool) -> None:
        self._parser = parser
        self._parsed = parsed
        self._walked = walked
        self._runtime = runtime
        self._named = _Only(parser, None).any
        self._read_unit = lru_cache(None)(lambda number: ReadUnit(parsed.units[number].unit, self._named))

    def read(self, asked: Asked) -> tuple[HeadersMode, ...]:
        """The modes in which programs see other declarations, by name."""
        found = [*self._switched(asked.macros), *self._other_language(asked.macros), *self._alone(asked.borrowed)]
        return tuple(sorted((each for each in found if each.entries or each.failure), key=lambda each: each.name))

    def _switched(self, macros: frozenset[str]) -> Iterator[HeadersMode]:
        arguments = self._parser.invocation.arguments(self._parsed.reading)
        for switch in SWITCHES:
            if macros.isdisjoint(switch.macros):
                continue
            defined = [each for each in switch.macros if _is_defined(each, arguments)]
            extra = [f"-U{each}" for each in sorted(defined)] if defined else switch.arguments
            name = f"without {switch.name}" if defined else switch.name
            seen = self._seen(self._parsed.reading, tuple(extra))
            yield HeadersMode(name, tuple(self._differing(seen)), seen.failure)

    def _other_language(self, macros: frozenset[str]) -> Iterator[HeadersMode]:
        """Declarations in the other language, unless only C++ can read the headers."""
        own = self._parsed.reading.language
        readable = own == "c" or any(each.language == "c" for each in self._parser.readings)
        if "__cplusplus" in macros and readable:
            language, name = OTHER[own]
            seen = self._seen(Reading(language, STANDARDS[language][0]), ())
            yield HeadersMode(name, tuple(self._differing(seen, same_language=False)), seen.failure)

    def _alone(self, borrowed: Mapping[str, frozenset[str]]) -> Iterator[HeadersMode]:
        """Declarations for programs that include a header without the headers whose macros it asks for."""
        headers = [each for each in self._parser.given.headers if each.name in borrowed]
        if not headers:
            return
        reading, parser = self._parsed.reading, self._parser
        units = [parser.alone(reading, headers, borrowed)]
        if units[0].faulty and len(headers) > 1:
            units = [parser.alone(reading, [each], borrowed) for each in headers[:MOST_ALONE]]
        failure = next(filter(None, (_refusal(unit, parser) for unit in units)), "")
        whole = self._parsed.units[0]
        met = {parser.public(each.file) for each in whole.files}
        seen = [self._walk(reading, unit, whole, frozenset(each.name for each in unit.headers) & met) for unit in units]
        yield HeadersMode(ALONE, tuple(self._differing(_joined_modes(seen))), failure)

    def _seen(self, reading: Reading, extra: tuple[str, ...]) -> _Seen:
        invocation = replace(self._parser.invocation, mode=extra)
        parser = HeaderParser(self._parser.given, invocation, self._parser.texts)
        units = [parser.declared(reading, each) for each in self._parsed.units]
        known = {fault.said for each in self._parsed.units for fault in each.faults}
        errors = [fault.said for unit in units for fault in unit.faults if fault.own and fault.said not in known]
        if errors:
            return _Seen({}, {}, frozenset(), errors[0])
        pairs = zip(units, self._parsed.units, strict=True)
        return _joined_modes([self._walk(reading, unit, main) for unit, main in pairs])

    def _walk(self, reading: Reading, unit: HeaderUnit, main: HeaderUnit, among: frozenset[str] | None = None) -> _Seen:
        """Declarations of a unit in the headers that may differ from the ``main`` one."""
        if unit.faulty:
            return _Seen({}, {}, frozenset(), "")
        files = touched(self._read_unit(self._parsed.units.index(main)), ReadUnit(unit.unit, self._named))
        files = files if among is None else files & among
        if not files:
            return _Seen({}, {}, files, "")
        walked = declarations(
            unit.unit, _Only(self._parser, files), cpp=reading.language == "c++", runtime=self._runtime
        )
        return _Seen(walked.entries, walked.locations, files, "")

    def _differing(self, seen: _Seen, *, same_language: bool = True) -> Iterator[ModeEntry]:
        """The declarations that a mode shows otherwise than the reading of all; none that was not read.

        In another language functions may have other linker names.
        """
        main = self._walked.entries
        for name in sorted({*main, *seen.entries}) if seen.files else ():
            own, other = main.get(name, ()), seen.entries.get(name, ())
            place = self._walked.locations.get(name)
            if own and not other:
                there = place is not None and place.file in seen.files
                if there and _is_linked(own) and (same_language or not _has_other_linkage(name, seen.entries)):
                    yield ModeEntry(name.kind, name.spelling)
            elif not own:
                if same_language and _is_linked(other):
                    yield ModeEntry(name.kind, name.spelling, other)
            elif (shown := _shown(own, other, same_language=same_language)) != own:
                yield ModeEntry(name.kind, name.spelling, shown)


def _is_defined(macro: str, arguments: Sequence[str]) -> bool:
    return any(each == f"-D{macro}" or each.startswith(f"-D{macro}=") for each in arguments)


def _is_linked(shapes: Variants) -> bool:
    """Whether a public declaration is more than text: no macro, constant or template."""
    return any(isinstance(each, Declared) for each in shapes) and not all(isinstance(each, Declared) for each in shapes)


def _has_other_linkage(name: Name, entries: Mapping[Name, Variants]) -> bool:
    """Whether a function of C is one of C++ in the other language, by a mangled name."""
    return any(is_mangled(each.spelling) and c_name(each.spelling) == name.spelling for each in entries)


def _shown(own: Variants, other: Variants, *, same_language: bool) -> Variants:
    told = [each for each in own if isinstance(each, Declared)]
    before = [each for each in own if not isinstance(each, Declared)]
    after: list[AnyShape] = [each for each in other if not isinstance(each, Declared)]
    if before == after or not before or not after:
        return own
    if not same_language and len(after) == len(before):
        after = [_as_written(*pair) for pair in zip(before, after, strict=True)]
    return own if after == before else (*told, *after)


def _as_written(own: AnyShape, other: AnyShape) -> AnyShape:
    """A shape with what the headers write differently for the other language: members, values, parameters.

    Differences of the languages themselves are ignored: an empty struct, and ``wchar_t``, a typedef in C alone.
    """
    match own, other:
        case Record(), Record() if own.fields and other.fields and _laid(own) != _laid(other):
            return replace(own, size=other.size, alignment=other.alignment, packed=other.packed, fields=other.fields)
        case Enum(), Enum():
            return replace(own, enumerators=other.enumerators)
        case Function(), Function() if own.prototyped and _signature(own) != _signature(other):
            return replace(own, result=other.result, parameters=other.parameters, variadic=other.variadic)
    return own


def _laid(record: Record) -> tuple[object, ...]:
    fields = tuple((each.name, each.offset, each.bit_size, spell(each.type)) for each in record.fields)
    return record.size, record.alignment, record.packed, fields


def _signature(function: Function) -> tuple[object, ...]:
    return spell(function.result), tuple(map(spell, function.parameters)), function.variadic


def _joined_modes(seen: Sequence[_Seen]) -> _Seen:
    """The declarations of several units; the first one wins."""
    entries: dict[Name, Variants] = {}
    locations: dict[Name, Location] = {}
    for each in reversed(seen):
        entries.update(each.entries)
        locations.update(each.locations)
    return _Seen(entries, locations, frozenset().union(*(each.files for each in seen)), "")


def _refusal(unit: HeaderUnit, parser: HeaderParser) -> str:
    """The ``#error`` of a header that is included without the others."""
    for error in clang.errors(unit.unit):
        if clang.is_refusal(error) and (name := parser.public(error.file)):
            return f"{name}:{error.line}: {error.message}"
    return ""
