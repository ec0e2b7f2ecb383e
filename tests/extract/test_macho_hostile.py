"""Damaged and hostile Mach-O files: each gives a snapshot, or an error with a code, within limits."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from abistore.errors import ExtractError, InputError
from abistore.extract.capture import read_all
from abistore.extract.files import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_files import from_json, to_json
from tests.draws import draws
from tests.extract import macho_fixtures as macho
from tests.extract.damage import tighten

pytestmark = pytest.mark.full

DAMAGED = draws(200)
"""Copies that are read here."""

SOURCE = """
struct point { int x; double y; } origin;
_Thread_local int depth; int table[8] = {1}; int puts(const char *);
int norm(const struct point *p) { puts("x"); return p->x + depth + table[0]; }
"""


def outcome(path: Path) -> tuple[Snapshot, ...] | InputError:
    """What reading gives. Anything but these two escapes and fails the test."""
    try:
        with InputFile(path) as file:
            return read_all(file, ExtractOptions())
    except InputError as error:
        assert error.message and error.code
        assert "took more than" not in error.message
        return error


def mutated(original: bytes, source: random.Random) -> bytes:
    """A copy with some bytes changed, mostly where the tables are, or cut off."""
    data = bytearray(original)
    places = (range(min(len(data), 4096)), range(len(data) * 3 // 4, len(data)), range(len(data)))
    for _ in range(source.choice((1, 1, 3, 8))):
        place = source.choice(source.choice(places))
        word = source.choice((b"\xff\xff\xff\xff", bytes(4), b"\xff\xff\xff\x7f", source.randbytes(1)))
        data[place : place + len(word)] = word
    return bytes(data[: source.randrange(len(data))] if source.random() < 0.1 else data)


def mutated_text(original: bytes, source: random.Random) -> bytes:
    """A copy of a text in which some of its own letters stand elsewhere, or a part is gone or there twice."""
    data = bytearray(original)
    for _ in range(source.choice((1, 1, 3))):
        start = source.randrange(len(data))
        end = min(len(data), start + source.choice((1, 2, 30)))
        data[start:end] = source.choice((b"", data[start:end] * 2, bytes([source.choice(original)]), b"\xff"))
    return bytes(data)


@pytest.mark.parametrize("kind", ["thin", "universal", "with debug information"])
def test_damaged_files_give_a_snapshot_or_an_error(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tighten(monkeypatch)
    if kind == "with debug information":
        library = macho.build_with_dsym(SOURCE, tmp_path / "built")
        bundle = library.parent / f"{library.name}.dSYM" / "Contents" / "Resources" / "DWARF" / library.name
        original, path = bundle.read_bytes(), bundle
    else:
        path = tmp_path / "libcase.1.dylib"
        thin = [macho.build_dylib(SOURCE, target=each) for each in (macho.ARM, macho.INTEL)]
        original = macho.universal(thin, path).read_bytes() if kind == "universal" else thin[0].read_bytes()
    read = 0
    for number in range(DAMAGED):
        path.write_bytes(mutated(original, random.Random(f"{kind} {number}")))
        found = outcome(library if kind == "with debug information" else path)
        for each in found if isinstance(found, tuple) else ():
            assert from_json(to_json(each)) == each
            read += 1
    assert read


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (b"\0\x01_a\0\0", "not a tree"),
        (b"\0\x02_a\0\x05_b\0\x05\0\0", "not a tree"),
        (b"\0\x01_a", "cut off"),
        (b"\0\x01_a\0\x7f", "not a tree"),
        (b"\x80" * 20, "cut off"),
    ],
    ids=["a circle", "two parents", "no end", "outside", "an endless number"],
)
def test_an_exports_trie_that_is_no_tree_is_an_error(table: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "libcase.dylib"
    path.write_bytes(macho.written([macho.dylib_command(0xD, "libcase.dylib")], {0x80000033: table}))
    with pytest.raises(ExtractError, match=said):
        macho.snapshot(path)


def test_names_that_overlap_do_not_fill_the_memory(tmp_path: Path) -> None:
    depth, edge = 3000, b"a" * 1000 + b"\0"
    table = b""
    for level in range(depth):  # a chain of exports, each a thousand letters longer than the one before
        size = 3 + 1 + len(edge) + 4
        child = (level + 1) * size
        table += (
            b"\x02\0\x10\x01"
            + edge
            + bytes([child & 127 | 128, child >> 7 & 127 | 128, child >> 14 & 127 | 128, child >> 21])
        )
    path = tmp_path / "libcase.dylib"
    path.write_bytes(macho.written([macho.dylib_command(0xD, "libcase.dylib")], {0x80000033: table + b"\0\0"}))
    with pytest.raises(ExtractError, match="overlap"):
        macho.snapshot(path)


def test_parts_that_overlap_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "libcase.dylib"
    rows = struct.pack(">IIIII", 7, 3, 64, 500, 0) + struct.pack(">IIIII", 12, 0, 100, 500, 0)
    path.write_bytes(struct.pack(">II", 0xCAFEBABE, 2) + rows + bytes(2000))
    with pytest.raises(ExtractError, match="overlap"):
        macho.snapshots(path)


def test_load_commands_behind_the_end_are_an_error(tmp_path: Path) -> None:
    data = bytearray(macho.written([macho.dylib_command(0xD, "libcase.dylib")]))
    struct.pack_into("<I", data, 16, 1_000_000)
    path = tmp_path / "libcase.dylib"
    path.write_bytes(data)
    with pytest.raises(ExtractError, match="load command"):
        macho.snapshot(path)
