"""Address ranges: of units (.debug_aranges) and entries (.debug_ranges, .debug_rnglists; DWARF 5, section 2.17.3)."""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes import leb
from abistore.extract.dwarf.bytes.faults import MalformedDwarf
from abistore.extract.dwarf.bytes.forms import SIZE_CODES
from abistore.extract.dwarf.entries.units import WIDE_LENGTH, Unit

END, BASE_X, START_X_END_X, START_X_LENGTH, OFFSET_PAIR, BASE, START_END, START_LENGTH = range(8)
"""The kinds of entries in .debug_rnglists."""

MOST_RANGES: Final = 1 << 20
"""Bound on the ranges of one entry."""

Range: TypeAlias = tuple[int, int]
"""A first address, and a number of bytes."""


def within(ranges: Iterable[Range], addresses: Sequence[int]) -> Iterator[int]:
    """Those of sorted ``addresses`` that lie in some of ``ranges``."""
    for first, length in ranges if addresses else ():
        index = bisect_left(addresses, first)
        while index < len(addresses) and addresses[index] - first < length:
            yield addresses[index]
            index += 1


def ranges_of(unit: Unit, offset: int) -> Iterator[tuple[int, int]]:
    """The ranges (first address, address after the last) of an entry whose DW_AT_ranges is ``offset``."""
    if unit.version < 5:
        return _old_ranges(unit, offset + unit.ranges_offset)
    return _range_list(unit, offset)


def _old_ranges(unit: Unit, position: int) -> Iterator[tuple[int, int]]:
    data = unit.shared.read("ranges")
    size = unit.address_size
    pair = struct.Struct(unit.format.prefix + 2 * SIZE_CODES[size])
    escape = (1 << 8 * size) - 1
    base = unit.low_pc
    while True:
        start, end = pair.unpack_from(data, position)
        position += pair.size
        if start == end == 0:
            return
        if start == escape:
            base = end
        elif start < end:
            yield start + base, end + base


def _range_list(unit: Unit, position: int) -> Iterator[tuple[int, int]]:
    data, size = unit.sections.read("rnglists"), unit.address_size
    base = unit.low_pc

    def address(position: int) -> tuple[int, int]:
        return int.from_bytes(data[position : position + size], unit.order), position + size

    def indexed(position: int) -> tuple[int, int]:
        index, position = leb.unsigned(data, position)
        return unit.indexed_address(index), position

    for _ in range(MOST_RANGES):
        kind = data[position]
        position += 1
        if kind == END:
            return
        if kind in (BASE, BASE_X):
            base, position = address(position) if kind == BASE else indexed(position)
            continue
        if kind == OFFSET_PAIR:
            start, position = leb.unsigned(data, position)
            end, position = leb.unsigned(data, position)
            start, end = start + base, end + base
        elif kind == START_END:
            start, position = address(position)
            end, position = address(position)
        elif kind == START_X_END_X:
            start, position = indexed(position)
            end, position = indexed(position)
        elif kind in (START_LENGTH, START_X_LENGTH):
            start, position = address(position) if kind == START_LENGTH else indexed(position)
            length, position = leb.unsigned(data, position)
            end = start + length
        else:
            raise MalformedDwarf(f"unknown kind {kind} of range list entry")
        if start < end:
            yield start, end
    raise MalformedDwarf("a range list has no end")


def unit_ranges(unit: Unit) -> Iterator[tuple[int, int]]:
    """The ranges that the root entry of a loaded unit gives."""
    root = unit.root
    if dw.AT_RANGES in root:
        yield from ranges_of(unit, root[dw.AT_RANGES])
    elif unit.low_pc < unit.high_pc:
        yield unit.low_pc, unit.high_pc


def read_aranges(data: bytes, prefix: str, fault: Callable[[str], None]) -> Iterator[tuple[int, list[Range]]]:
    """The sets of .debug_aranges that hold code: the unit's offset in .debug_info, and the ranges."""
    position = 0
    try:
        while position < len(data):
            position, unit, ranges = _aranges_set(data, position, prefix)
            if any(length for _, length in ranges):
                yield unit, ranges
    except (struct.error, MalformedDwarf) as error:
        fault(f".debug_aranges ends early at {position:#x} ({error})")


def _aranges_set(data: bytes, position: int, prefix: str) -> tuple[int, int, list[Range]]:
    """The position after a set, its unit's offset, and its ranges: the last one is empty, which ends the set."""
    start, offset = position, "I"
    length: int = struct.unpack_from(prefix + "I", data, position)[0]
    position += 4
    if length == WIDE_LENGTH:
        (length,) = struct.unpack_from(prefix + "Q", data, position)
        position += 8
        offset = "Q"
    end = position + length
    header = struct.Struct(f"{prefix}H{offset}BB")
    _, unit, address_size, segment_size = header.unpack_from(data, position)
    if address_size not in SIZE_CODES or segment_size or not position < end <= len(data):
        raise MalformedDwarf("bad header")
    position += header.size
    step = 2 * address_size
    position = start + -(-(position - start) // step) * step
    pairs = struct.iter_unpack(prefix + 2 * SIZE_CODES[address_size], data[position : end - (end - position) % step])
    return end, unit, list(pairs)
