"""Exports without a recorded address, found by the name of their symbol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.abbreviations import Abbreviation
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.peek import symbol_at
from abistore.extract.dwarf.entries.units import Unit
from abistore.extract.dwarf.entries.walk import tagged
from abistore.patterns import pattern

Entry: TypeAlias = tuple[Unit, Abbreviation, int, Attributes]

SEARCHED = frozenset({dw.TAG_VARIABLE, dw.TAG_MEMBER, dw.TAG_SUBPROGRAM, *dw.RECORD_TAGS})

MOST_COPIES = 4
"""Copies of one class that are searched: each unit that uses a class describes all of its static members."""

DEEPEST = 20
"""Bound on classes inside one another."""

VARIANT = pattern("(?<=[CD])[0-5]")
"""What tells the variants of a constructor or destructor apart (Itanium C++ ABI, 5.1.4.3)."""
NUMBER = pattern(r"(?=([1-9][0-9]{0,3}))")
"""Every place where the length of an identifier may begin: an identifier itself may end in digits (``_V2``)."""


def folded_functions(unit: Unit, symbols: Set[str]) -> Iterator[tuple[str, int]]:
    """Functions of a scanned unit with these symbols that have no code there: symbol and handle.

    GCC leaves out the code of a function that does exactly what another does.
    """
    for start in (*unit.nameable, *unit.unplaced):
        abbreviation, position = unit.at(start)
        if abbreviation.is_nameable:
            symbol = symbol_at(unit, abbreviation, position)
            if symbol in symbols:
                yield symbol, unit.base + start


def members(
    index: Mapping[str, Sequence[int]], die: Callable[[int], Entry], symbols: Iterable[str]
) -> Iterator[tuple[str, int]]:
    """Static members and methods with these symbols, by the declaration in their class: symbol and handle.

    GCC writes no other entry for a constant whose value it has put in place of every use, nor for a folded method.
    """
    wanted: dict[str, list[str]] = {}
    for symbol in symbols:
        for spelled in {symbol, *_declared(symbol)}:
            wanted.setdefault(spelled, []).append(symbol)
    owners = {name for symbol in wanted for name in _identifiers(symbol)}
    for name, handles in index.items():
        if not wanted:
            return
        if name.partition("<")[0] in owners:
            for handle in handles[:MOST_COPIES]:
                for declared, member in _members(die, handle):
                    for symbol in wanted.pop(declared, ()):
                        yield symbol, member


def _declared(symbol: str) -> Iterator[str]:
    """How GCC writes the symbol of a constructor or destructor in its class: as that of a variant 4."""
    for variant in VARIANT.finditer(symbol):
        yield f"{symbol[: variant.start()]}4{symbol[variant.end() :]}"


def _members(die: Callable[[int], Entry], handle: int, depth: int = 0) -> Iterator[tuple[str, int]]:
    """The members of a class that have symbols, those of the classes inside it included."""
    unit, abbreviation, position, _ = die(handle)
    if abbreviation.has_children:
        for member, child, after in tagged(unit, position, SEARCHED):
            if child.tag in dw.RECORD_TAGS:
                if child.has_children and depth < DEEPEST:
                    yield from _members(die, member, depth + 1)
            elif dw.AT_LINKAGE_NAME in child.attributes:
                yield symbol_at(unit, child, after), member


def _identifiers(symbol: str) -> Iterator[str]:
    """All that may be an identifier in a mangled name: a superset of the names of the classes in it."""
    for length in NUMBER.finditer(symbol):
        start = length.end(1)
        yield symbol[start : start + int(length[1])]
