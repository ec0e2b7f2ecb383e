"""Names with a hash of contents in them are nobody's to ask for: another build has others."""

from __future__ import annotations

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import Name
from abistore.model.names.symbols import is_from_contents
from abistore.model.shapes import Function, Primitive
from tests.diffing.model import CODE, snapshot

pytestmark = pytest.mark.fast

INT = Primitive("int", 4)
PAIRS = (
    ("_cgoexp_f0f019c85ae7_Sum", "_cgoexp_a1b2c3d4e5f6_Sum"),
    ("_cgo_f0f019c85ae7_Cfunc_puts", "_cgo_a1b2c3d4e5f6_Cfunc_puts"),
    ("helper.llvm.8123", "helper.llvm.90210"),
    ("_ZN3geo4normEv.part.0", "_ZN3geo4normEv.constprop.1.isra.0"),
    ("helper.__uniq.1234", "helper.__uniq.4321"),
    ("_ZN41_GLOBAL__N__5f3a_4_x_cu_ab124runEv", "_ZN41_GLOBAL__N__7c1b_4_x_cu_ef564runEv"),
    ("?run@?A0x1a2b3c4d@@YAXXZ", "?run@?A0x9a8b7c6d@@YAXXZ"),
    ("_ZN4core3fmt5write17h0123456789abcdefE", "_ZN4core3fmt5write17hfedcba9876543210E"),
    ("_RNvCs1a2B3c_7mycrate3foo", "_RNvCs9z8Y7x_7mycrate3foo"),
    ("__covrec_5A1B2C3D4E5F6071u", "__covrec_0A1B2C3D4E5F6072u"),
)


def kinds(old: str, new: str, beside: str = "sum") -> set[str]:
    sides = []
    for spelling in (old, new):
        shapes = {Name("function", each): Function(each, INT) for each in (spelling, "one")}
        sides.append(snapshot(shapes, symbols=dict.fromkeys((*shapes, Name("function", beside)), CODE)))
    return {each.kind for each in compare(*sides).findings}


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_another_hash_is_no_change(old: str, new: str) -> None:
    assert not kinds(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [("foo.v1", "foo.v2"), ("cgoexp_Sum", "cgoexp_Sub"), ("_cgo_Sum", "_cgo_Sub"), ("_ZN3geo1hE", "_ZN3geo1gE")],
)
def test_other_names_are_as_they_were(old: str, new: str) -> None:
    assert "func_removed" in kinds(old, new)


def test_programs_in_rust_ask_for_hashes() -> None:
    old, new = PAIRS[-3]
    assert "func_removed" in kinds(old, new, beside="rust_metadata_core_0123456789abcdef")


@pytest.mark.parametrize("symbol", ["Sum", "_ZN12_GLOBAL__N_13runEv", "f.v1", "a.b.c", "one@V1", "x.2", "_Z3runv"])
def test_what_has_no_hash_is_a_name(symbol: str) -> None:
    assert not is_from_contents(symbol)
