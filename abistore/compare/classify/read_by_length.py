"""Records that grow at their end, and of which the library reads as much as an old program has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from abistore.compare.classify.enumerations.ends import words
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.compare.types.fields import flat_fields, plain
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Argument, Declared
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Field,
    Function,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Record,
    TypeRef,
    Variable,
)

VERSION: Final = r"(?i)_*(?:[a-z]+_)*version_*"
"""How a number is called that says which release of a table a program was compiled with."""

SIZES: Final = frozenset({"size", "sizeof", "sz", "bytes"})
LENGTHS: Final = frozenset({"length", "len"})
"""A length is one of bytes where it is called after what it is of; else it may count items."""

KEPT_BY_GLIB: Final = frozenset({"GTypeInterface", "_GTypeInterface"})
"""What an interface of GObject begins with: GLib makes each table, of the size that the library registered."""


class WrittenParameter(NamedTuple):
    """One parameter of a function: its type, and its name and form as a header writes them."""

    type: TypeRef
    written: Argument


def is_read_by_length(record: Changed[Record], context: Context) -> bool:
    """Whether the library knows how much of a record that programs make is there, or makes all of it itself.

    A table of function pointers says its version, or each new one has a constant for the version since which it is
    called; functions take the size beside the record; GLib makes the table of an interface; or the library hands the
    table out by a variable.
    """
    if _appends_functions(record, context):
        if _says_version(record, context) or _tells_since(record, context):
            return True
        if _is_interface(record, context) or _is_handed_out(record.subject.name, context):
            return True
    return _is_passed_with_size(record.subject.name, context.old)


# --- tables of function pointers ----------------------------------------------------------------------------------


def _come(record: Changed[Record]) -> list[Field]:
    before = {plain(field).name for field in flat_fields(record.old)}
    return [field for field in map(plain, flat_fields(record.new)) if field.name not in before]


def _appends_functions(record: Changed[Record], context: Context) -> bool:
    """Whether all added members are function pointers, in a record that had some."""
    come = _come(record)
    had = any(_is_function(plain(field), context.old) for field in flat_fields(record.old))
    return had and bool(come) and all(_is_function(field, context.new) for field in come)


def _is_function(field: Field, side: SideFacts) -> bool:
    bare, _ = side.types.bare(field.type)
    return isinstance(bare, Pointer) and isinstance(side.types.bare(bare.target)[0], Procedure)


def _says_version(record: Changed[Record], context: Context) -> bool:
    """Whether a number before all function pointers is called a version, and is where it was."""
    kept = {(field.name, field.offset) for field in map(plain, flat_fields(record.new))}
    for field in map(plain, flat_fields(record.old)):
        if _is_function(field, context.old):
            return False
        if re.fullmatch(VERSION, field.name) and _is_number(field.type, context.old):
            return (field.name, field.offset) in kept
    return False


def _tells_since(record: Changed[Record], context: Context) -> bool:
    """Whether each added function pointer has a new constant called after it: ``SURFACE_MOVED_SINCE_VERSION``."""
    old, new = (side.snapshot.entries.get("source", {}) for side in (context.old, context.new))
    told = [words(name.spelling) for name in new.keys() - old.keys() if name.kind == "variable"]
    since = [each for each in told if "since" in each]
    return all(any(set(words(field.name)) <= set(each) for each in since) for field in _come(record))


def _is_interface(record: Changed[Record], context: Context) -> bool:
    first = next(map(plain, flat_fields(record.old)), None)
    if first is None or not KEPT_BY_GLIB.intersection(each.spelling for each, _ in references(Alias(first.type))):
        return False
    return not any(user.kind == "record" for user in _users(record.subject.name, context.old))


def _is_handed_out(name: Name, context: Context) -> bool:
    """Whether programs read the table through a variable that they do not set or by a callback, and nothing takes one.

    The variable is constant, or code in headers calls functions by it: ``#define make_item (api->make_item)``.
    """
    side = context.old
    pending, seen, found = [name], {name}, False
    while pending:
        type = pending.pop()
        for user in _users(type, side):
            shape = side.shape(user)
            if isinstance(shape, Record):
                pending += {user} - seen  # a table may lead to others
                seen.add(user)
            elif shape is None:
                continue  # a macro takes nothing
            elif not _hands_out(user, shape, type, side):
                return False
            else:
                found = True
    return found


def _hands_out(user: Name, shape: AnyShape | None, table: Name, side: SideFacts) -> bool:
    match shape:
        case Variable():
            bare, qualifiers = side.types.bare(shape.type)
            fixed = "const" in qualifiers or bool(side.consumers.callers_of(user))
            return fixed and isinstance(bare, Pointer) and "const" in side.types.bare(bare.target)[1]
        case Function():
            return not any(_mentions(each, table, side) for each in shape.parameters)
        case _:
            return isinstance(shape, Alias)  # what a callback is called with is the library's


# --- records whose size goes along --------------------------------------------------------------------------------


def _is_passed_with_size(name: Name, side: SideFacts) -> bool:
    """Whether each function that takes such a record, and there is one, takes its size beside it.

    Where none names it, it goes to those that take anything (``void *``). A record that another one leads to, or a
    variable, goes without.
    """
    users = set(_users(name, side))
    if any(user.kind != "function" for user in users):
        return False
    takers = [each for user in users if (each := list(_parameters(user, side)))]
    if users:
        return len(takers) == len(users) and all(_tells_size(each, name, side) for each in takers)
    untyped = [each for each in _exported(side) if any(_is_untyped(one.type, side) for one in each)]
    return bool(untyped) and all(_tells_size(each, None, side) for each in untyped)


def _exported(side: SideFacts) -> Iterator[Sequence[WrittenParameter]]:
    for name in side.exports.names.values():
        if name.kind == "function" and side.consumers.can_name(name):
            yield list(_parameters(name, side))


def _parameters(function: Name, side: SideFacts) -> Iterator[WrittenParameter]:
    """The parameters of a function, none where no header tells their names."""
    shape = side.shape(function)
    texts = (each for each in side.variants("source", function) if isinstance(each, Declared))
    text = next(texts, None)
    if isinstance(shape, Function) and text is not None and len(text.parameters) == len(shape.parameters):
        yield from map(WrittenParameter, shape.parameters, text.parameters)


def _tells_size(parameters: Sequence[WrittenParameter], record: Name | None, side: SideFacts) -> bool:
    """Whether beside each pointer to the ``record``, or to anything, its size is passed."""
    for place, each in enumerate(parameters):
        if not (_is_untyped(each.type, side) if record is None else _mentions(each.type, record, side)):
            continue
        beside = [*parameters[max(place - 1, 0) : place], *parameters[place + 1 : place + 2]]
        if not any(_is_size_of(one, each, record, side) for one in beside):
            return False
    return True


def _is_size_of(number: WrittenParameter, pointer: WrittenParameter, record: Name | None, side: SideFacts) -> bool:
    if not _is_number(number.type, side):
        return False
    own, of = set(words(number.written.name)), {*words(pointer.written.name)}
    if record is not None:
        of |= {*words(last_component(record.spelling)), "struct"}
        if pointer.written.length or pointer.written.name.endswith("s"):
            return False  # items of an array
    rest = own - SIZES - LENGTHS - {"of", "t"}
    return bool(own & SIZES or (own & LENGTHS and (record is None or own & of))) and rest <= of


# --- types --------------------------------------------------------------------------------------------------------


def _users(name: Name, side: SideFacts) -> Iterator[Name]:
    """The declarations that lead to a type by themselves or by an alias."""
    pending, seen = [name], {name}
    while pending:
        come = set(side.reach.users(pending.pop())) - seen
        seen |= come
        callbacks = {each for each in come if _is_callback(each, side)}
        pending += (each for each in come - callbacks if each.kind == "alias")
        yield from (each for each in come if each.kind != "alias" or each in callbacks)


def _is_callback(alias: Name, side: SideFacts) -> bool:
    bare, _ = side.types.bare(Named(alias))
    if isinstance(bare, Pointer):
        bare, _ = side.types.bare(bare.target)
    return isinstance(bare, Procedure)


def _mentions(type: TypeRef, name: Name, side: SideFacts) -> bool:
    bare, _ = side.types.bare(type)
    while isinstance(bare, Pointer):
        bare, _ = side.types.bare(bare.target)
    return bare == Named(name)


def _is_untyped(type: TypeRef, side: SideFacts) -> bool:
    bare, _ = side.types.bare(type)
    return isinstance(bare, Pointer) and side.types.bare(bare.target)[0] == Primitive("void", 0)


def _is_number(type: TypeRef, side: SideFacts) -> bool:
    return isinstance(side.types.bare(type)[0], Primitive)
