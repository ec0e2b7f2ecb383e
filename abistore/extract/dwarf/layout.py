"""What the debug information says about a library's exports, the types that they reach, and constants.

Enumerations of the library's own headers count without any export that names them, as programs pass plain numbers:
``enum { LOG_DEBUG = 1 }; void set_level(int level);``. An unnamed one is called by its first enumerator.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.encoding import (
    EMPTY,
    MALFORMED,
    SIZES,
    Attributes,
    fixed_forms,
    malformed_is_an_error,
    refuse_useless,
)
from abistore.extract.dwarf.functions import (
    ASSEMBLY,
    DeclarationJoins,
    DeclarationShapes,
    DeclaringEntries,
    Footprints,
    NestedTypes,
    alias,
    own,
)
from abistore.extract.dwarf.info import DebugInfo
from abistore.extract.dwarf.names import C, resolve_alias_templates
from abistore.extract.dwarf.records import fit, read_enum, read_record
from abistore.extract.dwarf.types import TypeReferences, place_destructors
from abistore.extract.dwarf.walk import Die, inline_namespaces, parameter_types, symbol_at
from abistore.extract.reader import FacetReading
from abistore.extract.types import is_foreign, is_runtime, settle_passing, settle_tails, with_inline
from abistore.limits import allow_more
from abistore.model.declarations import Name, by_name, unnamed_enum
from abistore.model.format_gaps import in_force
from abistore.model.layout import Layouts
from abistore.model.names.symbols import CLASS_DATA, INTEGERS, is_declared, is_mangled
from abistore.model.shapes import Enum, Enumerator, Inline, Primitive, Record
from abistore.model.snapshot import Evidence, Location, Snapshot, sort_variants
from abistore.model.structure import HINT, REASON, fitted, told, without_cycle_collection
from abistore.model.words import counted, include_root, is_own_header, is_source

if TYPE_CHECKING:
    from abistore.extract.dwarf.abbreviations import Abbreviation, DebugFile
    from abistore.extract.dwarf.names import NameCompleter, Spellings
    from abistore.extract.dwarf.units import Unit
    from abistore.extract.files import Exports
    from abistore.extract.reader import ExtractOptions
    from abistore.model.format_gaps import Concern
    from abistore.model.snapshot import Target

FOLLOWED: Final = frozenset({dw.TAG_POINTER_TYPE, dw.TAG_CONST_TYPE, dw.TAG_VOLATILE_TYPE, dw.TAG_TYPEDEF})


def locate_declarations(types: TypeReferences) -> None:
    """Moves the places of functions that a source file defines to a header that declares them, where one is known.

    Of several headers it is one in an ``include`` folder, else the first by path. Where the library has no such folder,
    headers tell something of C functions only. Nothing is looked for in the C++ runtime, all of which is public.
    """
    places = types.locations
    if types.runtime:
        return
    plain = all(include_root(place.file) is None for place in places.values())
    wanted = {
        name.spelling: name
        for name, place in places.items()
        if name.kind == "function" and is_source(place.file) and not (plain and is_mangled(name.spelling))
    }
    if not wanted:
        return
    found: dict[str, set[tuple[str, int]]] = {}
    handles, seen = set[Name](), set[int]()
    for symbol, location, die in _declared(types, [unit for unit in types.info.units if unit.is_scanned], wanted):
        found.setdefault(symbol, set()).add(location)
        handles.update(_undefined(types, die, seen))
    _mark(types, handles)
    for symbol, locations in found.items():
        place = min(locations, key=lambda each: (include_root(each[0]) is None, each))
        places[wanted[symbol]] = Location(*place)


def _declared(
    types: TypeReferences, units: Iterable[Unit], wanted: Collection[str]
) -> Iterator[tuple[str, tuple[str, int], Die]]:
    for unit in units:
        try:
            for symbol, die in _declarations(unit, wanted):
                location = types.locate(unit, die[3])
                if is_own_header(location[0]):
                    yield symbol, location, die
        except MALFORMED:  # the scan of this unit has recorded what is wrong with it
            continue


def _declarations(unit: Unit, wanted: Collection[str]) -> Iterator[tuple[str, Die]]:
    for start in (*unit.declared, *unit.unplaced):
        abbreviation, position = unit.at(start)
        if (
            abbreviation.is_declaration
            and abbreviation.tag == dw.TAG_SUBPROGRAM
            and dw.AT_DECL_FILE in abbreviation.attributes
        ):
            symbol = symbol_at(unit, abbreviation, position)
            if symbol in wanted:
                after, attributes = abbreviation.decode(unit.data, position, unit)
                yield symbol, (unit, abbreviation, after, attributes)


def _undefined(types: TypeReferences, die: Die, seen: set[int]) -> Iterator[Name]:
    """The records behind pointers that a function takes or returns, of which its unit has a declaration only.

    Those behind types that were ``seen`` were told before.

    What the unit includes is all that calls need. In C++ this tells nothing: compilers leave the definition of a class
    to the unit that has its constructors or its vtable.
    """
    if die[0].language not in C:
        return
    for handle in (die[3].get(dw.AT_TYPE, -1), *parameter_types(die)):
        while handle >= 0 and handle not in seen:
            seen.add(handle)
            _, abbreviation, _, attributes = types.info.die(handle)
            tag = abbreviation.tag
            if tag in dw.RECORD_TAGS and dw.AT_DECLARATION in attributes and dw.AT_SIGNATURE not in attributes:
                spelling = types.spellings.of(handle, attributes)
                if spelling is not None:
                    yield Name("record", spelling)
            handle = attributes.get(dw.AT_TYPE, -1) if tag in FOLLOWED else -1


def _mark(types: TypeReferences, handles: Iterable[Name]) -> None:
    for name in handles:
        shapes = types.entries.get(name, [])
        shapes[:] = [replace(each, handle=True) if isinstance(each, Record) else each for each in shapes]


BEGINNING: Final = 5
"""So many bytes behind an enumeration hold the code of its first enumerator, and where the name of that is."""

WIDEST: Final = 16
"""The size of the largest integer in bytes."""

ALIASES: Final = frozenset({dw.TAG_CONST_TYPE, dw.TAG_VOLATILE_TYPE, dw.TAG_TYPEDEF})

MOST_ALIASES: Final = 100
"""Bound on aliases of aliases."""

NUMBERS: Final = frozenset({*INTEGERS, "bool"})

FILE_NAMESPACE: Final = "(anonymous namespace)"


class OwnConstants:
    """Enters what the headers of the library define, each once: all units that include a header repeat it."""

    def __init__(self, types: TypeReferences) -> None:
        self._types = types
        self._seen: set[object] = set()
        self._unnamed: list[tuple[Name, Enum, Location]] = []
        self._places: dict[Abbreviation, ConstantPlaces] = {}
        self._own_files: dict[tuple[int, int], bool] = {}
        self._known = {name.spelling for name in types.entries if name.kind == "enum"}
        self._spelled_out = frozenset(types.anonymous.spelled_out)

    def read(self) -> None:
        """Enters all enumerations and constants at namespace scope, and the enumerations of classes that were read."""
        types = self._types
        for unit in types.info.units:
            if unit.is_scanned:
                try:
                    for handle in self._fresh(unit):
                        self._enter(handle)
                except MALFORMED:  # the scan of this unit has recorded what is wrong with it
                    continue
        for handle in types.nested:
            self._enter(handle)
        while types.pending or types.reconsider():
            found, handle = types.pending.pop()
            types.add(found, read_enum(types, types.info.die(handle)))
        named = {(place, *types.entries[name]) for name, place in types.locations.items() if name.kind == "enum"}
        for name, shape, place in self._unnamed:
            if (place, shape) not in named:  # in another unit, a typedef names it
                types.add(name, shape)
                types.locations.setdefault(name, place)

    def _fresh(self, unit: Unit) -> Iterator[int]:
        """The enumerations and constants of a unit that no unit before it has, and that stand in an own header."""
        data, seen, base = unit.data, self._seen, unit.base
        for start in unit.constants:
            abbreviation, position = unit.at(start)
            places = self._places.get(abbreviation)
            if places is None:
                places = self._places[abbreviation] = _places(abbreviation)
            key: object = base + start
            entry = data[position : position + abbreviation.extent + BEGINNING] if abbreviation.extent >= 0 else b""
            if places.line is not None:
                place = abbreviation.name_place
                name = entry[place : place + 4] if place >= 0 else b""
                key = name, entry[places.line], entry[abbreviation.extent + 1 :] if abbreviation.has_children else b""
            if key not in seen:
                seen.add(key)
                file = places.file
                if isinstance(file, slice):
                    file = int.from_bytes(entry[file], unit.order)
                if file is None or self._is_own_file(unit, file):
                    yield base + start

    def _is_own_file(self, unit: Unit, index: int) -> bool:
        key = unit.handle, index
        if key not in self._own_files:
            self._own_files[key] = is_own_header(self._types.info.file(unit, index))
        return self._own_files[key]

    def _enter(self, handle: int) -> None:
        types = self._types
        die = types.info.die(handle)
        unit, abbreviation, _, attributes = die
        if dw.AT_DECLARATION in attributes and dw.AT_CONST_VALUE not in attributes:
            return
        value = attributes.get(dw.AT_CONST_VALUE, 0)
        if attributes.get(dw.AT_NAME) in self._known or (type(value) is bytes and len(value) > WIDEST):
            return
        file, line = types.locate(unit, attributes)
        if not is_own_header(file):
            return
        if abbreviation.tag == dw.TAG_ENUMERATION_TYPE:
            spelling = types.spellings.of(handle, attributes)
            if spelling is not None and (spelling in self._known or not self._is_own(spelling)):
                return
            mention = types.reference(handle)
            shape = mention.shape if isinstance(mention, Inline) else None
            if isinstance(shape, Enum) and shape.enumerators and shape not in self._spelled_out:
                self._add(handle, shape.enumerators[0].name, shape, Location(file, line))
        elif (constant := self._constant(unit, attributes)) is not None:
            self._add(handle, constant.enumerators[0].name, constant, Location(file, line))

    def _is_own(self, spelling: str) -> bool:
        return FILE_NAMESPACE not in spelling and not is_foreign(spelling, self._types.runtime)

    def _add(self, handle: int, first: str, shape: Enum, place: Location) -> None:
        spelling = self._types.spellings.qualify(handle, first)
        if self._is_own(spelling):
            self._unnamed.append((unnamed_enum(spelling), shape, place))

    def _constant(self, unit: Unit, attributes: Attributes) -> Enum | None:
        """A constant integer as an enumeration of one value; ``None`` for any other object."""
        value, type = attributes.get(dw.AT_CONST_VALUE), self._integer(attributes)
        if type is None or dw.AT_NAME not in attributes:
            return None
        bits = 8 * type.size
        if isinstance(value, bytes):
            value = int.from_bytes(value, unit.order)
        if not isinstance(value, int):
            return None
        value = fit(value & ((1 << bits) - 1), bits, self._types.is_signed(attributes))
        return Enum(type.size, (Enumerator(attributes[dw.AT_NAME], value),), type)

    def _integer(self, attributes: Attributes) -> Primitive | None:
        """The built-in type of a constant integer, behind aliases; ``None`` for any other object."""
        is_constant = False
        for _ in range(MOST_ALIASES):
            handle = attributes.get(dw.AT_TYPE, -1)
            if handle < 0:
                return None
            _, abbreviation, _, attributes = self._types.info.die(handle)
            is_constant = is_constant or abbreviation.tag == dw.TAG_CONST_TYPE
            if abbreviation.tag == dw.TAG_BASE_TYPE:
                found = self._types.reference(handle) if is_constant else None
                return found if isinstance(found, Primitive) and found.spelling in NUMBERS else None
            if abbreviation.tag not in ALIASES:
                return None
        return None


class ConstantPlaces(msgspec.Struct, frozen=True):
    """Where the line of an entry is, counted from its code's end, and where its file is, or what it always is."""

    line: slice | None = None
    file: slice | int | None = None


def _places(abbreviation: Abbreviation) -> ConstantPlaces:
    """The places in an entry of fixed size; none in any other."""
    fixed, place, places = fixed_forms(abbreviation.format), 0, dict[int, slice | int]()
    for attribute, form, value in abbreviation.specifications if abbreviation.extent >= 0 else ():
        if form == dw.FORM_IMPLICIT_CONST:
            places[attribute] = value
        elif form not in EMPTY:
            places[attribute] = slice(place, place := place + SIZES[fixed[form]])
    line = places.get(dw.AT_DECL_LINE)
    return ConstantPlaces(line if isinstance(line, slice) else None, places.get(dw.AT_DECL_FILE))


HINTS: Final = {
    "split-debug-missing": "keep the .dwo files where the build left them, or create a .dwp next to the library",
    "types-not-recorded": "build with -g instead of -g1 or -gline-tables-only",
    "corrupt-debug-info": "rebuild the library, or its debug file",
    REASON: HINT,
}

LANGUAGES: Final = {
    0x01: "C89", 0x02: "C", 0x0C: "C99", 0x1D: "C11", 0x2C: "C17", 0x3E: "C23", 0x8001: "assembly",
    0x04: "C++", 0x19: "C++03", 0x1A: "C++11", 0x21: "C++14", 0x2A: "C++17", 0x2B: "C++20", 0x3A: "C++23",
    0x07: "Fortran 77", 0x08: "Fortran 90", 0x0E: "Fortran 95", 0x22: "Fortran 2003", 0x23: "Fortran 2008",
    0x0D: "Ada 95", 0x10: "Objective-C", 0x11: "Objective-C++", 0x13: "D", 0x16: "Go", 0x1C: "Rust", 0x1E: "Swift",
    0x27: "Zig", 0x2E: "Ada 2005", 0x31: "assembly",
}  # fmt: skip

Losses: TypeAlias = tuple[tuple[int, tuple[str, ...]], ...]
"""Facts that are recorded from a version of DWARF on."""

CLANG: Final[Losses] = ((5, ("Method.deleted", "Record.deleted")), (4, ("Enum.scoped",)))
STRICT_GCC: Final[Losses] = (
    (5, ("Function.noreturn", "Method.deleted", "Method.reference", "Record.alignment", "Record.deleted")),
    (4, ("Enum.scoped",)),
    (3, ("Method.explicit",)),
)


def expected_places(exports: Exports, declared: Set[str]) -> tuple[list[int], list[int]]:
    """The addresses and the TLS offsets where debug information can be expected to describe something."""
    return (
        [address for address, symbols in exports.by_address.items() if not declared.isdisjoint(symbols)],
        [offset for offset, symbols in exports.tls_by_offset.items() if not declared.isdisjoint(symbols)],
    )


def coverage(exports: Exports, declared: Set[str], described: Set[str], info: DebugInfo) -> Evidence:
    """The evidence of the layout facet, given the exports that some source declares, and those that have a shape."""
    absent = sorted(declared - described)
    places = {symbol: address for address, symbols in exports.by_address.items() for symbol in symbols}
    functions = {each: places.get(each) for each in absent if exports.kinds[each] == "function"}
    _note_line_tables(functions.values(), info)
    reasons = sorted(set(info.problems))
    elsewhere = [] if reasons or not info.units else _without_declaration(absent, functions, info)
    missing = sorted(set(absent) - set(elsewhere))
    count = len(declared & described)
    evidence = Evidence("layout", "full", described=count, expected=count + len(missing))
    if not reasons and not missing:
        return replace(evidence, reason="assembly-or-folded", detail=_examples(elsewhere)) if elsewhere else evidence
    reason = reasons[0][0] if reasons else "partial-debug-info" if count else "no-debug-info"
    details = [f"{code}: {text}" for code, text in reasons[:5]]
    if len(reasons) > 5:
        details.append(f"and {len(reasons) - 5} more")
    if missing:
        some = counted(len(missing), "export is", "exports are")
        details.append(f"{some} not described, e.g. {', '.join(missing[:3])}")
    return replace(
        evidence,
        state="partial" if count else "missing",
        reason=reason,
        detail="; ".join(details),
        hint=HINTS.get(reason, "build every source file of the library with -g, those of its static libraries too"),
    )


def telling_apart(evidence: Evidence, apart: Sequence[tuple[Name, str]]) -> Evidence:
    """The evidence, with the types that object files define at different lines of one file: one object may be stale."""
    if not apart:
        return evidence
    first = ", ".join(f"{name.spelling} in {file}" for name, file in apart[:3])
    more = f" and {len(apart) - 3} more" if len(apart) > 3 else ""
    said = f"{first}{more}: object files have different definitions, from several lines of one file"
    return replace(evidence, detail="; ".join(filter(None, (evidence.detail, f"{said}; one may be stale"))))


def types_coverage(types: int, info: DebugInfo) -> Evidence:
    """The evidence of the types that a program was built with, of which so many were read."""
    if not any(each.tag == dw.TAG_BASE_TYPE for unit in info.units if unit.is_loaded for each in unit.table):
        info.problem("types-not-recorded", "no unit describes a type")
    evidence = Evidence("layout", "full", described=types, expected=types)
    if not info.problems:
        return evidence
    reason, detail = min(info.problems)
    return replace(
        evidence,
        state="partial" if types else "missing",
        reason=reason,
        detail=detail,
        hint=HINTS.get(reason, "build the program with -g"),
    )


def _note_line_tables(places: Iterable[int | None], info: DebugInfo) -> None:
    """Records the units that hold functions at ``places`` and have line tables only: ``-g1`` describes no types."""
    for unit in info.without_functions(each for each in places if each is not None):
        if unit.language != ASSEMBLY:
            info.problem(*no_types(unit))


def no_types(unit: Unit) -> tuple[str, str]:
    """The problem of a unit that was built with line tables only: reason code, and the name of its source file."""
    return "types-not-recorded", (unit.name or "a unit").rpartition("/")[2]


def _without_declaration(absent: Iterable[str], functions: Mapping[str, int | None], info: DebugInfo) -> list[str]:
    """Those of ``absent`` that debug information cannot describe, though the units that hold them have it.

    ``functions`` are those that are no data, each with its address if it has one.

    They are written in assembly, folded with equal code by compiler or linker, aliases, or chosen at load time (IFUNC).
    Units do not say which data they hold: data counts as code that is built with it does.
    """
    covered = info.covered(each for each in functions.values() if each is not None)
    found = [symbol for symbol, place in functions.items() if place is None or place in covered]
    data = [symbol for symbol in absent if symbol not in functions]
    return [*found, *data] if len(found) == len(functions) else found


def _examples(symbols: list[str]) -> str:
    some = counted(len(symbols), "export has no declaration of its own", "exports have no declaration of their own")
    return f"{some}, e.g. {', '.join(symbols[:3])}"


def compilers(units: Iterable[Unit]) -> tuple[str, ...]:
    """The producers of the units that were read, without arguments that hold paths of the build machine."""
    producers = {unit.producer for unit in units if unit.is_loaded and unit.producer}
    return tuple(sorted({" ".join(word for word in text.split() if "/" not in word) for text in producers}))


def unrecorded(units: Iterable[Unit]) -> tuple[str, ...]:
    """The facts that the compiler of one of ``units`` never records, so that their absence tells nothing.

    What each compiler records at each version of DWARF is measured by ``tests/extract/test_recorded_facts.py``.
    """
    found = set[str]()
    for unit in units:
        producer = (unit.producer or "") if unit.is_loaded else ""
        if "clang version" in producer:
            losses = CLANG
        elif producer.startswith("GNU C") and "-gstrict-dwarf" in producer:
            losses = STRICT_GCC
        else:
            continue
        for version, facts in losses:
            if unit.version < version:
                found.update(facts)
    return tuple(sorted(found))


def languages(units: Iterable[Unit]) -> tuple[str, ...]:
    """The source languages of the units that were read."""
    codes = {unit.language for unit in units if unit.is_loaded and unit.language is not None}
    return tuple(sorted(LANGUAGES.get(code, f"language {code:#x}") for code in codes))


def read_layout(
    own: DebugFile,
    debug: DebugFile,
    exports: Exports,
    options: ExtractOptions,
    *,
    target: Target,
    soname: str | None,
    source: str = "file",
    alternate: DebugFile | None = None,
) -> FacetReading:
    """Reads what describes ``exports`` in the debug information of ``debug``, and all that it mentions.

    ``debug`` was found for the library ``own``, at ``source``. Raises :class:`abistore.errors.ExtractError` where the
    debug information is corrupt beyond use, or a file was written to meanwhile.
    """
    files = [debug, alternate] if alternate else [debug]
    allow_more(sum(each.size for each in files))
    declared = frozenset(filter(is_declared, exports.kinds))
    with without_cycle_collection(), malformed_is_an_error(debug.path.name):
        info = DebugInfo(
            debug,
            alternate=alternate,
            debug_dirs=options.debug_dirs,
            progress=options.progress,
            addresses=exports.by_address,
            tls_offsets=exports.tls_by_offset,
        )
        info.locate(*expected_places(exports, declared))
        types = TypeReferences(info, _instances, runtime=is_runtime(soname))
        built: dict[Name, tuple[tuple[Concern, str], ...]] = {}
        note = partial(_note_options, target, built, _shared_command(debug, target))
        described = _read_exports(types, exports, declared, note)
        if options.programs:
            _mention_every_type(types)
        _complete(types, built, target)
        entries, refused = fitted(types.entries)
        _note_refused(info, refused + types.references.budget.refused)
        evidence = (
            types_coverage(len(entries), info)
            if options.programs
            else telling_apart(coverage(exports, declared, described, info), types.defined_apart())
        )
        evidence = _with_units(evidence, info, types)
        refuse_useless(debug.path.name, evidence)
        layout = FacetReading(
            entries={name: sort_variants(shapes) for name, shapes in sorted(entries.items(), key=by_name)},
            locations=types.locations,
            evidence=replace(evidence, source=source),
            compilers=compilers(info.units),
            languages=languages(info.units),
            bare=_bare(types, info.units),
            debug_files=tuple(each.path.name for each in files if each is not own),
        )
        for each in files:
            each.check_unchanged()
        info.check_unchanged()
        types.close()
        info.close()
        return layout


def _note_refused(info: DebugInfo, refused: int) -> None:
    if refused:
        info.problem(REASON, told(refused))


def _bare(types: TypeReferences, units: Iterable[Unit]) -> frozenset[str] | None:
    """The names that need no keyword, where a unit is C; ``None`` where none is."""
    return frozenset(types.bare) if any(unit.language in C for unit in units if unit.is_loaded) else None


def _complete(types: TypeReferences, options: Mapping[Name, tuple[tuple[Concern, str], ...]], target: Target) -> None:
    """Read what exports reach and what headers define, and settle what follows from all types together."""
    _read_reached(types, target)
    OwnConstants(types).read()
    resolve_alias_templates(types.entries, types.aliases)
    place_destructors(types.entries)
    locate_declarations(types)
    _settle_calls(types, options, target)


def _with_units(evidence: Evidence, info: DebugInfo, types: TypeReferences) -> Evidence:
    """The evidence with facts that the units do not record, and the library's inline namespaces."""
    if facts := unrecorded(info.units):
        evidence = replace(evidence, unrecorded=facts)
    return with_inline(
        evidence, (each for each in inline_namespaces(info.units) if not is_foreign(f"{each}::", types.runtime))
    )


def _mention_every_type(types: TypeReferences) -> None:
    """Mentions all types at namespace scope, which a program has whether or not it exports anything."""
    for unit in types.info.units:
        types.info.scan(unit)
    for unit in types.info.units:
        for start in unit.classes if unit.is_scanned else ():
            types.reference(unit.base + start)


def _instances(info: DebugInfo, spellings: Spellings) -> NameCompleter:
    from abistore.extract.dwarf.instances import TemplateInstances  # few libraries need it

    return TemplateInstances(info, spellings)


def _settle_calls(types: TypeReferences, built: Mapping[Name, tuple[tuple[Concern, str], ...]], target: Target) -> None:
    """Settles what depends on all types: how classes go by value, their tails, and which calls options concern."""
    settle_passing(types.entries, compilers(types.info.units))
    layouts = Layouts(Snapshot("", None, target, {"layout": {name: (*each,) for name, each in types.entries.items()}}))
    settle_tails(types.entries, lambda _, record: any(hole.tail for hole in layouts.holes(record)))
    if built:
        from abistore.extract.class_tables import settle_conventions  # few builds have such options

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
