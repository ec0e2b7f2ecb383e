"""Symbol versions: which a library defines, and which it requires of others."""

from __future__ import annotations

import struct

import msgspec

from abistore.errors import ExtractError
from abistore.extract.elf.dynamic import DT_VERDEF, DT_VERDEFNUM, DT_VERNEED, DT_VERNEEDNUM, DynamicSection
from abistore.extract.elf.hash_tables import elf_hash
from abistore.extract.string_table import text_at

VER_FLG_BASE = 0x1
FIRST_VERSION = 2
"""The index of the first version that a library defines; 1 stands for none."""
_MOST = 0x7FFF  # a version index has 15 bits


class NeededVersion(msgspec.Struct, frozen=True):
    """One version that a needed library has to define."""

    library: str
    version: str


class SymbolVersions(msgspec.Struct, frozen=True):
    """Version names by the index that .gnu.version uses. The base version (the file's own name) is in neither.

    ``damaged`` are definitions whose hash is not that of their name: programs that need them do not start.
    """

    defined: dict[int, str]
    required: dict[int, NeededVersion]
    damaged: frozenset[int] = frozenset()

    def is_damaged(self, index: int) -> bool:
        """Whether no program finds what has this version: its hash is another one's, or no table reaches so far."""
        known = max((*self.defined, *self.required), default=None)
        return index in self.damaged or (known is not None and index > known)


def read_versions(dynamic: DynamicSection) -> SymbolVersions:
    """The version tables of a file (Linux Standard Base, "Symbol Versioning"). Raises :class:`ExtractError`."""
    defined, damaged = _definitions(dynamic)
    return SymbolVersions(defined, _requirements(dynamic), damaged)


def _definitions(dynamic: DynamicSection) -> tuple[dict[int, str], frozenset[int]]:
    """The names of the versions, and which of them have another name's hash."""
    table, count = _table(dynamic, DT_VERDEF, DT_VERDEFNUM)
    entry, auxiliary = struct.Struct(dynamic.elf.order + "HHHHIII"), struct.Struct(dynamic.elf.order + "II")
    found: dict[int, str] = {}
    damaged: set[int] = set()
    position = 0
    for _ in range(count):
        _version, flags, index, _count, hashed, first, step = _unpack(dynamic, entry, table, position)
        name, _ = _unpack(dynamic, auxiliary, table, position + first)
        if not flags & VER_FLG_BASE:
            text = found[index & 0x7FFF] = text_at(dynamic.strings, name)
            if "\\" not in text and hashed != elf_hash(text.encode()):
                damaged.add(index & 0x7FFF)
        if not step:
            break
        position += step
    return found, frozenset(damaged)


def _requirements(dynamic: DynamicSection) -> dict[int, NeededVersion]:
    table, count = _table(dynamic, DT_VERNEED, DT_VERNEEDNUM)
    entry, auxiliary = struct.Struct(dynamic.elf.order + "HHIII"), struct.Struct(dynamic.elf.order + "IHHII")
    found: dict[int, NeededVersion] = {}
    position = steps = 0
    for _ in range(count):
        _version, names, file, first, step = _unpack(dynamic, entry, table, position)
        library = text_at(dynamic.strings, file)
        at = position + first
        for _ in range(names):
            _hash, _flags, index, name, next_name = _unpack(dynamic, auxiliary, table, at)
            found[index & 0x7FFF] = NeededVersion(library, text_at(dynamic.strings, name))
            steps += 1
            if steps > _MOST:
                raise ExtractError(f"{dynamic.elf.path}: the symbol version table is corrupt")
            if not next_name:
                break
            at += next_name
        if not step:
            break
        position += step
    return found


def _table(dynamic: DynamicSection, address_tag: int, count_tag: int) -> tuple[bytes, int]:
    address, count = dynamic.get(address_tag), dynamic.get(count_tag) or 0
    if address is None or not count:
        return b"", 0
    return dynamic.elf.at_address(address), min(count, _MOST)


def _unpack(dynamic: DynamicSection, layout: struct.Struct, table: bytes, position: int) -> tuple[int, ...]:
    if position + layout.size > len(table):
        raise ExtractError(f"{dynamic.elf.path}: the symbol version table is corrupt")
    return layout.unpack_from(table, position)
