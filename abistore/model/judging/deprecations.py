"""Declarations that headers call deprecated: since when, and whether they went in time."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from abistore.model.history import LineKey
from abistore.model.names import Name

DeprecationState: TypeAlias = Literal["deprecated", "removable", "removed", "too-early", "undeprecated"]
"""What became of a declaration.

``deprecated``: it stands, and may not go yet or nothing says when. ``removable``: it stands, and may go. ``removed``:
it went, after it was deprecated long enough or where nothing says how long. ``too-early``: it went before.
``undeprecated``: it went and no release had called it deprecated.
"""


class Deprecation(msgspec.Struct, frozen=True):
    """A declaration that a release deprecates, or that went.

    ``since`` is the first release whose headers call it deprecated, empty where none did; with ``first_stored`` no
    older headers are stored. ``removed`` is the release that lacks it, ``removable`` what a removal waits for.
    """

    name: Name
    display: str
    state: DeprecationState
    since: str = ""
    since_day: str = ""
    first_stored: bool = False
    removed: str = ""
    removable: str = ""


class LineDeprecations(msgspec.Struct, frozen=True):
    """The deprecations of a line. ``unread`` are releases whose headers were not read: they say nothing of these."""

    line: LineKey
    latest: str
    window: str
    items: tuple[Deprecation, ...]
    unread: tuple[str, ...] = ()


class EarlyRemoval(msgspec.Struct, frozen=True):
    """A declaration that a release removes before its window opens. ``since`` is empty where it was not deprecated."""

    display: str
    since: str = ""
    removable: str = ""
