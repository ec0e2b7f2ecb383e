"""Overloads and names that sources find in headers.

Overloads that come beside others of their name: what calls are compiled to from then on.

Overload resolution is followed for arguments that people write most: numbers, ``0``, ``nullptr``, ``true``, characters
and string literals. Each parameter of each overload asks for a conversion of a rank (C++ standard, [over.ics.rank]);
the overload that is nowhere worse and somewhere better is called, and without such a one the call is ambiguous.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.abilities import gained_trait, lost_trait
from abistore.diffing.parts import InlineNamespace
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.public_api import Overload
from abistore.model.declarations import Added, Changed, Declared, Name, Removed
from abistore.model.findings import Impact
from abistore.model.names.qualified import demangle, last_component
from abistore.model.shapes import Foreign, Function, Named, Pointer, Primitive, TypeRef

EXACT, PROMOTED, CONVERTED, TO_BOOL, BY_CONSTRUCTOR = range(5)

PROMOTIONS: Final = {"bool": "int", "char": "int", "float": "double"}
"""What an argument is promoted to; every other change of an arithmetic type is a conversion."""

NUMBERS: Final = ("int", "unsigned int", "long", "float", "double", "bool", "char")
ARITHMETIC: Final = frozenset(
    {*NUMBERS, "short", "unsigned short", "unsigned char", "signed char", "unsigned long", "long long"}
    | {"unsigned long long", "long double"}
)
ARGUMENTS: Final = (*NUMBERS, "0", "nullptr", '"text"')
"""Arguments by their type, or as they are written where that matters."""

STRINGS: Final = ("std::basic_string<char", "std::basic_string_view<char")
"""Classes of the standard library that a string literal converts to."""


@rule(Impact.RISK, evidence="source", element="functions", action="added", aliases=("ctor_overload_ambiguity_risk",))
def overload_ambiguity_introduced(declared: Added[Declared], context: Context) -> Iterator[Note]:
    """A new overload makes calls ambiguous.

    Existing binaries work as before. Sources that pass an argument which converts to both parameters stop compiling:
    ``f(1)`` after ``f(long)`` was added to ``f(double)``. Calls with numbers, ``0``, ``nullptr`` and string literals
    are checked.

    Fix: accept exactly what callers pass (add ``f(int)`` too), rename the new function, or make it a template for one
    type only.
    """
    name = declared.subject.name
    if name.kind == "function" and (found := context.once(outcome, name).ambiguous):
        yield Note(f"calls with {_listed(found)} become ambiguous", None, demangle(name.spelling))


@rule(Impact.RISK, evidence="source", element="functions", action="added")
def overload_set_rerouted(declared: Added[Declared], context: Context) -> Iterator[Note]:
    """A new overload takes calls from an existing one.

    Existing binaries keep calling the old overload. Recompiled sources call the new one where its parameters match
    better: ``f(1.5)`` after ``f(double)`` was added to ``f(int)``.

    Fix: make both overloads do the same for the arguments that both accept.
    """
    name = declared.subject.name
    if name.kind == "function" and (found := context.once(outcome, name).rerouted):
        yield Note(f"calls with {_listed(found)} go to the new function", None, demangle(name.spelling))


def _listed(arguments: tuple[str, ...]) -> str:
    return ", ".join(arguments)


# --- overload resolution ---


class Outcome(NamedTuple):
    """What a further overload does: arguments that become ambiguous, and those that get another function called."""

    ambiguous: tuple[str, ...]
    rerouted: tuple[str, ...]


def outcome(name: Name, context: Context) -> Outcome:
    """What the overload ``name``, which the new side declares, does to calls of those that were there."""
    called = _called_by(context.new, name)
    before = {each.name for each in context.old.overload_sets.get(called, ())}
    together = context.new.overload_sets.get(called, ()) if before else ()
    added = next((each for each in together if each.name == name), None)
    return Outcome((), ()) if added is None else _outcome(added, together, before, Conversions(context.new))


def _called_by(side: SideFacts, name: Name) -> Name:
    shapes = side.variants("source", name)
    return Name("function", next((each.display for each in shapes if isinstance(each, Function)), ""))


def _outcome(
    added: Overload, together: Sequence[Overload], before: Collection[Name], conversions: Conversions
) -> Outcome:
    """What calls of the functions ``before`` turn into, of which those that are left stand in ``together``."""
    ambiguous: dict[str, None] = {}
    rerouted: dict[str, None] = {}
    for count in range(max(added.required, 1), len(added.function.parameters) + 1):
        viable = [each for each in together if each.required <= count <= len(each.function.parameters)]
        places = _differing_places(added, viable, count)
        for argument in ARGUMENTS if places else ():
            ranks = {each.name: _ranks(each, places, argument, conversions) for each in viable}
            if ranks[added.name] is None or _called({name: ranks[name] for name in ranks if name in before}) is None:
                continue
            called = _called(ranks)
            if called is None:
                ambiguous[argument] = None
            elif called == added.name:
                rerouted[argument] = None
    return Outcome(tuple(ambiguous), tuple(rerouted))


def _differing_places(added: Overload, viable: Sequence[Overload], count: int) -> list[int]:
    parameters = added.function.parameters
    return [at for at in range(count) if any(each.function.parameters[at] != parameters[at] for each in viable)]


Ranks = tuple[int, ...] | None


def _ranks(overload: Overload, places: Sequence[int], argument: str, conversions: Conversions) -> Ranks:
    """How ``argument`` converts to each of the parameters; ``None`` where it does not convert to one."""
    found = [conversions.rank(argument, overload.function.parameters[at]) for at in places]
    known = tuple(each for each in found if each is not None)
    return known if len(known) == len(found) else None


def _called(candidates: Mapping[Name, Ranks]) -> Name | None:
    """The candidate that is called; ``None`` where none is, or the call is ambiguous."""
    viable = {name: ranks for name, ranks in candidates.items() if ranks is not None}
    for name, ranks in viable.items():
        if all(_is_better(ranks, other) for another, other in viable.items() if another != name):
            return name
    return None


def _is_better(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one != other and all(mine <= its for mine, its in zip(one, other, strict=True))


class Conversions(NamedTuple):
    """What arguments convert to on one side."""

    side: SideFacts

    def rank(self, argument: str, parameter: TypeRef, deeper: bool = True) -> int | None:
        """How ``argument`` converts to ``parameter``; ``None`` where it does not."""
        target, _ = self.side.types.bare(parameter)
        if isinstance(target, Pointer) and target.sort != "*":
            target, qualifiers = self.side.types.bare(target.target)
            if "const" not in qualifiers:
                return None
        match target:
            case Primitive(spelling=spelling):
                return _to_primitive(argument, spelling)
            case Pointer(target=pointee):
                return self._to_pointer(argument, pointee)
            case Named(name=name) if deeper:
                return self._to_class(argument, name)
            case _:
                return None

    def _to_pointer(self, argument: str, pointee: TypeRef) -> int | None:
        if argument in ("0", "nullptr"):
            return CONVERTED
        target, qualifiers = self.side.types.bare(pointee)
        if argument == '"text"' and isinstance(target, Primitive) and "const" in qualifiers:
            return {"char": EXACT, "void": CONVERTED}.get(target.spelling)
        return None

    def _to_class(self, argument: str, name: Name) -> int | None:
        shape = self.side.types.shape(name)
        if isinstance(shape, Foreign):
            return BY_CONSTRUCTOR if argument == '"text"' and name.spelling.startswith(STRINGS) else None
        called = Name("function", f"{name.spelling}::{last_component(name.spelling)}")
        constructors = self.side.overload_sets.get(called, ())
        implicit = (each for each in constructors if not (each.function.method and each.function.method.explicit))
        for each in implicit:
            one = each.required <= 1 <= len(each.function.parameters)
            if one and self.rank(argument, each.function.parameters[0], deeper=False) is not None:
                return BY_CONSTRUCTOR
        return None


def _to_primitive(argument: str, target: str) -> int | None:
    if argument == "nullptr":
        return EXACT if target == "std::nullptr_t" else None
    if target not in ARITHMETIC:
        return None
    if argument == '"text"':
        return TO_BOOL if target == "bool" else None
    source = "int" if argument == "0" else argument
    if source == target:
        return EXACT
    return PROMOTED if PROMOTIONS.get(source) == target else CONVERTED


# --- friends ------------------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, evidence="source", element="functions", action="removed")
def hidden_friend_removed(declared: Removed[Declared]) -> Iterator[Note]:
    """A friend function that only its class declares was removed.

    Existing binaries have a copy of it, or use the library's as long as it exports one. Sources that call it, e.g. an
    operator for objects of the class, stop compiling.

    Fix: keep the friend.
    """
    if "friend" in declared.old.traits:
        yield Note("the friend was removed", demangle(declared.subject.name.spelling), None)


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="added")
def hidden_friend_added(declared: Added[Declared]) -> Iterator[Note]:
    """A class declares a new friend function in its own body.

    Existing binaries do not use it. Only calls with objects of the class find it.

    Fix: nothing.
    """
    if "friend" in declared.new.traits:
        yield Note("the friend was added", None, demangle(declared.subject.name.spelling))


@rule(Impact.API_BREAK, variant="scope_narrowed", evidence="source", element="functions", action="changed")
def declaration_changed_scope_narrowed(declared: Changed[Declared]) -> Iterator[Note]:
    """A function is now declared only as a friend in its class, and no longer in the namespace.

    Existing binaries use it as before. Sources that use its qualified name, its address or a conversion to the class
    stop compiling.

    Fix: keep the declaration in the namespace.
    """
    if gained_trait(declared, "friend"):
        yield Note("only argument-dependent lookup finds the function", None, "hidden friend")


@rule(Impact.COMPATIBLE, variant="scope_widened", evidence="source", element="functions", action="changed")
def declaration_changed_scope_widened(declared: Changed[Declared]) -> Iterator[Note]:
    """A function that was declared only as a friend is now declared in the namespace too.

    Existing binaries use it as before.

    Fix: nothing.
    """
    if lost_trait(declared, "friend"):
        yield Note("ordinary lookup finds the function", "hidden friend", None)


# --- using-declarations -------------------------------------------------------------------------------------------


@rule(
    Impact.API_BREAK,
    variant="using",
    evidence="source",
    element="types",
    action="removed",
    aliases=("std_reexport_removed",),
)
def declaration_removed_using(declared: Removed[Declared]) -> Iterator[Note]:
    """A using-declaration was removed.

    Existing binaries use what it imported. Sources that use the name in the scope of the using-declaration stop
    compiling. Example: ``using std::string_view;`` in a namespace.

    Fix: keep the using-declaration.
    """
    if "using" in declared.old.traits:
        yield Note("the using-declaration was removed", declared.old.value, None)


@rule(Impact.COMPATIBLE, variant="using", evidence="source", element="types", action="added")
def declaration_added_using(declared: Added[Declared]) -> Iterator[Note]:
    """A using-declaration is new.

    Existing binaries do not notice.

    Fix: nothing; the name may clash with another one that sources import.
    """
    if "using" in declared.new.traits:
        yield Note("a using-declaration was added", None, declared.new.value)


@rule(Impact.API_BREAK, variant="using", evidence="source", element="types", action="changed")
def declaration_changed_using(declared: Changed[Declared]) -> Iterator[Note]:
    """A using-declaration imports something else, or became a declaration of its own.

    Existing binaries use what it imported. Recompiled sources use another declaration, and stop compiling where the two
    are used differently.

    Fix: keep the old meaning of the name.
    """
    old, new = ("using" in side.traits for side in (declared.old, declared.new))
    if (old or new) and (old != new or declared.old.value != declared.new.value):
        yield Note("the name refers to something else", declared.old.value, declared.new.value)


# --- inline namespaces ----------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, evidence="source", element="library", action="removed")
def namespace_inline_removed(namespace: Removed[InlineNamespace]) -> Iterator[Note]:
    """A namespace is no longer inline.

    Symbols are the same, and existing binaries do not notice. Sources that reach its members through the enclosing
    namespace (``lib::point`` for ``lib::v1::point``) stop compiling.

    Fix: keep the namespace inline, or add ``using namespace v1;``.
    """
    yield Note("sources must write the namespace", f"inline namespace {namespace.old.scope}", None)


@rule(Impact.COMPATIBLE, evidence="source", element="library", action="added")
def namespace_inline_added(namespace: Added[InlineNamespace]) -> Iterator[Note]:
    """A namespace became inline.

    Symbols are the same. Its members are now also found in the enclosing namespace.

    Fix: nothing.
    """
    yield Note("sources need not write the namespace", None, f"inline namespace {namespace.new.scope}")
