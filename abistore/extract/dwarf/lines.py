"""The file names that declarations refer to: the tables of line number programs (DWARF 5, section 6.2.4)."""

from __future__ import annotations

import posixpath
import struct

from abistore.extract.dwarf import leb
from abistore.extract.dwarf.faults import Malformed
from abistore.extract.dwarf.forms import Format, meaning, read_raw
from abistore.extract.dwarf.units import WIDE_LENGTH, Unit

CONTENT_PATH, CONTENT_DIRECTORY = 1, 2
MOST_FILES = 1 << 20
"""Bound on the entries of one table."""


def file_names(unit: Unit, offset: int) -> list[str]:
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
        names = [folder for folder, _ in folders]
        return [_relative(unit, names, name, folder) for name, folder in files]
    if version < 2:
        raise Malformed(f"line table version {version}")
    return _old_names(unit, data, position)


def _old_names(unit: Unit, data: bytes, position: int) -> list[str]:
    folders = [unit.comp_dir]
    name, position = _string(data, position)
    while name:
        folders.append(name)
        name, position = _string(data, position)
    names = [unit.name or ""]
    name, position = _string(data, position)
    while name:
        folder, position = leb.unsigned(data, position)
        position = leb.skip(data, leb.skip(data, position))
        names.append(_relative(unit, folders, name, folder))
        name, position = _string(data, position)
    return names


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


def _string(data: bytes, position: int) -> tuple[str, int]:
    end = data.index(b"\0", position)
    return data[position:end].decode("utf-8", "replace"), end + 1


def _relative(unit: Unit, folders: list[str], name: str, folder: int) -> str:
    where = folders[folder] if 0 <= folder < len(folders) else ""
    path = posixpath.normpath(posixpath.join(unit.comp_dir, where, name))
    root = posixpath.normpath(unit.comp_dir) + "/" if unit.comp_dir else ""
    return path[len(root) :] if root and path.startswith(root) else path
