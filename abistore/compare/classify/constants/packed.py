"""Numbers in which the parts of a version are packed, as those of the release are: ``0x56700`` is 5.103.0."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from abistore.compare.classify.constants.release import tells_release
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.compare.types.written_values import known_value
from abistore.model.declared import Declared
from abistore.model.deltas import Changed
from abistore.model.values.arithmetic import literal

SMALLEST: Final = 256
"""Smaller numbers are like that of a release by chance."""

_DOTTED: Final = re.compile(r"(?<![\w.])\d{1,4}(?:\.\d{1,4}){1,2}(?![\w.])")
_IN_FILE: Final = re.compile(r"\.so\.(\d+(?:\.\d+){1,2})$")
_PACKED: Final = re.compile(r"0[xX]([0-9a-fA-F]{3,8})[uUlL]*")


def has_value_of_release(declared: Changed[Declared], context: Context) -> bool:
    """Whether a constant is the number of the release on both sides: programs that set nothing are given that.

    ``GEO_WARNINGS_SINCE`` is one, which is the version of the library where sources do not define it themselves.
    """
    sides = ((declared.old, context.old), (declared.new, context.new))
    return all(_number(each) in context.once(release_numbers, side) for each, side in sides)


def release_numbers(side: SideFacts, _: Context) -> frozenset[int | None]:
    """The numbers that stand for the release: as its constants have it, and as its version is packed in one."""
    found: set[int | None] = set()
    texts = [side.snapshot.provenance.file]
    for name, shapes in side.snapshot.entries.get("source", {}).items():
        if name.kind == "variable" and tells_release(name):
            for each in shapes:
                if isinstance(each, Declared):
                    found.add(_number(each))
                    texts.append(known_value(each) or each.value or "")
    for text in texts:
        for version in (*_DOTTED.findall(text), *_IN_FILE.findall(text)):
            found.update(_packings([int(part) for part in version.split(".")]))
    return frozenset(each for each in found if each is not None and each >= SMALLEST)


def _packings(parts: list[int]) -> Iterator[int]:
    major, minor, patch = (*parts, 0, 0)[:3]
    for step in (1 << 8, 100, 1000):
        yield (major * step + minor) * step + patch
        yield major * step + minor
    yield major << 24 | minor << 16 | patch << 8


def _number(declared: Declared) -> int | None:
    read = literal((known_value(declared) or declared.value or "").strip("() "))
    return None if read is None else read[0]


def keeps_major(old: str, new: str) -> bool:
    """Whether two numbers of a version, packed by bytes, differ in lesser parts alone, and these rose: 0x209, 0x210."""
    before, after = (_PACKED.fullmatch(each.strip("() ")) for each in (old, new))
    if before is None or after is None or len(before[1]) != len(after[1]):
        return False
    lesser = 8 * ((len(before[1]) + 1) // 2 - 1)
    first, second = int(before[1], 16), int(after[1], 16)
    return first >> lesser == second >> lesser > 0 and second > first
