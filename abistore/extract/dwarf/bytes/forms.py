"""Attribute forms: their layout in bytes, and what a raw value means (DWARF 5, section 7.5.6)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, Protocol, TypeAlias

import msgspec

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes import leb
from abistore.extract.dwarf.bytes.classes import is_usable
from abistore.extract.dwarf.bytes.faults import MalformedDwarf

Attributes: TypeAlias = dict[int, Any]
Reading: TypeAlias = "Callable[[bytes, int, FormReader], tuple[Any, int]]"
Skipping: TypeAlias = "Callable[[bytes, int, FormReader], int]"
Decoder: TypeAlias = "Callable[[bytes, int, FormReader], tuple[int, Attributes]]"

Specification: TypeAlias = tuple[int, int, int]
"""One attribute of an abbreviation: attribute, form, and the value of DW_FORM_implicit_const (else 1)."""


class UnitFormat(msgspec.Struct, frozen=True):
    """What the size of a form depends on, sizes in bytes. ``reference_size`` is that of DW_FORM_ref_addr."""

    little: bool
    offset_size: int
    address_size: int
    reference_size: int

    @property
    def prefix(self) -> str:
        """The byte order as :mod:`struct` spells it."""
        return "<" if self.little else ">"


class FormReader(Protocol):
    """What decoding asks of the unit that holds an entry. :data:`MEANINGS` ask for more, by name."""

    @property
    def format(self) -> UnitFormat:
        """The sizes of the unit's forms."""

    @property
    def order(self) -> Literal["little", "big"]:
        """The byte order, as :meth:`int.from_bytes` takes it."""

    @property
    def handle(self) -> int:
        """What references within the unit count from."""

    @property
    def strings(self) -> Mapping[int, str]:
        """The strings of .debug_str."""

    def forward(self, handle: int, position: int) -> int:
        """The position of the sibling ``handle`` of the entry at ``position``."""


SIZE_CODES = {2: "H", 4: "I", 8: "Q"}
SIZES = {"B": 1, "H": 2, "I": 4, "Q": 8, "3s": 3, "16s": 16}

EMPTY = frozenset({dw.FORM_FLAG_PRESENT, dw.FORM_IMPLICIT_CONST})
"""Forms without bytes in the unit: their value is in the abbreviation."""


@cache
def fixed_forms(format: UnitFormat) -> dict[int, str]:
    """The forms of fixed size, each with its :mod:`struct` code."""
    offset = SIZE_CODES[format.offset_size]
    address = SIZE_CODES[format.address_size]
    one = (dw.FORM_DATA1, dw.FORM_FLAG, dw.FORM_REF1, dw.FORM_STRX1, dw.FORM_ADDRX1)
    two = (dw.FORM_DATA2, dw.FORM_REF2, dw.FORM_STRX2, dw.FORM_ADDRX2)
    four = (dw.FORM_DATA4, dw.FORM_REF4, dw.FORM_STRX4, dw.FORM_ADDRX4, dw.FORM_REF_SUP4)
    eight = (dw.FORM_DATA8, dw.FORM_REF8, dw.FORM_REF_SIG8, dw.FORM_REF_SUP8)
    sections = (
        dw.FORM_STRP, dw.FORM_LINE_STRP, dw.FORM_SEC_OFFSET, dw.FORM_STRP_SUP, dw.FORM_GNU_STRP_ALT,
        dw.FORM_GNU_REF_ALT,
    )  # fmt: skip
    return {
        **dict.fromkeys(one, "B"),
        **dict.fromkeys(two, "H"),
        **dict.fromkeys(four, "I"),
        **dict.fromkeys(eight, "Q"),
        **dict.fromkeys(sections, offset),
        dw.FORM_STRX3: "3s",
        dw.FORM_ADDRX3: "3s",
        dw.FORM_DATA16: "16s",
        dw.FORM_ADDR: address,
        dw.FORM_REF_ADDR: SIZE_CODES[format.reference_size],
    }


@cache
def fixed_sizes(format: UnitFormat) -> dict[int, int]:
    """The sizes in bytes of the forms that have always the same, in a unit: 0 where the abbreviation has the value."""
    return {**{form: SIZES[code] for form, code in fixed_forms(format).items()}, **dict.fromkeys(EMPTY, 0)}


def _string(data: bytes, position: int, unit: FormReader) -> tuple[str, int]:
    end = data.index(b"\0", position)
    return data[position:end].decode("utf-8", "replace"), end + 1


def _uleb(data: bytes, position: int, unit: FormReader) -> tuple[int, int]:
    return leb.unsigned(data, position)


def _sleb(data: bytes, position: int, unit: FormReader) -> tuple[int, int]:
    return leb.signed(data, position)


def _block(data: bytes, position: int, unit: FormReader) -> tuple[bytes, int]:
    size, position = leb.unsigned(data, position)
    return data[position : position + size], position + size


def _sized_block(width: int) -> Reading:
    def read(data: bytes, position: int, unit: FormReader) -> tuple[bytes, int]:
        start = position + width
        end = start + int.from_bytes(data[position:start], unit.order)
        return data[start:end], end

    return read


def _indexed_and_offset(data: bytes, position: int, unit: FormReader) -> tuple[tuple[int, int], int]:
    index, position = leb.unsigned(data, position)
    return (index, int.from_bytes(data[position : position + 4], unit.order)), position + 4


def _indirect(data: bytes, position: int, unit: FormReader) -> tuple[Any, int]:
    form, position = leb.unsigned(data, position)
    if form == dw.FORM_FLAG_PRESENT:
        return 1, position
    if form in EMPTY or form == dw.FORM_INDIRECT:
        raise MalformedDwarf(f"form {form:#x} cannot be given indirectly")
    return read_form(form, data, position, unit)


VARIABLE_FORMS: dict[int, Reading] = {
    dw.FORM_STRING: _string,
    dw.FORM_SDATA: _sleb,
    dw.FORM_BLOCK: _block,
    dw.FORM_EXPRLOC: _block,
    dw.FORM_BLOCK1: _sized_block(1),
    dw.FORM_BLOCK2: _sized_block(2),
    dw.FORM_BLOCK4: _sized_block(4),
    dw.FORM_INDIRECT: _indirect,
    dw.FORM_LLVM_ADDRX_OFFSET: _indexed_and_offset,
    **dict.fromkeys(
        (
            dw.FORM_UDATA, dw.FORM_REF_UDATA, dw.FORM_STRX, dw.FORM_ADDRX, dw.FORM_LOCLISTX, dw.FORM_RNGLISTX,
            dw.FORM_GNU_ADDR_INDEX, dw.FORM_GNU_STR_INDEX,
        ),
        _uleb,
    ),
}  # fmt: skip
"""The forms of variable size, each with the function that reads its raw value."""


def variable_reader(attribute: int, form: int) -> Reading:
    """The function that reads an attribute's raw value in a form of variable size. Raises :class:`MalformedDwarf`."""
    if form not in VARIABLE_FORMS:
        raise MalformedDwarf(f"unknown attribute form {form:#x}")
    if form != dw.FORM_INDIRECT:
        return VARIABLE_FORMS[form]

    def read(data: bytes, position: int, unit: FormReader) -> tuple[Any, int]:
        if not is_usable(attribute, leb.unsigned(data, position)[0]):
            raise MalformedDwarf(f"attribute {attribute:#x} has a value of a wrong form")
        return _indirect(data, position, unit)

    return read


LEB_FORMS = frozenset(form for form, read in VARIABLE_FORMS.items() if read is _uleb)

REFERENCE = "u.handle+{v}"
_INDEXED_STRING = "u.indexed_strings[{v}]"
_INDEXED_ADDRESS = "u.indexed_address({v})"
_ALTERNATE = "u.alternate_reference({v})"

MEANINGS: dict[int, str] = {
    dw.FORM_STRP: "u.strings[{v}]",
    dw.FORM_LINE_STRP: "u.line_strings[{v}]",
    **dict.fromkeys(
        (dw.FORM_STRX, dw.FORM_STRX1, dw.FORM_STRX2, dw.FORM_STRX4, dw.FORM_GNU_STR_INDEX), _INDEXED_STRING
    ),
    dw.FORM_STRX3: "u.indexed_strings[int.from_bytes({v},u.order)]",
    **dict.fromkeys((dw.FORM_STRP_SUP, dw.FORM_GNU_STRP_ALT), "u.alternate_strings[{v}]"),
    **dict.fromkeys((dw.FORM_REF1, dw.FORM_REF2, dw.FORM_REF4, dw.FORM_REF8, dw.FORM_REF_UDATA), REFERENCE),
    dw.FORM_REF_ADDR: "u.base+{v}",
    dw.FORM_REF_SIG8: "u.signatures.get({v},-1)",
    **dict.fromkeys((dw.FORM_REF_SUP4, dw.FORM_REF_SUP8, dw.FORM_GNU_REF_ALT), _ALTERNATE),
    **dict.fromkeys((dw.FORM_ADDRX, dw.FORM_ADDRX1, dw.FORM_ADDRX2, dw.FORM_ADDRX4), _INDEXED_ADDRESS),
    dw.FORM_GNU_ADDR_INDEX: _INDEXED_ADDRESS,
    dw.FORM_LLVM_ADDRX_OFFSET: "u.indexed_address({v}[0])+{v}[1]",
    dw.FORM_ADDRX3: "u.indexed_address(int.from_bytes({v},u.order))",
    dw.FORM_DATA16: "int.from_bytes({v},u.order)",
    dw.FORM_RNGLISTX: "u.indexed_range_list({v})",
}
"""What a raw value ``v`` in unit ``u`` stands for, as an expression; forms not listed stand for themselves.

Kept as text because generated decoders inline it; :func:`meaning` gives the same as a function.
"""


@cache
def meaning(form: int) -> Callable[[Any, FormReader], Any] | None:
    """The function from a raw value and its unit to what it stands for; ``None`` where it stands for itself."""
    expression = MEANINGS.get(form)
    if expression is None:
        return None
    function: Callable[[Any, FormReader], Any] = eval(f"lambda v, u: {expression.format(v='v')}")
    return function


def read_raw(form: int, data: bytes, position: int, unit: FormReader, format: UnitFormat) -> tuple[Any, int]:
    """The raw value of any form that has bytes at ``position``, and the position after it.

    ``format`` is that of the table, which need not be the unit's.
    """
    code = fixed_forms(format).get(form)
    if code is not None:
        (raw,) = struct.unpack_from(format.prefix + code, data, position)
        return raw, position + SIZES[code]
    if form in VARIABLE_FORMS:
        return VARIABLE_FORMS[form](data, position, unit)
    raise MalformedDwarf(f"unknown attribute form {form:#x}")


def read_form(form: int, data: bytes, position: int, unit: FormReader) -> tuple[Any, int]:
    """What the value at ``position`` stands for, and the position after it."""
    raw, position = read_raw(form, data, position, unit, unit.format)
    interpret = meaning(form)
    return (raw if interpret is None else interpret(raw, unit)), position


def skip_function(form: int) -> Skipping:
    """The function that steps over a value of a variable form."""
    if form == dw.FORM_STRING:
        return _skip_string
    read = variable_reader(0, form)
    return lambda data, position, unit: read(data, position, unit)[1]


def _skip_string(data: bytes, position: int, unit: FormReader) -> int:
    return data.index(b"\0", position) + 1
