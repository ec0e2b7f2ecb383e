"""Split DWARF: the .dwo files and .dwp packages with the rest of skeleton units (DWARF 5, section 7.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from abistore.confinement import is_file
from abistore.errors import InputError
from abistore.extract.dwarf.bytes.faults import MALFORMED, describe
from abistore.extract.dwarf.bytes.packages import (
    ABBREV,
    INFO,
    LINE,
    RANGE_LISTS,
    STR_OFFSETS,
    TYPES,
    PackagedUnit,
    read_index,
)
from abistore.extract.dwarf.bytes.sections import DebugSections
from abistore.extract.dwarf.entries.units import Unit

if TYPE_CHECKING:
    from abistore.extract.dwarf.bytes.debug_file import DebugFile

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
