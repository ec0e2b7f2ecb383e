"""What the dynamic linker goes through once a file is mapped, and of which a part is not in memory, or not writable.

It does not check any of this: the program that loads the file crashes, or runs with what was not relocated.
"""

from __future__ import annotations

import array
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from abistore.extract.elf.container import PT_LOAD, PT_TLS, SHT_NOBITS, ElfFile, ElfSegment
from abistore.extract.elf.dynamic import PAGE, PT_DYNAMIC, DynamicSection
from abistore.extract.elf.machines import EM_MIPS

PT_GNU_RELRO: Final = 0x6474E552
PF_W: Final = 2
SHF_ALLOC, SHF_TLS = 0x2, 0x400
NONE: Final = 0
"""The relocation of every machine that changes nothing, wherever it is."""

DT_RELA, DT_RELASZ, DT_REL, DT_RELSZ, DT_PLTREL, DT_JMPREL, DT_PLTRELSZ = 7, 8, 17, 18, 20, 23, 2
DT_RELR, DT_RELRSZ = 36, 35
DT_INIT, DT_FINI, DT_PLTGOT = 12, 13, 3
DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_FINI_ARRAY, DT_FINI_ARRAYSZ = 25, 27, 26, 28

TABLES: Final = (
    ("DT_RELA", DT_RELA, DT_RELASZ, 3),
    ("DT_REL", DT_REL, DT_RELSZ, 2),
    ("DT_RELR", DT_RELR, DT_RELRSZ, 1),
    ("DT_INIT_ARRAY", DT_INIT_ARRAY, DT_INIT_ARRAYSZ, 1),
    ("DT_FINI_ARRAY", DT_FINI_ARRAY, DT_FINI_ARRAYSZ, 1),
)
"""The tables by the entries that say where they are and how large, and the words in a row."""

ADDRESSES: Final = (("DT_INIT", DT_INIT), ("DT_FINI", DT_FINI), ("DT_PLTGOT", DT_PLTGOT))


class _Memory:
    """The loaded segments by address, of which no two overlap, and the runs of pages that they make."""

    def __init__(self, segments: Sequence[ElfSegment]) -> None:
        loaded = (each for each in segments if each.type == PT_LOAD and each.memory_size)
        self._loaded = sorted(loaded, key=lambda each: each.address)
        self._starts = [each.address for each in self._loaded]
        self._runs: list[tuple[int, int]] = []
        for each in self._loaded:
            start, end = each.address // PAGE * PAGE, -(-(each.address + each.memory_size) // PAGE) * PAGE
            if self._runs and start <= self._runs[-1][1]:
                start, last = self._runs.pop()
                end = max(end, last)
            self._runs.append((start, end))

    def has(self, address: int, size: int) -> bool:
        """Whether pages side by side have these bytes."""
        at = bisect_right(self._runs, (address, sys.maxsize << 1)) - 1
        return at >= 0 and address + size <= self._runs[at][1]

    def has_of_file(self, address: int, size: int, offset: int | None = None) -> bool:
        """Whether one segment has these bytes from the file, and from this place of it."""
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            return False
        segment = self._loaded[at]
        right_place = offset is None or segment.address - segment.offset == address - offset
        return right_place and address + size <= segment.address + segment.file_size


def unmapped(dynamic: DynamicSection) -> Iterator[str]:
    """What lies in no loaded segment, or where nothing can be written that relocations change."""
    elf = dynamic.elf
    memory = _Memory(elf.segments)
    yield from _segments(elf, memory)
    yield from _sections(elf, memory)
    for name, tag in ADDRESSES:
        address = dynamic.get(tag)
        if address and not memory.has(address, 1):
            yield f"{name} lies in no loaded segment"
    calls = 3 if dynamic.get(DT_PLTREL) == DT_RELA else 2
    for name, tag, length, columns in (*TABLES, ("DT_JMPREL", DT_JMPREL, DT_PLTRELSZ, calls)):
        address, size = dynamic.get(tag), dynamic.get(length)
        if address is None and size is None:
            continue
        if address is None or size is None or size % (columns * elf.bits // 8):
            yield f"{name} and its size are not those of a table"
        elif size and not memory.has_of_file(address, size):
            yield f"{name} lies in no loaded segment"
        elif size and columns > 1:
            yield from _places(dynamic, name, elf.at_address(address, size), columns)


def _segments(elf: ElfFile, memory: _Memory) -> Iterator[str]:
    for each in elf.segments:
        if each.type == PT_DYNAMIC and not memory.has_of_file(each.address, each.file_size, each.offset):
            yield "PT_DYNAMIC lies in no loaded segment"
        if each.type == PT_TLS and each.file_size and not memory.has_of_file(each.address, each.file_size, each.offset):
            yield "PT_TLS lies in no loaded segment"
        if each.type == PT_TLS and each.file_size > each.memory_size:
            yield "PT_TLS is larger in the file than in memory"
        if each.type == PT_GNU_RELRO:
            start, end = (place // PAGE * PAGE for place in (each.address, each.address + each.memory_size))
            if end > start and not memory.has(start, end - start):
                yield "PT_GNU_RELRO lies in no loaded segment"


def _sections(elf: ElfFile, memory: _Memory) -> Iterator[str]:
    """Sections that belong into memory and that no segment brings there."""
    for each in elf.sections:
        if not each.flags & SHF_ALLOC or not each.size or not each.address:
            continue
        if each.type == SHT_NOBITS:
            held = each.flags & SHF_TLS or memory.has(each.address, each.size)
        else:
            held = memory.has_of_file(each.address, each.size, each.offset)
        if not held:
            yield f"section {each.name} lies in no loaded segment"


def _places(dynamic: DynamicSection, name: str, data: bytes, columns: int) -> Iterator[str]:
    """Relocations of what is not in memory, or cannot be written."""
    elf = dynamic.elf
    words = array.array("Q" if elf.bits == 64 else "I", data)
    if elf.little != (sys.byteorder == "little"):
        words.byteswap()
    places, asked = words[0::columns], words[1::columns]
    writable = [
        range(each.address, each.address + each.memory_size)
        for each in elf.segments
        if each.type == PT_LOAD and (each.flags & PF_W or dynamic.text_relocations)
    ]
    if elf.machine == EM_MIPS or _count_within(places, writable) == len(places):
        return
    kinds = 0xFFFFFFFF if elf.bits == 64 else 0xFF
    acting = [place for place, info in zip(places, asked, strict=True) if info & kinds != NONE]
    if _count_within(acting, writable) != len(acting):
        yield f"{name} changes what is not in memory, or cannot be written"


def _count_within(places: Collection[int], ranges: Sequence[range]) -> int:
    ordered = sorted(places)
    return sum(bisect_right(ordered, each.stop - 1) - bisect_left(ordered, each.start) for each in ranges)
