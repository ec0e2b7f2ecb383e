"""The types of an ABIXML corpus, as debug information would show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

from abistore.extract.foreign.abixml.document import Element
from abistore.extract.foreign.abixml.records import read_enum, read_record
from abistore.extract.foreign.abixml.signatures import result, signature
from abistore.extract.foreign.gathering import MAX_DEPTH, TOO_DEEP, VA_LIST, Gathered, Sort
from abistore.model.cpp_names.normal import normal_name
from abistore.model.shapes import VOID, Alias, AnyShape, Foreign, Inline, TypeRef
from abistore.model.snapshot import Location

RECORDS: Final = frozenset({"class-decl", "union-decl"})
COMPOSITES: Final = RECORDS | {"enum-decl"}
DECLARATORS: Final[Mapping[str, Literal["*", "&", "&&"]]] = {"lvalue": "&", "rvalue": "&&"}
QUALIFIERS: Final = ("const", "volatile", "restrict")
MOST_DIMENSIONS: Final = 16


class AbixmlTypes:
    """The types of a document by their identifiers, each read once. Members of named records are read later."""

    def __init__(self, root: Element, gathered: Gathered) -> None:
        self.gathered = gathered
        self.references = gathered.references
        self.elements: dict[str, Element] = {}
        self._definitions: dict[str, Element] = {}
        for element in root.everything():
            if identifier := element.get("id"):
                self.elements.setdefault(identifier, element)
                if element.tag in COMPOSITES and not element.says("is-declaration-only"):
                    self._definitions.setdefault(element.spelling, element)
        self._memo: dict[str, TypeRef] = {}
        self._pending: list[tuple[str, Element]] = []
        self._seen: set[int] = set()
        self._depth = 0
        self._readers: dict[str, Callable[[Element], TypeRef]] = {
            **dict.fromkeys(COMPOSITES, self._composite),
            "type-decl": self._basic,
            "typedef-decl": self._alias,
            "pointer-type-def": self._pointer,
            "reference-type-def": self._reference,
            "qualified-type-def": self._qualified,
            "array-type-def": self._array,
            "function-type": self._procedure,
        }

    def of(self, element: Element) -> TypeRef:
        """What an element's ``type-id`` refers to; ``void`` where it has none."""
        identifier = element.get("type-id")
        return self.reference(identifier) if identifier else VOID

    def reference(self, identifier: str) -> TypeRef:
        """The type of this identifier."""
        found = self._memo.get(identifier)
        if found is None:
            element = self.elements.get(identifier)
            if element is None:
                found = self.references.special("type that the file does not describe")
            elif self._depth > MAX_DEPTH:
                return self.references.special(TOO_DEEP)
            else:
                self._memo[identifier] = self.references.special("enclosing unnamed type")
                self._depth += 1
                found = self._readers.get(element.tag, self._unknown)(element)
                self._depth -= 1
            self._memo[identifier] = found
        return found

    def read_members(self) -> None:
        """Read the members of every record and enumeration that was mentioned, until nothing new is."""
        while True:
            while self._pending:
                spelling, element = self._pending.pop()
                self._read(spelling, element)
            for name in [name for name in self.gathered.declared if name not in self.gathered.entries]:
                if definition := self._definitions.get(name.spelling):
                    self._define(name.spelling, definition)
            if not self._pending:
                return

    def _read(self, spelling: str, element: Element) -> None:
        sort = sort_of(element)
        named = self.references.named("enum" if sort == "enum" else "record", spelling)
        shape: AnyShape
        if self.gathered.is_foreign(spelling):
            shape = Foreign(sort, element.size, None)
        else:
            shape = read_enum(self, element) if sort == "enum" else read_record(self, element, sort)
        self.gathered.add(named.name, shape, location_of(element))

    def _define(self, spelling: str, element: Element) -> TypeRef:
        sort = sort_of(element)
        named = self.references.named("enum" if sort == "enum" else "record", spelling)
        if element.says("is-declaration-only"):
            self.gathered.declared.setdefault(named.name, set()).add(sort)
        elif id(element) not in self._seen:
            self._seen.add(id(element))
            self._pending.append((spelling, element))
        return named

    def _composite(self, element: Element) -> TypeRef:
        if element.says("is-anonymous") or not element.get("name").strip():
            sort = sort_of(element)
            if sort == "enum":
                return self.references.inline(Inline(read_enum(self, element)))
            return self.references.inline(Inline(read_record(self, element, "struct" if sort == "class" else sort)))
        spelling = VA_LIST.get(element.get("name")) or normal_name(element.spelling)
        return self._define(spelling, element)

    def _basic(self, element: Element) -> TypeRef:
        name = element.get("name")
        if name == "void":
            return VOID
        size = element.size
        if name in ("decltype(nullptr)", "nullptr_t", "std::nullptr_t"):
            return self.references.primitive("std::nullptr_t", size)
        return self.references.primitive(name, size) if size else self.references.special(name)

    def _alias(self, element: Element) -> TypeRef:
        spelling = normal_name(element.spelling)
        target = self.elements.get(element.get("type-id"))
        names = target is not None and target.get("naming-typedef-id") == element.get("id")
        if names or not spelling or self.gathered.is_foreign(spelling):
            return self.of(element)
        alias = self.references.named("alias", spelling)
        self._memo[element.get("id")] = alias
        self.gathered.add(alias.name, Alias(self.of(element)), location_of(element))
        return alias

    def _pointer(self, element: Element) -> TypeRef:
        return self.references.pointer(self.of(element))

    def _reference(self, element: Element) -> TypeRef:
        return self.references.pointer(self.of(element), DECLARATORS.get(element.get("kind"), "&"))

    def _qualified(self, element: Element) -> TypeRef:
        found = self.of(element)
        for qualifier in QUALIFIERS:
            if element.says(qualifier):
                found = self.references.qualified(found, qualifier)
        return found

    def _array(self, element: Element) -> TypeRef:
        found = self.of(element)
        lengths = (each.number("length") for each in element.children("subrange"))
        bounds = [length if length is not None and length >= 0 else None for length in lengths][:MOST_DIMENSIONS]
        for bound in reversed(bounds or [None]):
            found = self.references.array(found, bound)
        return found

    def _procedure(self, element: Element) -> TypeRef:
        parameters, variadic, _ = signature(self, element)
        return self.references.procedure(result(self, element), parameters, variadic)

    def _unknown(self, element: Element) -> TypeRef:
        return self.references.special(element.get("name") or element.tag)


def sort_of(element: Element) -> Sort:
    """The keyword that a record or an enumeration is declared with."""
    if element.tag == "enum-decl":
        return "enum"
    if element.tag == "union-decl":
        return "union"
    return "struct" if element.says("is-struct") else "class"


def location_of(element: Element) -> Location:
    """Where something is declared, relative to the folder of the compilation where it lies below it."""
    file = element.get("filepath")
    folder = element.folder.rstrip("/")
    below = folder and file.startswith(f"{folder}/")
    return Location(file[len(folder) + 1 :] if below else file, min(max(element.number("line") or 0, 0), 1 << 31))
