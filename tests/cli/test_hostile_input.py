"""Hostile libraries through the command: an error with a code and a hint, no traceback, and the store as it was."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from abistore.extract.elf.container import ElfFile
from tests.build import build_library
from tests.cli.conftest import Call, Done

pytestmark = pytest.mark.full

Make = Callable[[Path], Path]
SOURCE = (
    "struct point { int x, y; };\nint norm(const struct point *p) { return p->x + p->y; }\nint main(void) { return 0; }"
)


def built(folder: Path, *words: str) -> Path:
    (folder / "x.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "x.c", "-o", "x", *words], cwd=folder, check=True)
    return folder / "x"


def with_section(folder: Path, name: str, data: bytes, flags: int = 0) -> Path:
    """A library in which the debug section ``name`` holds other bytes; SHF_COMPRESSED is 0x800."""
    path = folder / "libhostile.so"
    (folder / "raw").write_bytes(data)
    subprocess.run(
        ["objcopy", f"--update-section={name}={folder / 'raw'}", str(build_library(SOURCE)), str(path)], check=True
    )
    whole = bytearray(path.read_bytes())
    table = int.from_bytes(whole[40:48], "little")
    index = next(index for index, section in enumerate(ElfFile(path).sections) if section.name == name)
    place = table + 64 * index + 8
    whole[place : place + 8] = struct.pack("<Q", flags)
    path.write_bytes(whole)
    return path


def bomb(declared: int, stream: bytes) -> bytes:
    """A compressed section that declares a size (System V ABI, section compression)."""
    return struct.pack("<IIQQ", 1, 0, declared, 1) + stream


HOSTILE: dict[str, Make] = {
    "executable without exports": lambda folder: built(folder),
    "static executable": lambda folder: built(folder, "-static"),
    "core": lambda folder: core(folder),
    "bomb that declares a terabyte": lambda folder: with_section(
        folder, ".debug_info", bomb(1 << 40, zlib.compress(b"x")), 0x800
    ),
    "bomb that gives more than it declares": lambda folder: with_section(
        folder, ".debug_info", bomb(1 << 20, zlib.compress(bytes(200 << 20))), 0x800
    ),
    "stream of noise": lambda folder: with_section(folder, ".debug_info", bomb(1 << 20, b"no stream"), 0x800),
    "debug file": lambda folder: debug_file(folder),
}


def core(folder: Path) -> Path:
    path = built(folder)
    data = bytearray(path.read_bytes())
    data[16:18] = struct.pack("<H", 4)
    path.write_bytes(data)
    return path


def debug_file(folder: Path) -> Path:
    subprocess.run(["objcopy", "--only-keep-debug", build_library(SOURCE), folder / "x.debug"], check=True)
    return folder / "x.debug"


def store(call: Call) -> object:
    return call("list", "--json").json, call("db", "audit", "--json").json, call("db", "check").out


def assert_error(done: Done) -> None:
    assert done.code >= 64
    assert done.code != 70, done.err
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err
    assert done.out == ""


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_an_error_and_leaves_the_store_as_it_was(
    kind: str, stored: Call, process: Call, tmp_path: Path
) -> None:
    path = HOSTILE[kind](tmp_path)
    before = store(stored)
    assert_error(process("export", path))
    done = process("ingest", path, "--version", "3", "--json")
    assert done.code >= 64
    assert done.code != 70
    assert done.error["hint"]
    assert "Traceback" not in done.err
    assert store(stored) == before


@pytest.mark.parametrize("section", [".debug_abbrev", ".debug_info"])
def test_debug_information_of_noise_is_an_error_and_the_tables_can_be_read_alone(
    section: str, stored: Call, tmp_path: Path
) -> None:
    noise = with_section(tmp_path, section, random.Random(5).randbytes(2000))
    before = store(stored)
    done = stored("ingest", noise, "--version", "3", "--json")
    assert (done.code, done.error["code"]) == (65, "extract")
    assert "libhostile.so: the unit at 0x0" in done.error["message"]
    assert "--symbols-only" in done.error["hint"]
    assert store(stored) == before
    done = stored("compare", build_library(SOURCE), noise, "--symbols-only", "--json")
    assert (done.code, done.json["verdict"]) == (0, "NO_CHANGE")
    assert [(each["facet"], each["side"]) for each in done.json["not_checked"]] == [("layout", "both")]


def test_a_file_cut_at_any_place_is_an_error_and_leaves_the_store_as_it_was(stored: Call, tmp_path: Path) -> None:
    data = build_library(SOURCE).read_bytes()
    before = store(stored)
    path = tmp_path / "cut.so"
    for size in random.Random(20260101).sample(range(len(data)), 100):
        path.write_bytes(data[:size])
        done = stored("ingest", path, "--version", "3")
        assert done.code >= 64, size
        assert done.code != 70, done.err
        assert "Traceback" not in done.err
        assert_error(stored("export", path))
    assert store(stored) == before


def test_flipped_bits_give_a_snapshot_or_an_error_of_the_command(stored: Call, tmp_path: Path) -> None:
    data = build_library(SOURCE).read_bytes()
    source = random.Random(20260102)
    path = tmp_path / "flipped.so"
    codes = set()
    for _ in range(300):
        flipped = bytearray(data)
        flipped[source.randrange(len(data))] ^= 1 << source.randrange(8)
        path.write_bytes(flipped)
        done = stored("export", path, "-o", tmp_path / "snapshot.json")
        assert "Traceback" not in done.err
        codes.add(done.code)
    assert {0, 65} <= codes <= {0, 65, 66}


def test_a_file_that_another_user_may_not_read_is_an_error(stored: Call, tmp_path: Path, process: Call) -> None:
    path = tmp_path / "secret.so"
    path.write_bytes(build_library(SOURCE).read_bytes())
    path.chmod(0)
    before = store(stored)
    assert_error(process("export", path, unprivileged=True))
    done = process("ingest", path, "--version", "3", "--json", unprivileged=True)
    assert (done.code, done.json["files"][0]["status"]) == (65, "failed")
    assert store(stored) == before


def test_a_disk_without_room_leaves_the_store_as_it_was(tmp_path: Path, stored: Call, database: Path) -> None:
    """A real one: a file system of one mebibyte in a mount namespace of the test's own."""
    stored("db", "vacuum")
    large = build_library("\n".join(f"int function_{number}(int a) {{ return a; }}" for number in range(9000)))
    script = f"""
set -eu
mkdir disk
mount -t tmpfs -o size=1m none disk
cp {database} disk/abi.db
export ABISTORE_DB=disk/abi.db
abistore() {{ {sys.executable} -m abistore "$@"; }}
abistore list --json > before
code=0
abistore ingest {large} --version 3 --json > answer || code=$?
abistore list --json > after
abistore db check
exit $code
"""
    (tmp_path / "script").write_text(script)
    alone = ["unshare", "--mount", "--map-root-user"]
    if subprocess.run([*alone, "mount", "-t", "tmpfs", "none", tmp_path], capture_output=True).returncode:
        pytest.skip("not permitted here: a process that mounts a file system of its own")
    done = subprocess.run([*alone, "sh", "script"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 74, done.stdout + done.stderr
    assert done.stdout == "sound\n"
    assert "Traceback" not in done.stderr
    answer = json.loads((tmp_path / "answer").read_text())
    assert "disk" in json.dumps(answer["error"])
    assert (tmp_path / "before").read_text() == (tmp_path / "after").read_text()
