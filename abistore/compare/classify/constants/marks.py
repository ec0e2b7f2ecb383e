"""Macros that stand for none of something: ``#define GEO_INVALID ((geo_handle) -1)``, which programs compare with."""

from __future__ import annotations

from typing import Final

from abistore.compare.classify.constants.named import public_functions, written
from abistore.compare.classify.constants.release import words
from abistore.compare.context import Context
from abistore.compare.types.written_values import INTEGER, known_value
from abistore.model.names import Name
from abistore.model.references import references
from abistore.patterns import pattern

CAST: Final = pattern(r"[\s(]*\(\s*(\w+)\s*\)")
"""How the text of a number begins that is cast to a type; the type's name is the group."""

NONE: Final = frozenset({"invalid", "nil", "none", "null"})


def is_moved_mark(name: Name, context: Context) -> bool:
    """Whether a macro is called the number that stands for none, of a type which functions take or return.

    It is no quantity: programs look for the old number in what they get, and hand it over where they have nothing. The
    header casts it to the name that signatures have for these numbers.
    """
    if NONE.isdisjoint(words(name.spelling)):
        return False
    old, new = written(context.old, name), written(context.new, name)
    cast = CAST.match(old.value or "")
    numbers = all(INTEGER.fullmatch(known_value(each) or "") for each in (old, new))
    return numbers and cast is not None and Name("alias", cast[1]) in context.once(_exchanged)


def _exchanged(context: Context) -> frozenset[Name]:
    """The names that headers have for types, and that signatures of public functions mention."""
    functions = public_functions(context.old)
    return frozenset(each for shape in functions for each, _ in references(shape) if each.kind == "alias")
