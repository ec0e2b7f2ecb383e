"""The types of a dump by their identifiers, whatever the dump writes them in: each is read once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from abistore.extract.foreign.gathering import MAX_DEPTH, TOO_DEEP, Gathered
from abistore.extract.types.references import NULLPTR
from abistore.model.shapes import VOID, AnyShape, Enum, Foreign, Inline, Record, Sort, TypeRef
from abistore.model.snapshot import Location

Described = TypeVar("Described")
"""What the dump has for a type."""


class DumpedTypes(ABC, Generic[Described]):
    """Types by their identifiers. Members of named records are read later, so that these may hold each other."""

    undescribed: str
    """What is said in place of a type that the dump mentions and does not have."""

    unnamed = ""
    """What is said in place of a built-in type without a name."""

    def __init__(self, gathered: Gathered) -> None:
        self.gathered = gathered
        self.references = gathered.references
        self._memo: dict[str, TypeRef] = {}
        self._pending: list[tuple[str, Described]] = []
        self._seen: set[int] = set()
        self._depth = 0

    @abstractmethod
    def _described(self, identifier: str) -> Described | None:
        """What the dump has under an identifier."""

    @abstractmethod
    def _read(self, identifier: str, described: Described) -> TypeRef:
        """The type that is described so."""

    @abstractmethod
    def _sort(self, described: Described) -> Sort:
        """The keyword that a record or an enumeration is declared with."""

    @abstractmethod
    def _size(self, described: Described) -> int:
        """Its size in bytes."""

    @abstractmethod
    def _location(self, described: Described) -> Location:
        """Where it is declared."""

    @abstractmethod
    def _shape(self, described: Described, sort: Sort) -> Record | Enum:
        """Its members."""

    def reference(self, identifier: str) -> TypeRef:
        """The type of this identifier; ``void`` where it is empty."""
        if not identifier:
            return VOID
        found = self._memo.get(identifier)
        if found is None:
            described = self._described(identifier)
            if described is None:
                found = self.references.special(self.undescribed)
            elif self._depth > MAX_DEPTH:
                return self.references.special(TOO_DEEP)
            else:
                self._memo[identifier] = self.references.special("enclosing unnamed type")
                self._depth += 1
                found = self._read(identifier, described)
                self._depth -= 1
            self._memo[identifier] = found
        return found

    def read_members(self) -> None:
        """Read the members of every record and enumeration that was mentioned, until nothing new is."""
        while self._pending:
            spelling, described = self._pending.pop()
            sort = self._sort(described)
            named = self.references.named("enum" if sort == "enum" else "record", spelling)
            foreign = self.gathered.is_foreign(spelling)
            shape: AnyShape = Foreign(sort, self._size(described), None) if foreign else self._shape(described, sort)
            self.gathered.add(named.name, shape, self._location(described))

    def _define(self, spelling: str, described: Described, *, declared_only: bool) -> TypeRef:
        """The mention of a record or an enumeration that has a name; its members are read in their turn."""
        sort = self._sort(described)
        named = self.references.named("enum" if sort == "enum" else "record", spelling)
        if declared_only:
            self.gathered.declared.setdefault(named.name, set()).add(sort)
        elif id(described) not in self._seen:
            self._seen.add(id(described))
            self._pending.append((spelling, described))
        return named

    def _unnamed(self, described: Described) -> TypeRef:
        """A record or an enumeration without a name, in its place."""
        sort = self._sort(described)
        return self.references.inline(Inline(self._shape(described, "struct" if sort == "class" else sort)))

    def _built_in(self, name: str, size: int, nullptr: int) -> TypeRef:
        """A built-in type; ``nullptr`` is the size of that of the null pointer."""
        if name == "void":
            return VOID
        if name in NULLPTR:
            return self.references.primitive("std::nullptr_t", nullptr)
        return self.references.primitive(name, size) if size else self.references.special(name or self.unnamed)
