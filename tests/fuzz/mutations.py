"""Damaging a file on purpose: bytes of a library, values of a snapshot."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from abistore.extract.elf.container import ElfFile

Place: TypeAlias = tuple[Any, Any]
"""A container of a JSON document, and the key or index of one value in it."""

NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 1 << 31, (1 << 32) - 1, 1 << 63, (1 << 64) - 1)
TEXTS = (
    "",
    " ",
    "\x1b]0;title\x07",
    "\x1b[31m",
    "\n::error::stop",
    "::add-mask::x",
    "```\n![x](y)",
    "<script>alert(1)</script>",
    "a|b",
    "\u202eevil\u2066",
    "\ud83d\ude00",
    "$(touch x)`y`",
    "_Z" + "1f" * 40,
    "_Z1fSt4pairIiiES_IS0_S0_ES_IS1_S1_E",
    "x" * 5000,
    "a<b<c<d",
    "operator()",
    "~",
    "()",
)
VALUES = (None, True, [], {}, -1, 1 << 40, 1 << 63, -(1 << 63), 1e9, [[]], [None], "unsigned int")


def damaged_library(original: bytes, places: list[range], source: random.Random) -> bytes:
    """``original`` with bits flipped, numbers overwritten or pieces copied within ``places``; sometimes cut short."""
    data = bytearray(original)
    for _ in range(source.choice((1, 1, 1, 2, 4, 16))):
        position = source.choice(source.choice(places))
        piece = _piece(original, position, source)[: len(data) - position]
        data[position : position + len(piece)] = piece
    end = source.randrange(len(data)) if source.random() < 0.02 else len(data)
    return bytes(data[:end])


def _piece(original: bytes, position: int, source: random.Random) -> bytes:
    """What to write at ``position``."""
    byte = original[position]
    match source.randrange(9):
        case 0 | 1 | 2 | 3:
            return bytes((byte ^ (1 << source.randrange(8)),))
        case 4 | 5:
            width = source.choice((1, 2, 4, 8))
            return (source.choice(NUMBERS) & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        case 6:
            return bytes(((byte + source.choice((1, 255))) & 255,))
        case 7:
            origin = source.randrange(len(original))
            return original[origin : origin + source.randrange(1, 64)]
        case _:
            return source.randbytes(source.randrange(1, 256))


def places_of(library: Path) -> list[range]:
    """The stretches of a library that readers look into: its header, and every section of the file, one each."""
    bits = 8  # SHT_NOBITS: a section without bytes in the file
    sections = [section for section in ElfFile(library).sections if section.size and section.type != bits]
    return [range(64), *(range(section.offset, section.offset + section.size) for section in sections)]


def damaged_snapshot(document: str, source: random.Random) -> bytes:
    """A JSON snapshot with values replaced, moved, doubled or dropped, or a few bytes of its text changed."""
    if source.random() < 0.15:
        data = bytearray(document.encode())
        for _ in range(source.choice((1, 3))):
            data[source.randrange(len(data))] = source.choice(b'{}[]",:0123456789\x00\xff\\ a')
        return bytes(data)
    tree = json.loads(document)
    # what vouches for the content is made anew, or nothing but that check would be tried
    tree.pop("digest", None)
    places = list(_places(tree))
    for _ in range(source.choice((1, 1, 2, 5))):
        _damage(source.choice(places), places, source)
    return json.dumps(tree, ensure_ascii=source.random() < 0.5).encode("utf-8", "surrogatepass")


def _places(tree: Any) -> Iterator[Place]:
    pending = [tree]
    while pending:
        holder = pending.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], dict | list):
                pending.append(holder[key])


def _damage(place: Place, places: list[Place], source: random.Random) -> None:
    holder, key = place
    try:
        value = holder[key]
    except (KeyError, IndexError):
        return  # gone with an earlier change
    if source.random() < 0.7:
        holder[key] = _of_its_kind(value, places, source)
    elif source.random() < 0.3:
        del holder[key]
    else:
        holder[key] = source.choice((*VALUES, *TEXTS, *NUMBERS))


def _of_its_kind(value: Any, places: list[Place], source: random.Random) -> Any:
    """Another value of the same type, so that the document still reads as a snapshot."""
    match value:
        case bool():
            return not value
        case int():
            return source.choice((*NUMBERS, -1, value + 1, value * 8))
        case str() if source.random() < 0.4:
            return source.choice((source.choice(TEXTS), value + source.choice(TEXTS)))
        case list() if value and source.random() < 0.4:
            return source.choice((value[::-1], value[1:], [*value, value[0]]))
        case _:
            others = (each for each in source.sample(places, min(200, len(places))) if _alike(each, value))
            holder, key = next(others, ([value], 0))
            return json.loads(json.dumps(holder[key]))


def _alike(place: Place, value: Any) -> bool:
    """Whether a place still holds a value that could stand for ``value``: a shape's tag is the first of its list."""
    holder, key = place
    if key not in (holder if isinstance(holder, dict) else range(len(holder))):
        return False
    other = holder[key]
    if type(other) is not type(value) or other == value:
        return False
    tagged = isinstance(value, list) and value and isinstance(value[0], str)
    return not tagged or (bool(other) and isinstance(other[0], str))
