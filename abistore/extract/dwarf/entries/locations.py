"""The addresses of variables, from location expressions that name one fixed place (DWARF 5, section 2.6)."""

from __future__ import annotations

from typing import Literal

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes import leb
from abistore.extract.dwarf.entries.units import Unit

INDEXED = frozenset({dw.OP_ADDRX, dw.OP_GNU_ADDR_INDEX, dw.OP_CONSTX, dw.OP_GNU_CONST_INDEX})
ADDRESSES = frozenset({dw.OP_ADDR, dw.OP_ADDRX, dw.OP_GNU_ADDR_INDEX})
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
    is_tls = False
    while position < len(location):
        following = location[position]
        position += 1
        if following == dw.OP_PLUS_UCONST:
            more, position = leb.unsigned(location, position)
            value += more
        elif following in TLS:
            is_tls = True
        else:
            return None
    if is_tls:
        return "tls", unit.indexed_tls_offset(value) if operator in INDEXED else value
    return ("variable", value) if operator in ADDRESSES else None
