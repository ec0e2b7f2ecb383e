"""Chained fixups, which no linker here writes, and tables of dyld and of Windows' loader that are damaged."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from abistore.errors import InputError
from abistore.extract.files import InputFile
from abistore.extract.macho.container import MachOFile
from abistore.extract.macho.reader import PAGE, fixups
from abistore.extract.macho.symbols import Malformed
from abistore.extract.pe.container import PeFile
from tests.extract.macho_fixtures import build_dylib, command, written
from tests.extract.pe_fixtures import msvc, zig
from tests.extract.test_class_tables import tables
from tests.extract.test_class_tables_elsewhere import SOURCE, VISUAL, WITH_PURE

pytestmark = pytest.mark.full

DATA, BASE = 0x8000, 0x100000
PLACES = [(8, "own"), (16, "bound"), (40, "own")]
IMPORTS = b"\0" + b"_first\0" + b"_second\0"


def word(form: int, sort: str, step: int) -> int:
    """A word of a chain: the address 0x123 of the file, or the second import."""
    signed = form in (1, 9, 12)
    bits = (step // 8) << 51 if signed else (step // 4) << 51
    if sort == "bound":
        return bits | 1 << (62 if signed else 63) | 1
    return bits | (BASE + 0x123 if form in (1, 2) else 0x123)


def chained(folder: Path, form: int, *, starts: int = 0x20) -> MachOFile:
    """A file whose second segment is one page with the chain of :data:`PLACES`."""
    contents = bytearray(64)
    for (place, sort), (after, _) in zip(PLACES, [*PLACES[1:], (PLACES[-1][0], "")], strict=True):
        struct.pack_into("<Q", contents, place, word(form, sort, after - place))
    segments = struct.pack("<III", 2, 0, 16) + bytes(4)
    page = struct.pack("<IHHQIHH", 24, PAGE, form, DATA, 0, 1, PLACES[0][0])
    rows = struct.pack("<II", 1 << 9, 8 << 9)
    offset = starts + len(segments) + len(page)
    head = struct.pack("<7I", 0, starts, offset, offset + len(rows), 2, 1, 0)
    fixed = head.ljust(starts, b"\0") + segments + page + rows + IMPORTS
    place = 0x4000 + len(fixed)
    segment = struct.pack("<16sQQQQiiII", b"__DATA", BASE + DATA, PAGE, place, len(contents), 3, 3, 0, 0)
    data = written([command(0x19, segment)], {0x80000034: fixed, 0x7777: bytes(contents)})
    text = data.find(b"__TEXT") + 16
    path = folder / "libcase.dylib"
    path.write_bytes(data[:text] + struct.pack("<Q", BASE) + data[text + 8 :])
    return MachOFile(InputFile(path), 1 << 30)


@pytest.mark.parametrize("form", [1, 2, 6, 9, 12])
def test_chains_tell_addresses_and_symbols(form: int, tmp_path: Path) -> None:
    start = BASE + DATA
    found = fixups(chained(tmp_path, form), {start // PAGE})
    assert found == {start + 8: BASE + 0x123, start + 16: "second", start + 40: BASE + 0x123}


def test_pages_that_nobody_asks_for_are_left_out(tmp_path: Path) -> None:
    assert fixups(chained(tmp_path, 6), {1}) == {}


def test_chains_of_another_form_tell_nothing(tmp_path: Path) -> None:
    assert fixups(chained(tmp_path, 99), {(BASE + DATA) // PAGE}) == {}


def test_chains_that_lie_outside_of_their_table_are_refused(tmp_path: Path) -> None:
    macho = chained(tmp_path, 6)
    data = bytearray(macho.path.read_bytes())
    data[0x4004:0x4008] = b"\xff\xff\xff\x7f"
    macho.path.write_bytes(data)
    with pytest.raises(Malformed, match="cut off"):
        fixups(MachOFile(InputFile(macho.path), 1 << 30), {1})


def damaged(path: Path, start: int, size: int, folder: Path) -> None:
    """Reads copies of ``path`` that are damaged between ``start`` and ``start + size``."""
    whole, chance = path.read_bytes(), random.Random(start)
    for _ in range(60):
        change = bytearray(whole)
        for _ in range(4):
            change[start + chance.randrange(size)] = chance.choice((0, 1, 0x10, 0x7F, 0x80, 0xFF))
        copy = folder / path.name
        copy.write_bytes(change)
        try:
            tables(copy)
        except InputError:
            continue


def test_damaged_opcodes_give_a_snapshot_or_an_error(tmp_path: Path) -> None:
    path = build_dylib(SOURCE, language="c++", flags=("-O1",))
    macho = MachOFile(InputFile(path), 1 << 30)
    info = macho.unpacked(next(macho.all(0x80000022)), "10I")
    for start, size in (info[0:2], info[2:4], info[4:6]):
        if size:
            damaged(path, start, size, tmp_path)


@pytest.mark.parametrize("sort", ["mingw", "visual"])
def test_damaged_relocations_and_tables_give_a_snapshot_or_an_error(sort: str, tmp_path: Path) -> None:
    path = zig(WITH_PURE) if sort == "mingw" else msvc(VISUAL, "-O1")
    for section in PeFile(path).sections:
        if section.name in (".reloc", ".rdata"):
            damaged(path, section.offset, section.size, tmp_path)
