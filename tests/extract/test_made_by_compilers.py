"""Exports that compilers make: no source declares them, and a full build stays full with them."""

from __future__ import annotations

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.names.symbols import is_declared
from abistore.model.snapshot import Evidence
from tests.build import build_library
from tests.extract.layout_fixtures import CPP

INITIALISED = "struct Text { Text(); ~Text(); int n; }; thread_local Text last; int f(int a) { return a + last.n; }"
FOR_PROCESSORS = '__attribute__((target_clones("avx2", "default"))) int sum(int a) { return a + 1; }'
BOUND = "extern const int &bound; const int &bound = 7; extern int (*chosen)(); int f(); int (*chosen)() = f;"
THUNKS = "struct A { virtual int f(); int a; }; struct B : virtual A { int f() override; }; int B::f() { return a; }"
SHARED = "struct T { T(); int n; }; inline int once() { static T t; return t.n; } int use() { return once(); }"


def layout_of(source: str, compiler: str, debug: str = "-g") -> Evidence:
    path = build_library(source, language="c++", compiler=compiler, flags=(debug, "-O1"))
    (layout,) = (each for each in read_snapshot(path, ExtractOptions()).evidence if each.facet == "layout")
    return layout


@pytest.mark.parametrize("compiler", CPP)
@pytest.mark.parametrize("source", [INITIALISED, BOUND, THUNKS, SHARED])
def test_what_a_compiler_makes_takes_nothing_from_a_full_build(compiler: str, source: str) -> None:
    layout = layout_of(source, compiler)
    assert (layout.state, layout.reason) == ("full", ""), layout.detail


def test_a_function_for_several_processors_is_a_full_build() -> None:
    assert layout_of(FOR_PROCESSORS, "g++").state == "full"


@pytest.mark.parametrize("compiler", CPP)
def test_a_unit_without_types_is_still_told(compiler: str) -> None:
    layout = layout_of(INITIALISED, compiler, "-g1")
    assert (layout.state, layout.reason) == ("missing", "types-not-recorded")


@pytest.mark.parametrize("symbol", ["_Z3onei.resolver", "one.cold", "one.part.0.isra.3", "one.llvm.8123"])
def test_no_source_declares_a_name_with_a_dot(symbol: str) -> None:
    assert not is_declared(symbol)


def test_dots_within_a_name_of_rust_are_its_own() -> None:
    assert is_declared("_ZN50_$LT$T$u20$as$u20$core..convert..From$LT$T$GT$$GT$4from17h0123456789abcdefE")
