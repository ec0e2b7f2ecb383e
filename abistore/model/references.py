"""What a declaration mentions, by value or only through a pointer.

*By value* means that code compiled outside the library depends on the layout of the type: it is a variable's type, a
field or base of such a type, or it crosses a call as a parameter or result. A call through a function pointer or a
vtable is a call like any other, so what it passes is by value however many pointers lead to it from its declaration.
A constructor is given memory that its caller allocated: it reaches its class by value, other methods by pointer.

Template arguments of the library's own records say nothing about layout and count as by pointer; those of standard
library types, which are not walked into, count as by value, except for the templates that only point to their argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias, assert_never

from abistore.model.cpp_names.qualified import last_component, plain_template
from abistore.model.declared import Declared
from abistore.model.names import Kind, Name
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Enum,
    Foreign,
    Function,
    Inline,
    MemberPointer,
    Named,
    Opaque,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    TypeRef,
    Variable,
)
from abistore.model.tables import Import, Library, Symbol

Reference: TypeAlias = tuple[Name, bool]
"""A name that a shape mentions, and whether by value."""

HANDLES: Final[frozenset[str]] = frozenset(
    [
        "allocator",
        "default_delete",
        "enable_shared_from_this",
        "reference_wrapper",
        "shared_ptr",
        "unique_ptr",
        "weak_ptr",
    ]
)
"""Standard templates whose users do not depend on the layout of what they are a template of."""


def references(shape: AnyShape, name: Name | None = None) -> list[Reference]:
    """Every name that ``shape`` mentions, with whether it does so by value; a name may come more than once.

    ``name`` is the declaration's own name; it matters for standard library templates only.
    """
    found: list[Reference] = []
    match shape:
        case Function():
            _add_all((shape.result, *shape.parameters), True, found)
            if shape.method is not None and not shape.method.static:
                found.append((shape.method.owner, _constructs(shape.display, shape.method.owner)))
        case Variable():
            _add(shape.type, True, found)
        case Record():
            _add_all((field.type for field in shape.fields), True, found)
            _add_all((base.type for base in shape.bases), True, found)
            for method in shape.virtuals:
                _add_all((method.result, *method.parameters), True, found)
            _add_all(shape.arguments, False, found)
        case Foreign():
            by_value = name is None or last_component(name.spelling) not in HANDLES
            _add_all(shape.arguments, by_value, found)
        case Enum():
            if shape.underlying is not None:
                _add(shape.underlying, True, found)
        case Alias():
            _add(shape.target, True, found)
        case Opaque():
            found += [(each, False) for each in spelled_types(name)] if name is not None else []
            for method in shape.virtuals:
                _add_all((method.result, *method.parameters), True, found)
        case Declared():
            for code in (shape.body, shape.uses):
                if code is not None:
                    found += ((each, True) for each in code.objects)
                    owners = sorted({*map(_owner, code.fields)} - {""})
                    found += ((Name("record", owner), False) for owner in owners)
        case Symbol() | Import() | Library():
            pass
        case _:
            assert_never(shape)
    return found


def _owner(member: str) -> str:
    return member.rpartition("::")[0]


def spelled_types(name: Name) -> Sequence[Name]:
    """The types that the name of a template's instance spells as its arguments: ``Point`` of ``Box<const Point *>``."""
    if name.kind != "record" or "<" not in name.spelling:
        return ()
    plain = plain_template(name.spelling)
    words = (each.removeprefix("const ").rstrip(" *&") for each in (plain[1] if plain else ()))
    return [Name(kind, word) for word in words if word and not word[0].isdigit() for kind in _TYPES]


_TYPES: Final[tuple[Kind, ...]] = ("alias", "enum", "record")


def embedded(shape: AnyShape) -> Iterator[Name]:
    """The names whose own size or alignment is part of ``shape``'s: types of fields, bases, elements, alias targets."""
    match shape:
        case Record():
            types = [field.type for field in shape.fields] + [base.type for base in shape.bases]
        case Alias():
            types = [shape.target]
        case Variable():
            types = [shape.type]
        case _:
            return
    for reference in types:
        yield from _embedded(reference)


def _embedded(reference: TypeRef) -> Iterator[Name]:
    match reference:
        case Named():
            yield reference.name
        case Array():
            yield from _embedded(reference.element)
        case Qualified():
            yield from _embedded(reference.target)
        case Inline():
            yield from embedded(reference.shape)
        case Primitive() | Pointer() | Procedure() | MemberPointer() | Special():
            return
        case _:
            assert_never(reference)


def _constructs(display: str, owner: Name) -> bool:
    return last_component(display) == last_component(owner.spelling)


def _add_all(types: Iterable[TypeRef], by_value: bool, found: list[Reference]) -> None:
    for reference in types:
        if type(reference) is not Primitive:
            _add(reference, by_value, found)


def _add(reference: TypeRef, by_value: bool, found: list[Reference]) -> None:
    while type(reference) is Pointer or type(reference) is Qualified:
        by_value = by_value and type(reference) is Qualified
        reference = reference.target
    match reference:
        case Named():
            found.append((reference.name, by_value))
        case Primitive() | Special():
            return
        case Pointer():
            _add(reference.target, False, found)
        case Array():
            _add(reference.element, by_value, found)
        case Qualified():
            _add(reference.target, by_value, found)
        case Procedure():
            _add_all((reference.result, *reference.parameters), True, found)
        case MemberPointer():
            _add(reference.owner, False, found)
            _add(reference.target, False, found)
        case Inline():
            found += ((name, inner and by_value) for name, inner in references(reference.shape))
        case _:
            assert_never(reference)
