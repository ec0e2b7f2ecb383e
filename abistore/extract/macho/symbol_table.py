"""The symbol table (``LC_SYMTAB``): every symbol that the linker and ``strip`` left, with its section."""

from __future__ import annotations

import re
import struct

import msgspec

from abistore.extract.macho.constants import LC_SYMTAB, N_EXT, N_OSO, N_STAB
from abistore.extract.macho.container import MachOFile
from abistore.extract.macho.leb import Malformed, NameBudget

NOISE = frozenset({"_mh_dylib_header", "_mh_bundle_header", "_mh_execute_header", "_mh_dylinker_header"})
"""Names of the file's own header, which every linker defines."""

OWN = frozenset({*NOISE, "__dso_handle"})

DIRECTIVE = re.compile(r"\$ld\$\w+\$")
"""Names that tell the linker under which conditions a symbol is there: no program can bind to them."""


class SymbolRow(msgspec.Struct, frozen=True):
    """One row of the symbol table (``nlist``); ``section`` counts from 1."""

    name: str
    type: int
    section: int
    description: int
    value: int


def read_rows(macho: MachOFile) -> list[SymbolRow]:
    """The rows of the symbol table, without what debuggers read, but for the names of object files.

    Local symbols mark places only, and have no name here. Raises :class:`Malformed`.
    """
    command = macho.first(LC_SYMTAB)
    if command is None:
        return []
    offset, count, names_offset, names_size = macho.unpacked(command, "4I")
    layout = struct.Struct(macho.order + ("IBBHQ" if macho.bits == 64 else "IBBHI"))
    table = macho.read_at(offset, count * layout.size)
    names = macho.read_at(names_offset, names_size)
    budget = NameBudget(len(names))
    rows = []
    for place, kind, section, description, value in layout.iter_unpack(table):
        if kind & N_STAB and kind != N_OSO:
            continue
        if place >= len(names) > 0:
            raise Malformed("the name of a symbol lies outside of the table of names")
        named = kind & N_EXT or kind == N_OSO
        end = names.find(b"\0", place) if named else place
        name = budget.spend(names[place : end if end >= 0 else len(names)]) if named else ""
        rows.append(SymbolRow(name, kind, section, description, value))
    return rows


def plain_name(name: str) -> str:
    """A symbol's name without the underscore that the platform puts before the names of C: ``_ZN1a1fEv``."""
    return name[1:] if name.startswith("_") and name != "_" else name
