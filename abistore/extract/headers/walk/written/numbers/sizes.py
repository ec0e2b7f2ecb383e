"""What ``sizeof`` gives where a macro asks it of a pointer or of a type of the language itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

SIZES: Final = {
    **{"char": 1, "signed char": 1, "unsigned char": 1, "float": 4, "double": 8},
    **{f"{sign}{word}": size for sign in ("", "unsigned ") for word, size in (("short", 2), ("int", 4))},
    **{"unsigned": 4, "signed": 4, "long long": 8, "unsigned long long": 8},
    **{f"{sign}int{bits}_t": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""Bytes that types have on every machine whose pointers have 4 or 8. ``long`` has 4 or 8 of its own."""

AS_POINTERS: Final = frozenset({"size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t"})

QUALIFIERS: Final = frozenset({"const", "volatile"})


def measured(found: Sequence[str], pointer: int) -> Iterator[str]:
    """The tokens ``found``, with its size in place of ``sizeof (T)`` where that is known. ``pointer`` is in bytes."""
    place = 0
    while place < len(found):
        end = found.index(")", place) if found[place : place + 2] == ("sizeof", "(") and ")" in found[place:] else place
        size = _size([each for each in found[place + 2 : end] if each not in QUALIFIERS], pointer)
        if size is None:
            yield found[place]
            place += 1
        else:
            yield from ("(", "(", "size_t", ")", str(size), ")")
            place = end + 1


def _size(words: Sequence[str], pointer: int) -> int | None:
    if pointer not in (4, 8) or not words:
        return None
    if words[-1] == "*" and all(each == "*" or each.isidentifier() for each in words):
        return pointer
    name = " ".join(words)
    return pointer if name in AS_POINTERS else SIZES.get(name)
