"""What was probably meant by a word that nothing is called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

ALIKE = 0.75
"""How alike two spellings are at least: 0.6, the usual bound, takes any two short names that begin with ``lib``."""

MOST = 3
LOOSELY_ALIKE = 0.6
"""The usual bound, for versions and other words that have no beginning in common."""


def close(word: str, known: Iterable[str], most: int = MOST, alike: float = ALIKE) -> list[str]:
    """Those of ``known`` that are spelled most alike, the best first."""
    from difflib import get_close_matches

    return get_close_matches(word, list(known), most, alike)


def near(word: str, known: Sequence[str], most: int = MOST, alike: float = ALIKE) -> list[str]:
    """The last of those that ``word`` begins, else those that are spelled alike."""
    begun = [one for one in known if word and one.startswith(word)]
    return begun[-most:] or close(word, known, most, alike)


def near_name(text: str, displays: Iterable[str], most: int = MOST) -> list[str]:
    """The names of declarations that ``text`` is a part of, else those that are spelled alike without parameters."""
    known = sorted(set(displays))
    inside = sorted((one for one in known if text.lower() in one.lower()), key=partial(_distance, text))
    if inside:
        return inside[:most]
    bare: dict[str, str] = {}
    for one in known:
        bare.setdefault(one.partition("(")[0], one)
    return [bare[one] for one in close(text.partition("(")[0], bare, most)]


def _distance(text: str, display: str) -> tuple[bool, bool, int, str]:
    """Sorts what ``text`` names but for its scope first, then what it begins, the shortest first."""
    name = display.partition("(")[0].rpartition("::")[2]
    return name != text, not name.startswith(text), len(display), display


def did_you_mean(found: Sequence[str], otherwise: str) -> str:
    """A hint that names what was ``found``; ``otherwise`` where that is nothing."""
    if not found:
        return otherwise
    *first, last = found
    return f"did you mean {', '.join(first)} or {last}?" if first else f"did you mean {last}?"
