"""What classes of programs override, and whether calls still reach it."""

from __future__ import annotations

from abistore.compare.classify.declared_traits import gained
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.shapes import Function, Record, Variable


def is_overridden(name: Name, context: Context) -> bool:
    """Whether classes of programs may override the virtual function ``name`` of the old side, no destructor."""
    function = _function(name, context.old)
    if function is None or not function.is_virtual or function.method is None:
        return False
    destroys = last_component(function.display).startswith("~")
    return not destroys and not _is_final(name, context.old) and _is_derived_from(function.method.owner, context.old)


def passes_overrides(declared: Changed[Declared], context: Context) -> bool:
    """Whether the library now calls past what built classes of programs override: ``final`` tells compilers to.

    Only calls by the class that is ``final`` are direct. A library that gets objects as those of a base, and whose
    functions do not have the class in their signatures, goes on calling overrides.
    """
    owner = _owner(declared.subject.name, context.old) if gained(declared, "final") else None
    if owner is None or not _is_derived_from(owner, context.old) or context.old.consumers.hand_in(owner) == "no":
        return False
    return any(_takes(each, owner, context.old) for each in context.affected(owner))


def _owner(name: Name, side: SideFacts) -> Name | None:
    """The class of a virtual function, or the class ``name`` where it has some."""
    if name.kind != "function":
        return name if _is_polymorphic(name, side) else None
    function = _function(name, side)
    return function.method.owner if function is not None and function.is_virtual and function.method else None


def _takes(export: Name, owner: Name, side: SideFacts) -> bool:
    """Whether the library gets objects by an export as those of ``owner``: no slot leads to it, nor a constructor."""
    shapes = side.variants("source", export) or side.variants("layout", export)
    for each in shapes:
        if isinstance(each, Variable):
            return True
        if isinstance(each, Function):
            method = each.method
            if method is None or method.owner != owner:
                return True
            own = last_component(each.display).removeprefix("~") == last_component(owner.spelling).partition("<")[0]
            return not (each.is_virtual or method.static or own)
    return False


def _function(name: Name, side: SideFacts) -> Function | None:
    return next((each for each in side.variants("source", name) if isinstance(each, Function)), None)


def _is_polymorphic(name: Name, side: SideFacts) -> bool:
    records = (each for each in side.variants("source", name) if isinstance(each, Record))
    return any(side.tables.is_polymorphic(each) for each in records)


def _is_derived_from(owner: Name, side: SideFacts) -> bool:
    """Whether programs can have classes that derive from ``owner``, and objects of these."""
    declared = [each for each in side.variants("source", owner) if isinstance(each, Declared)]
    lacking = {ability for each in declared if each.abilities for ability in each.abilities.lacking}
    return not lacking & {"derive", "derived_destroy"} and side.tables.may_be_derived_from(owner)


def _is_final(name: Name, side: SideFacts) -> bool:
    return any(isinstance(each, Declared) and "final" in each.traits for each in side.variants("source", name))
