"""Abbreviations: the kinds of entries in a unit, and how to decode or skip each (DWARF 5, section 7.5.3).

An abbreviation begins with an interpreting decoder. One that is used often replaces it by generated code: that is
nearly twice as fast, and costs as much as it saves in seventy-five entries.
"""

from __future__ import annotations

from typing import Any, Final

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.faults import MalformedDwarf
from abistore.extract.dwarf.bytes.forms import (
    Attributes,
    Decoder,
    FormReader,
    Skipping,
    Specification,
    UnitFormat,
    fixed_sizes,
)
from abistore.extract.dwarf.bytes.plans import ReadingPlan, make_plan

HOT_DECODER = 75
HOT_SKIPPER = 75
"""Uses after which generating code has paid for itself."""

DEFINING = frozenset({dw.AT_EXTERNAL, dw.AT_SPECIFICATION})
PLACED = frozenset({dw.AT_LOW_PC, dw.AT_RANGES})
UNNAMED = PLACED | {dw.AT_ABSTRACT_ORIGIN, dw.AT_SPECIFICATION}
VALUED = frozenset({dw.AT_CONST_VALUE, dw.AT_DECLARATION})

DIRECT = {
    dw.AT_NAME: dw.FORM_STRP,
    dw.AT_LINKAGE_NAME: dw.FORM_STRP,
    dw.AT_LOW_PC: dw.FORM_ADDR,
    dw.AT_SIBLING: dw.FORM_REF4,
    dw.AT_TYPE: dw.FORM_REF4,
}
"""The attributes that are read without decoding the entry, in the form where they can be."""

ONLY_SIBLING: Final = frozenset({dw.AT_SIBLING})

LEAF, PLAIN, FUNCTION, VARIABLE, NAMESPACE, UNPLACED, CONSTANT, RECORD, ENUM = range(9)
"""How the scan of namespace scope treats an entry: as one of no children and fixed size, as any other that it steps
over, or by its meaning; ``UNPLACED`` is a variable without a location, or a function without code, that an export may
be nevertheless; ``CONSTANT`` is a variable that is a value only. Plain numbers, because every entry is compared with
them; types that a scan remembers are last."""


class Abbreviation:
    """One kind of entry: its tag, its attributes and their forms.

    ``attributes`` is the set of attribute codes; ``extent`` the bytes of all attributes (-1: not fixed), and ``size``
    the same of a leaf (-1: not fixed, or not a leaf). ``opens`` tells that children follow and nothing says where they
    end. Places count from the code's end, and are -1 where not fixed: ``sibling_place`` is that of DW_AT_sibling where
    there are children, ``symbol_place`` that of the linkage name, or else of the name; ``type_place`` that of the type
    of a leaf of fixed size that completes no other entry. ``decode(data, position, unit)`` takes the position
    after the code and gives the position after the attributes, with the kept attributes. ``next(data, position, unit)``
    gives the position after the attributes, or of the next sibling where ``leads`` says that it is recorded.
    """

    __slots__ = (
        "_decoded", "_decoding", "_skipped", "_skipping", "address_place", "attributes", "decode", "extent", "format",
        "has_children", "has_code", "is_declaration", "is_nameable", "kind", "leads", "name_place", "next",
        "opens", "raw", "sibling_place", "size", "specifications", "symbol_place", "tag", "type_place",
    )  # fmt: skip

    decode: Decoder
    next: Skipping
    raw: bytes

    def __init__(
        self, tag: int, has_children: bool, specifications: tuple[Specification, ...], format: UnitFormat
    ) -> None:
        self.tag = tag
        self.has_children = has_children
        self.specifications = specifications
        self.format = format
        self.attributes = frozenset([attribute for attribute, _, _ in specifications])
        self.has_code = not PLACED.isdisjoint(self.attributes)
        self.is_declaration = dw.AT_DECLARATION in self.attributes
        self.is_nameable = tag == dw.TAG_SUBPROGRAM and _is_nameable(self.attributes)
        self.leads = has_children and dw.AT_SIBLING in self.attributes
        self.decode = self._decode_interpreted
        self.next = self._next_interpreted
        self._decoded = self._skipped = 0
        self._decoding: ReadingPlan | None = None
        self._skipping: ReadingPlan | None = None
        places, size = _places(specifications, format)
        self.name_place = places.get(dw.AT_NAME, -1)
        self.symbol_place = places.get(dw.AT_LINKAGE_NAME if dw.AT_LINKAGE_NAME in self.attributes else dw.AT_NAME, -1)
        self.address_place = places.get(dw.AT_LOW_PC, -1)
        is_whole = size >= 0 and not has_children and dw.AT_ABSTRACT_ORIGIN not in self.attributes
        self.type_place = places.get(dw.AT_TYPE, -1) if is_whole else -1
        self.sibling_place = places.get(dw.AT_SIBLING, -1) if has_children else -1
        self.kind = self._classify(size >= 0)
        self.extent = size
        self.size = -1 if has_children else size
        self.opens = has_children and not self.leads

    def _classify(self, is_fixed: bool) -> int:
        tag, attributes = self.tag, self.attributes
        if tag == dw.TAG_SUBPROGRAM and (self.has_children or self.has_code or self.is_declaration):
            return FUNCTION
        if tag == dw.TAG_VARIABLE and dw.AT_LOCATION in attributes:
            return VARIABLE
        if tag == dw.TAG_VARIABLE and DEFINING & attributes and not VALUED & attributes:
            return UNPLACED
        if tag == dw.TAG_VARIABLE and dw.AT_CONST_VALUE in attributes and dw.AT_NAME in attributes:
            return CONSTANT
        if self.is_nameable:
            return UNPLACED
        if tag in (dw.TAG_NAMESPACE, dw.TAG_MODULE):
            return NAMESPACE
        is_leaf = is_fixed and not self.has_children
        if tag in dw.RECORD_TAGS and not (is_leaf and self.is_declaration):
            return RECORD
        if tag == dw.TAG_ENUMERATION_TYPE:
            return ENUM
        return LEAF if is_leaf else PLAIN

    def _decode_interpreted(self, data: bytes, position: int, unit: FormReader) -> tuple[int, Attributes]:
        self._decoded += 1
        if self._decoded > HOT_DECODER:
            from abistore.extract.dwarf.bytes.generated import generate_decoder

            self.decode = generate_decoder(self.specifications, self.format)
            return self.decode(data, position, unit)
        if self._decoding is None:
            self._decoding = make_plan(self.specifications, dw.KEPT, self.format)
        return self._decoding.read(data, position, unit)

    def _next_interpreted(self, data: bytes, position: int, unit: FormReader) -> int:
        self._skipped += 1
        if self._skipped > HOT_SKIPPER:
            from abistore.extract.dwarf.bytes.generated import generate_skipper

            self.next = generate_skipper(self.specifications, self.format, leads=self.leads)
            return self.next(data, position, unit)
        if self._skipping is None:
            self._skipping = make_plan(self.specifications, ONLY_SIBLING if self.leads else frozenset(), self.format)
        end, values = self._skipping.read(data, position, unit)
        return unit.forward(values[dw.AT_SIBLING], position) if self.leads else end


def _is_nameable(attributes: frozenset[int]) -> bool:
    """Whether a function that has no code here may be found by its symbol: a compiler folded it with another one."""
    if dw.AT_EXTERNAL not in attributes or not UNNAMED.isdisjoint(attributes):
        return False
    return dw.AT_LINKAGE_NAME in attributes or dw.AT_DECLARATION not in attributes


def _places(specifications: tuple[Specification, ...], format: UnitFormat) -> tuple[dict[int, int], int]:
    """Where the attributes in ``DIRECT`` begin before the first variable form; the size of all (-1: variable)."""
    sizes = fixed_sizes(format)
    places: dict[int, int] = {}
    position = 0
    for attribute, form, _ in specifications:
        if attribute in DIRECT and DIRECT[attribute] == form:
            places[attribute] = position
        size = sizes.get(form)
        if size is None:
            return places, -1
        position += size
    return places, position


def _unusable(data: bytes, position: int, unit: FormReader) -> Any:
    raise MalformedDwarf("an entry uses an abbreviation that is not declared")


UNDECLARED = Abbreviation(0, False, (), UnitFormat(True, 4, 8, 4))
"""Stands in tables where no abbreviation has the code, so that using it is an error."""
UNDECLARED.decode = _unusable
UNDECLARED.next = _unusable
UNDECLARED.kind, UNDECLARED.size, UNDECLARED.extent = PLAIN, -1, -1
