"""Which way objects go where programs and a library call each other: in to the library, or out to programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from abistore.compare.types.type_side import TypeSide
from abistore.model.cpp_names.qualified import last_component
from abistore.model.names import Name
from abistore.model.references import HANDLES, references
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Array,
    Foreign,
    Inline,
    MemberPointer,
    Named,
    Opaque,
    Pointer,
    Procedure,
    Record,
    Special,
    TypeRef,
)

Way: TypeAlias = Literal["in", "out"]
"""Who gets something: the library, or programs."""

BACK: Final[dict[Way, Way]] = {"in": "out", "out": "in"}


ANYTHING: Final = Special("void *")
"""What a function gives back that is asked for some object, of whatever type: ``void *find(const char *name)``."""


class Flow(NamedTuple):
    """A type of which something goes one way.

    A ``whole`` object goes by its address, so that who gets it can call its virtual functions; otherwise what it holds
    goes. An alias stands for what the evidence only spells.
    """

    name: Name
    way: Way
    whole: bool


class Passed(NamedTuple):
    """A value of a type that goes one way; a type that is only named goes as a ``whole`` object."""

    type: TypeRef
    way: Way
    whole: bool = False


def call(function: Procedure, way: Way, side: TypeSide) -> Iterator[Passed]:
    """What goes where in calls of a function that comes this way: the library's own comes ``out``.

    Arguments go to where the function is from. So a callback that goes ``in`` is given what goes ``out``.
    """
    yield Passed(function.result, way)
    yield from (Passed(each, BACK[way]) for each in function.parameters)
    if _gives_anything(function, side):
        yield Passed(ANYTHING, way)


def flows(passed: Iterable[Passed], side: TypeSide) -> set[Flow]:
    """The named types that go one way or the other with these values.

    What is behind a pointer or reference goes along, and back too where it is not ``const``: who gets it may write.
    """
    pending = list(passed)
    seen, found = set(pending), set[Flow]()
    while pending:
        each = pending.pop()
        bare, _ = side.bare(each.type)
        match bare:
            case Named():
                found.add(Flow(bare.name, each.way, each.whole))
            case Special():
                found.add(Flow(Name("alias", bare.spelling), each.way, True))
            case _:
                come = set(_parts(bare, each.way, side)) - seen
                seen |= come
                pending += come
    return found


def _parts(type: TypeRef, way: Way, side: TypeSide) -> Iterator[Passed]:
    match type:
        case Pointer():
            yield from _behind(type.target, way, side)
        case Array():
            yield Passed(type.element, way)
        case Procedure():
            yield from call(type, way, side)
        case MemberPointer():
            yield Passed(type.target, way)
        case Inline(shape=Record() as record):
            yield from (Passed(field.type, way) for field in record.fields)


def _behind(target: TypeRef, way: Way, side: TypeSide) -> Iterator[Passed]:
    yield Passed(target, way, whole=True)
    bare, qualifiers = side.bare(target)
    if "const" not in qualifiers and not isinstance(bare, Procedure):
        yield Passed(target, BACK[way])


def carried(flow: Flow, shape: AnyShape, side: TypeSide) -> Iterator[Passed]:
    """What goes along with an object of a type that has this ``shape``."""
    match shape:
        case Record():
            yield from (Passed(field.type, flow.way) for field in shape.fields)
            yield from (Passed(base.type, flow.way, flow.whole) for base in shape.bases)
            yield from (Passed(each, flow.way, whole=True) for each in shape.arguments)
            for method in shape.virtuals if flow.whole else ():
                yield from call(Procedure(method.result, method.parameters), flow.way, side)
        case Foreign():
            yield from (Passed(each, flow.way, whole=True) for each in shape.arguments)
            if last_component(flow.name.spelling) in HANDLES:
                yield from (each for argument in shape.arguments for each in _behind(argument, flow.way, side))
        case Opaque():
            yield from (Passed(Named(each), flow.way, whole=True) for each, _ in references(shape, flow.name))
        case Alias():
            yield Passed(shape.target, flow.way, flow.whole)


def _gives_anything(function: Procedure, side: TypeSide) -> bool:
    """Whether a function answers a question with an object of any type. Without a question, ``void *`` is data."""
    pointers = [bare for each in function.parameters if isinstance(bare := side.bare(each)[0], Pointer)]
    filled = any(_is_untyped(each.target, side) and "const" not in side.bare(each.target)[1] for each in pointers)
    return len(function.parameters) > filled and (filled or _is_untyped(function.result, side))


def _is_untyped(type: TypeRef, side: TypeSide) -> bool:
    bare, _ = side.bare(type)
    return isinstance(bare, Pointer) and side.bare(bare.target)[0] == VOID
