"""One small library for x86-64, and single fields of its file: to change one is to have another file."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from abistore.extract.elf.container import PT_LOAD
from abistore.extract.elf.symbols import PT_TLS
from tests.extract.unfindable import Tables
from tests.running import versioned

SOURCE = """
int table[4] = {4, 3, 2, 1};
_Thread_local int own = 7;
int norm(int a) { return a + own - 7; }
int puts(const char *text);
int say(int a) { return a > 100 ? puts("x") : a; }
"""
SCRIPT = "V1 { global: norm; table; say; own; local: *; };"
PROGRAM = """
#include <stdio.h>
extern int table[4];
extern _Thread_local int own;
int norm(int), say(int);
int main(void) { printf("%d %d %d %d", norm(3), table[0], say(5), own); }
"""
"""It has a copy of ``table``."""

Field: TypeAlias = Callable[[Tables], tuple[int, str]]
"""The offset of a field in the file, and its format for :mod:`struct`."""


def library() -> Path:
    """The library, whose DT_FLAGS_1 has room for further flags."""
    return versioned(SOURCE, SCRIPT, flags=("-g", "-O1", "-Wl,-z,nodelete"))


def with_field(field: Field, value: int, folder: Path) -> Path:
    """The library with another value in one field."""
    built = library()
    at, layout = field(Tables(built))
    data = bytearray(built.read_bytes())
    struct.pack_into(f"<{layout}", data, at, value)
    changed = folder / "changed.so"
    changed.write_bytes(data)
    return changed


def at(offset: int, layout: str = "B") -> Field:
    """A field of the header."""
    return lambda tables: (offset, layout)


def version_of(name: str) -> Field:
    """The index of a symbol's version in ``.gnu.version``."""
    return lambda tables: (tables.at(".gnu.version") + 2 * tables.row(name), "H")


def of_symbol(name: str, offset: int, layout: str) -> Field:
    """A field of a row of the symbol table."""
    return lambda tables: (tables.symbol(name) + offset, layout)


def dynamic(tag: int) -> Field:
    """The value of an entry of the dynamic section."""

    def find(tables: Tables) -> tuple[int, str]:
        data = tables.elf.section(".dynamic")
        tags = [struct.unpack_from("<Q", data, start)[0] for start in range(0, len(data), 16)]
        return tables.at(".dynamic") + 16 * tags.index(tag) + 8, "Q"

    return find


def instead_of(tag: int) -> Field:
    """The tag of an entry of the dynamic section."""

    def find(tables: Tables) -> tuple[int, str]:
        offset, layout = dynamic(tag)(tables)
        return offset - 8, layout

    return find


def word(section: str, offset: int = 0) -> Field:
    """Eight bytes of a section."""
    return lambda tables: (tables.at(section) + offset, "Q")


def segment_of_type(kind: int, offset: int) -> Field:
    """A field of the only segment of a type."""

    def find(tables: Tables) -> tuple[int, str]:
        (table,) = struct.unpack("<Q", tables.elf.read_at(0x20, 8))
        return table + 56 * next(at for at, each in enumerate(tables.elf.segments) if each.type == kind) + offset, "Q"

    return find


def segment(number: int, offset: int, layout: str = "Q") -> Field:
    """A field of one of the loaded segments."""

    def find(tables: Tables) -> tuple[int, str]:
        loaded = [index for index, each in enumerate(tables.elf.segments) if each.type == PT_LOAD]
        (table,) = struct.unpack("<Q", tables.elf.read_at(0x20, 8))
        return table + 56 * loaded[number] + offset, layout

    return find


def thread_segment(tables: Tables) -> tuple[int, str]:
    """The type of the segment of thread-local variables."""
    (table,) = struct.unpack("<Q", tables.elf.read_at(0x20, 8))
    return table + 56 * next(at for at, each in enumerate(tables.elf.segments) if each.type == PT_TLS), "I"


def record(section: str, offset: int = 0) -> Field:
    """A half-word of a section."""
    return lambda tables: (tables.at(section) + offset, "H")
