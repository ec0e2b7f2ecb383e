"""Notes of an ELF file: the build-id and the GNU properties."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

import msgspec

NT_GNU_BUILD_ID, NT_GNU_PROPERTY = 3, 5


class ElfNote(msgspec.Struct, frozen=True):
    """One note: its owner's name, its type, its description."""

    owner: bytes
    type: int
    data: bytes


def read_notes(data: bytes, order: str, alignment: int) -> Iterator[ElfNote]:
    """The notes in ``data``, up to the first one that does not fit (gABI, "Note Section")."""
    layout = struct.Struct(order + "III")
    align = 8 if alignment == 8 else 4
    position = 0
    while position + layout.size <= len(data):
        name_size, size, kind = layout.unpack_from(data, position)
        start = position + layout.size
        content = _round(start + name_size, align)
        if content + size > len(data):
            return
        yield ElfNote(data[start : start + name_size].rstrip(b"\0"), kind, data[content : content + size])
        position = _round(content + size, align)


def properties(notes: Iterable[ElfNote], order: str, bits: int) -> dict[int, int]:
    """The GNU properties that are one 32-bit word, by property type (Linux gABI extensions)."""
    found: dict[int, int] = {}
    align = 8 if bits == 64 else 4
    for note in notes:
        if note.owner != b"GNU" or note.type != NT_GNU_PROPERTY:
            continue
        position = 0
        while position + 8 <= len(note.data):
            kind, size = struct.unpack_from(order + "II", note.data, position)
            if size == 4 and position + 12 <= len(note.data):
                found[kind] = struct.unpack_from(order + "I", note.data, position + 8)[0]
            position = _round(position + 8 + size, align)
    return found


def _round(value: int, alignment: int) -> int:
    return (value + alignment - 1) & -alignment
