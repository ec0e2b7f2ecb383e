"""What headers alone tell of functions: what they promise, and what their parameters are by default."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.declared_traits import gained, lost
from abistore.compare.classify.overriding import is_overridden
from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.compare.rules.headers_declarations import is_unexported
from abistore.compare.side import SideFacts
from abistore.compare.types.written_values import is_same_value
from abistore.model.cpp_names.prototypes import argument
from abistore.model.declared import Argument, Declared
from abistore.model.deltas import Changed
from abistore.model.findings import Impact
from abistore.model.names import Name
from abistore.model.words.counting import counted


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def func_noexcept_added(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A function became ``noexcept``, and no program overrides it.

    Built callers work as before. From C++17 on, ``noexcept`` is part of the function's type: sources that store the
    function's address in a pointer still compile, since the promise may be dropped.

    Fix: nothing.
    """
    if gained(declared, "noexcept") and not is_overridden(declared.subject.name, context):
        yield Note("the function is noexcept", None, "noexcept")


@rule(Impact.API_BREAK, variant="virtual", evidence="source", element="functions", action="changed")
def func_noexcept_added_virtual(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A virtual function that programs may override became ``noexcept``.

    Built programs work as before; an exception that leaves an override terminates the program where the library relies
    on the promise. Sources that override it without ``noexcept`` stop compiling: an override promises no less.

    Fix: promise it in the documentation, or add a function with another name.
    """
    if gained(declared, "noexcept") and is_overridden(declared.subject.name, context):
        yield Note("overrides have to be noexcept", None, "noexcept")


@rule(Impact.RISK, evidence="source", element="functions", action="changed", aliases=("func_exception_spec_changed",))
def func_noexcept_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A function is no longer ``noexcept``.

    Built callers have no code for an exception: one that passes through them terminates the program.

    Fix: keep the promise under this name, and add a function that may throw.
    """
    if lost(declared, "noexcept"):
        yield Note("the function may throw", "noexcept", None)


def _is_macro(declared: Changed[Declared]) -> bool:
    """Whether a side has a macro, which serves as a constant as well."""
    return any("macro" in side.traits for side in (declared.old, declared.new))


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def constexpr_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A function or variable became ``constexpr``.

    Built programs work as before. Sources may use it where the language asks for a constant.

    Fix: nothing; from now on its value is compiled into consumers.
    """
    if gained(declared, "constexpr") and not _is_macro(declared):
        yield Note("the declaration is constexpr", None, "constexpr")


@rule(Impact.API_BREAK, evidence="source", element="functions", action="changed")
def constexpr_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A function or variable is no longer ``constexpr``.

    Built programs have what it gave compiled into them. Sources that use it where the language asks for a constant, as
    for the length of an array, stop compiling.

    Fix: keep it ``constexpr``, and add a function that need not be.
    """
    if lost(declared, "constexpr") and not _is_macro(declared):
        yield Note("the declaration is not constexpr", "constexpr", None)


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

    Built callers pass the old value, which was compiled into them. Callers that are compiled again pass the new one.

    Fix: nothing, as long as the function treats both values as it did.
    """
    old, new = parameter.old.default, parameter.new.default
    if old is not None and new is not None and not is_same_value(old, new):
        yield Note("the default argument differs", argument(parameter.old), argument(parameter.new))


@rule(Impact.API_BREAK, evidence="source", element="functions", action="changed")
def param_default_value_removed(parameter: Changed[Argument], context: Context) -> Iterator[Note]:
    """The default argument of a parameter was removed, and no overload takes the calls that leave it out.

    Built callers pass the value that was compiled into them. Sources that leave the argument out stop compiling.

    Fix: keep the default argument, or add an overload without the parameter.
    """
    if _is_gone(parameter) and not _overloads_take_over(parameter, context):
        yield Note("the argument must be given", argument(parameter.old), argument(parameter.new))


@rule(Impact.COMPATIBLE, variant="overloaded", evidence="source", element="functions", action="changed")
def param_default_value_removed_overloaded(parameter: Changed[Argument], context: Context) -> Iterator[Note]:
    """The default argument of a parameter was removed, and overloads take the calls that leave it out.

    Built callers pass the value that was compiled into them. Sources compile as before, and call the overload where
    they leave the argument out: ``send(int, int = 1)`` became ``send(int, int)`` and ``send(int)``.

    Fix: nothing, as long as the overload does what the default did.
    """
    if _is_gone(parameter) and _overloads_take_over(parameter, context):
        yield Note("an overload is called without the argument", argument(parameter.old), argument(parameter.new))


def _is_gone(parameter: Changed[Argument]) -> bool:
    return parameter.old.default is not None and parameter.new.default is None


def _overloads_take_over(parameter: Changed[Argument], context: Context) -> bool:
    """Whether each call that leaves a parameter out, and those behind it, finds another function."""
    from abistore.compare.classify.signatures.superseding import shorter  # few defaults go

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

    Built callers pass the argument. Sources may leave it out.

    Fix: nothing; a call that fits another overload too may become ambiguous.
    """
    if parameter.old.default is None and parameter.new.default is not None:
        yield Note("the argument may be left out", argument(parameter.old), argument(parameter.new))


def _lengths(parameter: Changed[Argument]) -> tuple[int, int]:
    """The lengths of the array that callers give; the same where they have the function compiled in."""
    assert parameter.within is not None and isinstance(parameter.within.old, Declared)
    old, new = parameter.old.length, parameter.new.length
    return (old, old) if "inline" in parameter.within.old.traits else (old, new)


@rule(Impact.BREAKING, variant="array_longer", evidence="source", element="functions", action="changed")
def func_params_changed_array_longer(parameter: Changed[Argument]) -> Iterator[Note]:
    """A parameter asks for a longer array than before, e.g. ``void digest(char out[32])``.

    Built callers give an array of the old length. The function writes, or reads, behind its end. A pointer tells
    nothing of that: the symbol and the call are the same. Text that is only read (``const char name[32]``) ends by a
    mark and is left out.

    Fix: keep the function and its length, and add one with a new name.
    """
    old, new = _lengths(parameter)
    if 0 < old < new:
        yield Note("the array must be longer", counted(old, "element"), counted(new, "element"))


@rule(Impact.RISK, variant="array_shorter", evidence="source", element="functions", action="changed")
def func_params_changed_array_shorter(parameter: Changed[Argument]) -> Iterator[Note]:
    """A parameter asks for a shorter array than before.

    Built callers give more than the function uses. Where it fills the array in, the rest is left as it was.

    Fix: say in the documentation which elements are filled in.
    """
    old, new = _lengths(parameter)
    if 0 < new < old:
        yield Note("the array may be shorter", counted(old, "element"), counted(new, "element"))


@rule(Impact.RISK, evidence="source", element="functions", action="changed")
def param_renamed(parameter: Changed[Argument]) -> Iterator[Note]:
    """A parameter was renamed.

    Built callers, and C and C++ sources, do not use the name. Bindings generated from the headers may offer it as a
    keyword. Where two parameters swapped their names, callers may now pass them in the wrong order.

    Fix: keep the name; check that the parameter still means what it did.
    """
    if parameter.old.name and parameter.new.name and parameter.old.name != parameter.new.name:
        yield Note("the parameter's name differs", parameter.old.name, parameter.new.name)
