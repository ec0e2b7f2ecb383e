"""Which objects only a library constructs, or copies and destroys as well, whoever asks for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.qualified import last_component
from abistore.model.deltas import Changed
from abistore.model.mangling.symbols import primary
from abistore.model.names import Name
from abistore.model.shapes import Function, Named, Pointer, Qualified, Record


def library_constructs(record: Changed[Record], context: Context) -> bool:
    """Whether programs can make objects through exports only, and copy them with all their bytes.

    Headers alone tell: debug information has no template of a constructor, and no inherited one, that nothing uses.
    """
    name = record.subject.name
    if not context.old.consumers.offers(name) or _has_unnamed_constructors(name, context.old):
        return False
    declared = context.old.tables.constructors(name)
    every = [each for shapes in declared.values() for each in shapes]
    if not any(map(is_provided, every)):
        return False
    called = _called(declared, context)
    return _are_exported(called, context) and (any(takes(each, name) for each in every) or _copied(record, context))


def library_handles(name: Name, context: Context) -> bool:
    """Whether programs make, copy, move, assign and destroy objects of a class through exports only.

    Compilers write what nobody declared into programs: a destructor, and what copies and assigns. They write no
    constructor where one is declared that takes an object, and no assignment where that one moves.
    """
    if not context.old.consumers.offers(name) or _has_unnamed_constructors(name, context.old):
        return False
    made, handled = context.old.tables.constructors(name), context.old.tables.handling(name)
    constructors = [each for shapes in made.values() for each in shapes]
    others = [each for shapes in handled.values() for each in shapes]
    copied = any(takes(each, name) for each in constructors)
    assigned = any(takes(each, name) for each in others) or any(takes(each, name, ("&&",)) for each in constructors)
    destroyed = any(not each.parameters for each in others)
    called = _called({**made, **handled}, context)
    return copied and assigned and destroyed and _are_exported(called, context)


def _called(functions: Mapping[Name, Sequence[Function]], context: Context) -> Iterator[Name]:
    """The functions that code of programs calls."""
    return (each for each, shapes in functions.items() if not _is_closed(each, shapes[0], context.old))


def _has_unnamed_constructors(name: Name, side: SideFacts) -> bool:
    """Whether a class has constructors by ``using Base::Base``, or those of the template that it is an instance of."""
    inherited = Name("alias", f"{name.spelling}::{last_component(name.spelling)}")
    return "<" in name.spelling or bool(side.variants("source", inherited))


def is_provided(constructor: Function) -> bool:
    """Whether somebody wrote a constructor: a class of which no one did may be initialised by its members."""
    method = constructor.method
    return method is not None and not (method.defaulted or method.deleted)


def _is_closed(name: Name, constructor: Function, side: SideFacts) -> bool:
    """Whether no code of programs calls a constructor: it is deleted, or private and not used by an inline function."""
    deleted = constructor.method is not None and constructor.method.deleted
    return deleted or side.consumers.out_of_reach(name)


def _are_exported(constructors: Iterable[Name], context: Context) -> bool:
    """Whether both releases export each of these, by one symbol of it at least, and programs have no copy of it."""
    found: dict[str, bool] = {}
    for each in constructors:
        exported = context.exported(each) and not context.has_own_copy(each)
        found[primary(each.spelling)] = exported or found.get(primary(each.spelling), False)
    return all(found.values())


def takes(member: Function, owner: Name, by: Collection[str] = ("&", "&&")) -> bool:
    """Whether a constructor or an assignment takes another object of its class: compilers write none that does, then.

    ``by`` holds the kinds of references that count.
    """
    taken = member.parameters[0] if len(member.parameters) == 1 else None
    if not isinstance(taken, Pointer) or taken.sort not in by:
        return False
    target = taken.target.target if isinstance(taken.target, Qualified) else taken.target
    return target == Named(owner)


def _copied(record: Changed[Record], context: Context) -> bool:
    """Whether copies that compilers write have all bytes: they go field by field else, or through registers."""
    return record.old.passing == "value" and not context.passed_with(record.subject.name)
