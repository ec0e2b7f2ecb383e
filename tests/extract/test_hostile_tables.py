"""Corrupt ELF tables and headers: a snapshot or an InputError, within limits, and nothing else."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from abistore.extract.capture import read_snapshot
from abistore.extract.elf.container import ElfFile
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from tests.build import build_library
from tests.extract.damage import outcomes, tighten

pytestmark = pytest.mark.full

SOURCE = """
__attribute__((symver("turn@GEO_1"))) int turn_old(int angle) { return angle; }
__attribute__((symver("turn@@GEO_2"))) int turn_new(int angle) { return angle + 1; }
extern int printf(const char *, ...);
int counter, table[9] = {1};
__thread int own;
int say(const char *text) { return printf("%s", text) + counter + own; }
"""
MAP = "GEO_1 { global: say; counter; local: unused_*; };\nGEO_2 { global: table; own; } GEO_1;\n"

SECTIONS = (
    *(".dynamic", ".dynstr", ".dynsym", ".gnu.hash", ".gnu.version", ".gnu.version_d", ".gnu.version_r", ".hash"),
    *(".note.gnu.build-id", ".shstrtab"),
)
HEADERS = ("file header", "program headers", "section headers")


@cache
def library() -> Path:
    flags = ("-Wl,--version-script=case.map", "-Wl,--build-id", "-Wl,--hash-style=both", "-Wl,-z,now")
    return build_library(SOURCE, flags=flags, files={"case.map": MAP})


def place(name: str) -> range:
    """Where a header or a section lies in the file."""
    path = library()
    elf = ElfFile(path)
    sections = int.from_bytes(path.read_bytes()[40:48], "little")
    match name:
        case "file header":
            return range(64)
        case "program headers":
            return range(64, 64 + 56 * len(elf.segments))
        case "section headers":
            return range(sections, sections + 64 * len(elf.sections))
    (found,) = (section for section in elf.sections if section.name == name)
    return range(found.offset, found.offset + found.size)


@pytest.mark.parametrize("name", [*HEADERS, *SECTIONS])
def test_flipped_bits_in_each_header_and_table_give_a_snapshot_or_an_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tighten(monkeypatch)
    found = outcomes(library(), [place(name)], tmp_path, layout=False)
    assert found["snapshot"] > 0
    if name in HEADERS:
        assert found["error"] > 0


def test_a_symbol_at_two_places_is_described_by_one_of_them(tmp_path: Path) -> None:
    source = "struct Point { virtual ~Point(); };\nPoint::~Point() {}\n"
    intact = build_library(source, language="c++", flags=("-g", "-O0"))
    deleting, complete = "_ZN5PointD0Ev", "_ZN5PointD1Ev"
    path = tmp_path / "libcase.so"
    path.write_bytes(renamed(intact, complete, deleting))
    twice = read_snapshot(path, ExtractOptions()).entries["layout"]
    assert Name("function", complete) not in twice
    assert (
        twice[Name("function", deleting)]
        == read_snapshot(intact, ExtractOptions()).entries["layout"][Name("function", deleting)]
    )


def renamed(library: Path, symbol: str, other: str) -> bytes:
    """A library in whose table of symbols one has the name of another."""
    data = bytearray(library.read_bytes())
    (table,) = (section for section in ElfFile(library).sections if section.name == ".dynsym")
    (names,) = (section for section in ElfFile(library).sections if section.name == ".dynstr")
    text = bytes(data[names.offset : names.offset + names.size])
    before, after = (text.index(b"\0" + name.encode() + b"\0") + 1 for name in (symbol, other))
    for entry in range(table.offset, table.offset + table.size, 24):
        if int.from_bytes(data[entry : entry + 4], "little") == before:
            data[entry : entry + 4] = after.to_bytes(4, "little")
    return bytes(data)
