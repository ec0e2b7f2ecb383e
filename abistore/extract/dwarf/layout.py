"""What the debug information says about a library's exports and the types that they reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from abistore.extract.dwarf.bytes.faults import malformed_is_an_error, refuse_useless
from abistore.extract.dwarf.constants import OwnConstants
from abistore.extract.dwarf.coverage import (
    compilers,
    coverage,
    expected_places,
    languages,
    no_types,
    telling_apart,
    types_coverage,
    unrecorded,
)
from abistore.extract.dwarf.entries.info import DebugInfo
from abistore.extract.dwarf.entries.scopes import inline_namespaces
from abistore.extract.dwarf.joined.joins import DeclarationJoins
from abistore.extract.dwarf.names.alias_templates import resolve_alias_templates
from abistore.extract.dwarf.shapes.declared import locate_declarations
from abistore.extract.dwarf.shapes.destructors import place_destructors
from abistore.extract.dwarf.shapes.footprints import Footprints
from abistore.extract.dwarf.shapes.functions import ASSEMBLY, DeclarationShapes, DeclaringEntries, alias, own
from abistore.extract.dwarf.shapes.nested import NestedTypes
from abistore.extract.dwarf.shapes.records import read_enum, read_record
from abistore.extract.dwarf.shapes.types import TypeReferences
from abistore.extract.facets import FacetReading
from abistore.extract.types.foreign import is_foreign, is_runtime
from abistore.extract.types.passing import settle_passing
from abistore.extract.types.tails import settle_tails
from abistore.model.budget import REASON, fitted, told
from abistore.model.cycles import without_cycle_collection
from abistore.model.digest import sort_variants
from abistore.model.layout.layouts import Layouts
from abistore.model.mangling.symbols import CLASS_DATA, is_declared
from abistore.model.names import Name, by_name
from abistore.model.recorded.call_options import in_force
from abistore.model.snapshot import Snapshot, with_inline

if TYPE_CHECKING:
    from abistore.extract.dwarf.bytes.debug_file import DebugFile
    from abistore.extract.dwarf.names.spellings import NameCompleter, Spellings
    from abistore.extract.exports import Exports
    from abistore.extract.reader import ExtractOptions
    from abistore.model.recorded.call_options import Concern
    from abistore.model.snapshot import Target


def read_layout(
    debug: DebugFile,
    exports: Exports,
    options: ExtractOptions,
    *,
    target: Target,
    soname: str | None,
    alternate: DebugFile | None,
) -> FacetReading:
    """Reads what describes ``exports`` in the debug information of ``debug``, and all that it mentions.

    Raises :class:`abistore.errors.ExtractError` where the debug information is corrupt beyond use.
    """
    with without_cycle_collection(), malformed_is_an_error(debug.path.name):
        info = DebugInfo(
            debug,
            alternate=alternate,
            debug_dirs=options.debug_dirs,
            progress=options.progress,
            addresses=exports.by_address,
            tls_offsets=exports.tls_by_offset,
        )
        declared = frozenset(filter(is_declared, exports.kinds))
        info.locate(*expected_places(exports, declared))
        types = TypeReferences(info, _instances, runtime=is_runtime(soname))
        built: dict[Name, tuple[tuple[Concern, str], ...]] = {}
        note = partial(_note_options, target, built, _shared_command(debug, target))
        described = _read_exports(types, exports, declared, note)
        if options.programs:
            _mention_every_type(types)
        _read_reached(types, target)
        OwnConstants(types).read()
        resolve_alias_templates(types.entries, types.aliases)
        place_destructors(types.entries)
        locate_declarations(types)
        _settle_calls(types, built, target)
        entries, refused = fitted(types.entries)
        if refused := refused + types.references.budget.refused:
            info.problem(REASON, told(refused))
        if options.programs:
            evidence = types_coverage(len(entries), info)
        else:
            evidence = coverage(exports, declared, described, info)
            evidence = telling_apart(evidence, types.defined_apart())
        if facts := unrecorded(info.units):
            evidence = replace(evidence, unrecorded=facts)
        inline = (each for each in inline_namespaces(info.units) if not is_foreign(f"{each}::", types.runtime))
        evidence = with_inline(evidence, inline)
        refuse_useless(debug.path.name, evidence)
        layout = FacetReading(
            entries={name: sort_variants(shapes) for name, shapes in sorted(entries.items(), key=by_name)},
            locations=types.locations,
            evidence=evidence,
            compilers=compilers(info.units),
            languages=languages(info.units),
        )
        info.check_unchanged()
        types.close()
        info.close()
        return layout


def _mention_every_type(types: TypeReferences) -> None:
    """Mentions all types at namespace scope, which a program has whether or not it exports anything."""
    for unit in types.info.units:
        types.info.scan(unit)
    for unit in types.info.units:
        for start in unit.classes if unit.is_scanned else ():
            types.reference(unit.base + start)


def _instances(info: DebugInfo, spellings: Spellings) -> NameCompleter:
    from abistore.extract.dwarf.shapes.instances import TemplateInstances  # few libraries need it

    return TemplateInstances(info, spellings)


def _settle_calls(types: TypeReferences, built: Mapping[Name, tuple[tuple[Concern, str], ...]], target: Target) -> None:
    """Settles what depends on all types: how classes go by value, their tails, and which calls options concern."""
    settle_passing(types.entries, compilers(types.info.units))
    layouts = Layouts(Snapshot("", None, target, {"layout": {name: (*each,) for name, each in types.entries.items()}}))
    settle_tails(types.entries, lambda _, record: any(hole.tail for hole in layouts.holes(record)))
    if built:
        from abistore.extract.types.conventions import settle_conventions  # few builds have such options

        settle_conventions(types.entries, built, pointer=target.bits // 8)


def _note_options(
    target: Target,
    built: dict[Name, tuple[tuple[Concern, str], ...]],
    commands: str,
    name: Name,
    found: DeclaringEntries,
) -> None:
    """Notes what the options of the unit that defines an export decide about its calls, where that is not usual.

    A unit that tells no options has those of the ``commands`` that the file keeps apart from units.
    """
    producers = dict.fromkeys(die[0].producer for die in found.dies)
    told = (text if " -" in text else commands for text in producers if text)
    chosen = tuple(dict.fromkeys(each for text in told for each in in_force(text, target)))
    if chosen:
        built[name] = chosen


def _shared_command(debug: DebugFile, target: Target) -> str:
    """A command of the compiler with the options for calls that all have which ``-frecord-gcc-switches`` wrote.

    Empty where they differ: no unit is told there. Compilers before GCC 11 wrote every option apart.
    """
    commands = [text.decode("utf-8", "replace") for text in debug.section(".GCC.command.line").split(b"\0") if text]
    if len({in_force(each, target) for each in commands}) != 1 or any(each.startswith("-") for each in commands):
        return ""
    return commands[0]


def _read_exports(
    types: TypeReferences,
    exports: Exports,
    declared: Set[str],
    note: Callable[[Name, DeclaringEntries], None],
) -> set[str]:
    """Enters the function or variable of every exported symbol that has a DIE; the symbols that have one.

    Tells ``note`` of each.
    """
    places: dict[tuple[bool, int], list[int]] = {}
    for kind, place, handle in types.info.found:
        places.setdefault((kind == "tls", place), []).append(handle)
    described: set[str] = set()
    others: dict[str, list[DeclaringEntries]] = {symbol: [] for symbol in exports.kinds}
    shapes = DeclarationShapes(types)

    def enter(symbol: str, chosen: DeclaringEntries | None) -> None:
        name = Name(exports.kinds[symbol], symbol)
        if chosen is not None and chosen.is_function == (name.kind == "function"):
            types.add(name, shapes.of(chosen))
            types.note(name, chosen.location())
            note(name, chosen)
            described.add(symbol)

    def is_bare(found: DeclaringEntries) -> bool:
        unit, bare = found.dies[0][0], found.is_bare
        if bare and unit.language != ASSEMBLY and not found.is_made_by_compiler:
            types.info.problem(*no_types(unit))
        return bare

    for (tls, place), handles in places.items():
        candidates = [each for each in map(shapes.declarations, handles) if not is_bare(each)]
        for symbol in (exports.tls_by_offset if tls else exports.by_address)[place]:
            chosen = own(exports.versions.get(symbol, symbol), candidates)
            if symbol.startswith(CLASS_DATA):
                continue  # Clang 20 and later have a private member `_vtable$` for it, which no source declares
            if symbol not in others:
                continue  # a damaged table has one symbol at two places: the first that describes it does
            if chosen is None:
                others[symbol] = others[symbol] or candidates
            else:
                del others[symbol]
                enter(symbol, chosen)
    several = set(exports.versions.values())  # what has their name and no place may describe any version
    named = types.info.named((declared & others.keys()) - several)
    for symbol, candidates in others.items():
        if symbol in named:
            found = shapes.declarations(named[symbol])
            enter(symbol, None if is_bare(found) else found)
        else:
            of_version = exports.versions.get(symbol, symbol) in several  # its code has a name of its own
            enter(symbol, candidates[0] if of_version and candidates else alias(symbol, candidates))
    return described


def _read_reached(types: TypeReferences, target: Target) -> None:
    """Reads the members of every type that was mentioned, until nothing new is."""
    joins = DeclarationJoins(types)
    footprints = Footprints(types, target)
    nested = NestedTypes(types)
    measured: set[Name] = set()
    while True:
        while types.pending:
            name, handle = types.pending.pop()
            read = read_enum if name.kind == "enum" else read_record
            types.add(name, nested.told(name, handle, read(types, types.info.die(handle))))
        for name in [name for name in types.foreign if name not in measured]:
            measured.add(name)
            types.add(name, footprints.shape(types.foreign[name]))
        if not (types.pending or len(measured) < len(types.foreign) or types.reconsider() or joins.next_round()):
            break
    joins.close()
