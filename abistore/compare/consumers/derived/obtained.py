"""Classes of which programs can come by an object, as far as the public headers give them a way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from abistore.compare.types.type_side import TypeSide
from abistore.model.cpp_names.emitted import class_behind
from abistore.model.cpp_names.qualified import last_component, scope
from abistore.model.declared import Declared
from abistore.model.mangling.symbols import TYPEINFO
from abistore.model.names import Name
from abistore.model.references import references
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Array,
    Foreign,
    Function,
    Named,
    Opaque,
    Pointer,
    Primitive,
    Procedure,
    Record,
    Special,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import FRIENDS, HeadersRead, Variants
from abistore.model.words.files import is_source

ANYTHING = ("std::any", "std::exception_ptr")
"""What may hold an object of whatever class."""


class Obtained:
    """The classes of which programs may have an object.

    They make one by a constructor to which they can give what it asks for; a class that they derive needs one too. They
    are given one by results, variables and members, by what callbacks and virtual functions take, by what fills a
    container or a pointer, and by a base. What templates and friends make is not known, and what is thrown or goes as
    ``void *`` may be of any class.
    """

    def __init__(self, types: TypeSide, files: Mapping[Name, str], *, complete: bool) -> None:
        self._complete = complete
        self._types = types
        self._files = files
        self._source: Mapping[Name, Variants] = types.snapshot.entries.get("source", {})
        symbols = (each.spelling for each in types.snapshot.entries.get("symbol", {}))
        self._thrown = frozenset(class_behind(each) for each in symbols if each.startswith(TYPEINFO))

    def uncalled(self, function: Name) -> bool:
        """Whether only code with an object calls a function by its symbol, and programs can come by none.

        Virtual functions are called by slots, and some others by what compilers write.
        """
        shape = self._shape(function)
        method = shape.method if isinstance(shape, Function) else None
        if not isinstance(shape, Function) or method is None or method.static or method.virtual != "no":
            return False
        if _makes(shape) or last_component(shape.display).startswith(("~", "operator")):
            return False
        return self._is_told and isinstance(self._shape(method.owner), Record) and method.owner not in self._classes

    def is_given(self, type: Name) -> bool:
        """Whether something in the headers may give programs an object of a class that they only declare.

        Nobody can make one, or cast to it from another class. So it comes from what has its name, and is no parameter
        that asks for one. What templates give is not known.
        """
        return type in self._given_by_name

    @cached_property
    def _given_by_name(self) -> frozenset[Name]:
        every = set(self._source)
        return frozenset(each for name in self._source for each in self._leads(name, every))

    @cached_property
    def _is_told(self) -> bool:
        """Whether all headers were read, also for friends, and have no templates, nor anything that is of any type."""
        read = self._types.snapshot.provenance.headers
        if not self._complete or not isinstance(read, HeadersRead) or FRIENDS not in read.facts or read.unread:
            return False
        for shapes in self._source.values():
            for shape in shapes:
                if isinstance(shape, Declared) and "template" in shape.traits:
                    return False
                if any(map(self._is_anything, _written(shape))):
                    return False
        return True

    def _is_anything(self, type: TypeRef) -> bool:
        if any(each.spelling in ANYTHING for each in self._mentioned(type)):
            return True
        bare = self._types.bare(type)[0]
        match bare:
            case Pointer():
                target = self._types.bare(bare.target)[0]
                return target == Primitive("void", 0) or self._is_anything(target)
            case Array():
                return self._is_anything(bare.element)
            case Special():
                return True
            case Procedure():
                return any(map(self._is_anything, (bare.result, *bare.parameters)))
        return False

    @cached_property
    def _classes(self) -> frozenset[Name]:
        """What programs have: it grows as long as one class lets them have another."""
        found = {name for name in self._source if self._is_open(name)}
        asking: dict[Name, list[Name]] = {}
        for name in self._source:
            for each in self._asked_by(name):
                asking.setdefault(each, []).append(name)
        pending = list(self._source)
        while pending:
            come = set(self._leads(pending.pop(), found)) - found
            found |= come
            pending += (name for each in come for name in (each, *asking.get(each, ())))
        return frozenset(found)

    def _asked_by(self, name: Name) -> Iterator[Name]:
        """The classes of which a declaration needs an object before it gives any, beside its own."""
        shape = self._shape(name)
        if isinstance(shape, Record):
            yield from self._bases(shape)
        elif isinstance(shape, Function):
            if shape.method is not None:
                yield shape.method.owner
            for each in shape.parameters:
                yield from self._mentioned(each)

    def _is_open(self, type: Name) -> bool:
        """Whether anybody has objects of a class: it needs no constructor, has friends, is thrown, or is another's."""
        shape = self._shape(type)
        if not isinstance(shape, Record):
            return False
        texts = [each for each in self._source[type] if isinstance(each, Declared)]
        made = type not in self._constructed or not texts or any("befriends" in each.traits for each in texts)
        foreign = any(not isinstance(self._shape(base), Record) for base in self._bases(shape))
        return made or foreign or type.spelling in self._thrown

    @cached_property
    def _constructed(self) -> frozenset[Name]:
        """The classes with constructors of their own, and with no others'."""
        shapes = (self._shape(name) for name in self._source)
        found = {each.method.owner for each in shapes if isinstance(each, Function) and each.method and _makes(each)}
        inherit = {Name("record", scope(name.spelling)) for name in self._source if name.kind == "alias"}
        using = {Name("record", scope(name.spelling)) for name in self._source if self._is_brought(name)}
        return frozenset(found - (using & inherit))

    def _is_brought(self, name: Name) -> bool:
        return any(isinstance(each, Declared) and "using" in each.traits for each in self._source[name])

    def _leads(self, name: Name, found: set[Name]) -> Iterator[Name]:
        """The classes of which a declaration gives objects to who has those that are ``found``."""
        shape = self._shape(name)
        match shape:
            case Variable() if shape.access != "private":
                yield from self._mentioned(shape.type)
            case Record():
                if name in found:
                    yield from self._bases(shape)
                    for field in shape.fields:
                        if field.access != "private":
                            yield from self._mentioned(field.type)
                elif any(base in found for base in self._bases(shape)):
                    yield name
            case Function():
                yield from self._given(shape, found)

    def _given(self, function: Function, found: set[Name]) -> Iterator[Name]:
        method = function.method
        if method is not None and (method.deleted or (method.access == "private" and method.virtual == "no")):
            return
        if method is not None and _makes(function):
            if all(self._can_be_given(each, found) for each in function.parameters):
                yield method.owner
        elif method is not None and not method.static and method.owner not in found:
            return
        yield from self._mentioned(function.result)
        for each in function.parameters:
            if function.is_virtual or not self._is_asked_for(each):
                yield from self._mentioned(each)

    def _is_asked_for(self, parameter: TypeRef) -> bool:
        """Whether who calls must have an object: it is taken by value, or behind one pointer or reference."""
        bare = self._types.bare(parameter)[0]
        if isinstance(bare, Pointer):
            bare = self._types.bare(bare.target)[0]
        return isinstance(bare, Named) and isinstance(self._shape(bare.name), Record | Opaque)

    def _can_be_given(self, parameter: TypeRef, found: set[Name]) -> bool:
        """Whether a program has what a constructor asks for; a pointer may be null.

        A class that headers only declare may be another library's, or for programs to define, unless a source file of
        this library defines it.
        """
        bare = self._types.bare(parameter)[0]
        if isinstance(bare, Pointer) and bare.sort != "*":
            bare = self._types.bare(bare.target)[0]
        if not isinstance(bare, Named) or bare.name in found:
            return True
        shape = self._shape(bare.name)
        return not isinstance(shape, Record) and not (isinstance(shape, Opaque) and self._is_internal(bare.name))

    def _is_internal(self, type: Name) -> bool:
        return is_source(self._files.get(type, "")) and bool(self._types.snapshot.variants("layout", type))

    def _mentioned(self, type: TypeRef) -> Iterator[Name]:
        """The types that stand in one: those behind aliases, pointers and arguments of foreign templates too."""
        pending = [each for each, _ in references(Alias(type))]
        seen = set(pending)
        while pending:
            name = pending.pop()
            yield name
            for shape in self._types.snapshot.described(name):
                if isinstance(shape, Alias | Foreign):
                    come = {each for each, _ in references(shape, name)} - seen
                    seen |= come
                    pending += come

    def _bases(self, record: Record) -> Iterator[Name]:
        for base in record.bases:
            bare = self._types.bare(base.type)[0]
            if isinstance(bare, Named):
                yield bare.name

    def _shape(self, name: Name) -> AnyShape | None:
        """What the headers say of a name, beside its text."""
        return next((each for each in self._source.get(name, ()) if not isinstance(each, Declared)), None)


def _makes(function: Function) -> bool:
    """Whether it is a constructor."""
    return last_component(function.display) == last_component(scope(function.display))


def _written(shape: AnyShape) -> Iterator[TypeRef]:
    match shape:
        case Function():
            yield shape.result
            yield from shape.parameters
        case Variable():
            yield shape.type
        case Record():
            yield from (field.type for field in shape.fields if field.access != "private")
            for method in shape.virtuals:
                yield method.result
                yield from method.parameters
