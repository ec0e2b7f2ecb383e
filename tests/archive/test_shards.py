"""Shards: parts of an archive that several machines read into folders, which one store imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.archive.cluster import logged, stored
from tests.archive.conftest import COUNT
from tests.cli.conftest import Call


def test_shards_read_each_file_once_and_their_import_is_the_archive(
    abistore: Call, archive: Path, tmp_path: Path
) -> None:
    assert abistore("archive", "ingest", archive, "--db", tmp_path / "whole").code == 0
    for number in range(1, 4):
        log, out = tmp_path / f"{number}.jsonl", tmp_path / f"shard{number}"
        done = abistore("archive", "ingest", archive, "--shard", f"{number}/3", "--out", out, "--log", log, "--json")
        assert done.json["run"]["counts"] == {"written": COUNT // 3}
        assert [each["status"] for each in logged(log)] == ["written"] * (COUNT // 3)
        assert len(list(out.iterdir())) == COUNT // 3
        assert abistore("import", out, "--db", tmp_path / "parts").code == 0
    assert stored(tmp_path / "parts") == stored(tmp_path / "whole")
    assert len(stored(tmp_path / "whole")) == COUNT


def test_a_shard_again_writes_the_same_files(abistore: Call, archive: Path, tmp_path: Path) -> None:
    def written() -> dict[str, bytes]:
        assert abistore("archive", "ingest", archive, "--shard", "1/2", "--out", tmp_path / "out").code == 0
        return {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}

    assert written() == written()


def test_what_the_manifest_says_is_in_the_snapshot(abistore: Call, archive: Path, tmp_path: Path) -> None:
    archive.write_text("libn1.so.1 3.0 library=libother profile=musl revision=4f2a released=2026-02-01\n")
    assert abistore("archive", "ingest", archive, "--out", tmp_path / "out").code == 0
    assert abistore("import", tmp_path / "out").code == 0
    (line,) = abistore("list", "libother", "--json").json["releases"]
    assert (line["version"], line["line"]["profile"], line["revision"]) == ("3.0", "musl", "4f2a")
    assert line["released"].startswith("2026-02-01")


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b"])
def test_a_shard_that_is_none_is_an_error(abistore: Call, archive: Path, shard: str) -> None:
    assert abistore("archive", "ingest", archive, "--shard", shard).code == 64


def test_a_gate_needs_a_store(abistore: Call, archive: Path, tmp_path: Path) -> None:
    done = abistore("archive", "ingest", archive, "--out", tmp_path / "out", "--against", "prev")
    assert (done.code, "no gate" in done.err) == (64, True)


def test_a_manifest_on_standard_input_is_relative_to_the_current_folder(archive: Path, database: Path) -> None:
    call = [sys.executable, "-m", "abistore", "archive", "ingest", "-", "--db", str(database)]
    subprocess.run(call, input=archive.read_bytes(), cwd=archive.parent, check=True)
    assert len(stored(database)) == COUNT
