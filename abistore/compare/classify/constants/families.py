"""Families of macros: integers whose names begin alike, as those of an enumeration that is written in macros."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from abistore.compare.classify.constants.release import tells_release
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.compare.types.written_values import INTEGER, known_value
from abistore.model.declared import Declared
from abistore.model.names import Name

Macros = Mapping[Name, int]

MEASURES: Final = frozenset(
    {
        *("all", "count", "default", "last", "len", "length", "level", "limit", "mask", "max", "maximum", "min"),
        *("minimum", "num", "size", "threshold", "version"),
    }
)
"""Words of constants that measure something, or that stand for all others."""


def macros(context: Context) -> tuple[Macros, Macros]:
    """The macros of integers of both sides, without those that measure something."""
    return context.once(_old), context.once(_new)


def family(prefix: str, among: Macros) -> dict[Name, int]:
    """Those whose names begin with ``prefix``."""
    return {each: value for each, value in among.items() if each.spelling.startswith(prefix)}


def prefixes(spelling: str) -> list[str]:
    """What a name begins with up to each ``_``, longest first."""
    return [spelling[: found.end()] for found in re.finditer("(?<=[^_])_", spelling)][::-1]


def names_others(name: Name, side: SideFacts) -> bool:
    """Whether a macro stands for others, as ``SET_BOTH (SET_A | SET_B)`` does: it moves with these."""
    return any(isinstance(each, Declared) and each.meaning is not None for each in side.variants("source", name))


def _old(context: Context) -> Macros:
    return _macros(context.old)


def _new(context: Context) -> Macros:
    return _macros(context.new)


def _macros(side: SideFacts) -> Macros:
    found: dict[Name, int] = {}
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        for shape in shapes:
            if isinstance(shape, Declared) and {"constant", "macro"} <= set(shape.traits):
                value = INTEGER.fullmatch(known_value(shape) or "")
                words = {word.lower() for word in name.spelling.split("_")}
                if value and MEASURES.isdisjoint(words) and not tells_release(name):
                    found[name] = int(value[1])
    return found
