"""Whatever a file is, the answer is a snapshot, or an error with a code, a hint and no traceback; the store stays."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call

Make = Callable[[Path], Path]
SEED = 20260101


def written(name: str, data: bytes) -> Make:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return make


def fifo(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.so")
    return folder / "pipe.so"


def object_file(folder: Path) -> Path:
    (folder / "x.c").write_text("int f(void) { return 1; }\n")
    subprocess.run(["gcc", "-c", "x.c", "-o", "x.o"], cwd=folder, check=True)
    return folder / "x.o"


def static_archive(folder: Path) -> Path:
    object_file(folder)
    subprocess.run(["ar", "rcs", "libx.a", "x.o"], cwd=folder, check=True)
    return folder / "libx.a"


def truncated(folder: Path) -> Path:
    library = build_library("int f(void) { return 1; }\n").read_bytes()
    return written("cut.so", library[:1000])(folder)


BAD: dict[str, Make] = {
    "missing": lambda folder: folder / "missing.so",
    "impossible name": lambda folder: folder / ("x" * 300),
    "empty": written("empty.so", b""),
    "folder": lambda folder: folder,
    "fifo": fifo,
    "device": lambda folder: Path("/dev/null"),
    "text": written("readme.txt", b"just some words\n"),
    "binary text": written("x.so", "naïve".encode("latin-1") * 50),
    "random bytes": written("random.so", random.Random(SEED).randbytes(5000)),
    "magic and nothing else": written("magic.so", b"\x7fELF"),
    "magic and random bytes": written("magic2.so", b"\x7fELF\x02\x01\x01" + random.Random(SEED).randbytes(5000)),
    "truncated": truncated,
    "object file": object_file,
    "static archive": static_archive,
    "foreign JSON": written("package.json", b'{"name": "x", "version": "1.0.0"}\n'),
    "broken JSON": written("broken.json", b'{"format": "abistore-snapshot", "version": 1, "library":'),
    "newer JSON": written("newer.json", b'{"format": "abistore-snapshot", "version": 999}\n'),
    "deep JSON": written("deep.json", b'{"a":' * 100_000),
}


@pytest.mark.parametrize("kind", sorted(BAD))
def test_a_bad_file_is_an_error_with_a_code_and_a_hint(abistore: Call, tmp_path: Path, kind: str) -> None:
    path = BAD[kind](tmp_path)
    for words in (["export", path], ["compare", path, path], ["show", path]):
        plain = abistore(*words)
        assert plain.code >= 64
        assert plain.code != 70, plain.err
        assert plain.out == ""
        assert plain.err.startswith("error: ")
        assert "\nhint: " in plain.err
        assert "Traceback" not in plain.err
        as_json = abistore(*words, "--json")
        assert as_json.code == plain.code
        assert as_json.err == ""
        assert (set(as_json.error), as_json.envelope["data"]) == ({"code", "message", "hint"}, None)
        assert all(as_json.error.values())


@pytest.mark.parametrize("kind", sorted(BAD))
def test_a_bad_file_leaves_the_store_as_it_was(stored: Call, tmp_path: Path, database: Path, kind: str) -> None:
    before = (stored("list", "--json").json, stored("db", "audit", "--json").json)
    done = stored("ingest", BAD[kind](tmp_path), "--version", "3", "--json")
    assert done.code >= 64
    assert done.code != 70
    assert done.error["code"]
    assert done.error["hint"]
    assert (stored("list", "--json").json, stored("db", "audit", "--json").json) == before


def test_a_bad_file_leaves_its_neighbours_stored(abistore: Call, tmp_path: Path, old: Path) -> None:
    done = abistore("ingest", tmp_path, old, "--version", "1", "--json")
    assert done.code == 71
    assert [file["status"] for file in done.json["files"]] == ["failed", "stored"]
    assert abistore("show", "libcase@1").code == 0


def test_a_file_without_permission_is_an_error(tmp_path: Path, old: Path, process: Call) -> None:
    library = tmp_path / "secret.so"
    library.write_bytes(old.read_bytes())
    library.chmod(0)
    done = process("export", library, unprivileged=True)
    assert done.code == 65
    assert "permission" in done.err


def test_a_library_for_another_platform_is_refused_where_one_is_named(abistore: Call, narrow: Path, old: Path) -> None:
    assert abistore("ingest", old, "--version", "1", "--target", "x86_64").code == 0
    done = abistore("ingest", narrow, "--version", "1", "--target", "x86_64")
    assert done.code == 66
    assert "i386" in done.err


def test_two_platforms_give_no_verdict(abistore: Call, old: Path, narrow: Path) -> None:
    done = abistore("compare", old, narrow, "--json")
    assert done.code == 66
    assert done.error["code"] == "incomparable"
    assert done.envelope["verdict"] is None
