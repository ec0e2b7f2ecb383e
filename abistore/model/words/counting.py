"""Counts with their nouns: ``2 exports``."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """``1 export``, ``2 exports``; ``many`` is the plural if that is not ``one`` with an ``s``."""
    return f"{count} {one}" if count == 1 else f"{count} {many or f'{one}s'}"
