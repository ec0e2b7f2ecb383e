"""Types in signatures: qualifiers behind pointers, handles, and function pointers that only the library supplies.

Types that the mangled name of a function spells: while the symbol stays, they are the same types.

Where debug information disagrees, one compiler described a type in another way: Clang calls a closure ``{lambda}`` and
nothing more, and places a typedef of a class that a unit does not define outside of it. What changed *within* a type
that kept its name is a finding of the type.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from abistore.diffing.context import Context
from abistore.diffing.kinds.release_constants import release_words
from abistore.diffing.side import SideFacts
from abistore.diffing.types.sameness import TypeSide
from abistore.model.declarations import Name
from abistore.model.names.qualified import demangle, entity, last_component
from abistore.model.names.symbols import is_declared, is_mangled
from abistore.model.shapes import (
    Named,
    Opaque,
    Pointer,
    Primitive,
    Qualified,
    Record,
    TypeRef,
)


def points_to_derived(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether a pointer or reference to a class became one to a class that begins with it as its base."""
    before, after = context.old.types.resolve(old), context.new.types.resolve(new)
    if not (isinstance(before, Pointer) and isinstance(after, Pointer)) or before.sort != after.sort:
        return False
    (one, qualifiers), (other, others) = _class(before.target), _class(after.target)
    return one is not None and other is not None and qualifiers == others and _begins_with(other, one, context)


def _class(type: TypeRef) -> tuple[Name | None, tuple[str, ...]]:
    bare, qualifiers = (type.target, type.qualifiers) if isinstance(type, Qualified) else (type, ())
    return (bare.name if isinstance(bare, Named) and bare.name.kind == "record" else None), qualifiers


def _begins_with(derived: Name, base: Name, context: Context) -> bool:
    """Whether the base is at offset 0 in the new release; a virtual one is elsewhere in what derives further."""
    pending, seen = [derived], {derived}
    while pending:
        shape = context.new.shape(pending.pop())
        bases = shape.bases if isinstance(shape, Record) else ()
        at_start = (each for each in bases if each.offset == 0 and not each.virtual)
        found = {name for name, _ in filter(None, map(context.new.tables.record, at_start))} - seen
        if base in found:
            return True
        seen |= found
        pending += found
    return False


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
    first = [release_words(last_component(name.spelling))[:1] for name in (old, new)]
    return first[0] == first[1]


def _written(type: TypeRef) -> TypeRef:
    while isinstance(type, Pointer | Qualified):
        type = type.target
    return type


def loses_qualifiers(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether what is behind some level of pointers has fewer qualifiers now."""
    return any(before - after for before, after in _pairs(old, new, context))


def gains_qualifiers(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether what is behind some level of pointers has more qualifiers now."""
    return any(after - before for before, after in _pairs(old, new, context))


def _pairs(old: TypeRef, new: TypeRef, context: Context) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    return zip(_levels(old, context.old.types), _levels(new, context.new.types), strict=False)


def _levels(type: TypeRef, side: TypeSide) -> Iterator[frozenset[str]]:
    """The qualifiers of what is behind each level of pointers, from the outermost one on; ``restrict`` is of none."""
    bare, _ = side.bare(type)
    while isinstance(bare, Pointer):
        bare, qualifiers = side.bare(bare.target)
        yield qualifiers - {"restrict"}


def spells_parameter(function: Name, old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether the function's symbol says which type a parameter has (Itanium C++ ABI 5.1.5, bare-function-type).

    Names of Visual C++ say it too.
    """
    return is_mangled(function.spelling) and not _are_built_in(old, new, context)


def spells_result(function: Name, old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether the function's symbol says which type it returns: those of instances of function templates do."""
    symbol = function.spelling
    return spells_parameter(function, old, new, context) and is_declared(symbol) and _begins_with_result(symbol)


def _are_built_in(old: TypeRef, new: TypeRef, context: Context) -> bool:
    """Whether both are made of built-in types: options of compilers decide how wide ``wchar_t`` and the like are."""
    _, before = context.old.types.levels(old)
    _, after = context.new.types.levels(new)
    return isinstance(before, Primitive) and isinstance(after, Primitive)


@lru_cache(1 << 10)
def _begins_with_result(symbol: str) -> bool:
    told = demangle(symbol)
    return not told.startswith(entity(told))
