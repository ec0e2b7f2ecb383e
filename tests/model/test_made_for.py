"""What compilers made a symbol for."""

from __future__ import annotations

import pytest

from abistore.model.names.symbols import freed_by, made_for


@pytest.mark.parametrize(
    ("symbol", "subject"),
    [
        ("_ZTH5level", "level"),
        ("_ZTHN3log5levelE", "_ZN3log5levelE"),
        ("_ZTWN3log5levelE", "_ZN3log5levelE"),
        ("_ZGVN3log5levelE", "_ZN3log5levelE"),
        ("_ZGTt3runv", "_Z3runv"),
        ("_ZN3log5levelE", None),
        ("level", None),
    ],
)
def test_a_symbol_that_compilers_make_leads_to_what_it_is_made_for(symbol: str, subject: str | None) -> None:
    assert made_for(symbol) == subject


@pytest.mark.parametrize("taken", ["Pv", "Pvm", "PvSt11align_val_t", "PvmSt11align_val_t"])
def test_an_operator_delete_leads_to_the_destructor_that_calls_it(taken: str) -> None:
    assert freed_by(f"_ZN4tree4NodedlE{taken}") == ("_ZN4tree4NodeD0Ev", "_ZN4tree4NodedlE")


@pytest.mark.parametrize("symbol", ["_ZdlPv", "_ZN4NodedaEPv", "_ZN4NodedlEPvS0_", "_ZN4Node4freeEPv"])
def test_other_functions_free_nothing_for_a_destructor(symbol: str) -> None:
    assert freed_by(symbol) is None
