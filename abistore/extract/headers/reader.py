"""From header options to what the headers declare, in six steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager

from msgspec.structs import replace

from abistore.extract.headers import clang
from abistore.extract.headers.collected import defined_in_both, is_linked, linking_files
from abistore.extract.headers.cursors import libclang
from abistore.extract.headers.evidence import declares_more, recorded, without_standard_headers
from abistore.extract.headers.given import GivenHeaders, check_folders, find_headers, widened
from abistore.extract.headers.instantiate import behind_unit, with_abilities, with_instances, with_refused
from abistore.extract.headers.invocation import Invocation, Reading, common_flags, include_folders, readings
from abistore.extract.headers.parsing import (
    HeaderParser,
    HeaderUnit,
    ParsedHeaders,
    edited_headers,
    memory,
    with_declarations,
)
from abistore.extract.headers.precompiled import standard_includes
from abistore.extract.headers.texts import ReadTexts, check_listed
from abistore.extract.headers.toolchain import StandardHeadersMissing, toolchain
from abistore.extract.headers.walk import Walked, declarations, occupied
from abistore.extract.reader import HeaderEdits, HeaderOptions, HeaderReading, HeaderRequest
from abistore.model.declarations import Declared, Name
from abistore.model.snapshot import Location, Variants


def work(request: HeaderRequest) -> HeaderReading:
    """What the headers declare, in six steps: find, configure, parse, walk, ask the compiler, record.

    Runs in the process that may be killed. Raises :class:`HeaderError`, also where a file changes meanwhile.
    """
    runtime, texts = request.runtime, ReadTexts()
    check_folders(request.options)
    given = find_headers(request.options)
    with _unchanged(given, request.options, texts):
        try:
            request = _with_declarations(given, request, texts)
            parser, ways = _configured(given, request, texts)
            parsed = parser.parse(ways)
        except StandardHeadersMissing as error:
            return without_standard_headers(given, error)
        walks = _public(parser, parsed, runtime=runtime)
        pairs = zip(parsed.units, walks, strict=True)
        walked = _joined([_completed(parser, parsed.reading, *each, runtime=runtime) for each in pairs])
        return recorded(parser, parsed, walked, runtime=runtime)


@contextmanager
def _unchanged(given: GivenHeaders, options: HeaderOptions, texts: ReadTexts) -> Iterator[None]:
    """Raises :class:`HeaderError` at the end where the given paths or the texts are others than before."""
    try:
        yield
    finally:
        texts.check([*(folder.path for folder in given.folders), *options.include_dirs, *options.named_dirs])
        check_listed(given, find_headers(options))


def _with_declarations(given: GivenHeaders, request: HeaderRequest, texts: ReadTexts) -> HeaderRequest:
    """The request with edited files in place of edited declarations: what they replace is known once it is parsed."""
    if not request.edits.declarations:
        return request
    parser, ways = _configured(given, request, texts)
    files = with_declarations(parser, parser.parse(ways), request.edits)
    return replace(request, edits=HeaderEdits(files))


def _configured(
    given: GivenHeaders, request: HeaderRequest, texts: ReadTexts
) -> tuple[HeaderParser, Sequence[Reading]]:
    """The parser with the toolchain, folders and macros of consumers, and the languages and standards to try."""
    options, files = request.options, request.edits.files
    given = edited_headers(given, files)
    edited = {each.path: each.text for each in files}
    starts = {each.path: edited.get(each.path) or texts.beginning(each.path) for each in given.headers}
    tools = toolchain(options, request.target, clang.major_version())
    libclang().underscored = "-apple-" in tools.triple
    flags, folders = common_flags(options, given), include_folders(given, list(starts.values()))
    standard = standard_includes(starts, [*folders.first, *options.include_dirs], texts.beginning_if_readable)
    parser = HeaderParser(given, Invocation(tools, options, flags, folders, memory(files), standard), texts)
    named = [(each.name, starts[each.path]) for each in given.headers]
    return parser, readings(options, flags.standards, named, cpp_exports=request.cpp_exports)


def _public(parser: HeaderParser, parsed: ParsedHeaders, *, runtime: bool) -> list[Walked]:
    """What each unit declares in public headers: those given, and those that given umbrella headers include."""
    _widen_early(parser, parsed)
    walks = _walked(parser, parsed, runtime=runtime)
    if parser.widen(_with_included(parser, parsed, _declaring(walks), lambda: _linking(parser, parsed))):
        return _walked(parser, parsed, runtime=runtime)
    return walks


def _walked(parser: HeaderParser, parsed: ParsedHeaders, *, runtime: bool) -> list[Walked]:
    cpp = parsed.reading.language == "c++"
    return [declarations(each.unit, parser, cpp=cpp, runtime=runtime) for each in parsed.units]


def _completed(parser: HeaderParser, reading: Reading, unit: HeaderUnit, walked: Walked, *, runtime: bool) -> Walked:
    """What a unit declares, with what only the compiler knows: refused names, template instances, abilities."""
    with behind_unit(parser, reading, unit) as behind:
        walked = with_refused(behind, walked)
        if reading.language != "c++":
            return walked
        walked = with_instances(behind, walked, runtime=runtime)
        return with_abilities(behind, walked, runtime=runtime)


def _joined(walks: Sequence[Walked]) -> Walked:
    """What all units declare. A name in several has the shapes of the unit in which it is public."""
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
    bare = frozenset[str]().union(*(each.bare for each in walks))
    refused = sum(each.refused for each in walks)
    return Walked(entries, locations, refused, inline, unmade=unmade, lent=lent, bare=bare)


def _widen_early(parser: HeaderParser, parsed: ParsedHeaders) -> None:
    """Count as public what umbrella headers without any declaration include, so that it is walked once."""
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
    """The headers with declarations other than macros without a value; whether programs link to one of these."""
    found: dict[str, bool] = {}
    for each in walks:
        for name, place in each.locations.items():
            shapes = each.entries.get(name, ())
            if name.kind != "variable" or declares_more(shapes):
                found[place.file] = found.get(place.file, False) or is_linked(name, shapes)
    return found


def _linking(parser: HeaderParser, parsed: ParsedHeaders) -> frozenset[str]:
    return frozenset(parser.canonical(file) for each in parsed.units for file in linking_files(each.unit))


def _is_declared(shapes: Variants) -> bool:
    return any(isinstance(shape, Declared) for shape in shapes)
