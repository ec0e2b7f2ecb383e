"""Corrupt debug information gives a snapshot or an error that is meant for people."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from abistore.errors import AbistoreError
from abistore.extract.capture import read_snapshot
from abistore.extract.elf.container import ElfFile
from abistore.extract.reader import ExtractOptions
from tests.build import build_library

pytestmark = pytest.mark.full

SOURCE = """
namespace geo { enum class Color : short { red = 1 }; struct Point { int x, y : 3; };
template<class T, int N> struct Array { T data[N]; struct Inner { T *p; } inner; };
class Shape { public: virtual ~Shape(); virtual int area(Color) const; Array<Point, 3> points; };
typedef struct { union { int a; float b; }; } Pair; int Shape::area(Color) const { return 0; } Shape::~Shape() {}
Pair use(Shape &s, int (*f)(Pair *, ...), int Point::*m, struct Hidden *h) { return Pair(); } }
"""
SECTIONS = (".debug_info", ".debug_abbrev", ".debug_str", ".debug_line", ".debug_line_str", ".debug_str_offsets")


@pytest.mark.parametrize(("compiler", "version"), [("g++", 5), ("clang++", 5), ("g++", 3), ("clang++", 4)])
def test_bit_flips_end_in_a_snapshot_or_an_error(compiler: str, version: int, tmp_path: Path) -> None:
    built = build_library(SOURCE, language="c++", compiler=compiler, flags=["-g", f"-gdwarf-{version}", "-O1"])
    intact = built.read_bytes()
    sections = [section for section in ElfFile(built).sections if section.name in SECTIONS and section.size]
    rng = random.Random(f"{compiler} {version}")
    outcomes = set()
    for _ in range(150):
        section = rng.choice(sections)
        data = bytearray(intact)
        for _ in range(rng.choice((1, 1, 4))):
            data[section.offset + rng.randrange(section.size)] ^= 1 << rng.randrange(8)
        broken = tmp_path / "broken.so"
        broken.write_bytes(data)
        try:
            read_snapshot(broken, ExtractOptions())
            outcomes.add("snapshot")
        except AbistoreError as error:
            assert error.message
            outcomes.add("error")
    assert "snapshot" in outcomes
