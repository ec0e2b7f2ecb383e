"""The parameters of functions and function types, and what ``this`` says about a method."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

import msgspec

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes import leb
from abistore.extract.dwarf.entries.walk import Die, skip
from abistore.extract.dwarf.shapes.type_source import TypeSource
from abistore.model.mangling.symbols import is_mangled
from abistore.model.shapes import Pointer, Qualified, TypeRef

BODY: Final = frozenset(
    {dw.TAG_VARIABLE, dw.TAG_LEXICAL_BLOCK, dw.TAG_INLINED_SUBROUTINE, dw.TAG_LABEL, dw.TAG_CALL_SITE,
     dw.TAG_GNU_CALL_SITE}
)  # fmt: skip
"""What comes after a function's parameters."""
POINTED: Final = frozenset("PKVr")
"""What stands in a mangled name before a ``void`` that a parameter points to."""


class Signature(msgspec.Struct, frozen=True):
    """Parameter types without those that the compiler adds; ``this`` is the type of the object parameter, if any."""

    parameters: tuple[TypeRef, ...]
    variadic: bool = False
    this: TypeRef | None = None

    @property
    def this_qualifiers(self) -> tuple[str, ...]:
        """The qualifiers of the object that ``this`` points to."""
        this = self.this
        if isinstance(this, Qualified):
            this = this.target
        if isinstance(this, Pointer) and isinstance(this.target, Qualified):
            return this.target.qualifiers
        return ()


NOTHING: Final = Signature(())


def read_signature(types: TypeSource, die: Die) -> Signature:
    """The parameters of the subprogram or subroutine type ``die``."""
    unit, abbreviation, position, _ = die
    if not abbreviation.has_children:
        return NOTHING
    parameters: list[TypeRef] = []
    variadic, this = False, None
    data, table, limit = unit.data, unit.table, unit.limit
    while position < limit:
        start = position
        code = data[position]
        position += 1
        if code > 127:
            code, position = leb.unsigned(data, start)
        if not code:
            break
        child = table[code]
        tag = child.tag
        if tag == dw.TAG_FORMAL_PARAMETER:
            attributes: Container[int] = child.attributes
            if child.type_place >= 0:
                found = types.reference(unit.handle + unit.word(data, position + child.type_place)[0])
            else:
                values = child.decode(data, position, unit)[1]
                if dw.AT_ABSTRACT_ORIGIN in values:
                    values = {**types.info.die(values[dw.AT_ABSTRACT_ORIGIN])[3], **values}
                attributes, found = values, types.of(values)
            if dw.AT_ARTIFICIAL not in attributes:
                parameters.append(_as_parameter(found) if type(found) is Qualified else found)
            elif this is None and not parameters:
                this = found
        elif tag == dw.TAG_UNSPECIFIED_PARAMETERS:
            variadic = True
        elif tag == dw.TAG_GNU_FORMAL_PARAMETER_PACK:
            parameters.extend(read_signature(types, types.info.die(unit.base + start)).parameters)
        elif tag in BODY and (parameters or this is not None or _takes_nothing(types, die)):
            ellipsis = _ends_in_ellipsis(types, die)
            if ellipsis is not None:
                variadic = variadic or ellipsis
                break
        position = position + child.size if child.size >= 0 else skip(child, position, unit)
    return Signature(tuple(parameters), variadic, this)


def _takes_nothing(types: TypeSource, die: Die) -> bool:
    """Whether no parameter may follow a function's body; LLVM writes static variables of the body before parameters."""
    if (die[0].producer or "").startswith("GNU"):
        return True
    symbol = _symbol(types, die)
    return symbol.endswith("v") and symbol[-2:-1] not in POINTED


def _ends_in_ellipsis(types: TypeSource, die: Die) -> bool | None:
    """Whether ``...`` may still follow a function's body; ``None`` where only its entries can tell.

    GCC writes it among the parameters, LLVM behind the body. A mangled name tells too: ``z`` is the ellipsis, and
    nothing but a parameter can end the name of a function (Itanium C++ ABI 5.1.5.3).
    """
    if (die[0].producer or "").startswith("GNU"):
        return False
    symbol = _symbol(types, die)
    return symbol.endswith("z") if symbol else None


def _symbol(types: TypeSource, die: Die) -> str:
    """The mangled name of a C++ function; empty where it has none."""
    attributes = die[3]
    symbol = attributes.get(dw.AT_LINKAGE_NAME)
    declared = attributes.get(dw.AT_SPECIFICATION, attributes.get(dw.AT_ABSTRACT_ORIGIN))
    if symbol is None and declared is not None:
        symbol = types.info.die(declared)[3].get(dw.AT_LINKAGE_NAME)
    return symbol if symbol is not None and is_mangled(symbol) else ""


def _as_parameter(found: Qualified) -> TypeRef:
    """A parameter's own ``const`` and ``volatile`` are the callee's business: callers never see them."""
    kept = tuple(qualifier for qualifier in found.qualifiers if qualifier not in ("const", "volatile"))
    if kept == found.qualifiers:
        return found
    return Qualified(found.target, kept) if kept else found.target
