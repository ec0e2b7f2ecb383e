"""Macros that are codes of errors: functions return them as plain integers, which no name in a signature tells."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from abistore.compare.classify.constants.families import Families, Family
from abistore.compare.context import Context
from abistore.model.cpp_names.builtins import INTEGERS
from abistore.model.names import Name
from abistore.model.shapes import Function, Primitive

FEWEST: Final = 3
"""Fewer numbers of one prefix may measure something."""

ERRORS: Final = frozenset({"err", "errs", "error", "errors", "errno"})


def is_moved_error(name: Name, context: Context) -> bool:
    """Whether a macro is a code of an error that has another number: programs look for the old one in results.

    Its family is called so, each code has a number of its own in both releases, and a function returns an integer.
    """
    found = any(_is_code(name, family) for family in context.once(Families).beginning(name))
    return found and context.once(_returns_integers)


def _is_code(name: Name, family: Family) -> bool:
    if name not in family.old or name not in family.new or name in family.following:
        return False
    distinct = _are_distinct(family.old.values()) and _are_distinct(family.new.values())
    return distinct and not ERRORS.isdisjoint(family.called)


def _are_distinct(numbers: Collection[int]) -> bool:
    return len(set(numbers)) == len(numbers) >= FEWEST


def _returns_integers(context: Context) -> bool:
    source, types = context.old.snapshot.entries.get("source", {}), context.old.types
    results = (shape.result for shapes in source.values() for shape in shapes if isinstance(shape, Function))
    bare = (types.bare(each)[0] for each in results)
    return any(isinstance(each, Primitive) and each.spelling in INTEGERS for each in bare)
