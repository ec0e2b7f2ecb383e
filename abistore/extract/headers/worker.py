"""From options to what headers declare, in the process that may be killed at any time.

What headers show programs that are built in another mode than the one in which all of them are read.

A mode is read only where a condition of the headers asks for it: ``NDEBUG``, the other language, optimisation. So is a
header by itself, where it asks for a macro that other headers define and that it does not include.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from abistore.errors import HeaderError
from abistore.extract.header_options import HeaderOptions, HeaderReading, HeaderRequest, Language
from abistore.extract.headers import clang
from abistore.extract.headers.clang import standard_includes
from abistore.extract.headers.conditions import Asked, asked, names_in
from abistore.extract.headers.cursors import Includes, behind, include_graph, inclusions, libclang
from abistore.extract.headers.declared_files import defined_in_both, is_linked, linking_files, unasked
from abistore.extract.headers.given import (
    STANDARDS,
    CommonFlags,
    GivenHeaders,
    Invocation,
    Reading,
    find_headers,
    include_folders,
    read_compile_commands,
    readings,
)
from abistore.extract.headers.instantiate import behind as behind_of_behind
from abistore.extract.headers.instantiate import with_abilities, with_instances, with_refused
from abistore.extract.headers.parsing import (
    HeaderParser,
    HeaderUnit,
    ParsedHeaders,
    edited_headers,
    memory,
    with_declarations,
)
from abistore.extract.headers.texts import MOST_TEXT, ReadTexts, check_listed, listed_folders, widened
from abistore.extract.headers.toolchain import (
    StandardHeadersMissing,
    hint_of,
    lacking,
    once_each,
    toolchain,
    with_missing_macros,
)
from abistore.extract.headers.walk import Walked, declarations, occupied
from abistore.extract.headers.written_text import ReadUnit, touched, unread_words
from abistore.files import status
from abistore.model.declarations import Declared, Name, blake2b, by_name
from abistore.model.names.spelling import spell
from abistore.model.names.symbols import c_name, is_mangled
from abistore.model.shapes import AnyShape, Enum, Function, HeadersMode, ModeEntry, Record
from abistore.model.snapshot import (
    BODIES_UNREAD,
    LATER_FACTS,
    STANDARD_HEADERS_MISSING,
    Evidence,
    HeaderDigest,
    HeaderOutline,
    HeadersRead,
    Location,
    Variants,
    with_inline,
)
from abistore.model.structure import weakened
from abistore.model.words import counted


def outlines(
    parser: HeaderParser, parsed: ParsedHeaders, walked: Walked
) -> tuple[tuple[HeaderOutline, ...], tuple[HeaderDigest, ...]]:
    """The outlines of the given headers, but of those without any fact, and the texts of all own headers."""
    texts = {each.name: _text(parser, each.path) for each in parser.given.headers}
    graph = include_graph([each.unit for each in parsed.units], parser.canonical)
    includes = inclusions(graph, parser.given.name, texts)
    linked = _linked(walked)
    names = sorted(name for name in texts if name in includes or linked[name])
    found = tuple(HeaderOutline(name, includes.get(name, ()), linked[name]) for name in names)
    return found, _texts(parser, graph, texts)


def _texts(parser: HeaderParser, graph: Includes, texts: dict[str, str]) -> tuple[HeaderDigest, ...]:
    """The texts that are known whole."""
    given = {str(each.path): each.name for each in parser.given.headers}
    private = {path: behind(path, graph, given, parser.surrounds) for path in given}
    named = {path: name for path in frozenset[str]().union(*private.values()) if (name := parser.given.inside(path))}
    known = {**texts, **{name: _text(parser, Path(path)) for path, name in named.items()}}
    reached = {
        given[path]: tuple(sorted(named[each] for each in own if each in named)) for path, own in private.items()
    }
    return tuple(
        HeaderDigest(name, _digest(text), reached.get(name, ()))
        for name, text in sorted(known.items())
        if 0 < len(text) < MOST_TEXT
    )


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()


def _text(parser: HeaderParser, path: Path) -> str:
    edited = parser.invocation.edited.get(str(path))
    return edited if edited is not None else parser.texts.beginning_if_readable(path)


def _linked(walked: Walked) -> Counter[str]:
    """How many functions and variables each header declares that no macro or constant is."""
    return Counter(
        walked.locations[name].file
        for name, shapes in walked.entries.items()
        if name.kind in ("function", "variable") and name in walked.locations and _is_linked_outline(shapes)
    )


def _is_linked_outline(shapes: Variants) -> bool:
    declared = [each.traits for each in shapes if isinstance(each, Declared)]
    return bool(declared) and not any({"constant", "macro"}.intersection(traits) for traits in declared)


ALONE: Final = "header alone"
OTHER: Final[Mapping[Language, tuple[Language, str]]] = {"c": ("c++", "C++"), "c++": ("c", "C")}
"""The other language, and what its mode is called."""

MOST_ALONE: Final = 4
"""How many headers are read one by one, where they do not parse in one text."""


class _Switch(NamedTuple):
    """A mode that macros tell; the first of them is defined where ordinary programs ask for it by ``arguments``."""

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
    """What headers show in one mode, where, in which of them alone, and the first error that only this mode has."""

    entries: Mapping[Name, Variants]
    locations: Mapping[Name, Location]
    files: frozenset[str]
    failure: str


class _Only(NamedTuple):
    """Some headers as if no others were public; all without ``files``."""

    parser: HeaderParser
    files: frozenset[str] | None

    def public(self, path: str, /) -> str | None:
        """What a file is called that is one of them."""
        name = self.parser.public(path)
        return name if self.files is None or name in self.files else None

    def beside(self, path: str, /, *, system: bool) -> str | None:
        """What a file is called that lies beside one of them."""
        return self.parser.beside(path, system=system)

    def surrounds(self, path: str, /) -> bool:
        """Whether a file lies in a folder of the library's headers."""
        return self.parser.surrounds(path)

    def lent(self, path: str, /) -> bool:
        """Whether a file belongs to another project."""
        return self.parser.lent(path)

    def any(self, path: str) -> str | None:
        """What a file is called that is the library's."""
        return self.public(path) or self.beside(path, system=True)


class HeaderModes:
    """Reads headers again, mode by mode, and compares what they declare with the reading of all."""

    def __init__(self, parser: HeaderParser, parsed: ParsedHeaders, walked: Walked, *, runtime: bool) -> None:
        self._parser = parser
        self._parsed = parsed
        self._walked = walked
        self._runtime = runtime
        self._named = _Only(parser, None).any
        self._read_unit = lru_cache(None)(lambda number: ReadUnit(parsed.units[number].unit, self._named))

    def read(self, asked: Asked) -> tuple[HeadersMode, ...]:
        """The modes in which programs see something else, by their names."""
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
        """What programs of the other language see. Headers that only C++ reads have no other one."""
        own = self._parsed.reading.language
        readable = own == "c" or any(each.language == "c" for each in self._parser.readings)
        if "__cplusplus" in macros and readable:
            language, name = OTHER[own]
            seen = self._seen(Reading(language, STANDARDS[language][0]), ())
            yield HeadersMode(name, tuple(self._differing(seen, same_language=False)), seen.failure)

    def _alone(self, borrowed: Mapping[str, frozenset[str]]) -> Iterator[HeadersMode]:
        """What programs see that include a header without those others whose macros it asks for."""
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
        """What a unit declares in the headers that may declare something else than in the ``main`` one."""
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
    """The shapes that a mode shows, with what the text of all says."""
    told = [each for each in own if isinstance(each, Declared)]
    before = [each for each in own if not isinstance(each, Declared)]
    after: list[AnyShape] = [each for each in other if not isinstance(each, Declared)]
    if before == after or not before or not after:
        return own
    if not same_language and len(after) == len(before):
        after = [_as_written(*pair) for pair in zip(before, after, strict=True)]
    return own if after == before else (*told, *after)


def _as_written(own: AnyShape, other: AnyShape) -> AnyShape:
    """A shape of one language with what the headers write differently for the other one: members, values, parameters.

    What the languages make different by themselves stays: an empty struct, and ``wchar_t``, a typedef in C alone.
    """
    match own, other:
        case Record(), Record() if own.fields and other.fields and _laid(own) != _laid(other):
            return replace(own, size=other.size, alignment=other.alignment, packed=other.packed, fields=other.fields)
        case Enum(), Enum():
            return replace(own, enumerators=other.enumerators)
        case Function(), Function() if own.prototyped and _called(own) != _called(other):
            return replace(own, result=other.result, parameters=other.parameters, variadic=other.variadic)
    return own


def _laid(record: Record) -> tuple[object, ...]:
    fields = tuple((each.name, each.offset, each.bit_size, spell(each.type)) for each in record.fields)
    return record.size, record.alignment, record.packed, fields


def _called(function: Function) -> tuple[object, ...]:
    return spell(function.result), tuple(map(spell, function.parameters)), function.variadic


def _joined_modes(seen: Sequence[_Seen]) -> _Seen:
    """What several units show; the first one counts."""
    entries: dict[Name, Variants] = {}
    locations: dict[Name, Location] = {}
    for each in reversed(seen):
        entries.update(each.entries)
        locations.update(each.locations)
    return _Seen(entries, locations, frozenset().union(*(each.files for each in seen)), "")


def _refusal(unit: HeaderUnit, parser: HeaderParser) -> str:
    """What a header says with ``#error`` that is included without the others."""
    for error in clang.errors(unit.unit):
        if clang.is_refusal(error) and (name := parser.public(error.file)):
            return f"{name}:{error.line}: {error.message}"
    return ""


_ABOUT_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter", "--sysroot", "-isysroot", "-resource-dir")

_INCLUDED = re.compile(r'#\s*include\s*[<"]([^>"]+)[>"]')

MOST_TOLD = 3
"""How many faults the evidence tells."""


def work(request: HeaderRequest) -> HeaderReading:
    """What the headers declare, all at one moment. Raises :class:`HeaderError`, for what is changed meanwhile too."""
    options, texts = request.options, ReadTexts()
    for folder in (*options.include_dirs, *options.named_dirs, *filter(None, [options.sysroot])):
        _check_folder(folder)
    given = find_headers(options)
    try:
        return _read_from(given, request, texts)
    except StandardHeadersMissing as error:
        return _unread_for_want_of(error, given)
    finally:
        texts.check([*(folder.path for folder in given.folders), *options.include_dirs, *options.named_dirs])
        check_listed(given, find_headers(options))


def _unread_for_want_of(error: StandardHeadersMissing, given: GivenHeaders) -> HeaderReading:
    """Nothing is known of the headers, which is no error: what the library's file tells is compared."""
    count = len(given.headers)
    reason = STANDARD_HEADERS_MISSING
    return HeaderReading((), (), Evidence("source", "missing", reason, error.message, error.hint, expected=count))


def _read_from(given: GivenHeaders, request: HeaderRequest, texts: ReadTexts) -> HeaderReading:
    flags = _flags(request.options, given)
    parser, parsed = _parsed(request, edited_headers(given, request.edits.files), flags, texts)
    if request.edits.declarations:
        files = with_declarations(parser, parsed, request.edits)
        edited = replace(request, edits=replace(request.edits, files=files))
        parser, parsed = _parsed(edited, edited_headers(given, files), flags, texts)
    _widen_early(parser, parsed)
    walks = _walked(parser, parsed, runtime=request.runtime)
    if parser.widen(_with_included(parser, parsed, _declaring(walks), lambda: _linking(parser, parsed))):
        walks = _walked(parser, parsed, runtime=request.runtime)
    walked = _joined(
        [
            _asked(parser, parsed.reading, unit, each, runtime=request.runtime)
            for unit, each in zip(parsed.units, walks, strict=True)
        ]
    )
    given = parser.given
    if not any(map(_declares, walked.entries.values())):
        raise _nothing_declared(given, parsed)
    unread = None if walked.refused else _unread(parser, parsed)
    evidence = _evidence(parser, parsed, bodies_only=unread is not None)
    return HeaderReading(
        tuple(sorted(walked.entries.items(), key=by_name)),
        tuple(sorted(walked.locations.items(), key=by_name)),
        weakened(with_inline(evidence, walked.inline_namespaces), walked.refused),
        _read(parser, parsed, unread or (), walked, runtime=request.runtime),
    )


def _asked(parser: HeaderParser, reading: Reading, unit: HeaderUnit, walked: Walked, *, runtime: bool) -> Walked:
    """What a unit declares, with what the compiler tells where it is asked in texts of ours."""
    with behind_of_behind(parser, reading, unit) as unit_behind:
        walked = with_refused(unit_behind, walked)
        if reading.language != "c++":
            return walked
        walked = with_instances(unit_behind, walked, runtime=runtime)
        return with_abilities(unit_behind, walked, runtime=runtime)


def _parsed(
    request: HeaderRequest, given: GivenHeaders, flags: CommonFlags, read: ReadTexts
) -> tuple[HeaderParser, ParsedHeaders]:
    """The headers as they are with some of them edited."""
    options, files = request.options, request.edits.files
    edited = {each.path: each.text for each in files}
    texts = [edited.get(header.path) or read.beginning(header.path) for header in given.headers]
    tools = toolchain(options, request.target, clang.major_version())
    libclang().underscored = "-apple-" in tools.triple
    folders = include_folders(given, texts)
    starts = {header.path: text for header, text in zip(given.headers, texts, strict=True)}
    standard = standard_includes(starts, [*folders.first, *options.include_dirs], read.beginning_if_readable)
    invocation = Invocation(tools, options, flags, folders, memory(files), standard)
    named = [(header.name, text) for header, text in zip(given.headers, texts, strict=True)]
    parser = HeaderParser(given, invocation, read)
    return parser, parser.parse(readings(options, flags.standards, named, cpp_exports=request.cpp_exports))


def _check_folder(folder: Path) -> None:
    """Raise :class:`HeaderError` where a folder is not there: what it should have held would be missing."""
    try:
        status(folder / ".")
    except OSError as error:
        raise HeaderError(f"{folder}: no folder that can be read: {error.strerror}", "check the path") from None


def _flags(options: HeaderOptions, given: GivenHeaders) -> CommonFlags:
    if options.compile_commands is None:
        return CommonFlags()
    return read_compile_commands(options.compile_commands, (folder.path for folder in given.folders))


def _walked(parser: HeaderParser, parsed: ParsedHeaders, *, runtime: bool) -> list[Walked]:
    """What each unit declares."""
    cpp = parsed.reading.language == "c++"
    return [declarations(each.unit, parser, cpp=cpp, runtime=runtime) for each in parsed.units]


def _joined(walks: Sequence[Walked]) -> Walked:
    """What all units declare; of a name in several, what the unit says for which it is public."""
    entries: dict[Name, Variants] = {}
    locations: dict[Name, Location] = {}
    for walked in walks:
        for name, shapes in walked.entries.items():
            if name not in entries or (_is_declared(shapes) and not _is_declared(entries[name])):
                entries[name] = shapes
                if place := walked.locations.get(name):
                    locations[name] = place
            elif _is_declared(shapes):
                entries[name] = tuple([defined_in_both(each, shapes) for each in entries[name]])
    inline = frozenset[str]().union(*(each.inline_namespaces for each in walks))
    unmade = {name: why for each in walks for name, why in each.unmade.items() if name not in entries}
    lent = frozenset[Name]().union(*(each.lent for each in walks))
    return Walked(entries, locations, sum(each.refused for each in walks), inline, unmade=unmade, lent=lent)


def _widen_early(parser: HeaderParser, parsed: ParsedHeaders) -> None:
    """Take for public what headers include in which nothing else stands, so that it is walked once."""
    if any(folder.files for folder in parser.given.folders):
        standing = [occupied(each.unit, parser) for each in parsed.units]
        parser.widen(_with_included(parser, parsed, dict.fromkeys(frozenset().union(*standing), True)))


def _with_included(
    parser: HeaderParser,
    parsed: ParsedHeaders,
    declaring: Mapping[str, bool],
    linking: Callable[[], Set[str]] = frozenset,
) -> GivenHeaders:
    real = parser.canonical
    included = [(real(each.file), real(each.by)) for unit in parsed.units for each in unit.files]
    return widened(parser.given, declaring, included, linking, parser.texts.beginning_if_readable)


def _declaring(walks: Iterable[Walked]) -> Mapping[str, bool]:
    """The headers that declare anything but macros without a value, each with whether it has what programs link to."""
    found: dict[str, bool] = {}
    for each in walks:
        for name, place in each.locations.items():
            shapes = each.entries.get(name, ())
            if name.kind != "variable" or _declares(shapes):
                found[place.file] = found.get(place.file, False) or is_linked(name, shapes)
    return found


def _linking(parser: HeaderParser, parsed: ParsedHeaders) -> frozenset[str]:
    """The files that declare what programs link to, without links."""
    return frozenset(parser.canonical(file) for each in parsed.units for file in linking_files(each.unit))


def _declares(shapes: Variants) -> bool:
    """Whether more is declared than a macro that stands for no value."""
    return any(isinstance(shape, Declared) and shape.replacement is None for shape in shapes)


def _is_declared(shapes: Variants) -> bool:
    return any(isinstance(shape, Declared) for shape in shapes)


def _nothing_declared(given: GivenHeaders, parsed: ParsedHeaders) -> HeaderError:
    every = dict.fromkeys([*parsed.faults, *(fault for faults in parsed.set_aside.values() for fault in faults)])
    first = once_each(every)[:MOST_TOLD]
    said = "".join(f"; {fault.said}" for fault in first)
    hint = hint_of(first) if first else "name the headers that programs include, or what they need with --define"
    return HeaderError(
        f"{_counted(given)} declare{'s' * (len(given.headers) == 1)} nothing{said}", hint, lacking(every)
    )


def _counted(given: GivenHeaders) -> str:
    return f"the header {given.headers[0].name}" if len(given.headers) == 1 else f"the {len(given.headers)} headers"


def _unread(parser: HeaderParser, parsed: ParsedHeaders) -> frozenset[str] | None:
    """What bodies with errors may use; ``None`` where declarations may be missing as well.

    Only of C: what is called in C++ need not be named, such as a conversion or a destructor.
    """
    if parsed.set_aside or parsed.reading.language != "c":
        return None
    words = frozenset[str]()
    for each in parsed.units:
        if each.faults:
            found = unread_words(each.unit, clang.errors(each.unit))
            if found is None or not parser.errs_in_bodies(parsed.reading, each):
                return None
            words |= found
    return words


def _evidence(parser: HeaderParser, parsed: ParsedHeaders, *, bodies_only: bool) -> Evidence:
    """How much of the headers was read; ``bodies_only`` where errors stand in bodies of functions alone."""
    expected, aside = len(parser.given.headers), parsed.set_aside
    described = expected - len(parsed.bad | set(aside))
    if not aside and not parsed.faults:
        return Evidence("source", "full", source="headers", described=described, expected=expected)
    if aside:
        reason = "headers-set-aside"
        count = len(aside)
        told = once_each(faults[0] for faults in aside.values())
        first = f"{counted(count, 'header does not parse and is', 'headers do not parse and are')} left out: "
    else:
        reason, count = BODIES_UNREAD if bodies_only else "header-errors", len(dict.fromkeys(parsed.faults))
        told = once_each(parsed.faults)
        first = f"{counted(count, 'error')} in {'bodies of functions' if bodies_only else 'what was parsed'}: "
    more = f" and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    detail = first + "; ".join(fault.said for fault in told[:MOST_TOLD]) + more
    hint = parser.hint_of([*told[:MOST_TOLD], *with_missing_macros(aside)], hide=sorted(aside)[:MOST_TOLD])
    evidence = Evidence("source", "partial", reason, detail, hint, "headers", described, expected)
    names = lacking([*parsed.faults, *(fault for faults in aside.values() for fault in faults)])
    return replace(evidence, lacks=names) if names else evidence


def _read(
    parser: HeaderParser, parsed: ParsedHeaders, unread: Collection[str], walked: Walked, *, runtime: bool
) -> HeadersRead:
    given, invocation = parser.given, parser.invocation
    options = invocation.options
    asks = asked(
        [each.unit for each in parsed.units],
        lambda path: parser.public(path) or parser.beside(path, system=True),
        parser.public,
        invocation.arguments(parsed.reading),
    )
    macros = [*(macro[2:] for macro in invocation.flags.macros if macro.startswith("-D")), *options.defines]
    own, readable = _own_files(parser, parsed), parser.texts.beginning_if_readable
    behind = (names_in(readable(path)) for path in _files_behind(parser, parsed, own))
    outlined, texts = outlines(parser, parsed, walked)
    return HeadersRead(
        files=tuple(header.name for header in given.headers),
        given=given.arguments,
        set_aside=tuple(sorted(parsed.set_aside)),
        options=(
            *_spelled("--define", macros),
            *_spelled("--private-header", options.private),
            *_spelled("--clang-target", [options.target] if options.target else []),
            *_spelled("--clang-arg", filter(None, map(_without_folders, options.clang_args))),
            f"--std {parsed.reading.standard}",
        ),
        language=parsed.reading.language,
        reader=f"libclang {clang.version()}",
        unasked=tuple(_spelled("--define", unasked(macros, map(readable, own if macros else ())))),
        facts=LATER_FACTS,
        conditions=asks.conditions,
        unread=tuple(sorted(unread)),
        unmade=tuple(sorted((name.spelling, why) for name, why in walked.unmade.items())),
        outlines=outlined,
        texts=texts,
        folders=listed_folders(given),
        untaken=asks.untaken,
        compilers=asks.compilers,
        modes=HeaderModes(parser, parsed, walked, runtime=runtime).read(asks),
        serves=_served(map(readable, own)) if parsed.reading.language == "c" else (),
        behind=tuple(sorted(set[str]().union(*behind))),
        aside=_words_aside(parser, parsed, own),
        lent=tuple(sorted(walked.lent & walked.entries.keys())),
    )


def _served(texts: Iterable[str]) -> tuple[str, ...]:
    """The languages of the programs that headers of C are written for: C++ too where one of them tells it apart."""
    return ("c", "c++") if any("__cplusplus" in text for text in texts) else ("c",)


def _included(parser: HeaderParser, parsed: ParsedHeaders) -> set[str]:
    """The files that headers include, without links."""
    return {parser.canonical(file) for file in {each.file for unit in parsed.units for each in unit.files}}


def _own_files(parser: HeaderParser, parsed: ParsedHeaders) -> list[Path]:
    """The headers that were given, and what they include that is not of the system."""
    folders = tuple(f"{os.path.realpath(folder)}{os.sep}" for folder in parser.invocation.searched)
    own = (Path(each) for each in _included(parser, parsed) if each.startswith(folders))
    return sorted({*(header.path for header in parser.given.headers), *own})


def _files_behind(parser: HeaderParser, parsed: ParsedHeaders, own: Iterable[Path]) -> list[Path]:
    """The files that given headers include and that were not given, in their folders or among the ``own`` ones.

    A folder of the system holds headers of others too, of which only the names are known.
    """
    given = {header.path for header in parser.given.headers}
    folders = {path.parent for path in given}
    included = {Path(each) for each in _included(parser, parsed)}
    beside = (path for path in included if path.parent in folders or parser.surrounds(str(path)))
    return sorted({*own, *beside} - given)


def _words_aside(parser: HeaderParser, parsed: ParsedHeaders, own: Iterable[Path]) -> tuple[str, ...] | None:
    """The words of the headers that did not parse; ``None`` where they may declare what they do not spell.

    So it is where a macro pastes names, where they bring along a header that was not read, or others have errors.
    """
    aside = [each.path for each in parser.given.headers if each.name in parsed.set_aside] if parsed.set_aside else []
    if not aside or parsed.faults:
        return None
    readable, given = parser.texts.beginning_if_readable, {each.path for each in parser.given.headers}
    texts = [readable(path) for path in aside]
    brought = (path.parent / name for path, text in zip(aside, texts, strict=True) for name in _INCLUDED.findall(text))
    if any(path.exists() and path.resolve() not in given for path in brought):
        return None
    spelled = not any("##" in text for text in (*texts, *map(readable, own))) and not any(
        "asm" in each for each in texts
    )
    if not spelled or any(len(each) >= MOST_TEXT for each in texts):
        return None
    return tuple(sorted(set[str]().union(*map(names_in, texts))))


def _without_folders(argument: str) -> str:
    """An argument for clang without the folders of the machine; empty where it is about folders only."""
    if argument.startswith(_ABOUT_FOLDERS):
        return ""
    before, slash, _ = argument.partition("/")
    return before + argument.rpartition("/")[2] if slash else argument


def _spelled(option: str, values: Iterable[str]) -> list[str]:
    return [f"{option} {value}" for value in sorted(set(values))]
