"""Enumerators that stand for several flags, and are written so: ``DEFAULT = FAST | SAFE``."""

from __future__ import annotations

import re
from typing import Final

from abistore.compare.classify.enumerators import EnumeratorValues
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared
from abistore.model.deltas import Changed
from abistore.model.names import Name
from abistore.model.shapes import Enumerator

TOKEN: Final = re.compile(r"[A-Za-z_$][\w$]*(?:\s*::\s*[A-Za-z_$][\w$]*)*|[^\s()]")


def keeps_union(
    each: Changed[Enumerator], values: tuple[EnumeratorValues, EnumeratorValues], sides: tuple[SideFacts, SideFacts]
) -> bool:
    """Whether both releases write an enumerator as flags that are joined, and all those of the old one stay.

    What built programs pass is then a set of flags to the new library too, each of which means what it did.
    """
    name = each.subject.name
    written = (
        _is_union(_text(name, one, side), one.value, all)
        for one, side, all in zip((each.old, each.new), sides, values, strict=True)
    )
    return all(written) and values[0].keeps_flags(each.old.value, values[1])


def _text(name: Name, each: Enumerator, side: SideFacts) -> str:
    shapes = (shape for shape in side.variants("source", name) if isinstance(shape, Declared))
    return next((text for shape in shapes for one, text in shape.expressions if one == each.name), "")


def _is_union(text: str, value: int, values: EnumeratorValues) -> bool:
    """Whether ``text`` joins enumerators by ``|`` and by nothing else, and they are made of single bits."""
    parts = " ".join(TOKEN.findall(text)).split(" | ")
    return len(parts) > 1 and value & ~values.single_bits == 0 and all(_names_one(each, values) for each in parts)


def _names_one(part: str, values: EnumeratorValues) -> bool:
    """Whether ``part`` is an enumerator, which may be cast: ``unsigned int RED``, ``static_cast < int > hue::RED``."""
    *cast, name = re.sub(r"\s*::\s*", "::", part).split() or [""]
    words = [word for word in cast if word not in "<>"]
    plain = all(word[0].isalpha() or word[0] == "_" for word in words)
    return last_component(name) in values.by_name and plain and values.by_name.keys().isdisjoint(words)
