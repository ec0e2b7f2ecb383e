"""What vtables and type information point to, in formats that record no sizes: the end of a table follows from it.

A vtable is offsets, the type information of its class, then functions; the part for another base follows with the same
type information (Itanium C++ ABI, section 2.5). Whatever else stands behind is not the table's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from abistore.model.mangling.symbols import CLASS_DATA, TYPEINFO, TYPEINFO_NAME, VTABLE, primary

MOST_WORDS: Final = 1 << 12
"""Words of one table that are read. The largest vtables of real libraries have a few hundred."""

MOST_IN_ALL: Final = 1 << 20
"""Words of all tables together."""

OF_ALL: Final = (TYPEINFO_NAME, f"{VTABLE}N10__cxxabiv1")
"""How the symbols begin that type information points to whatever the class is."""

_MOST_OFFSETS: Final = 1 << 8
"""Offsets before the type information: one for each virtual base, and for each function of such a base."""

_MOST_ZEROS: Final = 1 << 6

_FLAGS_OF_BASES: Final = 0x10
"""``__vmi_class_type_info::__flags`` is smaller."""

_NO_BASE, _ONE_BASE, _MANY_BASES = _SORTS = ("17__class_type_info", "20__si_class_type_info", "21__vmi_class_type_info")

Word = int | str | None
"""What stands at a place: an address of the file, the symbol that is bound there, or no pointer."""


def named_words(table: str, words: Iterable[str]) -> tuple[str, ...]:
    """The words of ``table`` without what all of its kind hold: that it is one, and of which class."""
    own = TYPEINFO + table[len(TYPEINFO) :]
    found = tuple("" if each == own or each.startswith(OF_ALL) else each for each in words)
    return found if any(found) else ()


def names_at(symbols: Iterable[tuple[int, str]]) -> Mapping[int, str]:
    """The symbol at each address; none where unrelated ones share it."""
    found: dict[int, set[str]] = {}
    for address, symbol in symbols:
        found.setdefault(address, set()).add(symbol if symbol.startswith(CLASS_DATA) else primary(symbol))
    return {address: next(iter(names)) for address, names in found.items() if len(names) == 1}


def is_table(symbol: str) -> bool:
    """Whether ``symbol`` is a vtable or type information."""
    return symbol.startswith((VTABLE, TYPEINFO))


def pages_of(starts: Iterable[int], ends: Sequence[int], width: int, page: int) -> frozenset[int]:
    """The pages that tables may reach into: up to what stands behind them, and not further than is read."""
    found: set[int] = set()
    for start in starts:
        place = bisect_right(ends, start)
        end = min(ends[place] if place < len(ends) else start, start + MOST_WORDS * width)
        found.update(range(start // page, end // page + 1))
    return frozenset(found)


class Image(msgspec.Struct, frozen=True):
    """A file as its loader sees it.

    ``plain`` reads a number of four bytes. ``ends`` are the addresses at which something begins that has a name, or at
    which a section ends; in order.
    """

    width: int
    word: Callable[[int], Word]
    plain: Callable[[int], int]
    is_code: Callable[[int], bool]
    names: Mapping[int, str]
    ends: tuple[int, ...]


class Table(msgspec.Struct, frozen=True):
    """The words of a table as the symbols that they point to, and the most bytes that it has: 0 where nobody can tell.

    ``padding`` is how many of them may lie behind it.
    """

    words: tuple[str, ...] = ()
    size: int = 0
    padding: int = 0


class TableReader:
    """Reads the tables of classes of one image, all together within :data:`MOST_IN_ALL` words."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._left = MOST_IN_ALL

    def table(self, symbol: str, address: int) -> Table:
        """The vtable or the type information that ``symbol`` names."""
        words = self._upto(address)
        found = self._vtable(address, words) if symbol.startswith(VTABLE) else self._typeinfo(address, words)
        named = named_words(symbol, map(self._named, found.words))
        return Table(named, found.most * self._image.width, (found.most - found.size) * self._image.width)

    def functions(self, address: int) -> tuple[str, ...]:
        """The functions that stand one after the other at ``address``."""
        found: list[str] = []
        for number in range(self._upto(address)):
            word = self._at(address, number)
            if not self._is_function(word):
                break
            found.append(self._named(word))
        return tuple(found)

    def _vtable(self, start: int, most: int) -> _Words:
        """All parts of a vtable. Without type information there is one that is known to be its own."""
        found, own = self._part(start, 0, most)
        while own is not None:
            part, typeinfo = self._part(start, len(found), most)
            if not part or typeinfo != own:
                return _Words(tuple(found), len(found), len(found) + self._more(start, len(found), most))
            found += part
        return _Words(tuple(found))

    def _part(self, start: int, at: int, most: int) -> tuple[list[Word], Word]:
        """Offsets, the type information, and functions, from word ``at`` on; empty where something else stands."""
        for number in range(at, min(most, at + _MOST_OFFSETS)):
            word = self._at(start, number)
            if self._is_function(word):
                alone = number - at >= 2
                return ([None] * (number - at) + self._run(start, number, most) if alone else []), None
            if word is not None:
                if number == at:
                    break
                return [*[None] * (number - at), word, *self._slots(start, number + 1, most)], word
        return [], None

    def _slots(self, start: int, at: int, most: int) -> list[Word]:
        """Functions, and zeros between them: a pure function of a runtime that was not linked in is one."""
        found = self._run(start, at, most)
        while (zeros := self._zeros(start, at + len(found), most)) and (
            more := self._run(start, at + len(found) + zeros, most)
        ):
            found += [*[None] * zeros, *more]
        return found

    def _run(self, start: int, at: int, most: int) -> list[Word]:
        found: list[Word] = []
        while at + len(found) < most and self._is_function(word := self._at(start, at + len(found))):
            found.append(word)
        return found

    def _more(self, start: int, at: int, most: int) -> int:
        """How many words from ``at`` on may be of the table, too: a zero may be padding, or a pure function.

        One zero and an address of data are the beginning of the next vtable.
        """
        zeros = self._zeros(start, at, most)
        if zeros == 1 and at + 1 < most and self._at(start, at + 1) is not None:
            return 0
        return zeros if zeros < _MOST_ZEROS else most - at

    def _zeros(self, start: int, at: int, most: int) -> int:
        """How many words from ``at`` on are zero, up to a few."""
        for number in range(min(most - at, _MOST_ZEROS)):
            place = start + (at + number) * self._image.width
            halves = range(place, place + self._image.width, 4)
            if self._at(start, at + number) is not None or any(map(self._image.plain, halves)):
                return number
        return max(0, min(most - at, _MOST_ZEROS))

    def _typeinfo(self, start: int, most: int) -> _Words:
        """Two words of every class; one for a single base; flags, a number, and two for each of several bases.

        Whose vtable stands first tells which. Where it has no name, bases that have one tell.
        """
        first = self._at(start, 0)
        sort = self._vtable_of(first)
        none = _Words((first, None), *((2, 2) if sort is not None else ()))
        if sort == _NO_BASE or most < 3:
            return none
        second = self._at(start, 2)
        if sort == _ONE_BASE or (sort is None and self._is_typeinfo(second)):
            return _Words((first, None, second), 3, 3)
        bases = self._several(start, most)
        if sort == _MANY_BASES or any(map(self._is_typeinfo, bases)):
            return _Words((first, None, *bases), 2 + len(bases), 2 + len(bases))
        return none

    def _several(self, start: int, most: int) -> tuple[Word, ...]:
        """Flags, a number, and so many pairs of a base and its place; empty where these words are no such list."""
        width = self._image.width
        flags, count = (self._image.plain(start + 2 * width + offset) for offset in (0, 4))
        numbers = 8 // width
        if not 0 <= flags < _FLAGS_OF_BASES or not 0 < count <= (most - 2 - numbers) // 2:
            return ()
        bases = [self._at(start, 2 + numbers + 2 * number) for number in range(count)]
        return (*[None] * numbers, *(each for base in bases for each in (base, None)))

    def _vtable_of(self, word: Word) -> str | None:
        """The class of type information by its vtable, behind whose first two words objects point."""
        name = word if isinstance(word, str) else self._image.names.get((word or 0) - 2 * self._image.width, "")
        return next((each for each in _SORTS if each in name), None)

    # --- words ----------------------------------------------------------------------------------------------------

    def _upto(self, address: int) -> int:
        """How many words there are before something else begins."""
        place = bisect_right(self._image.ends, address)
        end = self._image.ends[place] if place < len(self._image.ends) else address
        return min(MOST_WORDS, (end - address) // self._image.width, self._left)

    def _at(self, start: int, number: int) -> Word:
        self._left -= 1
        return self._image.word(start + number * self._image.width)

    def _is_function(self, word: Word) -> bool:
        return (
            self._image.is_code(word) if isinstance(word, int) else bool(word) and not str(word).startswith(CLASS_DATA)
        )

    def _is_typeinfo(self, word: Word) -> bool:
        return self._named(word).startswith(TYPEINFO)

    def _named(self, word: Word) -> str:
        return self._image.names.get(word, "") if isinstance(word, int) else word or ""


class _Words(msgspec.Struct, frozen=True):
    """Words of a table; it has between ``size`` and ``most`` of them, which is 0 where nobody can tell."""

    words: tuple[Word, ...]
    size: int = 0
    most: int = 0
