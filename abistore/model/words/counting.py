"""Counts with their nouns: ``2 exports``."""

from __future__ import annotations

from collections.abc import Collection


def of_all(count: int, every: int, one: str) -> str:
    """A part of some things as the subject of a sentence: "1 of 2 lines is", "2 of 3 lines are"."""
    return f"{count} of {counted(every, one)} {'is' if count == 1 else 'are'}"


def counted(count: int, one: str, many: str = "") -> str:
    """``1 export``, ``2 exports``; ``many`` is the plural if that is not ``one`` with an ``s``."""
    return f"{count} {one}" if count == 1 else f"{count} {many or f'{one}s'}"


def listed(names: Collection[str], most: int = 10) -> str:
    """The first names in order, and how many more there are: ``a, b and 3 more``."""
    more = len(names) - most
    return ", ".join(sorted(names)[:most]) + (f" and {more} more" if more > 0 else "")
