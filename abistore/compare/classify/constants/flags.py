"""Macros that are flags: single bits of one family, which programs combine into a number for the library."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final

from abistore.compare.classify.constants.families import Families, Family
from abistore.compare.context import Context
from abistore.model.names import Name

FEWEST: Final = 3
"""Fewer bits of one prefix may be numbers that happen to be 1 and 2."""


def is_moved_flag(name: Name, context: Context) -> bool:
    """Whether a macro is one bit of a family that was given out anew: programs ask for another flag by the old number.

    So it is where a further macro of the family has that number now, or moved too. What is written as several of them
    (``(SET_A | SET_B)``) follows from these.
    """
    for family in context.once(Families).beginning(name):
        if name not in family.old or name not in family.new or name in family.following:
            return False
        if context.once(_are_flags, family):
            return family.has_now(family.old[name], name) or family.others_moved(name)
    return False


def _are_flags(family: Family, _: Context) -> bool:
    """Whether most numbers that are written as such are single bits, and the others are made of these."""
    values = {number for each, number in family.old.items() if each not in family.following}
    bits = {value for value in values if value > 0 and value & (value - 1) == 0}
    combined = values - bits - {0}
    together = reduce(or_, bits, 0)
    made = all(value > 0 and value & ~together == 0 for value in combined)
    return len(bits) >= FEWEST and 2 * len(combined) < len(bits) and made and not _are_sequence(values)


def _are_sequence(values: set[int]) -> bool:
    return max(values) - min(values) < len(values)
