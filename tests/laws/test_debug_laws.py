"""Laws of what completes names and links in debug information, for generated types and any bytes."""

from __future__ import annotations

import struct

from hypothesis import given
from hypothesis import strategies as st

from abistore.extract.files import SupplementaryLink, read_supplement
from abistore.model.names.qualified import normal_name, number_closure
from abistore.model.names.spelling import spell
from tests.laws.strategies import declarable_types

WRAPPERS = ["{}", "const {}&", "{}*", "{}&&", "{}* const"]


def closure(parameter: str, wrapper: str, mark: str) -> str:
    """A closure of a function with the same parameter, as the one argument of a template."""
    return normal_name(f"T<{wrapper.format(f'geo::f({parameter})::{{lambda({parameter}){mark}}}')}>")[2:-1]


@given(declarable_types, st.sampled_from(WRAPPERS), st.integers(1, 99))
def test_a_numbered_closure_is_spelled_as_a_demangler_spells_it(type, wrapper, number):
    text = closure(spell(type), wrapper, "")
    assert number_closure(text, number) == closure(spell(type), wrapper, f"#{number}")


@given(declarable_types, st.sampled_from(WRAPPERS), st.integers(1, 9), st.integers(1, 9))
def test_a_closure_is_numbered_once(type, wrapper, one, other):
    numbered = number_closure(closure(spell(type), wrapper, ""), one)
    assert number_closure(numbered, other) == numbered


@given(declarable_types, st.integers(1, 9))
def test_what_is_no_closure_has_no_number(type, number):
    assert number_closure(spell(type), number) == spell(type)


@given(st.booleans(), st.text("abc/.-", max_size=9), st.binary(min_size=1, max_size=300), st.sampled_from("<>"))
def test_a_supplementary_link_is_read_as_it_was_written(is_supplementary, name, checksum, order):
    length, rest = len(checksum) & 0x7F, len(checksum) >> 7
    size = bytes([length | 0x80, rest]) if rest else bytes([length])
    data = struct.pack(order + "HB", 5, is_supplementary) + name.encode() + b"\0" + size + checksum
    assert read_supplement(data, order) == SupplementaryLink(is_supplementary, name, checksum.hex())


@given(st.binary(max_size=40) | st.binary(max_size=40).map(b"\5\0".__add__))
def test_any_bytes_are_a_supplementary_link_or_none(data):
    found = read_supplement(data, "<")
    assert found is None or found.checksum
