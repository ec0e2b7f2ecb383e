"""Why the dynamic linker would refuse a file: fields that it reads before it maps anything, and what must agree.

The checks are those of glibc (``elf/dl-load.c``, ``elf/get-dynamic-info.h``, ``elf/dl-version.c``); other dynamic
linkers have some of them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from abistore.extract.elf.container import PT_LOAD, ElfFile
from abistore.extract.elf.dynamic import (
    DF_1_PIE,
    DT_VERDEF,
    DT_VERDEFNUM,
    DT_VERNEED,
    DT_VERNEEDNUM,
    DT_VERSYM,
    PAGE,
    DynamicSection,
)
from abistore.extract.elf.machines import EM_ARM, EM_MIPS
from abistore.extract.elf.mapped import unmapped

CURRENT: Final = 1
"""EV_CURRENT, and the only version of the records of symbol versions."""

MOST_RECORDS: Final = 0x7FFF
"""An index of a version has 15 bits."""

SYSV, GNU = 0, 3
MOST_ABI: Final = {SYSV: 0, GNU: 3}
"""The highest EI_ABIVERSION for each OS ABI of Linux."""

DT_PLTREL, DT_RELA, DT_REL = 20, 7, 17
DT_RELAENT, DT_RELENT = 9, 19
EM_386: Final = 3
ENTRY_BYTES: Final = {(DT_RELAENT, 64): 24, (DT_RELAENT, 32): 12, (DT_RELENT, 64): 16, (DT_RELENT, 32): 8}


def refusals(dynamic: DynamicSection) -> Iterator[str]:
    """What the dynamic linker would say of a file that it does not load, field by field."""
    yield from _header(dynamic.elf)
    yield from _segments(dynamic.elf)
    if dynamic.flags_1 & DF_1_PIE:
        yield "DF_1_PIE: it is a position-independent executable"
    yield from _relocations(dynamic)
    yield from _versions(dynamic)
    yield from unmapped(dynamic)


def _versions(dynamic: DynamicSection) -> Iterator[str]:
    if DT_VERSYM not in dynamic.values and (DT_VERDEF in dynamic.values or DT_VERNEED in dynamic.values):
        yield "DT_VERSYM is missing beside a table of versions"
    for tag, count, name, step in ((DT_VERDEF, DT_VERDEFNUM, "Verdef", 16), (DT_VERNEED, DT_VERNEEDNUM, "Verneed", 12)):
        address, number = dynamic.get(tag), dynamic.get(count)
        if address is not None and number:
            others = {each for each in _record_versions(dynamic, address, number, step) if each != CURRENT}
            yield from (f"{name} of version {each}" for each in others)


def _record_versions(dynamic: DynamicSection, address: int, number: int, step: int) -> Iterator[int]:
    """The version of each record; ``step`` is where a record says how far the next one is."""
    record = struct.Struct(f"{dynamic.elf.order}H{step - 2}xI")
    for _ in range(min(number, MOST_RECORDS)):
        version, further = record.unpack(dynamic.elf.at_address(address, record.size))
        yield version
        if not further:
            return
        address += further


def _header(elf: ElfFile) -> Iterator[str]:
    identification = elf.read_at(0, 16)
    if identification[6] != CURRENT:
        yield f"EI_VERSION {identification[6]}"
    most = MOST_ABI.get(identification[7])
    if most is not None and identification[8] > most and elf.machine not in (EM_MIPS, EM_ARM):
        yield f"EI_ABIVERSION {identification[8]}"
    if any(identification[9:]):
        yield "EI_PAD is not zero"
    if elf.version != CURRENT:
        yield f"e_version {elf.version}"


def _segments(elf: ElfFile) -> Iterator[str]:
    loaded = [each for each in elf.segments if each.type == PT_LOAD]
    for each in loaded:
        if (each.address - each.offset) & (max(each.alignment, PAGE) - 1):
            yield f"PT_LOAD at {each.address:#x} is not aligned in the file as in memory"
    if any(before.address > after.address for before, after in pairwise(loaded)):
        yield "PT_LOAD segments are not in the order of their addresses"


def _relocations(dynamic: DynamicSection) -> Iterator[str]:
    for tag, name in ((DT_RELAENT, "DT_RELAENT"), (DT_RELENT, "DT_RELENT")):
        size = dynamic.get(tag)
        if size is not None and size != ENTRY_BYTES[tag, dynamic.elf.bits]:
            yield f"{name} {size}"
    kind = dynamic.get(DT_PLTREL)
    allowed = {EM_386: (DT_REL,), EM_ARM: (DT_REL, DT_RELA), EM_MIPS: (DT_REL, DT_RELA)}
    if kind is not None and kind not in allowed.get(dynamic.elf.machine, (DT_RELA,)):
        yield f"DT_PLTREL {kind}"
