"""What a PDB file says about a DLL's exports and the types that they reach."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from abistore.extract.files import Exports
from abistore.extract.pe import pdb_container as leaf
from abistore.extract.pe.pdb_container import (
    DebugModules,
    PdbContainer,
    PdbSymbol,
    Place,
    TypeRecords,
    flags,
    number,
    raw_text,
    symbols_at,
    text,
)
from abistore.extract.reader import FacetReading
from abistore.extract.types import is_foreign
from abistore.model.declarations import Name, by_name
from abistore.model.names.qualified import demangle, entity, last_component, normal_name, primitive, qualified, scope
from abistore.model.names.symbols import is_declared
from abistore.model.shapes import (
    VOID,
    Access,
    AnyShape,
    Array,
    Base,
    Enum,
    Enumerator,
    Field,
    Foreign,
    Function,
    Inline,
    MemberPointer,
    Method,
    Named,
    Opaque,
    Pointer,
    Procedure,
    Qualified,
    Record,
    Sort,
    Special,
    TypeRef,
    Variable,
    VirtualMethod,
)
from abistore.model.snapshot import Evidence, Target
from abistore.model.structure import TOO_LARGE, TypeBudget, fitted, weakened, without_cycle_collection

NOTHING: Final = 0
"""No type: the result of a constructor, or the ``...`` of a list of parameters."""

_SPELLINGS: Final = {
    **{0x10: ("signed char", 1), 0x20: ("unsigned char", 1), 0x70: ("char", 1), 0x71: ("wchar_t", 2)},
    **{0x7A: ("char16_t", 2), 0x7B: ("char32_t", 4), 0x7C: ("char8_t", 1), 0x68: ("signed char", 1)},
    **{0x69: ("unsigned char", 1), 0x11: ("short", 2), 0x21: ("unsigned short", 2), 0x72: ("short", 2)},
    **{0x73: ("unsigned short", 2), 0x12: ("long", 4), 0x22: ("unsigned long", 4), 0x74: ("int", 4)},
    **{0x75: ("unsigned int", 4), 0x13: ("long long", 8), 0x23: ("unsigned long long", 8), 0x76: ("long long", 8)},
    **{0x77: ("unsigned long long", 8), 0x14: ("__int128", 16), 0x24: ("unsigned __int128", 16)},
    **{0x78: ("__int128", 16), 0x79: ("unsigned __int128", 16), 0x46: ("_Float16", 2), 0x40: ("float", 4)},
    **{0x41: ("double", 8), 0x42: ("long double", 10), 0x43: ("__float128", 16), 0x30: ("bool", 1)},
    **{0x31: ("short", 2), 0x32: ("int", 4), 0x33: ("long long", 8), 0x08: ("long", 4)},
    **{0x50: ("_Complex float", 8), 0x51: ("_Complex double", 16)},
}
"""0x08 is ``HRESULT``; 0x31 to 0x33 are truth values of other widths, as in Visual Basic."""

_NULL_POINTER: Final = 0x103


def builtin(index: int) -> TypeRef:
    """The type of a number below the first record: a plain one, or a pointer to one."""
    if index == _NULL_POINTER:
        return primitive("std::nullptr_t", 8)
    kind, mode = index & 0xFF, index >> 8 & 7
    if kind == 0x03:
        plain: TypeRef = VOID
    elif kind in _SPELLINGS:
        plain = primitive(*_SPELLINGS[kind])
    else:
        plain = Special(f"built-in type {kind:#x}")
    return Pointer(plain) if mode else plain


def size_of(index: int, word: int) -> int:
    """The size of a built-in type in bytes; a pointer has ``word`` of them."""
    return word if index >> 8 & 7 else _SPELLINGS.get(index & 0xFF, ("", 0))[1]


MAX_DEPTH: Final = 100
UNNAMED: Final = ("<unnamed-", "<anonymous-", "__unnamed", "<unnamed_")

_CONST, _VOLATILE = 1, 2
_MODES: Final[dict[int, Literal["*", "&", "&&"]]] = {0: "*", 1: "&", 4: "&&"}
_MEMBERS: Final = frozenset({2, 3})

Describe: TypeAlias = "Callable[[PdbTypes, int], AnyShape]"


class PdbTypes:
    """Turns the numbers of types into references, each once. Named types that are met wait in ``pending``.

    ``describe`` gives the shape of a record or enumeration, for those that have no name. A pointer takes ``word``
    bytes. ``runtime``: the library is the C++ runtime, so that the types of ``std`` are its own.
    """

    def __init__(
        self, records: TypeRecords, aliases: dict[int, str], describe: Describe, *, word: int, runtime: bool
    ) -> None:
        self.records = records
        self.word = word
        self.runtime = runtime
        self._describe = describe
        self.pending: list[tuple[Name, int]] = []
        self.budget = TypeBudget()
        self.inlined: dict[int, TypeRef] = {}
        self._aliases = aliases
        self._known: dict[int, TypeRef] = {}
        self._met = set[Name]()
        self._depth = 0

    def of(self, index: int) -> TypeRef:
        """The type of number ``index``."""
        if index < self.records.first:
            return builtin(index)
        found = self._known.get(index)
        if found is None:
            self._known[index] = TOO_LARGE  # what a damaged type that is part of itself finds
            self._depth += 1
            found = self.budget.within(self._made(index)) if self._depth <= MAX_DEPTH else TOO_LARGE
            self._depth -= 1
            self._known[index] = found
        return found

    def _made(self, index: int) -> TypeRef:
        kind, data = self.records.record(index)
        if kind in leaf.DEFINED:
            return self._named(index)
        if kind == leaf.MODIFIER:
            target, words = struct.unpack_from("<IH", data)
            return qualified(self.of(target), _qualifiers(words & _CONST, words & _VOLATILE, 0))
        if kind == leaf.POINTER:
            return self._pointer(data)
        if kind == leaf.ARRAY:
            return self._array(data)
        if kind in (leaf.PROCEDURE, leaf.MEMBER_FUNCTION):
            return self.procedure(index)
        if kind == leaf.BIT_FIELD:
            return self.of(struct.unpack_from("<I", data)[0])
        return Special(f"type of the form {kind:#x}")

    def _pointer(self, data: bytes) -> TypeRef:
        target, said = struct.unpack_from("<II", data)
        mode = said >> 5 & 7
        if mode in _MEMBERS:
            (owner,) = struct.unpack_from("<I", data, 8)
            made: TypeRef = MemberPointer(self.of(owner), self.of(target))
        else:
            made = Pointer(self.of(target), _MODES.get(mode, "*"))
        return qualified(made, _qualifiers(said >> 10 & 1, said >> 9 & 1, said >> 12 & 1))

    def _array(self, data: bytes) -> TypeRef:
        (element,) = struct.unpack_from("<I", data)
        size, _ = number(data, 8)
        each = self.size(element)
        made = self.of(element)
        return Array(made, size // each if each and size else None)

    def procedure(self, index: int) -> Procedure:
        """The function type of number ``index``, without ``this``."""
        kind, data = self.records.record(index)
        if kind == leaf.PROCEDURE:
            result, _, _, _, listed = struct.unpack_from("<IBBHI", data)
        elif kind == leaf.MEMBER_FUNCTION:
            result, _, _, _, _, _, listed = struct.unpack_from("<IIIBBHI", data)
        else:
            raise IndexError(f"type {index:#x} is not a function")
        kind, data = self.records.record(listed)
        (count,) = struct.unpack_from("<I", data)
        numbers = struct.unpack_from(f"<{min(count, len(data) // 4 - 1)}I", data, 4) if count else ()
        variadic = bool(numbers) and numbers[-1] == NOTHING
        taken = tuple(map(self.of, numbers[:-1] if variadic else numbers))
        return Procedure(VOID if result == NOTHING else self.of(result), taken, variadic)

    # --- names ----------------------------------------------------------------------------------------------------

    def spelling(self, index: int) -> str:
        """The name of a record or enumeration; empty where it has none."""
        kind, data = self.records.record(index)
        at = 12 if kind == leaf.ENUM else number(data, 8 if kind == leaf.UNION else 16)[1]
        name = raw_text(data, at).decode("utf-8", "backslashreplace")
        last = name.rpartition("::")[2]
        if last.startswith(UNNAMED):
            alias = self._aliases.get(index, "")
            return "" if alias.rpartition("::")[2].startswith(UNNAMED) else normal_name(alias)
        return normal_name(name)

    def _named(self, index: int) -> TypeRef:
        defined = self.records.definition(index)
        spelling = self.spelling(defined)
        kind, _ = self.records.record(defined)
        if not spelling:
            return self.inlined.get(defined) or self._inline(defined)
        name = Name("enum" if kind == leaf.ENUM else "record", spelling)
        if name not in self._met:
            self._met.add(name)
            self.pending.append((name, defined))
        return Named(name)

    def _inline(self, index: int) -> TypeRef:
        shape = self._describe(self, index)
        made: TypeRef = Inline(shape) if isinstance(shape, Record | Enum) else Special("type without a name")
        self.inlined[index] = made
        return made

    def is_foreign(self, name: Name) -> bool:
        """Whether the type is of the standard library, and this library is not that."""
        return is_foreign(name.spelling, self.runtime)

    # --- sizes ----------------------------------------------------------------------------------------------------

    def size(self, index: int, depth: int = 0) -> int:
        """How many bytes a type takes; 0 where nothing tells."""
        if index < self.records.first:
            return size_of(index, self.word)
        kind, data = self.records.record(index)
        if depth > MAX_DEPTH:
            return 0
        if kind in (leaf.MODIFIER, leaf.BIT_FIELD):
            return self.size(struct.unpack_from("<I", data)[0], depth + 1)
        if kind == leaf.POINTER:
            return int(struct.unpack_from("<I", data, 4)[0]) >> 13 & 63
        if kind == leaf.ARRAY:
            return number(data, 8)[0]
        if kind == leaf.ENUM:
            return self.size(struct.unpack_from("<I", data, 4)[0], depth + 1)
        if kind in leaf.RECORDS:
            _, data = self.records.record(self.records.definition(index))
            return number(data, 8 if kind == leaf.UNION else 16)[0]
        return 0


def is_declaration(data: bytes) -> bool:
    """Whether a record or enumeration is declared only."""
    return bool(flags(data) & leaf.FORWARD)


def _qualifiers(const: int, volatile: int, restrict: int) -> tuple[str, ...]:
    return tuple(word for word, said in (("const", const), ("restrict", restrict), ("volatile", volatile)) if said)


_ACCESS: Final[dict[int, Access]] = {1: "private", 2: "protected", 3: "public"}
_INTRODUCING: Final = frozenset({4, 6})
_VIRTUAL: Final = frozenset({1, 4, 5, 6})
_PURE: Final = frozenset({5, 6})
_STATIC: Final = 2

_ENTRY: Final = struct.Struct("<HHI")
"""Leaf, attributes, and the type of most entries."""


class PdbMember(msgspec.Struct):
    """One entry of a field list: its leaf, access, name, type, and its offset or value."""

    leaf: int
    access: Access = "public"
    name: str = ""
    type: int = 0
    value: int = 0
    sort: int = 0

    @property
    def is_virtual(self) -> bool:
        """Whether it is a virtual function."""
        return self.sort in _VIRTUAL

    @property
    def is_new(self) -> bool:
        """Whether it has a slot of its own in the vtable; ``value`` is its place there, in bytes."""
        return self.sort in _INTRODUCING

    @property
    def is_pure(self) -> bool:
        """Whether it is a pure virtual function."""
        return self.sort in _PURE

    @property
    def is_static(self) -> bool:
        """Whether it is a static member function."""
        return self.sort == _STATIC


def parts(records: TypeRecords, index: int) -> Iterator[PdbMember]:
    """The entries of the field list ``index``; overloads one by one. Ends at an entry of an unknown form."""
    seen = set[int]()
    while index in records and index not in seen:
        seen.add(index)
        kind, data = records.record(index)
        if kind != leaf.FIELDS:
            return
        index, at = 0, 0
        while at + 4 <= len(data):
            if data[at] >= 0xF0:  # padding tells how long it is
                at += max(data[at] & 15, 1)
                continue
            part, at = _part(data, at)
            if part.leaf == leaf.CONTINUATION:
                index = part.type
            elif part.leaf == leaf.OVERLOADS:
                yield from _overloads(records, part)
            else:
                yield part


def _part(data: bytes, at: int) -> tuple[PdbMember, int]:
    kind, attributes, type = _ENTRY.unpack_from(data.ljust(at + 8, b"\0"), at)
    part = PdbMember(kind, _ACCESS.get(attributes & 3, "public"), type=type, sort=attributes >> 2 & 7)
    after = at + _ENTRY.size
    if kind == leaf.ENUMERATOR:
        part.value, after = number(data, at + 4)
        part.name, after = text(data, after)
    elif kind == leaf.MEMBER:
        part.value, after = number(data, after)
        part.name, after = text(data, after)
    elif kind in (leaf.STATIC_MEMBER, leaf.NESTED, leaf.NESTED_WITH_ACCESS, leaf.OVERLOADS):
        part.value = attributes  # of overloads, how many there are
        part.name, after = text(data, after)
    elif kind == leaf.METHOD:
        if part.is_new:
            (part.value,) = struct.unpack_from("<i", data, after)
            after += 4
        part.name, after = text(data, after)
    elif kind in (leaf.BASE, leaf.INTERFACE_BASE):
        part.value, after = number(data, after)
    elif kind in (leaf.VIRTUAL_BASE, leaf.INDIRECT_BASE):
        part.value, after = number(data, after + 4)
        _, after = number(data, after)
    elif kind not in (leaf.VIRTUAL_TABLE, leaf.CONTINUATION):
        raise IndexError(f"a member of the unknown form {kind:#x}")
    return part, after


def _overloads(records: TypeRecords, part: PdbMember) -> Iterator[PdbMember]:
    """The functions of a method list: attributes, type, and the place in the vtable of those that are new there."""
    kind, data = records.record(part.type)
    at = 0
    while kind == leaf.METHODS and at + 8 <= len(data):
        attributes, type = struct.unpack_from("<H2xI", data, at)
        at += 8
        found = PdbMember(leaf.METHOD, _ACCESS.get(attributes & 3, "public"), part.name, type, sort=attributes >> 2 & 7)
        if found.is_new:
            (found.value,) = struct.unpack_from("<i", data, at)
            at += 4
        yield found


_SORTS: Final[dict[int, Literal["struct", "class", "union"]]] = {
    leaf.CLASS: "class",
    leaf.STRUCTURE: "struct",
    leaf.UNION: "union",
    leaf.INTERFACE: "class",
}


def shape_of(types: PdbTypes, index: int, name: Name | None = None) -> AnyShape:
    """The record or enumeration of number ``index``: defined, foreign, or only declared."""
    kind, data = types.records.record(index)
    sort: Sort = "enum" if kind == leaf.ENUM else _SORTS[kind]
    if name is not None and types.is_foreign(name):
        return Foreign(sort, None if is_declaration(data) else types.size(index), None)
    if is_declaration(data):
        return Opaque(sort)
    return _enum(types, data) if kind == leaf.ENUM else _record(types, kind, data)


def _enum(types: PdbTypes, data: bytes) -> Enum:
    underlying, listed = struct.unpack_from("<II", data, 4)
    found = [Enumerator(each.name, each.value) for each in parts(types.records, listed) if each.leaf == leaf.ENUMERATOR]
    return Enum(types.size(underlying), tuple(found), types.of(underlying))


def _record(types: PdbTypes, kind: int, data: bytes) -> Record:
    (listed,) = struct.unpack_from("<I", data, 4)
    size, _ = number(data, 8 if kind == leaf.UNION else 16)
    fields: list[Field] = []
    bases: list[Base] = []
    virtuals: list[VirtualMethod] = []
    has_vptr = False
    for part in parts(types.records, listed):
        if part.leaf == leaf.MEMBER:
            fields.append(_field(types, part))
        elif part.leaf in (leaf.BASE, leaf.INTERFACE_BASE):
            bases.append(Base(types.of(part.type), 8 * part.value, False, part.access))
        elif part.leaf == leaf.VIRTUAL_BASE:
            bases.append(Base(types.of(part.type), None, True, part.access))
        elif part.leaf == leaf.METHOD and part.is_virtual:
            virtuals.append(_virtual(types, part))
        elif part.leaf == leaf.VIRTUAL_TABLE:
            has_vptr = True
    virtuals.sort(key=lambda method: (method.slot is None, method.slot))
    return Record(_SORTS[kind], size, tuple(fields), tuple(bases), tuple(virtuals), has_vptr=has_vptr)


def _field(types: PdbTypes, part: PdbMember) -> Field:
    if part.type in types.records:
        kind, data = types.records.record(part.type)
        if kind == leaf.BIT_FIELD:
            of, width, position = struct.unpack_from("<IBB", data)
            return Field(part.name, types.of(of), 8 * part.value + position, width, part.access)
    return Field(part.name, types.of(part.type), 8 * part.value, None, part.access)


def _virtual(types: PdbTypes, part: PdbMember) -> VirtualMethod:
    taken = types.procedure(part.type)
    slot = part.value // types.word if part.is_new and part.value >= 0 else None
    return VirtualMethod(part.name, "", slot, taken.result, taken.parameters, part.is_pure, part.access)


TYPES, IDS = 2, 4

CONVENTIONS: Final = {
    **{0x00: "cdecl", 0x02: "pascal", 0x04: "fastcall", 0x07: "stdcall", 0x09: "syscall", 0x0B: "thiscall"},
    0x18: "vectorcall",
}
"""CV_call_e, as attributes spell them; others are the platform's own."""

UNRECORDED: Final = (
    "Enum.scoped",
    "Method.deleted",
    "Method.explicit",
    "Method.reference",
    "Record.alignment",
    "Record.deleted",
)
"""What PDB files have no word for, whoever writes them."""

_HINT: Final = "build all of the library with /Zi (clang-cl: -g) and link it with /DEBUG:FULL"


def read_layout(
    container: PdbContainer, exports: Exports, sections: Sequence[int], target: Target, runtime: bool
) -> FacetReading:
    """Reads what describes ``exports``, and all that it mentions. ``sections`` are the addresses of the sections.

    Raises :class:`abistore.errors.ExtractError` where the PDB file is corrupt.
    """
    with without_cycle_collection():
        reading = _Reading(container, exports, sections, target, runtime)
        reading.read_exports()
        reading.read_reached()
        return reading.finished()


class _Reading:
    """One reading: what is found at the addresses of exports, and the shapes so far."""

    def __init__(
        self, container: PdbContainer, exports: Exports, sections: Sequence[int], target: Target, runtime: bool
    ) -> None:
        self._exports = exports
        self._target = target
        self._places = {address: _place(address, sections) for address in exports.by_address}
        modules = DebugModules(container)
        self._found = modules.find({place for place in self._places.values() if place is not None})
        self._ids = TypeRecords(container.stream(IDS)) if container.stream(IDS) else None
        self.types = PdbTypes(
            TypeRecords(container.stream(TYPES)),
            dict(modules.aliases()),
            shape_of,
            word=target.bits // 8,
            runtime=runtime,
        )
        self._entries: dict[Name, tuple[AnyShape, ...]] = {}
        self._described: set[str] = set()

    def read_exports(self) -> None:
        """Enters the function or variable of each export."""
        for address, names in self._exports.by_address.items():
            place = self._places[address]
            there = symbols_at(self._found, place) if place else []
            for symbol in names:
                chosen = _own(symbol, there, alone=len(names) == 1)
                kind = self._exports.kinds[symbol]
                if chosen is not None and chosen.is_function == (kind == "function") and chosen.type:
                    self._entries[Name(kind, symbol)] = (self._shape(chosen),)
                    self._described.add(symbol)

    def read_reached(self) -> None:
        while self.types.pending:
            name, index = self.types.pending.pop()
            self._entries[name] = (shape_of(self.types, index, name),)

    def finished(self) -> FacetReading:
        entries, refused = fitted(self._entries)
        return FacetReading(
            entries={name: tuple(shapes) for name, shapes in sorted(entries.items(), key=by_name)},
            evidence=weakened(self._evidence(), refused + self.types.budget.refused),
            compilers=tuple(sorted(filter(None, self._found.compilers))),
            languages=tuple(sorted(self._found.languages)),
        )

    def _evidence(self) -> Evidence:
        places = {symbol: self._places[at] for at, names in self._exports.by_address.items() for symbol in names}
        absent = {each for each in self._exports.kinds if is_declared(each)} - self._described
        assembled = {each for each in absent if places.get(each) in self._found.without_types}
        forwarded = {each for each in absent if each not in places}
        missing = sorted(absent - assembled - forwarded)
        count = sum(map(is_declared, self._described))
        evidence = Evidence("layout", "full", described=count, expected=count + len(missing), unrecorded=UNRECORDED)
        if not missing:
            return evidence
        return replace(
            evidence,
            state="partial" if count else "missing",
            reason="partial-debug-info" if count else "no-debug-info",
            detail=f"{len(missing)} exports are not described, e.g. {', '.join(missing[:3])}",
            hint=_HINT,
        )

    # --- shapes ---------------------------------------------------------------------------------------------------

    def _shape(self, found: PdbSymbol) -> AnyShape:
        display = normal_name(found.name)
        if not found.is_function:
            return self._variable(found, display)
        index = self._function_type(found)
        taken = self.types.procedure(index)
        kind, data = self.types.records.record(index)
        convention = data[4] if kind == leaf.PROCEDURE else data[12]
        method = self._method(index, data, display) if kind == leaf.MEMBER_FUNCTION else None
        return Function(
            display,
            taken.result,
            taken.parameters,
            taken.variadic,
            found.noreturn,
            calling_convention=self._convention(convention, method, taken.variadic),
            method=method,
        )

    def _function_type(self, found: PdbSymbol) -> int:
        """The type of a function; object files tell it by way of its number among identities."""
        if not found.by_id or self._ids is None or found.type not in self._ids:
            return found.type
        kind, data = self._ids.record(found.type)
        return int(struct.unpack_from("<I", data, 4)[0]) if kind in _IDENTITIES else found.type

    def _convention(self, code: int, method: Method | None, variadic: bool) -> str | None:
        said = CONVENTIONS.get(code)
        if self._target.machine != "i386":
            return said if said == "vectorcall" else None
        usual = "thiscall" if method is not None and not method.static and not variadic else "cdecl"
        return None if said == usual else said

    def _method(self, index: int, data: bytes, display: str) -> Method | None:
        owner, this = struct.unpack_from("<II", data, 4)
        named = self.types.of(owner)
        name = getattr(named, "name", None)
        if not isinstance(name, Name):
            return None
        part = self._declared(owner, index, last_component(display))
        words = self._qualifiers(this)
        if part is None:
            return Method(name, static=not this, qualifiers=words)
        virtual: Literal["no", "virtual", "pure"] = "pure" if part.is_pure else "virtual" if part.is_virtual else "no"
        slot = part.value // self.types.word if part.is_new and part.value >= 0 else None
        return Method(name, part.access, part.is_static, virtual, slot, words)

    def _declared(self, owner: int, index: int, name: str) -> PdbMember | None:
        """How a class declares the member function ``name`` of this type."""
        kind, data = self.types.records.record(self.types.records.definition(owner))
        if kind not in leaf.RECORDS:
            return None
        (listed,) = struct.unpack_from("<I", data, 4)
        for part in parts(self.types.records, listed):
            if part.leaf == leaf.METHOD and part.type == index and part.name == name:
                return part
        return None

    def _qualifiers(self, this: int) -> tuple[str, ...]:
        """The qualifiers of the object that ``this`` points to."""
        if this < self.types.records.first:
            return ()
        target = getattr(self.types.of(this), "target", None)
        if isinstance(target, Qualified):
            return target.qualifiers
        pointed = getattr(target, "target", None)  # ``this`` is itself constant
        return pointed.qualifiers if isinstance(pointed, Qualified) else ()

    def _variable(self, found: PdbSymbol, display: str) -> Variable:
        outer = scope(display)
        owner = self.types.records.defines(outer) if outer else None
        type = self.types.of(found.type)
        if owner is None:
            return Variable(display, type)
        named = getattr(self.types.of(owner), "name", None)
        _, data = self.types.records.record(owner)
        (listed,) = struct.unpack_from("<I", data, 4)
        name = last_component(display)
        members = (each for each in parts(self.types.records, listed) if each.leaf == leaf.STATIC_MEMBER)
        access: Access = next((each.access for each in members if each.name == name), "public")
        return Variable(display, type, named, access) if isinstance(named, Name) else Variable(display, type)


_IDENTITIES: Final = frozenset({leaf.FUNCTION_ID, leaf.MEMBER_FUNCTION_ID})


def _place(address: int, sections: Sequence[int]) -> Place | None:
    at = [number for number, start in enumerate(sections, 1) if start <= address]
    return (at[-1], address - sections[at[-1] - 1]) if at else None


def _without_arguments(name: str) -> str:
    """A name without the template arguments of its last part: compilers write them, or leave them out."""
    return f"{scope(name)}::{last_component(name)}"


def _own(symbol: str, there: Iterable[PdbSymbol], *, alone: bool) -> PdbSymbol | None:
    """Which of the symbols at an address the export is: linkers fold equal functions into one."""
    candidates = list({(each.name, each.type): each for each in there}.values())
    readable = entity(demangle(symbol))
    named = [each for each in candidates if _without_arguments(normal_name(each.name)) == _without_arguments(readable)]
    if named:
        return named[0]
    unreadable = readable == symbol and not symbol.isidentifier()
    return candidates[0] if len(candidates) == 1 and alone and unreadable else None
