"""What a file for another tool can name: nothing that would end its line there, or begin an entry of its own."""

from __future__ import annotations

from collections.abc import Iterable

from abistore.errors import UsageError
from abistore.model.words.characters import in_line

SHOWN = 120


def check_names(file: str, names: Iterable[str], marks: str = "") -> None:
    """Raise :class:`UsageError` for a name that has a character which is not printable, or one of ``marks``.

    Whoever made the library chose its names: a line feed in one is an entry that nobody asked for.
    """
    for name in names:
        if not name.isprintable() or not set(marks).isdisjoint(name):
            raise UsageError(f"{file} cannot name {in_line(name, SHOWN)}", "generate another format")
