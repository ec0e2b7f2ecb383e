"""What programs can do with classes, as the compiler tells that reads their headers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from abistore.compare.classify.abilities import accepts_members, gained, lists_as_before, lost
from abistore.compare.classify.declared_traits import gained as gained_trait
from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.compare.side import SideFacts
from abistore.model.declared import Ability, Declared
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.names import Name
from abistore.model.shapes import Record

WORDS: Final[Mapping[Ability, str]] = {
    "aggregate": "a list of values for its members: T t{...};",
    "assign": "assignment: t = u;",
    "cast": "dynamic_cast<T *>",
    "copy": "copies: T t = u;",
    "copy_bytes": "copies as bytes: std::is_trivially_copyable<T>",
    "default": "objects without arguments: T t;",
    "default_implicitly": "objects without arguments: T t = {};",
    "derive": "derived classes",
    "derived_assign": "assignment of derived classes",
    "derived_copy": "copies of derived classes",
    "derived_default": "derived classes that give it no arguments",
    "derived_destroy": "the destructor of derived classes",
    "derived_move": "moves of derived classes",
    "derived_move_assign": "move assignment of derived classes",
    "destroy": "the destructor",
    "instantiate": "objects of the class itself",
    "list_members": "a list that begins with its first member: T t{...};",
    "literal": "constants: constexpr T t{...};",
    "move": "moves: T t = std::move(u);",
    "move_assign": "move assignment: t = std::move(u);",
    "standard_layout": "a standard layout",
}


def _told(abilities: list[Ability]) -> str:
    """The first of several: what derived classes can do follows from what the class itself can."""
    return WORDS[abilities[0]]


@rule(Impact.API_BREAK, variant="default", evidence="source", element="types", action="changed")
def type_ability_removed_default(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Programs can no longer make an object of a class without arguments.

    A constructor with arguments was declared, and compilers make none without; or a member or a base must be given a
    value. Built programs have the old constructor compiled in, or call it. Sources with ``T t;``, ``T t[2];`` or a
    member of that type stop compiling, and derived classes that give it no arguments.

    Fix: declare ``T() = default;`` beside the new constructor, or give the member a value.
    """
    if found := lost(declared, context, "default", "default_implicitly", "derived_default"):
        yield Note("no object is made without arguments", _told(found), None)


@rule(Impact.API_BREAK, variant="aggregate", evidence="source", element="types", action="changed")
def type_ability_removed_aggregate(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Programs can no longer give the members of a class their values by a list.

    The class got a constructor, a member that is not public, a virtual function or a base, and is no aggregate any
    more; or the list begins with its base now, and not with the same members in their order. Built programs do not use
    the list. Sources with ``T t{1, 2};`` stop compiling.

    Fix: add a function that makes such an object, or a constructor that takes all members in their order.
    """
    found, name = lost(declared, context, "aggregate", "list_members"), declared.subject.name
    if found == ["list_members"] and lists_as_before(name, context):
        return
    if found and not accepts_members(name, context) and _has_members(declared, context):
        yield Note("no list gives its members their values", _told(found), None)


@rule(Impact.RISK, variant="aggregate_rerouted", evidence="source", element="types", action="changed")
def type_ability_removed_aggregate_rerouted(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A list of values for the members of a class calls a constructor now.

    It takes all members in their order. Sources with such a list compile as before; those with a shorter one, or with
    the names of members (``{.x = 1}``), stop compiling.

    Fix: give the parameters of the constructor defaults.
    """
    if lost(declared, context, "aggregate") and accepts_members(declared.subject.name, context):
        yield Note("a list of values calls a constructor", WORDS["aggregate"], None)


def _has_members(declared: Changed[Declared], context: Context) -> bool:
    """Whether a list may hold anything: ``T t{}`` needs no aggregate. Of a template nobody knows."""
    shapes = [each for each in context.old.variants("source", declared.subject.name) if isinstance(each, Record)]
    return not shapes or any(each.fields or each.bases for each in shapes)


@rule(Impact.API_BREAK, variant="copy", evidence="source", element="types", action="changed")
def type_ability_removed_copy(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Programs can no longer copy an object of a class.

    Its copy constructor is deleted or no longer accessible, or compilers make none: a move was declared, or a member or
    base cannot be copied. Built programs have the old one compiled in, or call it. Sources with ``T t = u;``, or that
    pass or return such objects by value, stop compiling.

    Fix: declare ``T(const T &) = default;`` beside the move.
    """
    if found := lost(declared, context, "copy", "derived_copy"):
        yield Note("objects are not copied", _told(found), None)


@rule(Impact.API_BREAK, variant="move", evidence="source", element="types", action="changed")
def type_ability_removed_move(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Programs can no longer move an object of a class that they could not copy, or move it no more than copy it.

    Built programs have the old constructor compiled in, or call it. Sources with ``T t = std::move(u);``, that return
    such objects or keep them in a ``std::vector``, stop compiling.

    Fix: declare ``T(T &&)`` as it was.
    """
    found = lost(declared, context, "move", "derived_move")
    if found and not lost(declared, context, "copy", "derived_copy"):
        yield Note("objects are not moved", _told(found), None)


@rule(Impact.API_BREAK, variant="assignment", evidence="source", element="types", action="changed")
def type_ability_removed_assignment(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Programs can no longer assign to an object of a class.

    Its assignment is deleted or no longer accessible, or compilers make none: a member is a reference or ``const``, a
    move was declared, or a member or base cannot be assigned. Built programs have the old one compiled in, or call it.
    Sources with ``t = u;`` stop compiling.

    Fix: declare ``T &operator=(const T &)``, or keep the member one that can be assigned.
    """
    if found := lost(declared, context, "assign", "move_assign", "derived_assign", "derived_move_assign"):
        yield Note("objects are not assigned", _told(found), None)


@rule(Impact.API_BREAK, variant="destruction", evidence="source", element="types", action="changed")
def type_ability_removed_destruction(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Programs can no longer destroy an object of a class.

    Its destructor is deleted or no longer accessible, or a member or base has none that is. Built programs have the old
    one compiled in, or call it. Sources that declare an object, or use ``delete``, stop compiling.

    Fix: keep the destructor accessible, and add a function that frees objects of the library's.
    """
    if found := lost(declared, context, "destroy", "derived_destroy"):
        yield Note("objects are not destroyed", _told(found), None)


@rule(Impact.API_BREAK, variant="derivation", evidence="source", element="types", action="changed")
def type_ability_removed_derivation(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Programs can no longer derive from a class, though it is not ``final``.

    It ends with an array without a bound, behind which nothing may lie, or a virtual function got what no class can
    override. Built programs do not notice by this alone. Sources of classes that derive from it stop compiling, and
    those that have a member of such a class before others.

    Fix: put what the class got behind a pointer.
    """
    found = lost(declared, context, "derive") and not lost(declared, context, "destroy")
    if found and not gained_trait(declared, "final") and _is_class(declared.subject.name, context.new):
        yield Note("nobody can derive from the class", WORDS["derive"], None)


def _is_class(name: Name, side: SideFacts) -> bool:
    return any(isinstance(each, Record) and each.sort != "union" for each in side.variants("source", name))


@rule(Impact.RISK, variant="triviality", evidence="source", element="types", action="changed")
def type_ability_removed_triviality(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Programs can no longer copy objects of a class as bytes, or have constants of it.

    The class got a special member that is not trivial, or has no ``constexpr`` constructor any more. Sources that have
    a ``std::atomic`` of it, copy it with ``memcpy`` where they assert that they may, or declare a ``constexpr`` object
    stop compiling. How the class is passed by value is a finding of its own.

    Fix: keep copies, moves and the destructor defaulted in the class, and a constructor ``constexpr``.
    """
    if found := lost(declared, context, "copy_bytes", "literal"):
        yield Note("the class is less trivial", _told(found), None)


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="changed")
def type_ability_added(declared: Changed[Declared]) -> Iterator[Note]:
    """Programs can do with a class what they could not.

    They can make, copy, move, assign or destroy its objects, or derive from it, where compilers refused before.

    Fix: nothing; from now on it is part of the interface.
    """
    if found := gained(declared):
        yield Note("compilers accept it", None, _told(found))
