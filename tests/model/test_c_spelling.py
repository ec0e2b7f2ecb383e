"""How functions without parameters are spelled, by language and prototype, and what is demangled with a hyphen."""

from __future__ import annotations

import pytest

from abistore.model.declarations import Name
from abistore.model.names.qualified import demangle
from abistore.model.names.spelling import declaration
from abistore.service.snapshots import capture
from tests.build import build_library

KNOWN = "int known(void) { return 1; }\nint open() { return 2; }\n"
CPP = 'extern "C" int known() { return 1; }\nint mangled() { return 2; }\nnamespace n { int inside() { return 3; } }\n'


def spelled(source: str, symbol: str, language: str = "c", flags: tuple[str, ...] = ("-g",)) -> str:
    snapshot = capture(build_library(source, language=language, flags=flags))
    name = Name("function", symbol)
    (shape,) = snapshot.variants("layout", name)
    return declaration(name, shape, snapshot)


@pytest.mark.parametrize("standard", ["c89", "c99", "c11", "c17"])
def test_a_c_prototype_without_parameters_has_void(standard: str) -> None:
    assert spelled(KNOWN, "known", flags=("-g", f"-std={standard}")) == "int known(void);"


def test_a_c_function_without_a_prototype_leaves_its_parameters_open() -> None:
    assert spelled(KNOWN, "open", flags=("-g", "-std=c99")) == "int open();"


@pytest.mark.parametrize(("language", "head"), [("c", "enum status {"), ("c++", "enum status : unsigned int {")])
def test_an_enumeration_of_c_has_no_underlying_type(language: str, head: str) -> None:
    source = "enum status { GOOD, BAD };\nenum status ask(enum status of) { return of; }\n"
    snapshot = capture(build_library(source, language=language, flags=("-g",)))
    name = Name("enum", "status")
    (shape,) = snapshot.variants("layout", name)
    assert declaration(name, shape, snapshot).splitlines()[0] == head


@pytest.mark.parametrize(
    ("symbol", "text"),
    [("known", "int known();"), ("_Z7mangledv", "int mangled();"), ("_ZN1n6insideEv", "int n::inside();")],
)
def test_cpp_needs_no_void(symbol: str, text: str) -> None:
    assert spelled(CPP, symbol, "c++") == text


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        ("_ZThn16_N7Derived3getEv", "non-virtual thunk to Derived::get()"),
        ("_ZThn16_NK7DerivedcviEv", "non-virtual thunk to Derived::operator int() const"),
        ("_ZTv0_n24_N1B1fEv", "virtual thunk to B::f()"),
        ("_ZTC1D0_1B", "construction vtable for B-in-D"),
        ("_ZN1AmiERKS_", "A::operator-(const A&)"),
    ],
)
def test_the_hyphens_of_thunks_and_construction_tables_are_no_operators(symbol: str, text: str) -> None:
    assert demangle(symbol) == text
