"""Snapshot files of format 1: tables of names, types and shapes, whose rows mention each other by number.

They are read for ever, and written no more. A row is an array: its tag, then its fields up to the last that is not its
default. What the rows hold is frozen here, whatever shapes look like today.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.errors import SnapshotError
from abistore.model import declared, shapes, tables
from abistore.model.budget import TypeBudget, fitted
from abistore.model.canonical.encoded import SHORT
from abistore.model.digest import encode
from abistore.model.names import FACETS, Facet, Name
from abistore.model.snapshot import Evidence, Exported, Location, Provenance, Target
from abistore.model.snapshot_file import document
from abistore.model.words import elf_symbols
from abistore.model.words import protections as words

MAX_ROW_DEPTH: Final = 16
"""How deep anonymous records may nest in a row."""

Row: TypeAlias = list[Any]
Field: TypeAlias = tuple[str, str]
"""The name of a field, and what stands there: a value, or a ``type``, ``name`` or row (``=Field``), or many (``*``)."""


def _fields(text: str) -> tuple[Field, ...]:
    found = (word.partition(":") for word in text.split())
    return tuple((name, form) for name, _, form in found)


_FUNCTION: Final = "display result:type parameters:type*"
_TYPES: Final[Mapping[str, tuple[type[msgspec.Struct], int, tuple[Field, ...]]]] = {
    "n": (shapes.Named, 1, _fields("name:name")),
    "p": (shapes.Primitive, 2, _fields("spelling size")),
    "*": (shapes.Pointer, 1, _fields("target:type sort")),
    "a": (shapes.Array, 2, _fields("element:type count vector")),
    "q": (shapes.Qualified, 2, _fields("target:type qualifiers")),
    "f": (shapes.Procedure, 2, _fields("result:type parameters:type* variadic")),
    "m": (shapes.MemberPointer, 2, _fields("owner:type target:type")),
    "i": (shapes.Inline, 1, _fields("shape:shape")),
    "?": (shapes.Special, 1, _fields("spelling")),
}
_SHAPES: Final[Mapping[str, tuple[type[msgspec.Struct], int, tuple[Field, ...]]]] = {
    "Import": (tables.Import, 1, _fields("weak version library")),
    "Function": (
        shapes.Function,
        2,
        _fields(f"{_FUNCTION} variadic noreturn prototyped calling_convention method:=Method"),
    ),
    "Variable": (shapes.Variable, 2, _fields("display type:type owner:name access")),
    "Record": (
        shapes.Record,
        2,
        _fields(
            "sort size fields:=Field* bases:=Base* virtuals:=VirtualMethod* alignment passing deleted arguments:type* "
            "has_vptr"
        ),
    ),
    "Opaque": (shapes.Opaque, 1, _fields("sort")),
    "Foreign": (shapes.Foreign, 3, _fields("sort size alignment arguments:type*")),
    "Enum": (shapes.Enum, 1, _fields("size enumerators:=Enumerator* underlying:type scoped")),
    "Alias": (shapes.Alias, 1, _fields("target:type")),
    "Declared": (declared.Declared, 0, _fields("traits parameters:=Argument* value")),
}
_PARTS: Final[Mapping[str, tuple[type[msgspec.Struct], int, tuple[Field, ...]]]] = {
    "Method": (
        shapes.Method,
        1,
        _fields("owner:name access static virtual slot qualifiers reference explicit deleted defaulted"),
    ),
    "Field": (shapes.Field, 3, _fields("name type:type offset bit_size access mutable")),
    "Base": (shapes.Base, 2, _fields("type:type offset virtual access")),
    "VirtualMethod": (
        shapes.VirtualMethod,
        4,
        _fields("display symbol slot result:type parameters:type* pure access"),
    ),
    "Enumerator": (shapes.Enumerator, 2, _fields("name value")),
    "Argument": (declared.Argument, 0, _fields("name default")),
}


class FormerFile(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file, as far as its rows are not understood yet."""

    format: str
    version: int
    library: str
    release: str | None
    target: Target
    evidence: tuple[Evidence, ...]
    provenance: Provenance
    names: list[Name]
    types: list[Row]
    shapes: list[Row]
    entries: dict[Facet, list[list[int]]]
    files: list[str]
    locations: list[tuple[int, int, int]]
    exported: Exported | None = None
    digest: str | None = None

    def said(self) -> bytes:
        """What the digest is of, however the file is laid out."""
        facets = (facet for facet in FACETS if facet in self.entries)
        entries = b",".join(b'"%b":%b' % (facet.encode(), encode(self.entries[facet])) for facet in facets)
        before = map(encode, (self.library, self.release, self.target, self.evidence, self.provenance))
        after = map(encode, (self.locations, self.files, self.names, self.types, self.shapes))
        exported = [encode(self.exported)] if self.exported else []
        return b"".join((*before, *exported, b"{%b}" % entries, *after))


def read(file: FormerFile) -> tuple[document.File, Mapping[Facet, int]]:
    """The file as it is written today, and how many types in each facet were too large for it.

    Raises :class:`SnapshotError` or msgspec's ``ValidationError`` where a row says nothing.
    """
    reader = _Reader(file.names)
    for number, row in enumerate(file.types):
        _placed(f"row {number} of types", reader.add_type, row)
    shapes_ = [_placed(f"row {number} of shapes", reader.shape, row) for number, row in enumerate(file.shapes)]
    entries: dict[Facet, Mapping[Name, Sequence[shapes.AnyShape]]] = {}
    refused: dict[Facet, int] = {}
    for facet, rows in file.entries.items():
        found = {
            _resolve(file.names, name): tuple(_resolve(shapes_, number) for number in numbers)
            for name, *numbers in map(_checked, rows)
        }
        entries[facet], more = (found, 0) if facet == "symbol" else fitted(found)
        refused[facet] = reader.budget.refused + more if facet != "symbol" else 0
    places = {
        _resolve(file.names, name): Location(_resolve(file.files, place), line) for name, place, line in file.locations
    }
    return _today(file, entries, places), refused


def _today(
    file: FormerFile, entries: Mapping[Facet, Mapping[Name, Sequence[shapes.AnyShape]]], places: Mapping[Name, Location]
) -> document.File:
    names = {name: None for held in (*entries.values(), places) for name in held}
    symbols, layout, source = (entries.get(facet, {}) for facet in FACETS)
    said = (
        document.Seen(
            symbol=tuple(symbols.get(name, ())),
            layout=tuple(layout.get(name, ())),
            source=tuple(source.get(name, ())),
            at=places.get(name),
        )
        for name in names
    )
    return document.File(
        format=document.FORMAT_NAME,
        version=document.FORMAT_VERSION,
        library=file.library,
        release=file.release,
        target=file.target,
        evidence=file.evidence,
        provenance=file.provenance,
        facets=tuple(entries),
        names=list(zip(names, said, strict=True)),
        exported=file.exported,
    )


def _placed(place: str, read: Callable[[Row], Any], row: Row) -> Any:
    """What a row says. Raises :class:`SnapshotError`, which names the row, where that is nothing."""
    try:
        return read(row)
    except (msgspec.MsgspecError, SnapshotError) as error:
        raise SnapshotError(f"malformed snapshot: {place}: {error}") from error


def _checked(row: list[int]) -> list[int]:
    if len(row) < 2:
        raise SnapshotError(f"malformed snapshot: an entry without a shape: {row}")
    return row


def _resolve(table: Sequence[Any], number: Any) -> Any:
    """What ``number`` stands for in ``table``; raises :class:`SnapshotError` where it points past the end."""
    if type(number) is not int or not 0 <= number < len(table):
        raise SnapshotError(f"a reference points nowhere: {str(number)[:60]}")
    return table[number]


class _Reader:
    """Turns rows into structs. ``names`` is the table of names; that of types grows with :meth:`add_type`."""

    def __init__(self, names: Sequence[Name]) -> None:
        self._names = names
        self._types: list[shapes.TypeRef] = []
        self.budget = TypeBudget()

    def add_type(self, row: Row) -> None:
        """Read the next row of the table of types. What is too large is replaced."""
        if not (isinstance(row, list) and row and isinstance(row[0], str) and row[0] in _TYPES):
            raise SnapshotError(f"not a known row: {str(row)[:60]}")
        self._types.append(self.budget.within(self._built(_TYPES[row[0]], row[1:], 0)))

    def shape(self, row: Any, depth: int = 0) -> Any:
        """The shape of a row."""
        tag = row[0] if isinstance(row, list) and row and isinstance(row[0], str) else ""
        if tag in ("Symbol", "Library"):
            return msgspec.convert(row, _Symbol | _Library).today()
        if tag not in _SHAPES:
            raise SnapshotError(f"not a known row: {str(row)[:60]}")
        return self._built(_SHAPES[tag], row[1:], depth)

    def _built(self, plan: tuple[type[msgspec.Struct], int, tuple[Field, ...]], values: Any, depth: int) -> Any:
        struct, required, fields = plan
        if not isinstance(values, list) or not required <= len(values) <= len(fields) or depth > MAX_ROW_DEPTH:
            raise SnapshotError(f"not the fields of a {struct.__name__}: {str(values)[:60]}")
        config = struct.__struct_config__
        found = {} if config.tag is None else {config.tag_field: config.tag}
        for (name, form), value in zip(fields, values, strict=False):
            found[SHORT.get(name, name)] = self._read(struct.__name__, form, value, depth)
        return msgspec.convert(found, struct)

    def _read(self, within: str, form: str, value: Any, depth: int) -> Any:
        if not form or value is None:
            return value
        if form.endswith("*"):
            if not isinstance(value, list):
                raise SnapshotError(f"not a list in a {within}: {str(value)[:60]}")
            return [self._read(within, form[:-1], each, depth) for each in value]
        if form == "type":
            return _resolve(self._types, value)
        if form == "name":
            return _resolve(self._names, value)
        if form == "shape":
            return self.shape(value, depth + 1)
        return self._built(_PARTS[form[1:]], value, depth + 1)


# --- the two shapes that had other fields ---------------------------------------------------------------------------


class _Symbol(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag_field="tag", tag="Symbol"):
    type: elf_symbols.SymbolType
    binding: elf_symbols.Binding
    visibility: elf_symbols.Visibility
    size: int = 0
    version: str | None = None
    default: bool = True

    def today(self) -> tables.Symbol:
        found = elf_symbols.elf_symbol(self.type, self.binding, self.visibility)
        return replace(found, size=self.size, version=self.version, default=self.default)


class _Hardening(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    relro: Literal["none", "partial", "full"] = "none"
    bind_now: bool = False
    executable_stack: bool = False
    stack_canary: bool = False
    fortify: bool = False
    branch_protection: tuple[str, ...] = ()
    text_relocations: bool = False
    writable_executable_segment: bool = False


class _Library(msgspec.Struct, array_like=True, forbid_unknown_fields=True, tag_field="tag", tag="Library"):
    file_kind: Literal["shared", "executable", "relocatable", "archive"]
    soname: str | None = None
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    version_definitions: tuple[str, ...] = ()
    version_requirements: tuple[tuple[str, str], ...] = ()
    hardening: _Hardening = _Hardening()
    features: tuple[str, ...] = ()

    def today(self) -> tables.Library:
        own, elf = (
            self.hardening,
            tables.ElfLibrary(self.rpath, self.version_definitions, self.version_requirements),
        )
        relro = {"full": words.FULL_RELRO, "partial": words.PARTIAL_RELRO}.get(own.relro)
        protections = _present(
            (
                (relro, relro is not None),
                (words.BIND_NOW, own.bind_now),
                (words.STACK_CANARY, own.stack_canary),
                (words.FORTIFY, own.fortify),
            )
        )
        weaknesses = _present(
            (
                (words.EXECUTABLE_STACK, own.executable_stack),
                (words.TEXT_RELOCATIONS, own.text_relocations),
                (words.WRITABLE_CODE, own.writable_executable_segment),
            )
        )
        return tables.Library(
            file_kind=self.file_kind,
            name=self.soname,
            needed=self.needed,
            search_paths=self.runpath,
            protections=tuple(sorted({*protections, *own.branch_protection})),
            weaknesses=tuple(sorted(weaknesses)),
            features=self.features,
            elf=elf if elf != tables.ElfLibrary() else None,
        )


def _present(words: Iterable[tuple[str | None, bool]]) -> list[str]:
    return [word for word, present in words if word and present]
