"""Functions as headers declare and define them."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.abilities import gained_trait, is_overridden, lost_trait, members_exchanged, told_beside
from abistore.diffing.rules.headers_declarations import is_unexported
from abistore.diffing.side import SideFacts
from abistore.diffing.types.closed_classes import is_same_value
from abistore.model.declarations import Argument, Changed, Declared, InlineBody, Name
from abistore.model.findings import Impact
from abistore.model.names.qualified import demangle
from abistore.model.names.spelling import argument
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
