"""Whether two texts of a constant, or two constants, say the same."""

from __future__ import annotations

from typing import Final

from abistore.model.declared import Declared
from abistore.model.values.texts import MOST, constant, normal
from abistore.patterns import pattern

INTEGER: Final = pattern(r"(-?\d{1,40})(?:u|l|ll|ul|ull|lu|llu)?", 0)

_TEXT: Final = pattern(r'\s*(?:(?:u8|u|U|L)?"(?:[^"\\]|\\.)*"\s*)+', 0)

WORDS: Final = {"false": 0, "true": 1}

TEXTS: Final = frozenset({"macro", "template"})
"""What of itself is text, and becomes a value where sources use it."""


def is_same_value(old: str, new: str) -> bool:
    """Whether both texts are one value of one type, as far as the texts themselves tell."""
    if old == new:
        return True
    return max(len(old), len(new)) <= MOST and normal(old) == normal(new)


def is_same_constant(old: Declared, new: Declared) -> bool:
    """Whether consumers get one value of both, as far as is known: macros may name others that stand for a number."""
    if old.value is None or new.value is None:
        return True
    if old.value == new.value:
        return True
    before, after = known_value(old) or old.value, known_value(new) or new.value
    return before == after or is_same_value(old.value, new.value)


def known_value(declared: Declared) -> str | None:
    """What a constant is worth in the end, in one spelling; ``None`` where that is not known."""
    if declared.meaning is not None:
        return declared.meaning.value
    return constant(declared.value or "")


def is_same_number(old: Declared, new: Declared) -> bool:
    """Whether two macros stand for one integer, be it of another type: ``0x8000`` and ``(0x8000LL)``."""
    values = [INTEGER.fullmatch(known_value(each) or "") for each in (old, new)]
    digits = [each[1] for each in values if each is not None]
    return len(digits) == 2 and digits[0] == digits[1]


def is_text(value: str) -> bool:
    """Whether a value is a string literal, or several side by side."""
    return _TEXT.fullmatch(value) is not None


def is_number(value: str) -> bool:
    """Whether a value is an integer, and nothing else."""
    return INTEGER.fullmatch(constant(value) or "") is not None


def number(declared: Declared) -> int | None:
    """The value of a constant that compilers know as an integer; ``None`` for macros and all else.

    A macro that names the enumerator of its own name, for ``#ifdef``, is that.
    """
    is_text = declared.within is None and not TEXTS.isdisjoint(declared.traits)
    if "constant" not in declared.traits or is_text:
        return None
    text = known_value(declared) or declared.value or ""
    found = INTEGER.fullmatch(text)
    return int(found[1]) if found else WORDS.get(text)
