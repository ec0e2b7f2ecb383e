"""How declarations are made of types, what they mention, and how types without a name are spelled out.

What a declaration mentions, by value or only through a pointer.

*By value* means that code compiled outside the library depends on the layout of the type: it is a variable's type, a
field or base of such a type, or it crosses a call as a parameter or result. A call through a function pointer or a
vtable is a call like any other, so what it passes is by value however many pointers lead to it from its declaration.
A constructor is given memory that its caller allocated: it reaches its class by value, other methods by pointer.

Template arguments of the library's own records say nothing about layout and count as by pointer; those of standard
library types, which are not walked into, count as by value, except for the templates that only point to their argument.

The limit on types without a name, which are spelled out wherever they are mentioned.

Each of forty such types may mention the one before twice. In memory that is forty objects; compared, encoded or stored
it would be a million million parts.
"""

from __future__ import annotations

import builtins
import gc
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from operator import is_
from typing import Any, Final, TypeAlias, TypeVar, assert_never

import msgspec
from msgspec.structs import replace

from abistore.model import declarations, shapes
from abistore.model.declarations import Declared, Kind, Name
from abistore.model.names.qualified import last_component, plain_template
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Array,
    Enum,
    Foreign,
    Function,
    Import,
    Inline,
    Library,
    MemberPointer,
    Named,
    Node,
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
from abistore.model.snapshot import Evidence
from abistore.model.words import counted
from abistore.patterns import pattern


@contextmanager
def with_cycle_collection() -> Iterator[None]:
    """Collects reference cycles in this block: long work would else keep all that it has left behind."""
    enabled = gc.isenabled()
    gc.enable()
    try:
        yield
    finally:
        if not enabled:
            gc.disable()


@contextmanager
def without_cycle_collection() -> Iterator[None]:
    """Collects none in this block: of millions of objects nearly all stay, and looking at them costs a third."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


WORD: Final = pattern(r"\w+")
"""A name in an annotation."""

CLASSES: Final[Mapping[str, Any]] = {**vars(declarations), **vars(shapes)}
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


MOST_PARTS: Final = 1 << 14
"""Parts of one type, each mention and member one; the largest seen in real libraries has 97 (``yaml_event_t``)."""

MOST_DEPTH: Final = 100
"""How deep a type may nest in itself; real ones stay below 20."""

SPARE_PARTS: Final = 1 << 16
PARTS_PER_MENTION: Final = 16
"""What all declarations together may spell out, for each member and each mention of a type; real ones do with 3."""

TOO_LARGE: Final = Special("type too large")

REASON: Final = "type-too-large"
HINT: Final = "give the types that are nested in each other names"

Size: TypeAlias = tuple[int, int]
"""How many parts something has, and how deep they nest."""

LEAVES: Final = frozenset({Named, Primitive, Special})
LEAF: Final[Size] = (1, 1)

Entries: TypeAlias = Mapping[Name, Sequence[AnyShape]]


class TypeBudget:
    """Replaces types of more than ``most`` parts. Objects are known by their identity, and kept while this lives.

    ``refused`` counts the replaced types.
    """

    def __init__(self, most: int = MOST_PARTS) -> None:
        self._most = most
        self._sizes: dict[int, tuple[TypeRef, Size]] = {}
        self._replaced: dict[int, tuple[TypeRef, TypeRef]] = {}
        self.refused = 0

    # measuring

    def within(self, type: TypeRef) -> TypeRef:
        """``type``, or :data:`TOO_LARGE` in its place. The types that it mentions were asked about before."""
        parts, depth = self.size(type)
        if parts <= self._most and depth <= MOST_DEPTH:
            return type
        self.refused += 1
        return TOO_LARGE

    def parts(self, shape: AnyShape) -> int:
        """How many parts a declaration has, the types that it spells out included."""
        return self.own(shape) + sum(self.size(type)[0] for type in mentioned(shape))

    def size(self, type: TypeRef) -> Size:
        """How large a type is where it is mentioned."""
        if type.__class__ in LEAVES:
            return LEAF
        known = self._sizes.get(id(type))
        if known is not None:
            return known[1]
        parts = mentioned(type.shape) if isinstance(type, Inline) else inner(type)
        if len(parts) == 1 and parts[0].__class__ in LEAVES and not isinstance(type, Inline):
            return 2, 2  # nearly all are so, and are measured sooner than remembered
        count, depth = 1 + (self.own(type.shape) if isinstance(type, Inline) else 0), 0
        for each in parts:
            more, deeper = self.size(each)
            count, depth = count + more, max(depth, deeper)
        found = count, 1 + depth
        self._sizes[id(type)] = type, found
        return found

    def own(self, shape: AnyShape) -> int:
        """How many parts a declaration has without the types that it mentions."""
        match shape:
            case Record():
                return 1 + len(shape.fields) + len(shape.bases) + len(shape.virtuals)
            case Enum():
                return 1 + len(shape.enumerators)
        return 1

    # replacing

    def shape(self, shape: AnyShape) -> AnyShape:
        """``shape`` with :data:`TOO_LARGE` in place of its too large types."""
        return with_types(shape, self.type)

    def type(self, type: TypeRef) -> TypeRef:
        """``type`` with :data:`TOO_LARGE` in place of too large types in it, or of itself."""
        known = self._replaced.get(id(type))
        if known is None:
            known = self._replaced[id(type)] = type, self.within(with_types(type, self.type))
        return known[1]


def fitted(entries: Entries) -> tuple[Entries, int]:
    """``entries`` within their budget, and how many types were replaced in them, the largest first.

    The budget grows with the members and mentions of all declarations.
    """
    most, refused = MOST_PARTS, 0
    while True:
        if most <= 4 or _fits(list(chain.from_iterable(entries.values())), TypeBudget(most)):
            return entries, refused
        most //= 2
        budget = TypeBudget(most)
        entries = {name: tuple(map(budget.shape, shapes)) for name, shapes in entries.items()}
        refused = max(refused, budget.refused)


def _fits(shapes: Sequence[AnyShape], budget: TypeBudget) -> bool:
    """Whether declarations spell out no more than their members and mentions allow.

    A type that many mention is one object, and measured once. Where few are large, nothing else need be counted.
    """
    types = list(chain.from_iterable(map(mentioned, shapes)))
    distinct = {id(type): type for type in types}
    sizes = {key: budget.size(type)[0] for key, type in distinct.items()}
    large = {key: size - PARTS_PER_MENTION for key, size in sizes.items() if size > PARTS_PER_MENTION}
    if sum([large[key] for key in map(id, types) if key in large]) <= SPARE_PARTS:
        return True
    own = sum(map(budget.own, shapes))
    spelled = own + sum(map(sizes.__getitem__, map(id, types)))
    return spelled <= SPARE_PARTS + PARTS_PER_MENTION * (own + len(types))


def weakened(evidence: Evidence, refused: int) -> Evidence:
    """``evidence`` of a facet in which so many types were replaced: partial, with the reason."""
    if not refused:
        return evidence
    state = "missing" if evidence.state == "missing" else "partial"
    detail = "; ".join([*([evidence.detail] if evidence.detail else []), told(refused)])
    return replace(evidence, state=state, reason=evidence.reason or REASON, detail=detail, hint=evidence.hint or HINT)


def told(refused: int) -> str:
    """The sentence about replaced types."""
    return f"{counted(refused, 'type is', 'types are')} too large to be spelled out"
