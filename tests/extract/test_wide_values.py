"""Enumerators of more than 64 bits, of which libclang tells the lowest 64."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.headers.records import exact
from abistore.extract.reader import ExtractOptions, HeaderOptions
from abistore.model.declarations import FACETS, Name
from abistore.model.shapes import Enum, Enumerator, Primitive
from abistore.model.snapshot_files import from_json, to_json
from tests.build import build_library
from tests.extract.headers.agreement import X86_64, both_readers, walked

UNSIGNED = Primitive("unsigned __int128", 16)

HEADER = """
enum class Wide : __uint128_t { NONE, BIG = (__uint128_t)1 << 100, MORE, BOTH = BIG | 0x8, ALL = ~(__uint128_t)0 };
typedef unsigned __int128 huge;
enum class Named : huge { TOP = ~(__uint128_t)0 };
enum class Deep : __int128 { LOW = -((__int128)1 << 100), NEXT, ONE = 1 };
int use(Wide, Deep, Named);
"""


def test_readers_agree_on_wide_enumerators(tmp_path: Path) -> None:
    readers = both_readers(HEADER, "int use(Wide, Deep, Named) { return 0; }", tmp_path, "c++", X86_64)
    assert readers.differences == []
    (wide,) = [shape for shape in readers.source.entries[Name("enum", "Wide")] if isinstance(shape, Enum)]
    assert [each.value for each in wide.enumerators] == [0, 1 << 100, (1 << 100) + 1, (1 << 100) | 8, (1 << 128) - 1]


def test_an_enumeration_whose_values_are_not_known_has_none(tmp_path: Path) -> None:
    text = "constexpr __uint128_t far() { return (__uint128_t)1 << 90; }\nenum class Far : __uint128_t { A = far() };"
    found = walked(text, tmp_path, ["-xc++", "-std=c++20"])
    assert not [shape for shape in found.entries[Name("enum", "Far")] if isinstance(shape, Enum)]


@pytest.mark.parametrize(
    ("text", "low", "value"),
    [
        ("0x10ULL", 16, 16),
        ("017", 15, 15),
        ("1'000", 1000, 1000),
        ("-1", (1 << 64) - 1, (1 << 128) - 1),
        ("-1ul", (1 << 64) - 1, None),
        ("0 - 0xFFFFFFFF", 1 << 32, None),
        ("sizeof ( int )", 4, None),
        ("(unsigned) -1", (1 << 32) - 1, None),
        ("1 << 200", 0, None),
        ("5", 6, None),
        ("(" * 300 + "1" + ")" * 300, 1, None),
    ],
)
def test_an_expression_is_understood_or_not_used(text: str, low: int, value: int | None) -> None:
    found = exact(Enum(16, (Enumerator("A", low),), UNSIGNED), {"A": text}, signed=False)
    assert (found and found.enumerators[0].value) == value


def test_a_library_with_wide_enumerators_agrees_with_its_headers(tmp_path: Path) -> None:
    (tmp_path / "api.hpp").write_text(HEADER)
    options = ExtractOptions(headers=HeaderOptions((tmp_path / "api.hpp",), standard="gnu++20"))
    library = build_library(
        HEADER + "int use(Wide, Deep, Named) { return 0; }", language="c++", flags=("-g", "-std=gnu++20")
    )
    snapshot = read_snapshot(library, options)
    for name in (Name("enum", each) for each in ("Wide", "Deep", "Named")):
        told = [shape for facet in FACETS for shape in snapshot.variants(facet, name) if isinstance(shape, Enum)]
        assert len(told) == 2
        assert told[0].enumerators == told[1].enumerators
    assert from_json(to_json(snapshot)) == snapshot
