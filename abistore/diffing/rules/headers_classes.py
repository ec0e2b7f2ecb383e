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
    """A class is no longer default-constructible.

    A constructor with arguments was declared, or a member or base must be initialised. Existing binaries have the old
    constructor compiled in, or call it. Sources with ``T t;``, ``T t[2];`` or a member of that type stop compiling, and
    so do derived classes that pass no arguments.

    Fix: declare ``T() = default;`` in addition to the new constructor, or initialise the member.
    """
    if found := lost(declared, context, "default", "default_implicitly", "derived_default"):
        yield Note("the class is no longer default-constructible", _told(found), None)


@rule(Impact.API_BREAK, variant="aggregate", evidence="source", element="types", action="changed")
def type_ability_removed_aggregate(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class is no longer an aggregate.

    The class got a constructor, a non-public member, a virtual function or a base. Or the initialiser list now begins
    with its base, or members changed their order. Existing binaries do not use the list. Sources with ``T t{1, 2};``
    stop compiling.

    Fix: add a function that makes such an object, or a constructor that takes all members in order.
    """
    found, name = lost(declared, context, "aggregate", "list_members"), declared.subject.name
    if found == ["list_members"] and lists_as_before(name, context):
        return
    if found and not accepts_members(name, context) and _has_members(declared, context):
        yield Note("the class is no longer an aggregate", _told(found), None)


@rule(Impact.RISK, variant="aggregate_rerouted", evidence="source", element="types", action="changed")
def type_ability_removed_aggregate_rerouted(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """An initialiser list for the members of a class now calls a constructor.

    It takes all members in order. Sources with such a list compile as before. Shorter lists, and lists with member
    names (``{.x = 1}``), stop compiling.

    Fix: give the constructor's parameters default arguments.
    """
    if lost(declared, context, "aggregate") and accepts_members(declared.subject.name, context):
        yield Note("an initialiser list calls a constructor", WORDS["aggregate"], None)


def _has_members(declared: Changed[Declared], context: Context) -> bool:
    """Whether a list may hold anything: ``T t{}`` needs no aggregate. Of a template nobody knows."""
    shapes = [each for each in context.old.variants("source", declared.subject.name) if isinstance(each, Record)]
    return not shapes or any(each.fields or each.bases for each in shapes)


@rule(Impact.API_BREAK, variant="copy", evidence="source", element="types", action="changed")
def type_ability_removed_copy(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class is no longer copyable.

    Its copy constructor is deleted or inaccessible, or compilers generate none: a move was declared, or a member or
    base cannot be copied. Existing binaries have the old one compiled in, or call it. Sources with ``T t = u;``, or
    that pass or return such objects by value, stop compiling.

    Fix: declare ``T(const T &) = default;`` beside the move.
    """
    if found := lost(declared, context, "copy", "derived_copy"):
        yield Note("the class is no longer copyable", _told(found), None)


@rule(Impact.API_BREAK, variant="move", evidence="source", element="types", action="changed")
def type_ability_removed_move(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class is no longer movable.

    It could not be copied before, or still can be. Existing binaries have the old constructor compiled in, or call it.
    Sources with ``T t = std::move(u);``, that return such objects or keep them in a ``std::vector``, stop compiling.

    Fix: restore ``T(T &&)``.
    """
    found = lost(declared, context, "move", "derived_move")
    if found and not lost(declared, context, "copy", "derived_copy"):
        yield Note("the class is no longer movable", _told(found), None)


@rule(Impact.API_BREAK, variant="assignment", evidence="source", element="types", action="changed")
def type_ability_removed_assignment(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class is no longer assignable.

    Its assignment is deleted or inaccessible, or compilers generate none. Reasons are a reference or ``const`` member,
    a declared move, or a member or base without assignment. Existing binaries have the old one compiled in, or call it.
    Sources with ``t = u;`` stop compiling.

    Fix: declare ``T &operator=(const T &)``, or keep all members assignable.
    """
    if found := lost(declared, context, "assign", "move_assign", "derived_assign", "derived_move_assign"):
        yield Note("the class is no longer assignable", _told(found), None)


@rule(Impact.API_BREAK, variant="destruction", evidence="source", element="types", action="changed")
def type_ability_removed_destruction(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class is no longer destructible.

    Its destructor is deleted or inaccessible, or that of a member or base is. Existing binaries have the old one
    compiled in, or call it. Sources that declare an object, or use ``delete``, stop compiling.

    Fix: keep the destructor accessible, and add a function that frees the library's objects.
    """
    if found := lost(declared, context, "destroy", "derived_destroy"):
        yield Note("the class is no longer destructible", _told(found), None)


@rule(Impact.API_BREAK, variant="derivation", evidence="source", element="types", action="changed")
def type_ability_removed_derivation(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """Programs can no longer derive from a class, though it is not ``final``.

    It ends with a flexible array, which nothing may follow, or a virtual function became impossible to override.
    Existing binaries are not affected by this alone. Sources of derived classes stop compiling, and so do sources with
    such a member before others.

    Fix: move the addition behind a pointer.
    """
    found = lost(declared, context, "derive") and not lost(declared, context, "destroy")
    if found and not gained_trait(declared, "final") and _is_class(declared.subject.name, context.new):
        yield Note("programs can no longer derive from the class", WORDS["derive"], None)


def _is_class(name: Name, side: SideFacts) -> bool:
    return any(isinstance(each, Record) and each.sort != "union" for each in side.variants("source", name))


@rule(Impact.RISK, variant="triviality", evidence="source", element="types", action="changed")
def type_ability_removed_triviality(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class is no longer trivially copyable, or no longer a literal type.

    The class got a non-trivial special member, or lost its ``constexpr`` constructor. Sources with a ``std::atomic`` of
    it, a checked ``memcpy``, or a ``constexpr`` object stop compiling. Changes of passing it by value are reported
    separately.

    Fix: keep copies, moves and the destructor defaulted in the class, and a constructor ``constexpr``.
    """
    if found := lost(declared, context, "copy_bytes", "literal"):
        yield Note("the class is less trivial", _told(found), None)


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="changed")
def type_ability_added(declared: Changed[Declared]) -> Iterator[Note]:
    """Programs can do more with the objects of a class.

    They can create, copy, move, assign or destroy them, or derive from the class; before, compilers rejected that.

    Fix: nothing; from now on it is part of the interface.
    """
    if found := gained(declared):
        yield Note("compilers accept it", None, _told(found))


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def type_became_final(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class became ``final``.

    Existing derived classes keep working. Sources of derived classes stop compiling. A class with virtual functions
    whose objects programs pass to the library is reported separately.

    Fix: deprecate deriving from it first.
    """
    if (
        gained_trait(declared, "final")
        and not passes_overrides(declared, context)
        and not _is_closed(declared, context)
    ):
        yield Note("the class became final", None, "final")


@rule(Impact.BREAKING, variant="method", evidence="source", element="functions", action="changed")
def type_became_final_method(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A virtual function that programs override became ``final``, or its class did.

    Compilers call a ``final`` function directly, even without optimisation. For objects of existing binaries that
    override it, the library calls its own function instead. Sources that override it stop compiling.

    Fix: deprecate overriding it first, and mark it ``final`` with the next SONAME.
    """
    if passes_overrides(declared, context) and not _is_closed(declared, context):
        yield Note("the library calls its own function instead of overrides", None, "final")


@rule(Impact.COMPATIBLE, variant="closed", evidence="source", element="types", action="changed")
def type_became_final_closed(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class from which nobody could derive became ``final``.

    All constructors in its header are private, and it cannot be copied or moved. So no derived class can be
    constructed.

    Fix: nothing.
    """
    if gained_trait(declared, "final") and _is_closed(declared, context):
        yield Note("the class became final; nobody could derive from it", None, "final")


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

    Existing binaries call its virtual functions directly. They must not get objects of derived classes.

    Fix: nothing, as long as the library makes no such objects.
    """
    if lost_trait(declared, "final"):
        yield Note("the class is no longer final", "final", None)


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def type_became_abstract(declared: Changed[Declared]) -> Iterator[Note]:
    """A class became abstract.

    Sources that create objects of it stop compiling. A virtual function that became pure in the vtable is reported
    separately.

    Fix: give the pure virtual functions a body, or move them to a new class.
    """
    if gained_trait(declared, "abstract"):
        yield Note("the class became abstract", None, "abstract")


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="changed")
def type_lost_abstract(declared: Changed[Declared]) -> Iterator[Note]:
    """A class is no longer abstract.

    Existing binaries created only objects of derived classes, which override the pure functions.

    Fix: nothing.
    """
    if lost_trait(declared, "abstract"):
        yield Note("the class is no longer abstract", "abstract", None)


@rule(Impact.RISK, evidence="source", element="types", action="changed")
def standard_layout_lost(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class is no longer a standard-layout class.

    Sources that use ``offsetof``, share the class with C, or use its address as that of its first member lose the
    language's guarantee. A changed layout is reported separately.

    Fix: keep one access specifier for all data members and no virtual functions.
    """
    unasked = declared.old.abilities is None and declared.new.abilities is None  # former versions worked it out
    former = unasked and lost_trait(declared, "standard_layout") and not gained_trait(declared, "template")
    if former or lost(declared, context, "standard_layout"):
        yield Note("the layout is no longer standard", "standard layout", None)


# --- what members are written as --------------------------------------------------------------------------------------


@rule(Impact.COMPATIBLE, variant="respelled", evidence="source", element="enums", action="changed")
def enum_member_value_changed_respelled(member: Changed[WrittenMember], context: Context) -> Iterator[Note]:
    """The value of an enumerator is written differently.

    Programs have the same number compiled in. A different number is reported separately.

    Fix: nothing.
    """
    name, part = member.subject.name, member.subject.part
    old, new = (_value(side, name, part) for side in (context.old, context.new))
    if name.kind == "enum" and old == new:
        yield Note("the value is written differently", member.old.text, member.new.text)


def _value(side: SideFacts, name: Name, enumerator: str) -> int | None:
    enums = (shape for shape in side.variants("source", name) if isinstance(shape, Enum))
    return next((each.value for shape in enums for each in shape.enumerators if each.name == enumerator), None)


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="changed")
def field_default_initializer_changed(member: Changed[WrittenMember]) -> Iterator[Note]:
    """The default member initialiser of a data member changed.

    Existing binaries initialise objects as before. Recompiled code initialises them with the new value.

    Fix: nothing, if the library accepts both values.
    """
    if member.subject.name.kind == "record":
        yield Note("the initial value of the member changed", member.old.text, member.new.text)


@rule(Impact.RISK, evidence="source", element="types", action="changed")
def field_default_initializer_removed(member: Removed[WrittenMember]) -> Iterator[Note]:
    """The default member initialiser of a data member was removed, and no constructor sets the member.

    Existing binaries initialise objects as before. Recompiled code leaves the member uninitialised where it creates an
    object without a value.

    Fix: keep the initialiser.
    """
    if member.subject.name.kind == "record":
        yield Note("the member lost its initial value", member.old.text, None)


@rule(Impact.BREAKING, variant="to_constant", evidence="source", element="enums", action="removed")
def enum_member_value_changed_to_constant(
    enum: Removed[Enum] | Changed[DefinitionKind], context: Context
) -> Iterator[Note]:
    """An enumeration was replaced by constants of the same names with different values.

    Each is a macro, or an enumerator of another enumeration. Programs have the old numbers compiled in. Each side gives
    the other's numbers another meaning.

    Fix: restore the old values.
    """
    old = enum.old.shape if isinstance(enum.old, DefinitionKind) else enum.old
    stays = isinstance(enum, Changed) and isinstance(enum.new.shape, Enum)
    found = list(moved(enum.subject.name, old, context)) if isinstance(old, Enum) and not stays else []
    if found:
        before = [f"{each.name} = {each.value}" for each, _ in found]
        now = [f"{each.name} = {value}" for each, value in found]
        yield Note("the values of the names changed", abridged(before), abridged(now))
