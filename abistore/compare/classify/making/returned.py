"""Which objects programs get from a library and never hand back, so that it reads none that they made."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.consumers.runtime_symbols import is_runtime_symbol
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.names import Name
from abistore.model.reach.graph import DECLARING
from abistore.model.references import embedded, references
from abistore.model.shapes import VOID, Alias, AnyShape, Function, Named, Qualified, Record, TypeRef


def is_only_returned(name: Name, context: Context) -> bool:
    """Whether functions of the old release return the type ``name`` by value, and it has no other use.

    The same holds for what embeds the type. Where something takes what no declaration tells, it may take such objects.
    """
    side = context.old
    pending, seen = [name], {name}
    while pending:
        each = pending.pop()
        for user in side.reach.users(each):
            if not _is_met(user, side):
                continue
            shapes = side.snapshot.described(user)
            if not shapes or not all(_gives(shape, each) for shape in shapes):
                return False
            if user not in seen:
                seen.add(user)
                pending.append(user)
    return any(each.kind == "function" for each in seen) and not context.once(takes_untyped)


def _is_met(user: Name, side: SideFacts) -> bool:
    """Whether a declaration is no function or variable that programs have compiled in."""
    return user.kind not in ("function", "variable") or bool(side.variants("symbol", user))


def _gives(shape: AnyShape, name: Name) -> bool:
    """Whether ``shape`` uses ``name`` only to return it, or to hold it."""
    match shape:
        case Function(result=result):
            target = result.target if isinstance(result, Qualified) else result
            given = [name] if target == Named(name) else []
        case Record() | Alias():
            given = [each for each in embedded(shape) if each == name]
        case _:
            return False
    return len(given) == sum(each == name for each, _ in references(shape))


def takes_untyped(context: Context) -> bool:
    """Whether programs may hand the old release objects of which no declaration tells the type.

    So they may by ``void *``: as an argument, or in a record that they make. An export that nothing describes may take
    anything.
    """
    side = context.old
    exports = (name for name in side.exports.names.values() if side.consumers.can_name(name))
    return any(_takes_anything(name, side) for name in exports) or any(_holds_untyped(side))


def _takes_anything(export: Name, side: SideFacts) -> bool:
    shapes = side.snapshot.described(export)
    if not shapes:
        return export.kind == "function" and not is_runtime_symbol(export.spelling)
    functions = [shape for shape in shapes if isinstance(shape, Function)]
    if any(each.variadic or not each.prototyped for each in functions):
        return True
    return any(_is_untyped(type, side) for each in functions for type in each.parameters)


def _holds_untyped(side: SideFacts) -> Iterator[bool]:
    """For each field of what the library does not allocate whether it leads to untyped memory."""
    for facet in DECLARING:
        for name, shapes in side.snapshot.entries.get(facet, {}).items():
            if name.kind == "record" and not side.consumers.library_allocates(name):
                fields = (field for shape in shapes if isinstance(shape, Record) for field in shape.fields)
                yield any(_is_untyped(field.type, side) for field in fields)


def _is_untyped(type: TypeRef, side: SideFacts) -> bool:
    levels, behind = side.types.levels(type)
    return levels > 0 and behind == VOID
