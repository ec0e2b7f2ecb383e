"""How much of the headers was read, and what else is recorded of them: options, conditions, outlines, modes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

from msgspec.structs import replace

from abistore.errors import HeaderError
from abistore.extract.headers import clang
from abistore.extract.headers.conditions import asked, names_in, refusing, unasked
from abistore.extract.headers.faults import hint_of, lacking, once_each, unread_words, with_missing_macros
from abistore.extract.headers.given import GivenHeaders, listed_folders
from abistore.extract.headers.modes import HeaderModes
from abistore.extract.headers.parsing import HeaderParser, ParsedHeaders
from abistore.extract.headers.texts import MOST_TEXT, Includes, files_behind, include_graph, inclusions
from abistore.extract.headers.toolchain import StandardHeadersMissing
from abistore.extract.headers.unparsed import spelled_words
from abistore.extract.headers.walk import Walked
from abistore.extract.reader import HeaderReading
from abistore.extract.types import with_inline
from abistore.model.declarations import Declared, blake2b, by_name
from abistore.model.snapshot import (
    BODIES_UNREAD,
    LATER_FACTS,
    STANDARD_HEADERS_MISSING,
    Evidence,
    HeaderDigest,
    HeaderOutline,
    HeadersRead,
    Variants,
)
from abistore.model.structure import weakened
from abistore.model.words import counted

_ABOUT_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter", "--sysroot", "-isysroot", "-resource-dir")

MOST_TOLD = 3
"""How many faults the evidence tells."""


def without_standard_headers(given: GivenHeaders, error: StandardHeadersMissing) -> HeaderReading:
    """The reading where the system's own headers are missing, which is no error: the library's file is compared."""
    reason, count = STANDARD_HEADERS_MISSING, len(given.headers)
    return HeaderReading((), (), Evidence("source", "missing", reason, error.message, error.hint, expected=count))


def recorded(parser: HeaderParser, parsed: ParsedHeaders, walked: Walked, *, runtime: bool) -> HeaderReading:
    """The answer about the headers. Raises :class:`HeaderError` where they declare nothing."""
    if not any(map(declares_more, walked.entries.values())):
        raise _nothing_declared(parser.given, parsed)
    unread = None if walked.refused else _unread(parser, parsed)
    evidence = _evidence(parser, parsed, bodies_only=unread is not None)
    return HeaderReading(
        tuple(sorted(walked.entries.items(), key=by_name)),
        tuple(sorted(walked.locations.items(), key=by_name)),
        weakened(with_inline(evidence, walked.inline_namespaces), walked.refused),
        _headers_read(parser, parsed, unread, walked, runtime=runtime),
        tuple(sorted(walked.bare)) if parsed.reading.language == "c" else None,
    )


def declares_more(shapes: Variants) -> bool:
    """Whether anything but a macro without a value is declared."""
    return any(isinstance(shape, Declared) and shape.replacement is None for shape in shapes)


def _nothing_declared(given: GivenHeaders, parsed: ParsedHeaders) -> HeaderError:
    every = dict.fromkeys([*parsed.faults, *(fault for faults in parsed.set_aside.values() for fault in faults)])
    first = once_each(every)[:MOST_TOLD]
    said = "".join(f"; {fault.said}" for fault in first)
    hint = (
        hint_of(first)
        if first
        else "pass the headers that programs include, or the macros that they need with --define"
    )
    return HeaderError(
        f"{_counted(given)} declare{'s' * (len(given.headers) == 1)} nothing{said}", hint, lacking(every)
    )


def _counted(given: GivenHeaders) -> str:
    return f"the header {given.headers[0].name}" if len(given.headers) == 1 else f"the {len(given.headers)} headers"


def _unread(parser: HeaderParser, parsed: ParsedHeaders) -> frozenset[str] | None:
    """The words in bodies with errors; ``None`` where declarations may be missing as well.

    Only of C: C++ calls some functions without naming them, such as conversions and destructors.
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
    """How much of the headers was read; ``bodies_only`` where all errors are in function bodies."""
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


def _headers_read(
    parser: HeaderParser, parsed: ParsedHeaders, unread: Collection[str] | None, walked: Walked, *, runtime: bool
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
    files_behind = (names_in(readable(path)) for path in _files_behind(parser, parsed, own))
    outlined, texts = _outlines(parser, parsed, walked)
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
        unread=tuple(sorted(unread or ())),
        unmade=tuple(sorted((name.spelling, why) for name, why in walked.unmade.items())),
        outlines=outlined,
        texts=texts,
        folders=listed_folders(given),
        untaken=asks.untaken,
        compilers=asks.compilers,
        modes=HeaderModes(parser, parsed, walked, runtime=runtime).read(asks),
        serves=_served(map(readable, own)) if parsed.reading.language == "c" else (),
        behind=tuple(sorted(set[str]().union(*files_behind))),
        aside=_words_unparsed(parser, parsed, own) if unread is None else None,
        lent=tuple(sorted(walked.lent & walked.entries.keys())),
        inside=refusing({header.name: readable(header.path) for header in given.headers}),
    )


def _served(texts: Iterable[str]) -> tuple[str, ...]:
    """The languages that headers of C serve: C++ too where one of them asks for ``__cplusplus``."""
    return ("c", "c++") if any("__cplusplus" in text for text in texts) else ("c",)


def _included(parser: HeaderParser, parsed: ParsedHeaders) -> set[str]:
    return {parser.canonical(file) for file in {each.file for unit in parsed.units for each in unit.files}}


def _own_files(parser: HeaderParser, parsed: ParsedHeaders) -> list[Path]:
    folders = tuple(f"{os.path.realpath(folder)}{os.sep}" for folder in parser.invocation.searched)
    own = (Path(each) for each in _included(parser, parsed) if each.startswith(folders))
    return sorted({*(header.path for header in parser.given.headers), *own})


def _files_behind(parser: HeaderParser, parsed: ParsedHeaders, own: Iterable[Path]) -> list[Path]:
    """Files that given headers include from their folders or from the ``own`` ones, and that were not given.

    A system folder holds headers of other libraries too, of which only the names are known.
    """
    given = {header.path for header in parser.given.headers}
    folders = {path.parent for path in given}
    included = {Path(each) for each in _included(parser, parsed)}
    beside = (path for path in included if path.parent in folders or parser.surrounds(str(path)))
    return sorted({*own, *beside} - given)


def _words_unparsed(parser: HeaderParser, parsed: ParsedHeaders, own: Iterable[Path]) -> tuple[str, ...] | None:
    """The words of headers that did not parse, or of all where some err; ``None`` where these may not be all."""
    given, readable = {each.path: each.name for each in parser.given.headers}, parser.texts.beginning_if_readable
    if not (parsed.set_aside or parsed.faults) or any("##" in readable(path) for path in own):
        return None
    failed = [path for path, name in given.items() if parsed.faults or name in parsed.set_aside]
    texts, folders = {path: readable(path) for path in failed}, [*parser.invocation.searched]
    words = spelled_words(texts, given, folders, parser.system_folders)
    return None if words is None else tuple(sorted(words))


def _without_folders(argument: str) -> str:
    """An argument for clang without paths of this machine; empty where it is only about folders."""
    if argument.startswith(_ABOUT_FOLDERS):
        return ""
    before, slash, _ = argument.partition("/")
    return before + argument.rpartition("/")[2] if slash else argument


def _spelled(option: str, values: Iterable[str]) -> list[str]:
    return [f"{option} {value}" for value in sorted(set(values))]


def _outlines(
    parser: HeaderParser, parsed: ParsedHeaders, walked: Walked
) -> tuple[tuple[HeaderOutline, ...], tuple[HeaderDigest, ...]]:
    """The outlines of given headers that have any fact, and the digests of all own headers."""
    texts = {each.name: _text_of(parser, each.path) for each in parser.given.headers}
    graph = include_graph([each.unit for each in parsed.units], parser.canonical)
    includes = inclusions(graph, parser.given.name, texts)
    linked = _linked_counts(walked)
    names = sorted(name for name in texts if name in includes or linked[name])
    found = tuple(HeaderOutline(name, includes.get(name, ()), linked[name]) for name in names)
    return found, _texts(parser, graph, texts)


def _texts(parser: HeaderParser, graph: Includes, texts: dict[str, str]) -> tuple[HeaderDigest, ...]:
    """The digests of texts that are known whole."""
    given = {str(each.path): each.name for each in parser.given.headers}
    private = {path: files_behind(path, graph, given, parser.surrounds) for path in given}
    named = {path: name for path in frozenset[str]().union(*private.values()) if (name := parser.given.inside(path))}
    known = {**texts, **{name: _text_of(parser, Path(path)) for path, name in named.items()}}
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


def _text_of(parser: HeaderParser, path: Path) -> str:
    edited = parser.invocation.edited.get(str(path))
    return edited if edited is not None else parser.texts.beginning_if_readable(path)


def _linked_counts(walked: Walked) -> Counter[str]:
    """How many functions and variables each header declares, without macros and constants."""
    return Counter(
        walked.locations[name].file
        for name, shapes in walked.entries.items()
        if name.kind in ("function", "variable") and name in walked.locations and _has_linkage(shapes)
    )


def _has_linkage(shapes: Variants) -> bool:
    declared = [each.traits for each in shapes if isinstance(each, Declared)]
    return bool(declared) and not any({"constant", "macro"}.intersection(traits) for traits in declared)
