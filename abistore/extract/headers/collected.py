"""Public declarations: which files hold them, and what several declarations of one name say together."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import byref, c_size_t
from typing import Any, Final, Protocol

import msgspec

from abistore.extract.headers import cursors
from abistore.extract.headers.cursors import MACROS, Cursor, LibClang, SourceLocation, libclang
from abistore.model.declarations import Argument, Declared, Name, Uses
from abistore.model.shapes import AnyShape, Variable
from abistore.model.snapshot import Location, Variants


class HeaderNames(Protocol):
    """Names of the files that libclang reports."""

    def public(self, path: str, /) -> str | None:
        """The name of a given header; ``None`` for any other file."""

    def beside(self, path: str, /, *, system: bool) -> str | None:
        """The name of a file in or below a given header's folder. ``system``: it was found as a system header."""

    def surrounds(self, path: str, /) -> bool:
        """Whether a file lies in a folder of given headers, or below, public or not."""

    def lent(self, path: str, /) -> bool:
        """Whether a file lies in a folder with headers of another project."""


class PublicFiles:
    """Decides which files are given headers, once for each of libclang's file handles.

    Most declarations of a unit come from other files, in long runs: the range of the last such file is kept, and
    declarations inside it need no further question.
    """

    def __init__(self, lib: LibClang, names: HeaderNames, unit: Any) -> None:
        self._lib = lib
        self._unit = unit
        self._names = names
        self._files: dict[int | None, str | None] = {None: None}
        self._given: dict[int | None, bool] = {None: False}
        self._around: dict[int | None, bool] = {None: False}
        self._lent: dict[int | None, bool] = {None: False}
        self._beside = False
        self._foreign = 0, 0

    def take_those_beside(self) -> None:
        """Count files beside given headers as public from now on."""
        self._files = {file: name for file, name in self._files.items() if file is None or name is not None}
        self._beside = True
        self._foreign = 0, 0

    def place(self, cursor: Cursor) -> Location | None:
        """The location of a public declaration; ``None`` for one of another file."""
        location = self._lib.getCursorLocation(cursor)
        if self._foreign[0] <= location.data < self._foreign[1]:
            return None
        file, line, offset = self._lib.place(location)
        name = self._files[file] if file in self._files else self._name(file, location)
        if name is not None:
            return Location(name, line)
        if file is not None and location.data < MACROS:
            begin = location.data - offset
            self._foreign = begin, begin + self._size(file)
        return None

    def is_public_file(self, file: int | None) -> bool:
        """Whether a file of the unit is one of the given headers."""
        if not file:
            return False
        if file not in self._files:
            self._name(file, self._lib.getLocationForOffset(self._unit, file, 0))
        return self._files[file] is not None

    def is_given(self, cursor: Cursor) -> bool:
        """Whether a declaration is in a given header itself."""
        file, _, _ = self._lib.place(self._lib.getCursorLocation(cursor))
        if file not in self._given:
            self._given[file] = self._names.public(self._lib.text(self._lib.getFileName(file))) is not None
        return self._given[file]

    def is_lent(self, cursor: Cursor) -> bool:
        """Whether a declaration stands in a header of another project."""
        file, _, _ = self._lib.place(self._lib.getCursorLocation(cursor))
        if file not in self._lent:
            self._lent[file] = self._names.lent(self._lib.text(self._lib.getFileName(file)))
        return self._lent[file]

    def _size(self, file: int) -> int:
        size = c_size_t()
        self._lib.getFileContents(self._unit, file, byref(size))
        return size.value

    def is_own(self, cursor: Cursor) -> bool:
        """Whether a declaration can be the library's: it is public, beside public ones, or not in a system header."""
        if self.place(cursor) is not None:
            return True
        location = self._lib.getCursorLocation(cursor)
        if not self._lib.Location_isInSystemHeader(location):
            return True
        file, _, _ = self._lib.place(location)
        if file not in self._around:
            self._around[file] = self._names.surrounds(self._lib.text(self._lib.getFileName(file)))
        return self._around[file]

    def is_own_file(self, file: int, location: SourceLocation) -> bool:
        """Whether a file may be the library's; ``location`` is any place in it."""
        public = self._files[file] if file in self._files else self._name(file, location)
        return public is not None or not self._lib.Location_isInSystemHeader(location)

    def _name(self, file: int | None, location: SourceLocation) -> str | None:
        path = self._lib.text(self._lib.getFileName(file))
        found = self._names.public(path)
        if found is None and self._beside:
            found = self._names.beside(path, system=bool(self._lib.Location_isInSystemHeader(location)))
        self._files[file] = found
        return found


DEFINED: Final = frozenset({"defined", "defined_within", "undefined"})
"""What is said of definitions that come with declarations, and of those that none comes with."""

OF_ALL: Final = DEFINED | {"friend"}
"""Traits of a name that each of its declarations must have."""


class Collected:
    """Shapes, declared facts and locations, by name."""

    def __init__(self) -> None:
        self.shapes: dict[Name, list[AnyShape]] = {}
        self.declared: dict[Name, Declared] = {}
        self.locations: dict[Name, Location] = {}
        self.inline_namespaces: set[str] = set()
        self.lent: set[Name] = set()

    def add(self, name: Name, shape: AnyShape | None) -> None:
        """Add a shape of a name; equal ones are kept once."""
        shapes = self.shapes.setdefault(name, [])
        if shape is not None and shape not in shapes:
            shapes.append(shape)

    def declare(self, name: Name, location: Location, declared: Declared, *, defines: bool = False) -> None:
        """Add a public declaration. Its location is that of the definition, else of the first declaration."""
        known = self.declared.get(name)
        self.declared[name] = declared if known is None else merged(known, declared)
        if defines or name not in self.locations:
            self.locations[name] = location
        self.shapes.setdefault(name, [])

    def forget(self, name: Name) -> None:
        """Remove a declaration that is only text."""
        del self.declared[name], self.locations[name]
        if not self.shapes.get(name):
            self.shapes.pop(name, None)

    def leave_out(self, name: Name) -> None:
        """Remove a name."""
        for known in (self.shapes, self.declared, self.locations):
            known.pop(name, None)

    def entries(self) -> dict[Name, list[AnyShape]]:
        """All shapes of all names."""
        return {
            name: [*shapes, *([self.declared[name]] if name in self.declared else [])]
            for name, shapes in self.shapes.items()
            if shapes or name in self.declared
        }


def merged(one: Declared, other: Declared) -> Declared:
    """The facts of several declarations of one name.

    A declaration outside a class makes a friend visible. A trait about definitions must hold for each of them:
    programs may include only one.
    """
    traits = {*one.traits, *other.traits} - (({*one.traits} ^ {*other.traits}) & OF_ALL)
    return Declared(
        traits=tuple(sorted(traits)),
        parameters=_parameters(one.parameters, other.parameters),
        value=one.value if one.value is not None else other.value,
        body=one.body or other.body,
        template=_parameters(one.template, other.template),
        requires=one.requires or other.requires,
        expressions=one.expressions or other.expressions,
        availability=tuple(sorted({*one.availability, *other.availability})),
        meaning=one.meaning or other.meaning,
        within=one.within or other.within,
        handed=one.handed or other.handed,
        promises=tuple(sorted({*one.promises, *other.promises})),
        uses=joined(one.uses, other.uses),
        replacement=one.replacement or other.replacement,
        bases=one.bases or other.bases,
        shown=tuple(sorted({*one.shown, *other.shown})),
        abilities=one.abilities or other.abilities,
        instances=one.instances or other.instances,
    )


def joined(one: Uses | None, other: Uses | None) -> Uses | None:
    """What two pieces of code use together."""
    if one is None or other is None:
        return one or other
    return Uses(
        members=tuple(sorted({*one.members, *other.members})),
        calls=tuple(sorted({*one.calls, *other.calls})),
        types=tuple(sorted({*one.types, *other.types})),
        objects=tuple(sorted({*one.objects, *other.objects})),
        fields=tuple(dict.fromkeys((*one.fields, *other.fields))),
    )


def defined_in_both(shape: AnyShape, others: Variants) -> AnyShape:
    """The facts of a name in one unit; traits about its definition stay where the other units have them too."""
    if not isinstance(shape, Declared) or DEFINED.isdisjoint(shape.traits):
        return shape
    known = [each.traits for each in others if isinstance(each, Declared)]
    kept = [each for each in shape.traits if each not in DEFINED or all(each in traits for traits in known)]
    return msgspec.structs.replace(shape, traits=tuple(kept))


def _parameters(one: tuple[Argument, ...], other: tuple[Argument, ...]) -> tuple[Argument, ...]:
    if len(one) != len(other):
        return one or other
    pairs = zip(one, other, strict=True)
    return tuple([_both(*pair) for pair in pairs])


def _both(one: Argument, other: Argument) -> Argument:
    default = one.default if one.default is not None else other.default
    return Argument(one.name or other.name, default, max(one.length, other.length))


_EXTERNAL: Final = 4
_SCOPES: Final = frozenset({cursors.NAMESPACE, cursors.LINKAGE, cursors.UNEXPOSED_DECL})


def is_linked(name: Name, shapes: Variants) -> bool:
    """Whether a declaration is a function, variable or template, and no type, constant or macro."""
    if name.kind == "variable":
        return any(isinstance(each, Variable) for each in shapes)
    return name.kind == "function" or any("template" in each.traits for each in shapes if isinstance(each, Declared))


def linking_files(unit: Any) -> frozenset[str]:
    """The paths of the files that declare a function or variable with external linkage."""
    lib = libclang()
    found: dict[int, bool] = {}
    for cursor in lib.top(unit):
        file = lib.place(lib.getCursorLocation(cursor))[0]
        if file is not None and not found.get(file):
            found[file] = any(_links(lib, cursor))
    return frozenset(lib.text(lib.getFileName(file)) for file, links in found.items() if links)


def _links(lib: LibClang, cursor: Cursor) -> Iterator[bool]:
    if cursor.kind in (cursors.FUNCTION, cursors.VARIABLE):
        yield lib.getCursorLinkage(cursor) == _EXTERNAL
    elif cursor.kind in _SCOPES:
        for each in lib.children(cursor):
            yield from _links(lib, each)
    elif cursor.kind in (cursors.CLASS_TEMPLATE, cursors.FUNCTION_TEMPLATE):
        yield True
    elif cursor.kind in cursors.RECORDS:
        yield any(each.kind in cursors.FUNCTIONS for each in lib.children(cursor))
