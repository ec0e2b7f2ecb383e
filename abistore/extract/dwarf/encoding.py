"""DWARF codes, numbers of variable length and attribute forms (DWARF 5, section 7).

An attribute in a form that has no usable value for it is skipped like an unknown attribute (section 7.5.5).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, Literal, Protocol, TypeAlias

import msgspec

from abistore.errors import ExtractError
from abistore.model.snapshot import Evidence

TAG_ARRAY_TYPE: Final = 0x01
TAG_CLASS_TYPE: Final = 0x02
TAG_ENUMERATION_TYPE: Final = 0x04
TAG_FORMAL_PARAMETER: Final = 0x05
TAG_LABEL: Final = 0x0A
TAG_LEXICAL_BLOCK: Final = 0x0B
TAG_MEMBER: Final = 0x0D
TAG_POINTER_TYPE: Final = 0x0F
TAG_REFERENCE_TYPE: Final = 0x10
TAG_STRUCTURE_TYPE: Final = 0x13
TAG_SUBROUTINE_TYPE: Final = 0x15
TAG_TYPEDEF: Final = 0x16
TAG_UNION_TYPE: Final = 0x17
TAG_UNSPECIFIED_PARAMETERS: Final = 0x18
TAG_INHERITANCE: Final = 0x1C
TAG_INLINED_SUBROUTINE: Final = 0x1D
TAG_MODULE: Final = 0x1E
TAG_PTR_TO_MEMBER_TYPE: Final = 0x1F
TAG_SUBRANGE_TYPE: Final = 0x21
TAG_BASE_TYPE: Final = 0x24
TAG_CONST_TYPE: Final = 0x26
TAG_ENUMERATOR: Final = 0x28
TAG_SUBPROGRAM: Final = 0x2E
TAG_TEMPLATE_TYPE_PARAMETER: Final = 0x2F
TAG_TEMPLATE_VALUE_PARAMETER: Final = 0x30
TAG_VARIABLE: Final = 0x34
TAG_VOLATILE_TYPE: Final = 0x35
TAG_RESTRICT_TYPE: Final = 0x37
TAG_INTERFACE_TYPE: Final = 0x38
TAG_NAMESPACE: Final = 0x39
TAG_UNSPECIFIED_TYPE: Final = 0x3B
TAG_RVALUE_REFERENCE_TYPE: Final = 0x42
TAG_TEMPLATE_ALIAS: Final = 0x43
TAG_ATOMIC_TYPE: Final = 0x47
TAG_CALL_SITE: Final = 0x48
TAG_IMMUTABLE_TYPE: Final = 0x4B
TAG_GNU_TEMPLATE_TEMPLATE_PARAMETER: Final = 0x4106
TAG_GNU_TEMPLATE_PARAMETER_PACK: Final = 0x4107
TAG_GNU_FORMAL_PARAMETER_PACK: Final = 0x4108
TAG_GNU_CALL_SITE: Final = 0x4109

AT_SIBLING: Final = 0x01
AT_LOCATION: Final = 0x02
AT_NAME: Final = 0x03
AT_BYTE_SIZE: Final = 0x0B
AT_BIT_OFFSET: Final = 0x0C
AT_BIT_SIZE: Final = 0x0D
AT_STMT_LIST: Final = 0x10
AT_LOW_PC: Final = 0x11
AT_HIGH_PC: Final = 0x12
AT_LANGUAGE: Final = 0x13
AT_IMPORT: Final = 0x18
AT_COMP_DIR: Final = 0x1B
AT_CONST_VALUE: Final = 0x1C
AT_CONTAINING_TYPE: Final = 0x1D
AT_DEFAULT_VALUE: Final = 0x1E
AT_INLINE: Final = 0x20
AT_LOWER_BOUND: Final = 0x22
AT_PRODUCER: Final = 0x25
AT_PROTOTYPED: Final = 0x27
AT_UPPER_BOUND: Final = 0x2F
AT_ABSTRACT_ORIGIN: Final = 0x31
AT_ACCESSIBILITY: Final = 0x32
AT_ARTIFICIAL: Final = 0x34
AT_CALLING_CONVENTION: Final = 0x36
AT_COUNT: Final = 0x37
AT_DATA_MEMBER_LOCATION: Final = 0x38
AT_DECL_FILE: Final = 0x3A
AT_DECL_LINE: Final = 0x3B
AT_DECLARATION: Final = 0x3C
AT_ENCODING: Final = 0x3E
AT_EXTERNAL: Final = 0x3F
AT_SPECIFICATION: Final = 0x47
AT_TYPE: Final = 0x49
AT_VIRTUALITY: Final = 0x4C
AT_VTABLE_ELEM_LOCATION: Final = 0x4D
AT_RANGES: Final = 0x55
AT_MUTABLE: Final = 0x61
AT_EXPLICIT: Final = 0x63
AT_OBJECT_POINTER: Final = 0x64
AT_ENDIANITY: Final = 0x65
AT_SIGNATURE: Final = 0x69
AT_DATA_BIT_OFFSET: Final = 0x6B
AT_CONST_EXPR: Final = 0x6C
AT_ENUM_CLASS: Final = 0x6D
AT_LINKAGE_NAME: Final = 0x6E
AT_STR_OFFSETS_BASE: Final = 0x72
AT_ADDR_BASE: Final = 0x73
AT_RNGLISTS_BASE: Final = 0x74
AT_DWO_NAME: Final = 0x76
AT_REFERENCE: Final = 0x77
AT_RVALUE_REFERENCE: Final = 0x78
AT_NORETURN: Final = 0x87
AT_ALIGNMENT: Final = 0x88
AT_EXPORT_SYMBOLS: Final = 0x89
AT_DELETED: Final = 0x8A
AT_DEFAULTED: Final = 0x8B
AT_MIPS_LINKAGE_NAME: Final = 0x2007
AT_GNU_VECTOR: Final = 0x2107
AT_GNU_TEMPLATE_NAME: Final = 0x2110
AT_GNU_DWO_NAME: Final = 0x2130
AT_GNU_DWO_ID: Final = 0x2131
AT_GNU_RANGES_BASE: Final = 0x2132
AT_GNU_ADDR_BASE: Final = 0x2133

FORM_ADDR: Final = 0x01
FORM_BLOCK2: Final = 0x03
FORM_BLOCK4: Final = 0x04
FORM_DATA2: Final = 0x05
FORM_DATA4: Final = 0x06
FORM_DATA8: Final = 0x07
FORM_STRING: Final = 0x08
FORM_BLOCK: Final = 0x09
FORM_BLOCK1: Final = 0x0A
FORM_DATA1: Final = 0x0B
FORM_FLAG: Final = 0x0C
FORM_SDATA: Final = 0x0D
FORM_STRP: Final = 0x0E
FORM_UDATA: Final = 0x0F
FORM_REF_ADDR: Final = 0x10
FORM_REF1: Final = 0x11
FORM_REF2: Final = 0x12
FORM_REF4: Final = 0x13
FORM_REF8: Final = 0x14
FORM_REF_UDATA: Final = 0x15
FORM_INDIRECT: Final = 0x16
FORM_SEC_OFFSET: Final = 0x17
FORM_EXPRLOC: Final = 0x18
FORM_FLAG_PRESENT: Final = 0x19
FORM_STRX: Final = 0x1A
FORM_ADDRX: Final = 0x1B
FORM_REF_SUP4: Final = 0x1C
FORM_STRP_SUP: Final = 0x1D
FORM_DATA16: Final = 0x1E
FORM_LINE_STRP: Final = 0x1F
FORM_REF_SIG8: Final = 0x20
FORM_IMPLICIT_CONST: Final = 0x21
FORM_LOCLISTX: Final = 0x22
FORM_RNGLISTX: Final = 0x23
FORM_REF_SUP8: Final = 0x24
FORM_STRX1: Final = 0x25
FORM_STRX2: Final = 0x26
FORM_STRX3: Final = 0x27
FORM_STRX4: Final = 0x28
FORM_ADDRX1: Final = 0x29
FORM_ADDRX2: Final = 0x2A
FORM_ADDRX3: Final = 0x2B
FORM_ADDRX4: Final = 0x2C
FORM_LLVM_ADDRX_OFFSET: Final = 0x2001
FORM_GNU_ADDR_INDEX: Final = 0x1F01
FORM_GNU_STR_INDEX: Final = 0x1F02
FORM_GNU_REF_ALT: Final = 0x1F20
FORM_GNU_STRP_ALT: Final = 0x1F21

OP_ADDR: Final = 0x03
OP_CONST4U: Final = 0x0C
OP_CONST8U: Final = 0x0E
OP_CONSTU: Final = 0x10
OP_PLUS_UCONST: Final = 0x23
OP_FORM_TLS_ADDRESS: Final = 0x9B
OP_ADDRX: Final = 0xA1
OP_CONSTX: Final = 0xA2
OP_GNU_PUSH_TLS_ADDRESS: Final = 0xE0
OP_GNU_ADDR_INDEX: Final = 0xFB
OP_GNU_CONST_INDEX: Final = 0xFC

UT_COMPILE: Final = 0x01
UT_TYPE: Final = 0x02
UT_SKELETON: Final = 0x04
UT_SPLIT_COMPILE: Final = 0x05
UT_SPLIT_TYPE: Final = 0x06

RECORD_TAGS: Final = frozenset({TAG_CLASS_TYPE, TAG_STRUCTURE_TYPE, TAG_UNION_TYPE, TAG_INTERFACE_TYPE})
COMPOSITE_TAGS: Final = RECORD_TAGS | {TAG_ENUMERATION_TYPE}
"""What has members or enumerators."""

KEPT: Final = frozenset(
    {
        AT_LOCATION, AT_NAME, AT_BYTE_SIZE, AT_BIT_OFFSET, AT_BIT_SIZE, AT_LOW_PC, AT_IMPORT, AT_CONST_VALUE,
        AT_CONTAINING_TYPE, AT_DEFAULT_VALUE, AT_INLINE, AT_LOWER_BOUND, AT_PROTOTYPED, AT_UPPER_BOUND,
        AT_ABSTRACT_ORIGIN, AT_ACCESSIBILITY, AT_ARTIFICIAL, AT_CALLING_CONVENTION, AT_COUNT, AT_DATA_MEMBER_LOCATION,
        AT_DECL_FILE, AT_DECL_LINE, AT_DECLARATION, AT_ENCODING, AT_EXTERNAL, AT_SPECIFICATION, AT_TYPE,
        AT_VIRTUALITY, AT_VTABLE_ELEM_LOCATION, AT_RANGES, AT_MUTABLE, AT_EXPLICIT, AT_OBJECT_POINTER, AT_ENDIANITY,
        AT_SIGNATURE, AT_DATA_BIT_OFFSET, AT_CONST_EXPR, AT_ENUM_CLASS, AT_LINKAGE_NAME, AT_REFERENCE,
        AT_RVALUE_REFERENCE, AT_NORETURN, AT_ALIGNMENT, AT_EXPORT_SYMBOLS, AT_DELETED, AT_DEFAULTED, AT_GNU_VECTOR,
        AT_GNU_TEMPLATE_NAME,
    }
)  # fmt: skip
"""The attributes that decoders return; all others are stepped over."""

CORRUPT: Final = "corrupt-debug-info"
"""The reason that evidence gives for what could not be read."""

NEXT_STEP: Final = "rebuild the library or its debug file, or read only its symbol tables with --symbols-only"


class MalformedDwarf(ValueError):
    """The debug information contradicts its format."""


MALFORMED: Final = (IndexError, ValueError, OverflowError, RecursionError, struct.error)
"""What reading malformed bytes raises: positions past the end, missing terminators, and :class:`MalformedDwarf`."""


@contextmanager
def malformed_is_an_error(subject: str) -> Iterator[None]:
    """Turns whatever malformed bytes raise in this block into an :class:`ExtractError` about ``subject``."""
    try:
        yield
    except MALFORMED as fault:
        raise ExtractError(f"{subject}: corrupt debug information: {describe(fault)}", NEXT_STEP) from fault


def refuse_useless(subject: str, evidence: Evidence) -> None:
    """Raises :class:`ExtractError` where the debug information is so corrupt that it describes no export at all.

    Where it describes some, the snapshot tells which are missing and why: one bad unit does not hide the others.
    """
    if evidence.state == "missing" and evidence.reason == CORRUPT:
        raise ExtractError(f"{subject}: corrupt debug information: {evidence.detail}", NEXT_STEP)


def describe(fault: BaseException) -> str:
    """One phrase about a fault, for people."""
    return str(fault) if isinstance(fault, MalformedDwarf) else "it refers past its end"


LONGEST = 126
"""Bits after which a number must have ended: more than any form carries, few enough to keep hostile ones cheap."""


def unsigned(data: bytes, position: int) -> tuple[int, int]:
    """The unsigned number at ``position``, and the position after it."""
    value = data[position]
    if value < 0x80:
        return value, position + 1
    byte = data[position + 1]
    position += 2
    value += (byte << 7) - 0x80
    if byte < 0x80:  # nearly all numbers have one or two bytes
        return value, position
    value -= 0x80 << 7
    shift = 14
    while byte > 0x7F:
        if shift > LONGEST:
            raise MalformedDwarf("a LEB128 number has no end")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
    return value, position


def signed(data: bytes, position: int) -> tuple[int, int]:
    """The signed number at ``position``, and the position after it."""
    start = position
    value, position = unsigned(data, position)
    if data[position - 1] & 0x40:
        value -= 1 << 7 * (position - start)
    return value, position


def skip(data: bytes, position: int) -> int:
    """The position after the number at ``position``."""
    while data[position] > 0x7F:
        position += 1
    return position + 1


def encode(value: int) -> bytes:
    """The shortest unsigned number of this value."""
    if value < 0x80:
        return bytes((value,))
    return bytes((value & 0x7F | 0x80,)) + encode(value >> 7)


FORMS: Final = {name.removeprefix("FORM_"): code for name, code in globals().copy().items() if name.startswith("FORM_")}


def _forms(*beginnings: str) -> frozenset[int]:
    """The forms whose names begin so: the standard names a form after its class."""
    return frozenset(code for name, code in FORMS.items() if name.startswith(beginnings))


ADDRESS: Final = _forms("ADDR", "GNU_ADDR", "LLVM_ADDR")
BLOCK: Final = _forms("BLOCK", "EXPRLOC")
CONSTANT: Final = _forms("DATA", "SDATA", "UDATA", "IMPLICIT_CONST")
FLAG: Final = _forms("FLAG") | CONSTANT
OFFSET: Final = frozenset({FORM_SEC_OFFSET, FORM_DATA4, FORM_DATA8})
REFERENCE_FORMS: Final = _forms("REF", "GNU_REF")
STRING: Final = _forms("STR", "LINE_STR", "GNU_STR")

USABLE: Final[dict[int, frozenset[int]]] = {
    **dict.fromkeys(
        (
            AT_NAME, AT_LINKAGE_NAME, AT_GNU_TEMPLATE_NAME, AT_PRODUCER, AT_COMP_DIR, AT_DWO_NAME,
            AT_GNU_DWO_NAME,
        ),
        STRING,
    ),
    **dict.fromkeys(
        (
            AT_SIBLING, AT_TYPE, AT_SPECIFICATION, AT_ABSTRACT_ORIGIN, AT_CONTAINING_TYPE, AT_IMPORT,
            AT_SIGNATURE,
        ),
        REFERENCE_FORMS,
    ),
    # Clang 20 counts parameters instead of referring to one.
    AT_OBJECT_POINTER: REFERENCE_FORMS | CONSTANT,
    **dict.fromkeys((AT_DATA_MEMBER_LOCATION, AT_VTABLE_ELEM_LOCATION), CONSTANT | BLOCK),
    **dict.fromkeys((AT_UPPER_BOUND, AT_LOWER_BOUND, AT_COUNT), CONSTANT | BLOCK),
    # An expression computes a size that varies at run time, which no type of C or C++ has.
    **dict.fromkeys((AT_BYTE_SIZE, AT_BIT_SIZE), CONSTANT),
    AT_CONST_VALUE: CONSTANT | BLOCK | STRING | ADDRESS,
    AT_DEFAULT_VALUE: CONSTANT | BLOCK | FLAG,
    AT_LOCATION: BLOCK | OFFSET | {FORM_LOCLISTX},
    AT_LOW_PC: ADDRESS,
    AT_HIGH_PC: ADDRESS | CONSTANT,
    AT_RANGES: OFFSET | {FORM_RNGLISTX},
    **dict.fromkeys(
        (
            AT_STMT_LIST, AT_STR_OFFSETS_BASE, AT_ADDR_BASE, AT_RNGLISTS_BASE, AT_GNU_ADDR_BASE,
            AT_GNU_RANGES_BASE,
        ),
        OFFSET,
    ),
}  # fmt: skip
"""The forms of attributes that are not plain numbers or flags."""

ROOT: Final = frozenset({*USABLE, AT_LANGUAGE, AT_GNU_DWO_ID})


@cache
def is_usable(attribute: int, form: int) -> bool:
    """Whether a value of this form is one that the attribute may have; always for attributes that nobody asks for."""
    if form == FORM_INDIRECT:
        return True
    allowed = USABLE.get(attribute)
    if allowed is not None:
        return form in allowed
    return form in FLAG if attribute in KEPT or attribute in ROOT else True


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

EMPTY = frozenset({FORM_FLAG_PRESENT, FORM_IMPLICIT_CONST})
"""Forms without bytes in the unit: their value is in the abbreviation."""


@cache
def fixed_forms(format: UnitFormat) -> dict[int, str]:
    """The forms of fixed size, each with its :mod:`struct` code."""
    offset = SIZE_CODES[format.offset_size]
    address = SIZE_CODES[format.address_size]
    one = (FORM_DATA1, FORM_FLAG, FORM_REF1, FORM_STRX1, FORM_ADDRX1)
    two = (FORM_DATA2, FORM_REF2, FORM_STRX2, FORM_ADDRX2)
    four = (FORM_DATA4, FORM_REF4, FORM_STRX4, FORM_ADDRX4, FORM_REF_SUP4)
    eight = (FORM_DATA8, FORM_REF8, FORM_REF_SIG8, FORM_REF_SUP8)
    sections = (
        FORM_STRP, FORM_LINE_STRP, FORM_SEC_OFFSET, FORM_STRP_SUP, FORM_GNU_STRP_ALT,
        FORM_GNU_REF_ALT,
    )  # fmt: skip
    return {
        **dict.fromkeys(one, "B"),
        **dict.fromkeys(two, "H"),
        **dict.fromkeys(four, "I"),
        **dict.fromkeys(eight, "Q"),
        **dict.fromkeys(sections, offset),
        FORM_STRX3: "3s",
        FORM_ADDRX3: "3s",
        FORM_DATA16: "16s",
        FORM_ADDR: address,
        FORM_REF_ADDR: SIZE_CODES[format.reference_size],
    }


@cache
def fixed_sizes(format: UnitFormat) -> dict[int, int]:
    """The sizes in bytes of the forms that have always the same, in a unit: 0 where the abbreviation has the value."""
    return {**{form: SIZES[code] for form, code in fixed_forms(format).items()}, **dict.fromkeys(EMPTY, 0)}


def _string(data: bytes, position: int, unit: FormReader) -> tuple[str, int]:
    end = data.index(b"\0", position)
    return data[position:end].decode("utf-8", "replace"), end + 1


def _uleb(data: bytes, position: int, unit: FormReader) -> tuple[int, int]:
    return unsigned(data, position)


def _sleb(data: bytes, position: int, unit: FormReader) -> tuple[int, int]:
    return signed(data, position)


def _block(data: bytes, position: int, unit: FormReader) -> tuple[bytes, int]:
    size, position = unsigned(data, position)
    return data[position : position + size], position + size


def _sized_block(width: int) -> Reading:
    def read(data: bytes, position: int, unit: FormReader) -> tuple[bytes, int]:
        start = position + width
        end = start + int.from_bytes(data[position:start], unit.order)
        return data[start:end], end

    return read


def _indexed_and_offset(data: bytes, position: int, unit: FormReader) -> tuple[tuple[int, int], int]:
    index, position = unsigned(data, position)
    return (index, int.from_bytes(data[position : position + 4], unit.order)), position + 4


def _indirect(data: bytes, position: int, unit: FormReader) -> tuple[Any, int]:
    form, position = unsigned(data, position)
    if form == FORM_FLAG_PRESENT:
        return 1, position
    if form in EMPTY or form == FORM_INDIRECT:
        raise MalformedDwarf(f"form {form:#x} cannot be given indirectly")
    return read_form(form, data, position, unit)


VARIABLE_FORMS: dict[int, Reading] = {
    FORM_STRING: _string,
    FORM_SDATA: _sleb,
    FORM_BLOCK: _block,
    FORM_EXPRLOC: _block,
    FORM_BLOCK1: _sized_block(1),
    FORM_BLOCK2: _sized_block(2),
    FORM_BLOCK4: _sized_block(4),
    FORM_INDIRECT: _indirect,
    FORM_LLVM_ADDRX_OFFSET: _indexed_and_offset,
    **dict.fromkeys(
        (
            FORM_UDATA, FORM_REF_UDATA, FORM_STRX, FORM_ADDRX, FORM_LOCLISTX, FORM_RNGLISTX,
            FORM_GNU_ADDR_INDEX, FORM_GNU_STR_INDEX,
        ),
        _uleb,
    ),
}  # fmt: skip
"""The forms of variable size, each with the function that reads its raw value."""


def variable_reader(attribute: int, form: int) -> Reading:
    """The function that reads an attribute's raw value in a form of variable size. Raises :class:`MalformedDwarf`."""
    if form not in VARIABLE_FORMS:
        raise MalformedDwarf(f"unknown attribute form {form:#x}")
    if form != FORM_INDIRECT:
        return VARIABLE_FORMS[form]

    def read(data: bytes, position: int, unit: FormReader) -> tuple[Any, int]:
        if not is_usable(attribute, unsigned(data, position)[0]):
            raise MalformedDwarf(f"attribute {attribute:#x} has a value of a wrong form")
        return _indirect(data, position, unit)

    return read


LEB_FORMS = frozenset(form for form, read in VARIABLE_FORMS.items() if read is _uleb)

REFERENCE = "u.handle+{v}"
_INDEXED_STRING = "u.indexed_strings[{v}]"
_INDEXED_ADDRESS = "u.indexed_address({v})"
_ALTERNATE = "u.alternate_reference({v})"

MEANINGS: dict[int, str] = {
    FORM_STRP: "u.strings[{v}]",
    FORM_LINE_STRP: "u.line_strings[{v}]",
    **dict.fromkeys((FORM_STRX, FORM_STRX1, FORM_STRX2, FORM_STRX4, FORM_GNU_STR_INDEX), _INDEXED_STRING),
    FORM_STRX3: "u.indexed_strings[int.from_bytes({v},u.order)]",
    **dict.fromkeys((FORM_STRP_SUP, FORM_GNU_STRP_ALT), "u.alternate_strings[{v}]"),
    **dict.fromkeys((FORM_REF1, FORM_REF2, FORM_REF4, FORM_REF8, FORM_REF_UDATA), REFERENCE),
    FORM_REF_ADDR: "u.base+{v}",
    FORM_REF_SIG8: "u.signatures.get({v},-1)",
    **dict.fromkeys((FORM_REF_SUP4, FORM_REF_SUP8, FORM_GNU_REF_ALT), _ALTERNATE),
    **dict.fromkeys((FORM_ADDRX, FORM_ADDRX1, FORM_ADDRX2, FORM_ADDRX4), _INDEXED_ADDRESS),
    FORM_GNU_ADDR_INDEX: _INDEXED_ADDRESS,
    FORM_LLVM_ADDRX_OFFSET: "u.indexed_address({v}[0])+{v}[1]",
    FORM_ADDRX3: "u.indexed_address(int.from_bytes({v},u.order))",
    FORM_DATA16: "int.from_bytes({v},u.order)",
    FORM_RNGLISTX: "u.indexed_range_list({v})",
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
    if form == FORM_STRING:
        return _skip_string
    read = variable_reader(0, form)
    return lambda data, position, unit: read(data, position, unit)[1]


def _skip_string(data: bytes, position: int, unit: FormReader) -> int:
    return data.index(b"\0", position) + 1


INFO, TYPES, ABBREV, LINE, STR_OFFSETS, RANGE_LISTS = 1, 2, 3, 4, 6, 8
"""Section identifiers of version 5; version 2 (GNU) has TYPES in addition, and MACRO under the last number."""

MOST_COLUMNS: Final = 32


class PackagedUnit(msgspec.Struct, frozen=True):
    """One unit of a package: its signature or split unit id, and the offset of its share in each section."""

    signature: int
    offsets: Mapping[int, int]


def read_index(data: bytes, prefix: str) -> Iterator[PackagedUnit]:
    """The rows of .debug_cu_index or .debug_tu_index. Raises :class:`MalformedDwarf`."""
    if not data:
        return
    (long_version,) = struct.unpack_from(prefix + "I", data, 0)
    (version,) = struct.unpack_from(prefix + "H", data, 0)
    if 2 not in (long_version, version) and version != 5:
        raise MalformedDwarf(f"package index of version {version}")
    columns, units, slots = struct.unpack_from(prefix + "III", data, 4)
    if columns > MOST_COLUMNS or 16 + 12 * slots + 4 * columns * (1 + units) > len(data):
        raise MalformedDwarf("a package index ends outside its section")
    signatures = struct.unpack_from(f"{prefix}{slots}Q", data, 16)
    indices = struct.unpack_from(f"{prefix}{slots}I", data, 16 + 8 * slots)
    table = 16 + 12 * slots
    sections = struct.unpack_from(f"{prefix}{columns}I", data, table)
    for signature, index in zip(signatures, indices, strict=True):
        if 0 < index <= units:
            offsets = struct.unpack_from(f"{prefix}{columns}I", data, table + 4 * columns * index)
            shares = dict(zip(sections, offsets, strict=True))
            if version != 5:
                shares.pop(RANGE_LISTS, None)
            yield PackagedUnit(signature, shares)
