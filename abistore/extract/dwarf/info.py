"""The debug information of one library, entry by entry, on demand, with its split files.

``DebugInfo`` knows the units, finds those that describe exported places, and decodes the entries that its caller asks
for. What an entry means for the ABI is not known here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from abistore.errors import InputError
from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.abbreviations import Abbreviation, DebugSections, NoStrings
from abistore.extract.dwarf.encoding import (
    ABBREV,
    INFO,
    LINE,
    MALFORMED,
    RANGE_LISTS,
    STR_OFFSETS,
    TYPES,
    Attributes,
    MalformedDwarf,
    PackagedUnit,
    describe,
    read_index,
)
from abistore.extract.dwarf.units import LineTableFiles, Unit, UnitContext, file_names, read_units
from abistore.extract.dwarf.walk import (
    Found,
    Range,
    Scope,
    Scopes,
    add_definitions,
    read_aranges,
    scan_namespaces,
    symbol_at,
    tagged,
    unit_ranges,
    within,
)
from abistore.files import is_file
from abistore.model.names.symbols import MEMBER
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.extract.dwarf.abbreviations import DebugFile

Add = Callable[[DebugSections, bytes], list[Unit]]
"""Takes the units of one more section into the session."""

Problem = Callable[[str, str], None]


class SplitFiles:
    """The split units that belong to the skeletons of ``file``, opened when first asked for.

    Packages beside the library come first, then .dwo files where the skeleton says they are, then the same names beside
    the library and in the debug directories. Only a unit with the skeleton's id is taken.
    """

    def __init__(self, file: DebugFile, debug_dirs: Sequence[Path], add: Add, problem: Problem) -> None:
        self._file = file
        self._debug_dirs = debug_dirs
        self._add = add
        self._problem = problem
        self._packaged: dict[int, Unit] | None = None
        self._objects: dict[Path, dict[int | None, Unit]] = {}
        self._opened: list[DebugFile] = []

    def unit_of(self, skeleton: Unit) -> Unit | None:
        """The split unit of a loaded skeleton; where it cannot be found, that is recorded as a problem."""
        if self._packaged is None:
            self._packaged = self._open_packages()
        name = skeleton.dwo_name or ""
        unit = self._packaged.get(skeleton.dwo_id) if skeleton.dwo_id is not None else None
        is_stale = False
        if unit is None:
            for path in self._candidates(skeleton, name):
                units = self._open_object(path)
                unit = units.get(skeleton.dwo_id)
                if unit is not None:
                    break
                is_stale = is_stale or bool(units)
        if unit is None:
            self._problem("stale-debug-file" if is_stale else "split-debug-missing", name)
            return None
        unit.inherit(skeleton)
        return unit

    def check_unchanged(self) -> None:
        """Raises :class:`abistore.errors.ExtractError` where one of them was written to since it was opened."""
        for file in self._opened:
            file.check_unchanged()

    def _candidates(self, skeleton: Unit, name: str) -> Iterator[Path]:
        beside = self._file.path.parent
        folders = [beside / skeleton.comp_dir, beside, *self._debug_dirs]
        tried = set()
        for file in (name, Path(name).name):
            for folder in folders:
                path = folder / file
                if path not in tried and file:
                    tried.add(path)
                    yield path

    def _open_object(self, path: Path) -> dict[int | None, Unit]:
        """The split compile units of a .dwo file by their id; empty where there is no such file."""
        known = self._objects.get(path)
        if known is None:
            known = self._objects[path] = {}
            sections = self._sections(path)
            if sections is not None:
                for unit in self._add(sections, sections.info) + self._add(sections, sections.types):
                    if not unit.is_type_unit:
                        self._load(unit)
                        known[unit.dwo_id] = unit
        return known

    def _load(self, unit: Unit) -> None:
        """Reads the root entry where only that holds the unit's id."""
        if unit.version < 5:
            try:
                unit.load()
            except MALFORMED as fault:
                self._problem("corrupt-debug-info", f"{unit.sections.file.path.name}: {describe(fault)}")

    def _sections(self, path: Path) -> DebugSections | None:
        if not is_file(path):
            return None
        try:
            file = self._file.another(path)
        except InputError as error:
            self._problem("corrupt-debug-info", f"{path.name}: {error.message}")
            return None
        self._opened.append(file)
        return DebugSections(file, ".dwo")

    def _open_packages(self) -> dict[int, Unit]:
        library = self._file.path
        names = dict.fromkeys((f"{library.name}.dwp", f"{library.stem}.dwp"))
        folders = (library.parent, *self._debug_dirs)
        units: dict[int, Unit] = {}
        for path in [folder / name for folder in folders for name in names]:
            sections = self._sections(path)
            if sections is not None:
                self._open_package(sections, units)
        return units

    def _open_package(self, sections: DebugSections, units: dict[int, Unit]) -> None:
        name = sections.file.path.name
        try:
            for column, data in ((INFO, sections.info), (TYPES, sections.types)):
                by_position = {unit.handle - unit.base: unit for unit in self._add(sections, data)}
                for index in (".debug_cu_index", ".debug_tu_index"):
                    for row in read_index(sections.file.section(index), sections.prefix):
                        unit = by_position.get(row.offsets.get(column, -1))
                        if unit is not None:
                            _place(unit, row)
                            if not unit.is_type_unit:
                                units.setdefault(row.signature, unit)
        except MALFORMED as fault:
            self._problem("corrupt-debug-info", f"{name}: {describe(fault)}")


def _place(unit: Unit, row: PackagedUnit) -> None:
    """Moves the offsets of ``unit`` to its shares of the package's sections."""
    unit.abbreviation_offset += row.offsets.get(ABBREV, 0)
    unit.str_base += row.offsets.get(STR_OFFSETS, 0)
    unit.range_base += row.offsets.get(RANGE_LISTS, 0)
    unit.line_base += row.offsets.get(LINE, 0)
    unit.dwo_id = row.signature


Entry: TypeAlias = tuple[Unit, Abbreviation, int, Attributes]

SEARCHED = frozenset({dw.TAG_VARIABLE, dw.TAG_MEMBER, dw.TAG_SUBPROGRAM, *dw.RECORD_TAGS})

MOST_COPIES = 4
"""Copies of one class that are searched: each unit that uses a class describes all of its static members."""

DEEPEST = 20
"""Bound on classes inside one another."""

VARIANT = pattern("(?<=[CD])[0-5]")
"""What tells the variants of a constructor or destructor apart (Itanium C++ ABI, 5.1.4.3)."""
NUMBER = pattern(r"(?=([1-9][0-9]{0,3}))")
"""Every place where the length of an identifier may begin: an identifier itself may end in digits (``_V2``)."""


def folded_functions(unit: Unit, symbols: Set[str]) -> Iterator[tuple[str, int]]:
    """Functions of a scanned unit with these symbols that have no code there: symbol and handle.

    GCC leaves out the code of a function that does exactly what another does.
    """
    for start in (*unit.nameable, *unit.unplaced):
        abbreviation, position = unit.at(start)
        if abbreviation.is_nameable:
            symbol = symbol_at(unit, abbreviation, position)
            if symbol in symbols:
                yield symbol, unit.base + start


def members(
    index: Mapping[str, Sequence[int]], die: Callable[[int], Entry], symbols: Iterable[str]
) -> Iterator[tuple[str, int]]:
    """Static members and methods with these symbols, by the declaration in their class: symbol and handle.

    GCC writes no other entry for a constant whose value it has put in place of every use, nor for a folded method.
    """
    wanted: dict[str, list[str]] = {}
    for symbol in symbols:
        for spelled in {symbol, *_declared(symbol)}:
            wanted.setdefault(spelled, []).append(symbol)
    owners = {name for symbol in wanted for name in _identifiers(symbol)}
    for name, handles in index.items():
        if not wanted:
            return
        if name.partition("<")[0] in owners:
            for handle in handles[:MOST_COPIES]:
                for declared, member in _members(die, handle):
                    for symbol in wanted.pop(declared, ()):
                        yield symbol, member


def _declared(symbol: str) -> Iterator[str]:
    """How GCC writes the symbol of a constructor or destructor in its class: as that of a variant 4."""
    for variant in VARIANT.finditer(symbol):
        yield f"{symbol[: variant.start()]}4{symbol[variant.end() :]}"


def _members(die: Callable[[int], Entry], handle: int, depth: int = 0) -> Iterator[tuple[str, int]]:
    """The members of a class that have symbols, those of the classes inside it included."""
    unit, abbreviation, position, _ = die(handle)
    if abbreviation.has_children:
        for member, child, after in tagged(unit, position, SEARCHED):
            if child.tag in dw.RECORD_TAGS:
                if child.has_children and depth < DEEPEST:
                    yield from _members(die, member, depth + 1)
            elif dw.AT_LINKAGE_NAME in child.attributes:
                yield symbol_at(unit, child, after), member


def _identifiers(symbol: str) -> Iterator[str]:
    """All that may be an identifier in a mangled name: a superset of the names of the classes in it."""
    for length in NUMBER.finditer(symbol):
        start = length.end(1)
        yield symbol[start : start + int(length[1])]


BASE_STEP = 1 << 40
"""Handles of each section start at a multiple of this; no section is that large."""

ALTERNATE_BASE = 1 * BASE_STEP


LONGEST_CHAIN = 8
"""Bound on references from an entry to the one that it completes."""


class DebugInfo:
    """The units of ``file``, of its supplementary (dwz) file and of its split files.

    ``addresses`` and ``tls_offsets`` name the exported symbols at each place: entries there are collected in ``found``.
    ``problems`` pairs reason codes with details for people: what could not be read, while the rest could.

    Entries are named by handles: whole numbers that are comparable within one section, -1 for what cannot be resolved.
    Methods that decode raise what ``bytes.faults.MALFORMED`` lists where a file is corrupt. The outermost reader wraps
    itself in ``bytes.faults.malformed_is_an_error``.
    """

    def __init__(
        self,
        file: DebugFile,
        *,
        alternate: DebugFile | None,
        debug_dirs: Sequence[Path],
        progress: Callable[[str, float], None] | None,
        addresses: Mapping[int, Sequence[str]],
        tls_offsets: Mapping[int, Sequence[str]],
    ) -> None:
        self.problems: list[tuple[str, str]] = []
        self.found: list[Found] = []
        self._units: list[Unit] = []
        self._split_units: dict[int, Unit] = {}
        self._file = file
        self._progress = progress
        self._addresses = addresses
        self._tls_offsets = tls_offsets
        self._scopes = Scopes()
        self._starts: dict[int, tuple[list[int], list[Unit]]] = {}
        self._next_base = 2 * BASE_STEP
        self._definitions: dict[str, list[int]] | None = None
        self._files: dict[tuple[int, int], LineTableFiles] = {}
        self._last: Unit | None = None
        self._code: list[tuple[Unit, list[Range]]] = []
        self._sections = DebugSections(file)
        self._debug_dirs = debug_dirs
        other = DebugSections(alternate) if alternate is not None else None
        self.context = UnitContext(
            other.strings if other else NoStrings(), ALTERNATE_BASE if other else -1, file.tls_addresses
        )
        self._add(self._sections, self._sections.info, 0)
        if other is not None:
            self._add(other, other.info, ALTERNATE_BASE)
        elif file.alternate_link is not None:
            self.problem("alternate-file-missing", file.alternate_link[0])
        if file.has(".debug_types"):
            self._add(self._sections, self._sections.types, self._new_base())

    @property
    def units(self) -> list[Unit]:
        """All units, type units included; split units stand in place of their skeletons once these were asked for."""
        split = self._split_units
        return [split.get(unit.handle, unit) for unit in self._units]

    def _new_base(self) -> int:
        base = self._next_base
        self._next_base += BASE_STEP
        return base

    def _add_split(self, sections: DebugSections, data: bytes) -> list[Unit]:
        return self._add(sections, data, self._new_base()) if data else []

    @cached_property
    def _split_files(self) -> SplitFiles:

        return SplitFiles(self._file, self._debug_dirs, self._add_split, self.problem)

    def _full(self, unit: Unit) -> Unit:
        unit.load()
        if not unit.is_skeleton:
            return unit
        full = self._split_units.get(unit.handle)
        if full is None:
            full = self._split_units[unit.handle] = self._split_files.unit_of(unit) or unit
        return full

    def problem(self, reason: str, detail: str) -> None:
        """Records once that something could not be read."""
        if (reason, detail) not in self.problems:
            self.problems.append((reason, detail))

    def _add(self, sections: DebugSections, data: bytes, base: int) -> list[Unit]:
        def fault(detail: str) -> None:
            self.problem("corrupt-debug-info", f"{sections.file.path.name}: {detail}")

        units = list(read_units(sections, data, base, self.context, fault))
        for unit in units:
            if unit.signature is not None:
                self.context.signatures.setdefault(unit.signature, base + unit.type_position)
        self._units += [unit for unit in units if not sections.suffix or unit.is_type_unit]
        self._starts[base // BASE_STEP] = ([unit.handle for unit in units], units)
        return units

    # --- choosing units -------------------------------------------------------------------------------------------

    def units_for(self, addresses: Iterable[int]) -> list[Unit]:
        """The units that say that they cover one of ``addresses``, by .debug_aranges, or else by their own ranges.

        Both cover code, and rarely data: see :meth:`locate`.
        """
        starts, units = self._starts[0]
        positions = dict(zip(starts, units, strict=True))
        sets = read_aranges(self._sections.read("aranges"), self._sections.prefix, self._fault)
        self._code = [(positions[offset], ranges) for offset, ranges in sets if offset in positions]
        told = {unit.handle for unit, _ in self._code}
        for unit in units:
            if unit.handle not in told and not unit.is_type_unit:
                self._code.append((unit, [(first, end - first) for first, end in self._ranges(unit)]))
        return [self._try_full(unit) for _, unit in sorted(self._holding(addresses).items())]

    def _holding(self, addresses: Iterable[int]) -> dict[int, Unit]:
        """The units that say that they hold code at some of ``addresses``, by handle."""
        wanted = sorted(addresses)
        return {unit.handle: unit for unit, ranges in self._code if any(True for _ in within(ranges, wanted))}

    def _try_full(self, unit: Unit) -> Unit:
        with self._noting(unit):
            return self._full(unit)
        return unit

    def _ranges(self, unit: Unit) -> list[tuple[int, int]]:
        with self._noting(unit):
            unit.load()
            return list(unit_ranges(unit))
        return []

    def _fault(self, detail: str) -> None:
        self.problem("corrupt-debug-info", f"{self._file.path.name}: {detail}")

    @contextmanager
    def _noting(self, place: Unit | str) -> Iterator[None]:
        try:
            yield
        except MALFORMED as fault:
            where = place if isinstance(place, str) else f"the unit at {place.handle:#x}"
            self._fault(f"{where}: {describe(fault)}")

    def locate(self, addresses: Collection[int], tls_offsets: Collection[int]) -> None:
        """Scans units until ``found`` has an entry at all of these places, or no unit is left.

        ``addresses`` are those that ought to be described; the units that claim them come first, the remaining ones
        only for what these did not describe.
        """
        chosen = self.units_for(addresses)
        for number, unit in enumerate(chosen):
            if self._progress:
                self._progress(self._file.path.name, number / len(chosen))
            self.scan(unit)
        if not (set(addresses) <= self._found_at("function", "variable") and set(tls_offsets) <= self._found_at("tls")):
            for unit in self.units:
                self.scan(unit)
            self._find_thread_locals(set(tls_offsets) - self._found_at("tls"))

    def _found_at(self, *kinds: str) -> set[int]:
        return {place for kind, place, _ in self.found if kind in kinds}

    def named(self, symbols: Set[str]) -> dict[str, int]:
        """The entries that describe some of ``symbols`` without saying where they lie."""
        found: dict[str, int] = {}
        for unit in self.units if symbols else ():
            if unit.is_scanned:
                with self._noting(unit):
                    for symbol, handle in folded_functions(unit, symbols):
                        found.setdefault(symbol, handle)
        left = [symbol for symbol in sorted(symbols) if symbol.startswith(MEMBER) and symbol not in found]
        with self._noting("a class with members that are exported"):
            found.update(members(self._index(), self.die, left) if left else ())
        return found

    def without_functions(self, addresses: Iterable[int]) -> Iterator[Unit]:
        """The units that hold code at some of ``addresses`` and place no function of theirs in a source file."""
        for unit in map(self._try_full, self._holding(addresses).values()):
            if not any(each.tag == dw.TAG_SUBPROGRAM and dw.AT_DECL_FILE in each.attributes for each in unit.table):
                yield unit

    def covered(self, addresses: Iterable[int]) -> set[int]:
        """Those of ``addresses`` where some unit says that it holds the code."""
        wanted = sorted(addresses)
        return {address for _, ranges in self._code for address in within(ranges, wanted)}

    def _find_thread_locals(self, tls_offsets: set[int]) -> None:
        """Finds thread-local variables by symbol name, where the debug information does not place them."""
        places = {name: offset for offset in tls_offsets for name in self._tls_offsets[offset]}
        for unit in self.units if places else ():
            with self._noting(unit):
                for handle in [unit.base + position for position in unit.unplaced]:
                    offset = places.get(self._symbol(handle))
                    if offset is not None:
                        self.found.append(("tls", offset, handle))

    def _symbol(self, handle: int) -> str:
        """The linkage name of a variable, or the name where it has none."""
        for _ in range(LONGEST_CHAIN):
            attributes = self.attributes(handle)
            if dw.AT_LINKAGE_NAME in attributes:
                return str(attributes[dw.AT_LINKAGE_NAME])
            outer: int = attributes.get(dw.AT_SPECIFICATION) or attributes.get(dw.AT_ABSTRACT_ORIGIN) or -1
            if outer < 0:
                return str(attributes.get(dw.AT_NAME, ""))
            handle = outer
        return ""

    def check_unchanged(self) -> None:
        """Raises :class:`abistore.errors.ExtractError` where a split file was written to since it was opened."""
        if "_split_files" in vars(self):
            self._split_files.check_unchanged()

    def close(self) -> None:
        """Lets go of everything: sections are most of the memory, and units and their parts hold each other."""
        for unit in chain(*(units for _, units in self._starts.values())):
            unit.close()
        vars(self).clear()

    # --- scanning -------------------------------------------------------------------------------------------------

    def scan(self, unit: Unit) -> None:
        """Reads the namespace scope of ``unit``, once: its scopes and classes, and ``found`` grows.

        A fault is recorded in ``problems``, and what was read before it holds.
        """
        if unit.is_scanned:
            return
        full = self._try_full(unit)
        if full is not unit:
            self.scan(full)
            return
        unit.is_scanned = True
        unit.starts, unit.scopes = [unit.position], [None]
        unit.classes, unit.containers, unit.constants = [], [], []
        unit.declared, unit.nameable, unit.unplaced, unit.inline = [], [], [], []
        with self._noting(unit):
            unit.load()
            scan_namespaces(unit, self._addresses, self._tls_offsets, self.found)

    def definitions(self, name: str) -> Sequence[int]:
        """The records and enums of this name at namespace scope, in any unit, that are not mere declarations."""
        return self._index().get(name, ())

    def _index(self) -> dict[str, list[int]]:
        if self._definitions is None:
            for unit in self.units:
                self.scan(unit)
            self._definitions = {}
            for unit in self.units:
                with self._noting(unit):
                    add_definitions(unit, self.attributes, self._definitions)
        return self._definitions

    def scope(self, handle: int) -> Scope:
        """What encloses an entry, outermost first: namespaces by name, records and functions by handle."""
        unit = self.unit(handle)
        if not unit.is_scanned:
            self.scan(unit)
        return self._scopes.of(unit, handle - unit.base)

    # --- entries --------------------------------------------------------------------------------------------------

    def unit(self, handle: int) -> Unit:
        """The unit that holds an entry."""
        last = self._last
        if last is not None and last.position <= handle - last.base < last.limit:
            return last
        section = self._starts.get(handle // BASE_STEP) if handle >= 0 else None
        if section is not None:
            starts, units = section
            index = bisect_right(starts, handle) - 1
            if index >= 0:
                unit = units[index]
                position = handle - unit.base
                if unit.position <= position < unit.limit:
                    self._last = unit
                    return unit
        raise MalformedDwarf(f"a reference to {handle:#x} leads to no entry")

    def entry(self, handle: int) -> tuple[Unit, Abbreviation, int]:
        """An entry without its attributes: its unit, its abbreviation, the position after its code."""
        unit = self._last
        if unit is None or not unit.position <= handle - unit.base < unit.limit:
            unit = self.unit(handle)
        if not unit.is_loaded:
            unit.load()
        data = unit.data
        position = handle - unit.base
        code = data[position]
        position += 1
        if code > 127:
            code, position = dw.unsigned(data, position - 1)
        return unit, unit.table[code], position

    def die(self, handle: int) -> tuple[Unit, Abbreviation, int, Attributes]:
        """An entry: its unit, its abbreviation, the position after its attributes, and its attributes."""
        unit, abbreviation, position = self.entry(handle)
        position, attributes = abbreviation.decode(unit.data, position, unit)
        return unit, abbreviation, position, attributes

    def attributes(self, handle: int) -> Attributes:
        """The attributes of an entry."""
        return self.die(handle)[3]

    def file(self, unit: Unit, index: int) -> str:
        """The file that ``DW_AT_decl_file`` means, relative to the compilation folder where below it; else empty."""
        unit.load()
        if unit.stmt_list is None:
            unit = unit.line_unit
        if unit.stmt_list is None:
            return ""
        key = (unit.base, unit.line_base + unit.stmt_list)
        try:
            if key not in self._files:
                self._files[key] = file_names(unit, unit.line_base + unit.stmt_list)
            return self._files[key][index]
        except MALFORMED as fault:
            self._fault(f"the line table at {unit.stmt_list:#x}: {describe(fault)}")
            self._files[key] = LineTableFiles(unit, (), ())
            return ""
