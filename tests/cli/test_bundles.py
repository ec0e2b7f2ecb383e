"""Bundles and merging on the command line, and the audit by what it is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import NEW, OLD, Call


@pytest.fixture
def stored(abistore: Call, tmp_path: Path) -> Path:
    """A database with two releases, a baseline and a verdict."""
    path = tmp_path / "central.db"
    for version, source in (("1.0", OLD), ("2.0", NEW)):
        abistore("ingest", build_library(source), "--version", version, "--actor", "ana", "--db", path)
    abistore("db", "baseline", "set", "libcase@1.0", "--reason", "shipped", "--db", path)
    abistore("history", "libcase", "--db", path)
    return path


def test_a_bundle_of_a_database_makes_the_same_database(abistore: Call, stored: Path, tmp_path: Path) -> None:
    bundle, other = tmp_path / "abi.bundle", tmp_path / "other.db"
    assert abistore("export", "--bundle", "-o", bundle, "--db", stored).code == 0
    told = abistore("import", bundle, "--dry-run", "--db", other)
    assert (told.code, "would add" in told.out) == (0, True)
    done = abistore("import", bundle, "--db", other)
    assert done.code == 0, done.err
    assert "2  releases added" in done.out
    assert abistore("history", "libcase", "--db", other).out == abistore("history", "libcase", "--db", stored).out
    assert (
        abistore("list", "libcase", "--json", "--db", other).out
        == abistore("list", "libcase", "--json", "--db", stored).out
    )
    assert "nothing new" in abistore("import", bundle, "--db", other).out
    assert abistore("db", "check", "--db", other).out == "sound\n"


def test_a_bundle_keeps_what_a_verdict_did_not_check(abistore: Call, tmp_path: Path) -> None:
    central, bundle, other = tmp_path / "central.db", tmp_path / "abi.bundle", tmp_path / "other.db"
    for version, flags in (("1.0", ("-g",)), ("1.1", ())):
        abistore("ingest", build_library(OLD, flags=flags), "--version", version, "--db", central)
    told = abistore("verdict", "libcase@1.1", "--db", central).out
    assert "not checked" in told.lower()
    abistore("export", "--bundle", "-o", bundle, "--db", central)
    done = abistore("import", bundle, "--db", other)
    assert done.code == 0, done.err
    assert abistore("verdict", "libcase@1.1", "--db", other).out == told


def test_a_bundle_of_a_baseline_has_it_alone(abistore: Call, stored: Path, tmp_path: Path) -> None:
    bundle, other = tmp_path / "abi.bundle", tmp_path / "other.db"
    made = abistore("export", "--bundle", "--channel", "release", "-o", bundle, "--json", "--db", stored)
    assert [one["version"] for one in made.json["releases"]] == ["1.0"]
    abistore("import", bundle, "--db", other)
    assert json.loads(abistore("compare", "libcase@baseline", "libcase@1.0", "--json", "--db", other).out)
    assert abistore("show", "libcase@2.0", "--db", other).code == 67


def test_merging_names_a_conflict_and_changes_nothing_until_a_side_is_preferred(
    abistore: Call, stored: Path, tmp_path: Path
) -> None:
    other = tmp_path / "artifact.db"
    abistore("ingest", build_library(NEW), "--version", "1.0", "--db", other)
    refused = abistore("db", "merge", other, "--db", stored)
    assert refused.code == 68
    assert "libcase@1.0" in refused.err
    assert "--prefer" in refused.err
    told = abistore("db", "merge", other, "--dry-run", "--db", stored)
    assert (told.code, "conflict: libcase@1.0" in told.out) == (68, True)
    assert abistore("db", "merge", other, "--prefer", "here", "--db", stored).code == 0
    assert abistore("db", "merge", other, "--db", stored).code == 0
    assert abistore("db", "check", "--db", stored).out == "sound\n"


def test_a_damaged_bundle_is_an_error_with_a_code(abistore: Call, stored: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "abi.bundle"
    abistore("export", "--bundle", "-o", bundle, "--db", stored)
    bundle.write_bytes(bundle.read_bytes()[:-9])
    done = abistore("import", bundle, "--json", "--db", tmp_path / "other.db")
    assert (done.code, done.error["code"]) == (65, "bundle")


def test_the_audit_is_asked_by_library_person_action_and_time(abistore: Call, stored: Path) -> None:
    abistore(
        "ingest",
        build_library("int other(void) { return 1; }"),
        "--version",
        "1.0",
        "--library",
        "libother",
        "--db",
        stored,
    )

    def told(*words: str) -> list[tuple[str, str]]:
        records = abistore("db", "audit", *words, "--json", "--db", stored).json["audit"]
        return [(record["action"], record["subject"].split(" ")[0]) for record in records]

    assert ("ingest", "libother@1.0") in told("--action", "ingest")
    assert told("--library", "libother") == [("ingest", "libother@1.0")]
    assert [action for action, _ in told("--library", "libcase")] == ["verdict", "baseline", "ingest", "ingest"]
    assert len(told("--actor", "ana")) == 2
    assert told("--since", "2999-01-01") == told("--until", "1999-01-01") == []
    assert told("--limit", "1", "--skip", "1", "--action", "ingest") == [("ingest", "libcase@2.0")]
    assert abistore("db", "audit", "--library", "libnone", "--db", stored).code == 67


def test_a_leading_v_makes_no_other_release(abistore: Call, tmp_path: Path) -> None:
    central, other = tmp_path / "central.db", tmp_path / "other.db"
    for database, version, source in ((central, "1.0", OLD), (other, "v1.0", NEW), (other, "v1.1", NEW)):
        assert abistore("ingest", build_library(source), "--version", version, "--db", database).code == 0
    done = abistore("db", "merge", other, "--db", central)
    assert (done.code, "libcase@v1.0 (elf-" in done.err) == (68, True)
    assert abistore("db", "merge", other, "--prefer", "here", "--db", central).code == 0
    assert [one["version"] for one in abistore("list", "libcase", "--json", "--db", central).json["releases"]] == [
        "1.0",
        "v1.1",
    ]


def test_one_content_under_both_spellings_is_one_release(abistore: Call, tmp_path: Path) -> None:
    central, other = tmp_path / "central.db", tmp_path / "other.db"
    for database, version in ((central, "1.0"), (other, "V1.0")):
        assert abistore("ingest", build_library(OLD), "--version", version, "--db", database).code == 0
    assert "1  releases known" in abistore("db", "merge", other, "--db", central).out
    assert abistore("db", "check", "--db", central).out == "sound\n"
