"""Handles of one other library that gave way to those of a third one: the same bits, and another object behind them."""

from __future__ import annotations

from abistore.compare.classify.constants.release import words
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.qualified import last_component
from abistore.model.names import Name
from abistore.model.shapes import Opaque, Pointer, Qualified, TypeRef


def is_of_third_library(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether both are pointers to structs that headers of two other libraries declare, and nobody defines.

    A library cannot rename what others declare. Where these renamed it, they keep the typedef, or the word that all
    their names begin with: ``cal_comm_t`` and ``ncclComm_t`` share neither.
    """
    before, after = context.old.types.pointee(old, 1), context.new.types.pointee(new, 1)
    if before is None or after is None or before == after or _written(old) == _written(new):
        return False
    foreign = _is_borrowed(before, context.old) and _is_borrowed(after, context.new)
    return foreign and not _share_beginning(before, after)


def _is_borrowed(name: Name, side: SideFacts) -> bool:
    """Whether a struct is declared in included headers only: public ones have a text of it (``Declared``)."""
    shapes = side.variants("source", name)
    return bool(shapes) and all(isinstance(each, Opaque) for each in shapes) and name not in side.files


def _share_beginning(old: Name, new: Name) -> bool:
    first = [words(last_component(name.spelling))[:1] for name in (old, new)]
    return first[0] == first[1]


def _written(type: TypeRef) -> TypeRef:
    """What a parameter's declaration names, behind pointers and qualifiers."""
    while isinstance(type, Pointer | Qualified):
        type = type.target
    return type
