"""The ABI surface as debug information suggests it: files, signatures and symbols."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

from abistore.diffing.reuse import Derived, Summaries
from abistore.diffing.surface.allocation import Allocation
from abistore.diffing.surface.consumers import Concealment, Consumers, Owner, Ownership, ReleaseExports
from abistore.diffing.surface.public_headers import HeaderClues, PublicHeaders
from abistore.diffing.types.mentions import TypeUse, TypeUses
from abistore.diffing.types.sameness import TypeSide
from abistore.model.declarations import EXPORTS, Name
from abistore.model.names.qualified import class_behind, demangle, entity, plain_template, scope
from abistore.model.names.symbols import LOCAL_CLASS_DATA, may_be_template
from abistore.model.reach import Reach
from abistore.model.words import include_root, is_own_header, is_source, may_be_private


class ConstantHeaders:
    """The headers of one release of which something tells that consumers include them.

    They are those of the library's own ``include`` folder, where it has one. Elsewhere they declare an export or a type
    that consumers see into.
    """

    def __init__(self, own: ReleaseExports, files: Mapping[Name, str], can_see: Callable[[Name], bool]) -> None:
        self._own = own
        self._files = files
        self._can_see = can_see

    def can_include(self, file: str) -> bool:
        """Whether consumers include the header ``file``."""
        root = include_root(file)
        if root is not None:
            return not may_be_private(file) and any(each.startswith(root) for each in self._defining)
        return is_own_header(file) and not self._has_folder and file in self._declaring

    @cached_property
    def _defining(self) -> frozenset[str]:
        names = self._own.exports.names.values()
        return frozenset(file for file in (self._files.get(name, "") for name in names) if file)

    @cached_property
    def _has_folder(self) -> bool:
        """Whether an ``include`` folder holds anything that exports need."""
        return any(include_root(file) is not None for file in {*self._defining, *self._declaring})

    @cached_property
    def _declaring(self) -> frozenset[str]:
        types = (name for name in self._files if name.kind in ("record", "enum", "alias") and self._can_see(name))
        found = {self._files[name] for name in types} | self._defining
        return frozenset(file for file in found if is_own_header(file))


UNNAMEABLE = ")::"
"""What the names of classes within a function (``run()::Own``) or an unnamed namespace contain."""


class InternalDeclarations(Derived):
    """What one side declares in files that its consumers cannot include.

    A member function can only be called where its class is defined, and nobody includes a source file. Where no header
    of the library defines a type, nothing is known: the library may be one file made of all. Which headers are not
    public, :class:`PublicHeaders` tells.
    """

    def __init__(self, clues: HeaderClues) -> None:
        self._clues = clues
        self._files = clues.files
        self._surface = PublicHeaders(clues)

    @cached_property
    def concealed(self) -> frozenset[Name]:
        """Types defined in private headers."""
        hidden = self._surface.hidden
        return frozenset(name for name, file in self._files.items() if file in hidden and may_be_private(file))

    @cached_property
    def classes(self) -> frozenset[Name]:
        """The types that no consumer can include or name."""
        files = {name: file for name, file in self._files.items() if name.kind in ("record", "enum")}
        headers = any(map(is_own_header, set(files.values())))
        sourced = (name for name, file in files.items() if headers and is_source(file))
        unnameable = (name for name in self._clues.names if name.kind == "record" and UNNAMEABLE in name.spelling)
        return self._with_instances({*self.concealed, *sourced, *unnameable})

    def _with_instances(self, classes: set[Name]) -> frozenset[Name]:
        """``classes`` and the instances of templates with one of them for an argument, which nobody else can have."""
        instances = [
            (name, argument)
            for name, types in (self._clues.types.items() if classes else ())
            for type in types
            for argument in type.arguments
        ]
        while come := {name for name, argument in instances if argument in classes} - classes:
            classes |= come
        return frozenset(classes)

    def has(self, export: Name) -> bool:
        """Whether ``export`` is a member of such a class, its vtable or type information, or declared there itself.

        Nobody can name a class within a function, either; nor is anybody to use what stands in a private version node.
        """
        if self._clues.names[export].node:
            return True
        if export.spelling.startswith(LOCAL_CLASS_DATA):
            return True
        owners = self._owners(export)
        if all(map(self._may_be_concealed, owners)) and any(owners) and self.classes.issuperset(owners):
            return True
        if not any(owners) and self._is_instance(export):
            return True
        return self._surface.hides(export) and not (any(owners) and self.classes)

    def _owners(self, export: Name) -> Sequence[Name | None]:
        """The class that each description of ``export`` makes it a member of."""
        emitted = class_behind(export.spelling)
        return [Name("record", emitted)] if emitted else self._clues.names[export].owners

    def _may_be_concealed(self, owner: Name | None) -> bool:
        """Whether the class may be one of :attr:`classes`. Its own file rules out most, without these."""
        if owner is None:
            return False
        instance = any(type.foreign or type.arguments for type in self._clues.types[owner])
        return instance or may_be_private(self._files.get(owner, ""))

    def _is_instance(self, export: Name) -> bool:
        """Whether ``export`` is a function template's instance, no member, with one of :attr:`classes` for an argument.

        ``Walker *make<Walker>()`` can only be called where ``Walker`` is known.
        """
        if not may_be_template(export.spelling):
            return False
        _, arguments = plain_template(entity(demangle(export.spelling))) or ("", [])
        return any(Name(kind, each) in self.classes for each in arguments for kind in ("record", "enum"))

    def header(self, export: Name) -> str:
        """The header that is not public and declares ``export``, or its private version node; empty without either."""
        if node := self._clues.names[export].node:
            return f"version node {node}"
        emitted = class_behind(export.spelling)
        return self._surface.header(Name("record", emitted) if emitted else export)


class PrivateMembers(Derived):
    """The private members among the exports, and the inline functions that may use them.

    Built programs have a copy of every inline function that they use, and so call what it calls. The copies that the
    library exports tell which classes have inline functions::

        class Log { void grow(); public: void add(int x) { if (full()) grow(); ... } };

    So are the members of a private nested class, to which the functions of the class around it have access.

    A virtual function is in the vtables of derived classes, which programs have, whatever its access is. Copies of
    destructors, copies and assignments are left out: compilers make them for most classes.
    """

    def __init__(self, clues: HeaderClues) -> None:
        self._clues = clues
        self.closed = ClosedTypes(clues)

    def has(self, export: Name) -> bool:
        """Whether ``export`` is a private member, and no inline function is known to have access to it."""
        declared = self._clues.names[export]
        if not declared.strong:
            return False
        emitted = class_behind(export.spelling)
        owners = [Name("record", emitted)] if emitted else [owner for owner in declared.owners if owner]
        if not owners or not (declared.private or all(owner in self.closed for owner in owners)):
            return False
        return not any(each in self._inlined for owner in owners for each in self._with_access(owner))

    def _with_access(self, owner: Name) -> Iterator[str]:
        """The classes whose members have access to ``owner``: itself and, of a closed one, those around it."""
        yield owner.spelling
        while owner in self.closed and (around := scope(owner.spelling)):
            owner = Name("record", around)
            yield around

    @cached_property
    def _inlined(self) -> frozenset[str]:
        """The classes to which an exported copy of an inline function has access.

        A member has it to its class and to the classes around that; any other function may be a friend of what it
        takes.
        """
        found: set[str] = set()
        for name in self._clues.names:
            if self._clues.names[name].inline:
                owners = self._clues.names[name].owners
                if any(owners) and all(owner in self.closed for owner in owners):
                    continue  # only who has access to the class can call it
                taken = (each for each in self._clues.mentioned(name) if each.kind == "record")
                for owner in owners if any(owners) else taken:
                    found.update(_around(owner))
        return frozenset(found)


class ClosedTypes(Derived):
    """The nested types to which only the members and friends of the class around them have access.

    A program needs no name for what it is given::

        class List { struct Node { int next(); }; public: Node &first(); };    // list.first().next()

    So a type is open where an export that is not private mentions it, or something that such an export leads to, other
    than by private members.
    """

    def __init__(self, clues: HeaderClues) -> None:
        self._clues = clues

    def __contains__(self, type: object) -> bool:
        return type in self._closed

    @cached_property
    def _closed(self) -> frozenset[Name]:
        closed = {name for name, types in self._clues.types.items() if types and all(type.closed for type in types)}
        if not closed:
            return frozenset()
        exports = {name for name in self._clues.names if name.kind in EXPORTS and not self._clues.names[name].private}
        pending, shown = list[Name](), set[Name]()
        while True:
            ready = {name for name in exports if closed.isdisjoint(filter(None, self._clues.names[name].owners))}
            exports -= ready
            pending += ready
            while pending:
                come = {*self._shown(pending.pop())} - shown
                shown |= come
                pending += come
            if not ready:
                return frozenset(closed - shown)
            closed -= shown

    def _shown(self, name: Name) -> Iterator[Name]:
        """What who has ``name`` has too."""
        if name not in self._clues.parts:
            return
        for part in self._clues.parts[name]:
            yield from part.shows if part.shows is not None else (each for each, _ in part.mentions)


def _around(owner: Name | None) -> Iterator[str]:
    spelling = owner.spelling if owner else ""
    while spelling:
        yield spelling
        spelling = scope(spelling)


class GuessedConsumers(Consumers):
    """The consumers of a release of which no headers are given.

    ``files`` tells in which file each declaration stands.
    """

    def __init__(
        self, own: ReleaseExports, types: TypeSide, reach: Callable[[], Reach], files: Mapping[Name, str]
    ) -> None:
        self._own = own
        self._types = types
        self._reach = reach
        self._files = files

    def can_name(self, export: Name) -> bool:
        """Whether a public file declares ``export`` or its class, as far as is known."""
        return not self._internals.has(export)

    def private_header(self, export: Name) -> str:
        """The header beside the public ones that declares ``export``."""
        return self._internals.header(export)

    def out_of_reach(self, export: Name) -> bool:
        """Whether the export table has no copy of an inline function with access to the private ``export``."""
        return self._private_members.has(export)

    def concealment(self, export: Name) -> Concealment:
        """Whether a private header declares ``export``, or else only source files."""
        return "header" if self.private_header(export) else "internal"

    def owner(self, export: Name, other: ReleaseExports, *, gone: bool) -> Owner:
        """Whose ``export`` is, by its binding and its namespace."""
        return Ownership(self._own, other).of(export, gone=gone)

    def can_see(self, type: Name) -> bool:
        """Whether a public file defines ``type``, or an export reaches it through public types."""
        return not self._allocation.is_private(type)

    def can_include(self, type: Name) -> bool:
        """Whether the header that defines ``type`` is in the library's ``include`` folder, or declares exports."""
        return self._constants.can_include(self._files.get(type, ""))

    def can_look_into(self, type: Name, fields: Collection[str]) -> bool:
        """Without headers nobody knows the inline functions of a class."""
        return True

    def look_at(self, type: Name, field: str) -> bool:
        """Without headers nobody knows the inline functions of a class."""
        return False

    def offers(self, type: Name) -> bool:
        """No header was read."""
        return False

    def compilers_of(self, type: Name) -> Sequence[Name]:
        """None that is known: debug information does not tell code from code."""
        return ()

    def callers_of(self, export: Name) -> Sequence[Name]:
        """None that is known."""
        return ()

    def called_beside(self, type: Name) -> Sequence[Name]:
        """None that is known."""
        return ()

    def take_untyped(self) -> bool:
        """Not known without headers, and so taken for possible."""
        return True

    def library_allocates(self, type: Name) -> bool:
        """Whether the signatures of the exports leave ``type`` to the library."""
        return self._allocation.library_allocates(type)

    def gets_arrays(self, type: Name) -> bool:
        """Whether functions tell a number along with the ``type`` that they hand out."""
        return self._allocation.hands_out_many(type)

    def hold(self, type: Name) -> bool:
        """Whether an export that can be named uses ``type`` by value."""
        return type in self._allocation.by_value

    def hold_beyond_standard(self, type: Name) -> bool:
        """Whether an export that can be named, and that is the library's own, uses ``type`` by value."""
        return type in self._allocation.held_by_own

    def passed_with(self, type: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """What the exports, function pointers and virtual methods take or return."""
        return self._allocation.passed_with(type, stays)

    def taken_with(self, type: Name, stays: Callable[[Name], bool]) -> Sequence[Name]:
        """What the exports, function pointers and virtual methods take."""
        return self._allocation.taken_with(type, stays)

    @cached_property
    def _clues(self) -> HeaderClues:
        return HeaderClues(self._own.snapshot, self._files, self._reach)

    @cached_property
    def _internals(self) -> InternalDeclarations:
        return InternalDeclarations(self._clues)

    @cached_property
    def _private_members(self) -> PrivateMembers:
        return PrivateMembers(self._clues)

    @cached_property
    def _constants(self) -> ConstantHeaders:
        return ConstantHeaders(self._own, self._files, self.can_see)

    @cached_property
    def _uses(self) -> Summaries[TypeUse]:
        layout = self._own.snapshot.entries.get("layout", {})
        uses = TypeUses(self._types, lambda name: self._reach().mentions(name), layout)
        return Summaries(layout, uses.of, follows="resolved")

    @cached_property
    def _allocation(self) -> Allocation:
        return Allocation(self._uses, self._internals, self._private_members, self._files, plain=self._is_plain)

    @property
    def _is_plain(self) -> bool:
        languages = self._own.snapshot.provenance.languages
        return not any("C++" in language or "plus_plus" in language for language in languages)
