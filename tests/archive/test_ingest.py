"""``archive ingest``: every file is stored once, whatever the number of processes, and logged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.archive.cluster import logged, stored
from tests.archive.conftest import COUNT
from tests.build import build_library
from tests.cli.conftest import Call


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_file_is_stored_and_logged_once(abistore: Call, archive: Path, database: Path, jobs: int) -> None:
    log = archive.parent / "run.jsonl"
    done = abistore("archive", "ingest", archive, "--jobs", str(jobs), "--log", log, "--json")
    assert done.code == 0, done.out
    assert done.json["run"]["counts"] == {"stored": COUNT}
    assert [each["status"] for each in logged(log)] == ["stored"] * COUNT
    assert [each["releases"] for each in logged(log)] == [[f"libn{n}@1.{n}"] for n in range(COUNT)]
    assert {each["digests"][0].upper() for each in logged(log)} == {digest for _, _, digest in stored(database)}


def test_processes_store_what_one_process_stores(abistore: Call, archive: Path, tmp_path: Path) -> None:
    for jobs in ("1", "3"):
        assert abistore("archive", "ingest", archive, "--jobs", jobs, "--db", tmp_path / jobs).code == 0
    paths = [archive.parent / f"libn{number}.so.1" for number in range(COUNT)]
    for number, path in enumerate(paths):
        assert abistore("ingest", path, "--version", f"1.{number}", "--db", tmp_path / "alone").code == 0
    assert stored(tmp_path / "1") == stored(tmp_path / "3") == stored(tmp_path / "alone")
    assert len(stored(tmp_path / "1")) == COUNT


def test_a_file_that_fails_is_counted_by_its_error_and_stops_no_other(
    abistore: Call, archive: Path, database: Path
) -> None:
    (archive.parent / "libn3.so.1").write_bytes(b"\x7fELF and no more")
    (archive.parent / "libn5.so.1").unlink()
    done = abistore("archive", "ingest", archive, "--jobs", "2", "--json")
    run = done.json["run"]
    assert done.code == run["exit_code"] == 65
    assert run["counts"] == {"failed": 2, "stored": COUNT - 2}
    assert {each["code"]: each["count"] for each in run["failures"]} == {"extract": 1, "input": 1}
    assert len(stored(database)) == COUNT - 2


def test_one_that_the_store_rejects_leaves_nothing_of_itself_in_its_batch(
    abistore: Call, archive: Path, database: Path
) -> None:
    other = build_library("int other(void) { return 1; }\n", soname="libn4.so.1", flags=("-O1",))
    assert abistore("ingest", other, "--version", "1.4").code == 0
    done = abistore("archive", "ingest", archive, "--json")
    assert done.code == 68
    assert done.json["run"]["counts"] == {"failed": 1, "stored": COUNT - 1}
    assert len(stored(database)) == COUNT
    assert abistore("db", "check").code == 0


def test_resume_reads_again_only_what_failed(abistore: Call, archive: Path, database: Path) -> None:
    log = archive.parent / "run.jsonl"
    bad = archive.parent / "libn3.so.1"
    good = bad.read_bytes()
    bad.write_bytes(b"\x7fELF and no more")
    assert abistore("archive", "ingest", archive, "--log", log).code == 65
    bad.write_bytes(good)
    for path in archive.parent.glob("libn*"):
        if path != bad:
            path.unlink()
    done = abistore("archive", "ingest", archive, "--resume", log, "--json")
    assert done.code == 0, done.out
    assert (done.json["run"]["counts"], done.json["run"]["resumed"]) == ({"stored": COUNT}, COUNT - 1)
    assert len(logged(log)) == COUNT + 1
    assert len(stored(database)) == COUNT


def test_a_line_that_a_kill_cut_off_is_read_again_and_leaves_the_log_whole(
    abistore: Call, archive: Path, database: Path
) -> None:
    log = archive.parent / "run.jsonl"
    assert abistore("archive", "ingest", archive, "--log", log).code == 0
    log.write_bytes(log.read_bytes()[:-20])
    done = abistore("archive", "ingest", archive, "--resume", log, "--json")
    assert done.json["run"]["counts"] == {"known": 1, "stored": COUNT - 1}
    *whole, torn, last = log.read_bytes().splitlines()
    assert [json.loads(each)["status"] for each in whole] == ["stored"] * (COUNT - 1)
    assert json.loads(last)["status"] == "known"
    with pytest.raises(json.JSONDecodeError):
        json.loads(torn)


def test_known_files_are_not_read(abistore: Call, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert abistore("archive", "ingest", archive).code == 0
    monkeypatch.setattr("abistore.extract.elf.reader.read", None)
    done = abistore("archive", "ingest", archive, "--json")
    assert done.json["run"]["counts"] == {"known": COUNT}


def test_a_gate_judges_each_file_and_gives_the_exit_code(abistore: Call, archive: Path) -> None:
    assert abistore("archive", "ingest", archive, "--set-baseline").code == 0
    broken = build_library("int shared_by_all(int a) { return a; }\n", soname="libn7.so.1", flags=("-O1",))
    (archive.parent / "libn7.so.1").write_bytes(broken.read_bytes())
    archive.write_text("libn7.so.1 1.8\nlibn8.so.1 1.9\n")
    log = archive.parent / "run.jsonl"
    gate = ("--against", "baseline", "--require", "symbol")
    done = abistore("archive", "ingest", archive, *gate, "--log", log, "--json")
    assert done.code == 4, done.out
    assert done.json["run"]["counts"] == {"refused": 1, "stored": 1}
    assert done.json["run"]["red"] == 1
    assert [(each["status"], each["verdict"], each["outcome"]) for each in logged(log)] == [
        ("refused", "BREAKING", "fail"),
        ("stored", "NO_CHANGE", "pass"),
    ]
    again = abistore("archive", "ingest", archive, *gate, "--resume", log, "--json")
    assert (again.code, again.json["run"]["red"], again.json["run"]["resumed"]) == (4, 1, 2)


def test_the_summary_is_text(abistore: Call, archive: Path) -> None:
    (archive.parent / "libn3.so.1").unlink()
    done = abistore("archive", "ingest", archive)
    first, failure, *rest = done.out.splitlines()
    assert first.startswith(f"{COUNT} files: {COUNT - 1} stored, 1 failed; ")
    assert failure.split()[:3] == ["1", "input", "(65)"]
    assert not rest
