"""What the offsets in a dump mean: abi-dumper passes decimal ones of newer elfutils through ``hex``.

An offset of 20 is then written as 32. Which reading is true is the same for all records of a dump: the members that lie
where the ones before them end tell it, and the ones that would overlap or stand out of their records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from abistore.extract.foreign.abicc.perl import Hash, hash_of, in_order, number_of, text_of

Reading = Literal["plain", "hexadecimal", "unreliable"]

FIRST_DIFFERENT: Final = 10
"""Smaller offsets are written alike either way."""

SCALARS: Final = frozenset({"Pointer", "Ref", "RvalueRef", "FuncPtr", "Enum", "Intrinsic"})
TRANSPARENT: Final = frozenset({"Typedef", "Const", "Volatile", "Restrict", "ConstVolatile"})
MOST_STEPS: Final = 64
RECORDS: Final = frozenset({"Class", "Struct"})


class Place(NamedTuple):
    """A member as the dump has it: its offset, its size (0: not known) and its natural alignment (0: not known)."""

    offset: int
    size: int
    alignment: int


def decimal_behind(offset: int) -> int | None:
    """The decimal number that ``hex`` made ``offset`` of; ``None`` where it cannot have."""
    text = format(offset, "x")
    return int(text) if text.isdecimal() else None


def reading_of(types: Mapping[str, Hash]) -> Reading:
    """How the offsets of a dump are to be read."""
    votes = {"plain": 0, "hexadecimal": 0}
    possible = {"plain": True, "hexadecimal": True}
    doubtful = False
    for record in types.values():
        if text_of(record.get("Type")) not in RECORDS:
            continue
        places = list(_places(record, types))
        if all(place.offset < FIRST_DIFFERENT for place in places):
            continue
        doubtful = True
        size = number_of(record.get("Size")) or 0
        decoded = [decimal_behind(place.offset) for place in places]
        votes["plain"] += _expected(places, [place.offset for place in places])
        possible["plain"] &= _fits([place.offset for place in places], places, size)
        if None in decoded:
            possible["hexadecimal"] = False
            continue
        offsets = [each for each in decoded if each is not None]
        votes["hexadecimal"] += _expected(places, offsets)
        possible["hexadecimal"] &= _fits(offsets, places, size)
    return _decided(votes, possible) if doubtful else "plain"


def _decided(votes: Mapping[str, int], possible: Mapping[str, bool]) -> Reading:
    readings: tuple[Reading, Reading] = ("plain", "hexadecimal")
    left = [each for each in readings if possible[each]]
    if len(left) == 1:
        return left[0]
    voted = [each for each in left if votes[each]]
    return voted[0] if len(voted) == 1 else "unreliable"


def _expected(places: list[Place], offsets: list[int]) -> int:
    """How many members lie where the one before ends, rounded up to their alignment."""
    found = 0
    for index in range(1, len(places)):
        before, place = places[index - 1], places[index]
        if place.offset >= FIRST_DIFFERENT and before.size and place.alignment:
            end = offsets[index - 1] + before.size
            found += offsets[index] == -(-end // place.alignment) * place.alignment
    return found


def _fits(offsets: Iterable[int], places: Iterable[Place], size: int) -> bool:
    """Whether no member overlaps the next, or stands out of the record."""
    end = 0
    for offset, place in zip(offsets, places, strict=True):
        if offset < end:
            return False
        end = offset + place.size
    return end <= size


def _places(record: Hash, types: Mapping[str, Hash]) -> Iterator[Place]:
    for member in in_order(record.get("Memb")):
        offset = number_of(member.get("offset"))
        if offset is None or offset < 0 or "bitfield" in member:
            continue
        yield Place(offset, *_extent(text_of(member.get("type")), types))


def _extent(identifier: str, types: Mapping[str, Hash]) -> tuple[int, int]:
    """The size and the natural alignment of a type; 0 for what is not known."""
    size = None
    for _ in range(MOST_STEPS):
        type = hash_of(types.get(identifier))
        kind = text_of(type.get("Type"))
        if kind == "Array":
            if text_of(type.get("Name")).endswith("[]"):
                return 0, 0
            size = size or number_of(type.get("Size"))
            identifier = text_of(type.get("BaseType"))
        elif kind in TRANSPARENT:
            identifier = text_of(type.get("BaseType"))
        else:
            own = max(number_of(type.get("Size")) or 0, 0)
            scalar = kind in SCALARS and own in (1, 2, 4, 8, 16)
            return max(size or own, 0), own if scalar else 0
    return 0, 0
