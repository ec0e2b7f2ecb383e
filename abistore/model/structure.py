"""How declarations and types are made of types: pointers of what they point to, records of their members' types."""

from __future__ import annotations

import builtins
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from operator import is_
from typing import Any, Final, TypeVar, assert_never

import msgspec
from msgspec.structs import replace

from abistore.model import declared, shapes, tables
from abistore.model.declared import Declared
from abistore.model.names import Name
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Array,
    Enum,
    Foreign,
    Function,
    Inline,
    MemberPointer,
    Node,
    Opaque,
    Pointer,
    Procedure,
    Qualified,
    Record,
    TypeRef,
    Variable,
)
from abistore.model.tables import Import, Library, Symbol
from abistore.patterns import pattern

WORD: Final = pattern(r"\w+")
"""A name in an annotation."""

CLASSES: Final[Mapping[str, Any]] = {**vars(tables), **vars(declared), **vars(shapes)}
"""What shapes are made of, by name."""

Part = TypeVar("Part", bound=msgspec.Struct)


def mentioned(shape: AnyShape) -> tuple[TypeRef, ...]:
    """The types that a declaration mentions, each as it is written there."""
    match shape:
        case Function():
            return shape.result, *shape.parameters
        case Variable():
            return (shape.type,)
        case Alias():
            return (shape.target,)
        case Record():
            types = (*(each.type for each in shape.fields), *(each.type for each in shape.bases))
            return *types, *_of_virtuals(shape), *shape.arguments
        case Opaque():
            return tuple(_of_virtuals(shape))
        case Foreign():
            return shape.arguments
        case Enum():
            return () if shape.underlying is None else (shape.underlying,)
        case Symbol() | Import() | Library() | Declared():
            return ()
        case _:
            assert_never(shape)


def _of_virtuals(shape: Record | Opaque) -> Iterator[TypeRef]:
    return (type for each in shape.virtuals for type in (each.result, *each.parameters))


def inner(type: TypeRef) -> tuple[TypeRef, ...]:
    """The types that ``type`` is made of: ``int`` of ``int*``. None if it has a name, or is spelled out in place."""
    match type:
        case Pointer() | Qualified():
            return (type.target,)
        case Array():
            return (type.element,)
        case MemberPointer():
            return type.owner, type.target
        case Procedure():
            return type.result, *type.parameters
        case _:
            return ()


def frame(type: TypeRef) -> TypeRef:
    """``type`` with ``void`` in place of the types that it is made of: ``void*`` for ``int*``."""
    return type if isinstance(type, Inline) else with_types(type, lambda _: VOID)


def with_types(part: Part, change: Callable[[Any], TypeRef]) -> Part:
    """``part`` with each type that it is made of passed through ``change``; the same object if none changed."""
    changed = {}
    for field in mentioning(part.__class__):
        value = getattr(part, field)
        if value:
            found = _with_types(value, change)
            if found is not value:
                changed[field] = found
    return replace(part, **changed) if changed else part


def _with_types(value: Any, change: Callable[[Any], TypeRef]) -> Any:
    if value.__class__ is not tuple:
        return change(value) if isinstance(value, Node) else with_types(value, change)
    found = tuple([_with_types(each, change) for each in value])
    return value if all(map(is_, found, value)) else found


@cache
def mentioning(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a struct class that hold types, or structs that do."""
    return tuple(field for field, classes in held(struct).items() if any(map(_mentions, classes)))


def _mentions(held: Any) -> bool:
    return is_struct(held) and held is not Name and (issubclass(held, Node) or bool(mentioning(held)))


@cache
def held(struct: type[msgspec.Struct]) -> Mapping[str, tuple[Any, ...]]:
    """The classes that each field may hold: those of a union, those of the items of a tuple.

    Annotations are read word by word: ``typing.get_type_hints`` takes ten times as long, in every comparison.
    """
    names = {**vars(builtins), **vars(sys.modules[struct.__module__]), "Facet": str, **CLASSES}
    written = {field: words for base in reversed(struct.__mro__) for field, words in _annotations(base).items()}
    return {field: tuple(_classes(written[field], names)) for field in struct.__struct_fields__}


def _classes(annotation: str, names: Mapping[str, Any]) -> Iterator[Any]:
    if "[" in annotation and not annotation.startswith("tuple["):
        return  # a mapping: what it holds is of no declaration
    for word in WORD.findall(annotation):
        yield from _plain(names.get(word))


def _annotations(base: type) -> Mapping[str, str]:
    found: Mapping[str, str] = vars(base).get("__annotations__", {})
    return found


def is_struct(held: Any) -> bool:
    """Whether what a field may hold is a struct."""
    return isinstance(held, type) and issubclass(held, msgspec.Struct)


def _plain(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType, tuple):
        for each in typing.get_args(hint):
            yield from _plain(each)
    elif hint is not None and hint is not tuple:
        yield hint
