"""How objects are passed by value: in registers or by address. Debug information tells it, or special members do."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.qualified import last_component
from abistore.model.deltas import Added, Changed
from abistore.model.findings import Impact
from abistore.model.mangling.symbols import primary
from abistore.model.names import Name
from abistore.model.shapes import Function, Named, Pointer, Qualified, Record, TypeRef
from abistore.model.tables import Symbol
from abistore.patterns import pattern


def special_member(function: Function) -> Name | None:
    """The class whose destructor, copy or move constructor ``function`` is; ``None`` for any other function."""
    method = function.method
    if method is None or method.virtual != "no":
        return None
    simple = last_component(method.owner.spelling)
    name = last_component(function.display)
    if name == f"~{simple}" or (name == simple and _takes_own(function.parameters, method.owner)):
        return method.owner
    return None


def _takes_own(parameters: tuple[TypeRef, ...], owner: Name) -> bool:
    match parameters:
        case (Pointer(target=Named(name) | Qualified(target=Named(name)), sort="&" | "&&"),):
            return name == owner
        case _:
            return False


def _new_member_of(symbol: Added[Symbol], context: Context) -> Name | None:
    """The class whose first exported special member ``symbol`` is, if the debug information hides what that does."""
    name = symbol.subject.name
    function = context.new.shape(name)
    owner = special_member(function) if isinstance(function, Function) else None
    if owner is None or primary(name.spelling) != name.spelling:
        return None
    old, new = context.old.shape(owner), context.new.shape(owner)
    if not isinstance(old, Record) or not isinstance(new, Record) or None not in (old.passing, new.passing):
        return None
    had_one = any(special_member(each) == owner for each in context.old.tables.methods(owner))
    return None if had_one or context.old.tables.is_polymorphic(old) else owner


@rule(Impact.RISK, variant="special_member", evidence="layout", element="types", action="changed")
def value_abi_trait_changed_special_member(symbol: Added[Symbol], context: Context) -> Iterator[Note]:
    """A class passed by value got a destructor, copy or move constructor in the library.

    If the class had none before, not even an inline one, objects that were passed in registers are now passed by the
    address of a copy: callers and the library disagree on where they are. Where the class holds objects of the standard
    library, debug information does not tell whether it had one.

    Fix: keep these members defaulted in the class; nothing, where the class had them inline before.
    """
    owner = _new_member_of(symbol, context)
    if owner is not None and context.passed_with(owner):
        member = demangle(symbol.subject.name.spelling)
        yield Note(f"{owner.spelling} may be passed differently", None, member, context.affected(owner))


def _passing(record: Changed[Record]) -> tuple[str, str] | None:
    """How both sides pass objects of a record by value, where both are known and differ."""
    old, new = record.old.passing, record.new.passing
    if record.within is not None or old is None or new is None or old == new:
        return None
    return PASSED[old], PASSED[new]


def _moves_registers(record: Changed[Record], context: Context) -> bool:
    """Whether what is passed by value, and is or embeds a record of the same size, goes into other registers."""
    from abistore.compare.types.registers import MOST_BYTES, registers  # few records are passed by value

    name = record.subject.name
    if record.old.size != record.new.size or record.old.size > MOST_BYTES:
        return False
    for value in context.passed_with(name):
        old, new = registers(Named(value), context.old.types), registers(Named(value), context.new.types)
        if None not in (old, new) and old != new:
            return True
    return False


def _is_passed_otherwise(record: Changed[Record], context: Context) -> bool:
    """Whether a record that is passed by address on one side only is ever passed in another way.

    A result that is too large for registers lies in memory of the caller on both sides.
    """
    from abistore.compare.types.registers import is_too_large  # few records are passed by value

    name = record.subject.name
    passed = context.passed_with(name)
    if not passed or not all(is_too_large(each, context.old.types) for each in passed):
        return bool(passed)
    return bool(context.taken_with(name))


PASSED = {"value": "as its members", "reference": "by the address of a copy"}


@rule(
    Impact.BREAKING,
    evidence="layout",
    element="types",
    action="changed",
    effect="other",
    aliases=("trivially_copyable_lost",),
)
def value_abi_trait_changed(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A type is passed by value differently, e.g. by the address of a copy.

    Callers and the library disagree on where the object is. Either a class got or lost a non-trivial destructor, copy
    or move constructor: its objects went into registers and are now passed by the address of a copy, or the reverse. Or
    a field was added to a register that held only integers, or only floating-point numbers: objects of the same size go
    into other registers. Or an array without a bound was added (``char data[]``): in C++ such objects go in memory.

    Fix: keep these members as they were, defaulted in the class or not; pass the type by reference.
    """
    passing = _passing(record)
    if passing is not None and _is_passed_otherwise(record, context):
        yield Note("objects are passed differently", *passing)
    elif passing is None and record.within is None and _moves_registers(record, context):
        yield Note("objects are passed in other registers")


@rule(
    Impact.RISK,
    variant="unused",
    evidence="layout",
    element="types",
    action="changed",
    effect="other",
    aliases=("trivially_copyable_lost",),
)
def value_abi_trait_changed_unused(record: Changed[Record], context: Context) -> Iterator[Note]:
    """A class would be passed by value differently, but the library never passes it so.

    No exported function, callback or virtual method takes it by value, nor returns it where it fits into registers: a
    larger result lies in memory that the caller gives. Built programs that pass it among
    themselves disagree with those that are compiled again, and do not run a new destructor.

    Fix: keep destructor, copy and move constructor as they were, defaulted in the class or not.
    """
    passing = _passing(record)
    if passing is not None and not _is_passed_otherwise(record, context) and not _is_uncopied(record.old):
        yield Note("objects would be passed differently", *passing)


COPY = pattern(r"(\w+)\(const (?:.*::)?\1(?:<.*>)?&\)")
"""A copy constructor, as members that are ``= delete`` are spelled."""


def _is_uncopied(record: Record) -> bool:
    """Whether nobody could copy objects of ``record``, so that no program passes one by value."""
    return any(COPY.fullmatch(member) for member in record.deleted)
