"""Which types programs and a library exchange, through whatever one of them gives the other."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.consumers.runtime_symbols import is_runtime_symbol
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.emitted import class_behind
from abistore.model.declared import COPIED, Declared
from abistore.model.mangling.symbols import CLASS_DATA
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import Alias, AnyShape, Named, Pointer, Procedure, Record

ANYTHING = ("std::any", "std::exception_ptr")
"""Classes of which an object holds one of any type."""

WRITTEN = frozenset({*COPIED, "defined", "defined_within"})
"""What is said of functions that a header defines."""


def never_exchanged(name: Name, context: Context) -> bool:
    """Whether no function or variable through which programs meet the library leads to the type ``name``.

    Then code of programs and code of the library each keep to what they were compiled with. Headers must tell all that
    there is, and nothing may be of any type. What uses the type may still be exchanged without being named: as a class
    that a base stands for, or that is thrown; by a callback, and by a function that headers leave to programs. Objects
    of another library's types may come by way of that one.
    """
    side = context.old
    if not side.snapshot.evidence_of("source").declares_all or not side.consumers.offers(name):
        return False
    anything: bool = context.once(passes_anything)
    if anything or context.affected(name) or not _is_own(name, side):
        return False
    return not any(_is_exchanged(each, context) for each in _users(name, side))


def _is_own(name: Name, side: SideFacts) -> bool:
    """Whether a type is made of those that the library's headers define, of C++'s own, and of numbers."""
    pending, seen = [name], {name}
    while pending:
        each = pending.pop()
        if not each.spelling.startswith("std::") and not side.consumers.offers(_template(each)):
            return False
        come = {used for shape in side.snapshot.described(each) for used in _made_of(shape)} - seen
        seen |= come
        pending += come
    return True


def _template(name: Name) -> Name:
    """The template that a type is an instance of; any other type itself."""
    return Name(name.kind, name.spelling.partition("<")[0])


def _made_of(shape: AnyShape) -> Iterator[Name]:
    """The types that an alias stands for, and the arguments of a template's instance."""
    types = (shape.target,) if isinstance(shape, Alias) else getattr(shape, "arguments", ())
    yield from (used for type in types for used, _ in references(Alias(type)))


def passes_anything(context: Context) -> bool:
    """Whether programs and the old release may exchange objects of which no declaration tells the type."""
    side = context.old
    if side.consumers.take_untyped() or any(context.affected(Name("record", each)) for each in ANYTHING):
        return True
    exports = (
        each for each in side.exports.names.values() if each.kind == "function" and side.consumers.can_name(each)
    )
    return any(not side.snapshot.described(each) and not is_runtime_symbol(each.spelling) for each in exports)


def _users(name: Name, side: SideFacts) -> Iterator[Name]:
    """The declarations that lead to a type, and the type."""
    pending, seen = [name], {name}
    while pending:
        each = pending.pop()
        yield each
        come = set(side.reach.users(each)) - seen
        seen |= come
        pending += come


def _is_exchanged(user: Name, context: Context) -> bool:
    """Whether objects may come through a declaration that no export leads to."""
    side = context.old
    shapes = side.snapshot.described(user)
    if user.kind == "function":
        return not side.variants("symbol", user) and not _is_written(user, side)
    if any(isinstance(each, Alias) and _is_callback(each, side) for each in shapes):
        return True
    return any(isinstance(each, Record) and _has_stand_in(user, each, context) for each in shapes)


def _is_written(function: Name, side: SideFacts) -> bool:
    """Whether headers have the code of a function, or none declares it for programs to define."""
    texts = [each for each in side.variants("source", function) if isinstance(each, Declared)]
    return not texts or any(not WRITTEN.isdisjoint(each.traits) for each in texts)


def _is_callback(alias: Alias, side: SideFacts) -> bool:
    bare, _ = side.types.bare(alias.target)
    if isinstance(bare, Pointer):
        bare, _ = side.types.bare(bare.target)
    return isinstance(bare, Procedure)


def _has_stand_in(name: Name, record: Record, context: Context) -> bool:
    """Whether who has an object of another type may find one of this class: it is thrown, or has such a base."""
    side = context.old
    if side.tables.is_polymorphic(record) or name.spelling in context.once(classes_with_data):
        return True
    for base in record.bases:
        bare, _ = side.types.bare(base.type)
        if isinstance(bare, Named) and context.affected(bare.name):
            return True
        if (known := side.tables.record(base)) is not None and _has_stand_in(*known, context):
            return True
    return False


def classes_with_data(context: Context) -> frozenset[str]:
    """The classes of which the old release exports type information or tables."""
    symbols = (each.spelling for each in context.old.snapshot.entries.get("symbol", {}))
    return frozenset(class_behind(each) for each in symbols if each.startswith(CLASS_DATA))
