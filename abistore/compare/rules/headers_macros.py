"""Macros of public headers that stand for no value: with parameters, pieces of declarations, and empty ones."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.compare.classify.constants.replaced import (
    accepts,
    called,
    has_callable,
    is_own,
    is_told_as_macro,
    macro_for,
    reads_macros,
    takes_arguments,
)
from abistore.compare.context import Context
from abistore.compare.rule import Note, rule
from abistore.model.declared import Declared, Replacement
from abistore.model.deltas import Added, Changed, Removed
from abistore.model.findings import Impact


@rule(Impact.API_BREAK, evidence="source", element="variables", action="removed")
def macro_removed(declared: Removed[Declared], context: Context) -> Iterator[Note]:
    """A public macro with parameters, or one that stands for no value, is gone.

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

    They write it in their own declarations, their other macros use it and its name says so, or it is empty and there to
    be asked for (``#ifdef``). Built programs do not miss it. Sources that use it as well stop compiling; those that ask
    for it are compiled otherwise, without a warning.

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
    """What a macro was replaced by that nothing stands in for now."""
    macro = declared.old.replacement
    if macro is None or not reads_macros(context.new):
        return None
    return None if has_callable(declared.subject.name, macro, context.new) else macro


@rule(Impact.COMPATIBLE, evidence="source", element="variables", action="added")
def macro_added(declared: Added[Declared], context: Context) -> Iterator[Note]:
    """A public macro with parameters, or one that stands for no value, was added.

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
    """A public macro that stands for no value, or has parameters, is called as before and stands for other text.

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
