"""Macros that are flags: single bits of one family, which programs combine into a number for the library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Final

from abistore.compare.classify.constants.release import tells_release
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.compare.types.written_values import INTEGER, known_value
from abistore.model.declared import Declared
from abistore.model.names import Name

FEWEST: Final = 3
"""Fewer bits of one prefix may be numbers that happen to be 1 and 2."""

MEASURES: Final = frozenset(
    {
        *("all", "count", "default", "last", "len", "length", "level", "limit", "mask", "max", "maximum", "min"),
        *("minimum", "num", "size", "threshold", "version"),
    }
)
"""Words of constants that measure something, or that stand for all others."""


def is_moved_flag(name: Name, context: Context) -> bool:
    """Whether a macro is one bit of a family that was given out anew: programs ask for another flag by the old number.

    So it is where a further macro of the family has that number now, or moved too. Numbers in sequence are no flags:
    nothing tells whether any is handed over.
    """
    old, new = context.once(_old_macros), context.once(_new_macros)
    if name not in old or name not in new:
        return False
    for prefix in _prefixes(name.spelling):
        family = {each: value for each, value in old.items() if each.spelling.startswith(prefix)}
        if name in family and _are_flags(set(family.values())):
            others = [each for each in new if each != name and each.spelling.startswith(prefix)]
            return any(new[each] == old[name] or new[each] != old.get(each, new[each]) for each in others)
    return False


def _prefixes(spelling: str) -> list[str]:
    """What a name begins with up to each ``_``, longest first."""
    return [spelling[: found.end()] for found in re.finditer("(?<=[^_])_", spelling)][::-1]


def _are_flags(values: set[int]) -> bool:
    """Whether most values are single bits, and the others are made of these."""
    bits = {value for value in values if value > 0 and value & (value - 1) == 0}
    combined = values - bits - {0}
    together = reduce(or_, bits, 0)
    sequence = max(values) - min(values) < len(values)
    made = all(value > 0 and value & ~together == 0 for value in combined)
    return len(bits) >= FEWEST and 2 * len(combined) < len(bits) and made and not sequence


def _old_macros(context: Context) -> Mapping[Name, int]:
    return _macros(context.old)


def _new_macros(context: Context) -> Mapping[Name, int]:
    return _macros(context.new)


def _macros(side: SideFacts) -> Mapping[Name, int]:
    """The macros of integers, without those that measure something."""
    found: dict[Name, int] = {}
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        for shape in shapes:
            if isinstance(shape, Declared) and {"constant", "macro"} <= set(shape.traits):
                value = INTEGER.fullmatch(known_value(shape) or "")
                words = {word.lower() for word in name.spelling.split("_")}
                if value and MEASURES.isdisjoint(words) and not tells_release(name):
                    found[name] = int(value[1])
    return found
