"""What one declaration does with the types that it mentions, and changes of private data alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from abistore.diffing.types.sameness import Extent, Extents, TypeSide
from abistore.model.declarations import Declared, Name
from abistore.model.hints import any_matches, forbids_use, matches
from abistore.model.names.qualified import last_component
from abistore.model.reach import Mentions
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Array,
    Field,
    Foreign,
    Function,
    Inline,
    Named,
    Pointer,
    Primitive,
    Procedure,
    Qualified,
    Record,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Variants
from abistore.model.structure import HANDLES, Reference, embedded, inner, references
from abistore.patterns import pattern

WORD = pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def is_reserved(field: Field) -> bool:
    """Whether ``field`` is room for later use, which no consumer has a reason to touch."""
    if not field.name:
        return field.bit_size is not None
    if is_forbidden(field):
        return True
    words = [word.lower() for word in WORD.findall(field.name)]
    if not words or not _is_storage(field.type):
        return False
    if len(words) == 1:
        plain = matches("perhaps_reserved", field.name.lower()) and not _is_memory(field.type)
        return matches("wholly_reserved", words[0]) and not plain
    if matches("wholly_reserved", words[0]) and all(matches("of_reserved", each) for each in words[1:]):
        return True
    telling = any_matches("reserved", words if field.name.startswith("_") else words[-1:])
    return telling and (field.name.startswith("_") or isinstance(field.type, Array | Pointer))


def _is_memory(type: TypeRef) -> bool:
    return isinstance(type, Array) or type == Pointer(VOID)


def is_forbidden(field: Field) -> bool:
    """Whether the field's name asks consumers to leave it alone."""
    return forbids_use(field.name)


def is_opaque_storage(record: Record) -> bool:
    """Whether ``record`` is a union that only gives room to what consumers are to leave alone."""
    if record.sort != "union" or not any(is_forbidden(field) for field in record.fields):
        return False
    return all(is_forbidden(field) or _is_storage(field.type) for field in record.fields)


def _is_storage(type: TypeRef) -> bool:
    """Whether ``type`` is plain memory: numbers, ``void *``, function pointers, arrays of these, or an alias."""
    match type:
        case Array(element=element):
            return _is_storage(element)
        case Qualified(target=target):
            return _is_storage(target)
        case Pointer(target=target):
            return isinstance(target, Primitive | Procedure)
        case Named(name=name):
            return name.kind == "alias"
        case _:
            return isinstance(type, Primitive)


COUNTS = frozenset(f"{sign}{size}" for sign in ("", "unsigned ") for size in ("short", "int", "long", "long long"))
"""Types that numbers of items are told in."""

UNSIGNED = frozenset(each for each in COUNTS if each.startswith("unsigned"))
"""Those that no code of an error has."""

STANDARD = ("std::", "__gnu_cxx::")
"""How functions of the standard library are called that are linked in."""

Names = frozenset[Name]
NONE: Names = frozenset()


class DirectCalls(msgspec.Struct, frozen=True):
    """What a function takes by address, its object too, what it fills in and what it returns a pointer to.

    It may tell unsigned or other numbers along with these, or take a number; and it may only take something back.
    """

    takes: Names
    fills: Names
    returns: Names
    disposes: bool
    tells: bool
    tells_unsigned: bool
    is_told: bool


class IndirectCalls(msgspec.Struct, frozen=True):
    """What function pointers and virtual methods are given the addresses of, and what they take or return by value.

    ``taken`` are those of the values that are parameters.
    """

    addresses: Names = NONE
    values: Names = NONE
    taken: Names = NONE


NEVER = IndirectCalls()


class TypeUse(msgspec.Struct, frozen=True):
    """What one declaration does with types: it tells who allocates these, and who can see into them.

    ``inside`` is what the pointers in an object lead to, each beside the type that it resolves to. ``points_at`` is
    what a variable leads to, ``written`` what an export's own declaration writes down, ``usable`` all that consumers
    are not asked to leave alone, ``open`` all that every consumer may use (no private members), ``stepped`` what code
    of templates, which consumers have compiled in, steps over by its size, ``passes`` what a function takes or returns
    by value, ``takes`` what it takes so. An ``untyped`` function takes or hands out pointers to anything. A ``dummy``
    is a record that some units know by a definition of another size that gives it a type and nothing more. A ``handle``
    is one that some callers know by a declaration. A ``standard`` function is one of the standard library's that was
    linked in. A ``template`` is code that any program may have compiled.
    """

    by_value: Names = NONE
    usable: Names = NONE
    open: Names = NONE
    stepped: Names = NONE
    embeds: Names = NONE
    inside: frozenset[tuple[Name, Name]] = frozenset()
    polymorphic: bool = False
    points_at: Names = NONE
    written: Names = NONE
    calls: tuple[DirectCalls, ...] = ()
    passes: Names = NONE
    takes: Names = NONE
    called: IndirectCalls = NEVER
    dummy: bool = False
    handle: bool = False
    untyped: bool = False
    standard: bool = False
    template: bool = False


class TypeUses:
    """Tells what the declarations of one release do with types.

    ``shapes`` are those that one kind of evidence gives them, and ``mentions`` what each of these mentions.
    """

    def __init__(self, side: TypeSide, mentions: Callable[[Name], Mentions], shapes: Mapping[Name, Variants]) -> None:
        self._side = side
        self._mentions = mentions
        self._shapes = shapes

    def of(self, name: Name) -> TypeUse:
        """What the declaration ``name`` does, in all its variants."""
        pairs = zip(self._shapes.get(name, ()), self._mentions(name), strict=True)
        found = [self._of(shape, name, mentions) for shape, mentions in pairs]
        return found[0] if len(found) == 1 else _joined(found, self._shapes.get(name, ()))

    def _of(self, shape: AnyShape, name: Name, mentions: Sequence[Reference]) -> TypeUse:
        parts = _parts(_types(shape))
        named = frozenset(part.name for part in parts if type(part) is Named)
        called = self._called([part for part in parts if type(part) is Procedure])
        by_value = frozenset(each for each, by_value in mentions if by_value)
        mentioned = frozenset(each for each, _ in mentions)
        match shape:
            case Function():
                calls = (self._call(shape),) if name.kind == "function" else ()
                passes = self._values((shape.result, *shape.parameters)) if calls else NONE
                standard = shape.display.startswith(STANDARD)
                opened = NONE if standard else mentioned
                uses = TypeUse(by_value, mentioned, opened, written=named, calls=calls, passes=passes, called=called)
                takes = self._values(shape.parameters) if calls else NONE
                return replace(uses, takes=takes, untyped=self._is_untyped(shape), standard=standard)
            case Variable():
                embeds = frozenset(embedded(shape))
                return TypeUse(
                    by_value, mentioned, mentioned, embeds=embeds, points_at=named, written=named, called=called
                )
            case Record():
                usable, embeds = _usable(shape, mentioned), frozenset(embedded(shape))
                polymorphic = bool(shape.virtuals or shape.has_vptr)
                opened, stepped = _open(shape, mentioned), frozenset(self._stepped(shape))
                inside = self._resolved(named)
                uses = TypeUse(by_value, usable, opened, stepped, embeds, inside, polymorphic, called=called)
                return replace(uses, handle=True) if shape.handle else uses
            case Declared():
                return TypeUse(by_value, mentioned, mentioned, template="template" in shape.traits)
            case _:
                stepped = by_value if isinstance(shape, Foreign) else NONE
                embeds, inside = frozenset(embedded(shape)), self._resolved(mentioned)
                return TypeUse(by_value, mentioned, mentioned, stepped, embeds, inside, called=called)

    def _stepped(self, record: Record) -> Iterator[Name]:
        """The arguments of a template of which an instance holds many: two pointers to them, or one and a number."""
        arguments = {each.name for each in record.arguments if isinstance(each, Named)}
        if not arguments:
            return
        fields = [self._side.bare(field.type)[0] for field in record.fields]
        numbers = sum(isinstance(each, Primitive) and each.spelling in COUNTS for each in fields)
        targets = [self._side.bare(each.target)[0] for each in fields if isinstance(each, Pointer)]
        pointers = Counter(each.name for each in targets if isinstance(each, Named))
        yield from (each for each in arguments if pointers[each] and pointers[each] + numbers > 1)

    def _is_untyped(self, function: Function) -> bool:
        levels = (self._side.levels(each) for each in (function.result, *function.parameters))
        return function.variadic or any(count and behind == VOID for count, behind in levels)

    def _called(self, procedures: Sequence[Procedure]) -> IndirectCalls:
        if not procedures:
            return NEVER
        values = self._values(each for call in procedures for each in (call.result, *call.parameters))
        pointees = (self._side.pointee(each, 1) for call in procedures for each in call.parameters)
        taken = self._values(each for call in procedures for each in call.parameters)
        return IndirectCalls(frozenset(each for each in pointees if each is not None), values, taken)

    def _resolved(self, names: Names) -> frozenset[tuple[Name, Name]]:
        return frozenset((each, self._side.record_behind(each) or each) for each in names)

    def _values(self, types: Iterable[TypeRef]) -> Names:
        return frozenset(bare.name for each in types if isinstance(bare := self._side.bare(each)[0], Named))

    def _call(self, function: Function) -> DirectCalls:
        counts = [self._side.bare(each)[0] for each in function.parameters]
        told = {bare.spelling for each in counts if (bare := self._number_behind(each)) is not None}
        return DirectCalls(
            takes=frozenset(self._taken(function)),
            fills=frozenset(name for each in function.parameters if (name := self._filled_in(each)) is not None),
            returns=frozenset(self._results(function)),
            disposes=len(function.parameters) == 1 and matches("disposes", function.display),
            tells=bool(told & COUNTS),
            tells_unsigned=bool(told & UNSIGNED),
            is_told=bool(told) or any(isinstance(each, Primitive) and each.spelling in COUNTS for each in counts),
        )

    def _taken(self, function: Function) -> Iterator[Name]:
        for each in function.parameters:
            name = self._side.pointee(each, 1)
            if name is None and self._filled_in(each) is None:
                name = self._side.pointee(each, 2)
            if name is not None:
                yield name
        if function.method is not None and not function.method.static:
            yield function.method.owner

    def _filled_in(self, parameter: TypeRef) -> Name | None:
        """What ``T **`` is to be filled in with; ``T *const *`` and arrays of pointers that stay are none of these."""
        outer, _ = self._side.bare(parameter)
        if not isinstance(outer, Pointer) or "const" in self._side.bare(outer.target)[1]:
            return None
        return self._side.pointee(outer, 2)

    def _results(self, function: Function) -> Iterator[Name]:
        """What a function returns a pointer to; through ``T **`` those of a list.

        Constant defaults do not count: programs copy what they point to, or fill in one of their own.
        """
        result, _ = self._side.bare(function.result)
        if self._is_constant(result) and matches("default", last_component(function.display)):
            return
        yield from (name for levels in (1, 2) if (name := self._side.pointee(result, levels)) is not None)
        if isinstance(result, Named) and last_component(result.name.spelling) in HANDLES:
            for shape in self._shapes.get(result.name, ()):
                if isinstance(shape, Foreign):
                    yield from (each.name for each in shape.arguments[:1] if isinstance(each, Named))

    def _is_constant(self, result: TypeRef) -> bool:
        return isinstance(result, Pointer) and "const" in self._side.bare(result.target)[1]

    def _number_behind(self, type: TypeRef) -> Primitive | None:
        if not isinstance(type, Pointer) or "const" in self._side.bare(type.target)[1]:
            return None
        target, _ = self._side.bare(type.target)
        return target if isinstance(target, Primitive) else None


def _joined(uses: Sequence[TypeUse], variants: Variants) -> TypeUse:
    names: dict[str, Any] = {field: _union(uses, field) for field in JOINED}
    called = IndirectCalls(*(_union([use.called for use in uses], each) for each in ("addresses", "values", "taken")))
    calls = tuple(call for use in uses for call in use.calls)
    polymorphic, untyped = any(use.polymorphic for use in uses), any(use.untyped for use in uses)
    found = TypeUse(polymorphic=polymorphic, calls=calls, called=called, untyped=untyped, **names)
    standard = bool(uses) and all(use.standard for use in uses)
    handle, template = any(use.handle for use in uses), any(use.template for use in uses)
    return replace(found, dummy=_has_dummy(variants), handle=handle, standard=standard, template=template)


def _has_dummy(variants: Variants) -> bool:
    """Whether one of several definitions is a dummy of another size: ``struct state { int dummy; };``."""
    records = [shape for shape in variants if isinstance(shape, Record)]
    if len({record.size for record in records}) < 2:
        return False
    return any(len(each.fields) <= 1 and not each.bases and all(map(_is_dummy, each.fields)) for each in records)


def _is_dummy(field: Field) -> bool:
    return is_reserved(field) or matches("dummy_field", field.name)


JOINED = ("by_value", "usable", "open", "stepped", "embeds", "inside", "points_at", "written", "passes", "takes")


def _union(parts: Sequence[TypeUse] | Sequence[IndirectCalls], field: str) -> Names:
    return NONE.union(*(getattr(part, field) for part in parts))


def _usable(record: Record, mentioned: Names) -> Names:
    """What ``record`` mentions other than in fields that consumers are asked to leave alone."""
    fields = tuple(field for field in record.fields if not is_forbidden(field))
    if len(fields) == len(record.fields):
        return mentioned
    return frozenset(each for each, _ in references(replace(record, fields=fields)))


def _open(record: Record, mentioned: Names) -> Names:
    """What the members of ``record`` lead to that are not private."""
    if not record.arguments and all(field.access != "private" for field in record.fields):
        return mentioned
    fields = tuple(field for field in record.fields if field.access != "private")
    return frozenset(each for each, _ in references(replace(record, fields=fields, arguments=())))


def _types(shape: AnyShape) -> list[TypeRef]:
    """The types that a declaration writes down; those of a virtual method as of a function pointer."""
    match shape:
        case Function(result=result, parameters=parameters):
            return [result, *parameters]
        case Record():
            methods = [Procedure(each.result, each.parameters) for each in shape.virtuals]
            return [*(field.type for field in shape.fields), *methods]
        case Variable():
            return [shape.type]
        case Alias():
            return [shape.target]
        case _:
            return []


def _parts(types: Iterable[TypeRef]) -> list[TypeRef]:
    """What ``types`` are made of behind pointers, qualifiers and arrays, and in what they embed without a name."""
    found: list[TypeRef] = []
    for type in types:
        while isinstance(type, Pointer | Qualified | Array):
            (type,) = inner(type)
        if isinstance(type, Inline) and isinstance(type.shape, Record):
            found += _parts(field.type for field in type.shape.fields)
        else:
            found.append(type)
    return found


BITS: Final = 8


def changed_private_data(
    old: Record, new: Record, sides: tuple[TypeSide, TypeSide], is_handled: Callable[[], bool]
) -> frozenset[str]:
    """The private members of a class that moved or are of other types, where no more than that differs.

    They take the same bytes, or some of these. Programs copy numbers and pointers and do no more, where no inline
    function of the header uses one::

        class Size { int width, height; public: int area() const; };    // then height, width

    A class that is passed in registers keeps the types at their places, or goes into the same registers. Members may
    be of any types where the library's functions alone handle objects: ``is_handled`` tells.
    """
    if old.sort == "union" or replace(old, fields=()) != replace(new, fields=()) or _shown(old) != _shown(new):
        return frozenset()
    before, after = _only(old, new), _only(new, old)
    if (
        not _move(before, after)
        or not _lie_within(before, after, sides)
        or _alignment(old, sides[0]) != _alignment(new, sides[1])
    ):
        return frozenset()
    if not _are_copied_alike(old, new, sides) and not is_handled():
        return frozenset()
    return frozenset(each.name for each in before)


def _are_copied_alike(old: Record, new: Record, sides: tuple[TypeSide, TypeSide]) -> bool:
    """Whether programs copy what differs as bytes, and pass it where the library looks for it."""
    before, after = _only(old, new), _only(new, old)
    if not _are_plain(before, sides[0]) or not _are_plain(after, sides[1]):
        return False
    return old.passing == "reference" or _places(before) == _places(after)


def _shown(record: Record) -> list[Field]:
    return [each for each in record.fields if each.access != "private"]


def _only(own: Record, other: Record) -> list[Field]:
    return [each for each in own.fields if each.access == "private" and each not in other.fields]


def _move(old: Iterable[Field], new: Sequence[Field]) -> bool:
    """Whether some fields are elsewhere or of another type, and are else what they were."""
    pairs = [(one, other) for one in old for other in new if one.name == other.name]
    return bool(pairs) and all(
        one.mutable == other.mutable and _storage(one) != _storage(other) for one, other in pairs
    )


def _storage(field: Field) -> tuple[int, int | None, TypeRef]:
    return field.offset, field.bit_size, field.type


def _places(fields: Iterable[Field]) -> dict[int, TypeRef]:
    return {each.offset: each.type for each in fields}


def _lie_within(old: Sequence[Field], new: Sequence[Field], sides: tuple[TypeSide, TypeSide]) -> bool:
    """Whether the new fields lie where the old ones lay: copies that programs make of these hold them."""
    before, after = _extents(old, sides[0]), _extents(new, sides[1])
    return before is not None and after is not None and all(map(Extents(before).cover, after))


def _alignment(record: Record, types: TypeSide) -> int | None:
    return types.layouts.alignment(Inline(record))


def _extents(fields: Sequence[Field], types: TypeSide) -> list[Extent] | None:
    """The storage of fields; ``None`` where one has no size or no name."""
    found: list[Extent] = []
    for each in fields:
        size = types.layouts.size(each.type)
        if not size or not each.name:
            return None
        found.append((each.offset, each.offset + (BITS * size if each.bit_size is None else each.bit_size)))
    return found


def _are_plain(fields: Iterable[Field], types: TypeSide) -> bool:
    return all(_is_plain(each.type, types) for each in fields)


def _is_plain(type: TypeRef, types: TypeSide) -> bool:
    bare, _ = types.bare(type)
    match bare:
        case Array(element, _, False):
            return _is_plain(element, types)
        case Named(name):
            return name.kind == "enum"
        case _:
            return isinstance(bare, Primitive | Pointer)
