"""What only public headers tell: sources meet it when they are compiled again, built programs do not."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.model.cpp_names.demangle import demangle
from abistore.model.cpp_names.spelling import argument
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact
from abistore.model.mangling.symbols import is_const_member, without_const
from abistore.model.names import Name
from abistore.model.shapes import Argument, Declared, Trait


def _gained(declared: Changed[Declared], trait: Trait) -> bool:
    return trait in declared.new.traits and trait not in declared.old.traits


def _lost(declared: Changed[Declared], trait: Trait) -> bool:
    return trait in declared.old.traits and trait not in declared.new.traits


# --- functions ----------------------------------------------------------------------------------------------------


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def func_noexcept_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A function became ``noexcept``.

    Built callers work as before. From C++17 on, ``noexcept`` is part of the function's type: sources that store the
    function's address in a pointer still compile, since the promise may be dropped.

    Fix: nothing.
    """
    if _gained(declared, "noexcept"):
        yield Note("the function is noexcept", None, "noexcept")


@rule(Impact.RISK, evidence="source", element="functions", action="changed", aliases=("func_exception_spec_changed",))
def func_noexcept_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A function is no longer ``noexcept``.

    Built callers have no code for an exception: one that passes through them terminates the program.

    Fix: keep the promise under this name, and add a function that may throw.
    """
    if _lost(declared, "noexcept"):
        yield Note("the function may throw", "noexcept", None)


@rule(Impact.API_BREAK, evidence="source", element="functions", action="changed")
def func_became_inline(declared: Changed[Declared]) -> Iterator[Note]:
    """A function became inline.

    Programs that are compiled again have their own copy. Where the library exports none any more, built programs do not
    find it; that is a finding of its own. Sources that define or declare it again clash.

    Fix: keep a definition in the library that is not inline.
    """
    if _gained(declared, "inline"):
        yield Note("the function is inline", None, "inline")


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def func_lost_inline(declared: Changed[Declared]) -> Iterator[Note]:
    """A function is no longer inline.

    Built programs go on running their own copies, with the old behaviour.

    Fix: nothing, where old and new behaviour work together.
    """
    if _lost(declared, "inline"):
        yield Note("the function is not inline", "inline", None)


@rule(Impact.API_BREAK, evidence="source", element="functions", action="removed")
def removed_const_overload(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """The ``const`` overload of a member function is no longer declared.

    Sources that call it on constant objects stop compiling. Where the library exported it, its removal there is a
    finding of its own.

    Fix: keep both overloads.
    """
    if (other := _other_overload(declared.subject.name)) is not None and _declares(context, other):
        yield Note("the overload for constant objects is gone", demangle(declared.subject.name.spelling), None)


def _other_overload(name: Name) -> Name | None:
    """The overload without ``const`` of a member function that has it."""
    if name.kind == "function" and is_const_member(name.spelling):
        return Name("function", without_const(name.spelling))
    return None


def _declares(context: Context, name: Name) -> bool:
    return bool(context.new.variants("source", name))


@rule(
    Impact.API_BREAK,
    evidence="source",
    element="functions",
    action="removed",
    aliases=("inline_function_removed", "uninstantiated_template_removed"),
)
def declaration_removed(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A function or variable is no longer declared in a public header.

    Built programs go on using it as long as the library exports it. Sources that use it stop compiling.

    Fix: keep the declaration and mark it deprecated.
    """
    name = declared.subject.name
    other = _other_overload(name)
    overload = other is not None and _declares(context, other)
    vanished = context.old.variants("symbol", name) != () == context.new.variants("symbol", name)
    if "constant" not in declared.old.traits and not overload and not vanished:
        yield Note("no public header declares it any more", demangle(name.spelling), None)


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="added")
def declaration_added(declared: Added[Declared], context: Context) -> Iterator[Note]:
    """A public header declares a function or variable that was exported before, or is inline.

    Built programs work as before.

    Fix: nothing; from now on it is part of the interface.
    """
    name = declared.subject.name
    exported_anew = bool(context.new.variants("symbol", name)) and not context.old.variants("symbol", name)
    if "constant" not in declared.new.traits and not exported_anew:
        yield Note("a public header declares it", None, demangle(name.spelling))


# --- parameters ---------------------------------------------------------------------------------------------------


@rule(
    Impact.COMPATIBLE, evidence="source", element="functions", action="changed", aliases=("default_argument_changed",)
)
def param_default_value_changed(parameter: Changed[Argument]) -> Iterator[Note]:
    """The default argument of a parameter changed.

    Built callers pass the old value, which was compiled into them. Callers that are compiled again pass the new one.

    Fix: nothing, as long as the function treats both values as it did.
    """
    old, new = parameter.old.default, parameter.new.default
    if None not in (old, new) and old != new:
        yield Note("the default argument differs", argument(parameter.old), argument(parameter.new))


@rule(Impact.API_BREAK, evidence="source", element="functions", action="changed")
def param_default_value_removed(parameter: Changed[Argument]) -> Iterator[Note]:
    """The default argument of a parameter was removed.

    Built callers pass the value that was compiled into them. Sources that leave the argument out stop compiling.

    Fix: keep the default argument, or add an overload without the parameter.
    """
    if parameter.old.default is not None and parameter.new.default is None:
        yield Note("the argument must be given", argument(parameter.old), argument(parameter.new))


@rule(Impact.COMPATIBLE, evidence="source", element="functions", action="changed")
def param_default_value_added(parameter: Changed[Argument]) -> Iterator[Note]:
    """A parameter got a default argument.

    Built callers pass the argument. Sources may leave it out.

    Fix: nothing; a call that fits another overload too may become ambiguous.
    """
    if parameter.old.default is None and parameter.new.default is not None:
        yield Note("the argument may be left out", argument(parameter.old), argument(parameter.new))


@rule(Impact.RISK, evidence="source", element="functions", action="changed")
def param_renamed(parameter: Changed[Argument]) -> Iterator[Note]:
    """A parameter was renamed.

    Built callers, and C and C++ sources, do not use the name. Bindings generated from the headers may offer it as a
    keyword. Where two parameters swapped their names, callers may now pass them in the wrong order.

    Fix: keep the name; check that the parameter still means what it did.
    """
    if parameter.old.name and parameter.new.name and parameter.old.name != parameter.new.name:
        yield Note("the parameter's name differs", parameter.old.name, parameter.new.name)


# --- constants and variables --------------------------------------------------------------------------------------


def _values(declared: Changed[Declared]) -> tuple[str, str] | None:
    old, new = declared.old.value, declared.new.value
    return None if old is None or new is None or old == new else (old, new)


@rule(
    Impact.API_BREAK,
    evidence="source",
    element="variables",
    action="changed",
    aliases=("constexpr_value_changed", "public_macro_value_changed"),
)
def constant_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """The value of a public constant changed.

    The old value is compiled into built programs. Where they hand it to the library, or size buffers by it, both sides
    now disagree. Sources that compute with it get another result.

    Fix: keep the value and add a constant with a new name; let the library accept both.
    """
    values = _values(declared)
    if values is not None and "constant" in declared.new.traits:
        yield Note("the constant's value differs", *values)


@rule(Impact.API_BREAK, evidence="source", element="variables", action="removed", aliases=("public_macro_removed",))
def constant_removed(declared: Removed[Declared]) -> Iterator[Note]:
    """A public constant is no longer declared.

    Built consumers have its value compiled in. Sources that use it stop compiling.

    Fix: keep the constant and mark it deprecated.
    """
    if "constant" in declared.old.traits:
        yield Note("the constant is gone", declared.old.value or "(no value)", None)


@rule(Impact.COMPATIBLE, evidence="source", element="variables", action="added")
def constant_added(declared: Added[Declared]) -> Iterator[Note]:
    """A public constant was added.

    Built programs do not use it.

    Fix: nothing; a macro may clash with a name of the program's own.
    """
    if "constant" in declared.new.traits:
        yield Note("the constant is new", None, declared.new.value or "(no value)")


@rule(Impact.COMPATIBLE, evidence="source", element="variables", action="changed")
def var_value_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """The initial value of an exported variable changed.

    Programs read it when they run, and get the new value. So does a program that holds a copy of the variable (copy
    relocation), when it is loaded.

    Fix: nothing, where consumers may meet any value.
    """
    values = _values(declared)
    if values is not None and "constant" not in declared.new.traits:
        yield Note("the initial value differs", *values)


# --- types --------------------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def type_became_final(declared: Changed[Declared]) -> Iterator[Note]:
    """A class became ``final``.

    Built classes that derive from it go on working. Sources of such classes stop compiling. Callers that are compiled
    again call its virtual functions directly, past what built derived classes override.

    Fix: deprecate deriving from it first.
    """
    if _gained(declared, "final"):
        yield Note("nobody may derive from the class", None, "final")


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="changed")
def type_lost_final(declared: Changed[Declared]) -> Iterator[Note]:
    """A class is no longer ``final``.

    Built programs call its virtual functions directly. They must not be handed objects of classes that derive from it.

    Fix: nothing, as long as the library makes no such objects.
    """
    if _lost(declared, "final"):
        yield Note("classes may derive from the class", "final", None)


@rule(Impact.API_BREAK, evidence="source", element="types", action="changed")
def type_became_abstract(declared: Changed[Declared]) -> Iterator[Note]:
    """A class became abstract.

    Sources that create objects of it stop compiling. Where the vtable shows the virtual function that became pure, that
    is a finding of its own.

    Fix: give the pure virtual functions a body, or put them into a new class.
    """
    if _gained(declared, "abstract"):
        yield Note("nobody can create objects of the class", None, "abstract")


@rule(Impact.COMPATIBLE, evidence="source", element="types", action="changed")
def type_lost_abstract(declared: Changed[Declared]) -> Iterator[Note]:
    """A class is no longer abstract.

    Built programs created objects of derived classes only, which override what was pure.

    Fix: nothing.
    """
    if _lost(declared, "abstract"):
        yield Note("programs can create objects of the class", "abstract", None)


@rule(Impact.RISK, evidence="source", element="types", action="changed")
def standard_layout_lost(declared: Changed[Declared]) -> Iterator[Note]:
    """A class is no longer a standard-layout class.

    The language no longer promises what programs rely on that use ``offsetof``, share the class with C, or take its
    address for that of its first member. Where the layout differs, that is a finding of its own.

    Fix: keep one access for all data members and no virtual functions.
    """
    if _lost(declared, "standard_layout"):
        yield Note("the layout is not standard", "standard layout", None)


# --- deprecation --------------------------------------------------------------------------------------------------


@rule(
    Impact.COMPATIBLE,
    evidence="source",
    element="functions",
    action="changed",
    aliases=("enum_deprecated_added", "func_deprecated_added", "type_deprecated_added", "var_deprecated_added"),
)
def deprecation_added(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration was marked deprecated.

    Built consumers work as before. Sources get warnings, and errors where warnings are errors.

    Fix: tell consumers what to use instead, and when it goes.
    """
    if _gained(declared, "deprecated"):
        yield Note("the declaration is deprecated", None, "deprecated")


@rule(
    Impact.COMPATIBLE,
    evidence="source",
    element="functions",
    action="changed",
    aliases=(
        "enum_deprecated_removed",
        "func_deprecated_removed",
        "type_deprecated_removed",
        "var_deprecated_removed",
    ),
)
def deprecation_removed(declared: Changed[Declared]) -> Iterator[Note]:
    """A declaration is no longer marked deprecated.

    Built consumers and sources work as before.

    Fix: nothing.
    """
    if _lost(declared, "deprecated"):
        yield Note("the declaration is not deprecated", "deprecated", None)
