"""Function pointers that only the library supplies: it returns them, and programs call what is behind."""

from __future__ import annotations

from msgspec.structs import replace

from abistore.compare.context import Context
from abistore.compare.types.sameness import Sameness
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import VOID, Alias, Function, Named, Pointer, Primitive, Procedure, TypeRef


def returns_anew(alias: Changed[Alias], context: Context) -> bool:
    """Whether a type of function pointers differs only in that what returned nothing returns a number or pointer."""
    old, new = _procedure(alias.old.target, context), _procedure(alias.new.target, context, new=True)
    if old is None or new is None or old.variadic != new.variadic or len(old.parameters) != len(new.parameters):
        return False
    result, _ = context.new.types.bare(new.result)
    floating = isinstance(result, Primitive) and ("float" in result.spelling or "double" in result.spelling)
    small = isinstance(result, Primitive) and 0 < result.size <= 8 and not floating
    return (
        context.old.types.bare(old.result)[0] == VOID
        and (small or isinstance(result, Pointer))
        and all(context.passed(*pair) <= Sameness.SPELLING for pair in zip(old.parameters, new.parameters, strict=True))
    )


def only_handed_out(name: Name, context: Context) -> bool:
    """Whether all that mentions an alias in the old release are functions that return it, and take none."""
    users = context.old.reach.users(name)
    return bool(users) and all(_only_returns(user, name, context) for user in users)


def _only_returns(user: Name, name: Name, context: Context) -> bool:
    shape = context.old.shape(user)
    if not isinstance(shape, Function) or shape.result != Named(name):
        return False
    return all(each != name for each, _ in references(replace(shape, result=VOID)))


def _procedure(type: TypeRef, context: Context, *, new: bool = False) -> Procedure | None:
    side = context.new.types if new else context.old.types
    bare, _ = side.bare(type)
    if isinstance(bare, Pointer):
        bare, _ = side.bare(bare.target)
    return bare if isinstance(bare, Procedure) else None
