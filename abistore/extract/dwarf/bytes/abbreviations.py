"""Abbreviations: the kinds of entries in a unit, and how to decode or skip each (DWARF 5, section 7.5.3).

An abbreviation begins with an interpreting decoder. One that is used often replaces it by generated code: that is
nearly twice as fast, and costs as much as it saves in seventy-five entries.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeAlias

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.faults import MalformedDwarf
from abistore.extract.dwarf.bytes.forms import (
    EMPTY,
    SIZES,
    Attributes,
    Decoder,
    FormReader,
    Reading,
    Skipping,
    Specification,
    UnitFormat,
    fixed_forms,
    meaning,
    skip_function,
    variable_reader,
)

HOT_DECODER = 75
HOT_SKIPPER = 75
"""Uses after which generating code has paid for itself."""

DEFINING = frozenset({dw.AT_EXTERNAL, dw.AT_SPECIFICATION})
BY_ADDRESS = frozenset({dw.AT_LOW_PC, dw.AT_RANGES, dw.AT_ABSTRACT_ORIGIN})
VALUED = frozenset({dw.AT_CONST_VALUE, dw.AT_DECLARATION})

DIRECT = {
    dw.AT_NAME: dw.FORM_STRP,
    dw.AT_LINKAGE_NAME: dw.FORM_STRP,
    dw.AT_LOW_PC: dw.FORM_ADDR,
    dw.AT_SIBLING: dw.FORM_REF4,
    dw.AT_TYPE: dw.FORM_REF4,
}
"""The attributes that are read without decoding the entry, in the form where they can be."""

UNKNOWN = 0
"""The attribute code of what is stepped over."""

LEAF, PLAIN, FUNCTION, VARIABLE, NAMESPACE, UNPLACED, RECORD, ENUM = range(8)
"""How the scan of namespace scope treats an entry: as one of no children and fixed size, as any other that it steps
over, or by its meaning; ``UNPLACED`` is a variable without a location, or a function without code, that an export may
be nevertheless. Plain numbers, because every entry is
compared with them; types that a scan remembers are last."""


class FixedForms(NamedTuple):
    """Forms of fixed size in a row: one unpacking gives the raw values of the wanted ones."""

    unpack: Callable[[bytes, int], tuple[Any, ...]]
    size: int
    attributes: tuple[int, ...]
    interpreted: tuple[tuple[int, Callable[[Any, FormReader], Any]], ...]


Lead: TypeAlias = tuple[
    tuple[int, ...],
    Callable[[bytes, int], tuple[Any, ...]],
    tuple[int, ...],
    tuple[tuple[int, Callable[[Any, FormReader], Any]], ...],
    int,
]
"""An entry's first run, with what its abbreviation holds: attributes, unpacking, values held, meanings, size."""

NO_RUN: Final = FixedForms(struct.Struct("").unpack_from, 0, (), ())


class VariableForm(NamedTuple):
    """One form of variable size; ``attribute`` is 0 where it is not wanted."""

    attribute: int
    read: Reading
    skip: Skipping
    interpret: Callable[[Any, FormReader], Any] | None


class Abbreviation:
    """One kind of entry: its tag, its attributes and their forms.

    ``attributes`` is the set of attribute codes; ``size`` the bytes of the attributes of a leaf (-1: not fixed, or
    not a leaf). ``opens`` tells that children follow and nothing says where they end. Places count from the code's end,
    and are -1 where not fixed: ``sibling_place`` is that of DW_AT_sibling where there are children, ``symbol_place``
    that of the linkage name, or else of the name; ``type_place`` that of the type of a leaf of
    fixed size that completes no other entry. ``decode(data, position, unit)`` takes the position
    after the code and gives the position after the attributes, with the kept attributes. ``next(data, position, unit)``
    gives the position after the attributes, or of the next sibling where ``leads`` says that it is recorded.
    """

    __slots__ = (
        "_decoded", "_lead", "_plan", "_skip_plan", "_skipped", "address_place", "attributes", "decode", "format",
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
        self.attributes = frozenset(attribute for attribute, _, _ in specifications)
        self.has_code = bool({dw.AT_LOW_PC, dw.AT_RANGES} & self.attributes)
        self.is_declaration = dw.AT_DECLARATION in self.attributes
        self.is_nameable = tag == dw.TAG_SUBPROGRAM and _is_nameable(self.attributes)
        self.leads = has_children and dw.AT_SIBLING in self.attributes
        self.decode = self._decode_interpreted
        self.next = self._next_interpreted
        self._decoded = self._skipped = 0
        self._lead: Lead | None = None
        self._plan: list[FixedForms | VariableForm] = []
        self._skip_plan: list[FixedForms | VariableForm] | None = None
        places, size = _places(specifications, format)
        self.name_place = places.get(dw.AT_NAME, -1)
        self.symbol_place = places.get(dw.AT_LINKAGE_NAME if dw.AT_LINKAGE_NAME in self.attributes else dw.AT_NAME, -1)
        self.address_place = places.get(dw.AT_LOW_PC, -1)
        is_whole = size >= 0 and not has_children and dw.AT_ABSTRACT_ORIGIN not in self.attributes
        self.type_place = places.get(dw.AT_TYPE, -1) if is_whole else -1
        self.sibling_place = places.get(dw.AT_SIBLING, -1) if has_children else -1
        self.kind = self._classify(size >= 0)
        self.size = -1 if has_children else size
        self.opens = has_children and not self.leads

    def _classify(self, is_fixed: bool) -> int:
        tag, attributes = self.tag, self.attributes
        if tag == dw.TAG_SUBPROGRAM and (self.has_children or self.has_code):
            return FUNCTION
        if tag == dw.TAG_VARIABLE and dw.AT_LOCATION in attributes:
            return VARIABLE
        if tag == dw.TAG_VARIABLE and DEFINING & attributes and not VALUED & attributes:
            return UNPLACED
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
        if self._lead is None:
            self._lead, self._plan = self._prepare()
        attributes, unpack, constants, interpreted, size = self._lead
        values: Attributes = dict(zip(attributes, unpack(data, position) + constants, strict=True))
        for attribute, interpret in interpreted:
            values[attribute] = interpret(values[attribute], unit)
        position += size
        for step in self._plan:
            if isinstance(step, FixedForms):
                values.update(zip(step.attributes, step.unpack(data, position), strict=True))
                for attribute, interpret in step.interpreted:
                    values[attribute] = interpret(values[attribute], unit)
                position += step.size
            else:
                attribute, read, skip, meaning = step
                if attribute:
                    raw, position = read(data, position, unit)
                    values[attribute] = raw if meaning is None else meaning(raw, unit)
                else:
                    position = skip(data, position, unit)
        return position, values

    def _prepare(self) -> tuple[Lead, list[FixedForms | VariableForm]]:
        """How to read what has no bytes together with what comes first, and the steps after that."""
        steps = make_plan(stored(self.specifications, dw.KEPT), self.format)
        first, rest = (steps[0], steps[1:]) if steps and isinstance(steps[0], FixedForms) else (NO_RUN, steps)
        constants = {each: value for each, form, value in self.specifications if form in EMPTY and each in dw.KEPT}
        attributes = (*first.attributes, *constants)
        return (attributes, first.unpack, tuple(constants.values()), first.interpreted, first.size), rest

    def _next_interpreted(self, data: bytes, position: int, unit: FormReader) -> int:
        self._skipped += 1
        if self._skipped > HOT_SKIPPER:
            from abistore.extract.dwarf.bytes.generated import generate_skipper

            self.next = generate_skipper(self.specifications, self.format, leads=self.leads)
            return self.next(data, position, unit)
        plan = self._skip_plan
        if plan is None:
            kept = frozenset({dw.AT_SIBLING}) if self.leads else frozenset()
            plan = self._skip_plan = make_plan(stored(self.specifications, kept), self.format)
        start = position
        for step in plan:
            if isinstance(step, FixedForms):
                if step.attributes:
                    (raw,) = step.unpack(data, position)
                    for _, interpret in step.interpreted:
                        raw = interpret(raw, unit)
                    return unit.forward(raw, start)
                position += step.size
            elif step.attribute:
                raw, _ = step.read(data, position, unit)
                return unit.forward(raw if step.interpret is None else step.interpret(raw, unit), start)
            else:
                position = step.skip(data, position, unit)
        return position


def _is_nameable(attributes: frozenset[int]) -> bool:
    """Whether a function that has no code here may be found by its symbol: a compiler folded it with another one."""
    if dw.AT_EXTERNAL not in attributes or (BY_ADDRESS | DEFINING - {dw.AT_EXTERNAL}) & attributes:
        return False
    return dw.AT_LINKAGE_NAME in attributes or not {dw.AT_DECLARATION} & attributes


def _places(specifications: tuple[Specification, ...], format: UnitFormat) -> tuple[dict[int, int], int]:
    """Where the attributes in ``DIRECT`` begin before the first variable form; the size of all (-1: variable)."""
    fixed = fixed_forms(format)
    places: dict[int, int] = {}
    size = 0
    for attribute, form, _ in specifications:
        if DIRECT.get(attribute) == form:
            places[attribute] = size
        code = fixed.get(form)
        if code is not None:
            size += SIZES[code]
        elif form not in EMPTY:
            return places, -1
    return places, size


def stored(specifications: tuple[Specification, ...], kept: frozenset[int]) -> tuple[tuple[int, int], ...]:
    """The attributes that have bytes in the unit, each with its form; 0 stands for one that is not in ``kept``."""
    return tuple(
        [
            (attribute if attribute in kept else UNKNOWN, form)
            for attribute, form, _ in specifications
            if form not in EMPTY
        ]
    )


@lru_cache(1 << 12)
def make_plan(specifications: tuple[tuple[int, int], ...], format: UnitFormat) -> list[FixedForms | VariableForm]:
    """How to decode attributes: alternating runs of fixed forms and single variable ones.

    Remembered, because many abbreviations differ only in the values that they hold themselves.
    """
    fixed = fixed_forms(format)
    plan: list[FixedForms | VariableForm] = []
    for is_fixed, group in groupby(specifications, key=lambda specification: specification[1] in fixed):
        if is_fixed:
            plan.append(_run(list(group), format))
        else:
            for attribute, form in group:
                plan.append(
                    VariableForm(attribute, variable_reader(attribute, form), skip_function(form), meaning(form))
                )
    return plan


def _run(specifications: list[tuple[int, int]], format: UnitFormat) -> FixedForms:
    fixed = fixed_forms(format)
    layout = [format.prefix]
    size = 0
    attributes, interpreted = [], {}
    for attribute, form in specifications:
        code = fixed[form]
        size += SIZES[code]
        if attribute:
            layout.append(code)
            attributes.append(attribute)
            interpret = meaning(form)
            if interpret is not None:
                interpreted[attribute] = interpret
        else:
            layout.append(f"{SIZES[code]}x")
    unpack = struct.Struct("".join(layout)).unpack_from
    return FixedForms(unpack, size, tuple(attributes), tuple(interpreted.items()))


def _unusable(data: bytes, position: int, unit: FormReader) -> Any:
    raise MalformedDwarf("an entry uses an abbreviation that is not declared")


UNDECLARED = Abbreviation(0, False, (), UnitFormat(True, 4, 8, 4))
"""Stands in tables where no abbreviation has the code, so that using it is an error."""
UNDECLARED.decode = _unusable
UNDECLARED.next = _unusable
UNDECLARED.kind, UNDECLARED.size = PLAIN, -1
