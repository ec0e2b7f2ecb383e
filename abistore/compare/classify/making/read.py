"""Which objects a library is handed to read, as the signatures of its exports tell."""

from __future__ import annotations

from collections.abc import Iterable

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.qualified import last_component, scope
from abistore.model.names import Name
from abistore.model.shapes import Alias, Foreign, Function, Named, Pointer, TypeRef


def library_reads(names: Iterable[Name], context: Context) -> bool:
    """Whether functions that both releases export, and no program has a copy of, read objects of these types.

    They get one by value or by address of what is ``const``, in a container too, or are its member functions. What is
    behind other pointers may be to fill in. Constructors and destructors look at what they made.
    """
    every = _with_containers(names, context.old)
    users = {user for each in every for user in context.old.reach.users(each) if user.kind == "function"}
    return any(_is_reached(user, context) and _is_read(user, every, context.old) for user in users)


def _with_containers(names: Iterable[Name], side: SideFacts) -> set[Name]:
    """These types, their other names, and the templates of other libraries that hold such objects."""
    pending = list(names)
    found = set(pending)
    while pending:
        each = pending.pop()
        for user in side.reach.users(each):
            if user not in found and any(_holds(shape, each, side) for shape in side.snapshot.described(user)):
                found.add(user)
                pending.append(user)
    return found


def _holds(shape: object, name: Name, side: SideFacts) -> bool:
    match shape:
        case Alias(target=target):
            return _named(target) == name
        case Foreign(arguments=arguments):
            return any(_named(each) == name for each in arguments)
    return False


def _named(type: TypeRef) -> Name | None:
    """The type that stands there, ``const`` or not."""
    target = getattr(type, "target", type) if not isinstance(type, Pointer) else type
    return target.name if isinstance(target, Named) else None


def _is_reached(export: Name, context: Context) -> bool:
    return context.exported(export) and context.old.consumers.can_name(export) and not context.has_own_copy(export)


def _is_read(export: Name, names: set[Name], side: SideFacts) -> bool:
    functions = [shape for shape in side.snapshot.described(export) if isinstance(shape, Function)]
    return any(_reads(each, names, side) for each in functions)


def _reads(function: Function, names: set[Name], side: SideFacts) -> bool:
    method, own = function.method, last_component(function.display)
    if method is not None and method.owner in names:
        if own.startswith("~") or own == last_component(scope(function.display)) or own == "operator=":
            return False
        if not method.static:
            return True
    return any(_is_handed(each, names, side) for each in function.parameters)


def _is_handed(parameter: TypeRef, names: set[Name], side: SideFacts) -> bool:
    """Whether a parameter is an object of one of these types, or the address of a constant one."""
    bare, _ = side.types.bare(parameter)
    qualifiers = frozenset({"const"})
    if isinstance(bare, Pointer):
        if bare.sort == "&&":
            qualifiers = frozenset()
        bare, own = side.types.bare(bare.target)
        if not qualifiers <= own:
            return False
    return isinstance(bare, Named) and bare.name in names
