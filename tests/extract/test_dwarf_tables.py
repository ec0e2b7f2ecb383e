"""Abbreviation tables give the same, however they are cut."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abistore.extract.dwarf import encoding as dw
from abistore.extract.dwarf.abbreviations import UNDECLARED, Abbreviation, read_table
from abistore.extract.dwarf.encoding import MalformedDwarf, UnitFormat

pytestmark = pytest.mark.fast

FORMAT = UnitFormat(True, 4, 8, 4)
Declared = tuple[int, bool, list[tuple[int, int, int]]]

numbers = st.integers(1, 0x4000)
forms = st.sampled_from([dw.FORM_STRP, dw.FORM_DATA1, dw.FORM_UDATA, dw.FORM_REF4, dw.FORM_GNU_REF_ALT])
attributes = st.tuples(numbers, forms, st.just(1)) | st.tuples(
    numbers, st.just(dw.FORM_IMPLICIT_CONST), st.integers(0, 63)
)
declarations = st.lists(st.tuples(numbers, st.booleans(), st.lists(attributes, max_size=4)), max_size=200)


def encoded(declared: list[Declared], first: int = 1) -> bytes:
    """A table as producers write it, with codes that count from ``first``."""
    data = b""
    for code, (tag, has_children, specifications) in enumerate(declared, first):
        data += dw.encode(code) + dw.encode(tag) + bytes((has_children,))
        for attribute, form, constant in specifications:
            data += dw.encode(attribute) + dw.encode(form)
            if form == dw.FORM_IMPLICIT_CONST:
                data += dw.encode(constant)
        data += b"\0\0"
    return data + b"\0"


def facts(abbreviation: Abbreviation) -> tuple[int, bool, list[tuple[int, int]]]:
    found = [(form, constant) for _, form, constant in abbreviation.specifications]
    return abbreviation.tag, abbreviation.has_children, found


def expected(declared: list[Declared]) -> list[tuple[int, bool, list[tuple[int, int]]]]:
    return [(tag, children, [(form, constant) for _, form, constant in each]) for tag, children, each in declared]


@given(declarations, declarations)
def test_a_table_is_read_as_it_was_written_and_no_further(declared: list[Declared], following: list[Declared]) -> None:
    data = b"before" + encoded(declared) + encoded(following)
    assert [facts(each) for each in read_table(data, 6, FORMAT)[1:]] == expected(declared)


@given(declarations, st.integers(2, 300))
def test_codes_need_not_count_from_one(declared: list[Declared], first: int) -> None:
    table = read_table(encoded(declared, first), 0, FORMAT)
    assert [facts(each) for each in table[first:]] == expected(declared)
    assert all(each is UNDECLARED for each in table[:first])


def test_a_value_of_zero_before_the_end_of_a_declaration_is_a_value() -> None:
    zero = (dw.AT_DECL_FILE, dw.FORM_IMPLICIT_CONST, 0)
    declared: list[Declared] = [(dw.TAG_VARIABLE, False, [zero]), (dw.TAG_BASE_TYPE, False, []), (1, True, [zero])]
    assert [facts(each) for each in read_table(encoded(declared), 0, FORMAT)[1:]] == expected(declared)


def test_equal_declarations_are_one_object_in_whatever_table_they_are() -> None:
    one: Declared = (dw.TAG_MEMBER, False, [(dw.AT_NAME, dw.FORM_STRP, 1)])
    other: Declared = (dw.TAG_MEMBER, True, [])
    assert read_table(encoded([one, other]), 0, FORMAT)[1] is read_table(encoded([other, one]), 0, FORMAT)[2]


@pytest.mark.parametrize("size", range(1, 9))
def test_a_table_that_is_cut_off_is_malformed(size: int) -> None:
    data = encoded([(dw.TAG_MEMBER, False, [(dw.AT_NAME, dw.FORM_STRP, 1), (dw.AT_TYPE, dw.FORM_REF4, 1)])])
    with pytest.raises((MalformedDwarf, IndexError)):
        read_table(data[:size], 0, FORMAT)


def test_an_entry_that_uses_no_declared_code_is_malformed() -> None:
    undeclared = read_table(encoded([(dw.TAG_MEMBER, False, [])], first=5), 0, FORMAT)[2]
    no_unit: Any = None
    with pytest.raises(MalformedDwarf):
        undeclared.decode(b"", 0, no_unit)
