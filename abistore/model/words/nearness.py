"""Suggestions for a misspelled name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

ALIKE = 0.75
"""The least likeness of a suggestion. With ``difflib``'s usual 0.6, any two short names with ``lib`` would do."""

MOST = 3
LOOSELY_ALIKE = 0.6
"""``difflib``'s usual bound, for versions and other words that do not all begin alike."""


def close(word: str, known: Iterable[str], most: int = MOST, alike: float = ALIKE) -> list[str]:
    """The ``known`` words spelled most like ``word``, the best first."""
    from difflib import get_close_matches

    return get_close_matches(word, list(known), most, alike)


def near(word: str, known: Sequence[str], most: int = MOST, alike: float = ALIKE) -> list[str]:
    """The last ``known`` words that begin with ``word``, or else those spelled most like it."""
    begun = [one for one in known if word and one.startswith(word)]
    return begun[-most:] or close(word, known, most, alike)


def near_name(text: str, displays: Iterable[str], most: int = MOST) -> list[str]:
    """The names of declarations that contain ``text``, or else those spelled most like it, parameters aside."""
    known = sorted(set(displays))
    inside = sorted((one for one in known if text.lower() in one.lower()), key=partial(_distance, text))
    if inside:
        return inside[:most]
    bare: dict[str, str] = {}
    for one in known:
        bare.setdefault(one.partition("(")[0], one)
    return [bare[one] for one in close(text.partition("(")[0], bare, most)]


def _distance(text: str, display: str) -> tuple[bool, bool, int, str]:
    """The sort key of a suggestion: ``text`` in another scope, then names that begin with it, then short names."""
    name = display.partition("(")[0].rpartition("::")[2]
    return name != text, not name.startswith(text), len(display), display


def did_you_mean(found: Sequence[str], otherwise: str) -> str:
    """A hint with the suggestions in ``found``; ``otherwise`` if there are none."""
    if not found:
        return otherwise
    *first, last = found
    return f"did you mean {', '.join(first)} or {last}?" if first else f"did you mean {last}?"
