"""Special members that a class loses, with a part (``Holder(const Holder&)`` with ``Part(const Part&)``) or alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abistore.compare.side import SideFacts
from abistore.model.cpp_names.declarators import spell
from abistore.model.cpp_names.qualified import last_component
from abistore.model.names import Name
from abistore.model.references import embedded
from abistore.model.shapes import Record


def parts_without(member: str, name: Name, side: SideFacts) -> Iterator[Name]:
    """The classes that the class ``name`` embeds or derives from in which the same special member is deleted, sorted.

    Compilers make no ``member`` for a class of which a part has none, even where the class says ``= default``.
    """
    shape = side.shape(name)
    wanted = _of_any_class(member, name)
    for each in sorted(set(embedded(shape))) if isinstance(shape, Record) else ():
        part = side.types.record_behind(each) or each
        within = side.shape(part)
        if isinstance(within, Record) and wanted in {_of_any_class(other, part) for other in within.deleted}:
            yield part


def is_private(member: str, name: Name, side: SideFacts) -> bool:
    """Whether the class ``name`` declares ``member`` for itself and its friends: sources cannot use it anyway."""
    for each in side.tables.methods(name):
        method = each.method
        if method is not None and method.access == "private" and method.virtual == "no":
            parameters = ", ".join(map(spell, each.parameters))
            if f"{last_component(each.display)}({parameters})" == member:
                return True
    return False


def _of_any_class(member: str, name: Name) -> str:
    """``T(const T&)`` of ``Part(const geo::Part&)``."""
    spelled = member.replace(name.spelling, "T")
    return re.sub(rf"(?<![\w:]){re.escape(last_component(name.spelling))}(?!\w)", "T", spelled)
