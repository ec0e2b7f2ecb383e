"""The forms in which an attribute has a usable value (DWARF 5, section 7.5.5); any other value is ignored.

An attribute in any other form is stepped over like an unknown one.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from abistore.extract.dwarf.bytes import codes as dw

FORMS: Final = {name.removeprefix("FORM_"): code for name, code in vars(dw).items() if name.startswith("FORM_")}


def _forms(*beginnings: str) -> frozenset[int]:
    """The forms whose names begin so: the standard names a form after its class."""
    return frozenset(code for name, code in FORMS.items() if name.startswith(beginnings))


ADDRESS: Final = _forms("ADDR", "GNU_ADDR", "LLVM_ADDR")
BLOCK: Final = _forms("BLOCK", "EXPRLOC")
CONSTANT: Final = _forms("DATA", "SDATA", "UDATA", "IMPLICIT_CONST")
FLAG: Final = _forms("FLAG") | CONSTANT
OFFSET: Final = frozenset({dw.FORM_SEC_OFFSET, dw.FORM_DATA4, dw.FORM_DATA8})
REFERENCE: Final = _forms("REF", "GNU_REF")
STRING: Final = _forms("STR", "LINE_STR", "GNU_STR")

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
