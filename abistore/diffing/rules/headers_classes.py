"""What sources can do with the types and classes that headers declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.abilities import (
    accepts_members,
    gained,
    gained_trait,
    lists_as_before,
    lost,
    lost_trait,
    passes_overrides,
)
from abistore.diffing.kinds.enumerators import moved
from abistore.diffing.kinds.equivalent_declarations import abridged
from abistore.diffing.parts import DefinitionKind, WrittenMember
from abistore.diffing.side import SideFacts
from abistore.model.declarations import Ability, Changed, Declared, Name, Removed
from abistore.model.findings import Impact
from abistore.model.shapes import Enum, Record

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


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def type_became_final(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class became ``final``.

    Built classes that derive from it go on working. Sources of such classes stop compiling. A class with virtual
    functions whose objects programs pass to the library has a finding of its own.

    Fix: deprecate deriving from it first.
    """
    if (
        gained_trait(declared, "final")
        and not passes_overrides(declared, context)
        and not _is_closed(declared, context)
    ):
        yield Note("nobody may derive from the class", None, "final")


@rule(Impact.BREAKING, variant="method", evidence="source", element="functions", action="changed")
def type_became_final_method(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A virtual function that programs override became ``final``, or all of a class did.

    Compilers call a ``final`` function directly, without optimisation too. Built programs that override it pass their
    objects to the library, which calls its own function instead of theirs. Sources that override it stop compiling.

    Fix: deprecate overriding it first, and mark it ``final`` with the next SONAME.
    """
    if passes_overrides(declared, context) and not _is_closed(declared, context):
        yield Note("the library calls its own function instead of overrides", None, "final")


@rule(Impact.COMPATIBLE, variant="closed", evidence="source", element="types", action="changed")
def type_became_final_closed(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class became ``final`` from which nobody could derive.

    All constructors that its header declares are private, and it cannot be copied or moved: no object of a class that
    derives from it can be made.

    Fix: nothing.
    """
    if gained_trait(declared, "final") and _is_closed(declared, context):
        yield Note("nobody could derive from the class", None, "final")


def _is_closed(declared: Changed[Declared], context: Context) -> bool:
    """Whether nobody makes an object of a class that derives from the old one, as the compiler and the header say."""
    abilities, name = declared.old.abilities, declared.subject.name
    made = {"derived_copy", "derived_default", "derived_move"}
    if abilities is None or not made <= {*abilities.lacking}:
        return False
    written = [each for shapes in context.old.tables.constructors(name).values() for each in shapes]
    methods = [each.method for each in written if each.method is not None and not each.method.deleted]
    return bool(methods) and all(each.access == "private" for each in methods)


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="changed")
def type_lost_final(declared: Changed[Declared]) -> Iterator[Note]:
    """A class is no longer ``final``.

    Built programs call its virtual functions directly. They must not be handed objects of classes that derive from it.

    Fix: nothing, as long as the library makes no such objects.
    """
    if lost_trait(declared, "final"):
        yield Note("classes may derive from the class", "final", None)


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def type_became_abstract(declared: Changed[Declared]) -> Iterator[Note]:
    """A class became abstract.

    Sources that create objects of it stop compiling. Where the vtable shows the virtual function that became pure, that
    is a finding of its own.

    Fix: give the pure virtual functions a body, or put them into a new class.
    """
    if gained_trait(declared, "abstract"):
        yield Note("nobody can create objects of the class", None, "abstract")


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="changed")
def type_lost_abstract(declared: Changed[Declared]) -> Iterator[Note]:
    """A class is no longer abstract.

    Built programs created objects of derived classes only, which override what was pure.

    Fix: nothing.
    """
    if lost_trait(declared, "abstract"):
        yield Note("programs can create objects of the class", "abstract", None)


@rule(Impact.RISK, evidence="source", element="types", action="changed")
def standard_layout_lost(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class is no longer a standard-layout class.

    The language no longer promises what programs rely on that use ``offsetof``, share the class with C, or take its
    address for that of its first member. Where the layout differs, that is a finding of its own.

    Fix: keep one access for all data members and no virtual functions.
    """
    unasked = declared.old.abilities is None and declared.new.abilities is None  # former versions worked it out
    former = unasked and lost_trait(declared, "standard_layout") and not gained_trait(declared, "template")
    if former or lost(declared, context, "standard_layout"):
        yield Note("the layout is not standard", "standard layout", None)


# --- what members are written as --------------------------------------------------------------------------------------


@rule(Impact.COMPATIBLE, variant="respelled", evidence="source", element="enums", action="changed")
def enum_member_value_changed_respelled(member: Changed[WrittenMember], context: Context) -> Iterator[Note]:
    """The value of an enumerator is written in another way.

    Programs have the number compiled in, which is the same. Where it differs, that is a finding of its own.

    Fix: nothing.
    """
    name, part = member.subject.name, member.subject.part
    old, new = (_value(side, name, part) for side in (context.old, context.new))
    if name.kind == "enum" and old == new:
        yield Note("the value is written in another way", member.old.text, member.new.text)


def _value(side: SideFacts, name: Name, enumerator: str) -> int | None:
    enums = (shape for shape in side.variants("source", name) if isinstance(shape, Enum))
    return next((each.value for shape in enums for each in shape.enumerators if each.name == enumerator), None)


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="changed")
def field_default_initializer_changed(member: Changed[WrittenMember]) -> Iterator[Note]:
    """A data member is initialised with another value where a constructor says nothing else.

    Built programs initialise objects as before. Code that is compiled again makes objects that begin with other values.

    Fix: nothing, as long as the library treats both values as it did.
    """
    if member.subject.name.kind == "record":
        yield Note("the member begins with another value", member.old.text, member.new.text)


@rule(Impact.RISK, evidence="source", element="types", action="changed")
def field_default_initializer_removed(member: Removed[WrittenMember]) -> Iterator[Note]:
    """A data member is no longer initialised where no constructor does.

    Built programs initialise objects as before. Those that are compiled again leave in the member whatever was in the
    memory, where they made an object without giving it a value.

    Fix: keep the initialiser.
    """
    if member.subject.name.kind == "record":
        yield Note("the member begins with no value", member.old.text, None)


@rule(Impact.BREAKING, variant="to_constant", evidence="source", element="enums", action="removed")
def enum_member_value_changed_to_constant(
    enum: Removed[Enum] | Changed[DefinitionKind], context: Context
) -> Iterator[Note]:
    """An enumeration was replaced by constants of the same names with different values.

    Each is a macro, or an enumerator of another enumeration. Programs have the old numbers compiled in. The library
    takes what they pass for something else, and they take what they get for something else.

    Fix: give the names their old values.
    """
    old = enum.old.shape if isinstance(enum.old, DefinitionKind) else enum.old
    stays = isinstance(enum, Changed) and isinstance(enum.new.shape, Enum)
    found = list(moved(enum.subject.name, old, context)) if isinstance(old, Enum) and not stays else []
    if found:
        before = [f"{each.name} = {each.value}" for each, _ in found]
        now = [f"{each.name} = {value}" for each, value in found]
        yield Note("the names have other values", abridged(before), abridged(now))
