"""The lines in which two declarations differ: removed, added, or moved, with a line of context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, TypeAlias

from abistore.report.model import ComparedDeclaration

Sign: TypeAlias = Literal["-", "+", "!", " ", "…"]
Line: TypeAlias = tuple[Sign, str]
COMMENT = " // "
"""Begins the place (offset, slot, size) of what stands before it."""

CONTEXT = 1
MOST = 4_000_000
"""Matching takes lines times lines; above this, the whole text counts as replaced."""


def difference(declared: ComparedDeclaration) -> list[Line]:
    """The lines that differ, those around them, and ``…`` for what was left out between.

    A line that differs in its place only is one with ``!``, which tells both places.
    """
    return list(_shortened(_lines((declared.before or "").splitlines(), (declared.after or "").splitlines())))


def _lines(old: list[str], new: list[str]) -> list[Line]:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    lines: list[Line] = [(" ", line) for line in old[:start]]
    lines += _matched(before, after) if len(before) * len(after) <= MOST else _replaced(before, after)
    lines += [(" ", line) for line in old[len(old) - end :]]
    return lines


def _common(old: list[str], new: list[str]) -> int:
    count = 0
    for first, second in zip(old, new, strict=False):
        if first != second:
            break
        count += 1
    return count


def _matched(old: list[str], new: list[str]) -> Iterator[Line]:
    from difflib import SequenceMatcher  # few reports draw declarations

    for tag, first, last, low, high in SequenceMatcher(None, _keys(old), _keys(new), autojunk=False).get_opcodes():
        if tag == "equal":
            yield from map(_placed, old[first:last], new[low:high])
        else:
            yield from _replaced(old[first:last], new[low:high])


def _keys(lines: list[str]) -> list[tuple[str, int]]:
    """Keys to match lines by: the text without its offset. Padding and ``public:`` go with the line after them.

    Equal ones are numbered, because matching many equal lines takes cubic time.
    """
    texts = [line.partition(COMMENT)[0].rstrip() for line in lines]
    for number in reversed(range(len(texts) - 1)):
        if texts[number].endswith(("*/", ":")):
            texts[number] += texts[number + 1]
    seen: Counter[str] = Counter()
    keys = []
    for text in texts:
        seen[text] += 1
        keys.append((text, seen[text]))
    return keys


def _placed(old: str, new: str) -> Line:
    if old == new:
        return " ", old
    code, _, place = new.partition(COMMENT)
    if not place:
        return " ", new
    return "!", f"{code}{COMMENT}{old.partition(COMMENT)[2] or 'no place'} -> {place or 'no place'}"


def _replaced(old: list[str], new: list[str]) -> Iterator[Line]:
    yield from (("-", line) for line in old)
    yield from (("+", line) for line in new)


def _shortened(lines: list[Line]) -> Iterator[Line]:
    """Unchanged lines that are far from any change are left out; the first names the declaration and stays."""
    changed = [number for number, (sign, _) in enumerate(lines) if sign != " "]
    kept = {0} | {
        near for number in changed for near in range(number - CONTEXT, number + CONTEXT + 1) if 0 <= near < len(lines)
    }
    numbers = sorted(number for number in kept if number < len(lines))
    for before, number in pairwise([-1, *numbers]):
        if number > before + 1:
            yield "…", ""
        yield lines[number]
    if numbers and numbers[-1] < len(lines) - 1:
        yield "…", ""
