"""Facts that a format does not record, so that two inputs are compared in what both record.

A fact is a field of a shape (``Record.passing``), a class of shapes (``Import``), or one of :data:`PARTICULAR`.
Evidence names the facts that its input never records: ABIXML has no ``noreturn``, a Debian symbols file has no sizes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from functools import cache
from operator import is_
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import force_setattr

from abistore.model.declarations import EXPORTS, FACETS, Facet, Name
from abistore.model.shapes import (
    VOID,
    Alias,
    AnyShape,
    Array,
    ElfLibrary,
    Enum,
    Enumerator,
    Field,
    Function,
    Inline,
    Library,
    MemberPointer,
    Named,
    Node,
    Primitive,
    Procedure,
    Qualified,
    Record,
    Special,
    Symbol,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Evidence, Snapshot, Variants, sort_variants
from abistore.model.structure import CLASSES, inner, is_struct, mentioned
from abistore.model.structure import held as parts_of
from abistore.model.words import counted

if TYPE_CHECKING:
    from abistore.model.snapshot import Target

Concern: TypeAlias = Literal[
    "arguments", "empty classes", "every call", "floats", "float results", "floats alone", "integer registers",
    "long double", "shown elsewhere", "small structs", "stack", "vectors of 32", "vectors of 64",
]  # fmt: skip
"""What is passed differently with an option; ``shown elsewhere`` is what sizes, offsets and symbols tell."""

X86: Final = r"(?:x86_64|i386)\b"
IN_MEMORY: Final = r"i386 elf (?!freebsd|netbsd|openbsd)"
"""The systems that return every struct in memory without being asked."""

BEFORE_12: Final = r"(?:[2-9]|1[01])"
"""The versions of GCC's C++ ABI that pass empty classes and those without usable copies in another way."""


class CallOption(msgspec.Struct, frozen=True):
    """Options for one thing, on the platforms that begin so. The last one holds, or any where each asks for ``more``.

    ``usual`` is what is as without any option. ``written`` is what stands for all others, where they are all alike.
    """

    concern: Concern
    options: str
    usual: str
    platforms: str = ""
    written: str | None = None
    more: bool = False

    def of(self, words: Iterable[str]) -> str | None:
        """The option among ``words`` that is in force, where it is not the usual one."""
        said = [word for word in words if re.fullmatch(self.options, word)]
        in_force = [word for word in (said if self.more else said[-1:]) if not re.fullmatch(self.usual, word)]
        return (self.written or in_force[-1]) if in_force else None


CALL_OPTIONS: Final = (
    CallOption("arguments", r"-mabi=(?:ms|sysv)", "-mabi=sysv", r"x86_64 (?!pe)"),
    CallOption("arguments", r"-mabi=(?:ms|sysv)", "-mabi=ms", r"x86_64 pe"),
    CallOption("small structs", r"-f(?:pcc|reg)-struct-return", "-fpcc-struct-return", IN_MEMORY),
    CallOption("small structs", r"-f(?:pcc|reg)-struct-return", "-freg-struct-return", rf"(?!{IN_MEMORY})"),
    CallOption("integer registers", r"-mregparm=\d", "-mregparm=0", "i386"),
    CallOption("stack", r"-m(?:no-)?rtd", "-mno-rtd", "i386|m68k"),
    CallOption("floats alone", r"-m(?:no-)?sseregparm", "-mno-sseregparm", "i386"),
    CallOption("long double", r"-mlong-double-\d+", "-mlong-double-(?:64|80)", X86),
    CallOption("float results", r"-m(?:hard|soft)-float|-m(?:no-)?(?:80387|fp-ret-in-387)",
               "-mhard-float|-m80387|-mfp-ret-in-387", "i386", "-msoft-float", more=True),
    CallOption("floats", r"-mfloat-abi=\w+|-m(?:hard|soft)-float", "-m(?:float-abi=)?soft.*", r"arm "),
    CallOption("floats", r"-mfloat-abi=\w+|-m(?:hard|soft)-float", "-m(?:float-abi=)?hard.*", r"(?!arm |i386)"),
    CallOption("vectors of 32", r"-m(?:no-)?avx\S*|-march=x86-64-v\d", "-mno-.*|-march=x86-64-v2", X86, "-mavx", True),
    CallOption("vectors of 64", r"-m(?:no-)?avx512\w+|-march=x86-64-v4", "-mno-.*", X86, "-mavx512f", more=True),
    CallOption("every call", r"-fcall-(?:used|saved)-\S+", "", more=True),
    CallOption("empty classes", r"-fabi-version=\d+", rf"-fabi-version=(?!{BEFORE_12}$)\d+", "x86_64",
               "-fabi-version=11"),
    CallOption("shown elsewhere", r"-fabi-version=\d+|-mlong-double-64", "-fabi-version=0"),
)  # fmt: skip
"""What psABIs and compilers let options decide: the manual of GCC, "C++ Dialect", "Code Gen" and "Submodel" options."""


def in_force(producer: str, target: Target) -> tuple[tuple[Concern, str], ...]:
    """What one unit's options decide about its calls for a target, without what is usual there."""
    return _in_force(producer, _platform(target))


@cache
def _in_force(producer: str, platform: str) -> tuple[tuple[Concern, str], ...]:
    words = [word for word in producer.split() if word.startswith("-")]
    chosen = (each for each in _options_of(platform) if each.concern != "shown elsewhere")
    return tuple((each.concern, word) for each in chosen if (word := each.of(words)))


def about_calls(words: Iterable[str], target: Target) -> tuple[frozenset[str], frozenset[str]]:
    """The options of which it is known what they concern on a target, and those of them that are not usual there."""
    options = _options_of(_platform(target))
    known = {word: [each for each in options if re.fullmatch(each.options, word)] for word in words}
    unusual = (word for word, own in known.items() if any(not re.fullmatch(each.usual, word) for each in own))
    return frozenset(word for word, own in known.items() if own), frozenset(unusual)


@cache
def _options_of(platform: str) -> tuple[CallOption, ...]:
    return tuple(each for each in CALL_OPTIONS if re.match(each.platforms, platform))


def _platform(target: Target) -> str:
    return f"{target.machine} {target.format} {target.os_abi}"


def passes_deleted_by_value(producer: str) -> bool:
    """Whether a class without usable copies still goes by value: before version 12 of GCC's C++ ABI."""
    said = re.findall(r" -fabi-version=(\d+)", producer)
    return bool(said) and re.fullmatch(BEFORE_12, said[-1]) is not None


WORDS: Final[Mapping[str, str]] = {
    "Array.vector": "vector types",
    "Array[Array]": "outer dimensions of arrays",
    "Array[bounds]": "dimensions of arrays, and unknown bounds",
    "Base.access": "access of base classes",
    "Base.offset": "offsets of base classes",
    "Alias": "typedefs",
    "Enum.signed": "signs of enumerators",
    "Enum.scoped": "scoped enumerations",
    "Enum.size": "sizes of enumerations",
    "Enum.underlying": "underlying types of enumerations",
    "Enum[wide]": "enumerations of more than 32 bits",
    "Field.access": "access of members",
    "Field.bit_size": "widths of bit-fields",
    "Field.mutable": "mutable members",
    "Field.offset": "offsets of members",
    "Field[anonymous]": "which members are in an anonymous struct or union",
    "Field[in anonymous]": "members of anonymous structs and unions",
    "TypeRef[unsaid]": "what is made of atomic types, pointers to members or nullptr_t",
    "TypeRef[coarse]": "qualifiers, array bounds, parameters of callbacks, and unnamed types",
    "TypeRef[unrepresented]": "what is made of vectors, complex numbers or atomic types",
    "Field[bit_size]": "bit-fields",
    "Foreign": "types of the standard library",
    "Foreign.alignment": "alignments of the standard library's types",
    "Foreign.arguments": "template arguments of the standard library's types",
    "Foreign.size": "sizes of the standard library's types",
    "Function.calling_convention": "calling conventions",
    "Function.noreturn": "noreturn",
    "Function.prototyped": "prototypes",
    "Import": "imports",
    "Import.library": "libraries that imports are bound to",
    "Import.version": "versions of imports",
    "Import.weak": "weak imports",
    "Library.features": "loader requirements",
    "Library.name": "SONAME",
    "Library.needed": "dependencies",
    "Library.needed[order]": "the order of dependencies",
    "Library.protections": "hardening",
    "Library.search_paths": "search paths",
    "Library.weaknesses": "weaknesses of the file",
    "Method.defaulted": "defaulted members",
    "Method.deleted": "deleted members",
    "Method.explicit": "explicit",
    "Method.reference": "ref-qualifiers",
    "Method.slot": "vtable slots of exported methods",
    "Name[mangled]": "mangled names of some exports",
    "Qualified[atomic]": "atomic types",
    "Qualified[void]": "const and volatile of void",
    "Record.alignment": "alignas",
    "Record.arguments": "template arguments of records",
    "Record.deleted": "deleted members of records",
    "Record.passing": "how records are passed by value",
    "Record.has_vptr": "vtable pointers",
    "Record.virtuals": "virtual methods",
    "Shape[variants]": "names with several definitions",
    "Symbol.default": "default symbol versions",
    "Symbol.elf": "IFUNC, unique and protected symbols",
    "Symbol.size": "sizes of data symbols",
    "Symbol.table": "contents of vtables",
    "Symbol.type": "types of symbols",
    "Symbol.weak": "weak symbols",
    "Target.machine": "which ABI of the machine (floating-point arguments, byte order)",
    "Variable.access": "access of static data members",
    "Symbol[unique]": "unique symbols",
    "VirtualMethod.pure": "pure virtual methods",
    "ElfLibrary.rpath": "RPATH",
    "ElfLibrary.version_definitions": "version definitions",
    "ElfLibrary.version_requirements": "version requirements",
}
"""What messages call each fact. Evidence of a newer abistore may name others."""

BIT_FIELDS, UNSAID, DIMENSIONS, SIGNS = (
    "Field[bit_size]",
    "TypeRef[unsaid]",
    "Array[Array]",
    "Enum.signed",
)
ORDER, ATOMIC, VARIANTS = "Library.needed[order]", "Qualified[atomic]", "Shape[variants]"
VOIDS = "Qualified[void]"
BOUNDS, WIDE_ENUMS, UNREPRESENTED = "Array[bounds]", "Enum[wide]", "TypeRef[unrepresented]"
ANONYMOUS, IN_ANONYMOUS, COARSE = "Field[anonymous]", "Field[in anonymous]", "TypeRef[coarse]"
VARIANT: Final = "Target.machine"
"""Of the evidence for symbols: the input names the processor, and not which of its ABIs the library is for."""

UNIQUE, DEMANGLED = "Symbol[unique]", "Name[mangled]"
SOME_EXPORTS: Final = "exports "
BY_NAME, BY_DEMANGLED = "exports ~", "exports demangled ~"
"""Before a regular expression (RE2) of ``NAME@VERSION``: it is not known which exports it means are there."""
PARTICULAR: Final = frozenset(
    {
        *(BIT_FIELDS, UNSAID, DIMENSIONS, SIGNS, ORDER, ATOMIC, VOIDS, VARIANTS, UNIQUE, DEMANGLED),
        *(BOUNDS, WIDE_ENUMS, UNREPRESENTED, ANONYMOUS, IN_ANONYMOUS, COARSE),
    }
)
"""Facts that are a part of a field, or of some fields, arrays or enumerators only."""

OF_COMPILERS: Final = frozenset(
    {
        *("Enum.scoped", "Function.noreturn", "Method.deleted", "Method.explicit", "Method.reference"),
        *("Record.alignment", "Record.deleted"),
    }
)
"""Facts that some compilers leave out of debug information, which is complete otherwise."""


def unrecorded_by(evidence: Evidence) -> frozenset[str]:
    """The facts that the input of a facet does not record."""
    return frozenset(evidence.unrecorded or ())


def spelled(facts: Iterable[str]) -> str:
    """Facts in words: ``imports, noreturn``."""
    found = list(facts)
    words = sorted(WORDS.get(fact, fact) for fact in found if not fact.startswith(SOME_EXPORTS))
    patterns = len(found) - len(words)
    return ", ".join([*words, *([f"exports that {counted(patterns, 'pattern')} mean"] if patterns else [])])


def unlike(old: Iterable[Evidence], new: Iterable[Evidence]) -> bool:
    """Whether one side records facts that the other does not."""
    before, after = ({each.facet: unrecorded_by(each) for each in side} for side in (old, new))
    return any(before.get(facet) != after.get(facet) for facet in before.keys() & after.keys())


_NEUTRAL: Final[Mapping[tuple[str, str], Any]] = {
    ("Base", "offset"): 0,
    ("Enum", "size"): 4,
    ("Field", "offset"): 0,
    ("Foreign", "alignment"): None,
    ("Foreign", "size"): None,
    ("Symbol", "type"): "unknown",
}
"""What stands for a fact that nobody knows, in fields without a default."""


def common_ground(old: Snapshot, new: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Both snapshots without the facts that either does not record: the same objects where there are none."""
    if not unlike(old.evidence, new.evidence):
        return old, new
    old, new = _joined(old, new), _joined(new, old)
    unknown = _facts(old, "layout") | _facts(new, "layout")
    wide = {name for each in (old, new) for name in _wide_enums(each)} if WIDE_ENUMS in unknown else set[Name]()
    cuts = {facet: cut(_facts(old, facet) | _facts(new, facet)) for facet in FACETS}
    old, new = (_without(each, cuts) for each in (old, new))
    several = _with_variants(old) | _with_variants(new) if VARIANTS in unknown else set[Name]()
    if unsure := wide | several:
        old, new = (_without_names(each, unsure) for each in (old, new))
    if "Symbol.type" in _facts(new, "symbol"):
        return old, _of_kinds(new, old)
    return (_of_kinds(old, new), new) if "Symbol.type" in _facts(old, "symbol") else (old, new)


def _facts(snapshot: Snapshot, facet: Facet) -> frozenset[str]:
    return unrecorded_by(snapshot.evidence_of(facet))


def _without(snapshot: Snapshot, cuts: Mapping[Facet, Cut]) -> Snapshot:
    entries = {facet: cuts[facet].table(held) for facet, held in snapshot.entries.items()}
    return msgspec.structs.replace(snapshot, entries=entries)


def _joined(snapshot: Snapshot, other: Snapshot) -> Snapshot:
    """``snapshot``, whose exports are demangled in part, with the mangled names that ``other`` has for these."""
    if DEMANGLED not in _facts(snapshot, "symbol"):
        return snapshot
    from abistore.model.names.qualified import demangle  # few inputs need it

    mangled: dict[str, list[Name]] = {}
    for name in other.entries.get("symbol", ()):
        if name.kind in EXPORTS and (spelled := demangle(name.spelling)) != name.spelling:
            mangled.setdefault(spelled, []).append(name)
    entries: dict[Name, Variants] = {}
    for name, held in snapshot.entries.get("symbol", {}).items():
        for each in mangled.get(name.spelling, [name]) if name.kind in EXPORTS else [name]:
            entries[each] = sort_variants((*entries.get(each, ()), *held))
    return msgspec.structs.replace(snapshot, entries={**snapshot.entries, "symbol": entries})


def _with_variants(snapshot: Snapshot) -> set[Name]:
    return {name for name, shapes in snapshot.entries.get("layout", {}).items() if len(shapes) > 1}


def _wide_enums(snapshot: Snapshot) -> set[Name]:
    layout = snapshot.entries.get("layout", {})
    return {name for name, shapes in layout.items() for each in shapes if isinstance(each, Enum) and each.size > 4}


def _without_names(snapshot: Snapshot, names: Container[Name]) -> Snapshot:
    layout = {name: shapes for name, shapes in snapshot.entries.get("layout", {}).items() if name not in names}
    return msgspec.structs.replace(snapshot, entries={**snapshot.entries, "layout": layout})


def _of_kinds(snapshot: Snapshot, other: Snapshot) -> Snapshot:
    """``snapshot``, whose input does not tell functions from data, with the kinds that ``other`` has of exports."""
    kinds = {name.spelling: name for name in other.entries.get("symbol", ()) if name.kind in EXPORTS}
    entries = {
        name if name.kind not in EXPORTS else kinds.get(name.spelling, name): shapes
        for name, shapes in snapshot.entries.get("symbol", {}).items()
    }
    return msgspec.structs.replace(snapshot, entries={**snapshot.entries, "symbol": entries})


@cache
def cut(facts: frozenset[str]) -> Cut:
    """What takes ``facts`` out of shapes."""
    return Cut(facts)


class Cut:
    """Takes facts out of shapes: what is left says nothing about them."""

    def __init__(self, facts: Collection[str]) -> None:
        self._particular = PARTICULAR.intersection(facts)
        plain = [fact for fact in facts if fact not in PARTICULAR]
        self._classes = frozenset(fact for fact in plain if "." not in fact)
        self._fields: dict[str, list[str]] = {}
        self._unsaid: frozenset[Name] = frozenset()
        self._aliases: dict[Name, TypeRef] = {}
        self._unsayable = self._particular & {UNSAID, UNREPRESENTED}
        self._some = SomeExports(facts)
        for fact in plain:
            owner, _, field = fact.partition(".")
            if field and field in getattr(CLASSES.get(owner), "__struct_fields__", ()):
                self._fields.setdefault(owner, []).append(field)
        self._known: dict[Node, Node] = {}

    def table(self, entries: Mapping[Name, Variants]) -> Mapping[Name, Variants]:
        """The entries of a facet; names of which nothing is left are taken out."""
        if not self._classes and not self._fields and not self._particular and not self._some:
            return entries
        cut = self
        if self._unsayable and (unsaid := _unsaid_aliases(entries, self._unsayable)):
            cut = copy(self)
            cut._unsaid, cut._known = unsaid, {}
        if COARSE in self._particular:
            cut = copy(cut)
            cut._aliases, cut._known = _targets(entries), {}
        found = ((name, cut.variants(held)) for name, held in entries.items() if name not in cut._unsaid)
        return {name: left for name, left in found if left and not self._some.mean(name, left)}

    def variants(self, variants: Variants) -> Variants:
        """What is left of the shapes of one name."""
        left: list[AnyShape] = [self._struct(shape) for shape in variants if not self._unknown(shape)]
        if len(left) == len(variants) and all(map(is_, left, variants)):
            return variants
        return sort_variants(left)

    def _unknown(self, shape: AnyShape) -> bool:
        if type(shape).__name__ in self._classes:
            return True
        if UNIQUE in self._particular and isinstance(shape, Symbol) and shape.elf and shape.elf.unique:
            return True
        told = bool(self._unsayable) and isinstance(shape, Function | Variable)
        return told and any(is_unsaid(each, self._unsaid, self._unsayable) for each in mentioned(shape))

    def _struct(self, struct: Any) -> Any:
        if isinstance(struct, Node):
            known = self._known.get(struct)
            if known is None:
                coarse = COARSE in self._particular
                known = self._known[struct] = self._coarse(struct) if coarse else self._rebuilt(struct)
            return known
        return self._rebuilt(struct)

    def _rebuilt(self, struct: Any) -> Any:
        if self._particular & {ANONYMOUS, IN_ANONYMOUS} and isinstance(struct, Record):
            members = _members(struct, keep=IN_ANONYMOUS not in self._particular)
            struct = msgspec.structs.replace(struct, fields=tuple(members))
        kind: type[msgspec.Struct] = struct.__class__
        changed = {field: _neutral(kind, field) for field in self._fields.get(kind.__name__, ())}
        for field in _parts(kind):
            if field not in changed:
                changed[field] = self._value(getattr(struct, field))
        if any(value is not getattr(struct, field) for field, value in changed.items()):
            struct = _emptied(msgspec.structs.replace(struct, **changed))
        return self._without_particular(struct) if self._particular else struct

    def _coarse(self, type: Node) -> Any:
        """What a text of a type without its details says: ``fn(...) *``, ``int[]``; aliases are resolved."""
        match type:
            case Named():
                target = self._aliases.pop(type.name, None)  # one that leads to itself stays
                return type if target is None else self._struct(target)
            case Qualified():
                return self._struct(type.target)
            case Primitive():
                return Special(type.spelling)
            case Procedure():
                return FUNCTION
            case Inline():
                return UNNAMED
            case Array():
                element = self._struct(type.element)
                return element if isinstance(element, Array) else Array(element, None)
        return self._rebuilt(type)

    def _without_particular(self, struct: Any) -> Any:
        match struct:
            case Array() if DIMENSIONS in self._particular and isinstance(struct.element, Array):
                return struct.element
            case Array(vector=False) if BOUNDS in self._particular:
                return _flattened(struct)
            case Enum() if SIGNS in self._particular:
                return msgspec.structs.replace(struct, enumerators=_signed(struct))
            case Qualified() if ATOMIC in self._particular and "atomic" in struct.qualifiers:
                left = tuple(each for each in struct.qualifiers if each != "atomic")
                return msgspec.structs.replace(struct, qualifiers=left) if left else struct.target
            case Qualified(target=target) if VOIDS in self._particular and target == VOID:
                return VOID
            case Library() if ORDER in self._particular:
                return msgspec.structs.replace(struct, needed=tuple(sorted(struct.needed)))
            case Record():
                fields = tuple(field for field in struct.fields if not self._leaves_out(field))
                return struct if len(fields) == len(struct.fields) else msgspec.structs.replace(struct, fields=fields)
        return struct

    def _leaves_out(self, field: Field) -> bool:
        if field.bit_size is not None and BIT_FIELDS in self._particular:
            return True
        return bool(self._unsayable) and is_unsaid(field.type, self._unsaid, self._unsayable)

    def _value(self, value: Any) -> Any:
        if isinstance(value, tuple):
            found = tuple(self._struct(each) if isinstance(each, msgspec.Struct) else each for each in value)
            return value if all(map(is_, found, value)) else found
        return self._struct(value) if isinstance(value, msgspec.Struct) else value


FUNCTION, UNNAMED = Special("function"), Special("unnamed type")
"""What texts of types call a function's type, and one without a name."""


class SomeExports:
    """Patterns of exports of which an input does not tell whether they are there."""

    def __init__(self, facts: Iterable[str]) -> None:
        some = [fact for fact in facts if fact.startswith(SOME_EXPORTS)]
        self._plain = _compiled(frozenset(each.removeprefix(BY_NAME) for each in some if each.startswith(BY_NAME)))
        spelled = frozenset(each.removeprefix(BY_DEMANGLED) for each in some if each.startswith(BY_DEMANGLED))
        self._demangled = _compiled(spelled)

    def __bool__(self) -> bool:
        return self._plain is not None or self._demangled is not None

    def mean(self, name: Name, shapes: Variants) -> bool:
        """Whether a pattern means an export, in any of its versions."""
        if not self or name.kind not in EXPORTS:
            return False
        from abistore.model.names.qualified import demangle  # few inputs need it

        for shape in shapes:
            version = (isinstance(shape, Symbol) and shape.version) or "Base"
            for patterns, spelling in ((self._plain, name.spelling), (self._demangled, demangle(name.spelling))):
                if patterns is not None and patterns.Match(f"{spelling}@{version}"):
                    return True
        return False


def _compiled(patterns: frozenset[str]) -> Any:
    """RE2's set of patterns, which matches in time proportional to the text; ``None`` without any."""
    if not patterns:
        return None
    import re2  # type: ignore[import-untyped]  # few inputs need it

    options = re2.Options()
    options.log_errors = False
    found = re2.Set.SearchSet(options)
    count = 0
    for pattern in sorted(patterns):
        with suppress(re2.error):  # of a file that nobody here wrote: what means nothing takes nothing out
            found.Add(pattern)
            count += 1
    if not count:
        return None
    found.Compile()
    return found


def is_unsaid(type: TypeRef, aliases: Container[Name], facts: Container[str]) -> bool:
    """Whether a type is made of what some tools leave out with all that uses it; ``aliases`` stand for such types.

    ``facts`` are those that are left out: :data:`UNSAID`, :data:`UNREPRESENTED`.
    """
    pending = [type]
    while pending:
        found = pending.pop()
        match found:
            case Named() if found.name in aliases:
                return True
            case Qualified() if "atomic" in found.qualifiers:
                return True
            case MemberPointer() | Primitive(spelling="std::nullptr_t") if UNSAID in facts:
                return True
            case Array(vector=True) | Special() if UNREPRESENTED in facts:
                return True
            case Primitive() if UNREPRESENTED in facts and "complex" in found.spelling.lower():
                return True
        pending += inner(found)
    return False


def _unsaid_aliases(entries: Mapping[Name, Variants], facts: Container[str]) -> frozenset[Name]:
    aliases = _targets(entries)
    found: set[Name] = set()
    while more := {name for name, type in aliases.items() if name not in found and is_unsaid(type, found, facts)}:
        found |= more
    return frozenset(found)


def _targets(entries: Mapping[Name, Variants]) -> dict[Name, TypeRef]:
    return {name: shape.target for name, shapes in entries.items() for shape in shapes if isinstance(shape, Alias)}


def _members(record: Record, start: int = 0, *, keep: bool) -> Iterator[Field]:
    """The members, with those of anonymous structs and unions in their places, or without them."""
    for field in record.fields:
        offset = start + field.offset
        if not field.name and isinstance(field.type, Inline) and isinstance(field.type.shape, Record):
            yield from _members(field.type.shape, offset, keep=True) if keep else ()
        else:
            yield msgspec.structs.replace(field, offset=offset) if start else field


def _flattened(array: Array) -> Array:
    """One array for all dimensions, of an unknown bound where it has no elements."""
    inner = array.element
    if not isinstance(inner, Array) or inner.vector:
        return msgspec.structs.replace(array, count=array.count or None)
    return Array(inner.element, (array.count or 0) * (inner.count or 0) or None)


def _signed(enum: Enum) -> tuple[Enumerator, ...]:
    limit = 1 << max(8 * enum.size - 1, 7)
    return tuple(
        msgspec.structs.replace(each, value=each.value - 2 * limit) if each.value >= limit else each
        for each in enum.enumerators
    )


def _emptied(struct: Any) -> Any:
    """A library that says nothing of ELF any more has no part for it."""
    if isinstance(struct, Library) and struct.elf == ElfLibrary():
        force_setattr(struct, "elf", None)
    return struct


@cache
def _parts(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(
        field
        for field, classes in parts_of(struct).items()
        if any(is_struct(each) and each is not Name for each in classes)
    )


@cache
def _neutral(struct: type[msgspec.Struct], field: str) -> Any:
    """What a field has where nothing is known of it: its default, if it has one."""
    if (struct.__name__, field) in _NEUTRAL:
        return _NEUTRAL[struct.__name__, field]
    return {each.name: each for each in msgspec.structs.fields(struct)}[field].default
