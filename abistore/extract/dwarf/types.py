"""From type entries to type references, names of types that have none, and slots of virtual destructors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from abistore.errors import LimitExceeded
from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.encoding import Attributes
from abistore.extract.dwarf.names import C, Completion, Meanings, Spellings, meaning_of, spelling_of_base
from abistore.extract.dwarf.records import TypeSource, default_access, read_enum, read_record, read_signature
from abistore.extract.dwarf.units import Unit
from abistore.extract.dwarf.walk import Die, children, parts, skip, tagged, type_at
from abistore.extract.types import NULLPTR, Declarator, References, is_foreign
from abistore.model.declarations import Name
from abistore.model.shapes import (
    VOID,
    Access,
    AnyShape,
    Array,
    Enum,
    Function,
    Inline,
    Named,
    Procedure,
    Qualified,
    Record,
    Sort,
    TypeRef,
)
from abistore.model.snapshot import Location

if TYPE_CHECKING:
    from abistore.extract.dwarf.abbreviations import Abbreviation
    from abistore.extract.dwarf.info import DebugInfo

UNNAMED: Final = "(anonymous class)"
NAMING: Final = frozenset({dw.AT_NAME, dw.AT_SPECIFICATION, dw.AT_SIGNATURE, dw.AT_LINKAGE_NAME})
SEARCHED: Final = frozenset({dw.TAG_TYPEDEF, dw.TAG_NAMESPACE})


class AnonymousNames:
    """Finds the names of types that have none of their own, one scope at a time and only where one is met.

    ``spelled_out`` are the enumerations without any name.
    """

    def __init__(self, types: TypeSource) -> None:
        self._types = types
        self._typedefs: dict[int, dict[int, int]] = {}
        self._open: set[int] = set()
        self.spelled_out: set[Enum] = set()

    def reference(self, handle: int, die: Die) -> TypeRef:
        """The mention of the anonymous type ``handle``."""
        typedef = self._first_typedef(handle, die[0])
        if typedef is not None:
            named = self._define(typedef, handle, die)
            if named is not None:
                return named
        return self._inline(handle, die)

    def named_by(self, typedef: int, attributes: Attributes) -> TypeRef | None:
        """The mention of an anonymous type that ``typedef`` gives its name; ``None`` where it names no such type."""
        target = attributes.get(dw.AT_TYPE, -1)
        if target < 0:
            return None
        _, abbreviation, _ = self._types.info.entry(target)
        if abbreviation.tag not in dw.COMPOSITE_TAGS or not NAMING.isdisjoint(abbreviation.attributes):
            return None
        die = self._types.info.die(target)
        if self._first_typedef(target, die[0]) not in (typedef, None):
            return None
        return self._define(typedef, target, die)

    def scope_name(self, handle: int) -> str:
        """How an anonymous class is spelled as the scope of others."""
        die = self._types.info.die(handle)
        typedef = self._first_typedef(handle, die[0])
        name = None if typedef is None else self._types.spellings.of(typedef, self._types.info.die(typedef)[3])
        if name is not None:
            return name
        return self._types.spellings.qualify(handle, UNNAMED)

    def _define(self, typedef: int, handle: int, die: Die) -> TypeRef | None:
        spelling = self._types.spellings.of(typedef, self._types.info.die(typedef)[3])
        return None if spelling is None else self._types.define(spelling, handle, die)

    def _inline(self, handle: int, die: Die) -> TypeRef:
        if handle in self._open:  # only reachable through members of its own members
            return self._types.references.special("enclosing unnamed type")
        self._open.add(handle)
        try:
            read = read_enum if die[1].tag == dw.TAG_ENUMERATION_TYPE else read_record
            shape = read(self._types, die)
            if isinstance(shape, Enum):
                self.spelled_out.add(shape)
            elif shape.sort == "class":  # of a closure, where GCC writes a structure
                shape = replace(shape, sort="struct")
            return self._types.references.inline(Inline(shape))
        finally:
            self._open.discard(handle)

    # --- typedefs -------------------------------------------------------------------------------------------------

    def _first_typedef(self, handle: int, unit: Unit) -> int | None:
        """The first typedef of ``handle`` in its own scope; ``None`` where it has none."""
        neighbour = self._next(handle, unit)
        if neighbour is not None and self._target(neighbour, unit) == handle:
            return neighbour
        scope = self._types.info.scope(handle)
        within = scope[-1] if scope and isinstance(scope[-1], int) else unit.handle
        table = self._typedefs.get(within)
        if table is None:
            table = self._typedefs[within] = {}
            self._collect(unit, unit.top if within == unit.handle else self._types.info.die(within)[2], table)
        return table.get(handle)

    def _next(self, handle: int, unit: Unit) -> int | None:
        """The sibling after ``handle``."""
        siblings = children(unit, handle - unit.base)
        return next((sibling for sibling, _, _ in islice(siblings, 1, 2)), None)

    def _target(self, handle: int, unit: Unit) -> int:
        """What ``handle`` is a typedef of; -1 where it is something else."""
        _, abbreviation, position = self._types.info.entry(handle)
        return type_at(unit, abbreviation, position) if abbreviation.tag == dw.TAG_TYPEDEF else -1

    def _collect(self, unit: Unit, position: int, table: dict[int, int]) -> None:
        """Adds the typedefs from ``position`` on, by what they are of; namespaces included."""
        for handle, child, after in tagged(unit, position, SEARCHED):
            if child.tag == dw.TAG_TYPEDEF:
                table.setdefault(type_at(unit, child, after), handle)
            elif child.has_children:
                self._collect(unit, child.decode(unit.data, after, unit)[0], table)


Key: TypeAlias = tuple[Name, tuple[str, int], int | None]
"""What copies have in common: name, place of declaration, size in bytes."""

MOST: Final = 3
"""Copies of one definition that are always read. Of a template instance one is enough: its name tells its arguments."""


class DefinitionCopies:
    """Chooses which copies are read: one as long as a copy read before only if copies turn out to differ."""

    def __init__(self) -> None:
        self._handles: dict[Key, set[int]] = {}
        self._lengths: dict[Key, set[int]] = {}
        self._left: dict[Name, list[int]] = {}

    def wants(self, key: Key, handle: int, die: Die) -> bool:
        """Whether the definition ``handle`` is to be read now."""
        handles = self._handles.setdefault(key, set())
        if handle in handles:
            return False
        handles.add(handle)
        if "<" in key[0].spelling:
            return len(handles) == 1
        lengths = self._lengths.setdefault(key, set())
        length = _length(handle, die)
        if len(handles) > MOST and length in lengths:
            self._left.setdefault(key[0], []).append(handle)
            return False
        lengths.add(length)
        return True

    def doubtful(self, entries: Mapping[Name, Sequence[AnyShape]]) -> Iterator[tuple[Name, int]]:
        """The copies that were not read of what has more than one shape, each once: name and handle."""
        for name in [name for name in self._left if len(entries.get(name, ())) > 1]:
            for handle in self._left.pop(name):
                yield name, handle

    def apart(self, entries: Mapping[Name, Sequence[AnyShape]]) -> Iterator[tuple[Name, str]]:
        """What has more than one shape, and is defined at several lines of one file: name and file.

        Object files were compiled from two states of that file then, or a macro chose.
        """
        lines: dict[tuple[Name, str], set[int]] = {}
        for name, (file, line), _ in self._handles:
            if file and len(entries.get(name, ())) > 1:
                lines.setdefault((name, file), set()).add(line)
        return (key for key in sorted(lines) if len(lines[key]) > 1)


def _length(handle: int, die: Die) -> int:
    """The size of an entry with all that it holds, in bytes: a member more or less shows in it."""
    unit = die[0]
    start = handle - unit.base
    return skip(*unit.at(start), unit) - start


SORTS: Final[dict[int, Sort]] = {
    dw.TAG_STRUCTURE_TYPE: "struct",
    dw.TAG_CLASS_TYPE: "class",
    dw.TAG_INTERFACE_TYPE: "class",
    dw.TAG_UNION_TYPE: "union",
    dw.TAG_ENUMERATION_TYPE: "enum",
}
QUALIFIERS: Final = {
    dw.TAG_CONST_TYPE: "const",
    dw.TAG_VOLATILE_TYPE: "volatile",
    dw.TAG_RESTRICT_TYPE: "restrict",
    dw.TAG_ATOMIC_TYPE: "atomic",
    dw.TAG_IMMUTABLE_TYPE: "const",
}
DECLARATORS: Final[dict[int, Declarator]] = {
    dw.TAG_POINTER_TYPE: "*",
    dw.TAG_REFERENCE_TYPE: "&",
    dw.TAG_RVALUE_REFERENCE_TYPE: "&&",
}
MODIFIERS: Final = frozenset({*QUALIFIERS, *DECLARATORS})
REFERENCES: Final = {dw.AT_REFERENCE: "&", dw.AT_RVALUE_REFERENCE: "&&"}
"""What says on which objects a member function may be called."""
TRANSPARENT: Final = frozenset({*QUALIFIERS, dw.TAG_TYPEDEF})
SIGNED: Final = frozenset({0x05, 0x06, 0x0D})
"""DW_ATE_signed, DW_ATE_signed_char and DW_ATE_signed_fixed."""
ALL_ONES: Final = frozenset({(1 << 32) - 1, (1 << 64) - 1})
SUBRANGES: Final = frozenset({dw.TAG_SUBRANGE_TYPE})
MAX_DEPTH: Final = 150
"""How many types may be nested in one another without a name between them. Real code stays below 20."""


class PendingDefinition(NamedTuple):
    """A record or enum whose members are still to be read."""

    name: Name
    handle: int


class ForwardDeclaration:
    """A record or enum that was seen declared: by which keywords, and one DIE that does."""

    __slots__ = ("handle", "sorts")

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.sorts: set[Sort] = set()


class TypeReferences:
    """The references of one debug file, each DIE read once.

    ``completion`` makes what completes the names of template instances. ``runtime`` tells
    that the library is the C++ runtime itself. Reading a reference never reads a named record's members: such records
    are put on ``pending``. ``declared`` are the DIEs that only declare a record or enum, by name; ``foreign`` holds one
    definition of each name that belongs to the standard library or the compiler's runtime; ``aliases`` the meanings of
    each alias; ``bare`` the names of records and enums that are no tags of C.
    """

    def __init__(self, info: DebugInfo, completion: Completion, *, runtime: bool) -> None:
        self.info = info
        self.runtime = runtime
        self.references = References()
        self.anonymous = AnonymousNames(self)
        self.spellings = Spellings(info, self.anonymous.scope_name, completion)
        self.entries: dict[Name, list[AnyShape]] = {}
        self.locations: dict[Name, Location] = {}
        self.aliases: Meanings = {}
        self.pending: list[PendingDefinition] = []
        self.nested: list[int] = []
        self.declared: dict[Name, ForwardDeclaration] = {}
        self.foreign: dict[Name, int] = {}
        self.bare: set[str] = set()
        self._memo: dict[int, TypeRef] = {-1: self.references.special("type of a missing unit")}
        self._owners: dict[int, tuple[Name, Access] | None] = {}
        self._files: dict[tuple[int, int], str] = {}
        self._alignments: dict[int, int] = {}
        self._copies = DefinitionCopies()
        self._base_types: dict[tuple[object, ...], TypeRef] = {}
        self._depth = 0
        self._builders: dict[int, Callable[[int, Die], TypeRef]] = {
            **dict.fromkeys(SORTS, self._composite),
            dw.TAG_TYPEDEF: self._alias,
            dw.TAG_TEMPLATE_ALIAS: self._alias,
            dw.TAG_ARRAY_TYPE: self._array,
            dw.TAG_SUBROUTINE_TYPE: self._procedure,
            dw.TAG_PTR_TO_MEMBER_TYPE: self._member_pointer,
            dw.TAG_UNSPECIFIED_TYPE: self._unspecified,
        }

    def of(self, attributes: Attributes) -> TypeRef:
        """What an entry's DW_AT_type refers to; ``void`` where it has none."""
        handle = attributes.get(dw.AT_TYPE)
        if handle is None:
            return VOID
        found = self._memo.get(handle)
        return self.reference(handle) if found is None else found

    def reference(self, handle: int) -> TypeRef:
        """The type that the DIE ``handle`` describes."""
        found = self._memo.get(handle)
        if found is None:
            unit, abbreviation, position = self.info.entry(handle)
            if abbreviation.tag == dw.TAG_BASE_TYPE:
                found = self._base_type(unit, abbreviation, position)
            else:
                found = self._built(handle, unit, abbreviation, position)
            self._memo[handle] = found
        return found

    def _built(self, handle: int, unit: Unit, abbreviation: Abbreviation, position: int) -> TypeRef:
        if self._depth > MAX_DEPTH:
            raise LimitExceeded(f"a type in the debug information is nested more than {MAX_DEPTH} levels deep")
        self._depth += 1
        try:
            if abbreviation.tag in MODIFIERS:
                return self._modified(unit, abbreviation, position)
            position, attributes = abbreviation.decode(unit.data, position, unit)
            die = unit, abbreviation, position, attributes
            return self._builders.get(abbreviation.tag, self._other)(handle, die)
        finally:
            self._depth -= 1

    # --- named declarations ---------------------------------------------------------------------------------------

    def _composite(self, handle: int, die: Die) -> TypeRef:
        attributes = die[3]
        signature = attributes.get(dw.AT_SIGNATURE, handle)
        if signature != handle:
            return self.reference(signature)
        spelling = self.spellings.of(handle, attributes)
        if spelling is None:
            return self.anonymous.reference(handle, die)
        return self.define(spelling, handle, die)

    def define(self, spelling: str, handle: int, die: Die) -> TypeRef:
        """Notes that ``handle`` declares or defines the record or enum ``spelling``, and gives its mention."""
        unit, abbreviation, _, attributes = die
        sort = SORTS[abbreviation.tag]
        named = self.references.named("enum" if sort == "enum" else "record", spelling)
        name = named.name
        if dw.AT_NAME not in attributes or unit.language not in (None, *C):
            self.bare.add(spelling)
        if dw.AT_DECLARATION in attributes:
            if name not in self.declared:
                self.declared[name] = ForwardDeclaration(handle)
            self.declared[name].sorts.add(sort)
        elif is_foreign(spelling, self.runtime):
            self.foreign.setdefault(name, handle)
        else:
            location = self.locate(unit, attributes)
            if self._copies.wants((name, location, attributes.get(dw.AT_BYTE_SIZE)), handle, die):
                self.pending.append(PendingDefinition(name, handle))
                self.note(name, location)
        return named

    def _alias(self, handle: int, die: Die) -> TypeRef:
        unit, _, _, attributes = die
        named = self.anonymous.named_by(handle, attributes)
        if named is not None:
            return named
        spelling = self.spellings.of(handle, attributes)
        if spelling is None or is_foreign(spelling, self.runtime):
            return self.of(attributes)
        alias = self.references.named("alias", spelling)
        self._memo[handle] = alias
        target = self.of(attributes)
        location = self.locate(unit, attributes)
        self.note(alias.name, location)
        alias = self._memo[handle] = meaning_of(alias, target, location, self.aliases).mention
        asked = attributes.get(dw.AT_ALIGNMENT, 0) or self.asked_alignment(target)
        if asked:
            self._alignments[id(alias)] = asked
        return alias

    def defined_apart(self) -> list[tuple[Name, str]]:
        """The types of which object files have definitions from several lines of one file, with that file."""
        return list(self._copies.apart(self.entries))

    def add(self, name: Name, shape: AnyShape) -> None:
        """Records one shape of ``name``; equal ones are kept once."""
        shapes = self.entries.get(name)
        if shapes is None:
            self.entries[name] = [shape]
        elif shape not in shapes:
            shapes.append(shape)

    def locate(self, unit: Unit, attributes: Attributes) -> tuple[str, int]:
        """The file and line of a declaration; an empty file where not recorded."""
        index = attributes.get(dw.AT_DECL_FILE)
        if index is None:
            return "", 0
        file = self._files.get((unit.handle, index))
        if file is None:
            file = self._files[unit.handle, index] = self.info.file(unit, index)
        return file, attributes.get(dw.AT_DECL_LINE, 0)

    def note(self, name: Name, location: tuple[str, int]) -> None:
        """Remembers the first place where ``name`` is declared."""
        if location[0] and name not in self.locations:
            self.locations[name] = Location(*location)

    # --- types without a declaration of their own -----------------------------------------------------------------

    def _modified(self, unit: Unit, abbreviation: Abbreviation, position: int) -> TypeRef:
        """A pointer, reference or qualified type. Most types are so, and of their entries nothing else is needed."""
        tag, place = abbreviation.tag, abbreviation.type_place
        if place >= 0:
            target = self.reference(unit.handle + unit.word(unit.data, position + place)[0])
        else:
            target = self.of(abbreviation.decode(unit.data, position, unit)[1])
        if tag in DECLARATORS:
            return self.references.pointer(target, DECLARATORS[tag])
        if isinstance(target, Procedure):  # GNU C spells __attribute__((noreturn)) and ((const)) as qualifiers
            return target
        return self.references.qualified(target, QUALIFIERS[tag])

    def _base_type(self, unit: Unit, abbreviation: Abbreviation, position: int) -> TypeRef:
        """A built-in type. Every unit describes the same ones, mostly by the same bytes: these are read once."""
        entry: bytes | int = unit.handle + position
        if abbreviation.size >= 0 and abbreviation.name_place >= 0:  # no part of it is relative to the unit
            entry = unit.data[position : position + abbreviation.size]
        key = entry, abbreviation, id(unit.strings), unit.language, unit.producer
        found = self._base_types.get(key)
        if found is None:
            attributes = abbreviation.decode(unit.data, position, unit)[1]
            size = attributes.get(dw.AT_BYTE_SIZE, 0)
            found = self._base_types[key] = self.references.primitive(spelling_of_base(unit, attributes), size)
        return found

    def _unspecified(self, handle: int, die: Die) -> TypeRef:
        unit, _, _, attributes = die
        spelling = attributes.get(dw.AT_NAME, "unspecified")
        if spelling in NULLPTR:
            return self.references.primitive("std::nullptr_t", unit.address_size)
        return self.references.special(spelling)

    def _array(self, handle: int, die: Die) -> TypeRef:
        attributes = die[3]
        found = self.of(attributes)
        bounds = [count(part) for _, _, part in parts(die, SUBRANGES)]
        for bound in reversed(bounds or [None]):
            found = self.references.array(found, bound, dw.AT_GNU_VECTOR in attributes)
        return found

    def _procedure(self, handle: int, die: Die) -> TypeRef:
        signature = read_signature(self, die)
        found: TypeRef = self.references.procedure(self.of(die[3]), signature.parameters, signature.variadic)
        for qualifier in (*signature.this_qualifiers, *(REFERENCES[each] for each in REFERENCES if each in die[3])):
            found = self.references.qualified(found, qualifier)
        return found

    def _member_pointer(self, handle: int, die: Die) -> TypeRef:
        attributes = die[3]
        owner = attributes.get(dw.AT_CONTAINING_TYPE)
        return self.references.member_pointer(VOID if owner is None else self.reference(owner), self.of(attributes))

    def _other(self, handle: int, die: Die) -> TypeRef:
        attributes = die[3]
        if dw.AT_TYPE in attributes:  # packed, shared, pointer-authenticated, subrange: as what it is made of
            return self.of(attributes)
        return self.references.special(attributes.get(dw.AT_NAME, "unknown type"))

    def owner(self, handle: int) -> tuple[Name, Access] | None:
        """The class ``handle`` and the access that its members have by default; ``None`` for any other scope."""
        if handle not in self._owners:
            die = self.info.die(handle)
            record = self.reference(handle) if die[1].tag in dw.RECORD_TAGS else None
            self._owners[handle] = (record.name, default_access(die)) if isinstance(record, Named) else None
        return self._owners[handle]

    def reconsider(self) -> bool:
        """Puts the copies on ``pending`` that were thought to be like others of their name, which now differ."""
        found = [PendingDefinition(*copy) for copy in self._copies.doubtful(self.entries)]
        self.pending += found
        return bool(found)

    def close(self) -> None:
        """Lets go of everything: its parts hold it and each other, and nobody may look for such cycles."""
        vars(self.spellings).clear()
        vars(self).clear()

    def is_defined(self, name: Name) -> bool:
        """Whether a definition of the record or enum ``name`` was met."""
        return name in self.entries or name in self.foreign

    # --- facts about a type that its reference does not tell ------------------------------------------------------

    def asked_alignment(self, reference: TypeRef) -> int:
        """The alignment in bytes that a typedef asks for with an attribute; 0 where it asks for none."""
        if not self._alignments:
            return 0
        while isinstance(reference, Qualified):
            reference = reference.target
        while isinstance(reference, Array):
            reference = reference.element
        return self._alignments.get(id(reference), 0)

    def underlying(self, attributes: Attributes) -> Attributes:
        """The attributes of what DW_AT_type leads to through typedefs and qualifiers."""
        for _ in range(MAX_DEPTH):
            handle = attributes.get(dw.AT_TYPE, -1)
            if handle < 0:
                return attributes
            _, abbreviation, _, attributes = self.info.die(handle)
            if abbreviation.tag not in TRANSPARENT:
                return attributes
        return {}

    def byte_size(self, attributes: Attributes) -> int:
        """The size in bytes of an entry's type, by its DIE; 0 where not recorded."""
        return int(self.underlying(attributes).get(dw.AT_BYTE_SIZE, 0))

    def is_signed(self, attributes: Attributes) -> bool | None:
        """Whether an entry's type is a signed integer; ``None`` where not recorded."""
        encoding = self.underlying(attributes).get(dw.AT_ENCODING)
        return None if encoding is None else encoding in SIGNED


def count(subrange: Attributes) -> int | None:
    """The number of elements that a DW_TAG_subrange_type stands for; ``None`` where it is not a constant."""
    bound = subrange.get(dw.AT_COUNT)
    if type(bound) is int:
        return bound
    bound = subrange.get(dw.AT_UPPER_BOUND)
    if type(bound) is not int:
        return None
    if bound in ALL_ONES:  # an upper bound of -1 in an unsigned form: no elements
        return 0
    lower = subrange.get(dw.AT_LOWER_BOUND, 0)
    return bound + 1 - lower if type(lower) is int else None


Entries: TypeAlias = dict[Name, list[AnyShape]]

MAX_BASES = 100
"""How long a chain of primary bases is followed."""


def place_destructors(entries: Entries) -> None:
    """Fills in the slots, in classes and in the functions that implement destructors."""
    slot_of = cache(partial(destructor_slot, entries=entries))
    for name, shapes in entries.items():
        for index, shape in enumerate(shapes):
            if isinstance(shape, Function):
                method = shape.method
                if method is not None and method.virtual != "no" and method.slot is None and "::~" in shape.display:
                    shapes[index] = replace(shape, method=replace(method, slot=slot_of(method.owner)))
            elif isinstance(shape, Record) and shape.virtuals and shape.virtuals[-1].slot is None:
                shapes[index] = _placed(shape, slot_of(name))


def destructor_slot(name: Name, entries: Entries) -> int | None:
    """The first of the two slots of a class's virtual destructor, where it can be told.

    A destructor takes over the slots of its primary base's; in a class without polymorphic bases it has those that no
    other method has (Itanium C++ ABI, 2.5.2).
    """
    for _ in range(MAX_BASES):
        record = _only_record(name, entries)
        if record is None:
            return None
        others = {method.slot for method in record.virtuals if not method.display.startswith("~")}
        bases = [base.type.name for base in record.bases if isinstance(base.type, Named) and not base.virtual]
        primary = next((base for base in bases if _is_polymorphic(base, entries)), None)
        if primary is None:
            introduces = len(others) < len(record.virtuals) and record.has_vptr
            return _free_slots(others) if introduces and not any(base.virtual for base in record.bases) else None
        name = primary
    return None


def _placed(record: Record, slot: int | None) -> Record:
    virtuals = [replace(method, slot=slot) if method.display.startswith("~") else method for method in record.virtuals]
    virtuals.sort(key=lambda method: (method.slot is None, method.slot))
    return replace(record, virtuals=tuple(virtuals))


def _free_slots(taken: set[int | None]) -> int:
    slot = 0
    while slot in taken or slot + 1 in taken:
        slot += 1
    return slot


def _only_record(name: Name, entries: Entries) -> Record | None:
    shapes = entries.get(name, [])
    return shapes[0] if len(shapes) == 1 and isinstance(shapes[0], Record) else None


def _is_polymorphic(name: Name, entries: Entries) -> bool:
    pending, seen = [name], {name}
    while pending:
        record = _only_record(pending.pop(), entries)
        if record is not None:
            if record.has_vptr or record.virtuals:
                return True
            bases = {base.type.name for base in record.bases if isinstance(base.type, Named)}
            pending += bases - seen
            seen |= bases
    return False
