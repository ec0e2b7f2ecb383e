"""The order of releases on the command line: what a label is taken for, and what is told about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import Call, Done

pytestmark = pytest.mark.fast


@pytest.fixture
def ingest(abistore: Call) -> Call:
    """Stores a library of its own under each label, and gives what the last call told."""

    def call(*labels: str | Path) -> Done:
        for label in labels:
            number = sum(map(ord, str(label)))
            done = abistore("ingest", build_library(f"int f{number}(void) {{ return 1; }}"), "--version", label)
            assert done.code == 0, done.err
        return done

    return call


def listed(abistore: Call) -> list[str]:
    return [one["version"] for one in abistore("list", "libcase", "--json").json["releases"]]


def test_a_label_does_not_sort_a_library_anew(abistore: Call, ingest: Call) -> None:
    ingest("v2.0-rc1", "v2.0")
    assert listed(abistore) == ["v2.0-rc1", "v2.0"]
    told = ingest("nightly").out
    note = "nightly is not a version: it is ordered after all versions, by ingestion, and is not @latest"
    assert told.rstrip().endswith(f", {note}")
    assert listed(abistore) == ["v2.0-rc1", "v2.0", "nightly"]
    assert abistore("list", "--json").json["lines"][0]["latest"] == "v2.0"
    for reference, version in (("libcase@latest", "v2.0"), ("libcase@prev", "v2.0-rc1")):
        assert abistore("show", reference, "--json").json["snapshot"]["version"] == version
    rows = abistore("history", "libcase", "--json").json["histories"][0]["rows"]
    assert [(row["release"]["version"], row["previous"]) for row in rows] == [
        ("v2.0-rc1", None),
        ("v2.0", "v2.0-rc1"),
        ("nightly", "v2.0"),
    ]


def test_what_git_describe_calls_a_commit_follows_its_tag(abistore: Call, ingest: Call) -> None:
    told = ingest("v1.0.0-1-g126bde0", "v1.0.0", "v1.0.0-rc1", "v1.0.0-rc1-5-gabcdef0")
    assert "no version" not in told.out
    assert listed(abistore) == ["v1.0.0-rc1", "v1.0.0-rc1-5-gabcdef0", "v1.0.0", "v1.0.0-1-g126bde0"]


def test_commits_by_their_hash_stand_in_the_order_of_ingestion(abistore: Call, ingest: Call) -> None:
    told = ingest("fe1a2b3", "0123abc", "1234567")
    assert "1234567 is not a version: it is ordered after all versions, by ingestion\n" in told.out
    assert listed(abistore) == ["fe1a2b3", "0123abc", "1234567"]
    assert abistore("show", "libcase@latest", "--json").json["snapshot"]["version"] == "1234567"


def test_labels_of_a_series_stand_after_versions(abistore: Call, ingest: Call) -> None:
    ingest("nightly-2024-05-02", "1.0")
    told = ingest("nightly-2024-05-01")
    assert "in series nightly: it is ordered after all versions without a name, and is not @latest" in told.out
    assert listed(abistore) == ["1.0", "nightly-2024-05-01", "nightly-2024-05-02"]


def test_a_declared_scheme_refuses_what_it_cannot_read(abistore: Call, ingest: Call, old: Path) -> None:
    ingest("v1.0.0")
    assert abistore("db", "scheme", "libcase", "semver").out == "libcase: semver\n"
    done = abistore("ingest", old, "--version", "nightly")
    assert done.code == 64
    assert "nightly is not a semver version" in done.err
    assert listed(abistore) == ["v1.0.0"]


def test_a_scheme_that_does_not_read_what_is_stored_is_refused(abistore: Call, ingest: Call) -> None:
    ingest("v1.0.0", "nightly")
    done = abistore("db", "scheme", "libcase", "semver")
    assert done.code == 64
    assert "nightly is not a semver version" in done.err


def test_a_change_of_scheme_tells_what_it_moves(abistore: Call, ingest: Call) -> None:
    ingest("1.0.0", "1.0.0-1")
    line = "libcase (elf-x86_64-64-little, default)"
    done = abistore("db", "scheme", "libcase", "semver")
    assert done.out == f"libcase: semver\n  {line}: 2 releases moved; latest is 1.0.0, was 1.0.0-1\n"
    (order,) = abistore("db", "scheme", "libcase", "auto", "--json").json["lines"]
    assert (order["latest"], order["latest_before"], order["moved"]) == ("1.0.0-1", "1.0.0", ["1.0.0", "1.0.0-1"])
    assert "scheme" in abistore("db", "audit", "--limit", "1").out


def test_the_labels_that_are_not_ordered_are_told_with_the_scheme(abistore: Call, ingest: Call) -> None:
    ingest("1.0", "nightly", "main")
    assert abistore("db", "scheme", "libcase").out.splitlines() == [
        "libcase: auto",
        "  libcase (elf-x86_64-64-little, default): in the order of ingestion, after all versions: nightly, main",
    ]


def test_files_are_taken_in_the_order_of_all_conventions(abistore: Call, old: Path, tmp_path: Path) -> None:
    for version in ("3.0.0-beta1", "1.0.2k", "3.0.0", "1.0.2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "libcase.so").symlink_to(old)
    done = abistore("ingest", *sorted(tmp_path.glob("*/libcase.so")), "--version-from", "folder", "--json")
    assert [one["release"]["version"] for one in done.json["files"]] == ["1.0.2", "1.0.2k", "3.0.0-beta1", "3.0.0"]
