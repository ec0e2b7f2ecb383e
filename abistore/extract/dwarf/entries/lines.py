"""The file names that declarations refer to: the tables of line number programs (DWARF 5, section 6.2.4)."""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TypeAlias

from msgspec.structs import replace

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes import leb
from abistore.extract.dwarf.bytes.faults import MalformedDwarf
from abistore.extract.dwarf.bytes.forms import SIZE_CODES, UnitFormat, meaning, read_raw
from abistore.extract.dwarf.entries.units import WIDE_LENGTH, Unit

CONTENT_PATH, CONTENT_DIRECTORY, CONTENT_MD5 = 1, 2, 5
PATH = (CONTENT_PATH, dw.FORM_LINE_STRP)
DIRECTORY = (CONTENT_DIRECTORY, dw.FORM_UDATA)
MD5 = (CONTENT_MD5, dw.FORM_DATA16)
COMMON = {
    bytes((1, *PATH)): "",
    bytes((2, *PATH, *DIRECTORY)): "B",
    bytes((3, *PATH, *DIRECTORY, *MD5)): "B16x",
}
"""How the tables of GCC and clang begin, each with the :mod:`struct` codes of what follows the path in a row."""
ONE_BYTE = 0x80
"""Folders with smaller numbers take one byte."""
MOST_FILES = 1 << 20
"""Bound on the entries of one table."""


Entry: TypeAlias = tuple[str | int, int]
"""A file or folder: its path, or where that is in .debug_line_str, and the number of the folder that holds it."""


class FixedSizeRows:
    """The entries of a table of rows of one size, unpacked one by one: few of them are asked for."""

    def __init__(self, data: bytes, position: int, layout: struct.Struct, count: int) -> None:
        self.layout = layout
        self.end = position + count * layout.size
        if self.end > len(data):
            raise MalformedDwarf("a line table ends outside its section")
        self._data = data
        self._position = position
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Entry:
        row = self.layout.unpack_from(self._data, self._position + index * self.layout.size)
        return row[0], row[1] if len(row) > 1 else 0


_row = cache(struct.Struct)


Table: TypeAlias = FixedSizeRows | Sequence[Entry]


class LineTableFiles:
    """The files of one line table. A path is put together when it is asked for: few files declare what is exported."""

    def __init__(self, unit: Unit, folders: Table, files: Table) -> None:
        self._compilation = unit.comp_dir
        self._strings = unit.line_strings
        self._folders = folders
        self._files = files

    def __getitem__(self, index: int) -> str:
        """The path of a file, empty where there is none of this number. Raises what is in ``MALFORMED``."""
        if not 0 <= index < len(self._files):
            return ""
        name, folder = self._files[index]
        where = self._folders[folder][0] if 0 <= folder < len(self._folders) else ""
        return _below(self._compilation, self._text(where), self._text(name))

    def _text(self, path: str | int) -> str:
        return path if isinstance(path, str) else self._strings[path]


def source_file(unit: Unit) -> str:
    """The file that the compiler was called with, as :class:`LineTableFiles` writes paths; empty where not recorded."""
    return _below(unit.comp_dir, "", unit.name) if unit.name else ""


def file_names(unit: Unit, offset: int) -> LineTableFiles:
    """The files of the line program at ``offset``, by ``DW_AT_decl_file``; below the compilation folder: relative."""
    data = unit.sections.read("line")
    position = offset
    prefix, size = unit.format.prefix, 4
    (length,) = struct.unpack_from(prefix + "I", data, position)
    position += 4
    if length == WIDE_LENGTH:
        position, size = position + 8, 8
    (version,) = struct.unpack_from(prefix + "H", data, position)
    position += 2
    if version >= 5:
        position += 2
    position += size + (5 if version >= 4 else 4) + 1  # header length, five or four one-byte parameters, opcode base
    position += data[position - 1] - 1
    if version >= 5:
        format = replace(unit.format, offset_size=size)
        folders, position = _table(unit, data, position, format)
        files, _ = _table(unit, data, position, format)
        return LineTableFiles(unit, folders, files)
    if version < 2:
        raise MalformedDwarf(f"line table version {version}")
    return _old_names(unit, data, position)


def _old_names(unit: Unit, data: bytes, position: int) -> LineTableFiles:
    folders: list[Entry] = [(unit.comp_dir, 0)]
    name, position = _string(data, position)
    while name:
        folders.append((name, 0))
        name, position = _string(data, position)
    files: list[Entry] = [(unit.name or "", 0)]
    name, position = _string(data, position)
    while name:
        folder, position = leb.unsigned(data, position)
        position = leb.skip(data, leb.skip(data, position))
        files.append((name, folder))
        name, position = _string(data, position)
    return LineTableFiles(unit, folders, files)


def _table(unit: Unit, data: bytes, position: int, format: UnitFormat) -> tuple[Table, int]:
    """A DWARF 5 list of folders or files, and the position after it."""
    for begin, rest in COMMON.items():
        if data.startswith(begin, position):
            count, start = leb.unsigned(data, position + len(begin))
            rows = FixedSizeRows(data, start, _row(format.prefix + SIZE_CODES[format.offset_size] + rest), count)
            if not rest or max(data[start + format.offset_size : rows.end : rows.layout.size], default=0) < ONE_BYTE:
                return rows, rows.end
    return _mixed_table(unit, data, position, format)


def _mixed_table(unit: Unit, data: bytes, position: int, format: UnitFormat) -> tuple[list[Entry], int]:
    """Any list of folders or files."""
    fields = []
    count = data[position]
    position += 1
    for _ in range(count):
        content, position = leb.unsigned(data, position)
        form, position = leb.unsigned(data, position)
        fields.append((content, form))
    count, position = leb.unsigned(data, position)
    if count > MOST_FILES or (count and not fields):
        raise MalformedDwarf("a line table has too many files")
    entries: list[Entry] = []
    for _ in range(count):
        path, folder = "", 0
        for content, form in fields:
            raw, position = read_raw(form, data, position, unit, format)
            interpret = meaning(form)
            if content == CONTENT_PATH:
                value = raw if interpret is None else interpret(raw, unit)
                path = value if isinstance(value, str) else ""
            elif content == CONTENT_DIRECTORY and isinstance(raw, int):
                folder = raw
        entries.append((path, folder))
    return entries, position


def _string(data: bytes, position: int) -> tuple[str, int]:
    end = data.index(b"\0", position)
    return data[position:end].decode("utf-8", "replace"), end + 1


@lru_cache(1 << 14)
def _below(compilation: str, where: str, name: str) -> str:
    """The path of a file, relative to the compilation folder where below it. Most units share most of theirs."""
    path = posixpath.normpath(posixpath.join(compilation, where, name))
    root = posixpath.normpath(compilation) + "/" if compilation else ""
    return path[len(root) :] if root and path.startswith(root) else path
