"""Default constructors that nobody writes any more, and that compilers make all the same."""

from __future__ import annotations

from typing import Final

from abistore.compare.context import Context
from abistore.compare.side import SideFacts
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.shapes import Field, Foreign, Function, Named, Record

EMPTY: Final = frozenset(
    {
        *("basic_string", "vector", "deque", "list", "forward_list", "map", "multimap", "set", "multiset"),
        *("unordered_map", "unordered_multimap", "unordered_set", "unordered_multiset"),
        *("shared_ptr", "unique_ptr", "weak_ptr", "function", "optional", "basic_string_view"),
    }
)
"""Class templates of the standard library that are made empty where nobody says otherwise."""


def is_made_by_compilers(name: Name, context: Context) -> bool:
    """Whether ``name`` is a default constructor that public headers defined, and compilers define now.

    The class has none that somebody wrote, nor a base class, and each member has a value by itself: ``int count = 0;``
    or a ``std::string``. Then ``Point p;``, ``const Point p;`` and ``Point{}`` compile as they did, and give all
    members a value.
    """
    owner = _constructed(name, context.old)
    if owner is None or _has_constructor(owner, context.new):
        return False
    record = next((each for each in context.new.variants("source", owner) if isinstance(each, Record)), None)
    record = record or next((each for each in [context.new.shape(owner)] if isinstance(each, Record)), None)
    text = next((each for each in context.new.variants("source", owner) if isinstance(each, Declared)), None)
    if record is None or text is None or record.bases or record.virtuals or record.sort == "union":
        return False
    begun = {member for member, _ in text.expressions}
    return bool(record.fields) and all(each.name in begun or _is_empty(each, context.new) for each in record.fields)


def _constructed(name: Name, side: SideFacts) -> Name | None:
    """The class of which ``name`` is a public default constructor with a body in the header."""
    shapes = side.variants("source", name)
    written = any(isinstance(each, Declared) and "inline" in each.traits for each in shapes)
    function = next((each for each in shapes if isinstance(each, Function)), None)
    if not written or function is None or function.method is None or function.parameters:
        return None
    owner = function.method.owner
    makes = last_component(function.display) == last_component(owner.spelling)
    return owner if makes and function.method.access == "public" else None


def _has_constructor(owner: Name, side: SideFacts) -> bool:
    """Whether the headers of a side declare a constructor of a class; files have what compilers write, too."""
    return any(side.variants("source", each) for each in side.tables.constructors(owner))


def _is_empty(field: Field, side: SideFacts) -> bool:
    """Whether a member is of a class of the standard library that begins empty."""
    bare, _ = side.types.bare(field.type)
    if not isinstance(bare, Named) or not isinstance(side.shape(bare.name), Foreign):
        return False
    return last_component(bare.name.spelling.partition("<")[0]) in EMPTY
