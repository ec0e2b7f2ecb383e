"""Every verb ends within limits of time and memory, tells what took too long, and leaves the store as it was."""

from __future__ import annotations

import sqlite3
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

from abistore import limits
from abistore.diffing.context import Context
from abistore.diffing.judge.judged import Ruling, compared
from abistore.errors import LimitExceeded
from abistore.model.findings import Comparison
from abistore.model.history import IngestRequest
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_files import to_json
from abistore.report import render
from abistore.report.model import ReportFormat, Style
from abistore.service.comparing import compare
from abistore.service.history import history
from abistore.service.imports import import_
from abistore.service.ingest_gates import IngestPlan
from abistore.service.judging import judge
from abistore.service.log import log
from abistore.service.verdicts import verdict
from abistore.store.store import Store
from tests.cli.conftest import Call
from tests.endless import endless
from tests.store.builders import EXPORTED, function, record, snapshot, struct

SERVICE, DIFFING = "abistore.service", "abistore.diffing"
RULING = "reading the policy and the suppressions"
NORM, POINT = function("norm"), record("point")


def release(*fields: str) -> Snapshot:
    return snapshot("".join(fields), symbols={NORM: EXPORTED}, layout={POINT: struct(*fields)})


@pytest.fixture(autouse=True)
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.3)


@pytest.fixture
def stored(database: Path) -> Path:
    with Store.open(database, write=True) as store:
        for number in range(4):
            store.ingest(release(*"abcdef"[: number + 1]), IngestRequest(f"1.{number}"))
    return database


def test_judging_ends_in_bounded_time_and_names_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("abistore.diffing.judge.judged"), "fold", endless)
    with pytest.raises(LimitExceeded, match=r"^judging libgeo.so.1 against libgeo.so.1 took more than"):
        judge(release("a"), release("a", "b"))


def test_judging_stored_releases_ends_and_names_them(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("abistore.diffing.judge.judged"), "fold", endless)
    with pytest.raises(LimitExceeded, match=r"^judging libgeo 1.3 against libgeo 1.1 took more than"):
        compare("libgeo@1.1", "libgeo@1.3", database=stored)
    with pytest.raises(LimitExceeded, match=r"^judging libgeo 1.3 against libgeo 1.2 took more than"):
        verdict("libgeo@1.3", database=stored)


def test_one_pair_that_cannot_be_judged_leaves_a_history_the_others(
    stored: Path, monkeypatch: pytest.MonkeyPatch, abistore: Call
) -> None:
    real = compared

    def sometimes(context: Context, by: Ruling | None) -> Comparison:
        return endless() if context.new.snapshot.version == "1.2" else real(context, by)

    monkeypatch.setattr(import_module("abistore.diffing.judge.judged"), "compared", sometimes)
    (line,) = history("libgeo", database=stored)
    assert [row.verdict is not None for row in line.rows] == [False, True, False, True]
    assert "judging libgeo 1.2 against libgeo 1.1 took more than" in line.rows[2].unjudged
    shown = abistore("history", "libgeo")
    assert shown.code == 0
    assert "1.2 was not judged against 1.1: judging libgeo 1.2 against libgeo 1.1 took more than" in shown.out


def test_storing_ends_and_leaves_the_store_as_it_was(
    stored: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "libgeo.json"
    file.write_bytes(to_json(release("x", "y")))
    before = dump(stored)
    monkeypatch.setattr("abistore.store.ingest.write_entries", endless)
    (failed,) = import_([file], IngestPlan(version="2.0"), database=stored)
    assert (failed.code, failed.exit_code) == ("limit", 65)
    assert failed.error.startswith("storing libgeo 2.0 took more than")
    assert dump(stored) == before


def dump(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        return list(connection.iterdump())


def test_loading_ends_in_bounded_time_and_names_the_releases(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abistore.store.snapshots._snapshot", endless)
    with pytest.raises(LimitExceeded, match=r"^loading libgeo@1.0 and libgeo@1.1 took more than"):
        compare("libgeo@1.0", "libgeo@1.1", database=stored)


def test_telling_a_log_ends(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS_PER_MEGABYTE", 0.1)
    monkeypatch.setattr("abistore.service.log.spelled_out", endless)
    with pytest.raises(LimitExceeded, match=r"^looking for point took more than"):
        log("point", database=stored)


@pytest.mark.parametrize(
    ("words", "place", "said"),
    [
        (("show", "libgeo@1.0", "point"), f"{SERVICE}.declarations.spelled_out", "spelling declarations of libgeo 1.0"),
        (("export", "{json}"), "abistore.model.snapshot_files._rows", "writing libgeo.so.1"),
        (("export", "libgeo@1.0"), "abistore.model.snapshot_files._rows", "writing libgeo 1.0"),
        (("list", "libgeo"), "abistore.cli.commands.inventory.table", "writing the answer"),
        (("explain", "0123456789ab"), "abistore.store.store.Store.findings", "looking for the finding"),
        (("policy", "show", "{policy}"), f"{DIFFING}.policy_documents.find_policy", RULING),
        (("compare", "{json}", "{json}", "--policy", "{policy}"), f"{DIFFING}.policy_documents.find_policy", RULING),
        (("policy", "suppress", "list", "{policy}"), f"{DIFFING}.suppression_files.load", "reading the suppressions"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)  # fmt: skip
def test_a_verb_ends_and_tells_what_took_too_long(
    words: tuple[str, ...],
    place: str,
    said: str,
    stored: Path,
    abistore: Call,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {"json": tmp_path / "libgeo.json", "policy": tmp_path / "policy.yml"}
    files["json"].write_bytes(to_json(release("a")))
    files["policy"].write_text("version: 1\n")
    module, _, name = place.rpartition(".")
    monkeypatch.setattr(resolve_name(module), name, endless)
    done = abistore(*(word.format(**files) for word in words))
    assert (done.code, done.err.partition(" took more than")[0]) == (65, f"error: {said}")


@pytest.mark.parametrize("format", ["html", "text", "sarif"])
def test_writing_a_report_ends(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = judge(release("a"), release("a", "b"))
    monkeypatch.setattr(f"abistore.report.formats.{format}.FORMAT", ReportFormat(endless))
    with pytest.raises(LimitExceeded, match=f"^writing the report as {format} took more than"):
        render(report, format, Style())
