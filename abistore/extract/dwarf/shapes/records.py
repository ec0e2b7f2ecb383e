"""The members of records and enums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from msgspec.structs import replace

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes import leb
from abistore.extract.dwarf.bytes.faults import MalformedDwarf
from abistore.extract.dwarf.bytes.forms import Attributes
from abistore.extract.dwarf.entries.walk import Die, parts, tagged
from abistore.extract.dwarf.shapes.signatures import read_signature
from abistore.extract.dwarf.shapes.special_members import SpecialMembers, tells_defaulted
from abistore.extract.dwarf.shapes.type_source import TypeSource
from abistore.extract.dwarf.shapes.written_members import own_tail
from abistore.model.cpp_names.builtins import INTEGERS
from abistore.model.cpp_names.normal import normal_name
from abistore.model.layout.tails import is_open_by_parts
from abistore.model.shapes import Access, Base, Enum, Enumerator, Field, Primitive, Record, TypeRef, VirtualMethod

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
            from abistore.model.cpp_names.declarators import spell  # C has nothing to delete

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
            return leb.unsigned(location, 1)[0]
        return 0
    return int(location)


def vtable_slot(attributes: Attributes) -> int | None:
    """The index in the vtable that DW_AT_vtable_elem_location gives."""
    location = attributes.get(dw.AT_VTABLE_ELEM_LOCATION)
    if isinstance(location, bytes):
        return leb.unsigned(location, 1)[0] if location and location[0] == dw.OP_CONSTU else None
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
