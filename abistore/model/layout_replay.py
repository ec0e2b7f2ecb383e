"""Which moves of a declaration's parts follow from what was added, removed or resized before them.

The parts of the new release are placed anew as compilers place them: behind what lies before, at a multiple of their
alignment. A part that keeps its neighbours and lies where that puts it has moved because they did. One that changed
places, got another alignment, or lies where nothing explains it has moved for a reason of its own. Places, sizes and
alignments are in one unit: bits of a record, slots of a vtable, numbers of an enumeration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

Ends: TypeAlias = tuple[int, int]
"""Where a part ends, and where what it holds itself ends: a base's tail padding lies between the two."""

_BYTE: Final = 8
_MODES: Final = (0, 1)
"""The next part lies behind the one end or the other: the old release shows behind which."""


class LaidPart(NamedTuple):
    """A member, base, slot or enumerator, in the units of its :class:`Layout`.

    ``alignment`` is what its type asks for, 0 where that is not known. ``unit`` is the size of a bit-field's type.
    """

    key: str
    start: int
    ends: Ends
    alignment: int = 1
    unit: int = 0

    @property
    def form(self) -> tuple[int, ...]:
        """All but the place: parts of one form take the same room."""
        return self.ends[0] - self.start, self.ends[1] - self.start, self.alignment, self.unit


class Layout(NamedTuple):
    """A declaration as its parts in the order of their places.

    In a ``sequence`` a part lies behind the one that is declared before it, whatever ends last.
    """

    parts: tuple[LaidPart, ...]
    size: int = 0
    alignment: int = 1
    sort: Literal["struct", "union", "sequence"] = "struct"


class Told(NamedTuple):
    """What the findings say that a move may follow from, by the keys of parts.

    ``changed`` were added or removed, or are of another type; ``moved`` lie elsewhere, and that is a finding of its
    own. The order of those that are ``reordered`` is told. ``realigned``: the alignment of the whole is a finding.
    """

    changed: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()
    reordered: frozenset[str] = frozenset()
    realigned: bool = False


class _Turn(NamedTuple):
    """A part, or the end of a layout, with the part that it lies behind, and where that ends."""

    part: LaidPart | None
    previous: LaidPart | None
    ends: Ends


class Replay:
    """A declaration in both releases, and which of its moves follow from what is told."""

    def __init__(self, old: Layout, new: Layout, told: Told) -> None:
        new = _under_old_keys(old, new)
        self.old, self.new, self.told = old, new, told
        turns = _turns(old), _turns(new)
        self._was, self._is = ({turn.part.key: turn for turn in side if turn.part} for side in turns)
        self._ends = turns[0][-1], turns[1][-1]
        self._place = {each.key: place for place, each in enumerate(old.parts)}

    def follows(self, key: str) -> bool:
        """Whether the part lies elsewhere, and for no reason of its own."""
        return key in self._following

    @cached_property
    def _following(self) -> Collection[str]:
        ranks = {key: rank for rank, key in enumerate(each.key for each in self.old.parts if each.key in self._is)}
        found: set[str] = set()
        furthest, passed = -1, 0
        for key, turn in self._is.items():
            if key not in ranks:
                continue
            in_order = ranks[key] == passed == furthest + 1  # the same parts lie before it on both sides
            furthest, passed = max(furthest, ranks[key]), passed + 1
            if (in_order or key in self.told.reordered) and self.is_moved(key) and self._is_pushed(turn, found):
                found.add(key)
        return found

    def has(self, key: str) -> bool:
        """Whether the old release has the part."""
        return key in self._was

    def is_moved(self, key: str) -> bool:
        """Whether both releases have the part, in different places."""
        was, now = (turns[key].part if key in turns else None for turns in (self._was, self._is))
        return was is not None and now is not None and was.start != now.start

    @cached_property
    def end_follows(self) -> bool:
        """Whether all that makes the last part end elsewhere is told."""
        last = [each.previous for each in self._ends]
        sound = all(each is None or self._is_sound(each.key, self._following) for each in last)
        return sound and self._are_told(self._gone_behind(last[1]))

    @property
    def own_ends(self) -> tuple[int, int]:
        """Where the last part of either release ends, without padding."""
        return self._ends[0].ends[1], self._ends[1].ends[1]

    @cached_property
    def size_follows(self) -> bool:
        """Whether the size is what the parts add up to, with what the old size had beyond that."""
        old, new = self.old, self.new
        was, now = self._ends
        realigned = old.alignment == new.alignment or self.told.realigned or self.alignment_follows
        if not (realigned and self.end_follows):
            return False
        modes = [mode for mode in _MODES if _is_rounded(was.ends[mode], old)]
        if modes:
            return all(_is_rounded(now.ends[mode], new) for mode in modes)
        return old.size - was.ends[0] == new.size - now.ends[0]

    @cached_property
    def alignment_follows(self) -> bool:
        """Whether the alignment is the largest of the parts' on both sides, and what changes that is told."""
        sides = (self.old, self.new)
        if any(side.alignment != max((each.alignment for each in side.parts), default=_BYTE) for side in sides):
            return False
        least = min(side.alignment for side in sides)
        old, new = ({each.key: each.alignment for each in side.parts} for side in sides)
        differing = (key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        return self._are_told(key for key in differing if max(old.get(key, 0), new.get(key, 0)) > least)

    def _is_pushed(self, now: _Turn, following: Collection[str]) -> bool:
        """Whether a part lies where the sound ones before it put it."""
        assert now.part is not None
        was = self._was[now.part.key]
        assert was.part is not None
        same_rules = (was.part.alignment, was.part.unit) == (now.part.alignment, now.part.unit)
        if not (same_rules or now.part.key in self.told.changed) or not _fits_as_before(was, now):
            return False
        if now.previous is None:
            return self._are_told(self._gone_between(0, now.part.key))
        if not self._is_sound(now.previous.key, following):
            return False
        start = self._place.get(now.previous.key)  # the place of what was added is told by its own finding
        return start is None or self._are_told(self._gone_between(start + 1, now.part.key))

    def _is_sound(self, key: str, following: Collection[str]) -> bool:
        """Whether everything about a part that moves others follows, or is a finding."""
        told = self.told
        if key not in self._was:
            return key in told.changed and _is_natural(self._is[key])
        if key not in self._is:
            return key in told.changed
        was, now = self._was[key].part, self._is[key].part
        assert was is not None and now is not None
        placed = was.start == now.start or key in following or key in told.moved
        return placed and (was.form == now.form or key in told.changed)

    def _gone_between(self, start: int, key: str) -> Iterator[str]:
        between = self.old.parts[start : self._place[key]]
        return (each.key for each in between if each.key not in self._is)

    def _gone_behind(self, last: LaidPart | None) -> Iterator[str]:
        """What the old release had behind the part that is the last one now, unless that is new."""
        if last is not None and last.key not in self._was:
            return
        was = self._was[last.key].part if last else None
        end = was.ends[0] if was else -1
        yield from (each.key for each in self.old.parts if each.key not in self._is and each.ends[0] > end)

    def _are_told(self, keys: Iterator[str]) -> bool:
        return all(key in self.told.changed for key in keys)


def _turns(layout: Layout) -> list[_Turn]:
    """The parts of a layout, each with what it lies behind, and at last the end."""
    turns: list[_Turn] = []
    previous: LaidPart | None = None
    ends: Ends = (0, 0)
    for part in layout.parts:
        turns.append(_Turn(part, None, (0, 0)) if layout.sort == "union" else _Turn(part, previous, ends))
        if layout.sort == "sequence":
            previous, ends = part, part.ends
        else:
            previous = part if previous is None or part.ends[0] >= ends[0] else previous
            ends = max(ends[0], part.ends[0]), max(ends[1], part.ends[1])
    return [*turns, _Turn(None, previous, ends)]


def _under_old_keys(old: Layout, new: Layout) -> Layout:
    """``new`` with a part that takes exactly the room of one that is gone under the key of that one."""
    known, kept = ({each.key for each in side.parts} for side in (old, new))
    rooms = {(each.start, each.ends): each.key for each in reversed(old.parts) if each.key not in kept}
    parts = []
    for each in new.parts:
        key = None if each.key in known else rooms.pop((each.start, each.ends), None)
        parts.append(each if key is None else each._replace(key=key))
    return new._replace(parts=tuple(parts))


def _fits_as_before(was: _Turn, now: _Turn) -> bool:
    """Whether a part lies by the rule by which it lay; without one, at the same distance from the same part."""
    assert was.part is not None and now.part is not None
    modes = [mode for mode in _MODES if _placed(was.ends[mode], was.part) == was.part.start]
    if modes:
        return all(_placed(now.ends[mode], now.part) == now.part.start for mode in modes)
    same = (was.previous and was.previous.key) == (now.previous and now.previous.key)
    return same and was.part.start - was.ends[0] == now.part.start - now.ends[0]


def _is_natural(turn: _Turn) -> bool:
    part = turn.part
    return part is not None and any(_placed(turn.ends[mode], part) == part.start for mode in _MODES)


def _placed(end: int, part: LaidPart) -> int | None:
    """Where a part comes to lie behind ``end``; ``None`` where its alignment is not known."""
    if not part.alignment:
        return None
    bits, step = part.ends[0] - part.start, part.alignment
    if part.unit and (end % step + bits + step - 1) // step <= part.unit // step:
        return end
    return _rounded(end, step)


def _is_rounded(end: int, layout: Layout) -> bool:
    """Whether a layout that ends there has the size that this gives: C++ gives an empty class one byte."""
    return layout.size == _rounded(end, layout.alignment) or (end == 0 and layout.size == _BYTE)


def _rounded(end: int, alignment: int) -> int:
    return -(-end // alignment) * alignment
