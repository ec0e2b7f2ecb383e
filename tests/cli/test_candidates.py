"""What failed its gate and was kept, as the commands show it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from abistore.model.history import IngestRequest
from abistore.service.listing import references
from abistore.service.snapshots import capture
from abistore.store.store import Store
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast


@pytest.fixture
def kept(stored: Call, new: Path) -> Call:
    """Three releases, and a candidate of a fourth."""
    with Store.open(os.environ["ABISTORE_DB"], write=True) as store:
        store.ingest(capture(new), IngestRequest("3.0", candidate=True))
    return stored


def test_list_marks_candidates(kept: Call) -> None:
    lines = kept("list", "libcase").out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["1.0", "1.1", "2.0", "3.0 (candidate)"]
    told = [(each["version"], each["candidate"]) for each in kept("list", "libcase", "--json").json["releases"]]
    assert told == [("1.0", False), ("1.1", False), ("2.0", False), ("3.0", True)]
    assert "3 and 1 candidate" in kept("list").out


@pytest.mark.usefixtures("either_database")
def test_history_tells_of_candidates_and_judges_no_release_against_them(kept: Call, added: Path) -> None:
    assert "candidate 3.0, kept " in kept("history", "libcase").out
    kept("ingest", added, "--version", "4.0")
    (line,) = kept("history", "libcase", "--json").json["histories"]
    assert [row["previous"] for row in line["rows"]] == [None, "1.0", "1.1", "2.0"]
    assert [one["version"] for one in line["candidates"]] == ["3.0"]


def test_a_library_of_candidates_only_is_listed(abistore: Call, new: Path, database: Path) -> None:
    with Store.open(database, write=True) as store:
        store.ingest(capture(new), IngestRequest("3.0", candidate=True))
    assert "0 and 1 candidate" in abistore("list").out
    assert "3.0 (candidate)" in abistore("list", "libcase").out


def test_a_candidate_is_judged_shown_and_exported_by_its_reference(kept: Call) -> None:
    assert kept("verdict", "libcase@candidate:3.0", "--against", "1.1").code == 4
    assert kept("compare", "libcase@2.0", "libcase@candidate:3.0").code == 0
    assert kept("show", "libcase@candidate:3.0").out.startswith("libcase 3.0\n")
    assert kept("export", "libcase@candidate:3.0").code == 0
    done = kept("show", "libcase@3.0")
    assert done.code == 67
    assert "candidate:3.0" in done.err


def test_a_candidate_is_offered_where_its_reference_is_begun(kept: Call) -> None:
    assert references("libcase@c") == ("libcase@candidate:3.0",)


@pytest.mark.usefixtures("either_database")
def test_no_baseline_stands_at_what_is_no_release(kept: Call, added: Path) -> None:
    done = kept("db", "baseline", "set", "libcase@candidate:3.0")
    assert (done.code, "candidate" in done.err) == (64, True)
    replaced = kept("list", "libcase", "--json").json["releases"][0]["digest"]
    assert kept("ingest", added, "--version", "1.0", "--replace").code == 0
    assert kept("db", "baseline", "set", replaced).code == 64
    assert kept("db", "baseline", "list", "--json").json["baselines"] == []


def test_a_baseline_is_told_with_its_content(kept: Call) -> None:
    digest = kept("list", "libcase", "--json").json["releases"][0]["digest"]
    assert kept("db", "baseline", "set", "libcase@1.0").code == 0
    assert digest[:12] in kept("db", "baseline", "history", "libcase").out
    assert kept("db", "baseline", "list", "--json").json["baselines"][0]["digest"] == digest
