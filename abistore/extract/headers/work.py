"""From options to what headers declare, in the process that may be ended at any time."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from pathlib import Path

from msgspec.structs import replace

from abistore.confinement import status
from abistore.errors import HeaderError
from abistore.extract.headers import clang
from abistore.extract.headers.compile_commands import CommonFlags, read_compile_commands
from abistore.extract.headers.edits.editing import edited_headers, memory, with_declarations
from abistore.extract.headers.faults import hint_of, lacking, once_each, with_missing_macros
from abistore.extract.headers.foreign_system import StandardHeadersMissing
from abistore.extract.headers.given import GivenHeaders, find_headers
from abistore.extract.headers.language import Reading, readings
from abistore.extract.headers.made.behind import behind
from abistore.extract.headers.made.instances import with_instances
from abistore.extract.headers.made.probe import with_abilities
from abistore.extract.headers.made.refused import with_refused
from abistore.extract.headers.messages import HeaderReading, HeaderRequest
from abistore.extract.headers.modes import HeaderModes
from abistore.extract.headers.options import HeaderOptions
from abistore.extract.headers.outlines import outlines
from abistore.extract.headers.parsing import HeaderParser, HeaderUnit, ParsedHeaders
from abistore.extract.headers.standard.asked import standard_includes
from abistore.extract.headers.texts.included import widened
from abistore.extract.headers.texts.listed import listed_folders
from abistore.extract.headers.texts.unchanged import MOST_TEXT, ReadTexts, check_listed
from abistore.extract.headers.toolchain import toolchain
from abistore.extract.headers.umbrella import Invocation, include_folders
from abistore.extract.headers.walk.asked import unasked
from abistore.extract.headers.walk.clang.cursors import libclang
from abistore.extract.headers.walk.collected import defined_in_both
from abistore.extract.headers.walk.declared import Walked, declarations, occupied
from abistore.extract.headers.walk.linked import is_linked, linking_files
from abistore.extract.headers.walk.written.conditions import asked, names_in
from abistore.extract.headers.walk.written.unread import unread_words
from abistore.model.budget import weakened
from abistore.model.declared import Declared
from abistore.model.names import Name, by_name
from abistore.model.snapshot import (
    BODIES_UNREAD,
    LATER_FACTS,
    STANDARD_HEADERS_MISSING,
    Evidence,
    HeadersRead,
    Location,
    Variants,
    with_inline,
)
from abistore.model.words.counting import counted

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
    with behind(parser, reading, unit) as unit_behind:
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
    return Walked(entries, locations, sum(each.refused for each in walks), inline, unmade=unmade)


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
