"""The outermost scope of a symbol, told by its first letters, is that of its demangled name."""

from __future__ import annotations

import subprocess

import pytest

from abistore.model.names.qualified import demangle, entity, outermost, outermost_of
from abistore.model.names.symbols import NEW_AND_DELETE, plain_path
from tests.model.test_mangled import LIBRARIES


@pytest.mark.parametrize(
    ("symbol", "scope"),
    [
        ("_ZN3geo5Shape4areaEv", "geo"),
        ("_ZNK3geo5ShapeIiE4areaEv", "geo"),
        ("_ZTVN3geo5ShapeE", "geo"),
        ("_ZThn16_N3geo5Shape4areaEv", "geo"),
        ("_ZNSt6vectorIN3geo5ShapeESaIS1_EE9push_backERKS1_", "std"),
        ("_ZNKSs4sizeEv", "std"),
        ("_ZSt4moveIRN3geo5ShapeEEONSt16remove_referenceIT_E4typeEOS4_", "std"),
        ("_Z4areaN3geo5ShapeE", ""),
        ("_ZN12_GLOBAL__N_14areaEv", ""),
        ("_ZN3geoB5cxx115Shape4areaEv", ""),
        ("_ZZN3geo5Shape4areaEvE5cache", "geo"),
        ("?area@Shape@geo@@QEBAHXZ", "geo"),
        ("area", ""),
    ],
)
def test_a_symbol_tells_its_outermost_scope(symbol: str, scope: str) -> None:
    assert outermost_of(symbol) == scope == outermost(demangle(symbol))


def test_it_is_that_of_every_symbol_of_the_c_plus_plus_runtime() -> None:
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", next(each for each in LIBRARIES if "libstdc++" in each.name)],
        capture_output=True,
        text=True,
        check=True,
    )
    symbols = {line.split()[-1].partition("@")[0] for line in listed.stdout.splitlines()}
    assert len(symbols) > 3000
    assert [each for each in symbols if outermost_of(each) != outermost(demangle(each))] == []
    operators = {each for each in symbols if entity(demangle(each)).startswith(("operator new", "operator delete"))}
    assert operators == {each for each in symbols if each.startswith(NEW_AND_DELETE)} != set()


@pytest.mark.parametrize(
    ("symbol", "path"),
    [
        ("_ZN3geo5Shape4areaEv", "geo::Shape::area"),
        ("_ZNK3geo5ShapeIiE4areaEv", "geo::Shape"),
        ("_ZN3geo5ShapeC2ERKS0_", "geo::Shape::Shape"),
        ("_ZN3geo5ShapeD0Ev", "geo::Shape::~Shape"),
        ("_ZTVN3geo5ShapeE", "geo::Shape"),
        ("_ZN3geo5ShapeeqERKS0_", ""),
        ("_ZN3geo12_GLOBAL__N_14areaEv", ""),
        ("_ZN3geoB5cxx115Shape4areaEv", ""),
        ("_ZN99geo", ""),
        ("_Z4areaN3geo5ShapeE", ""),
        ("area", ""),
    ],
)
def test_the_letters_of_a_symbol_spell_its_path_or_tell_none(symbol: str, path: str) -> None:
    assert "::".join(plain_path(symbol)) == path


def test_a_path_of_plain_letters_is_that_of_the_demangled_name() -> None:
    symbols = (
        f"_ZN3lib{len(each)}{each}{end}" for each in ("a", "shape_v2") for end in ("Ev", "C1Ev", "D2Ev", "IiEEvT_")
    )
    for symbol in symbols:
        assert "::".join(plain_path(symbol)) == entity(demangle(symbol)).partition("<")[0]
