"""Which symbols belong to the C++ runtime, also where its demangler here is too old to read them."""

from __future__ import annotations

import pytest

from abistore.diffing.surface import export_table
from abistore.diffing.surface.export_table import is_runtime_symbol


@pytest.fixture(params=["read", "unread"])
def demangler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """This machine's demangler, and one that can read nothing."""
    is_runtime_symbol.cache_clear()
    if request.param == "unread":
        monkeypatch.setattr(export_table, "demangle", lambda symbol: symbol)
    return str(request.param)


@pytest.mark.parametrize(
    "symbol",
    [
        "_ZSt8to_charsPcS_DF128_",
        "_ZSt8to_charsPcS_DF128_St12chars_format",
        "_ZSt10from_charsPKcS0_RDF128_St12chars_format",
    ],
)
def test_functions_of_std_are_the_runtime_s(symbol: str, demangler: str) -> None:
    assert is_runtime_symbol(symbol), demangler


@pytest.mark.parametrize(
    "symbol",
    ["_ZSt4swapI3FooEvRT_S2_", "_ZSt4takeI3FooEvDF128_T_", "_ZStlsRSoDF128_", "_ZN3lib1fEDF128_", "_ZSt3fooN3lib1AE"],
)
def test_what_names_a_type_of_the_library_is_its_own(symbol: str, demangler: str) -> None:
    assert not is_runtime_symbol(symbol), demangler
