"""What headers alone tell of classes and enumerations."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.abilities import lost as lost_ability
from abistore.compare.classify.constants.living_on import moved
from abistore.compare.classify.declared_traits import gained, lost
from abistore.compare.classify.export_batches import abridged
from abistore.compare.classify.overriding import passes_overrides
from abistore.compare.context import Context
from abistore.compare.diff.parts import DefinitionKind, WrittenMember
from abistore.compare.rule import Note, rule
from abistore.compare.side import SideFacts
from abistore.model.declared import Declared
from abistore.model.deltas import Changed, Removed
from abistore.model.findings import Impact
from abistore.model.names import Name
from abistore.model.shapes import Enum


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def type_became_final(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class became ``final``.

    Built classes that derive from it go on working. Sources of such classes stop compiling. A class with virtual
    functions whose objects programs pass to the library has a finding of its own.

    Fix: deprecate deriving from it first.
    """
    if gained(declared, "final") and not passes_overrides(declared, context) and not _is_closed(declared, context):
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
    if gained(declared, "final") and _is_closed(declared, context):
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
    if lost(declared, "final"):
        yield Note("classes may derive from the class", "final", None)


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def type_became_abstract(declared: Changed[Declared]) -> Iterator[Note]:
    """A class became abstract.

    Sources that create objects of it stop compiling. Where the vtable shows the virtual function that became pure, that
    is a finding of its own.

    Fix: give the pure virtual functions a body, or put them into a new class.
    """
    if gained(declared, "abstract"):
        yield Note("nobody can create objects of the class", None, "abstract")


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="changed")
def type_lost_abstract(declared: Changed[Declared]) -> Iterator[Note]:
    """A class is no longer abstract.

    Built programs created objects of derived classes only, which override what was pure.

    Fix: nothing.
    """
    if lost(declared, "abstract"):
        yield Note("programs can create objects of the class", "abstract", None)


@rule(Impact.RISK, evidence="source", element="types", action="changed")
def standard_layout_lost(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A class is no longer a standard-layout class.

    The language no longer promises what programs rely on that use ``offsetof``, share the class with C, or take its
    address for that of its first member. Where the layout differs, that is a finding of its own.

    Fix: keep one access for all data members and no virtual functions.
    """
    unasked = declared.old.abilities is None and declared.new.abilities is None  # former versions worked it out
    former = unasked and lost(declared, "standard_layout") and not gained(declared, "template")
    if former or lost_ability(declared, context, "standard_layout"):
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
    """An enumeration went, and what its enumerators were called has another value now.

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
