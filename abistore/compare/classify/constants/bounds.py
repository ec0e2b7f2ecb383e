"""Macros that bound others: the last number of a family, how many there are, all of its bits; and limits that rose."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Final

from abistore.compare.classify.constants.families import Families
from abistore.compare.classify.constants.release import words
from abistore.compare.context import Context
from abistore.compare.types.written_values import INTEGER, known_value
from abistore.model.declared import Declared
from abistore.model.names import Name

FEWEST: Final = 2
"""One number alone has no last one."""

LIMITS: Final = frozenset({"max", "maximum"})
LENGTHS: Final = frozenset(
    {"buf", "buffer", "bytes", "digest", "len", "length", "name", "path", "size", "str", "string", "strlen", "text"}
)
"""Words of limits by which programs size what the library fills: one that rose lets it write behind the end."""


def bounds_family(name: Name, old: Declared, new: Declared, context: Context) -> bool:
    """Whether a macro follows what was added to the macros whose names begin alike, all of which kept their numbers.

    It has the largest number on both sides, the next one, as many as there are, or all of their bits, and is none of
    them by its name: ``#define MODE_MAX MODE_LOCAL``, ``#define FLAGS_ALL (FLAG_A | FLAG_B)``.
    """
    values = _number(old), _number(new)
    if None in values:
        return False
    for family in context.once(Families).beginning(name):
        kept = family.old.keys() <= family.new.keys() and not family.others_moved(name)
        if kept and name not in family.old and len(family.old) >= FEWEST:
            return any(
                _bound(kind, list(family.old.values())) == values[0]
                and _bound(kind, list(family.new.values())) == values[1]
                for kind in ("largest", "next", "count", "bits")
            )
    return False


def _bound(kind: str, numbers: list[int]) -> int | None:
    match kind:
        case "largest":
            return max(numbers)
        case "next":
            return max(numbers) + 1
        case "count":
            return len(numbers)
    return reduce(or_, numbers) if min(numbers) >= 0 else None


def is_raised_limit(name: Name, old: Declared, new: Declared) -> bool:
    """Whether the number of a macro that is called the most of something, and no length, is larger."""
    before, after = _number(old), _number(new)
    called = set(words(name.spelling))
    if before is None or after is None or not all("macro" in each.traits for each in (old, new)):
        return False
    return after > before >= 0 and bool(called & LIMITS) and called.isdisjoint(LENGTHS)


def _number(declared: Declared) -> int | None:
    value = INTEGER.fullmatch(known_value(declared) or declared.value or "")
    return int(value[1]) if value else None
