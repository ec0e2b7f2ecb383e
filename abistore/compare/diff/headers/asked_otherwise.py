"""Conditions of public headers that chose other declarations on one side than they would have on the other."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from abistore.compare.context import Context
from abistore.model.names import Name
from abistore.model.snapshot import CONDITIONS, AskedCondition, HeadersRead
from abistore.patterns import pattern

MOST_SAID = 3
"""How many conditions are told."""

_OF_LANGUAGE = pattern(r"\b(?:__cplusplus|__STDC_VERSION__|__STRICT_ANSI__|__cpp_\w+|__has_\w+)\b")
"""What the language and its standard decide."""


class AskedOtherwise(msgspec.Struct, frozen=True):
    """The conditions that chose otherwise on each side, and the headers that they stand in."""

    old: tuple[AskedCondition, ...]
    new: tuple[AskedCondition, ...]
    files: frozenset[str]


class _Answers(msgspec.Struct, frozen=True):
    """What the headers of one side asked, and what decided it."""

    read: HeadersRead
    held: Mapping[tuple[str, str], frozenset[bool]]
    outside: frozenset[str]
    language: tuple[str, ...]


def chosen_otherwise(context: Context) -> AskedOtherwise | None:
    """The conditions of both sides' headers that chose otherwise; ``None`` where all chose alike, or nobody knows."""
    return context.once(_compared)


def is_chosen_otherwise(context: Context, name: Name) -> bool:
    """Whether a header that declares ``name`` on one side has such a condition."""
    asked = chosen_otherwise(context)
    if asked is None:
        return False
    places = (side.snapshot.locations.get(name) for side in (context.old, context.new))
    return any(place.file in asked.files for place in places if place is not None)


def said(asked: AskedOtherwise) -> str:
    """Which conditions chose otherwise, where, and by what."""
    sides = (("old", asked.old), ("new", asked.new))
    told = list(dict.fromkeys(_said(each, side) for side, found in sides for each in found))
    more = f"; and {len(told) - MOST_SAID} more" if len(told) > MOST_SAID else ""
    return "; ".join(told[:MOST_SAID]) + more


def _said(condition: AskedCondition, side: str) -> str:
    by = f", with {', '.join(condition.outside[:MOST_SAID])} there" if condition.outside else ""
    holds = "holds" if condition.held else "does not hold"
    return f"`{condition.text}` in {condition.files[0]} {holds} for the {side} side{by}"


def _compared(context: Context) -> AskedOtherwise | None:
    old, new = (_answers(side.snapshot.provenance.headers) for side in (context.old, context.new))
    if old is None or new is None:
        return None
    found = _otherwise(old, new), _otherwise(new, old)
    files = frozenset(file for asked in found for each in asked for file in each.files)
    return AskedOtherwise(*found, files) if any(found) else None


def _answers(read: object) -> _Answers | None:
    """What headers asked; ``None`` where nobody looked."""
    if not isinstance(read, HeadersRead) or CONDITIONS not in read.facts:
        return None
    held: dict[tuple[str, str], frozenset[bool]] = {}
    for each in read.conditions:
        held[each.asked] = held.get(each.asked, frozenset()) | {each.held}
    outside = frozenset(macro for each in read.conditions for macro in each.outside)
    return _Answers(read, held, outside, (read.language, *(one for one in read.options if one.startswith("--std "))))


def _otherwise(own: _Answers, other: _Answers) -> tuple[AskedCondition, ...]:
    """The conditions of one side that were answered otherwise on the other.

    One that the other does not ask is such where a macro of others, or the language, would answer otherwise there.
    """
    apart = own.outside ^ other.outside
    is_other_language = own.language != other.language

    def differs(each: AskedCondition) -> bool:
        answers = other.held.get(each.asked)
        if answers is not None:
            return own.held[each.asked].isdisjoint(answers)
        return not apart.isdisjoint(each.outside) or (is_other_language and _OF_LANGUAGE.search(each.text) is not None)

    return tuple(filter(differs, own.read.conditions))
