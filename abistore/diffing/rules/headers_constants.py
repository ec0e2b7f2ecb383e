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
    """The value of a public macro changed, or of a constant that is no integer.

    The old value is compiled into built programs. Where they hand it to the library, or size buffers by it, both sides
    now disagree. Sources that compute with it get another result. A macro that names others has the value that they
    give it: ``(BASE + 1)`` changes with ``BASE``. A macro is text that headers use for themselves just as well, and
    nothing in the headers tells that its value ever reaches the library.

    Fix: keep the value and add a constant with a new name; let the library accept both.
    """
    values = _only_used(declared, context)
    if values is not None and not _is_default(declared) and not _tells_build(declared, values, context):
        yield Note("the constant's value differs", *values)


def _is_default(declared: Changed[Declared] | Removed[Declared]) -> bool:
    return isinstance(declared, Changed) and _is_called_default(declared.subject.name)


def _is_called_default(name: Name) -> bool:
    return matches("default", last_component(name.spelling))


@rule(Impact.RISK, variant="default", evidence="source", element="variables", action="changed")
def constant_changed_default(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """A macro that is called a default has another value.

    ``#define GEO_DEFAULT_TOLERANCE 1e-6``: who leaves the choice to the library takes it. Built programs go on with the
    old value, which is one of many that the library takes. Sources compile, and take the new one.

    Fix: nothing, where programs may meet either.
    """
    values = _only_used(declared, context)
    if values is not None and _is_default(declared) and not _tells_build(declared, values, context):
        yield Note("the default differs", *values)


@rule(Impact.RISK, variant="type", evidence="source", element="variables", action="changed")
def constant_changed_type(declared: Changed[Declared]) -> Iterator[Note]:
    """A macro stands for the same number with another type.

    ``0x8000`` became ``0x8000LL``. Built programs have the same number compiled in. Sources compile; what they compute
    with it is wider, or unsigned, and a format such as ``%d`` no longer fits.

    Fix: keep the type, where no larger number is to come.
    """
    old, new = declared.old, declared.new
    if "macro" in old.traits and "macro" in new.traits and is_same_number(old, new) and not is_same_constant(old, new):
        yield Note("the number has another type", old.value, new.value)


@rule(Impact.RISK, variant="build", evidence="source", element="variables", action="changed")
def constant_changed_build(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """A macro tells another build of the library: what it was made from, when, with what, and what that found.

    Built programs have the old text or number compiled in, and no function takes it. Sources compile as before: they
    show it, compare it with a number, or ask the preprocessor whether there is something (``#if GEO_HAVE_POLL``). They
    take another way where the answer is another one. So it is with notices, and with the version of an interface.
    What follows from the answer is reported by itself.

    Fix: keep what the build found out of public headers.
    """
    if isinstance(declared, Removed):
        if _is_gone_probe(declared, context):
            yield Note("the library's build does not tell it", declared.old.value or "(no value)", None)
        return
    values = _only_used(declared, context)
    if values is not None and _tells_build(declared, values, context):
        yield Note("the constant tells another build", *values)


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
    """A macro gives the members of an object other first values.

    ``#define LOCK_INIT {17, 0}``: objects of built programs begin with the old values, and the new library gets these.
    It goes wrong where it knows an initialized object by a number in it, or takes the old value for something else. A
    member more at the end is told with the structure, whose size changes.

    Fix: let the library accept objects that begin with the old values.
    """
    values = _changed(declared, context)
    if values is not None and _initializes(declared) and not _is_handed(declared):
        yield Note("objects begin with other values", *values)


def _initializes(declared: Changed[Declared] | Removed[Declared]) -> bool:
    """Whether a constant is, before and after, a list of first values, which nothing computes with."""
    from abistore.diffing.kinds.constants import is_initializer  # headers alone have macros

    return isinstance(declared, Changed) and all(is_initializer(each.value) for each in (declared.old, declared.new))


def _is_unread(value: str | None, side: SideFacts) -> bool:
    from abistore.diffing.kinds.constants import is_unread

    return is_unread(value, side)


@rule(Impact.BREAKING, variant="passed_in", evidence="source", element="variables", action="changed")
def constant_changed_passed_in(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """A macro that inline code of the headers passes to the library, or compares with its results, changed its value.

    The code is a macro with parameters or an inline function, and programs have it compiled in: they go on passing the
    old value to the new library, which may refuse it or take it for something else. A number of an ABI that the library
    checks is made for that. A macro that tells the release, or a minor number, is not meant here, nor is a default: the
    library takes other values as well.

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
    """The value of a public integer constant changed: of a ``const`` object, or an enumerator without a type.

    So are macros that enumerate: single bits whose names begin alike, or numbers without a gap, of which another one
    has the old number now, had the new one, or moved too. So are macros called errors, each with a number of its own,
    beside functions that return integers; one called the number for none, cast to a type that functions exchange
    (``((geo_handle) -1)``); and one that lists arguments (``"name", kind_text, 0``) with another enumerator. Programs
    have the old number compiled in: the library takes what they pass for something else, and they what they get.

    Fix: give it its old value explicitly.
    """
    values = _changed(declared, context)
    known = number(declared.old) is not None and not _ends(declared, context)
    if values is not None and (known or (number(declared.old) is None and _is_moved(declared, context))):
        yield Note("the constant's number differs", *values)


@rule(Impact.RISK, variant="sentinel", evidence="source", element="variables", action="changed")
def constant_changed_sentinel(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """The value of a constant that marks an end, a count, the first or all bits changed.

    It moves with what is added to an enumeration without a name. Programs that size arrays by it have the old size; the
    library must not write more elements into them.

    Fix: nothing, where no function fills or reads an array of that length.
    """
    values = _changed(declared, context)
    handed = number(declared.old) is None and _is_handed(declared)
    if values is not None and _ends(declared, context) and not handed:
        yield Note("the sentinel moved", *values)


@rule(Impact.COMPATIBLE, variant="version", evidence="source", element="variables", action="changed")
def constant_changed_version(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A public constant that tells the release has the number of the new release.

    Programs have the number of the release compiled in that they were built with: that is what they compare it for with
    the number that the library tells at run time. A version of an interface, a file format or a protocol is an ordinary
    constant.

    Fix: nothing.
    """
    values = _constants(declared, context)
    told = values is not None and follows_release(declared, context) and not _is_handed(declared)
    if values is not None and told and not _changes_sort(declared):
        yield Note("the constant tells the new release", *values)


@rule(Impact.RISK, variant="version_passed_in", evidence="source", element="variables", action="changed")
def constant_changed_version_passed_in(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A macro with the release number changed, and inline code of the headers passes it to the library.

    Programs go on telling the new library what they were built with. That is what a library is told it for: to accept
    programs of former releases, and what an interface had before a minor number rose. A library that accepts its own
    numbers alone breaks them all.

    Fix: accept what former releases hand over; hand over a number of the ABI, which changes only with that.
    """
    values = _constants(declared, context)
    if values is not None and accepts_former(declared.subject.name) and _is_handed(declared):
        yield Note(f"built programs hand the old value to {', '.join(declared.old.handed)}", *values)


@rule(Impact.API_BREAK, evidence="source", element="variables", action="removed", aliases=("public_macro_removed",))
def constant_removed(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A public constant is no longer declared.

    Built consumers have its value compiled in. Sources that use it stop compiling.

    Fix: keep the constant and mark it deprecated.
    """
    if "constant" not in declared.old.traits or _is_unread(declared.old.value, context.new):
        return
    if is_unusable(declared.old):
        return
    if _enumerated(declared, context) is None and not _is_gone_probe(declared, context):
        yield Note("the constant is gone", declared.old.value or "(no value)", None)


@rule(Impact.COMPATIBLE, evidence="source", element="variables", action="added")
def constant_added(declared: Added[Declared], context: Context) -> Iterator[Note]:
    """A public constant was added.

    Built programs do not use it.

    Fix: nothing; a macro may clash with a name of the program's own.
    """
    if "constant" not in declared.new.traits or _is_unread(declared.new.value, context.old):
        return
    if not was_enumerator(declared.subject.name, declared.new, context):
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


# --- what kind of constant --------------------------------------------------------------------------------------------


@rule(Impact.API_BREAK, variant="unusable", evidence="source", element="variables", action="changed")
def constant_changed_unusable(declared: Changed[Declared]) -> Iterator[Note]:
    """A constant became a variable whose value the header does not tell, or a macro that stands for no value.

    Built programs have the old value compiled in, whatever the variable holds now. Sources that use it where the
    language asks for a constant, as for the length of an array, stop compiling.

    Fix: keep the constant, and add a variable or a function with a new name.
    """
    if lost_trait(declared, "constant") and not _is_replaced(declared):
        yield Note("the declaration is no constant", declared.old.value or "(no value)", None)


def _is_replaced(declared: Changed[Declared]) -> bool:
    """Whether a macro is or was one that takes arguments, or stands for other text as before: told as such."""

    return is_told_as_macro(declared)


@rule(Impact.COMPATIBLE, variant="usable", evidence="source", element="variables", action="changed")
def constant_changed_usable(declared: Changed[Declared]) -> Iterator[Note]:
    """A variable became a constant, or a macro that no source could use became one.

    Built programs read the variable, as long as the library exports it. No source that uses ``(A | B |)`` compiles, nor
    one that uses a macro of a name that no header has, so that nobody has the former value.

    Fix: nothing; from now on its value is compiled into consumers.
    """
    differs = _values(declared) is not None or lost_trait(declared, "unresolved")
    mended = differs and is_unusable(declared.old)
    if (gained_trait(declared, "constant") and not _is_replaced(declared)) or (
        mended and not is_unusable(declared.new)
    ):
        yield Note("the declaration is a constant", None, declared.new.value or "(no value)")


@rule(Impact.RISK, variant="from_macro", evidence="source", element="variables", action="changed")
def constant_changed_from_macro(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """A macro became another kind of constant.

    Built programs have the value compiled in. Sources that ask the preprocessor for it (``#ifdef``, ``#if``) are told
    that there is none, without a warning.

    Fix: define a macro of the same name beside it: ``#define LIMIT LIMIT``.
    """
    if isinstance(declared, Removed):
        gone = "macro" in declared.old.traits and _enumerated(declared, context) is not None
    else:
        gone = lost_trait(declared, "macro") and declared.old.replacement is None
    if gone:
        yield Note("the constant is no macro", "macro", None)


@rule(Impact.COMPATIBLE, variant="to_enumerator", evidence="source", element="variables", action="changed")
def constant_changed_to_enumerator(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A constant is an enumerator of an enumeration with a name now, and has the value that it had.

    Built programs have the value compiled in. In C it is an ``int`` as before. In C++ it is of the enumeration's type:
    an overload for that type is called, and ``auto`` gives it.

    Fix: nothing; in C++, add no overload that does something else for the new type.
    """
    values = None if "macro" in declared.old.traits else _enumerated(declared, context)
    if values is not None and values[0] == values[1]:
        yield Note("the constant is an enumerator", "constant", "enumerator")


@rule(Impact.RISK, variant="to_macro", evidence="source", element="variables", action="changed")
def constant_changed_to_macro(declared: Changed[Declared]) -> Iterator[Note]:
    """A constant became a macro.

    Built programs have the value compiled in. The macro replaces its name wherever sources use it, as in another
    namespace or for a local variable.

    Fix: keep the constant.
    """
    if gained_trait(declared, "macro") and declared.new.replacement is None:
        yield Note("the constant is a macro", None, "macro")


@rule(Impact.API_BREAK, evidence="source", element="variables", action="removed")
def macro_removed(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A public macro with parameters, or without a value, was removed.

    Built programs have what it stood for compiled in. Sources that use it stop compiling, or call a function that does
    not exist. A function, type or macro of the same name that takes as many arguments stands in for it.

    Fix: keep the macro, defined by what took its place.
    """
    macro = _gone(declared, context)
    if macro is not None and not is_own(declared.subject.name, macro):
        yield Note("the macro is gone", called(macro), None)


@rule(Impact.RISK, variant="own", evidence="source", element="variables", action="changed")
def macro_changed_own(declared: Changed[Declared] | Removed[Declared], context: Context) -> Iterator[Note]:
    """A macro that public headers define for themselves first is gone, or takes another number of arguments.

    They write it in their own declarations, or it is empty and there to be asked for (``#ifdef``). Built programs
    do not miss it. Sources that use it as well stop compiling; those that ask for it are compiled otherwise,
    without a warning.

    Fix: keep the macro where programs may use it, as for callbacks that they declare alike.
    """
    own = declared.old.replacement
    if own is None or not is_own(declared.subject.name, own):
        return
    if isinstance(declared, Removed):
        macro = _gone(declared, context)
        if macro is not None:
            yield Note("the macro is gone", called(macro), None)
    elif values := _parameters(declared, context):
        yield Note("the macro is called otherwise", *values)


def _gone(declared: Removed[Declared], context: Context) -> Replacement | None:
    macro = declared.old.replacement
    if macro is None or not reads_macros(context.new):
        return None
    return None if has_callable(declared.subject.name, macro, context.new) else macro


@rule(Impact.COMPATIBLE, evidence="source", element="variables", action="added")
def macro_added(declared: Added[Declared], context: Context) -> Iterator[Note]:
    """A public macro with parameters, or without a value, was added.

    Built programs do not use it.

    Fix: nothing; it may clash with a name of the program's own.
    """
    macro = declared.new.replacement
    if macro is not None and reads_macros(context.old):
        yield Note("the macro is new", None, called(macro))


@rule(Impact.RISK, variant="to_macro", evidence="source", element="functions", action="changed")
def declaration_removed_to_macro(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A function is no longer declared, and a macro of its name takes as many arguments.

    Built programs use the function as long as the library exports it. Sources that call it compile as before. Those
    that take its address, as for a callback, or call it by a qualified name stop compiling.

    Fix: declare the function beside the macro.
    """
    macro = macro_for(declared.subject.name, context)
    if macro is not None:
        yield Note("the function is a macro", "function", called(macro))


@rule(Impact.API_BREAK, evidence="source", element="variables", action="changed")
def macro_changed(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A public macro takes another number of arguments, or none where it took some.

    Built programs have what it stood for compiled in. Sources that use it stop compiling. A macro without parameters
    that is the name of something with as many arguments can be used as before.

    Fix: keep the macro, and add one with a new name.
    """
    macro, values = declared.old.replacement, _parameters(declared, context)
    if values is not None and (macro is None or not is_own(declared.subject.name, macro)):
        yield Note("the macro is called otherwise", *values)


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
    """A public macro takes further arguments.

    Built programs have what it stood for compiled in. Sources that use it compile as before.

    Fix: nothing.
    """
    old, new = declared.old.replacement, declared.new.replacement
    if old is not None and new is not None and called(old) != called(new) and accepts(new, old):
        yield Note("the macro takes more", called(old), called(new))


@rule(Impact.COMPATIBLE, variant="body", evidence="source", element="variables", action="changed")
def macro_changed_body(declared: Changed[Declared], context: Context) -> Iterator[Note]:
    """A public macro with parameters, or without a value, has a different body.

    Built programs go on with the old text, which was compiled into them. Where that calls a function, reads a member or
    hands over a number that is another one now, this is told of the function, the member or the number.

    Fix: nothing; where the old text was wrong, tell consumers to compile again.
    """
    old, new = declared.old.replacement, declared.new.replacement
    if old is not None and new is not None:
        if accepts(new, old) and called(old) == called(new) and old.digest != new.digest:
            yield Note("the macro stands for other text")
    elif is_told_as_macro(declared) and _parameters(declared, context) is None:
        yield Note("the macro stands for other text")
