"""How far a member can be used, by its access."""

from __future__ import annotations

from abistore.model.shapes import Access

WIDTH: dict[Access, int] = {"private": 0, "protected": 1, "public": 2}
"""From how many places: the larger, the more."""
