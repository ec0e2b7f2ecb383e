"""Records drawn as memory: rows of eight bytes, with members and holes to scale, before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from abistore.model.words.counting import counted
from abistore.report.model import ComparedDeclaration, Member, RecordLayout
from abistore.report.wording import shortened

ROW = 64
"""Bits a row."""

MOST_ROWS = 80
TINY = 18
"""A box of fewer bits has room for a name only; one of fewer than :data:`BARE` bits for nothing."""

BARE = 5

STATES = (("changed", "changed or new"), ("moved", "moved"), ("gone", "gone"), ("padding", "hole or padding"))


class Cell(NamedTuple):
    """A box of a drawing: its text, its place in CSS, and its ``title``, which browsers show under the pointer.

    ``states`` are its CSS classes; ``None`` for a row's offset, which is no member.
    """

    text: str
    place: str
    states: str | None = None
    title: str = ""


class DrawnLayout(NamedTuple):
    """One layout. Members that overlap, as in a union, are ``bars`` below each other; others share rows."""

    label: str
    cells: tuple[Cell, ...]
    bars: bool


class Drawing(NamedTuple):
    """The layouts before and after; ``legend`` has the states that occur, with their meanings."""

    sides: tuple[DrawnLayout, ...]
    legend: tuple[tuple[str, str], ...]


def drawing(declared: ComparedDeclaration) -> Drawing | None:
    """The record's two layouts; ``None`` if they are equal, for example if only virtual functions differ."""
    before, after = declared.layout_before, declared.layout_after
    if before == after:
        return None
    old, new = _states(before, after, "gone"), _states(after, before, "new")
    sides = (
        _side(f"{label}, {counted(layout.size, 'byte')}", layout, states)
        for label, layout, states in (("before", before, old), ("after", after, new))
        if layout is not None
    )
    used = {"changed" if state == "new" else state for states in (old, new) for state in states.values()}
    return Drawing(tuple(sides), tuple(each for each in STATES if each[0] in used))


def _side(label: str, layout: RecordLayout, states: dict[Member, str]) -> DrawnLayout:
    drawn = [member for member in layout.members if member.length]
    bars = _overlap(drawn)
    return DrawnLayout(label, tuple(_bars(layout, states) if bars else _grid(drawn, states)), bars)


def _states(layout: RecordLayout | None, other: RecordLayout | None, alone: str) -> dict[Member, str]:
    """What became of each member: ``moved``, ``changed``, ``padding``, ``alone``, or nothing."""
    members = layout.members if layout else ()
    others = other.members if other else ()
    counterparts: dict[tuple[str, str], Member] = {(each.role, each.name): each for each in others}
    states = {}
    for member in members:
        twin = counterparts.get((member.role, member.name))
        if member.role == "padding":
            states[member] = "padding"
        elif other is None:
            states[member] = ""
        elif twin is None:
            states[member] = alone
        elif (twin.text, twin.length) != (member.text, member.length):
            states[member] = "changed"
        else:
            states[member] = "moved" if twin.offset != member.offset else ""
    return states


def _overlap(members: Iterable[Member]) -> bool:
    end = 0
    for member in members:
        if member.offset < end:
            return True
        end = member.offset + member.length
    return False


def _grid(members: Iterable[Member], states: dict[Member, str]) -> Iterator[Cell]:
    line, last = 0, -1
    for member in members:
        for row, start, stop in _stretches(member):
            if row is None:
                line, last = line + 1, -1
                yield Cell("⋮", f"grid-area:{line}/2/auto/66", f"break more cut {states[member]}")
                continue
            if row != last:
                line, last = line + 1, row
                if line > MOST_ROWS:
                    yield Cell("the rest is in the declaration", f"grid-area:{line}/2/auto/66", "break")
                    return
                yield Cell(str(row * ROW // 8), f"grid-row:{line}")
            yield _stretch(member, states[member], line, (row * ROW + start, row * ROW + stop))


def _stretches(member: Member) -> Iterator[tuple[int | None, int, int]]:
    """(Row, first bit, bit behind the last) of each row that a member takes; a long middle is one row ``None``."""
    end = member.offset + member.length
    first, last = member.offset // ROW, (end - 1) // ROW
    rows = range(first, last + 1) if last - first <= 3 else (first, None, last)
    for row in rows:
        if row is None:
            yield None, 0, ROW
        else:
            yield row, max(member.offset - row * ROW, 0), min(end - row * ROW, ROW)


def _stretch(member: Member, state: str, line: int, span: tuple[int, int]) -> Cell:
    start, stop = span
    begins, ends = start == member.offset, stop == member.offset + member.length
    tiny = "tiny" if stop - start < TINY else ""
    classes = (state, tiny, "" if begins else "more", "" if ends else "cut")
    low = start % ROW + 2
    return Cell(
        _label(member, stop - start) if begins else "",
        f"grid-area:{line}/{low}/auto/{low + stop - start}",
        " ".join(filter(None, classes)),
        place(member),
    )


def _text(member: Member) -> str:
    return shortened(member.text) or ""


def _label(member: Member, bits: int) -> str:
    """The text that fits into ``bits``."""
    if bits < BARE or (bits < TINY and member.role == "padding"):
        return ""
    return member.name if bits < TINY else _text(member)


def _bars(layout: RecordLayout, states: dict[Member, str]) -> Iterator[Cell]:
    """Members that overlap, as in a union: each on a line of its own."""
    whole = max(layout.size * 8, 1)
    for member in layout.members:
        style = f"left:{100 * member.offset / whole:.2f}%;width:{100 * member.length / whole:.2f}%"
        yield Cell(_text(member), style, states[member], place(member))


def place(member: Member) -> str:
    """A member with its offset and size, in bytes where it has whole ones."""
    offset, bit = divmod(member.offset, 8)
    bits = member.length % 8 or bit
    length = counted(member.length, "bit") if bits else counted(member.length // 8, "byte")
    return f"{_text(member)}: offset {offset}{f':{bit}' if bits else ''}, {length}"
