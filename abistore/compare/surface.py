"""Which headers of a library its consumers cannot include, told from where declarations stand and who needs them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from abistore.model.files import include_root, is_beside, is_own_header, is_source, may_be_private
from abistore.model.names import Name
from abistore.model.normal import last_component
from abistore.model.reach import Reference, embedded, references
from abistore.model.shapes import Alias, AnyShape, Foreign, Function, Named, Pointer, Qualified, Record, TypeRef
from abistore.model.snapshot import Snapshot

MANY = 10
"""So many C++ exports in hidden headers, and none in public ones, tell that the interface is a C one."""


class Surface:
    """The headers of one side that its public ones do without.

    Public are the headers in an ``include`` folder that declare some of what is exported. Headers beside that folder
    are not, as long as nothing public needs what they declare: a type that a public header's types embed, derive from
    or write down by an alias or as an enum, or that its functions take by value, or that C functions are given and
    nothing hands out. Behind a pointer a record needs no more than its name, unless an inline destructor deletes it.
    C functions that are known by their definition only may be public: they need every record that no public header
    mentions. Everything that a header declares is as public as the header. Where one header beside the folder is
    needed, the folder is not all that is installed, and tells of no other.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._layout = snapshot.entries.get("layout", {})
        self._files: dict[Name, str] = {}
        self._references: dict[Name, list[tuple[AnyShape, list[Reference]]]] = {}

    def hides(self, name: Name) -> bool:
        """Whether ``name`` is declared in such a header, as far as is known."""
        return self.header(name) != ""

    def header(self, name: Name) -> str:
        """The header that is not public and declares ``name``, or must be included to declare it; empty without one.

        A C++ function of which the definition alone is known stands in a public header only if that can do with what
        the function's types need, and if public headers declare any C++ at all: else its source file stands for where
        it is declared.
        """
        file = self.file(name)
        if not is_source(file):
            return file if may_be_private(file) and file in self.hidden else ""
        if not name.spelling.startswith("_Z"):
            return ""
        if any(may_be_private(each) and not is_source(each) for each in map(self.file, self._mentioned(name))):
            needed = {self.file(other) for other, _ in self._needed(name, False)} & self.hidden
            if needed:
                return min(needed)
        return file if self._interface_is_c else ""

    @cached_property
    def _interface_is_c(self) -> bool:
        """Whether public headers declare no C++ export, while hidden ones are known to declare many."""
        exports = (name for name in self._layout if name.kind != "record" and name.spelling.startswith("_Z"))
        files = [self.file(name) for name in exports]
        return all(include_root(file) is None for file in files) and sum(file in self.hidden for file in files) >= MANY

    def file(self, name: Name) -> str:
        """The file that declares ``name``, the class for members; empty where it is not known."""
        known = self._files.get(name)
        if known is None:
            place = self._snapshot.locations.get(self._owner(name) or name)
            known = self._files[name] = place.file if place is not None else ""
        return known

    def _owner(self, name: Name) -> Name | None:
        """The class that the function or variable ``name`` belongs to."""
        for shape in self._layout.get(name, ()):
            owner = (shape.method and shape.method.owner) if isinstance(shape, Function) else None
            owner = owner or getattr(shape, "owner", None)
            if owner is not None:
                return owner
        return None

    @cached_property
    def hidden(self) -> frozenset[str]:
        """The paths of the headers that consumers cannot include; none where others than the folder's may be public."""
        beside, unneeded = self._beside
        return unneeded if beside == unneeded else frozenset()

    def is_handle(self, name: Name) -> bool:
        """Whether public headers mention the record ``name`` and need no header that defines it."""
        place = self._snapshot.locations.get(name)
        return place is not None and place.file in self._beside[1] and name in self._handles

    @cached_property
    def _beside(self) -> tuple[frozenset[str], frozenset[str]]:
        """The headers beside ``include`` folders, and those of them that nothing public needs."""
        roots = self._roots()
        declared: dict[str, list[Name]] = {}
        for name in self._layout if roots else ():
            file = self.file(name)
            if is_own_header(file) and any(is_beside(file, root) for root in roots):
                declared.setdefault(file, []).append(name)
        if not declared:
            return frozenset(), frozenset()
        hidden = set(declared)
        place = {name: file for file, names in declared.items() for name in names}
        pending = [(name, False) for name in self._layout if self._is_public(name, place)]
        seen = set(pending)
        while pending and hidden:
            for each in self._needed(*pending.pop()):
                if each in seen:
                    continue
                seen.add(each)
                pending.append(each)
                header = place.get(each[0])
                if header in hidden:
                    hidden.discard(header)
                    come = {(name, False) for name in declared[header]} - seen
                    pending += come
                    seen |= come
        return frozenset(declared), frozenset(hidden)

    def _roots(self) -> frozenset[str]:
        """The folders around ``include`` folders with a header that declares an export, or a type that C functions use.

        Headers of which inline functions alone are exported may be another project's, which this one brings along.
        """
        found = set[str]()
        symbols = self._snapshot.entries.get("symbol", {})
        for name in self._layout:
            if name.kind not in ("function", "variable"):
                continue
            if any(getattr(shape, "binding", "") == "global" for shape in symbols.get(name, ())):
                mentioned = () if name.spelling.startswith("_Z") else self._mentioned(name)
                for file in (self.file(name), *map(self.file, mentioned)):
                    root = include_root(file)
                    if root is not None:
                        found.add(root)
        return frozenset(found)

    def _mentioned(self, name: Name) -> Iterator[Name]:
        for _, found in self._shapes(name):
            yield from (other for other, _ in found)

    def _shapes(self, name: Name) -> list[tuple[AnyShape, list[Reference]]]:
        """The shapes of ``name``, each with what it mentions."""
        known = self._references.get(name)
        if known is None:
            known = [(shape, references(shape, name)) for shape in self._layout.get(name, ())]
            self._references[name] = known
        return known

    def _is_public(self, name: Name, place: dict[Name, str]) -> bool:
        """Whether consumers may use ``name`` itself: exports and types of public headers, C functions from anywhere."""
        if name in place:
            return False
        return include_root(self.file(name)) is not None or (
            name.kind in ("function", "variable") and not name.spelling.startswith("_Z")
        )

    def _needed(self, name: Name, complete: bool) -> Iterator[tuple[Name, bool]]:
        """What a header that declares ``name`` has to include, and whether with its definition.

        Who only points to an alias, not ``complete``, needs no definition of the record that it stands for. What source
        files define, no header can use.
        """
        exported = name.kind in ("function", "variable")
        file = self.file(name)
        if is_source(file) and not exported:
            return
        plain = exported and not name.spelling.startswith("_Z")
        unknown = plain and include_root(file) is None
        for shape, found in self._shapes(name):
            tags = () if complete or not isinstance(shape, Alias) else tuple(embedded(shape))
            for other, by_value in found:
                defined = by_value and other not in tags
                tag = other.kind == "record"
                if defined or (unknown and other not in self._handles if tag else not self._names_handle(other)):
                    yield other, defined
            if isinstance(shape, Record) and name not in self._destroyed_inside:
                yield from ((each, True) for each in self._owned(shape))
            if plain:
                yield from ((each, True) for each in _taken(shape) if each not in self._given)

    def _owned(self, record: Record) -> Iterator[Name]:
        """What a record's ``std::unique_ptr`` members delete: inline destructors need its definition."""
        held = [field.type.name for field in record.fields if isinstance(field.type, Named)]
        for name in held:
            for each in self._layout.get(name, ()) if name.spelling.startswith("std::unique_ptr<") else ():
                arguments = each.arguments[:1] if isinstance(each, Foreign) else ()
                yield from (argument.name for argument in arguments if isinstance(argument, Named))

    @cached_property
    def _destroyed_inside(self) -> frozenset[Name]:
        """The classes whose destructors the library exports and no header defines."""
        symbols = self._snapshot.entries.get("symbol", {})
        return frozenset(
            shape.method.owner
            for name, shapes in self._layout.items()
            if any(getattr(each, "binding", "") == "global" for each in symbols.get(name, ()))
            for shape in shapes
            if isinstance(shape, Function) and shape.method is not None
            if last_component(shape.display).startswith("~")
        )

    def _names_handle(self, alias: Name) -> bool:
        """Whether ``alias`` is another name of a record that public headers mention."""
        shapes = self._layout.get(alias, ())
        named = [each for shape in shapes if isinstance(shape, Alias) for each in embedded(shape)]
        return bool(named) and self._handles.issuperset(named)

    @cached_property
    def _handles(self) -> frozenset[Name]:
        """The records that public headers mention."""
        public = (name for name in self._layout if include_root(self.file(name)) is not None)
        return frozenset(other for name in public for other in self._mentioned(name))

    @cached_property
    def _given(self) -> frozenset[Name]:
        """The records that C functions hand out: they return a pointer to one, or fill one in."""
        found = set[Name]()
        for name, shapes in self._layout.items():
            if name.kind == "function" and not name.spelling.startswith("_Z"):
                for shape in shapes:
                    if isinstance(shape, Function):
                        found.update(_pointee(shape.result, 1))
                        found.update(each for one in shape.parameters for each in _pointee(one, 2))
        return frozenset(found)


def _taken(shape: AnyShape) -> Iterator[Name]:
    """The records that a function takes by address."""
    for each in shape.parameters if isinstance(shape, Function) else ():
        yield from _pointee(each, 1)


def _pointee(type: TypeRef, levels: int) -> Iterator[Name]:
    """The name behind exactly so many pointers."""
    while True:
        if isinstance(type, Pointer):
            levels -= 1
        elif not isinstance(type, Qualified):
            break
        type = type.target
    if not levels and isinstance(type, Named):
        yield type.name
