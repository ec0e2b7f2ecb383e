"""Differences between two declarations that mean nothing to anybody, each by name and with its reason."""

from __future__ import annotations

from typing import Any

import msgspec

from abistore.compare.context import Context
from abistore.compare.equivalence import Sameness
from abistore.compare.reserved import is_reserved
from abistore.model.deltas import Changed
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Enum,
    Field,
    Foreign,
    Function,
    Method,
    Opaque,
    Record,
    TypeRef,
    Variable,
    VirtualMethod,
)

DECLARATIONS = (Alias, Enum, Foreign, Function, Opaque, Record, Variable)
"""What a change that no rule knows is reported of; the export table has its own rules for every fact."""


def is_meaningless(delta: Changed[Any], context: Context) -> bool:
    """Whether all that differs in ``delta`` is one of the differences that are named here."""
    old, new = delta.old, delta.new
    if not isinstance(old, DECLARATIONS):
        return True
    match old, new:
        case Record(), Record():
            return _record(old, new, context) == _record(new, new, context)
        case Enum(), Enum():
            return _enum(old, new) == _enum(new, old)
        case Function(), Function():
            return _function(old, new) == _function(new, old)
        case Foreign(), Foreign():
            return _foreign(old, new, context) == _foreign(new, new, context)
        case _:
            return False


def _record(record: Record, other: Record, context: Context) -> Record:
    """``record`` without what differs from ``other`` in name only."""
    return msgspec.structs.replace(
        record,
        passing=None if not_recorded(record.passing, other.passing) else record.passing,
        fields=tuple(each for each in record.fields if not is_room(each)),
        arguments=_arguments(record.arguments, other.arguments, context),
        virtuals=_virtuals(record, other),
        alignment=None,
    )


def not_recorded(*facts: object) -> bool:
    """One compiler does not record the fact: its absence is no difference."""
    return None in facts


def is_room(field: Field) -> bool:
    """Nobody uses reserved fields and unnamed bit-fields: they keep other members where they are, and these tell."""
    return is_reserved(field)


def _arguments(old: tuple[TypeRef, ...], new: tuple[TypeRef, ...], context: Context) -> tuple[TypeRef, ...]:
    """Template arguments are part of the name, which is the same: they are spelled in another way at most."""
    if len(old) == len(new) and all(context.stored(*pair) <= Sameness.SPELLING for pair in zip(old, new, strict=True)):
        return new
    return old


def _virtuals(record: Record, other: Record) -> tuple[VirtualMethod, ...]:
    """Some compilers leave out the slots or the mangled names of virtual methods."""
    if len(record.virtuals) != len(other.virtuals):
        return record.virtuals
    return tuple(
        msgspec.structs.replace(
            own,
            slot=None if not_recorded(own.slot, same.slot) else own.slot,
            symbol="" if not (own.symbol and same.symbol) else own.symbol,
        )
        for own, same in zip(record.virtuals, other.virtuals, strict=True)
    )


def _enum(enum: Enum, other: Enum) -> Enum:
    """The order of enumerators is nobody's business: their names and values are."""
    return msgspec.structs.replace(
        enum,
        enumerators=tuple(sorted(enum.enumerators, key=lambda each: (each.name, each.value))),
        underlying=None if not_recorded(enum.underlying, other.underlying) else enum.underlying,
    )


def _function(function: Function, other: Function) -> Function:
    """Two spellings of one function, and what only its own class has to know: its slot, whether it is defaulted."""
    return msgspec.structs.replace(
        function,
        display="",
        prototyped=function.prototyped or not (function.parameters or other.parameters),
        method=None if function.method is None else _method(function.method, other.method),
    )


def _method(method: Method, other: Method | None) -> Method:
    """A slot is the class's, whose virtual methods tell it; a defaulted member does what the compiler's own would."""
    unknown = other is None or not_recorded(method.slot, other.slot)
    return msgspec.structs.replace(method, slot=None if unknown else method.slot, defaulted=False)


def _foreign(foreign: Foreign, other: Foreign, context: Context) -> AnyShape:
    """A standard library type is a class or a struct as its library likes."""
    return msgspec.structs.replace(
        foreign,
        sort="struct",
        size=None if not_recorded(foreign.size, other.size) else foreign.size,
        alignment=None if not_recorded(foreign.alignment, other.alignment) else foreign.alignment,
        arguments=_arguments(foreign.arguments, other.arguments, context),
    )
