"""Which declarations the exports reach, by value or only through a pointer, and which exports reach a declaration.

*By value* means that code compiled outside the library depends on the layout of the type: it is a variable's type, a
field or base of such a type, or it crosses a call as a parameter or result. A call through a function pointer or a
vtable is a call like any other, so what it passes is by value however many pointers lead to it from its declaration.
A constructor is given memory that its caller allocated: it reaches its class by value, other methods by pointer.

Template arguments of the library's own records say nothing about layout and count as by pointer; those of standard
library types, which are not walked into, count as by value, except for the templates that only point to their argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, TypeAlias, assert_never

from abistore.model.names import Name
from abistore.model.normal import last_component
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Declared,
    Enum,
    Foreign,
    Function,
    Import,
    Inline,
    Library,
    MemberPointer,
    Named,
    Opaque,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    Symbol,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Snapshot

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
        case Symbol() | Import() | Library() | Opaque() | Declared():
            pass
        case _:
            assert_never(shape)
    return found


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
        _add(reference, by_value, found)


def _add(reference: TypeRef, by_value: bool, found: list[Reference]) -> None:
    while type(reference) is Pointer or type(reference) is Qualified:
        by_value = by_value and type(reference) is Qualified
        reference = reference.target
    match reference:
        case Named():
            found.append((reference.name, by_value))
        case Primitive() | Special():
            pass
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


class Reach:
    """What the exported functions and variables of one snapshot reach through its layout and source facets.

    Neither ``by_value`` nor ``by_pointer`` holds the exports themselves. Building it is linear in the snapshot.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._forward: dict[Name, dict[Name, bool]] = {}
        self._backward: dict[Name, list[Reference]] | None = None
        self._affected: dict[tuple[Name, bool], tuple[Name, ...]] = {}
        for facet in ("layout", "source"):
            for name, variants in snapshot.entries.get(facet, {}).items():
                edges = self._forward.setdefault(name, {})
                for shape in variants:
                    for mentioned, by_value in references(shape, name):
                        edges[mentioned] = by_value or edges.get(mentioned, False)
        self.exports: tuple[Name, ...] = tuple(name for name in self._forward if name.kind in ("function", "variable"))

    @cached_property
    def by_value(self) -> set[Name]:
        """The names reached along mentions by value alone."""
        return self._closure(by_value_only=True)

    @cached_property
    def _reached(self) -> set[Name]:
        return self._closure(by_value_only=False)

    @cached_property
    def by_pointer(self) -> set[Name]:
        """All other names reached."""
        return self._reached - self.by_value

    def reaches(self, name: Name) -> bool:
        """Whether an export reaches ``name`` at all."""
        return name in self._reached

    def _closure(self, *, by_value_only: bool) -> set[Name]:
        reached: set[Name] = set()
        pending = list(self.exports)
        while pending:
            for name, by_value in self._forward.get(pending.pop(), {}).items():
                if (by_value or not by_value_only) and name not in reached:
                    reached.add(name)
                    pending.append(name)
        return reached

    def exports_reaching(self, name: Name, *, by_value: bool = False) -> tuple[Name, ...]:
        """The exports that reach ``name`` (themselves too), sorted; with ``by_value``, along such mentions only."""
        known = self._affected.get((name, by_value))
        if known is None:
            known = self._affected[name, by_value] = self._sources(name, by_value)
        return known

    def _sources(self, name: Name, by_value_only: bool) -> tuple[Name, ...]:
        if self._backward is None:
            self._backward = {}
            for user, edges in self._forward.items():
                for used, by_value in edges.items():
                    self._backward.setdefault(used, []).append((user, by_value))
        reached = {name}
        pending = [name]
        while pending:
            for user, by_value in self._backward.get(pending.pop(), ()):
                if (by_value or not by_value_only) and user not in reached:
                    reached.add(user)
                    pending.append(user)
        return tuple(
            sorted(user for user in reached if user.kind in ("function", "variable") and user in self._forward)
        )
