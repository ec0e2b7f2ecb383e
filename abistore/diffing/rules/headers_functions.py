"""Functions as headers declare and define them, and overloads and names that sources find there.

Overloads that come beside others of their name: what calls are compiled to from then on.

Overload resolution is followed for arguments that people write most: numbers, ``0``, ``nullptr``, ``true``, characters
and string literals. Each parameter of each overload asks for a conversion of a rank (C++ standard, [over.ics.rank]);
the overload that is nowhere worse and somewhere better is called, and without such a one the call is ambiguous.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.abilities import gained_trait, is_overridden, lost_trait, members_exchanged, told_beside
from abistore.diffing.parts import InlineNamespace
from abistore.diffing.rules.headers_declarations import is_unexported
from abistore.diffing.side import SideFacts
from abistore.diffing.surface.public_api import Overload
from abistore.diffing.types.closed_classes import is_same_value
from abistore.model.declarations import Added, Argument, Changed, Declared, InlineBody, Name, Removed
from abistore.model.findings import Impact
from abistore.model.names.qualified import demangle, last_component
from abistore.model.names.spelling import argument
from abistore.model.shapes import Foreign, Function, Named, Pointer, Primitive, TypeRef
from abistore.model.words import counted


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def func_noexcept_added(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A function became ``noexcept``, and no program overrides it.

    Existing callers work as before. From C++17 on, ``noexcept`` is part of the function's type. Sources that store its
    address in a pointer still compile, since the promise may be dropped.

    Fix: nothing.
    """
    if gained_trait(declared, "noexcept") and not is_overridden(declared.subject.name, context):
        yield Note("the function became noexcept", None, "noexcept")


@rule(Impact.API_BREAK, variant="virtual", evidence="source", element="functions", action="changed")
def func_noexcept_added_virtual(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A virtual function that programs may override became ``noexcept``.

    Existing binaries work as before. An exception that leaves an override terminates the program where the library
    relies on the promise. Overrides without ``noexcept`` stop compiling.

    Fix: document the promise, or add a function with another name.
    """
    if gained_trait(declared, "noexcept") and is_overridden(declared.subject.name, context):
        yield Note("overrides have to be noexcept", None, "noexcept")


@rule(Impact.RISK, evidence="source", element="functions", action="changed", aliases=("func_exception_spec_changed",))
def func_noexcept_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A function is no longer ``noexcept``.

    Existing callers have no code for an exception: one that passes through them terminates the program.

    Fix: keep the promise under this name, and add a function that may throw.
    """
    if lost_trait(declared, "noexcept"):
        yield Note("the function may throw", "noexcept", None)


def _is_macro(declared: Changed[Declared]) -> bool:
    """Whether a side has a macro, which serves as a constant as well."""
    return any("macro" in side.traits for side in (declared.old, declared.new))


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def constexpr_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A function or variable became ``constexpr``.

    Existing binaries work as before. Sources may use it where the language asks for a constant.

    Fix: nothing; from now on its value is compiled into consumers.
    """
    if gained_trait(declared, "constexpr") and not _is_macro(declared):
        yield Note("the declaration became constexpr", None, "constexpr")


@rule(Impact.API_BREAK, evidence="source", element="functions", action="changed")
def constexpr_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A function or variable is no longer ``constexpr``.

    Existing binaries have its result compiled in. Sources that need a constant, e.g. as an array length, stop
    compiling.

    Fix: keep it ``constexpr``, and add a function that is not.
    """
    if lost_trait(declared, "constexpr") and not _is_macro(declared):
        yield Note("the declaration is no longer constexpr", "constexpr", None)


# --- parameters ---------------------------------------------------------------------------------------------------


@rule(
    Impact.COMPATIBLE,
    evidence="source",
    element="functions",
    action="changed",
    aliases=("behavioural_default_changed", "default_argument_changed"),
)
def param_default_value_changed(parameter: Changed[Argument]) -> Iterator[Note]:
    """The default argument of a parameter changed.

    Existing callers pass the old value, which is compiled into them. Recompiled callers pass the new one.

    Fix: nothing, if the function accepts both values.
    """
    old, new = parameter.old.default, parameter.new.default
    if old is not None and new is not None and not is_same_value(old, new):
        yield Note("the default argument changed", argument(parameter.old), argument(parameter.new))


@rule(Impact.API_BREAK, evidence="source", element="functions", action="changed")
def param_default_value_removed(parameter: Changed[Argument], context: Context) -> Iterator[Note]:
    """The default argument of a parameter was removed, and no overload accepts calls without it.

    Existing callers pass the value that is compiled into them. Sources that omit the argument stop compiling.

    Fix: keep the default argument, or add an overload without the parameter.
    """
    if _is_gone(parameter) and not _overloads_take_over(parameter, context):
        yield Note("the argument is now required", argument(parameter.old), argument(parameter.new))


@rule(Impact.COMPATIBLE, variant="overloaded", evidence="source", element="functions", action="changed")
def param_default_value_removed_overloaded(parameter: Changed[Argument], context: Context) -> Iterator[Note]:
    """The default argument of a parameter was removed, and overloads accept calls without it.

    Existing callers pass the value that is compiled into them. Sources compile as before, and call the overload if they
    omit the argument: ``send(int, int = 1)`` became ``send(int, int)`` and ``send(int)``.

    Fix: nothing, if the overload does what the default did.
    """
    if _is_gone(parameter) and _overloads_take_over(parameter, context):
        yield Note("an overload is called without the argument", argument(parameter.old), argument(parameter.new))


def _is_gone(parameter: Changed[Argument]) -> bool:
    return parameter.old.default is not None and parameter.new.default is None


def _overloads_take_over(parameter: Changed[Argument], context: Context) -> bool:
    """Whether each call that leaves a parameter out, and those behind it, finds another function."""
    from abistore.diffing.kinds.replaced_functions import shorter  # few defaults go

    assert parameter.within is not None
    written, name = parameter.within.old.parameters, parameter.subject.name
    position = int(parameter.subject.part.rpartition(" ")[2])
    fewest = sum(each.default is None for each in written)
    found = [shorter(name, count, context) for count in range(fewest, position)]
    return all(each is not None and not _is_unexported(each, context.new) for each in found)


def _is_unexported(name: Name, side: SideFacts) -> bool:
    texts = [each for each in side.variants("source", name) if isinstance(each, Declared)]
    return any(is_unexported(side, name, each) for each in texts)


@rule(Impact.COMPATIBLE, variant="added", evidence="source", element="functions", action="changed")
def param_default_value_changed_added(parameter: Changed[Argument]) -> Iterator[Note]:
    """A parameter got a default argument.

    Existing callers pass the argument. Sources may omit it.

    Fix: nothing; a call that matches another overload too may become ambiguous.
    """
    if parameter.old.default is None and parameter.new.default is not None:
        yield Note("the argument may be omitted", argument(parameter.old), argument(parameter.new))


def _lengths(parameter: Changed[Argument]) -> tuple[int, int]:
    """The lengths of the array that callers give; the same where they have the function compiled in."""
    assert parameter.within is not None and isinstance(parameter.within.old, Declared)
    old, new = parameter.old.length, parameter.new.length
    return (old, old) if "inline" in parameter.within.old.traits else (old, new)


@rule(Impact.BREAKING, variant="array_longer", evidence="source", element="functions", action="changed")
def func_params_changed_array_longer(parameter: Changed[Argument]) -> Iterator[Note]:
    """A parameter requires a longer array than before, e.g. ``void digest(char out[32])``.

    Existing callers pass an array of the old length, and the function reads or writes beyond its end. The symbol and
    the call are the same. Text that is only read (``const char name[32]``) has a terminator and is left out.

    Fix: keep the function and its length, and add one with a new name.
    """
    old, new = _lengths(parameter)
    if 0 < old < new:
        yield Note("the required array length grew", counted(old, "element"), counted(new, "element"))


@rule(Impact.RISK, variant="array_shorter", evidence="source", element="functions", action="changed")
def func_params_changed_array_shorter(parameter: Changed[Argument]) -> Iterator[Note]:
    """A parameter requires a shorter array than before.

    Existing callers pass more elements than the function uses. If it fills the array, the remaining elements stay
    unchanged.

    Fix: document which elements are filled.
    """
    old, new = _lengths(parameter)
    if 0 < new < old:
        yield Note("the required array length shrank", counted(old, "element"), counted(new, "element"))


@rule(Impact.RISK, evidence="source", element="functions", action="changed")
def param_renamed(parameter: Changed[Argument]) -> Iterator[Note]:
    """A parameter was renamed.

    Existing callers, and C and C++ sources, do not use the name. Bindings generated from the headers may offer it as a
    keyword. If two parameters swapped their names, callers may now pass them in the wrong order.

    Fix: keep the name; check that the parameter still has its meaning.
    """
    if parameter.old.name and parameter.new.name and parameter.old.name != parameter.new.name:
        yield Note("the parameter was renamed", parameter.old.name, parameter.new.name)


def _uses(body: InlineBody) -> str:
    found = ", ".join([*body.members, *body.types, *map(demangle, body.calls)])
    return f"uses {found}" if found else "uses nothing of the library"


def _bodies(declared: Changed[Declared]) -> tuple[InlineBody, InlineBody] | None:
    old, new = declared.old.body, declared.new.body
    return None if old is None or new is None or told_beside(old, new) == told_beside(new, old) else (old, new)


def _works_with_the_library(body: InlineBody) -> bool:
    return bool(body.members or body.types or body.calls)


@rule(
    Impact.RISK,
    evidence="source",
    element="functions",
    action="changed",
    aliases=(
        "inline_body_references_renamed_member",
        "public_api_internal_dependency_added",
        "public_to_internal_dependency",
        "template_body_changed",
    ),
)
def inline_body_changed(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """The body of an inline function or a template that uses library internals changed.

    Existing binaries keep running the old body, which is compiled into them. It uses private members, or calls
    functions of the library, as in the old release. Together with recompiled code, both bodies run in one process.

    Fix: make the new library accept what the old body does, or move the body into the library.
    """
    bodies = _bodies(declared)
    works = bodies is not None and any(map(_works_with_the_library, bodies))
    if bodies is not None and works and not members_exchanged(declared, context):
        before, after = map(_uses, bodies)
        if before == after:
            yield Note(f"the inline body changed, which {before}")
        else:
            yield Note("the inline body changed", before, after)


@rule(Impact.BREAKING, variant="offsets", evidence="source", element="functions", action="changed")
def inline_body_changed_offsets(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """The body of an inline function uses entirely different data members.

    ``int count() const { return count_; }`` became ``{ return n_; }``, and the two members have different offsets.
    Existing binaries have the old offset compiled in. They read a member that the new library no longer updates, and
    write one that it does not read.

    Fix: keep the old member up to date as well; or bump the SONAME.
    """
    if _bodies(declared) is not None and (moved := members_exchanged(declared, context)):
        yield Note("the inline body uses other members", ", ".join(moved[0]), ", ".join(moved[1]))


@rule(Impact.COMPATIBLE, variant="self_contained", evidence="source", element="functions", action="changed")
def inline_body_changed_self_contained(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """The body of an inline function or a template without library internals changed.

    Existing binaries keep running the old body: a fix in the new one reaches them only when they are recompiled.

    Fix: nothing; if the old body was wrong, ask consumers to recompile.
    """
    bodies = _bodies(declared)
    if bodies is None or any(map(_works_with_the_library, bodies)):
        return
    if not members_exchanged(declared, context):
        yield Note("the inline body changed")


@rule(Impact.RISK, evidence="source", element="functions", action="changed")
def func_became_inline(declared: Changed[Declared]) -> Iterator[Note]:
    """A function became inline.

    Recompiled programs run their own copy, and older programs call the library's. As soon as one of them changes, a
    process has two behaviours. If the library no longer exports it, existing binaries do not find it; that is reported
    separately.

    Fix: keep a non-inline definition in the library.
    """
    defined = "defined" in declared.old.traits  # each program has its own copy already
    if declared.subject.name.kind == "function" and gained_trait(declared, "inline") and not defined:
        yield Note("the function became inline", None, "inline")


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def func_lost_inline(declared: Changed[Declared]) -> Iterator[Note]:
    """A function is no longer inline.

    Existing binaries keep running their own copies, with the old behaviour.

    Fix: nothing, if old and new behaviour work together.
    """
    if declared.subject.name.kind == "function" and lost_trait(declared, "inline"):
        yield Note("the function is no longer inline", "inline", None)


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
        for given in ARGUMENTS if places else ():
            ranks = {each.name: _ranks(each, places, given, conversions) for each in viable}
            if ranks[added.name] is None or _called({name: ranks[name] for name in ranks if name in before}) is None:
                continue
            called = _called(ranks)
            if called is None:
                ambiguous[given] = None
            elif called == added.name:
                rerouted[given] = None
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
