"""Constructors, assignments and destructors that nobody writes any more, and that compilers make all the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from abistore.compare.context import Context
from abistore.compare.diff.headers.constructed import takes
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
    """Whether ``name`` is a special member that public headers defined, and compilers define now."""
    return _is_made_anew(name, context) or _is_copied_anew(name, context)


def _is_copied_anew(name: Name, context: Context) -> bool:
    """Whether ``name`` was ``= default`` or a destructor, and the class copies as before without saying so.

    What the class holds is the same, so that it can still be copied; it says of no special member that there is none,
    and declares no move, which would take the copies away ([class.copy.ctor], [class.copy.assign]). A move is made
    where nothing else is declared, not even a destructor.
    """
    function = next((each for each in context.old.variants("source", name) if isinstance(each, Function)), None)
    if function is None or function.method is None or function.method.access != "public" or function.is_virtual:
        return False
    owner = function.method.owner
    written = not (function.method.defaulted or _destroys(function))
    if written or name not in _special_members(owner, context.old):
        return False
    old, new = _record(owner, context.old), _record(owner, context.new)
    if old is None or new is None or _held(old) != _held(new) or new.deleted:
        return False
    declared = _special_members(owner, context.new)
    if takes(function, owner, ("&&",)):
        return not declared
    return not any(takes(each, owner, ("&&",)) for each in declared.values())


def _special_members(owner: Name, side: SideFacts) -> Mapping[Name, Function]:
    """What the headers of a side declare to copy, move, assign and destroy objects of a class ([special])."""
    names = {**side.tables.constructors(owner), **side.tables.handling(owner)}
    functions = ((name, each) for name in names for each in side.variants("source", name))
    return {
        name: each for name, each in functions if isinstance(each, Function) and (_destroys(each) or takes(each, owner))
    }


def _destroys(function: Function) -> bool:
    return last_component(function.display).startswith("~")


def _held(record: Record) -> tuple[object, ...]:
    return tuple((each.name, each.type) for each in record.fields), tuple(each.type for each in record.bases)


def _record(owner: Name, side: SideFacts) -> Record | None:
    record = next((each for each in side.variants("source", owner) if isinstance(each, Record)), None)
    return record or next((each for each in [side.shape(owner)] if isinstance(each, Record)), None)


def _is_made_anew(name: Name, context: Context) -> bool:
    """Whether ``name`` was a default constructor, and a value stands beside each member now.

    The class has none that somebody wrote, nor a base class, and each member has a value by itself: ``int count = 0;``
    or a ``std::string``. Then ``Point p;``, ``const Point p;`` and ``Point{}`` compile as they did, and give all
    members a value.
    """
    owner = _constructed(name, context.old)
    if owner is None or _has_constructor(owner, context.new):
        return False
    record = _record(owner, context.new)
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
