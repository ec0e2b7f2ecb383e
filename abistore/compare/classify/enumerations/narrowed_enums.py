"""Enumerations that are stored in fewer bytes, and whose values programs only hand to functions of the library."""

from __future__ import annotations

from msgspec.structs import replace

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import COPIED, Declared
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import Alias, AnyShape, Enum, Function, Named, Qualified, Special, TypeRef
from abistore.model.snapshot import Variants
from abistore.model.structure import mentioned
from abistore.patterns import pattern

WORD = pattern(r"\w+")
SLOT = 4
"""So many bytes has the smallest register or place on the stack in which ELF platforms pass a number."""


def only_handed_over(enum: Changed[Enum], context: Context) -> bool:
    """Whether the low bytes of what programs pass are all that anybody reads of their values, which stay.

    The caller fills a register or a place on the stack, and the new library reads its low bytes. What it returns, or
    passes to functions of programs, has only these: the old code reads more. Headers tell that there is no such thing.
    """
    old, new, target = enum.old, enum.new, context.old.snapshot.target
    values = {each.name: each.value for each in new.enumerators}
    fits = new.size < old.size <= SLOT and all(values.get(each.name) == each.value for each in old.enumerators)
    if not fits or (target.format, target.endianness) != ("elf", "little"):
        return False
    return all(_is_only_taken(enum.subject.name, side) for side in (context.old, context.new))


def _is_only_taken(name: Name, side: SideFacts) -> bool:
    """Whether all that headers have to do with an enumeration are functions that take it by value."""
    source = side.snapshot.entries.get("source", {})
    known = side.snapshot.evidence_of("source").declares_all and not side.consumers.take_untyped()
    if not known or not any(isinstance(each, Enum) for each in source.get(name, ())):
        return False
    names = {name}
    names |= {each for each in side.reach.users(name) if Alias(Named(name)) in source.get(each, ())}
    users = {user for each in names for user in side.reach.users(each)} - names
    words = {last_component(each.spelling) for each in names}
    spelled = any(_spells(shape, words) for shapes in source.values() for shape in shapes)
    return not spelled and all(_takes(user, source.get(user, ()), names) for user in users)


def _takes(user: Name, shapes: Variants, names: set[Name]) -> bool:
    """Whether a declaration of headers, if it mentions the enumeration, is a function of the library that takes it."""
    if not any(each in names for shape in shapes for each, _ in references(shape, user)):
        return True
    copied = any(isinstance(each, Declared) and not COPIED.isdisjoint(each.traits) for each in shapes)
    return not copied and all(isinstance(each, Declared) or _is_taken_by(each, names) for each in shapes)


def _is_taken_by(shape: AnyShape, names: set[Name]) -> bool:
    if not isinstance(shape, Function) or shape.is_virtual:
        return False
    others = tuple([each for each in shape.parameters if not _is_one_of(each, names)])
    return all(each not in names for each, _ in references(replace(shape, parameters=others)))


def _is_one_of(type: TypeRef, names: set[Name]) -> bool:
    bare = type.target if isinstance(type, Qualified) else type
    return isinstance(bare, Named) and bare.name in names


def _spells(shape: AnyShape, words: set[str]) -> bool:
    """Whether a template mentions a type of such a name, whose scope its spelling may leave out."""
    spelled = (each.spelling for each in mentioned(shape) if isinstance(each, Special))
    return any(not words.isdisjoint(WORD.findall(each)) for each in spelled)
