"""Who allocates the objects of a type, and whether consumers can look into them at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

import msgspec

from abistore.compare.equivalence import TypeSide
from abistore.compare.internal import Internals
from abistore.compare.reserved import is_forbidden
from abistore.model.files import is_own_header, is_source
from abistore.model.names import Name
from abistore.model.normal import last_component
from abistore.model.reach import HANDLES, embedded, references
from abistore.model.shapes import (
    AnyShape,
    Array,
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

INTERNAL = re.compile(r"internal|private|(^|[-_.])(int|priv|p|local|impl)$|priv$")
"""How the names of headers end, or what they contain, that a library does not install."""

NAMED_INTERNAL = frozenset({"internal", "internals", "private", "priv"})
"""Folders of such headers."""

DISPOSES = re.compile(r"free|destroy|delete|release|dispose|unref", re.IGNORECASE)
"""How functions are called that take back what the library allocated."""


COUNTS = frozenset(f"{sign}{size}" for sign in ("", "unsigned ") for size in ("short", "int", "long", "long long"))
"""Types that numbers of items are told in."""

UNSIGNED = frozenset(each for each in COUNTS if each.startswith("unsigned"))
"""Those that no code of an error has."""


class Exposure:
    """What one side's exports tell about the hands that its types are in; ``stays`` is true of those that both have."""

    def __init__(self, side: TypeSide, internals: Internals, stays: Callable[[Name], bool]) -> None:
        self._side = side
        self._stays = stays
        self._internals = internals
        self._snapshot = side.snapshot
        self._layout = side.snapshot.entries.get("layout", {})
        self._languages = side.snapshot.provenance.languages

    def library_allocates(self, name: Name) -> bool:
        """Whether consumers hold pointers to ``name`` at most, and get them from the library.

        So it is where no export uses it by value, and functions return a pointer to it, or fill one in through a
        pointer to a pointer (``int open(handle **)``), or it is met only behind pointers of what the library allocates.
        A polymorphic class may be derived from and is never counted among these.
        """
        return name not in self._consumers_allocate

    def hands_out_many(self, name: Name) -> bool:
        """Whether the library hands out arrays of ``name``, through which consumers step by its size.

        So it is where a function tells a number along with what it hands out (``int list(item **, size_t *)``), and
        none takes one item without any number: ``handle *open(int *error)`` hands out one.
        """
        return name in self._counted

    def is_private(self, name: Name) -> bool:
        """Whether no consumer knows what ``name`` is made of.

        So it is where the library allocates it and a file defines it that consumers cannot include; and where it is met
        only inside such types, or in fields whose name forbids to use them (``internal_donotuse``). Such a file is a
        source file; a header that is not public (:class:`abistore.compare.surface.Surface`); in C, a header that calls
        itself internal. A file that defines anything which consumers allocate is none of these, whatever it is called.
        Nothing is private to its file in a library whose headers define no type: it may have no headers, or be one file
        made of all.
        """
        return name in self._private

    @cached_property
    def by_value(self) -> frozenset[Name]:
        """What consumers hold themselves: exports that they can name take, return, are or embed it by value."""
        pending = list(self._exports)
        found: set[Name] = set()
        while pending:
            name = pending.pop()
            for shape in self._layout.get(name, ()):
                for other, by_value in references(shape, name):
                    if by_value and other not in found:
                        found.add(other)
                        pending.append(other)
        return frozenset(found)

    @cached_property
    def passed_with(self) -> Mapping[Name, Sequence[Name]]:
        """What goes by value with what it embeds: the records that are passed, by itself and by each of their parts.

        Exports that stay and that consumers can name, function pointers and virtual methods take or return them.
        """
        called: list[Function | Procedure] = [shape for name, shape, _ in self._functions if self._stays(name)]
        called += self._procedures()
        types = (type for each in called for type in (each.result, *each.parameters))
        values = {bare.name for each in types if isinstance(bare := self._side.bare(each)[0], Named)}
        found: dict[Name, list[Name]] = {}
        for value in sorted(values):
            pending, seen = [value], set[Name]()
            while pending:
                part = pending.pop()
                if part not in seen:
                    seen.add(part)
                    found.setdefault(part, []).append(value)
                    pending += [each for shape in self._layout.get(part, ()) for each in embedded(shape)]
        return found

    @cached_property
    def _exports(self) -> tuple[Name, ...]:
        exports = (name for name in self._layout if name.kind in ("function", "variable"))
        return tuple(name for name in exports if not self._internals.has(name))

    # who allocates

    @cached_property
    def _consumers_allocate(self) -> frozenset[Name]:
        given = self._given
        taken = {name for name in self._taken if name not in given}
        pending = [*self.by_value, *taken, *self._polymorphic()]
        given |= self._called_back - taken
        found: set[Name] = set()
        while pending:
            name = pending.pop()
            if name in found:
                continue
            found.add(name)
            for shape in self._layout.get(name, ()):
                inside = ((each, self._resolved(each)) for each in self._inside(shape))
                pending += (each for each, own in inside if own not in given and own not in self._internals.classes)
                pending += embedded(shape)
        return frozenset(found)

    def _resolved(self, name: Name) -> Name:
        return self._side.record_behind(name) or name

    def _inside(self, shape: AnyShape) -> Iterator[Name]:
        """What the pointers in an object that consumers fill in lead to."""
        if isinstance(shape, Record):
            for field in shape.fields:
                yield from _pointed_at(field.type)
        elif not isinstance(shape, Function | Variable):
            yield from (name for name, _ in references(shape))

    def _polymorphic(self) -> Iterator[Name]:
        for name, shapes in self._layout.items():
            tables = any(isinstance(shape, Record) and (shape.virtuals or shape.has_vptr) for shape in shapes)
            if tables and name not in self._internals.classes:
                yield name

    @cached_property
    def _given(self) -> set[Name]:
        """What functions hand out, other than what they were handed."""
        found: set[Name] = set()
        for _, function, taken in self._functions:
            found |= {name for name in self._results(function) if name not in taken}
            found |= {name for each in function.parameters if (name := self._filled_in(each)) is not None}
        return found

    @cached_property
    def _counted(self) -> frozenset[Name]:
        many, single = set[Name](), set[Name]()
        for _, function, taken in self._functions:
            handed = {name for each in function.parameters if (name := self._filled_in(each)) is not None}
            counts = [self._side.bare(each)[0] for each in function.parameters]
            told = {bare.spelling for each in counts if (bare := self._number_behind(each)) is not None}
            if told & UNSIGNED:
                handed.update(self._results(function))
            if told & COUNTS:
                many |= handed - taken
            if not told and not any(isinstance(each, Primitive) and each.spelling in COUNTS for each in counts):
                single |= taken
        return frozenset(many - single)

    def _number_behind(self, type: TypeRef) -> Primitive | None:
        """The number that a function fills in through a pointer."""
        if not isinstance(type, Pointer) or "const" in self._side.bare(type.target)[1]:
            return None
        target, _ = self._side.bare(type.target)
        return target if isinstance(target, Primitive) else None

    def _filled_in(self, parameter: TypeRef) -> Name | None:
        """What ``T **`` is to be filled in with; ``T *const *`` and arrays of pointers that stay are none of these."""
        outer, _ = self._side.bare(parameter)
        if not isinstance(outer, Pointer) or "const" in self._side.bare(outer.target)[1]:
            return None
        return self._side.pointee(outer, 2)

    def _results(self, function: Function) -> Iterator[Name]:
        result, _ = self._side.bare(function.result)
        name = self._side.pointee(result, 1)
        if name is not None:
            yield name
        if isinstance(result, Named) and last_component(result.name.spelling) in HANDLES:
            for shape in self._layout.get(result.name, ()):
                if isinstance(shape, Foreign):
                    yield from (each.name for each in shape.arguments[:1] if isinstance(each, Named))

    def _parameters(self, function: Function) -> Iterator[Name]:
        """What a function takes by address, its object too."""
        for each in function.parameters:
            name = self._side.pointee(each, 1)
            if name is None and self._filled_in(each) is None:
                name = self._side.pointee(each, 2)
            if name is not None:
                yield name
        if function.method is not None and not function.method.static:
            yield function.method.owner

    @cached_property
    def _taken(self) -> set[Name]:
        """What functions take by address. To be freed is no use of its own for what callbacks were given."""
        found: set[Name] = set()
        for _, function, taken in self._functions:
            found |= taken - self._called_back if _disposes(function) else taken
        for shapes in self._layout.values():
            for shape in shapes:
                if isinstance(shape, Variable):
                    found.update(_pointed_at(shape.type))
        return found

    @cached_property
    def _called_back(self) -> set[Name]:
        """What function pointers and virtual methods are called with: the library passes what it has."""
        found: set[Name] = set()
        for procedure in self._procedures():
            for each in procedure.parameters:
                name = self._side.pointee(each, 1)
                if name is not None:
                    found.add(name)
        return found

    def _procedures(self) -> Iterator[Procedure]:
        for shapes in self._layout.values():
            for shape in shapes:
                for each in _types(shape):
                    yield from (part for part in _parts(each) if isinstance(part, Procedure))

    @cached_property
    def _functions(self) -> list[tuple[Name, Function, set[Name]]]:
        """The exported functions that consumers can name, each with what it takes by address."""
        return [
            (name, shape, set(self._parameters(shape)))
            for name in self._exports
            for shape in self._layout[name]
            if isinstance(shape, Function) and name.kind == "function"
        ]

    # who can see

    @cached_property
    def _private(self) -> frozenset[Name]:
        files = {name: str(each.file) for name, each in self._snapshot.locations.items() if name in self._layout}
        hidden: set[Name] = set()
        if any(is_own_header(file) for name, file in files.items() if name.kind in ("record", "enum")):
            hidden = self._hidden(files)
        return frozenset(self._unseen(hidden, self._layout) | hidden)

    def _hidden(self, files: Mapping[Name, str]) -> set[Name]:
        """The records that headers define that are not public, and those that the library allocates and files define
        that consumers do not include.

        A header with an alias or enum of which functions are said to take or return something is one that consumers
        include. A tag tells nothing: any header may declare it ahead.
        """
        shared = {files[name] for name in self._consumers_allocate if name in files}
        named_in = {files[name] for name in self._mentioned() if name.kind != "record" and name in files}
        named = not any("C++" in language or "plus_plus" in language for language in self._languages)
        return {
            name
            for name, file in files.items()
            if name.kind == "record" and file not in shared and self.library_allocates(name)
            if is_source(file) or (named and is_own_header(file) and file not in named_in and _says_internal(file))
        } | {name for name in self._internals.concealed if name.kind in ("record", "enum", "alias") and name in files}

    def _mentioned(self) -> Iterator[Name]:
        """The names that the exports' own declarations write down, other than the class that they belong to."""
        for export in self._exports:
            for shape in self._layout.get(export, ()):
                for each in _types(shape) if isinstance(shape, Function | Variable) else ():
                    yield from _pointed_at(each)

    def _unseen(self, hidden: set[Name], layout: Mapping[Name, tuple[AnyShape, ...]]) -> set[Name]:
        """What the exports reach only through ``hidden`` types."""
        pending = list(self._exports)
        seen = set(pending)
        while pending:
            name = pending.pop()
            for shape in layout.get(name, ()):
                for other, _ in references(_usable(shape), name):
                    if other not in seen:
                        seen.add(other)
                        if other not in hidden:
                            pending.append(other)
        return {name for name in layout if name not in seen}


def _usable(shape: AnyShape) -> AnyShape:
    """``shape`` without the fields that consumers are asked to leave alone."""
    if not isinstance(shape, Record) or not any(is_forbidden(field) for field in shape.fields):
        return shape
    return msgspec.structs.replace(shape, fields=tuple(field for field in shape.fields if not is_forbidden(field)))


def _says_internal(file: str) -> bool:
    path = PurePosixPath(file)
    return INTERNAL.search(path.stem.lower()) is not None or not NAMED_INTERNAL.isdisjoint(path.parts[:-1])


def _disposes(function: Function) -> bool:
    return len(function.parameters) == 1 and DISPOSES.search(function.display) is not None


def _types(shape: AnyShape) -> Iterator[TypeRef]:
    """The types that a declaration writes down; those of a virtual method as of a function pointer."""
    match shape:
        case Function(result=result, parameters=parameters):
            yield result
            yield from parameters
        case Record():
            yield from (field.type for field in shape.fields)
            yield from (Procedure(each.result, each.parameters) for each in shape.virtuals)
        case _:
            target = getattr(shape, "target", None) or getattr(shape, "type", None)
            if target is not None and not isinstance(target, str):
                yield target


def _pointed_at(type: TypeRef) -> Iterator[Name]:
    """The named types behind the pointers of ``type``, and in what it embeds without a name."""
    return (part.name for part in _parts(type) if isinstance(part, Named))


def _parts(type: TypeRef) -> Iterator[TypeRef]:
    """What ``type`` is made of behind pointers, qualifiers and arrays, and in what it embeds without a name."""
    match type:
        case Pointer(target=target) | Qualified(target=target):
            yield from _parts(target)
        case Array(element=element):
            yield from _parts(element)
        case Inline(shape=Record() as record):
            for field in record.fields:
                yield from _parts(field.type)
        case _:
            yield type
