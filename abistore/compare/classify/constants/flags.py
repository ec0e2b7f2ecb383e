"""Macros that are flags: single bits of one family, which programs combine into a number for the library."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final

from abistore.compare.classify.constants.families import family, macros, names_others, prefixes
from abistore.compare.context import Context
from abistore.model.names import Name

FEWEST: Final = 3
"""Fewer bits of one prefix may be numbers that happen to be 1 and 2."""


def is_moved_flag(name: Name, context: Context) -> bool:
    """Whether a macro is one bit of a family that was given out anew: programs ask for another flag by the old number.

    So it is where a further macro of the family has that number now, or moved too. What is written as several of them
    (``(SET_A | SET_B)``) follows from these.
    """
    old, new = macros(context)
    if name not in old or name not in new or names_others(name, context.old):
        return False
    for prefix in prefixes(name.spelling):
        written = family(prefix, old).items()
        if _are_flags({value for each, value in written if not names_others(each, context.old)}):
            others = [each for each in family(prefix, new) if each != name]
            return any(new[each] == old[name] or new[each] != old.get(each, new[each]) for each in others)
    return False


def _are_flags(values: set[int]) -> bool:
    """Whether most values are single bits, and the others are made of these."""
    bits = {value for value in values if value > 0 and value & (value - 1) == 0}
    combined = values - bits - {0}
    together = reduce(or_, bits, 0)
    made = all(value > 0 and value & ~together == 0 for value in combined)
    return len(bits) >= FEWEST and 2 * len(combined) < len(bits) and made and not _are_sequence(values)


def _are_sequence(values: set[int]) -> bool:
    return max(values) - min(values) < len(values)
