"""The types of an abi-dumper dump, as debug information would show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal

from abistore.extract.foreign.abicc.offsets import Reading, decimal_behind
from abistore.extract.foreign.abicc.perl import Hash, Value, hash_of, in_order, number_of, text_of
from abistore.extract.foreign.abicc.standard_templates import with_defaults
from abistore.extract.foreign.dumped_types import DumpedTypes
from abistore.extract.foreign.gathering import VA_LIST, Gathered, as_parameter
from abistore.extract.types.references import NULLPTR
from abistore.model.cpp_names.normal import normal_name
from abistore.model.cpp_names.qualified import last_component
from abistore.model.shapes import Access, Alias, Base, Enum, Enumerator, Field, Record, Sort, TypeRef
from abistore.model.snapshot import Location

SORTS: Final[Mapping[str, Sort]] = {"Class": "class", "Struct": "struct", "Union": "union", "Enum": "enum"}
DECLARATORS: Final[Mapping[str, Literal["*", "&", "&&"]]] = {"Pointer": "*", "Ref": "&", "RvalueRef": "&&"}
QUALIFIERS: Final = {
    "Const": ("const",),
    "Volatile": ("volatile",),
    "ConstVolatile": ("const", "volatile"),
    "Restrict": ("restrict",),
}
KEYWORD: Final = re.compile(r"(?:struct|union|enum|class) ")
UNNAMED: Final = re.compile(r"anon-(?:struct|union|class|enum)-")
VALUE: Final = re.compile(r"-?\d{1,20}(?: \((-?\d{1,20})\))?")
REPEATED: Final = re.compile(r"\b\d{1,20} ?\((-?\d{1,20})\)")
"""A template argument that elfutils writes twice: ``2(2)``."""
BOUND: Final = re.compile(r"\[(\d{0,18})\]$")
VPTR: Final = re.compile(r"_vptr(?:[.$].*)?")
ELLIPSIS: Final = "-1"
MOST_BYTES: Final = 1 << 59


class AbiccTypes(DumpedTypes[Hash]):
    """The types of an abi-dumper dump."""

    undescribed = "type that the dump does not describe"
    unnamed = "unknown type"

    def __init__(self, types: Mapping[str, Hash], gathered: Gathered, reading: Reading, *, width: int) -> None:
        super().__init__(gathered)
        self._width = width
        self.types = types
        self._reading = reading
        self._readers: dict[str, Callable[[str, Hash], TypeRef]] = {
            **dict.fromkeys(SORTS, self._composite),
            **dict.fromkeys(DECLARATORS, self._pointer),
            **dict.fromkeys(QUALIFIERS, self._qualified),
            **dict.fromkeys(("FieldPtr", "MethodPtr"), self._member_pointer),
            "Intrinsic": self._basic,
            "Typedef": self._alias,
            "Array": self._array,
            "FuncPtr": lambda *each: self.references.pointer(self._procedure(*each)),
            "Func": self._procedure,
        }

    def of(self, value: object) -> TypeRef:
        """The type that a field of the dump refers to; ``void`` where it has none."""
        return self.reference(value if isinstance(value, str) else "")

    def _described(self, identifier: str) -> Hash | None:
        return self.types.get(identifier)

    def _read(self, identifier: str, described: Hash) -> TypeRef:
        return self._readers.get(text_of(described.get("Type")), self._unknown)(identifier, described)

    def _sort(self, described: Hash) -> Sort:
        return SORTS[text_of(described.get("Type"))]

    def _size(self, described: Hash) -> int:
        return min(max(number_of(described.get("Size")) or 0, 0), MOST_BYTES)

    def _location(self, described: Hash) -> Location:
        return location_of(described)

    def _shape(self, described: Hash, sort: Sort) -> Record | Enum:
        return self._enum(described) if sort == "enum" else self._record(described, sort)

    def signature(self, described: Hash, *, member: bool) -> tuple[tuple[TypeRef, ...], bool, TypeRef | None]:
        """The parameters, whether more may follow, and the type of ``this``."""
        parameters: list[TypeRef] = []
        variadic, this = False, None
        for place, each in enumerate(in_order(described.get("Param"))):
            if text_of(each.get("type")) == ELLIPSIS:
                variadic = True
            elif member and not place and text_of(each.get("name")) == "this":
                this = self.of(each.get("type"))
            else:
                parameters.append(as_parameter(self.of(each.get("type"))))
        return tuple(parameters), variadic, this

    # --- types that have a name -----------------------------------------------------------------------------------

    def _composite(self, _identifier: str, type: Hash) -> TypeRef:
        text = REPEATED.sub(r"\1", KEYWORD.sub("", text_of(type.get("Name")), count=1))
        if not text.strip() or UNNAMED.match(last_component(text)) or UNNAMED.match(text.rpartition("::")[2]):
            return self._unnamed(type)
        spelling = VA_LIST.get(text) or with_defaults(normal_name(text))
        return self._define(spelling, type, declared_only="Size" not in type and not hash_of(type.get("Memb")))

    def _alias(self, identifier: str, type: Hash) -> TypeRef:
        spelling = normal_name(text_of(type.get("Name")))
        if not spelling or self.gathered.is_foreign(spelling):
            return self.of(type.get("BaseType"))
        alias = self.references.named("alias", spelling)
        self._memo[identifier] = alias
        target = self.of(type.get("BaseType"))
        self.gathered.add(alias.name, Alias(target), location_of(type))
        return alias

    # --- types that have none -------------------------------------------------------------------------------------

    def _basic(self, _identifier: str, type: Hash) -> TypeRef:
        return self._built_in(text_of(type.get("Name")), self._size(type), self._width)

    def _pointer(self, _identifier: str, type: Hash) -> TypeRef:
        return self.references.pointer(self.of(type.get("BaseType")), DECLARATORS[text_of(type.get("Type"))])

    def _qualified(self, _identifier: str, type: Hash) -> TypeRef:
        found = self.of(type.get("BaseType"))
        for qualifier in QUALIFIERS[text_of(type.get("Type"))]:
            found = self.references.qualified(found, qualifier)
        return found

    def _array(self, _identifier: str, type: Hash) -> TypeRef:
        bound = BOUND.search(text_of(type.get("Name")))
        return self.references.array(self.of(type.get("BaseType")), int(bound[1]) if bound and bound[1] else None)

    def _procedure(self, _identifier: str, type: Hash) -> TypeRef:
        parameters, variadic, _ = self.signature(type, member=False)
        return self.references.procedure(self.of(type.get("Return")), parameters, variadic)

    def _member_pointer(self, identifier: str, type: Hash) -> TypeRef:
        """A pointer to a member. Its size in the dump is that of a plain pointer, and is not looked at."""
        method = text_of(type.get("Type")) == "MethodPtr"
        target = self._procedure(identifier, type) if method else self.of(type.get("Return"))
        return self.references.member_pointer(self.of(type.get("Class")), target)

    def _unknown(self, _identifier: str, type: Hash) -> TypeRef:
        name = text_of(type.get("Name"))
        if name in NULLPTR:
            return self.references.primitive("std::nullptr_t", self._width)
        return self.references.special(name or self.unnamed)

    # --- members --------------------------------------------------------------------------------------------------

    def _record(self, type: Hash, sort: Sort) -> Record:
        assert sort != "enum"
        members = in_order(type.get("Memb"))
        return Record(
            sort=sort,
            size=self._size(type),
            fields=tuple(self._field(each) for each in members if not _is_vptr(each)),
            bases=tuple(self._bases(type)),
            has_vptr=any(map(_is_vptr, members)),
        )

    def _field(self, member: Hash) -> Field:
        width = number_of(member.get("bitfield"))
        name = text_of(member.get("name"))
        return Field(
            "" if UNNAMED.match(name) or name.startswith("unnamed") else name,
            self.of(member.get("type")),
            8 * self._offset(member),
            width if width is not None and width >= 0 else None,
            access_of(text_of(member.get("access"))),
        )

    def _offset(self, member: Hash) -> int:
        offset = number_of(member.get("offset")) or 0
        if self._reading == "unreliable":
            return 0
        if self._reading == "hexadecimal":
            offset = decimal_behind(offset) or 0 if offset > 0 else 0
        return min(max(offset, 0), MOST_BYTES)

    def _bases(self, type: Hash) -> Iterator[Base]:
        """The bases in their order. Where they lie is not in the dump."""
        found = [(number_of(hash_of(base).get("pos")) or 0, key, hash_of(base)) for key, base in _items(type, "Base")]
        for _, key, base in sorted(found, key=lambda each: each[:2]):
            virtual = "virtual" in base
            yield Base(self.of(key), None if virtual else 0, virtual, access_of(text_of(base.get("access"))))

    def _enum(self, type: Hash) -> Enum:
        enumerators = (
            Enumerator(text_of(each.get("name")), _enumerator(text_of(each.get("value"))))
            for each in in_order(type.get("Memb"))
        )
        return Enum(self._size(type), tuple(enumerators))


def access_of(text: str) -> Access:
    """The access that a dump notes where it is not public."""
    return "private" if text == "private" else "protected" if text == "protected" else "public"


def location_of(described: Hash) -> Location:
    """Where something is declared: a dump has base names only."""
    file, line = text_of(described.get("Header")), number_of(described.get("Line"))
    if not file:
        file, line = text_of(described.get("Source")), number_of(described.get("SourceLine")) or line
    return Location(file if not file.startswith("<") else "", min(max(line or 0, 0), 1 << 31))


def _items(described: Hash, key: str) -> list[tuple[str, Value]]:
    return list(hash_of(described.get(key)).items())


def _is_vptr(member: Hash) -> bool:
    return VPTR.fullmatch(text_of(member.get("name"))) is not None


def _enumerator(text: str) -> int:
    """The value: ``18446744073709551615 (-1)`` is -1."""
    match = VALUE.fullmatch(text)
    return int(match[1] or match[0]) if match else 0
