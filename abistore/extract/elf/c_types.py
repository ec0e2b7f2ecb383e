"""C types as BTF and CTF describe them, gathered as debug information would show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from abistore.errors import ExtractError
from abistore.extract.dumps.gathering import DumpedTypes, Gathered, as_parameter
from abistore.extract.files import Exports, text_at
from abistore.extract.reader import FacetReading
from abistore.model.declarations import Name
from abistore.model.format_gaps import ATOMIC, BOUNDS, SIGNS, UNREPRESENTED
from abistore.model.names.symbols import is_mangled
from abistore.model.shapes import (
    Alias,
    Array,
    Enum,
    Enumerator,
    Field,
    Function,
    Record,
    Sort,
    Special,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Evidence, Location

CKind: TypeAlias = Literal[
    "basic", "pointer", "array", "record", "enum", "forward", "typedef", "qualified", "function", "slice", "unknown"
]

UNRECORDED: Final = (
    ATOMIC,
    BOUNDS,
    SIGNS,
    UNREPRESENTED,
    "Enum.underlying",
    "Foreign.alignment",
    "Function.calling_convention",
    "Function.noreturn",
    "Function.prototyped",
    "Record.alignment",
    "Record.passing",
)
"""What neither format has a word for, or what GCC writes wrongly: dimensions of arrays in reverse order."""

MOST_BYTES: Final = 1 << 59
MOST_ALIASES: Final = 100


class CMember(NamedTuple):
    """A member of a struct or union, its offset in bits; ``bits`` is the width of a bit-field."""

    name: str
    type: int
    offset: int
    bits: int | None = None


class CType(NamedTuple):
    """One type. ``word`` is its keyword or qualifier; ``size`` is in bytes, but of a slice the offset in bits.

    ``length`` is the number of elements, or the bits of a slice.
    """

    kind: CKind
    name: str = ""
    size: int = 0
    target: int = 0
    word: str = ""
    length: int = 0
    members: tuple[CMember, ...] = ()
    enumerators: tuple[Enumerator, ...] = ()
    parameters: tuple[int, ...] = ()
    variadic: bool = False


class CDeclarations(NamedTuple):
    """What one part of a section declares: types by number, and functions and variables with the number of theirs.

    One that ``shares`` uses the types of the first part as well.
    """

    types: Mapping[int, CType]
    functions: Sequence[tuple[str, int]]
    variables: Sequence[tuple[str, int]]
    shares: bool = False


class Strings:
    """A table of names. Raises :class:`ExtractError` where they overlap so much that a small file would fill memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._known: dict[int, str] = {}
        self._budget = 16 * len(data) + (1 << 20)

    def at(self, offset: int) -> str:
        """The name at an offset; empty where there is none."""
        found = self._known.get(offset)
        if found is None:
            found = self._known[offset] = text_at(self._data, offset) if 0 <= offset < len(self._data) else ""
            self._budget -= len(found)
            if self._budget < 0:
                raise ExtractError("the names in a string table overlap and would exceed the memory limit")
        return found


class CTypes(DumpedTypes[CType]):
    """The types of one part of a section."""

    undescribed = "type that is not recorded"
    unnamed = "unknown type"

    def __init__(self, types: Mapping[int, CType], gathered: Gathered, shared: CTypes | None = None) -> None:
        super().__init__(gathered)
        self._types = types
        self._shared = shared
        self._naming = dict(_naming(types))
        self.definitions = dict(self._definitions())
        self._readers: dict[CKind, Callable[[str, CType], TypeRef]] = {
            "basic": lambda _, type: self._built_in(type.name, type.size, type.size),
            "pointer": lambda _, type: self.references.pointer(self.of(type.target)),
            "array": lambda _, type: self._array(type),
            **dict.fromkeys(("record", "enum", "forward"), self._composite),
            "typedef": self._alias,
            "qualified": lambda _, type: self.references.qualified(self.of(type.target), type.word),
            "function": lambda _, type: self._procedure(type),
            "slice": lambda _, type: self.of(type.target),
        }

    def of(self, number: int) -> TypeRef:
        """The type of this number; 0 is ``void``."""
        return self.reference(str(number) if number else "")

    def shape_of(self, number: int, display: str, kind: str) -> Function | Variable | None:
        """The declaration of an export of this type; ``None`` for a function without a function's type."""
        if kind == "variable":
            return Variable(display, self.of(number))
        type = self.recorded(number)
        if type is None or type.kind != "function":
            return None
        return Function(display, self.of(type.target), self._parameters(type), type.variadic)

    def recorded(self, number: int) -> CType | None:
        """What is recorded under a number."""
        found = self._types.get(number)
        return self._shared.recorded(number) if found is None and self._shared else found

    def name(self, number: int, type: CType) -> str:
        """The name of a struct, union or enumeration: its own, or that of the first typedef of it."""
        if type.name or number in self._naming or self._shared is None:
            return type.name or self._naming.get(number, "")
        return self._shared.name(number, type)

    def define(self, name: Name) -> None:
        """Read the definition of a name that another part only declares, if there is one here."""
        if found := self.definitions.get(name.spelling):
            self._define(name.spelling, found, declared_only=False)

    def _definitions(self) -> Iterator[tuple[str, CType]]:
        for number, type in self._types.items():
            if type.kind in ("record", "enum") and (name := self.name(number, type)):
                yield name, type

    def _described(self, identifier: str) -> CType | None:
        return self.recorded(int(identifier))

    def _read(self, identifier: str, described: CType) -> TypeRef:
        reader = self._readers.get(described.kind)
        return reader(identifier, described) if reader else self.references.special(self.undescribed)

    def _sort(self, described: CType) -> Sort:
        return "enum" if described.word == "enum" else "union" if described.word == "union" else "struct"

    def _size(self, described: CType) -> int:
        return described.size

    def _location(self, described: CType) -> Location:
        return Location("", 0)

    def _shape(self, described: CType, sort: Sort) -> Record | Enum:
        if sort == "enum":
            return Enum(described.size, described.enumerators)
        fields = tuple(self._field(each) for each in described.members if each.name or each.bits is None)
        return Record("union" if sort == "union" else "struct", self._rounded(described), fields)

    def _field(self, member: CMember) -> Field:
        type = self.recorded(member.type)
        if type is not None and type.kind == "slice":
            return Field(member.name, self.of(type.target), member.offset + type.size, type.length)
        return Field(member.name, self._known(member.type), member.offset, member.bits)

    def _known(self, number: int) -> TypeRef:
        """The type of an object, which cannot be ``void``: that stands for what a format has no word for."""
        return self.of(number) if number else self.references.special(self.undescribed)

    def _rounded(self, record: CType) -> int:
        """The size. The linker adds a bit-field's whole type behind its first byte, and may end behind the struct."""
        for member in record.members:
            type = self.recorded(member.type)
            if type is not None and type.kind == "slice":
                size = self._bytes(type.target)
                if size and member.offset // 8 + size == record.size:
                    return record.size // size * size
        return record.size

    def _bytes(self, number: int) -> int:
        for _ in range(MOST_ALIASES):
            type = self.recorded(number)
            if type is None or type.kind not in ("typedef", "qualified", "slice"):
                return type.size if type else 0
            number = type.target
        return 0

    def _composite(self, identifier: str, type: CType) -> TypeRef:
        name = self.name(int(identifier), type)
        return self._define(name, type, declared_only=type.kind == "forward") if name else self._unnamed(type)

    def _alias(self, identifier: str, type: CType) -> TypeRef:
        target = self.recorded(type.target)
        composite = target is not None and target.kind in ("record", "enum") and not target.name
        names = composite and target is not None and self.name(type.target, target) == type.name
        if names or not type.name or self.gathered.is_foreign(type.name):
            return self.of(type.target)
        alias = self.references.named("alias", type.name)
        self._memo[identifier] = alias
        self.gathered.add(alias.name, Alias(self._known(type.target)))
        return alias

    def _array(self, type: CType) -> TypeRef:
        """One array for all dimensions: GCC 12 writes them in reverse order, and pahole multiplies them."""
        element = self.of(type.target)
        if not isinstance(element, Array):
            return self.references.array(element, type.length or None)
        return self.references.array(element.element, min(type.length * (element.count or 0), MOST_BYTES) or None)

    def _procedure(self, type: CType) -> TypeRef:
        return self.references.procedure(self.of(type.target), self._parameters(type), type.variadic)

    def _parameters(self, type: CType) -> tuple[TypeRef, ...]:
        return tuple(as_parameter(self._known(each)) for each in type.parameters)


def _naming(types: Mapping[int, CType]) -> Iterator[tuple[int, str]]:
    """The types without a name that a typedef names, each by the first."""
    known = set[int]()
    for type in types.values():
        target = types.get(type.target) if type.kind == "typedef" and type.name else None
        if target is not None and target.kind in ("record", "enum") and not target.name and type.target not in known:
            known.add(type.target)
            yield type.target, type.name


def gathered_layout(
    found: Sequence[CDeclarations], exports: Exports, soname: str | None, evidence: Evidence
) -> FacetReading:
    """The layout facet of a library whose parts declare all of ``found``; ``evidence`` says what they never record."""
    gathered = Gathered(soname)
    parts: list[tuple[CTypes, CDeclarations]] = []
    for each in found:
        parts.append((CTypes(each.types, gathered, parts[0][0] if each.shares else None), each))
    kinds = {spelling: Name(kind, spelling) for spelling, kind in exports.kinds.items()}
    for types, part in parts:
        _enter(types, part, kinds)
    for group in exports.by_address.values():
        _share(gathered, [kinds[each] for each in group])
    _complete(gathered, [types for types, _ in parts])
    reading = gathered.reading(kinds, evidence, ("C",))
    return replace(reading, evidence=_told(reading.evidence))


def _enter(types: CTypes, part: CDeclarations, kinds: Mapping[str, Name]) -> None:
    for kind, declared in (("function", part.functions), ("variable", part.variables)):
        for spelling, number in declared:
            name = kinds.get(spelling)
            shape = types.shape_of(number, spelling, kind) if name is not None and name.kind == kind else None
            if name is not None and shape is not None and not _is_unknown(shape):
                types.gathered.add(name, shape)


def _is_unknown(shape: Function | Variable) -> bool:
    return isinstance(shape, Variable) and isinstance(shape.type, Special)


def _share(gathered: Gathered, aliases: Iterable[Name]) -> None:
    """What describes one symbol is true of the others at its address that nothing describes."""
    names = [each for each in aliases if not is_mangled(each.spelling)]
    known = next((each for each in names if each in gathered.entries), None)
    for name in names if known else ():
        if known and name.kind == known.kind and name not in gathered.entries:
            for shape in gathered.entries[known]:
                gathered.add(name, shape)


def _complete(gathered: Gathered, parts: Sequence[CTypes]) -> None:
    """Read all members, and what one part only declares from all parts that define it."""
    asked = set[Name]()
    while True:
        for types in parts:
            types.read_members()
        missing = [name for name in gathered.declared if name not in gathered.entries and name not in asked]
        if not missing:
            return
        asked.update(missing)
        for name in missing:
            for types in parts:
                types.define(name)


def _told(evidence: Evidence) -> Evidence:
    if evidence.reason != "not-in-the-dump":
        return evidence
    reason = "partial-debug-info" if evidence.described else "types-not-recorded"
    hint = f"build every source file of the library with -g: {evidence.source} describes no C++, and not all of C"
    return replace(evidence, reason=reason, hint=hint)


def unreadable(exports: Exports, source: str, error: ExtractError) -> FacetReading:
    """The layout facet where the section is damaged."""
    detail = f"{source}: {error.message}"
    hint = "rebuild the library"
    return FacetReading(Evidence("layout", "missing", "corrupt-debug-info", detail, hint, source, 0, exports.symbols))


def evidence_from(source: str, *, lacks: Iterable[str] = ()) -> Evidence:
    """The evidence of a section, which does not record the facts of ``lacks`` either."""
    facts = (*UNRECORDED, *lacks)
    detail = f"read from {source}, which describes C only; the file has no DWARF"
    return Evidence("layout", "full", detail=detail, source=source, unrecorded=tuple(sorted(facts)))
