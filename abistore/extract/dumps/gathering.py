"""What a dump of another tool declares, gathered as debug information would show it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from msgspec.structs import replace

from abistore.extract.dwarf.types import place_destructors
from abistore.extract.reader import FacetReading
from abistore.extract.types import NULLPTR, References, is_foreign, is_runtime
from abistore.model.declarations import Name, by_name
from abistore.model.format_gaps import VARIANT
from abistore.model.names.qualified import demangle
from abistore.model.names.symbols import is_declared, is_mangled
from abistore.model.shapes import (
    VOID,
    AnyShape,
    Base,
    Enum,
    Foreign,
    Function,
    Inline,
    Named,
    Opaque,
    Pointer,
    Qualified,
    Record,
    Sort,
    TypeRef,
)
from abistore.model.snapshot import VARIED, Evidence, Location, Target, Variants, sort_variants
from abistore.model.structure import HINT, REASON, fitted, told
from abistore.model.words import counted

Entries: TypeAlias = dict[Name, list[AnyShape]]


def place_vptrs(entries: Entries, width: int) -> None:
    """Mark the classes that introduce the vtable pointer, of ``width`` bytes (Itanium C++ ABI, 2.4 and 2.5)."""
    dynamic = _dynamic(entries)
    for name, shapes in entries.items():
        for index, shape in enumerate(shapes):
            if isinstance(shape, Record) and name in dynamic and not _shares(shape, entries, dynamic, width):
                shapes[index] = replace(shape, has_vptr=True)


def _dynamic(entries: Entries) -> set[Name]:
    """The classes that have a vtable: by methods or virtual bases of their own, or through a base."""
    found = {name for name, shapes in entries.items() if any(map(_has_own, shapes))}
    derived: dict[Name, list[Name]] = {}
    for name, shapes in entries.items():
        for shape in shapes:
            for base in shape.bases if isinstance(shape, Record) else ():
                if isinstance(base.type, Named):
                    derived.setdefault(base.type.name, []).append(name)
    pending = list(found)
    while pending:
        for name in derived.get(pending.pop(), ()):
            if name not in found:
                found.add(name)
                pending.append(name)
    return found


def _has_own(shape: AnyShape) -> bool:
    return isinstance(shape, Record) and bool(shape.virtuals or any(base.virtual for base in shape.bases))


def _shares(record: Record, entries: Entries, dynamic: set[Name], width: int) -> bool:
    """Whether a base's vtable pointer is the class's own; of the standard library's classes that is assumed."""
    return any(_is_primary(base, entries, dynamic, width) for base in record.bases)


def _is_primary(base: Base, entries: Entries, dynamic: set[Name], width: int) -> bool:
    if not isinstance(base.type, Named):
        return False
    shapes: Sequence[AnyShape] = entries.get(base.type.name, ())
    if any(isinstance(shape, Foreign) for shape in shapes):
        return True
    if base.type.name not in dynamic:
        return False
    empty = any(isinstance(shape, Record) and not shape.fields and shape.size <= width for shape in shapes)
    return empty or not base.virtual


MAX_DEPTH: Final = 150
"""How many types may be nested in one another without a name between them. Real code stays below 20."""

TOO_DEEP: Final = "type nested too deeply"

VA_LIST: Final = {"typedef __va_list_tag __va_list_tag": "__va_list_tag"}
"""What dumps call the type behind ``va_list``, and its name."""


class Tables(NamedTuple):
    """What a dump says of the symbol tables: the entries of the facet, and the kind of each exported symbol."""

    entries: Mapping[Name, Variants]
    kinds: Mapping[str, Name]
    soname: str | None


class Gathered:
    """Shapes by name. ``references`` makes each type once; what is only declared becomes :class:`Opaque` at the end.

    ``vptr_bytes`` is the size of a vtable pointer, where the dump does not say which classes bring one in.
    """

    def __init__(self, soname: str | None, *, vptr_bytes: int | None = None) -> None:
        self._vptr_bytes = vptr_bytes
        self.runtime = is_runtime(soname)
        self.references = References()
        self.entries: dict[Name, list[AnyShape]] = {}
        self.locations: dict[Name, Location] = {}
        self.declared: dict[Name, set[Sort]] = {}

    def add(self, name: Name, shape: AnyShape, location: Location | None = None) -> None:
        """Record one shape of ``name``; equal ones are kept once."""
        shapes = self.entries.setdefault(name, [])
        if not any(_says_as_much(known, shape) for known in shapes):
            shapes.append(shape)
        if location is not None and location.file:
            self.locations.setdefault(name, location)

    def is_foreign(self, spelling: str) -> bool:
        """Whether a type of this name is the standard library's or the compiler's."""
        return is_foreign(spelling, self.runtime)

    def reading(self, kinds: Mapping[str, Name], evidence: Evidence, languages: Iterable[str]) -> FacetReading:
        """The layout facet; ``evidence`` has what is known of it beside the numbers of exports."""
        for name, sorts in self.declared.items():
            if name not in self.entries:
                foreign = self.is_foreign(name.spelling)
                self.entries[name] = [Foreign(sort, None, None) if foreign else Opaque(sort) for sort in sorted(sorts)]
        if self._vptr_bytes is not None:
            place_vptrs(self.entries, self._vptr_bytes)
        place_destructors(self.entries)
        entries, refused = fitted(self.entries)
        return FacetReading(
            entries={name: sort_variants(shapes) for name, shapes in sorted(entries.items(), key=by_name)},
            locations=self.locations,
            evidence=_counted(self._coverage(kinds, evidence), refused + self.references.budget.refused),
            languages=tuple(sorted(set(languages))),
        )

    def _coverage(self, kinds: Mapping[str, Name], evidence: Evidence) -> Evidence:
        wanted = [symbol for symbol in kinds if is_declared(symbol)]
        absent = sorted(symbol for symbol in wanted if kinds[symbol] not in self.entries)
        count = len(wanted) - len(absent)
        evidence = replace(evidence, described=count, expected=len(wanted))
        if not absent:
            return evidence
        some = counted(len(absent), "export is", "exports are")
        return replace(
            evidence,
            state="partial" if count else "missing",
            reason=evidence.reason or "not-in-the-dump",
            detail="; ".join(filter(None, (evidence.detail, f"{some} not described, e.g. {', '.join(absent[:3])}"))),
            hint=evidence.hint or "create the dump again from a library built with -g, or ingest the library itself",
        )


def _says_as_much(known: AnyShape, shape: AnyShape) -> bool:
    """Whether two shapes are equal. Versions of a symbol may be implemented by functions of other names."""
    if isinstance(known, Function) and isinstance(shape, Function):
        return replace(known, display="") == replace(shape, display="")
    return known == shape


def _counted(evidence: Evidence, refused: int) -> Evidence:
    if not refused:
        return evidence
    state = "missing" if evidence.state == "missing" else "partial"
    detail = "; ".join(filter(None, (evidence.detail, told(refused))))
    return replace(evidence, state=state, reason=evidence.reason or REASON, detail=detail, hint=evidence.hint or HINT)


def is_data(symbol: str) -> bool:
    """Whether a symbol is mangled as that of data: no function has a name without parameters."""
    return is_mangled(symbol) and "(" not in demangle(symbol).replace("(anonymous namespace)", "")


def as_parameter(type: TypeRef) -> TypeRef:
    """A parameter's type without ``const`` and ``volatile`` of its own, which callers never see."""
    if isinstance(type, Qualified):
        kept = tuple(each for each in type.qualifiers if each not in ("const", "volatile"))
        return Qualified(type.target, kept) if kept else type.target
    return type


def qualifiers_of(this: TypeRef | None) -> tuple[str, ...]:
    """The qualifiers of a method, by the type of its ``this``: ``const`` where that points to a constant."""
    if isinstance(this, Qualified):
        this = this.target
    if isinstance(this, Pointer) and isinstance(this.target, Qualified):
        return this.target.qualifiers
    return ()


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
        sort = self._sort(described)
        return self.references.inline(Inline(self._shape(described, "struct" if sort == "class" else sort)))

    def _built_in(self, name: str, size: int, nullptr: int) -> TypeRef:
        """A built-in type; ``nullptr`` is the size of that of the null pointer."""
        if name == "void":
            return VOID
        if name in NULLPTR:
            return self.references.primitive("std::nullptr_t", nullptr)
        return self.references.primitive(name, size) if size else self.references.special(name or self.unnamed)


class Machine(NamedTuple):
    """A machine as targets call it."""

    name: str
    bits: Literal[32, 64]
    endianness: Literal["little", "big"] = "little"

    @property
    def target(self) -> Target:
        """The target of an ELF library for it."""
        return Target("elf", self.name, self.bits, self.endianness)


_KNOWN: Final = {
    each.name: each
    for each in (
        Machine("x86_64", 64),
        Machine("i386", 32),
        Machine("x32", 32),
        Machine("aarch64", 64),
        Machine("arm", 32),
        Machine("armhf", 32),
        Machine("alpha", 64),
        Machine("hppa", 32, "big"),
        Machine("ia64", 64),
        Machine("loongarch64", 64),
        Machine("m68k", 32, "big"),
        Machine("mips", 32),
        Machine("mips64", 64),
        Machine("ppc", 32, "big"),
        Machine("ppc64", 64, "big"),
        Machine("ppc64le", 64),
        Machine("riscv64", 64),
        Machine("s390x", 64, "big"),
        Machine("sh", 32),
        Machine("sparc", 32, "big"),
        Machine("sparc64", 64, "big"),
    )
}

_OTHER_NAMES: Final = {
    **{"amd64": "x86_64", "x86-64": "x86_64", "elf-amd-x86_64": "x86_64"},
    **dict.fromkeys(("i486", "i586", "i686", "x86", "elf-intel-80386"), "i386"),
    **dict.fromkeys(("arm64", "elf-arm-aarch64"), "aarch64"),
    **{"elf-arm": "arm", "armel": "arm", "arm-linux-gnueabihf": "armhf", "armv7": "armhf", "armv7l": "armhf"},
    **dict.fromkeys(("ppc64el", "powerpc64le", "elf-powerpc-64le"), "ppc64le"),
    **{"powerpc": "ppc", "elf-powerpc": "ppc", "powerpc64": "ppc64", "elf-powerpc-64": "ppc64"},
    **{"elf-unknown-arch-value-243": "riscv64", "risc-v": "riscv64", "elf-riscv": "riscv64"},
    **{"elf-unknown-arch-value-258": "loongarch64", "loong64": "loongarch64", "elf-loongarch": "loongarch64"},
    **{"elf-ibm-s390": "s390x", "ibm s/390": "s390x"},
    **{"mipsel": "mips", "mips64el": "mips64", "elf-mips": "mips", "sh4": "sh"},
    **{"elf-sun-sparc": "sparc", "elf-sun-sparc-v9-64": "sparc64", "elf-ia-64": "ia64", "elf-alpha": "alpha"},
}


def target_called(text: str) -> Target | None:
    """The target of ELF libraries that a tool calls ``text``: ``amd64``, ``elf-arm-aarch64``, ``i586``, or in full."""
    word = text.strip().lower()
    for known in _KNOWN.values():
        if word == str(known.target):
            return known.target
    found = _KNOWN.get(_OTHER_NAMES.get(word, word))
    return found.target if found else None


class DumpedTarget(NamedTuple):
    """The target of a dump, and the facts about it that the dump does not record."""

    target: Target
    unrecorded: tuple[str, ...] = ()


def target_dumped(text: str, asked: str | None) -> DumpedTarget | None:
    """The target of a dump that calls its machine ``text``.

    Dumps name the processor (``e_machine``), not how floating-point arguments are passed or the byte order: ``asked``
    decides what such a word leaves open.
    """
    found = target_called(text)
    if found is None or found.family not in VARIED:
        return DumpedTarget(found) if found else None
    wanted = target_called(asked) if asked else None
    if wanted and found.fits(wanted, variants=False):
        return DumpedTarget(wanted)
    return DumpedTarget(found, (VARIANT,))
