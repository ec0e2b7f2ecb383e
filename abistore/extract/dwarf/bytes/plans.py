"""Reading the attributes of entries step by step: a plan is made soon, and is slower than generated code."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

import msgspec

from abistore.extract.dwarf.bytes import codes as dw
from abistore.extract.dwarf.bytes.forms import (
    EMPTY,
    MEANINGS,
    REFERENCE,
    SIZES,
    Attributes,
    FormReader,
    Specification,
    UnitFormat,
    fixed_forms,
    meaning,
    skip_function,
    variable_reader,
)

Stored: TypeAlias = tuple[int, int]
"""An attribute that has bytes in the entry, or ``UNKNOWN`` where it is not wanted, and its form."""

Step: TypeAlias = Callable[[Attributes, bytes, int, FormReader], int]
"""Adds the wanted values at a position, and gives the position after them."""

UNKNOWN = 0
"""The attribute code of what is stepped over."""


class ReadingPlan(msgspec.Struct, frozen=True):
    """How to read the wanted attributes of an entry: values that the abbreviation holds, then steps over the bytes."""

    constants: Attributes
    steps: tuple[Step, ...]

    def read(self, data: bytes, position: int, unit: FormReader) -> tuple[int, Attributes]:
        """The position after the attributes at ``position``, and the wanted ones."""
        values = self.constants.copy()
        for step in self.steps:
            position = step(values, data, position, unit)
        return position, values


def make_plan(specifications: tuple[Specification, ...], kept: frozenset[int], format: UnitFormat) -> ReadingPlan:
    """How to read the ``kept`` attributes of entries with these specifications."""
    constants = {each: value for each, form, value in specifications if form in EMPTY and each in kept}
    stored = [(each if each in kept else UNKNOWN, form) for each, form, _ in specifications if form not in EMPTY]
    return ReadingPlan(constants, _steps(tuple(stored), format))


@lru_cache(1 << 12)
def _steps(stored: tuple[Stored, ...], format: UnitFormat) -> tuple[Step, ...]:
    """Alternating runs of fixed forms and single variable ones.

    Remembered, because many abbreviations differ only in the values that they hold themselves.
    """
    fixed = fixed_forms(format)
    plan: list[Step] = []
    for is_fixed, group in groupby(stored, key=lambda each: each[1] in fixed):
        if is_fixed:
            plan.append(_fixed_forms(list(group), format))
        else:
            plan += [_variable_form(attribute, form) for attribute, form in group]
    return tuple(plan)


def _fixed_forms(stored: list[Stored], format: UnitFormat) -> Step:
    """Over forms of fixed size in a row: one unpacking gives the raw values of the wanted ones.

    Most that do not stand for themselves are strings, or references to entries of the unit.
    """
    fixed = fixed_forms(format)
    wanted = {attribute: form for attribute, form in stored if attribute}
    size = sum(SIZES[fixed[form]] for _, form in stored)
    if not wanted:
        return lambda values, data, position, unit: position + size
    layout = [fixed[form] if attribute else f"{SIZES[fixed[form]]}x" for attribute, form in stored]
    unpack = struct.Struct("".join([format.prefix, *layout])).unpack_from
    attributes = [attribute for attribute, _ in stored if attribute]
    strings = [each for each, form in wanted.items() if form == dw.FORM_STRP]
    references = [each for each, form in wanted.items() if MEANINGS.get(form) == REFERENCE]
    others = {each: meaning(form) for each, form in wanted.items() if each not in (*strings, *references)}
    interpreted = [(each, interpret) for each, interpret in others.items() if interpret is not None]

    def step(values: Attributes, data: bytes, position: int, unit: FormReader) -> int:
        values.update(zip(attributes, unpack(data, position)))  # noqa: B905, a keyword costs a fifth
        for attribute in strings:
            values[attribute] = unit.strings[values[attribute]]
        for attribute in references:
            values[attribute] += unit.handle
        for attribute, interpret in interpreted:
            values[attribute] = interpret(values[attribute], unit)
        return position + size

    return step


def _variable_form(attribute: int, form: int) -> Step:
    """Over one form of variable size."""
    skip = skip_function(form)
    if not attribute:
        return lambda values, data, position, unit: skip(data, position, unit)
    read, interpret = variable_reader(attribute, form), meaning(form)

    def step(values: Attributes, data: bytes, position: int, unit: FormReader) -> int:
        raw, position = read(data, position, unit)
        values[attribute] = raw if interpret is None else interpret(raw, unit)
        return position

    return step
