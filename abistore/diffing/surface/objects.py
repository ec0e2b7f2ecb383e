"""How programs obtain objects, derive from classes of the library, and pass objects to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.diffing.surface.consumers import Chance
from abistore.diffing.surface.export_table import is_weak
from abistore.diffing.types.sameness import TypeSide
from abistore.model.declarations import COPIED, Declared, Name
from abistore.model.names.qualified import class_behind, demangle, last_component
from abistore.model.names.symbols import TYPEINFO, is_in_std, is_member_of_std, primary
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Array,
    Foreign,
    Function,
    Inline,
    MemberPointer,
    Named,
    Opaque,
    Pointer,
    Procedure,
    Record,
    Special,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Variants
from abistore.model.structure import HANDLES, references

Way: TypeAlias = Literal["in", "out"]
"""Who gets something: the library, or programs."""

BACK: Final[dict[Way, Way]] = {"in": "out", "out": "in"}


ANY_DIRECTION: Final = Special("void *")
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
        yield Passed(ANY_DIRECTION, way)


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


class Offered(msgspec.Struct, frozen=True):
    """What a release offers programs: declarations, what they ``can_name``, and what they ``can_derive`` from.

    ``told``: headers show it, and so all of it. Debug information may leave something out.
    """

    shapes: Mapping[Name, Variants]
    can_name: Callable[[Name], bool]
    can_derive: Callable[[Name], bool]
    told: bool


class HandedIn:
    """Follows objects through the signatures of what programs can call, to where the library gets them.

    A parameter is a way in where programs call the library, and a way out where the library calls a program: a virtual
    function of a class that programs implement, or a callback. Results go the other way. A member function that the
    library exports gets the object that it is called on, and a constructor may keep it.
    """

    def __init__(self, offered: Offered, side: TypeSide) -> None:
        self._offered = offered
        self._shapes = offered.shapes
        self._side = side
        self._symbols: Mapping[Name, Variants] = side.snapshot.entries.get("symbol", {})

    def chance(self, type: Name) -> Chance:
        """Whether an object of a class that a program derives from ``type`` can get to the library.

        ``by cast``: the library gets objects of which it knows a base only, and may look whether they are of the class.
        ``yes`` is the answer too where it cannot be told, where the library's own classes derive from this one, and
        where it hands out no object of the class: one of a plug-in gets to it in ways that no declaration tells.
        """
        if Flow(type, "out", True) not in self._handed_out or self._derived.get(type):
            return "yes"
        bases = set(self._above(type))
        known = all(any(isinstance(each, Record) for each in self._described(base)) for base in bases)
        if not known or self._is_given_anything or self._is_spelled(type) or Flow(type, "in", True) in self._handed_in:
            return "yes"
        return "by cast" if any(Flow(base, "in", True) in self._handed_in for base in bases) else "no"

    # what goes where

    @cached_property
    def _handed_out(self) -> frozenset[Flow]:
        """What goes where before anybody casts: the library has objects of its own of the classes that come out."""
        return self._follow(lambda _: ())

    @cached_property
    def _handed_in(self) -> frozenset[Flow]:
        """What goes where, with casts of what is got to the classes that derive from it."""
        return self._follow(self._casts)

    def _casts(self, flow: Flow) -> Iterable[Name]:
        """What an object is looked at as. In what the library gets it looks for classes of which it has no objects."""
        derived = self._derived.get(flow.name, ())
        return (each for each in derived if flow.way == "out" or Flow(each, "out", True) not in self._handed_out)

    def _follow(self, casts: Callable[[Flow], Iterable[Name]]) -> frozenset[Flow]:
        found = flows(self._begin(), self._side)
        pending = list(found)
        while pending:
            flow = pending.pop()
            if flow.way == "out" and flow.name in self._programs_own:
                continue
            along = (each for shape in self._described(flow.name) for each in carried(flow, shape, self._side))
            come = flows(along, self._side)
            if flow.whole:
                come.update(Flow(each, flow.way, True) for each in casts(flow))
            pending += come - found
            found |= come
        return frozenset(found)

    def _described(self, name: Name) -> Variants:
        return self._shapes.get(name, ())

    def _begin(self) -> Iterator[Passed]:
        """What goes in and out by what programs can name: functions, variables, and callbacks that nothing mentions."""
        for name, shapes in self._functions():
            for shape in shapes:
                match shape:
                    case Function():
                        yield from self._of_function(name, shape, _is_copied(shapes))
                    case Variable():
                        yield Passed(Pointer(shape.type), "out")
                    case Alias() if name not in self._mentioned:
                        if (procedure := self._procedure(shape)) is not None:
                            yield from self._both_ways(procedure)

    def _functions(self) -> Iterator[tuple[Name, Variants]]:
        yield from self._shapes.items()
        layout = self._side.snapshot.entries.get("layout", {})
        for name in layout if self._offered.told else ():  # what inline bodies use, and no header declares
            if name not in self._shapes and name.kind in ("function", "variable") and self._offered.can_name(name):
                yield name, layout[name]

    def _of_function(self, name: Name, function: Function, copied: bool) -> Iterator[Passed]:
        method, exported = function.method, self._is_exported(name)
        procedure = Procedure(function.result, function.parameters)
        if method is None:
            if exported or copied:
                yield from call(procedure, "out", self._side)
            else:
                yield from self._both_ways(procedure)  # a program may be to define it
            return
        if "::~" in function.display or method.deleted or (method.defaulted and not exported):
            return
        if not exported and (method.virtual != "no" or method.access == "private"):
            return
        yield from call(procedure, "out", self._side)
        if not method.static and not copied:
            yield Passed(Pointer(Named(method.owner)), "in")
            yield Passed(Pointer(Named(method.owner)), "out")

    def _both_ways(self, procedure: Procedure) -> Iterator[Passed]:
        yield from call(procedure, "out", self._side)
        yield from call(procedure, "in", self._side)

    def _is_exported(self, name: Name) -> bool:
        return name in self._symbols or Name(name.kind, primary(name.spelling)) in self._symbols

    def _procedure(self, alias: Alias) -> Procedure | None:
        bare, _ = self._side.bare(alias.target)
        if isinstance(bare, Pointer):
            bare, _ = self._side.bare(bare.target)
        return bare if isinstance(bare, Procedure) else None

    @cached_property
    def _mentioned(self) -> frozenset[Name]:
        every = ((name, shape) for name, shapes in self._shapes.items() for shape in shapes)
        return frozenset(each for name, shape in every for each, _ in references(shape, name))

    # what cannot be told

    @property
    def _is_given_anything(self) -> bool:
        """Whether a program's function gives the library objects of any type, or debug information leaves some out."""
        if Flow(Name("alias", ANY_DIRECTION.spelling), "in", True) in self._handed_in:
            return True
        return not self._offered.told and (bool(self._undescribed) or self._leaves_out)

    @property
    def _leaves_out(self) -> bool:
        """Whether something goes in or out of which there are functions that are not described, or may be."""
        shapes = (shape for flow in self._handed_in for shape in self._described(flow.name))
        return any(isinstance(shape, Opaque) for shape in shapes)

    @cached_property
    def _undescribed(self) -> tuple[Name, ...]:
        """The exported functions that programs can name and whose parameters no evidence tells but their symbols."""
        layout = self._side.snapshot.entries.get("layout", {})
        return tuple(
            name
            for name in self._symbols
            if name.kind == "function" and name not in layout and name not in self._shapes
            if not is_in_std(name.spelling) and not is_member_of_std(name.spelling)
            if Name(name.kind, primary(name.spelling)) not in self._shapes and self._offered.can_name(name)
        )

    def _is_spelled(self, type: Name) -> bool:
        """Whether a template or an export that is not described may take objects of ``type``, by the words in it."""
        word = re.compile(rf"\b{re.escape(type.spelling.rpartition('::')[2])}\b")
        return any(map(word.search, self._spelled))

    @cached_property
    def _spelled(self) -> tuple[str, ...]:
        spelled = (flow.name.spelling for flow in self._handed_in if flow.name.kind == "alias")
        return *spelled, *(demangle(name.spelling) for name in self._undescribed)

    # classes

    def _above(self, type: Name) -> Iterator[Name]:
        """The bases of a class, direct and not; a base that is not named is none."""
        pending, seen = [type], {type}
        while pending:
            for base in self._bases(self._described(pending.pop())):
                if base not in seen:
                    seen.add(base)
                    pending.append(base)
                    yield base

    def _bases(self, shapes: Variants) -> Iterator[Name]:
        for shape in shapes:
            for base in shape.bases if isinstance(shape, Record) else ():
                bare, _ = self._side.bare(base.type)
                yield bare.name if isinstance(bare, Named) else Name("record", "")

    @cached_property
    def _derived(self) -> Mapping[Name, frozenset[Name]]:
        found: dict[Name, set[Name]] = {}
        for name, shapes in self._shapes.items():
            if name.kind == "record" and any(isinstance(each, Record) for each in shapes):
                for base in self._above(name) if self._offered.can_derive(name) else ():
                    found.setdefault(base, set()).add(name)
        return {base: frozenset(names) for base, names in found.items()}

    @cached_property
    def _programs_own(self) -> frozenset[Name]:
        """The interfaces that programs alone implement: what the library hands out of these is a program's.

        The library has no type information of them, although it exports that of classes which no header declares, and
        so hides none. A class of its own that derived from one would refer to that (Itanium C++ ABI, section 2.9.4).
        """
        if not self._offered.told or not self._hides_none:
            return frozenset()
        return frozenset(
            name
            for name, shapes in self._shapes.items()
            if name.kind == "record" and name.spelling not in self._classes_told and self._is_left(name, shapes)
        )

    def _is_left(self, name: Name, shapes: Variants) -> bool:
        abstract = any(method.pure for each in shapes if isinstance(each, Record) for method in each.virtuals)
        return abstract and "<" not in name.spelling and not self._derived.get(name)

    @cached_property
    def _classes_told(self) -> Mapping[str, bool]:
        """The classes of which the library exports type information, and whether it is weak: no key function has it."""
        tables = {name: shapes for name, shapes in self._symbols.items() if name.spelling.startswith(TYPEINFO)}
        return {class_behind(name.spelling): is_weak(shapes) for name, shapes in tables.items()}

    @cached_property
    def _hides_none(self) -> bool:
        undeclared = (each for each, weak in self._classes_told.items() if weak and "<" not in each)
        return any(Name("record", each) not in self._shapes and not each.startswith("std::") for each in undeclared)


def _is_copied(shapes: Variants) -> bool:
    texts = (shape for shape in shapes if isinstance(shape, Declared))
    return any(text.body is not None or not COPIED.isdisjoint(text.traits) for text in texts)
