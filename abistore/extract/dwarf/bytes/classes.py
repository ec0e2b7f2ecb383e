"""The forms in which an attribute has a usable value (DWARF 5, section 7.5.5); any other value is ignored.

An attribute in any other form is stepped over like an unknown one.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from abistore.extract.dwarf.bytes import codes as dw

ADDRESS: Final = frozenset(
    {
        dw.FORM_ADDR, dw.FORM_ADDRX, dw.FORM_ADDRX1, dw.FORM_ADDRX2, dw.FORM_ADDRX3, dw.FORM_ADDRX4,
        dw.FORM_GNU_ADDR_INDEX, dw.FORM_LLVM_ADDRX_OFFSET,
    }
)  # fmt: skip
BLOCK: Final = frozenset({dw.FORM_BLOCK, dw.FORM_BLOCK1, dw.FORM_BLOCK2, dw.FORM_BLOCK4, dw.FORM_EXPRLOC})
CONSTANT: Final = frozenset(
    {
        dw.FORM_DATA1, dw.FORM_DATA2, dw.FORM_DATA4, dw.FORM_DATA8, dw.FORM_DATA16, dw.FORM_SDATA, dw.FORM_UDATA,
        dw.FORM_IMPLICIT_CONST,
    }
)  # fmt: skip
FLAG: Final = frozenset({dw.FORM_FLAG, dw.FORM_FLAG_PRESENT}) | CONSTANT
OFFSET: Final = frozenset({dw.FORM_SEC_OFFSET, dw.FORM_DATA4, dw.FORM_DATA8})
REFERENCE: Final = frozenset(
    {
        dw.FORM_REF1, dw.FORM_REF2, dw.FORM_REF4, dw.FORM_REF8, dw.FORM_REF_UDATA, dw.FORM_REF_ADDR, dw.FORM_REF_SIG8,
        dw.FORM_REF_SUP4, dw.FORM_REF_SUP8, dw.FORM_GNU_REF_ALT,
    }
)  # fmt: skip
STRING: Final = frozenset(
    {
        dw.FORM_STRING, dw.FORM_STRP, dw.FORM_LINE_STRP, dw.FORM_STRX, dw.FORM_STRX1, dw.FORM_STRX2, dw.FORM_STRX3,
        dw.FORM_STRX4, dw.FORM_STRP_SUP, dw.FORM_GNU_STR_INDEX, dw.FORM_GNU_STRP_ALT,
    }
)  # fmt: skip

USABLE: Final[dict[int, frozenset[int]]] = {
    **dict.fromkeys(
        (
            dw.AT_NAME, dw.AT_LINKAGE_NAME, dw.AT_GNU_TEMPLATE_NAME, dw.AT_PRODUCER, dw.AT_COMP_DIR, dw.AT_DWO_NAME,
            dw.AT_GNU_DWO_NAME,
        ),
        STRING,
    ),
    **dict.fromkeys(
        (
            dw.AT_SIBLING, dw.AT_TYPE, dw.AT_SPECIFICATION, dw.AT_ABSTRACT_ORIGIN, dw.AT_CONTAINING_TYPE, dw.AT_IMPORT,
            dw.AT_SIGNATURE,
        ),
        REFERENCE,
    ),
    # Clang 20 counts parameters instead of referring to one.
    dw.AT_OBJECT_POINTER: REFERENCE | CONSTANT,
    **dict.fromkeys((dw.AT_DATA_MEMBER_LOCATION, dw.AT_VTABLE_ELEM_LOCATION), CONSTANT | BLOCK),
    **dict.fromkeys((dw.AT_UPPER_BOUND, dw.AT_LOWER_BOUND, dw.AT_COUNT), CONSTANT | BLOCK),
    # An expression computes a size that varies at run time, which no type of C or C++ has.
    **dict.fromkeys((dw.AT_BYTE_SIZE, dw.AT_BIT_SIZE), CONSTANT),
    dw.AT_CONST_VALUE: CONSTANT | BLOCK | STRING | ADDRESS,
    dw.AT_DEFAULT_VALUE: CONSTANT | BLOCK | FLAG,
    dw.AT_LOCATION: BLOCK | OFFSET | {dw.FORM_LOCLISTX},
    dw.AT_LOW_PC: ADDRESS,
    dw.AT_HIGH_PC: ADDRESS | CONSTANT,
    dw.AT_RANGES: OFFSET | {dw.FORM_RNGLISTX},
    **dict.fromkeys(
        (
            dw.AT_STMT_LIST, dw.AT_STR_OFFSETS_BASE, dw.AT_ADDR_BASE, dw.AT_RNGLISTS_BASE, dw.AT_GNU_ADDR_BASE,
            dw.AT_GNU_RANGES_BASE,
        ),
        OFFSET,
    ),
}  # fmt: skip
"""The forms of attributes that are not plain numbers or flags."""

ROOT: Final = frozenset({*USABLE, dw.AT_LANGUAGE, dw.AT_GNU_DWO_ID})


@cache
def is_usable(attribute: int, form: int) -> bool:
    """Whether a value of this form is one that the attribute may have; always for attributes that nobody asks for."""
    if form == dw.FORM_INDIRECT:
        return True
    allowed = USABLE.get(attribute)
    if allowed is not None:
        return form in allowed
    return form in FLAG if attribute in dw.KEPT or attribute in ROOT else True
