"""The dynamic section, read from where the loader reads it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

from abistore.errors import ExtractError
from abistore.extract.elf.container import PT_LOAD, SHT_NOBITS, ElfFile, ElfSegment
from abistore.extract.string_table import text_at

PT_DYNAMIC, PT_INTERP = 2, 3
LONGEST_PATH = 4096
PAGE: Final = 4096
"""The loader maps whole pages: of 4,096 bytes where they are smallest."""
DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SONAME, DT_RPATH = 1, 4, 5, 6, 10, 14, 15
DT_INIT, DT_FINI, DT_SYMBOLIC, DT_TEXTREL, DT_BIND_NOW, DT_RUNPATH, DT_FLAGS = 12, 13, 16, 22, 24, 29, 30
DT_RELR, DT_GNU_HASH, DT_VERSYM, DT_FLAGS_1 = 36, 0x6FFFFEF5, 0x6FFFFFF0, 0x6FFFFFFB
DT_VERDEF, DT_VERDEFNUM, DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
DT_AUXILIARY, DT_FILTER = 0x7FFFFFFD, 0x7FFFFFFF
DT_MIPS_XHASH = 0x70000036

DF_TEXTREL, DF_BIND_NOW = 0x4, 0x8
DF_1_NOW, DF_1_PIE = 0x1, 0x08000000

_FLAGS = {0x1: "DF_ORIGIN", 0x2: "DF_SYMBOLIC", 0x10: "STATIC_TLS"}
_FLAGS_1 = {
    0x2: "DF_1_GLOBAL",
    0x4: "DF_1_GROUP",
    0x8: "DF_1_NODELETE",
    0x10: "DF_1_LOADFLTR",
    0x20: "DF_1_INITFIRST",
    0x40: "DF_1_NOOPEN",
    0x80: "DF_1_ORIGIN",
    0x100: "DF_1_DIRECT",
    0x400: "DF_1_INTERPOSE",
    0x800: "DF_1_NODEFLIB",
    0x1000: "DF_1_NODUMP",
    0x00100000: "DF_1_NODIRECT",
    0x02000000: "DF_1_SINGLETON",
}


class DynamicSection:
    """The entries of PT_DYNAMIC by tag, and the tables that they point to.

    Raises :class:`ExtractError` where the table, its strings or a loaded segment lie outside the file.
    """

    def __init__(self, elf: ElfFile, values: dict[int, list[int]]) -> None:
        self.elf = elf
        self.values = values

    @classmethod
    def of(cls, elf: ElfFile) -> DynamicSection | None:
        """The dynamic section of ``elf``, or ``None`` where it is linked statically."""
        segment = next((s for s in elf.segments if s.type == PT_DYNAMIC), None)
        if segment is None:
            return None
        if not segment.file_size or any(s.name == ".dynamic" and s.type == SHT_NOBITS for s in elf.sections):
            raise ExtractError(
                f"{elf.path}: holds debug information only",
                "pass the library itself, and this file's folder as --debug-dir",
            )
        _check_loaded([each for each in elf.segments if each.type == PT_LOAD], elf)
        data = elf.read_at(segment.offset, segment.file_size)
        entry = struct.Struct(elf.order + ("iI" if elf.bits == 32 else "qQ"))
        values: dict[int, list[int]] = {}
        for tag, value in entry.iter_unpack(data[: len(data) // entry.size * entry.size]):
            if tag == 0:
                break
            values.setdefault(tag, []).append(value)
        return cls(elf, values)

    def get(self, tag: int) -> int | None:
        """The value of ``tag``, the last one where it is repeated, as the loader takes it."""
        found = self.values.get(tag)
        return found[-1] if found else None

    @cached_property
    def strings(self) -> bytes:
        """The dynamic string table."""
        address, size = self.get(DT_STRTAB), self.get(DT_STRSZ)
        if address is None or not size:
            return b""
        return self.elf.at_address(address, size)

    def texts(self, tag: int) -> tuple[str, ...]:
        """The strings of all entries with ``tag``, in order."""
        return tuple(text_at(self.strings, offset) for offset in self.values.get(tag, ()))

    def text(self, tag: int) -> str | None:
        """The string of the last entry with ``tag``, or ``None`` where there is none or it is empty."""
        found = self.texts(tag)
        return (found[-1] or None) if found else None

    @property
    def flags(self) -> int:
        """DT_FLAGS."""
        return self.get(DT_FLAGS) or 0

    @property
    def flags_1(self) -> int:
        """DT_FLAGS_1."""
        return self.get(DT_FLAGS_1) or 0

    @property
    def bind_now(self) -> bool:
        """Whether the loader resolves all symbols at once, by any of the three ways to ask for it."""
        return DT_BIND_NOW in self.values or bool(self.flags & DF_BIND_NOW or self.flags_1 & DF_1_NOW)

    @property
    def text_relocations(self) -> bool:
        """Whether relocations may change read-only segments."""
        return DT_TEXTREL in self.values or bool(self.flags & DF_TEXTREL)


def _check_loaded(loaded: Sequence[ElfSegment], elf: ElfFile) -> None:
    """Refuse segments that are not all in the file, and those that lay another part of it over a page of one before."""
    for segment in loaded:
        elf.file.check_range(segment.offset, segment.file_size)
    for before, after in pairwise(sorted(loaded, key=lambda each: each.address)):
        end = before.address + before.memory_size
        if after.address // PAGE * PAGE < end and after.address - after.offset != before.address - before.offset:
            raise ExtractError(f"{elf.path}: a loaded segment lies over a part of another one", "link the library anew")


def features(dynamic: DynamicSection) -> tuple[str, ...]:
    """What else the loader is told, by the names of the gABI and of ``elf.h``, sorted."""
    found = {name for bit, name in _FLAGS.items() if dynamic.flags & bit}
    found |= {name for bit, name in _FLAGS_1.items() if dynamic.flags_1 & bit}
    if DT_SYMBOLIC in dynamic.values:
        found.add("DF_SYMBOLIC")
    if DT_RELR in dynamic.values:
        found.add("DT_RELR")
    if DT_HASH in dynamic.values:
        found.add("DT_HASH")
    interpreter = next((each for each in dynamic.elf.segments if each.type == PT_INTERP), None)
    if interpreter is not None:
        text = dynamic.elf.read_at(interpreter.offset, min(interpreter.file_size, LONGEST_PATH))
        found.add(f"PT_INTERP {text.partition(bytes(1))[0].decode('utf-8', 'replace')}")
    found.update(f"DT_AUXILIARY {name}" for name in dynamic.texts(DT_AUXILIARY))
    found.update(f"DT_FILTER {name}" for name in dynamic.texts(DT_FILTER))
    return tuple(sorted(found))
