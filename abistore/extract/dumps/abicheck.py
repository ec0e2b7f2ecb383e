"""Snapshots of abicheck: symbol tables, and as much of C types as its texts of types say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal

import msgspec

from abistore.errors import ExtractError
from abistore.extract.dumps.gathering import VA_LIST, Gathered, Tables, as_parameter
from abistore.extract.elf.container import is_noise
from abistore.extract.reader import FacetReading
from abistore.model.declarations import SELF, Name, by_name
from abistore.model.format_gaps import ANONYMOUS, COARSE, FUNCTION, UNNAMED, VARIANTS
from abistore.model.names.qualified import normal_name
from abistore.model.names.symbols import is_mangled
from abistore.model.shapes import (
    Access,
    Alias,
    AnyShape,
    Binding,
    ElfLibrary,
    Enum,
    Enumerator,
    Field,
    Foreign,
    Function,
    Import,
    Library,
    Opaque,
    Record,
    Symbol,
    SymbolType,
    TypeRef,
    Variable,
    elf_symbol,
)
from abistore.model.snapshot import Evidence, sort_variants

UNRECORDED_SYMBOLS: Final = (
    "Import.library",
    "Library.features",
    "Library.protections",
    "Library.weaknesses",
    "Symbol.table",
)
UNRECORDED_LAYOUT: Final = (
    ANONYMOUS,
    COARSE,
    VARIANTS,
    "Alias",
    "Enum.scoped",
    "Enum.underlying",
    "Field.mutable",
    "Foreign.alignment",
    "Function.calling_convention",
    "Function.noreturn",
    "Function.prototyped",
    "Function.variadic",
    "Record.alignment",
    "Record.passing",
)
"""What a snapshot has no word for, and what its texts of types leave out: ``fn(...) *``, ``int[]``, ``<anon>``."""

MOST_BYTES: Final = 1 << 59
WIDEST: Final = 1 << 64
MOST_MARKS: Final = 64
LONGEST: Final = 1 << 12


class DumpedSymbol(msgspec.Struct):
    """An export; ``visibility`` and the others are words of ELF in lower case."""

    name: str = ""
    binding: str = "global"
    sym_type: str = "notype"
    size: int = 0
    version: str = ""
    is_default: bool = True
    visibility: str = "default"


class DumpedElf(msgspec.Struct):
    """What ELF says of the file. Early versions do not name the machine."""

    soname: str = ""
    needed: list[str] = []
    rpath: str = ""
    runpath: str = ""
    versions_defined: list[str] = []
    versions_required: dict[str, list[str]] = {}
    symbols: list[DumpedSymbol] = []
    imports: list[DumpedSymbol] = []
    machine: str | None = None
    elf_class: int | None = None
    ei_data: str | None = None


class DumpedField(msgspec.Struct):
    """A member; its offset is ``None`` where only headers were read."""

    name: str = ""
    type: str = ""
    offset_bits: int | None = None
    bitfield_bits: int | None = None
    access: str = "public"


class DumpedType(msgspec.Struct):
    """A struct, class or union."""

    name: str = ""
    kind: str = "struct"
    size_bits: int | None = None
    fields: list[DumpedField] = []
    is_union: bool = False
    is_opaque: bool = False


class DumpedMember(msgspec.Struct):
    """An enumerator."""

    name: str = ""
    value: int = 0


class DumpedEnum(msgspec.Struct):
    """An enumeration."""

    name: str = ""
    members: list[DumpedMember] = []


class DumpedParameter(msgspec.Struct):
    """A parameter, or a variable."""

    type: str = ""


class DumpedFunction(msgspec.Struct):
    """A function by its symbol."""

    name: str = ""
    mangled: str = ""
    return_type: str = ""
    params: list[DumpedParameter] = []
    is_variadic: bool | None = None


class DumpedVariable(msgspec.Struct):
    """A variable by its symbol."""

    name: str = ""
    mangled: str = ""
    type: str = ""


class DumpedEnumSize(msgspec.Struct):
    """What DWARF says of an enumeration."""

    underlying_byte_size: int = 0


class DumpedDwarf(msgspec.Struct):
    """Sizes of built-in types and enumerations, in bytes."""

    enums: dict[str, DumpedEnumSize] = {}
    base_types: dict[str, int] = {}
    has_dwarf: bool = False


class Payload(msgspec.Struct):
    """All that is read of a snapshot. Early versions have it in one object, later ones in sections."""

    library: str = ""
    version: str = ""
    platform: str | None = None
    elf: DumpedElf | None = None
    dwarf: DumpedDwarf | None = None
    functions: list[DumpedFunction] = []
    variables: list[DumpedVariable] = []
    types: list[DumpedType] = []
    enums: list[DumpedEnum] = []
    typedefs: dict[str, str] = {}


class Section(msgspec.Struct):
    """One section."""

    payload: Payload | None = None


class Document(Payload):
    """A snapshot file."""

    schema_version: int = 0
    sections: dict[str, Section] = {}

    def joined(self) -> Payload:
        """What all sections say."""
        if not self.sections:
            return self
        empty, found = Payload(), dict[str, object]()
        for section in self.sections.values():
            for name in Payload.__struct_fields__:
                value = getattr(section.payload, name, None)
                if value and value != getattr(empty, name):
                    found[name] = value
        return msgspec.structs.replace(empty, **found)


def read_document(data: bytes, label: str) -> Document:
    """The snapshot in ``data``. Raises :class:`ExtractError`."""
    try:
        return msgspec.json.decode(data, type=Document)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        what = f"{label}: not a snapshot of abicheck that can be read: {error}"
        raise ExtractError(what, "create it again with `abicheck dump`") from error


TYPES: Final[Mapping[str, SymbolType]] = {
    **{"func": "function", "object": "object", "tls": "tls", "common": "common", "notype": "notype"},
    **{"ifunc": "ifunc", "gnu_ifunc": "ifunc", "loos": "ifunc"},
}
BINDINGS: Final[Mapping[str, Binding]] = {
    **{"global": "global", "weak": "weak"},
    **{"unique": "unique", "gnu_unique": "unique", "loos": "unique"},
}
VISIBILITIES: Final[Mapping[str, Literal["default", "protected"]]] = {"default": "default", "protected": "protected"}


def read_tables(elf: DumpedElf) -> Tables:
    """The symbol facet."""
    gathered: dict[Name, list[AnyShape]] = {}
    kinds: dict[str, Name] = {}
    for each in elf.symbols:
        shape = _symbol(each)
        if shape is not None:
            kind: Literal["function", "variable"] = "function" if shape.type == "function" else "variable"
            name = kinds.setdefault(each.name, Name(kind, each.name))
            gathered.setdefault(name, []).append(shape)
    for each in elf.imports:
        if each.name:
            shape_of_import = Import(each.binding == "weak", each.version or None)
            gathered.setdefault(Name("import", each.name), []).append(shape_of_import)
    entries = {name: sort_variants(shapes) for name, shapes in sorted(gathered.items(), key=by_name)}
    entries[SELF] = (_library(elf),)
    return Tables(entries, kinds, elf.soname or None)


def _symbol(dumped: DumpedSymbol) -> Symbol | None:
    """The exported symbol; ``None`` for what no other file can bind to, and for noise."""
    type, binding = TYPES.get(dumped.sym_type), BINDINGS.get(dumped.binding)
    visibility = VISIBILITIES.get(dumped.visibility)
    if not dumped.name or type is None or binding is None or visibility is None:
        return None
    if is_noise(dumped.name, typed=type != "notype" or dumped.size > 0, entry=True):
        return None
    return msgspec.structs.replace(
        elf_symbol(type, binding, visibility),
        size=0 if type in ("function", "ifunc") else _within(dumped.size),
        version=dumped.version or None,
        default=not dumped.version or dumped.is_default,
    )


def _library(elf: DumpedElf) -> Library:
    required = {(library, version) for library, versions in elf.versions_required.items() for version in versions}
    on_elf = ElfLibrary(
        rpath=_paths(elf.rpath),
        version_definitions=tuple(sorted(set(elf.versions_defined))),
        version_requirements=tuple(sorted(required)),
    )
    return Library(
        "shared",
        elf.soname or None,
        tuple(elf.needed),
        _paths(elf.runpath),
        elf=on_elf if on_elf != ElfLibrary() else None,
    )


def _paths(text: str) -> tuple[str, ...]:
    return tuple(text.split(":")) if text else ()


def _within(number: int) -> int:
    return min(max(number, 0), MOST_BYTES)


BUILT_IN: Final = frozenset(
    {"int", "char", "short", "long", "unsigned", "signed", "float", "double", "bool", "complex", "?", "void"}
    | {"__int128", "_Float128", "__float128", "wchar_t", "char8_t", "char16_t", "char32_t", "...", "__fp16"}
)
"""The words of types that are no declaration."""

MARK: Final = re.compile(r"\s*(\*|&&|&|\bconst|\bvolatile|\brestrict|\[(\d{0,18})\])\s*$")
BEFORE: Final = re.compile(r"(const|volatile|restrict|_Atomic)\s+")
KEYWORD: Final = re.compile(r"(?:struct|union|enum|class) ")
ACCESS: Final[Mapping[str, Access]] = {"public": "public", "protected": "protected", "private": "private"}


def _renamed(target: str) -> Literal["record", "enum", "alias"]:
    """What a typedef names: a struct or an enumeration without a name, or another type."""
    return "enum" if target.startswith("enum <") else "record" if target.startswith("<") else "alias"


class TextTypes:
    """Types by what a snapshot calls them."""

    def __init__(self, dump: Payload, gathered: Gathered) -> None:
        self._gathered = gathered
        self._references = gathered.references
        self._sizes = dump.dwarf.base_types if dump.dwarf else {}
        self._kinds: dict[str, Literal["record", "enum", "alias"]] = {
            **{normal_name(each): _renamed(target) for each, target in dump.typedefs.items()},
            **{normal_name(each.name): "enum" for each in dump.enums},
            **{normal_name(each.name): "record" for each in dump.types},
        }
        self._known: dict[str, TypeRef] = {}

    def of(self, text: str) -> TypeRef:
        """The type that a text means; :class:`Special` for what it does not say."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._read(text)
        return found

    def is_alias(self, text: str) -> bool:
        """Whether a typedef is another name: not where it names a struct or an enumeration that has none."""
        return self._kinds.get(normal_name(text)) == "alias"

    def _read(self, text: str) -> TypeRef:
        marks: list[re.Match[str]] = []
        rest = text[:LONGEST].strip()
        while len(marks) < MOST_MARKS and (mark := MARK.search(rest)):
            marks.append(mark)
            rest = rest[: mark.start()]
        qualifiers: list[str] = []
        while found := BEFORE.match(rest):
            qualifiers.append(found[1])
            rest = rest[found.end() :]
        type = self._named(KEYWORD.sub("", rest, count=1).strip())
        for word in qualifiers:
            type = self._references.qualified(type, "atomic" if word == "_Atomic" else word)
        for each in reversed(marks):
            type = self._marked(type, each)
        return type

    def _marked(self, type: TypeRef, mark: re.Match[str]) -> TypeRef:
        match mark[1]:
            case "*" | "&" | "&&" as sort:
                return self._references.pointer(type, sort)
            case "const" | "volatile" | "restrict" as word:
                return self._references.qualified(type, word)
        return self._references.array(type, int(mark[2]) if mark[2] else None)

    def _named(self, text: str) -> TypeRef:
        if text == "void":
            return self._references.primitive("void", 0)
        if text in self._sizes:
            return self._references.primitive(text, _within(self._sizes[text]))
        if text.startswith("fn("):
            return FUNCTION
        if text.startswith("<"):
            return UNNAMED
        spelling = VA_LIST.get(text) or normal_name(text)
        kind = self._kinds.get(spelling)
        if kind is None and set(spelling.split()) <= BUILT_IN:
            return self._references.special(spelling or "unknown type")
        found = self._references.named(kind or "record", spelling)
        if kind is None:
            self._gathered.declared.setdefault(found.name, set()).add("struct")
        return found


def read_layout(dump: Payload, tables: Tables, evidence: Evidence) -> FacetReading:
    """The layout facet of a C library. Types of C++ are spelled without their scopes, and are not read."""
    if any(map(is_mangled, tables.kinds)):
        detail, hint = "a snapshot of abicheck spells types of C++ without their scopes", "ingest the library itself"
        missing = Evidence("layout", "missing", "not-in-the-dump", detail, hint, "file", 0, len(tables.kinds))
        return FacetReading(missing)
    gathered = Gathered(tables.soname)
    types = TextTypes(dump, gathered)
    for name, shape in _shapes(dump, types, tables):
        if gathered.is_foreign(name.spelling) and isinstance(shape, Record | Enum):
            sort = "enum" if isinstance(shape, Enum) else shape.sort
            shape = Foreign(sort, shape.size, None)
        gathered.add(name, shape)
    return gathered.reading(tables.kinds, evidence, ())


def _shapes(dump: Payload, types: TextTypes, tables: Tables) -> Iterator[tuple[Name, AnyShape]]:
    for record in dump.types:
        if record.name:
            yield Name("record", normal_name(record.name)), _record(record, types)
    sizes = dump.dwarf.enums if dump.dwarf else {}
    for enum in dump.enums:
        if enum.name:
            size = sizes[enum.name].underlying_byte_size if enum.name in sizes else 4
            members = tuple(Enumerator(each.name, each.value) for each in enum.members if abs(each.value) < WIDEST)
            yield Name("enum", normal_name(enum.name)), Enum(_within(size), members)
    for alias, target in dump.typedefs.items():
        if alias and types.is_alias(alias):
            yield Name("alias", normal_name(alias)), Alias(types.of(target))
    for function in dump.functions:
        name = tables.kinds.get(function.mangled)
        if name is not None and name.kind == "function" and not is_mangled(function.mangled):
            parameters = tuple(as_parameter(types.of(each.type)) for each in function.params)
            result = types.of(function.return_type)
            yield name, Function(function.name, result, parameters, bool(function.is_variadic))
    for variable in dump.variables:
        name = tables.kinds.get(variable.mangled)
        if name is not None and name.kind == "variable" and not is_mangled(variable.mangled):
            yield name, Variable(variable.name, types.of(variable.type))


def _record(record: DumpedType, types: TextTypes) -> Record | Opaque:
    """A record; one without a size is only declared, or was read from headers alone."""
    sort: Literal["struct", "class", "union"]
    sort = "union" if record.is_union or record.kind == "union" else "class" if record.kind == "class" else "struct"
    if record.is_opaque or record.size_bits is None:
        return Opaque(sort)
    fields = tuple(
        Field(
            each.name,
            types.of(each.type),
            _within(each.offset_bits or 0),
            None if each.bitfield_bits is None else _within(each.bitfield_bits),
            ACCESS.get(each.access, "public"),
        )
        for each in record.fields
    )
    return Record(sort, _within(record.size_bits) // 8, fields)
