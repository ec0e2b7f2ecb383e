"""Macros that number something: an enumeration that is written in macros, as C libraries have had them for long."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from abistore.compare.classify.constants.families import Families, Family
from abistore.compare.classify.constants.mentioned import is_mentioned
from abistore.compare.context import Context
from abistore.model.names import Name

FEWEST: Final = 3
"""Two numbers of one prefix follow each other by chance."""


def is_moved_number(name: Name, context: Context) -> bool:
    """Whether a macro of a numbering got another number because others came, went or changed places.

    The names of a numbering begin alike, each has a number of its own, and these run without a gap, in both releases.
    One of them moves where its old number is another's now, or its new number was. An integer that programs exchange
    with the library is called as they are: without that, a numbering may be for the library alone, as its opcodes are.
    """
    return any(_is_moved(name, family, context) for family in context.once(Families).of(name))


def _is_moved(name: Name, family: Family, context: Context) -> bool:
    if name not in family.old or name not in family.new:
        return False
    moved = family.has_now(family.old[name], name) or family.had(family.new[name], name)
    return moved and context.once(_are_numbered, family)


def _are_numbered(family: Family, context: Context) -> bool:
    most = max(len(family.old), len(family.new))
    runs = most >= FEWEST and _run(family.old.values()) and _run(family.new.values())
    return runs and is_mentioned(family.called, context)


def _run(values: Collection[int]) -> bool:
    """Whether there are two numbers at least, each once, and no gap between them."""
    return len(values) > 1 and len(set(values)) == len(values) == max(values) - min(values) + 1
