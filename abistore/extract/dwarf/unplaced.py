"""Exported static members whose place is not recorded: they are found by the name of their symbol instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from abistore.extract.dwarf import codes as dw
from abistore.extract.dwarf.abbreviations import Abbreviation, Attributes
from abistore.extract.dwarf.units import Unit
from abistore.extract.dwarf.walk import children

Entry: TypeAlias = tuple[Unit, Abbreviation, int, Attributes]

MEMBERS = frozenset({dw.TAG_VARIABLE, dw.TAG_MEMBER})

MOST_COPIES = 4
"""Copies of one class that are searched: each unit that uses a class describes all of its static members."""

MEMBER_SYMBOL = re.compile(r"_ZN.*E")
NUMBER = re.compile(r"(?=([1-9][0-9]{0,3}))")
"""Every place where the length of an identifier may begin: an identifier itself may end in digits (``_V2``)."""


def static_members(
    index: Mapping[str, Sequence[int]], die: Callable[[int], Entry], symbols: Collection[str]
) -> Iterator[tuple[str, int]]:
    """Static members with these symbols, by the declaration in their class: symbol and handle.

    GCC writes no other entry for a constant whose value it has put in place of every use.
    """
    wanted = {symbol for symbol in symbols if MEMBER_SYMBOL.fullmatch(symbol)}
    owners = {name for symbol in wanted for name in _identifiers(symbol)}
    for name, handles in index.items():
        if not wanted:
            return
        if name.partition("<")[0] in owners:
            for handle in handles[:MOST_COPIES]:
                for symbol, member in _members(die, handle):
                    if symbol in wanted:
                        wanted.remove(symbol)
                        yield symbol, member


def _members(die: Callable[[int], Entry], handle: int) -> Iterator[tuple[str, int]]:
    unit, abbreviation, position, _ = die(handle)
    if abbreviation.has_children:
        for member, child, after in children(unit, position):
            if child.tag in MEMBERS and dw.AT_LINKAGE_NAME in child.attributes:
                yield child.decode(unit.data, after, unit)[1][dw.AT_LINKAGE_NAME], member


def _identifiers(symbol: str) -> Iterator[str]:
    """All that may be an identifier in a mangled name: a superset of the names of the classes in it."""
    for length in NUMBER.finditer(symbol):
        start = length.end(1)
        yield symbol[start : start + int(length[1])]
