"""Constants that the language knows as integers, and which of them mark an end."""

from __future__ import annotations

from abistore.compare.classify.enumerators import EnumeratorValues
from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.compare.types.written_values import number
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared
from abistore.model.names import Name, unnamed_enum
from abistore.model.shapes import Enum, Enumerator


def is_end(name: Name, old: Declared, new: Declared, context: Context) -> bool:
    """Whether a constant marks the end or the count of its enumeration, on both sides."""
    return _ends(name, old, context.old) and _ends(name, new, context.new)


def _ends(name: Name, declared: Declared, side: SideFacts) -> bool:
    value = number(declared)
    if value is None:
        return False
    own = Enumerator(last_component(name.spelling), value)
    first = declared.within or name.spelling
    enum = side.unnamed_enums.get(Name("enum", first), (own,))
    return EnumeratorValues(Enum(0, enum), unnamed_enum(first).spelling).is_sentinel(own)
