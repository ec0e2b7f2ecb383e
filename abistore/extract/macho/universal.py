"""Universal files: one file with a part for each architecture."""

from __future__ import annotations

import struct

import msgspec

from abistore.errors import ExtractError
from abistore.extract.input_file import InputFile
from abistore.extract.macho.constants import FAT_MAGIC, FAT_MAGIC_64, MAGICS

MOST_PARTS = 42
"""More parts than there are architectures. The magic is also that of Java classes, whose version stands there."""

_HEADER = struct.Struct(">II")


class UniversalPart(msgspec.Struct, frozen=True):
    """Where one architecture lies in a file."""

    offset: int
    size: int


def is_universal(head: bytes) -> bool:
    """Whether ``head`` begins a universal file."""
    if len(head) < _HEADER.size:
        return False
    magic, count = _HEADER.unpack_from(head)
    return magic in (FAT_MAGIC, FAT_MAGIC_64) and count <= MOST_PARTS


def is_macho(head: bytes) -> bool:
    """Whether ``head`` begins a Mach-O file, universal or of one architecture."""
    return head[:4] in MAGICS or is_universal(head)


def parts_of(file: InputFile) -> tuple[UniversalPart, ...]:
    """The parts of a universal file, in its order; of another one the whole. Raises :class:`ExtractError`."""
    if not is_universal(file.head):
        return (UniversalPart(0, file.size),)
    magic, count = _HEADER.unpack_from(file.head)
    row = struct.Struct(">IIQQII" if magic == FAT_MAGIC_64 else ">IIIII")
    table = file.read_at(_HEADER.size, row.size * count)
    ends = _HEADER.size + row.size * count
    parts = []
    for _cpu, _subtype, offset, size, *_ in sorted(row.iter_unpack(table), key=lambda each: int(each[2])):
        if offset < ends:
            raise ExtractError(f"{file.path}: the parts of the universal file overlap", "copy or download it again")
        file.check_range(offset, size)
        ends = offset + size
        parts.append(UniversalPart(offset, size))
    return tuple(parts)
