"""Units, their headers and root entries, and the line tables with the names of their files."""

from __future__ import annotations

import posixpath
import struct
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.abbreviations import DebugSections, IndexedStrings, ReadingPlan, StringTable, make_plan
from abistore.extract.dwarf.encoding import ADDRESS, ROOT, SIZE_CODES, MalformedDwarf, UnitFormat, meaning, read_raw

if TYPE_CHECKING:
    from abistore.extract.dwarf.abbreviations import Abbreviation
    from abistore.extract.dwarf.encoding import Specification

Unpacking: TypeAlias = Callable[[bytes, int], tuple[int, ...]]

BASES = frozenset({dw.AT_STR_OFFSETS_BASE, dw.AT_ADDR_BASE, dw.AT_GNU_ADDR_BASE, dw.AT_RNGLISTS_BASE})
"""The attributes that tell where a unit's part of a shared section begins."""
TYPE_UNITS = frozenset({dw.UT_TYPE, dw.UT_SPLIT_TYPE})
WIDE_LENGTH = 0xFFFFFFFF
"""The escape that announces 64-bit DWARF."""


class UnitContext:
    """What all units of one session share: type signatures and the supplementary (dwz) file.

    ``alternate_base`` is the base of the handles of the supplementary file, -1 where that file is missing. ``tls`` are
    the addresses of the library's TLS segment.
    """

    def __init__(self, alternate_strings: StringTable, alternate_base: int, tls: range) -> None:
        self.signatures: dict[int, int] = {}
        self.alternate_strings = alternate_strings
        self.alternate_base = alternate_base
        self.tls = tls


class Unit:
    """One unit: a compiled source file, a type unit, or a part shared by several units.

    ``handle`` is that of its header, ``base`` the first handle of its section: a handle is ``base`` plus a position in
    ``data``. Entries lie from ``position`` up to ``limit``; ``top`` is the position of the root's first child.
    ``ends`` remembers where entries with children end that do not tell, by the position after their code.
    ``line_unit`` is the one whose line table names the files, and ``shared`` has the sections of addresses: for a split
    unit those of its skeleton.
    ``name``, ``producer``, ``language``, ``comp_dir`` and ``low_pc`` are those of the root entry.
    """

    __slots__ = (
        "_context",
        "_steps",
        "abbreviation_offset",
        "addr_base",
        "address",
        "alternate_strings",
        "base",
        "classes",
        "comp_dir",
        "constants",
        "containers",
        "data",
        "declared",
        "dwo_id",
        "dwo_name",
        "ends",
        "format",
        "handle",
        "high_pc",
        "indexed_strings",
        "inline",
        "is_loaded",
        "is_scanned",
        "kind",
        "language",
        "limit",
        "line_base",
        "line_unit",
        "low_pc",
        "name",
        "nameable",
        "offset",
        "order",
        "position",
        "producer",
        "range_base",
        "ranges_offset",
        "root",
        "scopes",
        "sections",
        "shared",
        "signature",
        "signatures",
        "starts",
        "stmt_list",
        "str_base",
        "strings",
        "table",
        "top",
        "type_position",
        "unplaced",
        "version",
        "word",
    )  # fmt: skip

    table: list[Abbreviation]
    indexed_strings: IndexedStrings
    starts: list[int]
    scopes: list[Any]
    classes: list[int]
    constants: list[int]
    containers: list[int]
    declared: list[int]
    nameable: list[int]
    unplaced: list[int]
    inline: list[Any]

    def __init__(self, sections: DebugSections, data: bytes, base: int, context: UnitContext) -> None:
        self._context = context
        self.sections = sections
        self.data = data
        self.base = base
        self.signatures = context.signatures
        self.shared = sections
        self.strings = sections.strings
        self.alternate_strings = context.alternate_strings
        self.order = sections.order
        self.is_loaded = self.is_scanned = False
        self.language: int | None = None
        self.name: str | None = None
        self.producer: str | None = None
        self.comp_dir = ""
        self.dwo_name: str | None = None
        self.dwo_id: int | None = None
        self.stmt_list: int | None = None
        self.low_pc = self.high_pc = 0
        self.ranges_offset = 0
        self.line_base = 0
        self.line_unit = self
        self.root: Mapping[int, Any] = {}
        self.table = []
        self.ends: dict[int, int] = {}
        self._steps: dict[Container[int], list[int]] = {}

    # Set by read_units, from the header.
    handle: int
    position: int
    limit: int
    version: int
    kind: int
    format: UnitFormat
    word: Unpacking
    offset: Unpacking
    address: Unpacking
    abbreviation_offset: int
    signature: int | None
    type_position: int
    dwo_id: int | None
    str_base: int
    addr_base: int
    range_base: int
    top: int

    @property
    def address_size(self) -> int:
        """Size of an address in bytes."""
        return self.format.address_size

    @property
    def is_type_unit(self) -> bool:
        """Whether the unit describes one type for others to refer to by signature."""
        return self.kind in TYPE_UNITS

    @property
    def is_skeleton(self) -> bool:
        """Whether a loaded unit of the main file stands for a split one."""
        return self.dwo_name is not None and not self.sections.suffix and self.kind in (dw.UT_SKELETON, dw.UT_COMPILE)

    @property
    def line_strings(self) -> StringTable:
        """The strings of .debug_line_str."""
        return self.sections.line_strings

    def steps(self, tags: Container[int]) -> list[int]:
        """By first byte, the sizes of leaves without any of ``tags``: whoever meets one of fixed size adds it."""
        found = self._steps.get(tags)
        if found is None:
            found = self._steps[tags] = [0] * 256
        return found

    def alternate_reference(self, offset: int) -> int:
        """The handle of an entry in the supplementary file, -1 where that file is missing."""
        base = self._context.alternate_base
        return base + offset if base >= 0 else -1

    def indexed_address(self, index: int) -> int:
        """The address that DW_FORM_addrx gives by ``index``."""
        size = self.format.address_size
        data = self.shared.read("addr")
        position = self.addr_base + index * size
        if not 0 <= position <= len(data) - size:
            raise MalformedDwarf(f"address index {index} lies outside .debug_addr")
        return int.from_bytes(data[position : position + size], self.order)

    def indexed_tls_offset(self, value: int) -> int:
        """The TLS offset that an indexed constant means: GCC stores the address in the TLS segment instead."""
        tls = self._context.tls
        return value - tls.start if value in tls else value

    def indexed_range_list(self, index: int) -> int:
        """The offset in the range lists section that DW_FORM_rnglistx gives by ``index``."""
        return self.range_base + self._offset_at(self.sections.read("rnglists"), self.range_base, index)

    def _string_offset(self, index: int) -> int:
        return self._offset_at(self.sections.read("str_offsets"), self.str_base, index)

    def _offset_at(self, data: bytes, base: int, index: int) -> int:
        size = self.format.offset_size
        position = base + index * size
        if not 0 <= position <= len(data) - size:
            raise MalformedDwarf(f"index {index} lies outside its table")
        return int.from_bytes(data[position : position + size], self.order)

    def forward(self, handle: int, position: int) -> int:
        """The position of the sibling ``handle`` of the entry at ``position``."""
        target = handle - self.base
        if not position < target <= self.limit:
            raise MalformedDwarf(f"the entry before {position:#x} has a sibling outside its unit")
        return target

    def at(self, position: int) -> tuple[Abbreviation, int]:
        """The abbreviation of the entry at ``position``, and the position after its code."""
        code = self.data[position]
        if code > 127:
            code, position = dw.unsigned(self.data, position)
            return self.table[code], position
        return self.table[code], position + 1

    def load(self) -> None:
        """Reads the abbreviation table and the root entry, once."""
        if self.is_loaded:
            return
        sections = self.sections
        self.table = sections.table(self.abbreviation_offset, self.format)
        self.indexed_strings = IndexedStrings(self.strings, self._string_offset)
        abbreviation, position = self.at(self.position)
        plans = _root_plans(abbreviation.specifications, self.format)
        self._take_bases(plans.bases.read(self.data, position, self)[1])
        position, root = plans.all.read(self.data, position, self)
        self.top = position if abbreviation.has_children else self.limit
        self._take_root(root)
        if dw.AT_HIGH_PC in root:
            self.high_pc = root[dw.AT_HIGH_PC] + (0 if plans.high_is_address else self.low_pc)
        self.is_loaded = True

    def _take_bases(self, root: dict[int, int]) -> None:
        self.str_base = root.get(dw.AT_STR_OFFSETS_BASE, self.str_base)
        self.addr_base = root.get(dw.AT_ADDR_BASE, root.get(dw.AT_GNU_ADDR_BASE, self.addr_base))
        self.range_base = root.get(dw.AT_RNGLISTS_BASE, self.range_base)

    def _take_root(self, root: dict[int, Any]) -> None:
        self.root = root
        self.language = root.get(dw.AT_LANGUAGE)
        self.name = root.get(dw.AT_NAME)
        self.producer = root.get(dw.AT_PRODUCER)
        self.comp_dir = root.get(dw.AT_COMP_DIR, self.comp_dir)
        self.low_pc = root.get(dw.AT_LOW_PC, self.low_pc)
        self.stmt_list = root.get(dw.AT_STMT_LIST)
        self.dwo_name = root.get(dw.AT_DWO_NAME, root.get(dw.AT_GNU_DWO_NAME))
        self.dwo_id = root.get(dw.AT_GNU_DWO_ID, self.dwo_id)

    def inherit(self, skeleton: Unit) -> None:
        """Takes what a split unit leaves to its skeleton: addresses, its own first address, folder and line table."""
        self.shared = skeleton.sections
        self.addr_base = skeleton.addr_base
        self.low_pc = skeleton.low_pc
        self.comp_dir = skeleton.comp_dir
        self.line_unit = skeleton
        if self.version < 5:
            self.ranges_offset = skeleton.root.get(dw.AT_GNU_RANGES_BASE, 0)

    def close(self) -> None:
        """Lets go of its section and of itself; it cannot be used any more."""
        self.data = b""
        self.sections.close()
        del self.line_unit
        if self.is_loaded:
            del self.indexed_strings


class RootPlans(msgspec.Struct, frozen=True):
    """How to read the root entries of one abbreviation: what others are relative to, then everything."""

    bases: ReadingPlan
    all: ReadingPlan
    high_is_address: bool


@lru_cache(1 << 12)
def _root_plans(specifications: tuple[Specification, ...], format: UnitFormat) -> RootPlans:
    """Remembered: nearly all units of a compiler have the same root abbreviation."""
    # What an indirect form says in each unit is of no attribute that is needed here.
    told = tuple((0 if form == dw.FORM_INDIRECT else each, form, value) for each, form, value in specifications)
    high_is_address = any(each == dw.AT_HIGH_PC and form in ADDRESS for each, form, _ in told)
    return RootPlans(make_plan(told, BASES, format), make_plan(told, ROOT, format), high_is_address)


def read_units(
    sections: DebugSections, data: bytes, base: int, context: UnitContext, fault: Callable[[str], None]
) -> Iterator[Unit]:
    """The units of one section, headers only. What is wrong with a unit goes to ``fault``, and the unit is left out."""
    position = 0
    is_types = sections.is_types(data)
    while position < len(data):
        try:
            offset_size, start, limit = _extent(data, position, sections.prefix)
            unit = Unit(sections, data, base, context)
            unit.handle = base + position
            unit.limit = limit
        except (struct.error, MalformedDwarf) as error:
            fault(f"the unit at {position:#x} ends outside its section ({error})")
            return
        try:
            _read_header(unit, start, offset_size, is_types)
        except (struct.error, MalformedDwarf) as error:
            fault(f"the unit at {position:#x} has a bad header ({error})")
        else:
            yield unit
        position = limit


@cache
def _readers(
    prefix: str, offset_size: int, address_size: int, reference_size: int
) -> tuple[UnitFormat, Unpacking, Unpacking, Unpacking]:
    """The format of a unit, and what unpacks a word of four bytes, an offset and an address of it."""
    codes = ("I", SIZE_CODES[offset_size], SIZE_CODES[address_size])
    word, offset, address = (struct.Struct(prefix + code).unpack_from for code in codes)
    return UnitFormat(prefix == "<", offset_size, address_size, reference_size), word, offset, address


def _extent(data: bytes, position: int, prefix: str) -> tuple[int, int, int]:
    (length,) = struct.unpack_from(prefix + "I", data, position)
    offset_size, start = 4, position + 4
    if length == WIDE_LENGTH:
        (length,) = struct.unpack_from(prefix + "Q", data, start)
        offset_size, start = 8, start + 8
    limit = start + length
    if not start < limit <= len(data):
        raise MalformedDwarf(f"length {length:#x}")
    return offset_size, start, limit


def _read_header(unit: Unit, position: int, offset_size: int, is_types: bool) -> None:
    data, prefix = unit.data, unit.sections.prefix
    offset = SIZE_CODES[offset_size]
    (version,) = struct.unpack_from(prefix + "H", data, position)
    if not 2 <= version <= 5:
        raise MalformedDwarf(f"DWARF version {version}")
    if version >= 5:
        kind, address_size, abbreviation_offset = struct.unpack_from(f"{prefix}BB{offset}", data, position + 2)
    else:
        kind = dw.UT_TYPE if is_types else dw.UT_COMPILE
        abbreviation_offset, address_size = struct.unpack_from(f"{prefix}{offset}B", data, position + 2)
    position += 4 + offset_size if version >= 5 else 3 + offset_size
    if address_size not in SIZE_CODES:
        raise MalformedDwarf(f"addresses of {address_size} bytes")
    unit.signature, unit.dwo_id, unit.type_position = None, None, 0
    if kind in TYPE_UNITS:
        unit.signature, type_offset = struct.unpack_from(f"{prefix}Q{offset}", data, position)
        unit.type_position = unit.handle - unit.base + type_offset
        position += 8 + offset_size
    elif kind in (dw.UT_SKELETON, dw.UT_SPLIT_COMPILE):
        (unit.dwo_id,) = struct.unpack_from(prefix + "Q", data, position)
        position += 8
    reference_size = address_size if version == 2 else offset_size
    unit.format, unit.word, unit.offset, unit.address = _readers(prefix, offset_size, address_size, reference_size)
    unit.version, unit.kind, unit.abbreviation_offset, unit.position = version, kind, abbreviation_offset, position
    wide = offset_size == 8
    unit.str_base = 0 if version < 5 else 16 if wide else 8
    unit.addr_base = unit.str_base
    unit.top = unit.limit
    unit.range_base = 0 if version < 5 else 20 if wide else 12


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
        folder, position = dw.unsigned(data, position)
        position = dw.skip(data, dw.skip(data, position))
        files.append((name, folder))
        name, position = _string(data, position)
    return LineTableFiles(unit, folders, files)


def _table(unit: Unit, data: bytes, position: int, format: UnitFormat) -> tuple[Table, int]:
    """A DWARF 5 list of folders or files, and the position after it."""
    for begin, rest in COMMON.items():
        if data.startswith(begin, position):
            count, start = dw.unsigned(data, position + len(begin))
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
        content, position = dw.unsigned(data, position)
        form, position = dw.unsigned(data, position)
        fields.append((content, form))
    count, position = dw.unsigned(data, position)
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
