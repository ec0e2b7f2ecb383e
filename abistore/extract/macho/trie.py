"""The exports trie: what dyld finds in a library, by name (``mach-o/loader.h``, ``dyld_info_command``)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from abistore.extract.macho.leb import Malformed, NameBudget, text, unsigned

KIND, WEAK, REEXPORT = 0x3, 0x4, 0x8
THREAD_LOCAL, ABSOLUTE = 0x1, 0x2


class TrieExport(msgspec.Struct, frozen=True):
    """One name of the trie. ``address`` counts from the file's header.

    A name that is re-exported has the ``ordinal`` of the library that has it, and its name there where it differs.
    """

    name: str
    flags: int
    address: int = 0
    ordinal: int = 0
    other_name: str = ""


def read_trie(data: bytes) -> Iterator[TrieExport]:
    """The exports in a trie. Raises :class:`Malformed` where it is cut off, or has a circle."""
    budget = NameBudget(len(data))
    seen = {0}
    pending = [(0, b"")] if data else []
    while pending:
        place, prefix = pending.pop()
        size, place = unsigned(data, place)
        if size:
            yield _export(data, place, budget.spend(prefix))
            place += size
        if place >= len(data):
            raise Malformed("the exports trie is cut off")
        children, place = data[place], place + 1
        for _ in range(children):
            edge, place = text(data, place)
            child, place = unsigned(data, place)
            if child >= len(data) or child in seen:
                raise Malformed("the exports trie is no tree")
            seen.add(child)
            pending.append((child, prefix + edge))


def _export(data: bytes, place: int, name: str) -> TrieExport:
    flags, place = unsigned(data, place)
    first, place = unsigned(data, place)
    if flags & REEXPORT:
        other, _ = text(data, place)
        return TrieExport(name, flags, ordinal=first, other_name=other.decode("utf-8", "backslashreplace"))
    return TrieExport(name, flags, first)
