"""What dyld writes into a file when it loads it: addresses of the file itself, and symbols of other libraries.

Old files tell it by opcodes, new ones by chains of the words themselves (``mach-o/fixup-chains.h``).
"""

from __future__ import annotations

import struct
from collections.abc import Container, Iterator, Mapping
from typing import Final

import msgspec

from abistore.extract.macho.constants import LC_DYLD_INFO, LC_DYLD_INFO_ONLY
from abistore.extract.macho.container import MachOFile, MachoSegment
from abistore.extract.macho.imports import IMMEDIATE, OPCODE, chained_imports
from abistore.extract.macho.leb import Malformed, NameBudget, signed, text, unsigned
from abistore.extract.macho.symbol_table import plain_name

Fixups = Mapping[int, int | str]
"""What each place gets: an address of the file, or the symbol that is looked for."""

PAGE: Final = 1 << 12

MOST_FIXUPS: Final = 1 << 22
"""Places that are read of one file. The largest libraries have some hundred thousands."""

_SET_PLACE, _ADD, _ADD_SCALED = 0x20, 0x30, 0x40
_MANY, _MANY_LONG, _AND_ADD, _MANY_SKIPPING = 0x50, 0x60, 0x70, 0x80

_SYMBOL, _ADDEND, _BIND_PLACE, _BIND_ADD = 0x40, 0x60, 0x70, 0x80
_BIND, _BIND_AND_ADD, _BIND_SCALED, _BIND_MANY, _THREADED = 0x90, 0xA0, 0xB0, 0xC0, 0xD0
_LONG_ORDINAL: Final = 0x20

_HEADER: Final = struct.Struct("<7I")
_STARTS: Final = struct.Struct("<IHHQIH")
_COUNT: Final = struct.Struct("<I")

_SPECIAL: Final = 0x8000
"""Of the start of a page: it has no chain, or several."""


def fixups(macho: MachOFile, pages: Container[int]) -> Fixups:
    """What the words in ``pages`` get (addresses by :data:`PAGE`). Raises :class:`Malformed`."""
    if macho.chained is not None:
        offset, size = macho.unpacked(macho.chained, "II")
        found = dict(_chained(macho, macho.read_at(offset, size), pages))
        return {place: what for place, what in found.items() if place // PAGE in pages}
    command = macho.first(LC_DYLD_INFO_ONLY, LC_DYLD_INFO)
    if command is None:
        return {}
    tables = macho.unpacked(command, "10I")
    rebased = _rebased(macho, macho.read_at(*tables[0:2]))
    found = {place: stored(macho, place) for place in rebased if place // PAGE in pages}
    for start in (2, 4):  # bound symbols, then weak ones, which take the place of addresses
        bound = _bound(macho, macho.read_at(*tables[start : start + 2]))
        found |= {place: name for place, name in bound if name and place // PAGE in pages}
    return found


def stored(macho: MachOFile, address: int, width: int = 0) -> int:
    """The word in the file at ``address``, or a number of so many bytes; 0 where there is none."""
    width = width or macho.bits // 8
    for segment in macho.segments:
        offset = address - segment.address
        if 0 <= offset <= segment.file_size - width:
            return int.from_bytes(macho.read_at(segment.offset + offset, width), "little" if macho.little else "big")
    return 0


class _Steps:
    """Bounds how many places opcodes may name, however often they repeat one."""

    def __init__(self) -> None:
        self._left = MOST_FIXUPS

    def take(self, count: int) -> range:
        if not 0 <= count <= self._left:
            raise Malformed("dyld's opcodes name more places than a file has")
        self._left -= count
        return range(count)


def _start(macho: MachOFile, number: int) -> int:
    if number >= len(macho.segments):
        raise Malformed("dyld's opcodes name a segment that is not there")
    return macho.segments[number].address


def _rebased(macho: MachOFile, data: bytes) -> Iterator[int]:
    """The places that hold addresses of the file."""
    width, steps = macho.bits // 8, _Steps()
    at, address = 0, 0
    while at < len(data):
        opcode, low = data[at] & OPCODE, data[at] & IMMEDIATE
        at += 1
        count, stride = 0, width
        if opcode == _SET_PLACE:
            offset, at = unsigned(data, at)
            address = _start(macho, low) + offset
        elif opcode == _ADD:
            offset, at = unsigned(data, at)
            address += offset
        elif opcode == _ADD_SCALED:
            address += low * width
        elif opcode == _MANY:
            count = low
        elif opcode == _MANY_LONG:
            count, at = unsigned(data, at)
        elif opcode == _AND_ADD:
            offset, at = unsigned(data, at)
            count, stride = 1, width + offset
        elif opcode == _MANY_SKIPPING:
            count, at = unsigned(data, at)
            offset, at = unsigned(data, at)
            stride = width + offset
        yield from (address + number * stride for number in steps.take(count))
        address += count * stride


def _bound(macho: MachOFile, data: bytes) -> Iterator[tuple[int, str]]:
    """The places that get the addresses of symbols, and their names. Symbols at an offset have the name alone."""
    width, steps, budget = macho.bits // 8, _Steps(), NameBudget(len(data))
    at, address, name = 0, 0, ""
    while at < len(data):
        opcode, low = data[at] & OPCODE, data[at] & IMMEDIATE
        at += 1
        count, stride = 0, width
        if opcode == _LONG_ORDINAL:
            _, at = unsigned(data, at)
        elif opcode == _SYMBOL:
            raw, at = text(data, at)
            name = plain_name(budget.spend(raw))
        elif opcode == _ADDEND:
            _, at = signed(data, at)
        elif opcode == _BIND_PLACE:
            offset, at = unsigned(data, at)
            address = _start(macho, low) + offset
        elif opcode == _BIND_ADD:
            offset, at = unsigned(data, at)
            address = (address + offset) & (1 << 64) - 1
        elif opcode == _BIND:
            count = 1
        elif opcode == _BIND_AND_ADD:
            offset, at = unsigned(data, at)
            count, stride = 1, width + offset
        elif opcode == _BIND_SCALED:
            count, stride = 1, width * (low + 1)
        elif opcode == _BIND_MANY:
            count, at = unsigned(data, at)
            offset, at = unsigned(data, at)
            stride = width + offset
        elif opcode == _THREADED:
            return  # of prereleases for arm64e: chains of another form
        yield from (((address + number * stride) & (1 << 64) - 1, name) for number in steps.take(count))
        address = (address + count * stride) & (1 << 64) - 1


# --- chains -----------------------------------------------------------------------------------------------------------


class _Chains(msgspec.Struct, frozen=True):
    """The chains of one segment: where they begin, by page, and how their words are written."""

    segment: MachoSegment
    page: int
    form: int
    starts: tuple[int, ...]


def _chained(macho: MachOFile, data: bytes, pages: Container[int]) -> Iterator[tuple[int, int | str]]:
    """The words of the chains that reach into ``pages``."""
    names = [plain_name(each.name) for each in chained_imports(data, macho.max_bytes)]
    steps = _Steps()
    for chains in _chains(macho, data):
        contents = macho.read_at(chains.segment.offset, chains.segment.file_size)
        for number, first in enumerate(chains.starts):
            address = chains.segment.address + number * chains.page
            if first & _SPECIAL or not any(
                each // PAGE in pages for each in range(address, address + chains.page, PAGE)
            ):
                continue
            place = number * chains.page + first
            while place + 8 <= len(contents) and steps.take(1):
                word = int.from_bytes(contents[place : place + 8], "little")
                what, step = _decoded(word, chains.form, macho.base, names)
                yield chains.segment.address + place, what
                if not step:
                    break
                place += step


def _chains(macho: MachOFile, data: bytes) -> Iterator[_Chains]:
    """The chains of every segment that has any, of forms that are known."""
    starts = _unpacked(data, 0, _HEADER)[1]
    (count,) = _unpacked(data, starts, _COUNT)
    if count > len(macho.segments):
        raise Malformed("the chained fixups have more segments than the file")
    for segment, offset in zip(macho.segments, _unpacked(data, starts + 4, f"<{count}I"), strict=False):
        if offset:
            at = starts + offset
            _size, page, form, _offset, _maximum, pages = _unpacked(data, at, _STARTS)
            if form in _SIGNED or form in _UNSIGNED:
                yield _Chains(segment, page, form, _unpacked(data, at + _STARTS.size, f"<{pages}H"))


def _decoded(word: int, form: int, base: int, names: list[str]) -> tuple[int | str, int]:
    """What a word of a chain becomes, and how far it is to the next one: 0 at the end."""
    signs = form in _SIGNED
    step = (word >> 51 & 0x7FF) * 8 if signs else (word >> 51 & 0xFFF) * 4
    if word >> (62 if signs else 63) & 1:  # bound to a symbol
        ordinal = word & (0xFFFF if form in _SHORT_ORDINALS else 0xFFFFFF)
        return (names[ordinal] if ordinal < len(names) else ""), step
    if not signs:
        return (word & (1 << 36) - 1) + (base if form == _OFFSETS else 0), step
    is_signed = word >> 63
    target = word & ((1 << 32) - 1 if is_signed else (1 << 43) - 1)
    return target + (base if is_signed or form != _ARM64E else 0), step


_ARM64E, _ADDRESSES, _OFFSETS, _USERLAND, _USERLAND_24 = 1, 2, 6, 9, 12
_SIGNED: Final = frozenset({_ARM64E, _USERLAND, _USERLAND_24})
_UNSIGNED: Final = frozenset({_ADDRESSES, _OFFSETS})
_SHORT_ORDINALS: Final = frozenset({_ARM64E, _USERLAND})


def _unpacked(data: bytes, at: int, layout: struct.Struct | str) -> tuple[int, ...]:
    form = struct.Struct(layout) if isinstance(layout, str) else layout
    if at + form.size > len(data):
        raise Malformed("the chained fixups are cut off")
    return form.unpack_from(data, at)
