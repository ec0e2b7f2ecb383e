"""Macros that have their value from other constants: ``(BASE + 1)`` changes with ``BASE``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from abistore.compare.classify.constants.release import tells_interface, tells_release
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.declared import Declared
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.shapes import Function
from abistore.model.values.texts import words


def meanings(declared: Changed[Declared], context: Context) -> tuple[str, str] | None:
    """The two values of a macro whose text is the same, where another constant of the headers gives it another value.

    Where a macro of somebody else has a part in it, it is the machine that differs, unless the library's own did too.
    """
    old, new = declared.old.meaning, declared.new.meaning
    if old is None or new is None or old.value == new.value:
        return None
    borrowed = old.borrowed or new.borrowed
    if borrowed and not any(_differs(name, context) for name in named(declared.old, declared.subject.name)):
        return None
    return old.value, new.value


def follows_release(declared: Changed[Declared], context: Context) -> bool:
    """Whether a constant tells the release, or only those that it names and that do so changed, or has its number."""
    if tells_release(declared.subject.name) or _follows_only(declared, context, tells_release):
        return True
    from abistore.compare.classify.constants.packed import has_value_of_release  # few constants change

    return has_value_of_release(declared, context)


def follows_interface(declared: Changed[Declared], context: Context) -> bool:
    """Whether a constant tells the version of an interface, or only such and the release changed of what it names.

    ``#define GEO_API_VERSION_STR GEO_TEXT(GEO_API_VERSION_MAJOR, GEO_API_VERSION_MINOR)``.
    """
    return tells_interface(declared.subject.name) or _follows_only(
        declared, context, lambda each: tells_release(each) or tells_interface(each)
    )


def _follows_only(declared: Changed[Declared], context: Context, told: Callable[[Name], bool]) -> bool:
    same_text = declared.old.value == declared.new.value
    return same_text and _only(told, declared.old, declared.subject.name, context, ())


def _only(
    told: Callable[[Name], bool], declared: Declared, name: Name, context: Context, above: tuple[Name, ...]
) -> bool:
    changed = [each for each in named(declared, name) if each not in above and _differs(each, context)]
    return bool(changed) and all(
        told(each)
        or (_is_kept(each, context) and _only(told, written(context.old, each), each, context, (*above, name)))
        for each in changed
    )


def named(declared: Declared, name: Name) -> Iterator[Name]:
    """The constants that a macro may name."""
    for word in sorted(words(declared.value or "")):
        if word != name.spelling:
            yield Name("variable", word)


def _differs(name: Name, context: Context) -> bool:
    old, new = written(context.old, name), written(context.new, name)
    from abistore.compare.types.written_values import is_same_constant  # headers alone write values

    if not is_same_constant(old, new):
        return True
    return old.meaning is not None and new.meaning is not None and old.meaning.value != new.meaning.value


def _is_kept(name: Name, context: Context) -> bool:
    return written(context.old, name).value == written(context.new, name).value


def written(side: SideFacts, name: Name) -> Declared:
    """What the headers of a side write of a constant."""
    found = (each for each in side.variants("source", name) if isinstance(each, Declared))
    return next(found, Declared())


def public_functions(side: SideFacts) -> Iterator[Function]:
    """The functions that headers declare and programs can name."""
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        if any(isinstance(shape, Function) for shape in shapes) and side.consumers.can_name(name):
            yield from (shape for shape in shapes if isinstance(shape, Function))
