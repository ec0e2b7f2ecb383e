"""Constants and macros that headers define."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.diffing.context import Context, Note, rule
from abistore.diffing.kinds.abilities import gained_trait, lost_trait
from abistore.diffing.kinds.constants import (
    accepts,
    called,
    follows_interface,
    follows_release,
    gathers_flags,
    has_callable,
    is_end,
    is_own,
    is_told_as_macro,
    is_unusable,
    macro_for,
    meanings,
    reads_macros,
    takes_arguments,
)
from abistore.diffing.kinds.enumerators import enumerator_of, was_enumerator
from abistore.diffing.kinds.release_constants import accepts_former, tells_release
from abistore.diffing.side import SideFacts
from abistore.diffing.types.closed_classes import (
    is_number,
    is_same_constant,
    is_same_number,
    is_text,
    known_value,
    number,
)
from abistore.model.declarations import Added, Changed, Declared, Name, Removed, Replacement
from abistore.model.findings import Impact
from abistore.model.hints import matches
from abistore.model.names.qualified import last_component


def _values(declared: Changed[Declared]) -> tuple[str, str] | None:
    old, new = declared.old.value, declared.new.value
    if old is None or new is None or "using" in declared.old.traits or "using" in declared.new.traits:
        return None
    return None if is_same_constant(declared.old, declared.new) else (old, new)


def _constants(declared: Changed[Declared] | Removed[Declared], context: Context) -> tuple[str, str] | None:
    """The two values of a public constant, also where its text is the same and names another that changed.

    One that went may be an enumerator of this name now.
    """
    if isinstance(declared, Removed):
        values = _enumerated(declared, context)
        return None if values is None or values[0] == values[1] else values
    if "constant" not in declared.new.traits or is_same_number(declared.old, declared.new):
        return None
    return _values(declared) or meanings(declared, context)


def _enumerated(declared: Removed[Declared], context: Context) -> tuple[str, str] | None:
    if "constant" not in declared.old.traits:
        return None
    return enumerator_of(declared.subject.name, known_value(declared.old), context)


def _changed(declared: Changed[Declared] | Removed[Declared], context: Context) -> tuple[str, str] | None:
    """The two values of a constant that does not tell the release.

    One that is called otherwise and has its value from those that do is an ordinary one where it is handed over.
    """
    values = _constants(declared, context)
    if not isinstance(declared, Changed) or not values:
        return values
    if is_unusable(declared.old):
        return None
    if not follows_release(declared, context) or _changes_sort(declared):
        return values
    return values if _is_handed(declared) and not tells_release(declared.subject.name) else None


def _changes_sort(declared: Changed[Declared]) -> bool:
    """Whether a text became a number, or the reverse: sources use one where they cannot use the other."""
    old, new = (known_value(each) or each.value or "" for each in (declared.old, declared.new))
    return (is_text(old) and is_number(new)) or (is_number(old) and is_text(new))


def _ends(declared: Changed[Declared] | Removed[Declared], context: Context) -> bool:
    if not isinstance(declared, Changed):
        return False
    told = declared.subject.name, declared.old, declared.new, context
    return (number(declared.old) is not None and is_end(*told)) or gathers_flags(*told)


@rule(
    Impact.API_BREAK,
    evidence="source",
    element="variables",
    action="changed",
    aliases=(
        "constexpr_value_changed",
        "public_macro_value_changed",
        "serialization_tag_changed",
    ),
)
def constant_changed(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """The value of a public macro, or of a constant that is not an integer, changed.

    The old value is compiled into existing binaries. Where they pass it to the library, or size buffers by it, both
    sides now disagree. Recompiled sources compute another result. A macro that uses others changes with them: ``(BASE +
    1)`` changes with ``BASE``. Headers also use macros only for themselves; nothing in them shows whether the value
    ever reaches the library.

    Fix: keep the value and add a constant with a new name; let the library accept both.
    """
    values = _only_used(declared, context)
    if values is not None and not _is_default(declared) and not _tells_build(declared, values, context):
        yield Note("the value changed", *values)


def _is_default(declared: Changed[Declared] | Removed[Declared]) -> bool:
    return isinstance(declared, Changed) and _is_called_default(declared.subject.name)


def _is_called_default(name: Name) -> bool:
    return matches("default", last_component(name.spelling))


@rule(Impact.RISK, variant="default", evidence="source", element="variables", action="changed")
def constant_changed_default(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """The value of a macro named as a default changed.

    Callers that leave the choice to the library pass it, e.g. ``#define GEO_DEFAULT_TOLERANCE 1e-6``. Existing binaries
    keep passing the old value, one of many that the library accepts. Recompiled sources pass the new one.

    Fix: nothing, if either value works.
    """
    values = _only_used(declared, context)
    if values is not None and _is_default(declared) and not _tells_build(declared, values, context):
        yield Note("the default changed", *values)


@rule(Impact.RISK, variant="type", evidence="source", element="variables", action="changed")
def constant_changed_type(declared: Changed[Declared]) -> Iterator[Note]:
    """A macro has the same value with another type.

    ``0x8000`` became ``0x8000LL``. Existing binaries have the same number compiled in. Sources compile; their results
    become wider or unsigned, and a format such as ``%d`` no longer matches.

    Fix: keep the type, unless larger values are needed.
    """
    old, new = declared.old, declared.new
    if "macro" in old.traits and "macro" in new.traits and is_same_number(old, new) and not is_same_constant(old, new):
        yield Note("the type of the number changed", old.value, new.value)


@rule(Impact.RISK, variant="build", evidence="source", element="variables", action="changed")
def constant_changed_build(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """A macro that describes the build changed: its sources, date, tools or configuration.

    Existing binaries have the old text or number compiled in, and no function takes it. Sources compile as before: they
    print it, compare it, or test for a feature (``#if GEO_HAVE_POLL``). Such a test may take the other branch now.
    Notices and interface versions count as well. What follows from the other branch is reported separately.

    Fix: keep facts about the build out of public headers.
    """
    if isinstance(declared, Removed):
        if _is_gone_probe(declared, context):
            yield Note("the library's own value is unknown", declared.old.value or "(no value)", None)
        return
    values = _only_used(declared, context)
    if values is not None and _tells_build(declared, values, context):
        yield Note("the build description changed", *values)


def _only_used(declared: Changed[Declared] | Removed[Declared], context: Context) -> tuple[str, str] | None:
    """The two values of a constant that sources compute with, and that no code of the headers passes on."""
    values = _changed(declared, context)
    if values is None or _is_handed(declared) or _initializes(declared) or _ends(declared, context):
        return None
    return values if _is_other(declared, context) else None


def _tells_build(declared: Changed[Declared] | Removed[Declared], values: tuple[str, str], context: Context) -> bool:
    from abistore.diffing.kinds.release_constants import tells_build  # headers alone have macros

    if isinstance(declared, Removed) or _changes_sort(declared):
        return False
    if not (all("macro" in each.traits for each in (declared.old, declared.new)) or all(map(is_text, values))):
        return False
    return tells_build(declared.subject.name, *values) or follows_interface(declared, context)


def _is_gone_probe(declared: Removed[Declared], context: Context) -> bool:
    """Whether a macro is gone that told what the build had found, and is not defined where it found nothing.

    So are texts about the package that the build wrote for itself.
    """
    from abistore.diffing.kinds.release_constants import is_of_package, is_probe

    if "macro" not in declared.old.traits or declared.old.handed or _enumerated(declared, context) is not None:
        return False
    name, value = declared.subject.name, declared.old.value
    return is_probe(name, value) or is_of_package(name, value)


@rule(Impact.RISK, variant="initializer", evidence="source", element="variables", action="changed")
def constant_changed_initializer(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A macro initialises the members of an object with other values.

    ``#define LOCK_INIT {17, 0}``: existing binaries start with the old values and pass such objects to the new library.
    This fails where the library recognises an initialised object by a number in it, or gives the old value another
    meaning. A member added at the end is reported with the structure, whose size changes.

    Fix: let the library accept objects initialised with the old values.
    """
    values = _changed(declared, context)
    if values is not None and _initializes(declared) and not _is_handed(declared):
        yield Note("objects are initialised with other values", *values)


def _initializes(declared: Changed[Declared] | Removed[Declared]) -> bool:
    """Whether a constant is, before and after, a list of first values, which nothing computes with."""
    from abistore.diffing.kinds.constants import is_initializer  # headers alone have macros

    return isinstance(declared, Changed) and all(is_initializer(each.value) for each in (declared.old, declared.new))


def _is_unread(value: str | None, side: SideFacts) -> bool:
    from abistore.diffing.kinds.constants import is_unread

    return is_unread(value, side)


@rule(Impact.BREAKING, variant="passed_in", evidence="source", element="variables", action="changed")
def constant_changed_passed_in(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """A macro changed that inline code of the headers passes to the library or compares with its results.

    The code is a function-like macro or an inline function, compiled into programs. They keep passing the old value,
    which the new library may reject or give another meaning. An ABI number that the library checks is meant for that.
    Release numbers and defaults do not count: the library accepts other values as well.

    Fix: let the library accept the old value as well.
    """
    values = _changed(declared, context)
    former = isinstance(declared, Changed) and accepts_former(declared.subject.name)
    if values is not None and _is_other(declared, context) and _is_handed(declared) and not former:
        yield Note(f"built programs hand the old value to {', '.join(declared.old.handed)}", *values)


def _is_handed(declared: Changed[Declared] | Removed[Declared]) -> bool:
    """Whether headers hand a constant to the library that is no default."""
    return bool(declared.old.handed) and not _is_called_default(declared.subject.name)


def _is_other(declared: Changed[Declared] | Removed[Declared], context: Context) -> bool:
    """Whether a constant is neither a number that the language knows nor one of those that macros enumerate."""
    return number(declared.old) is None and not _is_moved(declared, context)


def _is_moved(declared: Changed[Declared] | Removed[Declared], context: Context) -> bool:
    from abistore.diffing.kinds.constants import is_moved_none, is_other_argument
    from abistore.diffing.kinds.release_constants import (
        is_moved_error,  # few macros change
        is_moved_flag,
        is_moved_number,
    )

    name = declared.subject.name
    enumerated = (is_moved_flag, is_moved_number, is_moved_error, is_moved_none, is_other_argument)
    return isinstance(declared, Changed) and any(is_moved(name, context) for is_moved in enumerated)


@rule(Impact.BREAKING, variant="integer", evidence="source", element="variables", action="changed")
def constant_changed_integer(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """The value of a public integer constant changed: a ``const`` object or an unscoped enumerator without a type.

    Programs have the old number compiled in: each side gives the other's number another meaning. Macros count as well
    if they enumerate: single bits with a common prefix, or consecutive numbers. For these, another macro of the group
    must have the old number now, have had the new one, or have moved too. Error macros count beside functions that
    return integers. So does a macro for "none" that is cast to an exchanged type (``((geo_handle) -1)``). So does a
    macro that lists arguments (``"name", kind_text, 0``) with another enumerator.

    Fix: give it its old value explicitly.
    """
    values = _changed(declared, context)
    known = number(declared.old) is not None and not _ends(declared, context)
    if values is not None and (known or (number(declared.old) is None and _is_moved(declared, context))):
        yield Note("the value changed", *values)


@rule(Impact.RISK, variant="sentinel", evidence="source", element="variables", action="changed")
def constant_changed_sentinel(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """The value of an end marker, count, first or all-bits constant changed.

    It changes with each addition to an unnamed enumeration. Programs that size arrays by it have the old size; the
    library must not write more elements into them.

    Fix: nothing, if no function fills or reads an array of that length.
    """
    values = _changed(declared, context)
    handed = number(declared.old) is None and _is_handed(declared)
    if values is not None and _ends(declared, context) and not handed:
        yield Note("the value of the sentinel changed", *values)


@rule(Impact.COMPATIBLE, variant="version", evidence="source", element="variables", action="changed")
def constant_changed_version(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A public constant with the release number has the number of the new release.

    Programs have the number of their release compiled in, and compare it with the number that the library returns at
    run time. The version of an interface, a file format or a protocol is an ordinary constant.

    Fix: nothing.
    """
    values = _constants(declared, context)
    told = values is not None and follows_release(declared, context) and not _is_handed(declared)
    if values is not None and told and not _changes_sort(declared):
        yield Note("the release number changed", *values)


@rule(Impact.RISK, variant="version_passed_in", evidence="source", element="variables", action="changed")
def constant_changed_version_passed_in(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A macro with the release number changed, and inline code of the headers passes it to the library.

    Programs keep passing the number that they were built with. A library uses it to support programs of older releases,
    and older minor versions of an interface. A library that accepts only its own number breaks them all.

    Fix: accept the numbers of older releases, or pass an ABI number that changes only with the ABI.
    """
    values = _constants(declared, context)
    if values is not None and accepts_former(declared.subject.name) and _is_handed(declared):
        yield Note(f"built programs hand the old value to {', '.join(declared.old.handed)}", *values)


@rule(Impact.API_BREAK, evidence="source", element="variables", action="removed", aliases=("public_macro_removed",))
def constant_removed(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A public constant is no longer declared.

    Existing binaries have its value compiled in. Sources that use it stop compiling.

    Fix: keep the constant and mark it deprecated.
    """
    if "constant" not in declared.old.traits or _is_unread(declared.old.value, context.new):
        return
    if is_unusable(declared.old):
        return
    if _enumerated(declared, context) is None and not _is_gone_probe(declared, context):
        yield Note("the constant was removed", declared.old.value or "(no value)", None)


@rule(Impact.COMPATIBLE, evidence="source", element="variables", action="added")
def constant_added(declared: Added[Declared], context: Context) -> Iterator[Note]:
    """A public constant was added.

    Existing binaries do not use it.

    Fix: nothing; a macro may clash with a name of the program's own.
    """
    if "constant" not in declared.new.traits or _is_unread(declared.new.value, context.old):
        return
    if not was_enumerator(declared.subject.name, declared.new, context):
        yield Note("the constant was added", None, declared.new.value or "(no value)")


@rule(Impact.COMPATIBLE, evidence="source", element="variables", action="changed")
def var_value_changed(declared: Changed[Declared]) -> Iterator[Note]:
    """The initial value of an exported variable changed.

    Programs read it at run time and get the new value. A program with its own copy (copy relocation) gets it when it is
    loaded.

    Fix: nothing, if consumers accept any value.
    """
    values = _values(declared)
    if values is not None and "constant" not in declared.new.traits:
        yield Note("the initial value changed", *values)


# --- what kind of constant --------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, variant="unusable", evidence="source", element="variables", action="changed")
def constant_changed_unusable(declared: Changed[Declared]) -> Iterator[Note]:
    """A constant became a variable whose value the header does not show, or a macro without a value.

    Existing binaries have the old value compiled in, whatever the variable holds now. Sources that need a constant,
    e.g. as an array length, stop compiling.

    Fix: keep the constant, and add a variable or a function with a new name.
    """
    if lost_trait(declared, "constant") and not _is_replaced(declared):
        yield Note("the declaration is no longer a constant", declared.old.value or "(no value)", None)


def _is_replaced(declared: Changed[Declared]) -> bool:
    """Whether a macro is or was one that takes arguments, or stands for other text as before: told as such."""

    return is_told_as_macro(declared)


@rule(Impact.COMPATIBLE, variant="usable", evidence="source", element="variables", action="changed")
def constant_changed_usable(declared: Changed[Declared]) -> Iterator[Note]:
    """A variable became a constant, or an unusable macro became one.

    Existing binaries read the variable, as long as the library exports it. A macro such as ``(A | B |)``, or one that
    uses an undeclared macro, does not compile. So no program has its former value.

    Fix: nothing; from now on its value is compiled into consumers.
    """
    differs = _values(declared) is not None or lost_trait(declared, "unresolved")
    mended = differs and is_unusable(declared.old)
    if (gained_trait(declared, "constant") and not _is_replaced(declared)) or (
        mended and not is_unusable(declared.new)
    ):
        yield Note("the declaration became a constant", None, declared.new.value or "(no value)")


@rule(Impact.RISK, variant="from_macro", evidence="source", element="variables", action="changed")
def constant_changed_from_macro(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """A macro became another kind of constant.

    Existing binaries have the value compiled in. Sources that test for it in the preprocessor (``#ifdef``, ``#if``) no
    longer find it, without a warning.

    Fix: define a macro of the same name beside it: ``#define LIMIT LIMIT``.
    """
    if isinstance(declared, Removed):
        gone = "macro" in declared.old.traits and _enumerated(declared, context) is not None
    else:
        gone = lost_trait(declared, "macro") and declared.old.replacement is None
    if gone:
        yield Note("the constant is no longer a macro", "macro", None)


@rule(Impact.COMPATIBLE, variant="to_enumerator", evidence="source", element="variables", action="changed")
def constant_changed_to_enumerator(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A constant became an enumerator of a named enumeration, with the same value.

    Existing binaries have the value compiled in. In C it is an ``int`` as before. In C++ it has the enumeration's type:
    overloads and ``auto`` see that type.

    Fix: nothing; in C++, add no overload that does something else for the new type.
    """
    values = None if "macro" in declared.old.traits else _enumerated(declared, context)
    if values is not None and values[0] == values[1]:
        yield Note("the constant became an enumerator", "constant", "enumerator")


@rule(Impact.RISK, variant="to_macro", evidence="source", element="variables", action="changed")
def constant_changed_to_macro(declared: Changed[Declared]) -> Iterator[Note]:
    """A constant became a macro.

    Existing binaries have the value compiled in. The macro replaces its name wherever sources use it, e.g. in another
    namespace or as a local variable.

    Fix: keep the constant.
    """
    if gained_trait(declared, "macro") and declared.new.replacement is None:
        yield Note("the constant became a macro", None, "macro")


@rule(Impact.API_BREAK, evidence="source", element="variables", action="removed")
def macro_removed(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A public macro with parameters, or without a value, was removed.

    Existing binaries have its expansion compiled in. Sources that use it stop compiling, or call a function that does
    not exist. A function, type or macro with the same name and number of arguments replaces it.

    Fix: keep the macro, defined by its replacement.
    """
    macro = _gone(declared, context)
    if macro is not None and not is_own(declared.subject.name, macro):
        yield Note("the macro was removed", called(macro), None)


@rule(Impact.RISK, variant="own", evidence="source", element="variables", action="changed")
def macro_changed_own(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """A macro that public headers define for their own use was removed, or takes a different number of arguments.

    Headers use it in their own declarations. Or their other macros use it and its name says so, or it is empty and only
    tested (``#ifdef``). Existing binaries do not need it. Sources that use it as well stop compiling; sources that test
    for it compile differently, without a warning.

    Fix: keep the macro if programs may use it, e.g. to declare callbacks.
    """
    own = declared.old.replacement
    if own is None or not is_own(declared.subject.name, own):
        return
    if isinstance(declared, Removed):
        macro = _gone(declared, context)
        if macro is not None:
            yield Note("the macro was removed", called(macro), None)
    elif values := _parameters(declared, context):
        yield Note("the macro's parameters changed", *values)


def _gone(declared: Removed[Declared], context: Context) -> Replacement | None:
    macro = declared.old.replacement
    if macro is None or not reads_macros(context.new):
        return None
    return None if has_callable(declared.subject.name, macro, context.new) else macro


@rule(Impact.COMPATIBLE, evidence="source", element="variables", action="added")
def macro_added(declared: Added[Declared], context: Context) -> Iterator[Note]:
    """A public macro with parameters, or without a value, was added.

    Existing binaries do not use it.

    Fix: nothing; it may clash with a name of the program's own.
    """
    macro = declared.new.replacement
    if macro is not None and reads_macros(context.old):
        yield Note("the macro was added", None, called(macro))


@rule(Impact.RISK, variant="to_macro", evidence="source", element="functions", action="changed")
def declaration_removed_to_macro(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A function declaration was replaced by a macro with the same name and number of arguments.

    Existing binaries use the function as long as the library exports it. Sources that call it compile as before.
    Sources that take its address, or call it by a qualified name, stop compiling.

    Fix: declare the function beside the macro.
    """
    macro = macro_for(declared.subject.name, context)
    if macro is not None:
        yield Note("the function became a macro", "function", called(macro))


@rule(Impact.API_BREAK, evidence="source", element="variables", action="changed")
def macro_changed(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A public macro takes a different number of arguments, or none where it took some.

    Existing binaries have the old expansion compiled in. Sources that use it stop compiling. A macro without parameters
    that expands to the name of something with as many arguments can be used as before.

    Fix: keep the macro, and add one with a new name.
    """
    macro, values = declared.old.replacement, _parameters(declared, context)
    if values is not None and (macro is None or not is_own(declared.subject.name, macro)):
        yield Note("the macro's parameters changed", *values)


def _parameters(declared: Changed[Declared], context: Context) -> tuple[str, str] | None:
    """How a macro was and is called, where sources cannot call it as they did."""
    old, new = declared.old.replacement, declared.new.replacement
    if old is not None and new is not None:
        return None if accepts(new, old) else (called(old), called(new))
    if old is not None and old.parameters is not None:
        named = takes_arguments(declared.new.value, old, context)
        return None if named else (called(old), declared.new.value or "no macro")
    if new is None or new.parameters is None or "macro" not in declared.old.traits:
        return None
    named = takes_arguments(declared.old.value, new, context)
    return None if named else (declared.old.value or "no macro", called(new))


@rule(Impact.COMPATIBLE, variant="parameters_widened", evidence="source", element="variables", action="changed")
def macro_changed_parameters_widened(declared: Changed[Declared]) -> Iterator[Note]:
    """A public macro takes additional arguments.

    Existing binaries have the old expansion compiled in. Sources that use it compile as before.

    Fix: nothing.
    """
    old, new = declared.old.replacement, declared.new.replacement
    if old is not None and new is not None and called(old) != called(new) and accepts(new, old):
        yield Note("the macro takes more arguments", called(old), called(new))


@rule(Impact.COMPATIBLE, variant="body", evidence="source", element="variables", action="changed")
def macro_changed_body(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A public macro with parameters, or without a value, has a different body.

    Existing binaries keep the old text, which is compiled into them. A changed function, member or number that it uses
    is reported separately.

    Fix: nothing; if the old text was wrong, ask consumers to recompile.
    """
    old, new = declared.old.replacement, declared.new.replacement
    if old is not None and new is not None:
        if accepts(new, old) and called(old) == called(new) and old.digest != new.digest:
            yield Note("the macro expands to other text")
    elif is_told_as_macro(declared) and _parameters(declared, context) is None:
        yield Note("the macro expands to other text")
