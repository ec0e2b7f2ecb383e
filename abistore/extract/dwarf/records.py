"""The members of records and enumerations, and how records are passed, for which GCC records no convention.

A class is passed by the address of a copy if its destructor, copy or move constructor is not trivial, or if it can
neither be copied nor moved (Itanium C++ ABI, 3.1.1); else as its members are.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cache
from typing import Any, Final, Literal, Protocol

import msgspec
from msgspec.structs import replace

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.abbreviations import Abbreviation
from abistore.extract.dwarf.encoding import Attributes, MalformedDwarf
from abistore.extract.dwarf.info import DebugInfo
from abistore.extract.dwarf.names import CPP, Spellings
from abistore.extract.dwarf.units import Unit
from abistore.extract.dwarf.walk import Die, name_at, parameter_types, parts, skip, tagged, type_at
from abistore.extract.types import DEEPEST, Passing, References
from abistore.model.format_gaps import passes_deleted_by_value
from abistore.model.layout import is_open_by_parts
from abistore.model.names.qualified import last_component, normal_name
from abistore.model.names.symbols import INTEGERS, is_mangled
from abistore.model.shapes import (
    Access,
    Base,
    Enum,
    Enumerator,
    Field,
    Pointer,
    Primitive,
    Qualified,
    Record,
    TypeRef,
    VirtualMethod,
)
from abistore.patterns import pattern


class TypeSource(Protocol):
    """Gives type references. :class:`~abistore.extract.dwarf.types.TypeReferences` is the one implementation.

    ``nested`` are the enumerations inside of classes that consumers can name.
    Readers of members are typed on this protocol, because types read members in turn: those of unnamed records.
    """

    info: DebugInfo
    references: References
    spellings: Spellings
    nested: list[int]

    def of(self, attributes: Attributes) -> TypeRef:
        """What an entry's DW_AT_type refers to; ``void`` where it has none."""

    def reference(self, handle: int) -> TypeRef:
        """The type that the DIE ``handle`` describes."""

    def define(self, spelling: str, handle: int, die: Die) -> TypeRef:
        """Notes that ``handle`` declares or defines the record or enum ``spelling``, and gives its mention."""

    def asked_alignment(self, reference: TypeRef) -> int:
        """The alignment in bytes that a typedef asks for with an attribute; 0 where it asks for none."""

    def byte_size(self, attributes: Attributes) -> int:
        """The size in bytes of an entry's type; 0 where it is not recorded."""

    def is_signed(self, attributes: Attributes) -> bool | None:
        """Whether an entry's type is a signed integer; ``None`` where that is not recorded."""


PRODUCER: Final = pattern(r"GNU C\+\+\S* (\d+)\.")
OLDEST: Final = 8
"""The first GCC that tells which members are defaulted in their class, and so may be trivial."""

IN_CLASS: Final = 1
"""DW_DEFAULTED_in_class."""

REFERENCES: Final = frozenset({dw.TAG_REFERENCE_TYPE, dw.TAG_RVALUE_REFERENCE_TYPE})
TRANSPARENT: Final = frozenset({dw.TAG_CONST_TYPE, dw.TAG_VOLATILE_TYPE, dw.TAG_TYPEDEF})


@cache
def tells_defaulted(producer: str | None) -> bool:
    """Whether a compiler lists the special members that each class declares, and which of them are defaulted.

    The latter is an attribute of DWARF 5, which older versions hold unless they are strict.
    """
    match = PRODUCER.match(producer or "")
    return match is not None and int(match[1]) >= OLDEST and "-gstrict-dwarf" not in match.string


class SpecialMembers:
    """The special members that one class declares itself."""

    def __init__(self, types: TypeSource, die: Die) -> None:
        self._types = types
        self._name = str(die[3].get(dw.AT_NAME, "")).partition("<")[0]
        self._provided = False
        self._deleted = False
        self._usable = False
        self._doubtful = False
        self._deletes_by_value = passes_deleted_by_value(die[0].producer or "")

    def wants(self, unit: Unit, abbreviation: Abbreviation, position: int) -> bool:
        """Whether the member function whose code ends at ``position`` is a constructor or destructor of the source."""
        if dw.AT_TYPE in abbreviation.attributes or dw.AT_ARTIFICIAL in abbreviation.attributes:
            return False
        name = name_at(unit, abbreviation, position)
        return name == self._name or name.startswith("~")

    def add(self, die: Die) -> None:
        """Takes note of a member function, if it is a destructor, copy or move constructor."""
        attributes = die[3]
        name = attributes.get(dw.AT_NAME, "")
        if dw.AT_ARTIFICIAL in attributes:
            return
        if name.startswith("~"):
            self._provided |= dw.AT_DELETED not in attributes and attributes.get(dw.AT_DEFAULTED) != IN_CLASS
        elif name == self._name:
            self._add_constructor(die)

    def _add_constructor(self, die: Die) -> None:
        attributes, taken = die[3], parameter_types(die)
        if not taken or not self._is_reference_to_own(taken[0]):
            return
        if len(taken) > 1:  # it copies where the others have default arguments, which nothing records
            self._doubtful = True
        elif dw.AT_DELETED in attributes:
            self._deleted = True
        elif attributes.get(dw.AT_DEFAULTED) != IN_CLASS:
            self._provided = True
        else:
            self._usable = True

    def constructs(self, die: Die) -> bool:
        """Whether a member function is a constructor."""
        return bool(die[3].get(dw.AT_NAME, "") == self._name)

    def is_special(self, die: Die) -> bool:
        """Whether a member function is a constructor, the destructor, or assigns an object of the class."""
        name = die[3].get(dw.AT_NAME, "")
        if name == "operator=":
            taken = parameter_types(die)
            return bool(taken) and self._is_reference_to_own(taken[0])
        return self.constructs(die) or bool(name.startswith("~"))

    def can_be_defaulted(self, taken: list[int]) -> bool:
        """Whether a constructor that takes this could be ``= default``: it takes nothing, or copies."""
        return not taken or (len(taken) == 1 and self._is_reference_to_own(taken[0]))

    @property
    def passing(self) -> Passing | None:
        """How the class goes by value as far as its own members decide; ``None`` where they do not tell."""
        if self._provided or (self._deleted and not self._usable and not self._deletes_by_value):
            return "reference"
        return None if self._doubtful else "value"

    def _is_reference_to_own(self, handle: int) -> bool:
        """Whether the type ``handle`` is one. It is not read as others are: what only it mentions is not reached."""
        info = self._types.info
        unit, abbreviation, position = info.entry(handle)
        if abbreviation.tag not in REFERENCES:
            return False
        for _ in range(DEEPEST):
            handle = type_at(unit, abbreviation, position)
            if handle < 0:
                return False
            unit, abbreviation, position = info.entry(handle)
            if abbreviation.tag not in TRANSPARENT:
                break
        name = name_at(unit, abbreviation, position)
        if not name:
            name = last_component(self._types.spellings.of(handle, info.attributes(handle)) or "")
        return name.partition("<")[0] == self._name


CLANG: Final = pattern(r"clang version (\d+)")
DECLARED: Final = 16
"""The first Clang for which a class is plain old data in spite of special members that are defaulted or deleted."""

AGGREGATES: Final = pattern(r"GNU C\+\+(?:2\d|[3-8]\d)\b")
"""GCC asks plain old data to be aggregates, which since C++20 have no constructor at all."""


def own_tail(types: TypeSource, die: Die) -> Literal["open", "closed"] | None:
    """The tail padding of a class as far as its own functions decide; ``None`` where they do not tell.

    Compilers do not agree (measured by ``tests/extract/test_tails.py``): what is defaulted in the class or deleted
    leaves it plain old data for GCC, other than constructors in C++20, and for Clang since version 16, which does not
    record what is defaulted. Values that members begin with show where the library makes objects by default only.
    """
    unit, abbreviation, position, attributes = die
    if unit.language not in CPP:
        return None
    if not abbreviation.has_children or dw.AT_NAME not in attributes:
        return "closed"
    special, doubtful = SpecialMembers(types, die), False
    for _, child, after in tagged(unit, position, FUNCTIONS):
        end, own = child.decode(unit.data, after, unit)
        member = unit, child, end, own
        if dw.AT_ARTIFICIAL in child.attributes:
            if special.constructs(member) and not parameter_types(member):
                return "open"  # compilers make it where members begin with values, and none that does nothing
            continue
        if not special.is_special(member):
            continue
        opens = _opens(member, special)
        if opens:
            return "open"
        doubtful |= opens is None
    return None if doubtful else "closed"


def _opens(member: Die, special: SpecialMembers) -> bool | None:
    """Whether a special member makes its class more than plain old data; ``None`` where that is not recorded."""
    unit, own = member[0], member[3]
    producer = unit.producer or ""
    clang = CLANG.search(producer)
    if clang:
        if int(clang[1]) < DECLARED:
            return True
        if dw.AT_DELETED in own:
            return False
        provided = special.constructs(member) and not special.can_be_defaulted(parameter_types(member))
        return True if provided else None
    if not tells_defaulted(unit.producer):
        return None
    if special.constructs(member) and AGGREGATES.match(producer):
        return True
    return dw.AT_DELETED not in own and own.get(dw.AT_DEFAULTED) != IN_CLASS


BODY: Final = frozenset(
    {dw.TAG_VARIABLE, dw.TAG_LEXICAL_BLOCK, dw.TAG_INLINED_SUBROUTINE, dw.TAG_LABEL, dw.TAG_CALL_SITE,
     dw.TAG_GNU_CALL_SITE}
)  # fmt: skip
"""What comes after a function's parameters."""
POINTED: Final = frozenset("PKVr")
"""What stands in a mangled name before a ``void`` that a parameter points to."""


class Signature(msgspec.Struct, frozen=True):
    """Parameter types without those that the compiler adds; ``this`` is the type of the object parameter, if any."""

    parameters: tuple[TypeRef, ...]
    variadic: bool = False
    this: TypeRef | None = None

    @property
    def this_qualifiers(self) -> tuple[str, ...]:
        """The qualifiers of the object that ``this`` points to."""
        this = self.this
        if isinstance(this, Qualified):
            this = this.target
        if isinstance(this, Pointer) and isinstance(this.target, Qualified):
            return this.target.qualifiers
        return ()


NOTHING: Final = Signature(())


def read_signature(types: TypeSource, die: Die) -> Signature:
    """The parameters of the subprogram or subroutine type ``die``."""
    unit, abbreviation, position, _ = die
    if not abbreviation.has_children:
        return NOTHING
    parameters: list[TypeRef] = []
    variadic, this = False, None
    data, table, limit = unit.data, unit.table, unit.limit
    while position < limit:
        start = position
        code = data[position]
        position += 1
        if code > 127:
            code, position = dw.unsigned(data, start)
        if not code:
            break
        child = table[code]
        tag = child.tag
        if tag == dw.TAG_FORMAL_PARAMETER:
            attributes: Container[int] = child.attributes
            if child.type_place >= 0:
                found = types.reference(unit.handle + unit.word(data, position + child.type_place)[0])
            else:
                values = child.decode(data, position, unit)[1]
                if dw.AT_ABSTRACT_ORIGIN in values:
                    values = {**types.info.die(values[dw.AT_ABSTRACT_ORIGIN])[3], **values}
                attributes, found = values, types.of(values)
            if dw.AT_ARTIFICIAL not in attributes:
                parameters.append(_as_parameter(found) if type(found) is Qualified else found)
            elif this is None and not parameters:
                this = found
        elif tag == dw.TAG_UNSPECIFIED_PARAMETERS:
            variadic = True
        elif tag == dw.TAG_GNU_FORMAL_PARAMETER_PACK:
            parameters.extend(read_signature(types, types.info.die(unit.base + start)).parameters)
        elif tag in BODY and (parameters or this is not None or _takes_nothing(types, die)):
            ellipsis = _ends_in_ellipsis(types, die)
            if ellipsis is not None:
                variadic = variadic or ellipsis
                break
        position = position + child.size if child.size >= 0 else skip(child, position, unit)
    return Signature(tuple(parameters), variadic, this)


def _takes_nothing(types: TypeSource, die: Die) -> bool:
    """Whether no parameter may follow a function's body; LLVM writes static variables of the body before parameters."""
    if (die[0].producer or "").startswith("GNU"):
        return True
    symbol = _symbol(types, die)
    return symbol.endswith("v") and symbol[-2:-1] not in POINTED


def _ends_in_ellipsis(types: TypeSource, die: Die) -> bool | None:
    """Whether ``...`` may still follow a function's body; ``None`` where only its entries can tell.

    GCC writes it among the parameters, LLVM behind the body. A mangled name tells too: ``z`` is the ellipsis, and
    nothing but a parameter can end the name of a function (Itanium C++ ABI 5.1.5.3).
    """
    if (die[0].producer or "").startswith("GNU"):
        return False
    symbol = _symbol(types, die)
    return symbol.endswith("z") if symbol else None


def _symbol(types: TypeSource, die: Die) -> str:
    """The mangled name of a C++ function; empty where it has none."""
    attributes = die[3]
    symbol = attributes.get(dw.AT_LINKAGE_NAME)
    declared = attributes.get(dw.AT_SPECIFICATION, attributes.get(dw.AT_ABSTRACT_ORIGIN))
    if symbol is None and declared is not None:
        symbol = types.info.die(declared)[3].get(dw.AT_LINKAGE_NAME)
    return symbol if symbol is not None and is_mangled(symbol) else ""


def _as_parameter(found: Qualified) -> TypeRef:
    """A parameter's own ``const`` and ``volatile`` are the callee's business: callers never see them."""
    kept = tuple(qualifier for qualifier in found.qualifiers if qualifier not in ("const", "volatile"))
    if kept == found.qualifiers:
        return found
    return Qualified(found.target, kept) if kept else found.target


ACCESS: Final[dict[int, Access]] = {1: "public", 2: "protected", 3: "private"}
PASSING: Final[dict[int, Literal["value", "reference"]]] = {4: "reference", 5: "value"}
"""DW_CC_pass_by_reference and DW_CC_pass_by_value."""
RECORD_SORTS: Final[dict[int, Literal["struct", "class", "union"]]] = {
    dw.TAG_STRUCTURE_TYPE: "struct",
    dw.TAG_CLASS_TYPE: "class",
    dw.TAG_INTERFACE_TYPE: "class",
    dw.TAG_UNION_TYPE: "union",
}
TEMPLATE_PARAMETERS: Final = frozenset(
    {
        dw.TAG_TEMPLATE_TYPE_PARAMETER,
        dw.TAG_TEMPLATE_VALUE_PARAMETER,
        dw.TAG_GNU_TEMPLATE_TEMPLATE_PARAMETER,
        dw.TAG_GNU_TEMPLATE_PARAMETER_PACK,
    }
)
CONCERNING: Final = TEMPLATE_PARAMETERS | {
    dw.TAG_MEMBER,
    dw.TAG_SUBPROGRAM,
    dw.TAG_INHERITANCE,
    dw.TAG_ENUMERATION_TYPE,
    dw.TAG_VARIABLE,
}
"""The children of a record that concern its layout, or what consumers can name in it."""
ENUMERATORS: Final = frozenset({dw.TAG_ENUMERATOR})
FUNCTIONS: Final = frozenset({dw.TAG_SUBPROGRAM})
WANTED_OF_METHODS: Final = frozenset({dw.AT_VIRTUALITY, dw.AT_DELETED})
VPTR: Final = ("_vptr.", "_vptr$")
PURE: Final = 2
"""DW_VIRTUALITY_pure_virtual."""


class RecordMembers:
    """Collects what the children of one record DIE say."""

    def __init__(self, types: TypeSource, die: Die) -> None:
        self.types = types
        self.die = die
        self.access = default_access(die)
        self.fields: list[Field] = []
        self.bases: list[Base] = []
        self.virtuals: list[VirtualMethod] = []
        self.deleted: set[str] = set()
        self.arguments: list[TypeRef] = []
        self.alignment = die[3].get(dw.AT_ALIGNMENT, 0)
        self.has_vptr = False
        named = dw.AT_NAME in die[3]
        self.special = SpecialMembers(types, die) if named and tells_defaulted(die[0].producer) else None

    def read(self) -> None:
        """Reads all children, each as far as it concerns the layout."""
        unit, abbreviation, position, _ = self.die
        if not abbreviation.has_children:
            return
        data = unit.data
        for handle, child, after in tagged(unit, position, CONCERNING):
            tag = child.tag
            if tag == dw.TAG_MEMBER:
                self._member(handle, child.decode(data, after, unit)[1])
            elif tag == dw.TAG_SUBPROGRAM:
                special = self.special is not None and self.special.wants(unit, child, after)
                if special or not WANTED_OF_METHODS.isdisjoint(child.attributes):
                    end, attributes = child.decode(data, after, unit)
                    self._method((unit, child, end, attributes))
            elif tag == dw.TAG_INHERITANCE:
                self._base(child.decode(data, after, unit)[1])
            elif tag in TEMPLATE_PARAMETERS:
                end, attributes = child.decode(data, after, unit)
                self.arguments.extend(read_arguments(self.types, (unit, child, end, attributes)))
            elif tag == dw.TAG_ENUMERATION_TYPE or (tag == dw.TAG_VARIABLE and dw.AT_CONST_VALUE in child.attributes):
                self._constant(handle, child.decode(data, after, unit)[1])

    def _constant(self, handle: int, attributes: Attributes) -> None:
        """Notes an enumeration or value that consumers can name. Instances of a template repeat its own."""
        access = ACCESS.get(attributes.get(dw.AT_ACCESSIBILITY, 0), self.access)
        known = dw.AT_CONST_VALUE in attributes or dw.AT_DECLARATION not in attributes
        if known and access != "private" and not self.arguments and dw.AT_NAME in self.die[3]:
            self.types.nested.append(handle)

    def shape(self) -> Record:
        """The record as it stands after :meth:`read`."""
        _, abbreviation, _, attributes = self.die
        self.virtuals.sort(key=lambda method: (method.slot is None, method.slot))
        record = Record(
            sort=RECORD_SORTS[abbreviation.tag],
            size=attributes.get(dw.AT_BYTE_SIZE, 0),
            fields=tuple(self.fields),
            bases=tuple(self.bases),
            virtuals=tuple(self.virtuals),
            alignment=self.alignment or None,
            passing=self._passing(),
            deleted=tuple(sorted(self.deleted)),
            arguments=tuple(self.arguments),
            has_vptr=self.has_vptr,
        )
        if is_open_by_parts(record):
            return record
        return replace(record, tail=own_tail(self.types, self.die))

    def _passing(self) -> Literal["value", "reference"] | None:
        """How the class goes by value, where that is recorded or follows; what it embeds is not looked at."""
        if self.special is None:
            return PASSING.get(self.die[3].get(dw.AT_CALLING_CONVENTION, 0))
        polymorphic = self.has_vptr or self.virtuals or any(base.virtual for base in self.bases)
        return "reference" if polymorphic else self.special.passing

    def _member(self, handle: int, attributes: Attributes) -> None:
        if dw.AT_EXTERNAL in attributes or dw.AT_DECLARATION in attributes:  # a static member, before DWARF 5
            if dw.AT_CONST_VALUE in attributes:
                self._constant(handle, attributes)
            return
        name = attributes.get(dw.AT_NAME, "")
        if dw.AT_ARTIFICIAL in attributes and name.startswith(VPTR):
            self.has_vptr = True
            return
        type = self.types.of(attributes)
        self.alignment = max(self.alignment, attributes.get(dw.AT_ALIGNMENT, 0), self.types.asked_alignment(type))
        self.fields.append(
            Field(
                name,
                type,
                within_record(self._bit_offset(attributes)),
                attributes.get(dw.AT_BIT_SIZE),
                ACCESS.get(attributes.get(dw.AT_ACCESSIBILITY, 0), self.access),
                dw.AT_MUTABLE in attributes,
            )
        )

    def _bit_offset(self, attributes: Attributes) -> int:
        """Bits from the record's start, by any of the three ways to say it (DWARF 5, section 5.7.6; DWARF 3, 5.6.6)."""
        if dw.AT_DATA_BIT_OFFSET in attributes:
            return int(attributes[dw.AT_DATA_BIT_OFFSET]) + 8 * byte_offset(attributes)
        bits = 8 * byte_offset(attributes)
        if dw.AT_BIT_OFFSET not in attributes:
            return bits
        skipped = fit(attributes[dw.AT_BIT_OFFSET], 64, True)  # clang: negative in packed records, in an unsigned form
        if not self.die[0].format.little:
            return bits + skipped
        storage = attributes.get(dw.AT_BYTE_SIZE) or self.types.byte_size(attributes)
        return bits + 8 * storage - skipped - int(attributes.get(dw.AT_BIT_SIZE, 0))

    def _base(self, attributes: Attributes) -> None:
        virtual = attributes.get(dw.AT_VIRTUALITY, 0) != 0
        self.bases.append(
            Base(
                self.types.of(attributes),
                None if virtual else within_record(8 * byte_offset(attributes)),
                virtual,
                ACCESS.get(attributes.get(dw.AT_ACCESSIBILITY, 0), self.access),
            )
        )

    def read_virtuals(self) -> Iterator[VirtualMethod]:
        """Reads the virtual functions and nothing else; destructors are left out."""
        unit, _, position, _ = self.die
        for _, child, after in tagged(unit, position, FUNCTIONS):
            if dw.AT_VIRTUALITY in child.attributes:
                end, attributes = child.decode(unit.data, after, unit)
                self._method((unit, child, end, attributes))
        return (each for each in self.virtuals if not each.display.startswith("~"))

    def _method(self, die: Die) -> None:
        attributes = die[3]
        if self.special is not None:
            self.special.add(die)
        name = attributes.get(dw.AT_NAME, "")
        if dw.AT_DELETED in attributes:
            from abistore.model.names.spelling import spell  # C has nothing to delete

            parameters = ", ".join(map(spell, read_signature(self.types, die).parameters))
            self.deleted.add(f"{normal_name(name)}({parameters})")
        virtuality = attributes.get(dw.AT_VIRTUALITY, 0)
        destructor = name.startswith("~")
        if not virtuality or (destructor and dw.AT_ARTIFICIAL in attributes):
            return  # an implicit destructor takes over the slots of its base's
        self.virtuals.append(
            VirtualMethod(
                normal_name(name),
                "" if destructor else attributes.get(dw.AT_LINKAGE_NAME, ""),
                None if destructor else vtable_slot(attributes),
                self.types.of(attributes),
                read_signature(self.types, die).parameters,
                virtuality == PURE,
                ACCESS.get(attributes.get(dw.AT_ACCESSIBILITY, 0), self.access),
            )
        )


def default_access(die: Die) -> Access:
    """The access of members of the record ``die`` that do not tell theirs (DWARF 5, section 5.7.5).

    Before DWARF 3 no default was written down: GCC then tells whatever is not public.
    """
    unit, abbreviation, _, _ = die
    if unit.version == 2 and (unit.producer or "").startswith("GNU"):
        return "public"
    return "private" if abbreviation.tag == dw.TAG_CLASS_TYPE else "public"


def read_record(types: TypeSource, die: Die) -> Record:
    """The shape of the struct, class or union that ``die`` defines."""
    members = RecordMembers(types, die)
    members.read()
    return members.shape()


def read_enum(types: TypeSource, die: Die) -> Enum:
    """The shape of the enumeration that ``die`` defines, with exact values."""
    unit, _, _, attributes = die
    size = attributes.get(dw.AT_BYTE_SIZE, 0)
    underlying = types.of(attributes) if dw.AT_TYPE in attributes else None
    signed = types.is_signed(attributes)
    enumerators = []
    for _, _, part in parts(die, ENUMERATORS):
        value = part.get(dw.AT_CONST_VALUE, 0)
        if isinstance(value, bytes):
            value = int.from_bytes(value, unit.order)
        enumerators.append(Enumerator(part.get(dw.AT_NAME, ""), fit(value, 8 * size, signed)))
    return Enum(size, tuple(enumerators), underlying, dw.AT_ENUM_CLASS in attributes)


def fit(value: int, bits: int, signed: bool | None) -> int:
    """``value`` as an integer of ``bits`` bits; as given where neither width nor signedness is known.

    Producers choose a form by the value's width, so that a form alone does not tell its sign.
    """
    if signed is None or not bits:
        return value
    if signed:
        return value - (1 << bits) if 1 << (bits - 1) <= value < 1 << bits else value
    return value & ((1 << bits) - 1)


def within_record(offset: int) -> int:
    """``offset``, in bits. Raises :class:`MalformedDwarf` where it is before the record's start."""
    if offset < 0:
        raise MalformedDwarf(f"a member lies {-offset} bits before the start of its record")
    return offset


def byte_offset(attributes: Attributes) -> int:
    """DW_AT_data_member_location as a number of bytes; 0 where absent, as in unions."""
    location = attributes.get(dw.AT_DATA_MEMBER_LOCATION, 0)
    if isinstance(location, bytes):
        if location and location[0] in (dw.OP_PLUS_UCONST, dw.OP_CONSTU):
            return dw.unsigned(location, 1)[0]
        return 0
    return int(location)


def vtable_slot(attributes: Attributes) -> int | None:
    """The index in the vtable that DW_AT_vtable_elem_location gives."""
    location = attributes.get(dw.AT_VTABLE_ELEM_LOCATION)
    if isinstance(location, bytes):
        return dw.unsigned(location, 1)[0] if location and location[0] == dw.OP_CONSTU else None
    return None if location is None else int(location)


def read_arguments(types: TypeSource, die: Die) -> list[TypeRef]:
    """The template arguments that one template parameter stands for: one, or those of a pack."""
    attributes = die[3]
    match die[1].tag:
        case dw.TAG_TEMPLATE_TYPE_PARAMETER:
            return [types.of(attributes)]
        case dw.TAG_TEMPLATE_VALUE_PARAMETER:
            return [types.references.special(spell_value(attributes, types.of(attributes), die[0].order))]
        case dw.TAG_GNU_TEMPLATE_TEMPLATE_PARAMETER:
            return [types.references.special(normal_name(attributes.get(dw.AT_GNU_TEMPLATE_NAME, "template")))]
    return arguments_in(types, die)


def arguments_in(types: TypeSource, die: Die) -> list[TypeRef]:
    """The template arguments that the children of a DIE stand for."""
    found: list[TypeRef] = []
    unit, abbreviation, position, _ = die
    if abbreviation.has_children:
        for _, child, after in tagged(unit, position, TEMPLATE_PARAMETERS):
            end, inner = child.decode(unit.data, after, unit)
            found.extend(read_arguments(types, (unit, child, end, inner)))
    return found


def spell_value(attributes: Attributes, type: TypeRef, order: Literal["little", "big"]) -> str:
    """A template argument that is a value. Addresses change with every link and are only said to be addresses."""
    value: Any = attributes.get(dw.AT_CONST_VALUE)
    if value is None:
        return "address" if dw.AT_LOCATION in attributes else "value"
    if isinstance(value, bytes):
        if not isinstance(type, Primitive) or type.spelling not in INTEGERS:
            return f"0x{value.hex()}"
        value = int.from_bytes(value, order, signed=not type.spelling.startswith("unsigned"))
    if isinstance(type, Primitive) and type.spelling == "bool":
        return "true" if value else "false"
    return str(value)
