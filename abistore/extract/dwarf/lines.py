"""The file names that declarations refer to: the tables of line number programs (DWARF 5, section 6.2.4)."""

from __future__ import annotations

import posixpath
import struct
from functools import lru_cache

from abistore.extract.dwarf import codes as dw
from abistore.extract.dwarf import leb
from abistore.extract.dwarf.faults import Malformed
from abistore.extract.dwarf.forms import SIZE_CODES, Format, meaning, read_raw
from abistore.extract.dwarf.units import WIDE_LENGTH, Unit

CONTENT_PATH, CONTENT_DIRECTORY, CONTENT_MD5 = 1, 2, 5
MD5_SIZE = 16
COMMON_REST = (
    (),
    ((CONTENT_DIRECTORY, dw.FORM_UDATA),),
    ((CONTENT_DIRECTORY, dw.FORM_UDATA), (CONTENT_MD5, dw.FORM_DATA16)),
)
"""What may follow a path in the tables that are read fast."""
MOST_FILES = 1 << 20
"""Bound on the entries of one table."""


class Files:
    """The files of one line table. A path is put together when it is asked for: few files declare what is exported."""

    def __init__(self, compilation: str, folders: list[str], files: list[tuple[str, int]]) -> None:
        self._compilation = compilation
        self._folders = folders
        self._files = files

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> str:
        name, folder = self._files[index]
        where = self._folders[folder] if 0 <= folder < len(self._folders) else ""
        return _below(self._compilation, where, name)


def file_names(unit: Unit, offset: int) -> Files:
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
        format = unit.format._replace(offset_size=size)
        folders, position = _table(unit, data, position, format)
        files, _ = _table(unit, data, position, format)
        return Files(unit.comp_dir, [folder for folder, _ in folders], files)
    if version < 2:
        raise Malformed(f"line table version {version}")
    return _old_names(unit, data, position)


def _old_names(unit: Unit, data: bytes, position: int) -> Files:
    folders = [unit.comp_dir]
    name, position = _string(data, position)
    while name:
        folders.append(name)
        name, position = _string(data, position)
    files = [(unit.name or "", 0)]
    name, position = _string(data, position)
    while name:
        folder, position = leb.unsigned(data, position)
        position = leb.skip(data, leb.skip(data, position))
        files.append((name, folder))
        name, position = _string(data, position)
    return Files(unit.comp_dir, folders, files)


def _table(unit: Unit, data: bytes, position: int, format: Format) -> tuple[list[tuple[str, int]], int]:
    """A DWARF 5 list of folders or files: path and folder index of each."""
    fields = []
    count = data[position]
    position += 1
    for _ in range(count):
        content, position = leb.unsigned(data, position)
        form, position = leb.unsigned(data, position)
        fields.append((content, form))
    count, position = leb.unsigned(data, position)
    if count > MOST_FILES or (count and not fields):
        raise Malformed("a line table has too many files")
    if fields and fields[0] == (CONTENT_PATH, dw.FORM_LINE_STRP) and tuple(fields[1:]) in COMMON_REST:
        return _common_table(unit, data, position, count, fields=len(fields), format=format)
    entries = []
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


def _common_table(
    unit: Unit, data: bytes, position: int, count: int, *, fields: int, format: Format
) -> tuple[list[tuple[str, int]], int]:
    """The same for the fields that GCC and clang write: that is most of the bytes of a table."""
    strings, size = unit.line_strings, format.offset_size
    unpack = struct.Struct(format.prefix + SIZE_CODES[size]).unpack_from
    entries = []
    for _ in range(count):
        (offset,) = unpack(data, position)
        position += size
        folder = 0
        if fields > 1:
            folder = data[position]
            position += 1
            if folder > 127:
                folder, position = leb.unsigned(data, position - 1)
            if fields > 2:
                position += MD5_SIZE
        entries.append((strings[offset], folder))
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
