"""The indexes of DWARF packages (.dwp): where each unit's part of a section begins (DWARF 5, section 7.3.5)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from abistore.extract.dwarf.bytes.faults import MalformedDwarf

INFO, TYPES, ABBREV, LINE, STR_OFFSETS, RANGE_LISTS = 1, 2, 3, 4, 6, 8
"""Section identifiers of version 5; version 2 (GNU) has TYPES in addition, and MACRO under the last number."""

MOST_COLUMNS: Final = 32


class PackagedUnit(msgspec.Struct, frozen=True):
    """One unit of a package: its signature or split unit id, and the offset of its share in each section."""

    signature: int
    offsets: Mapping[int, int]


def read_index(data: bytes, prefix: str) -> Iterator[PackagedUnit]:
    """The rows of .debug_cu_index or .debug_tu_index. Raises :class:`MalformedDwarf`."""
    if not data:
        return
    (long_version,) = struct.unpack_from(prefix + "I", data, 0)
    (version,) = struct.unpack_from(prefix + "H", data, 0)
    if 2 not in (long_version, version) and version != 5:
        raise MalformedDwarf(f"package index of version {version}")
    columns, units, slots = struct.unpack_from(prefix + "III", data, 4)
    if columns > MOST_COLUMNS or 16 + 12 * slots + 4 * columns * (1 + units) > len(data):
        raise MalformedDwarf("a package index ends outside its section")
    signatures = struct.unpack_from(f"{prefix}{slots}Q", data, 16)
    indices = struct.unpack_from(f"{prefix}{slots}I", data, 16 + 8 * slots)
    table = 16 + 12 * slots
    sections = struct.unpack_from(f"{prefix}{columns}I", data, table)
    for signature, index in zip(signatures, indices, strict=True):
        if 0 < index <= units:
            offsets = struct.unpack_from(f"{prefix}{columns}I", data, table + 4 * columns * index)
            shares = dict(zip(sections, offsets, strict=True))
            if version != 5:
                shares.pop(RANGE_LISTS, None)
            yield PackagedUnit(signature, shares)
