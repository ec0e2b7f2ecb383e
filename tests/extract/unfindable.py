"""Libraries for x86-64 with tables by which the dynamic linker does not find what their symbol table has."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from abistore.extract.elf.container import DynamicSection, ElfFile
from abistore.extract.elf.symbols import read_rows
from abistore.extract.files import InputFile
from tests.build import build_library

SOURCE = "int kept(void) { return 1; }\nint lost(void) { return 2; }\nint variable = 3;\n"
ALL = {"kept", "lost", "variable"}
VERSIONED = {"versions.map": "V1 { global: kept; lost; variable; local: *; };"}
Change: TypeAlias = Callable[["Tables", bytearray], None]


class Tables:
    """Where the tables of a library lie in its file, which is one for x86-64."""

    def __init__(self, path: Path) -> None:
        self.elf = ElfFile(InputFile(path), 1 << 30)
        found = DynamicSection.of(self.elf)
        assert found is not None
        self.dynamic = found

    def at(self, section: str) -> int:
        """The offset of a section."""
        return next(each.offset for each in self.elf.sections if each.name == section)

    def row(self, name: str) -> int:
        """The index of a symbol."""
        return next(each.index for each in read_rows(self.dynamic) if each.name == name)

    def symbol(self, name: str) -> int:
        """The offset of a symbol."""
        return self.at(".dynsym") + 24 * self.row(name)

    def buckets(self) -> tuple[int, int]:
        """The offset of the buckets of DT_GNU_HASH and their number."""
        at = self.at(".gnu.hash")
        count, _, words, _ = struct.unpack_from("<4I", self.elf.read_at(at, 16))
        return at + 16 + 8 * words, count

    def hash_of(self, name: str) -> int:
        """The offset of the hash of a symbol in DT_GNU_HASH."""
        start, count = self.buckets()
        first = struct.unpack("<I", self.elf.read_at(self.at(".gnu.hash") + 4, 4))[0]
        return start + 4 * count + 4 * (self.row(name) - first)


def no_buckets(tables: Tables, data: bytearray) -> None:
    start, count = tables.buckets()
    data[start : start + 4 * count] = bytes(4 * count)


def no_filter(tables: Tables, data: bytearray) -> None:
    at = tables.at(".gnu.hash") + 16
    data[at : tables.buckets()[0]] = bytes(tables.buckets()[0] - at)


def another_hash(tables: Tables, data: bytearray) -> None:
    data[tables.hash_of("lost") + 3] ^= 0x40


def chains_of_one(tables: Tables, data: bytearray) -> None:
    """Each symbol ends its chain, so that no linker comes to the next one."""
    for name in ALL:
        data[tables.hash_of(name)] |= 1


def no_old_buckets(tables: Tables, data: bytearray) -> None:
    at = tables.at(".hash")
    count = struct.unpack_from("<I", data, at)[0]
    data[at + 8 : at + 8 + 4 * count] = bytes(4 * count)


def another_name(tables: Tables, data: bytearray) -> None:
    data[:] = data.replace(b"\0lost\0", b"\0last\0")


def without(tag: int) -> Change:
    def change(tables: Tables, data: bytearray) -> None:
        at = tables.at(".dynamic")
        while struct.unpack_from("<Q", data, at)[0] != tag:
            at += 16
        struct.pack_into("<Q", data, at, 21)  # DT_DEBUG, which means nothing in a library

    return change


def nowhere(tables: Tables, data: bytearray) -> None:
    struct.pack_into("<Q", data, tables.symbol("lost") + 8, 0)


def a_section(tables: Tables, data: bytearray) -> None:
    data[tables.symbol("lost") + 4] = 0x13


def another_version_hash(tables: Tables, data: bytearray) -> None:
    data[tables.at(".gnu.version_d") + 28 + 8] ^= 1


def changed(change: Change, style: str, folder: Path) -> Path:
    flags = ("-O1", f"-Wl,--hash-style={style}", "-Wl,--version-script=versions.map")
    built = build_library(SOURCE, flags=flags, files=VERSIONED)
    data = bytearray(built.read_bytes())
    change(Tables(built), data)
    made = folder / built.name
    made.write_bytes(data)
    return made
