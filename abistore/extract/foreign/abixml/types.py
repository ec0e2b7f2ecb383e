"""The types of an ABIXML corpus, as debug information would show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

from abistore.extract.foreign.abixml.document import Element
from abistore.extract.foreign.abixml.records import read_enum, read_record
from abistore.extract.foreign.abixml.signatures import result, signature
from abistore.extract.foreign.dumped_types import DumpedTypes
from abistore.extract.foreign.gathering import VA_LIST, Gathered
from abistore.model.cpp_names.normal import normal_name
from abistore.model.shapes import Alias, Enum, Record, Sort, TypeRef
from abistore.model.snapshot import Location

RECORDS: Final = frozenset({"class-decl", "union-decl"})
COMPOSITES: Final = RECORDS | {"enum-decl"}
DECLARATORS: Final[Mapping[str, Literal["*", "&", "&&"]]] = {"lvalue": "&", "rvalue": "&&"}
QUALIFIERS: Final = ("const", "volatile", "restrict")
MOST_DIMENSIONS: Final = 16


class AbixmlTypes(DumpedTypes[Element]):
    """The types of a document."""

    undescribed = "type that the file does not describe"

    def __init__(self, root: Element, gathered: Gathered) -> None:
        super().__init__(gathered)
        self.elements: dict[str, Element] = {}
        self._definitions: dict[str, Element] = {}
        for element in root.everything():
            if identifier := element.get("id"):
                self.elements.setdefault(identifier, element)
                if element.tag in COMPOSITES and not element.says("is-declaration-only"):
                    self._definitions.setdefault(element.spelling, element)
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
        return self.reference(element.get("type-id"))

    def _described(self, identifier: str) -> Element | None:
        return self.elements.get(identifier)

    def _read(self, _identifier: str, described: Element) -> TypeRef:
        return self._readers.get(described.tag, self._unknown)(described)

    def _sort(self, described: Element) -> Sort:
        return sort_of(described)

    def _size(self, described: Element) -> int:
        return described.size

    def _location(self, described: Element) -> Location:
        return location_of(described)

    def _shape(self, described: Element, sort: Sort) -> Record | Enum:
        return read_enum(self, described) if sort == "enum" else read_record(self, described, sort)

    def read_members(self) -> None:
        """Read them; what was only declared is looked for among the definitions of other units."""
        while True:
            super().read_members()
            for name in [name for name in self.gathered.declared if name not in self.gathered.entries]:
                if definition := self._definitions.get(name.spelling):
                    self._define(name.spelling, definition, declared_only=False)
            if not self._pending:
                return

    def _composite(self, element: Element) -> TypeRef:
        if element.says("is-anonymous") or not element.get("name").strip():
            return self._unnamed(element)
        spelling = VA_LIST.get(element.get("name")) or normal_name(element.spelling)
        return self._define(spelling, element, declared_only=element.says("is-declaration-only"))

    def _basic(self, element: Element) -> TypeRef:
        return self._built_in(element.get("name"), element.size, element.size)

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
