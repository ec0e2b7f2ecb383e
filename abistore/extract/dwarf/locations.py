"""Where a variable lives: the few location expressions that name one fixed place (DWARF 5, section 2.6)."""

from __future__ import annotations

from typing import Literal

from abistore.extract.dwarf import codes as dw
from abistore.extract.dwarf import leb
from abistore.extract.dwarf.units import Unit

INDEXED = frozenset({dw.OP_ADDRX, dw.OP_GNU_ADDR_INDEX, dw.OP_CONSTX, dw.OP_GNU_CONST_INDEX})
TLS = frozenset({dw.OP_FORM_TLS_ADDRESS, dw.OP_GNU_PUSH_TLS_ADDRESS})
CONSTANTS = {dw.OP_CONST4U: 4, dw.OP_CONST8U: 8}


def place(location: bytes, unit: Unit) -> tuple[Literal["variable", "tls"], int] | None:
    """The address, or the offset in the thread's block, that ``location`` names; ``None`` where it is computed."""
    if not location:
        return None
    operator = location[0]
    if operator in INDEXED:
        index, position = leb.unsigned(location, 1)
        value = unit.indexed_address(index)
    elif operator == dw.OP_ADDR or operator in CONSTANTS:
        position = 1 + (unit.address_size if operator == dw.OP_ADDR else CONSTANTS[operator])
        if len(location) < position:
            return None
        value = int.from_bytes(location[1:position], unit.order)
    elif operator == dw.OP_CONSTU:
        value, position = leb.unsigned(location, 1)
    else:
        return None
    return _sum(location, position, value, is_address=operator not in (*CONSTANTS, dw.OP_CONSTU))


def _sum(
    location: bytes, position: int, value: int, *, is_address: bool
) -> tuple[Literal["variable", "tls"], int] | None:
    is_tls = False
    while position < len(location):
        operator = location[position]
        position += 1
        if operator == dw.OP_PLUS_UCONST:
            more, position = leb.unsigned(location, position)
            value += more
        elif operator in TLS:
            is_tls = True
        else:
            return None
    if is_tls:
        return "tls", value
    return ("variable", value) if is_address else None
