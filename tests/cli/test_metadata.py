"""What people say about a release: with its file, after it, and from one database to another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.editing import undigested

SAID = ("--released", "2024-05-06", "--revision", "abc123", "--url", "https://ci.example/7")


def said(abistore: Call, reference: str) -> tuple[str | None, ...]:
    (release,) = [
        one
        for one in abistore("list", reference.partition("@")[0], "--json").json["releases"]
        if one["version"] == reference.partition("@")[2]
    ]
    return (release["released"] and release["released"][:10], release["revision"], release["url"])


def test_what_is_said_about_a_known_file_is_stored(stored: Call, old: Path) -> None:
    done = stored("ingest", old, "--version", "1.0", *SAID)
    assert done.code == 0
    assert done.out.startswith("known ")
    assert "metadata corrected: released, revision, url" in done.out
    assert said(stored, "libcase@1.0") == ("2024-05-06", "abc123", "https://ci.example/7")
    assert "edit" in stored("db", "audit", "--limit", "1").out
    again = stored("ingest", old, "--version", "1.0", *SAID, "--json").json["files"][0]
    assert (again["status"], again["mended"], again["notes"]) == ("known", [], [])


def test_what_was_said_otherwise_stays_and_is_told(stored: Call, old: Path) -> None:
    stored("ingest", old, "--version", "1.0", *SAID)
    done = stored("ingest", old, "--version", "1.0", "--revision", "def456", "--released", "2024-05-07")
    assert done.code == 0
    assert "revision stays abc123 (to change it: abistore db release edit libcase@1.0 --revision)" in done.out
    assert "released stays 2024-05-06" in done.out
    assert said(stored, "libcase@1.0") == ("2024-05-06", "abc123", "https://ci.example/7")


def test_a_release_is_edited_and_the_audit_tells_before_and_after(stored: Call) -> None:
    stored("db", "release", "edit", "libcase@1.0", *SAID)
    words = ("--revision", "def456", "--clear", "url", "--reason", "wrong commit", "--actor", "ana")
    done = stored("db", "release", "edit", "libcase@1.0", *words)
    assert done.out.splitlines() == [
        "libcase 1.0: metadata corrected",
        "  revision: def456 (was abc123)",
        "  url: - (was https://ci.example/7)",
    ]
    assert said(stored, "libcase@1.0") == ("2024-05-06", "def456", None)
    (record,) = stored("db", "audit", "--limit", "1", "--json").json["audit"]
    assert (record["actor"], record["action"]) == ("ana", "edit")
    assert record["detail"] == "revision def456, was abc123; url -, was https://ci.example/7; wrong commit"
    assert (
        stored("db", "release", "edit", "libcase@1.0", "--revision", "def456").out == "libcase 1.0: nothing changed\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nothing to change"),
        (("--revision", "a", "--clear", "revision"), "--revision and --clear revision exclude each other"),
        (("--revision", ""), "--revision is empty"),
        (("--revision", "a\tb"), "not a revision"),
    ],
)
def test_an_edit_that_says_nothing_clear_is_refused(stored: Call, words: tuple[str, ...], message: str) -> None:
    done = stored("db", "release", "edit", "libcase@1.0", *words)
    assert done.code == 64
    assert message in done.err


def test_a_day_is_the_same_day_everywhere(process: Call, old: Path) -> None:
    for version, zone in (("1.0", "Pacific/Kiritimati"), ("1.1", "Pacific/Pago_Pago")):
        process("ingest", old, "--version", version, "--released", "2024-05-06", TZ=zone)
        assert "2024-05-06" in process("list", "libcase", TZ="UTC").out.splitlines()[-1]


def test_what_was_said_travels_with_a_snapshot(stored: Call, tmp_path: Path, old: Path) -> None:
    stored("ingest", old, "--version", "1.0", "--profile", "debug", "--library", "libother", *SAID)
    file, other = tmp_path / "libother.json", tmp_path / "other.db"
    stored("export", "libother@1.0", "-o", file)
    stored("--db", other, "import", file)
    ours, theirs = (
        stored("--db", one, "show", "libother@1.0", "--json").json["snapshot"] for one in (tmp_path / "abi.db", other)
    )
    assert theirs["stored"]["profile"] == "debug"
    for one in (ours, theirs):
        del one["stored"]["ingested"]
    assert theirs == ours
    stored("--db", other, "export", "libother@1.0", "-o", tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()


def test_what_is_said_on_the_command_line_wins_over_the_snapshot(stored: Call, tmp_path: Path) -> None:
    stored("db", "release", "edit", "libcase@1.0", *SAID)
    file, other = tmp_path / "libcase.json", tmp_path / "other.db"
    stored("export", "libcase@1.0", "-o", file)
    done = stored("--db", other, "ingest", file, "--revision", "def456", "--profile", "debug", "--json").json["files"]
    release = done[0]["release"]
    assert (release["revision"], release["url"]) == ("def456", "https://ci.example/7")
    assert release["line"]["profile"] == "debug"


def test_a_known_snapshot_brings_what_nobody_said(stored: Call, tmp_path: Path) -> None:
    file, other = tmp_path / "libcase.json", tmp_path / "other.db"
    stored("export", "libcase@1.0", "-o", file)
    stored("--db", other, "import", file)
    stored("db", "release", "edit", "libcase@1.0", *SAID)
    stored("export", "libcase@1.0", "-o", file)
    assert "metadata corrected: released, revision, url" in stored("--db", other, "import", file).out


def test_a_snapshot_without_what_was_said_loads_as_before(stored: Call, tmp_path: Path, old: Path) -> None:
    stored("export", old, "--version", "3.0", "-o", tmp_path / "plain.json")
    assert "exported" not in json.loads((tmp_path / "plain.json").read_text())
    assert stored("--db", tmp_path / "other.db", "import", tmp_path / "plain.json").code == 0
    assert said(lambda *words: stored("--db", tmp_path / "other.db", *words), "libcase@3.0") == (None, None, None)


@pytest.mark.parametrize(
    ("exported", "message"),
    [
        ({"revision": 7}, "exported.revision"),
        ({"released": "yesterday"}, "exported.released"),
        ({"revision": "a\u0007b"}, "not a revision"),
        ({"profile": " "}, "the profile is empty"),
        ({"profile": ""}, "the profile is empty"),
        ({"owner": "ana"}, "owner"),
    ],
)
def test_a_snapshot_that_says_what_no_store_says_is_refused(
    stored: Call, tmp_path: Path, exported: dict[str, object], message: str
) -> None:
    file = tmp_path / "libcase.json"
    stored("export", "libcase@1.0", "-o", file)
    file.write_text(json.dumps(json.loads(undigested(file.read_text())) | {"exported": exported}))
    done = stored("--db", tmp_path / "other.db", "import", file)
    assert done.code >= 64
    assert message in done.err
