"""The symbols of a PDB file: functions and variables at the addresses of exports, and what compiled them."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import msgspec

from abistore.extract.pdb.container import PdbContainer
from abistore.extract.pdb.faults import MalformedPdb
from abistore.extract.pdb.leaves import text

FUNCTIONS: Final = frozenset({0x110F, 0x1110, 0x1146, 0x1147})
VARIABLES: Final = frozenset({0x110C, 0x110D, 0x1112, 0x1113})
BY_ID: Final = frozenset({0x1146, 0x1147})
ALIAS, TRAMPOLINE, COMPILER, OLDER_COMPILER = 0x1108, 0x112C, 0x113C, 0x1116
NO_RETURN: Final = 0x08
WITHOUT_STREAM: Final = 0xFFFF
ASSEMBLER: Final = 3

LANGUAGES: Final = {0: "C", 1: "C++", 2: "Fortran", 3: "assembly", 4: "Pascal", 5: "Basic", 11: "C#", 16: "D"} | {
    0x15: "Rust",
    0x53: "Swift",
}

_HEADER: Final = struct.Struct("<4xIIH2xH2xH2xiiii")
_MODULE: Final = struct.Struct("<34xHI24x")
_FUNCTION: Final = struct.Struct("<4xI16xIIHB")
_VARIABLE: Final = struct.Struct("<IIH")
_TRAMPOLINE: Final = struct.Struct("<4xIIHH")
_SYMBOL: Final = struct.Struct("<HH")
_RANGES: Final = {0xF12EBA2D: 28, 0xF13151E4: 32}
_RANGE: Final = struct.Struct("<HxxII4xH")

Place = tuple[int, int]
"""The number of a section, from 1, and an offset in it."""


class PdbSymbol(msgspec.Struct, frozen=True):
    """A function or variable: where it lies, its qualified name, and the number of its type."""

    place: Place
    name: str
    type: int
    is_function: bool
    by_id: bool = False
    noreturn: bool = False


class Found(msgspec.Struct):
    """What lies at the places that were asked for, and in which modules.

    ``thunks`` are places of jumps that linkers put before functions, with where they lead. ``without_types`` are places
    in modules of assemblers.
    """

    symbols: list[PdbSymbol] = []
    thunks: dict[Place, Place] = {}
    without_types: set[Place] = set()
    compilers: set[str] = set()
    languages: set[str] = set()


class DebugModules:
    """The modules (object files) of a PDB file, of which those are read that hold what is asked for."""

    def __init__(self, container: PdbContainer) -> None:
        self._container = container
        stream = container.stream(3)
        header = _HEADER.unpack_from(stream)
        version, self.age, _, _, self._records, modules, ranges, _, _ = header
        if min(modules, ranges) < 0 or version < 19970000 or 64 + modules + ranges > len(stream):
            raise MalformedPdb("the PDB file is corrupt: its list of modules contradicts itself")
        self._modules = list(_modules(stream[64 : 64 + modules]))
        self._ranges = sorted(_contributions(stream[64 + modules : 64 + modules + ranges]))

    def find(self, places: Collection[Place]) -> Found:
        """What lies at ``places``, and behind the jumps there."""
        found = Found()
        self._read_linker(found)
        wanted = {*places, *(found.thunks[each] for each in places if each in found.thunks)}
        for number, within in sorted(self._holding(wanted).items()):
            self._read_module(number, within, found)
        found.symbols += self._variables(wanted)
        return found

    def aliases(self) -> Iterator[tuple[int, str]]:
        """The types that have a name by ``typedef``."""
        for kind, data in _symbols(self._container.stream(self._records), 0):
            if kind == ALIAS:
                yield struct.unpack_from("<I", data)[0], text(data, 4)[0]

    def _holding(self, places: Collection[Place]) -> dict[int, set[Place]]:
        starts = [each[:2] for each in self._ranges]
        holding: dict[int, set[Place]] = {}
        for place in places:
            at = bisect_right(starts, place) - 1
            if at >= 0:
                section, start, size, module = self._ranges[at]
                if section == place[0] and start <= place[1] < start + max(size, 1):
                    holding.setdefault(module, set()).add(place)
        return holding

    def _read_linker(self, found: Found) -> None:
        for number, (name, _, _) in enumerate(self._modules):
            if name == "* Linker *":
                for kind, data in self._of(number):
                    if kind == TRAMPOLINE and len(data) >= _TRAMPOLINE.size:
                        start, target, section, behind = _TRAMPOLINE.unpack_from(data)
                        found.thunks[section, start] = behind, target

    def _of(self, number: int) -> Iterator[tuple[int, bytes]]:
        if number >= len(self._modules) or self._modules[number][1] == WITHOUT_STREAM:
            return iter(())
        _, stream, size = self._modules[number]
        return _symbols(self._container.stream(stream)[:size], 4)

    def _read_module(self, number: int, places: set[Place], found: Found) -> None:
        language = -1
        for kind, data in self._of(number):
            if kind in (COMPILER, OLDER_COMPILER):
                language = data[0]
                found.compilers.add(text(data, 22 if kind == COMPILER else 18)[0])
                found.languages.add(LANGUAGES.get(language, f"language {language:#x}"))
            elif kind in FUNCTIONS:
                _, type, offset, section, flags = _FUNCTION.unpack_from(data)
                if (section, offset) in places:
                    name = text(data, _FUNCTION.size)[0]
                    symbol = PdbSymbol((section, offset), name, type, True, kind in BY_ID, bool(flags & NO_RETURN))
                    found.symbols.append(symbol)
            elif kind in VARIABLES:
                found.symbols += _variable(data, places)
        if language == ASSEMBLER:
            found.without_types |= places

    def _variables(self, places: Collection[Place]) -> Iterator[PdbSymbol]:
        for kind, data in _symbols(self._container.stream(self._records), 0):
            if kind in VARIABLES:
                yield from _variable(data, places)


def _variable(data: bytes, places: Collection[Place]) -> Iterator[PdbSymbol]:
    type, offset, section = _VARIABLE.unpack_from(data)
    if (section, offset) in places:
        yield PdbSymbol((section, offset), text(data, _VARIABLE.size)[0], type, False)


def _symbols(stream: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """The records of a symbol stream. What is within a function is passed over."""
    unpack = _SYMBOL.unpack_from
    end = len(stream)
    while at + 4 <= end:
        length, kind = unpack(stream, at)
        after = at + 2 + max(length, 2)
        yield kind, stream[at + 4 : after]
        if kind in FUNCTIONS and at + 12 <= end:
            (behind,) = struct.unpack_from("<I", stream, at + 8)
            after = behind if after < behind < end else after
        at = after


def _modules(data: bytes) -> Iterator[tuple[str, int, int]]:
    """The name of each module, the number of its stream, and how much of that are symbols."""
    at = 0
    while at + 64 < len(data):
        stream, size = _MODULE.unpack_from(data, at)
        name, at = text(data, at + 64)
        _, at = text(data, at)
        yield name, stream, size
        at = (at + 3) & ~3


def _contributions(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """The parts of sections, and the module that each is of."""
    if len(data) < 4:
        return
    width = _RANGES.get(struct.unpack_from("<I", data)[0])
    if width is None:
        raise MalformedPdb("the PDB file is corrupt: its table of sections has an unknown form")
    for at in range(4, len(data) - width + 1, width):
        yield _RANGE.unpack_from(data, at)


def symbols_at(found: Found, place: Place) -> Sequence[PdbSymbol]:
    """What lies at ``place``, or behind the jump there."""
    target = found.thunks.get(place, place)
    return [each for each in found.symbols if each.place == target]
