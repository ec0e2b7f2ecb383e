"""Demangling with the C++ runtime, without it, and of symbols made to hurt."""

from __future__ import annotations

import subprocess

import pytest

from abistore.model.names.qualified import MAX_LENGTH, demangle, normal_name, plain_name, runtime_demangler

SYMBOLS = [
    "_ZN3geo5Shape4areaEi",
    "_ZNK3geo5ShapeC1ERKS0_",
    "_ZTVN3geo5ShapeE",
    "_ZSt4cout",
    "_Z1fPFvPKcE",
    "_ZN1AIiED0Ev",
]


def test_demangling_agrees_with_cxxfilt():
    text = subprocess.run(["c++filt"], input="\n".join(SYMBOLS), check=True, capture_output=True, text=True).stdout
    assert [demangle(symbol) for symbol in SYMBOLS] == [normal_name(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    "symbol", ["", "printf", "_Z", "_ZN3geo5Shape", "_Z\0x", "_Zé", "_ZN" + "1a" * MAX_LENGTH + "E"]
)
def test_what_is_not_a_mangled_name_is_itself(symbol):
    assert demangle(symbol) == symbol


def test_a_symbol_that_would_explode_stays_short():
    bomb = "_Z1f" + "".join(f"1XIS{'' if i == 0 else i - 1}_S{'' if i == 0 else i - 1}_E" for i in range(30))
    assert len(demangle(bomb)) < 1 << 16


PLAIN = {
    "_ZN3geo5Shape4areaEi": "geo::Shape::area",
    "_ZNK3geo5ShapeD1Ev": "geo::Shape::~Shape",
    "_ZTVN3geo5ShapeE": "vtable for geo::Shape",
    "_ZTI5Shape": "typeinfo for Shape",
    "_Z3fooi": "foo",
    "_ZN12_GLOBAL__N_13fooEv": "(anonymous namespace)::foo",
}


@pytest.mark.parametrize(("symbol", "name"), PLAIN.items())
def test_without_a_runtime_plain_names_are_still_read(symbol, name):
    assert plain_name(symbol) == name
    run = runtime_demangler()
    assert run is None or (run(symbol) or "").startswith(name)


@pytest.mark.parametrize("symbol", ["_ZN1AIiED0Ev", "_Z1fIiEvv", "_ZN3geo", "_ZN9geoE", "_ZSt4cout", "_ZN3geoB5cxx11E"])
def test_without_a_runtime_other_names_stay_mangled(symbol):
    assert plain_name(symbol) is None
