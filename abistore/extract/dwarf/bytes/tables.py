"""Abbreviation tables: cut into declarations, which are read when an entry uses them (DWARF 5, section 7.5.3)."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes import leb
from abistore.extract.dwarf.bytes.abbreviations import UNDECLARED, Abbreviation
from abistore.extract.dwarf.bytes.classes import is_usable
from abistore.extract.dwarf.bytes.faults import MalformedDwarf
from abistore.extract.dwarf.bytes.forms import Specification, UnitFormat
from abistore.extract.dwarf.bytes.plans import UNKNOWN
from abistore.patterns import pattern

_LEB = rb"[\x80-\xff]*[\x00-\x7f]"
SPECIFICATION = pattern(_LEB + rb"(?:\x21" + _LEB + rb"|(?!\x21)" + _LEB + rb")")
"""An attribute and its form. DW_FORM_implicit_const (0x21) is followed by its value."""
END = b"\0\0"

LARGEST_GAP = 1 << 12
"""Bound on unused codes in a row; producers leave none."""

MOST_DECLARATIONS = 1 << 15
"""How many different declarations are remembered, over all tables and files."""


class UnreadAbbreviation(Abbreviation):
    """An abbreviation that no entry has used so far: the first question makes it read itself and become a plain one."""

    __slots__ = ()

    def __init__(self, raw: bytes, format: UnitFormat) -> None:
        self.raw = raw
        self.format = format

    def __getattr__(self, name: str) -> Any:
        tag, has_children, specifications = _read(self.raw)
        # A class without __getattr__ has its attributes looked up three times as fast.
        self.__class__ = Abbreviation  # type: ignore[assignment]  # both have the same slots
        Abbreviation.__init__(self, tag, has_children, specifications, self.format)
        return getattr(self, name)


class SharedAbbreviations(dict[bytes, Abbreviation]):
    """The abbreviations of one format by their bytes: equal declarations are one object, in whatever file they are."""

    def __init__(self, format: UnitFormat) -> None:
        super().__init__()
        self.format = format

    def __missing__(self, raw: bytes) -> Abbreviation:
        if len(self) >= MOST_DECLARATIONS:
            self.clear()
        found = self[raw] = UnreadAbbreviation(raw, self.format)
        return found


declared = cache(SharedAbbreviations)
"""The one table of each format."""

_codes: list[bytes] = []
"""The numbers from 1 on, as they are encoded."""


def read_table(data: bytes, position: int, format: UnitFormat) -> list[Abbreviation]:
    """The abbreviations of the table at ``position``, by code. Raises :class:`MalformedDwarf` where it has no end."""
    pieces = cut(data, position)
    if not all(map(bytes.startswith, pieces, _codes)):
        return _read_irregular(data, position, format)
    return [UNDECLARED, *map(declared(format).__getitem__, map(bytes.removeprefix, pieces, _codes))]


def cut(data: bytes, position: int) -> list[bytes]:
    """The declarations of a table that counts its codes from 1, with these and without the zeros at their ends.

    Two zeros end a declaration and three a table, unless the next code follows: then the first one is a value.
    Of any other table, some piece does not begin with the code that it should have.
    """
    pieces: list[bytes] = []
    while (end := data.find(b"\0\0\0", position)) >= 0:
        pieces += data[position:end].split(b"\0\0")
        position = end + 3
        if len(pieces) > MOST_DECLARATIONS:
            break
        while len(_codes) <= len(pieces):
            _codes.append(leb.encode(len(_codes) + 1))
        if not data.startswith(_codes[len(pieces)], position):
            return pieces
    return [b""]


def _read_irregular(data: bytes, position: int, format: UnitFormat) -> list[Abbreviation]:
    """A table that is empty or counts in another way, one declaration after the other."""
    known = declared(format)
    table = [UNDECLARED]
    code, position = leb.unsigned(data, position)
    while code:
        end = _end(data, position)
        if code >= len(table) + LARGEST_GAP:
            raise MalformedDwarf(f"abbreviation code {code:#x} is out of any bounds")
        table.extend([UNDECLARED] * (code + 1 - len(table)))
        table[code] = known[data[position:end]]
        code, position = leb.unsigned(data, end)
    return table


def _end(data: bytes, position: int) -> int:
    """Where the declaration ends whose tag is at ``position``: after its first specification of zeros."""
    position = leb.unsigned(data, position)[1] + 1
    while match := SPECIFICATION.match(data, position):
        position = match.end()
        if match[0] == END:
            return position
    raise MalformedDwarf("an abbreviation table has no end")


def _read(raw: bytes) -> tuple[int, bool, tuple[Specification, ...]]:
    """Tag, whether there are children, and attributes of a declaration; zeros at its end may be missing."""
    raw += b"\0\0\0"
    tag, position = leb.unsigned(raw, 0)
    pieces = SPECIFICATION.findall(raw, position + 1)
    return tag, raw[position] != 0, tuple(map(_specification, pieces[: pieces.index(END)]))


@lru_cache(MOST_DECLARATIONS)
def _specification(raw: bytes) -> Specification:
    attribute, position = leb.unsigned(raw, 0)
    form, position = leb.unsigned(raw, position)
    constant = leb.signed(raw, position)[0] if form == dw.FORM_IMPLICIT_CONST else 1
    if attribute == dw.AT_MIPS_LINKAGE_NAME:
        attribute = dw.AT_LINKAGE_NAME
    return attribute if is_usable(attribute, form) else UNKNOWN, form, constant
