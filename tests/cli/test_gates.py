"""Gates hold: what fails is not stored, no way leads around, and what could not be checked is no pass."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from abistore import limits
from abistore.model.declarations import Name
from abistore.model.findings import ENGINE, Churn, Comparison, Finding, Impact, Verdict, identity
from abistore.model.history import StoredVerdict
from abistore.store.store import Store
from tests.build import build_library
from tests.cli.conftest import NEW, OLD, Call
from tests.editing import undigested
from tests.endless import endless

WIDER = OLD.replace("int x, y;", "int x, y, z;")
"""A break that only debug information shows."""

FORGED = Finding("func_removed", Name("function", "norm"), "", "never so", Impact.RISK, "symbol", gone=True)
"""What nobody finds who compares the releases."""


@pytest.fixture(scope="session")
def stripped() -> Path:
    """The break in a build without debug information."""
    return build_library(WIDER, flags=("-O1",))


@pytest.fixture
def based(abistore: Call, old: Path) -> Call:
    """A store whose one release is the baseline."""
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    return abistore


def versions(call: Call, library: str = "libcase") -> list[str]:
    return [each["version"] for each in call("list", library, "--json").json["releases"] if not each["candidate"]]


def content(call: Call, reference: str) -> str:
    digest: str = call("show", reference, "--json").json["snapshot"]["digest"]
    return digest


def file_of(done: Any) -> dict[str, Any]:
    (file,) = done.json["files"]
    assert isinstance(file, dict)
    return file


# --- judged before it is stored -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("either_database")
def test_what_fails_is_not_stored_and_the_mended_build_takes_its_label(based: Call, new: Path, added: Path) -> None:
    failed = based("ingest", new, "--version", "2.0", "--against", "baseline", "--json")
    assert (failed.code, file_of(failed)["status"], file_of(failed)["release"]) == (4, "refused", None)
    assert file_of(failed)["verdict"]["verdict"] == "BREAKING"
    assert versions(based) == ["1.0"]
    assert based("ingest", added, "--version", "2.0", "--against", "baseline").code == 0
    assert versions(based) == ["1.0", "2.0"]


@pytest.mark.usefixtures("either_database")
def test_what_fails_is_kept_as_a_candidate_where_that_is_asked(based: Call, new: Path, added: Path) -> None:
    done = based("ingest", new, "--version", "2.0", "--against", "baseline", "--keep-failed", "--json")
    assert (done.code, file_of(done)["status"], file_of(done)["release"]["candidate"]) == (4, "candidate", True)
    assert versions(based) == ["1.0"]
    assert content(based, "libcase@latest") == content(based, "libcase@1.0")
    assert based("verdict", "libcase@candidate:2.0", "--against", "baseline").code == 4
    again = based("ingest", new, "--version", "2.0", "--against", "baseline", "--keep-failed")
    assert again.code == 4
    assert based("ingest", added, "--version", "2.0", "--against", "baseline").code == 0
    assert versions(based) == ["1.0", "2.0"]
    assert based("show", "libcase@candidate:2.0").code == 67


def test_what_passes_is_judged_and_stored_and_its_verdict_remembered(based: Call, added: Path) -> None:
    done = based("ingest", added, "--version", "1.1", "--against", "baseline", "--set-baseline", "--json")
    assert (done.code, file_of(done)["status"], file_of(done)["baseline"]) == (0, "stored", "release")
    stored = based("db", "stats", "--json").json["stats"]["verdicts"]
    assert based("verdict", "libcase@1.1", "--json").json["verdict"] == "COMPATIBLE"
    assert based("db", "stats", "--json").json["stats"]["verdicts"] == stored == 1


@pytest.mark.usefixtures("either_database")
def test_a_known_file_is_judged_as_a_new_one(based: Call, new: Path) -> None:
    assert based("ingest", new, "--version", "2.0").code == 0
    for _ in range(2):
        done = based("ingest", new, "--version", "2.0", "--against", "baseline", "--set-baseline", "--json")
        assert (done.code, file_of(done)["status"], file_of(done)["baseline"]) == (4, "known", None)


@pytest.mark.usefixtures("either_database")
@pytest.mark.parametrize("against", ["latest", "prev", "1.0", "libcase@1.0"])
def test_a_release_is_never_its_own_measure(based: Call, added: Path, new: Path, against: str) -> None:
    assert based("ingest", new, "--version", "2.0", "--against", against).code == 4
    for _ in range(2):
        done = based("ingest", added, "--version", "1.1", "--against", against, "--json")
        assert file_of(done)["verdict"]["old"]["version"] == "1.0"


@pytest.mark.usefixtures("either_database")
def test_a_file_passes_no_gate_under_another_label(based: Call, new: Path) -> None:
    assert based("ingest", new, "--version", "2.0", "--against", "baseline", "--keep-failed").code == 4
    for label in ("2.1", "1.0.1", "nightly"):
        assert based("ingest", new, "--version", label, "--against", "prev").code == 4
    assert versions(based) == ["1.0"]


def test_a_candidate_is_no_measure(based: Call, new: Path) -> None:
    assert based("ingest", new, "--version", "2.0", "--against", "baseline", "--keep-failed").code == 4
    done = based("ingest", new, "--version", "2.1", "--against", "candidate:2.0")
    assert (done.code, "a candidate cannot be a baseline" in done.err) == (64, True)
    assert based("ingest", new, "--version", "2.1", "--against", "latest").code == 4
    assert versions(based) == ["1.0"]


def test_each_of_two_files_is_judged_after_the_other_was_stored(based: Call, added: Path, tmp_path: Path) -> None:
    dropped = build_library(OLD + "int other(int a) { return a; }\n")
    paths = [tmp_path / version / "libcase.so" for version in ("1.1", "1.2")]
    for path, built in zip(paths, (added, dropped), strict=True):
        path.parent.mkdir()
        shutil.copy(built, path)
    words = ("--version-from", "folder", "--against", "baseline", "--set-baseline", "--json")
    done = based("ingest", *paths, *words)
    assert [(each["status"], each["exit_code"]) for each in done.json["files"]] == [("stored", 0), ("refused", 4)]
    assert content(based, "libcase@baseline") == content(based, "libcase@1.1")


def test_two_files_of_one_label_are_not_stored_over_each_other(based: Call, added: Path, old: Path) -> None:
    done = based("ingest", added, old, "--version", "1.1", "--against", "baseline", "--json")
    assert [each["exit_code"] for each in done.json["files"]] == [0, 68]


@pytest.mark.usefixtures("either_database")
def test_a_release_that_was_taken_back_leaves_no_hole(based: Call, added: Path, new: Path) -> None:
    assert based("ingest", added, "--version", "1.1", "--against", "baseline", "--set-baseline").code == 0
    assert based("db", "forget", "libcase@1.1").code == 64
    assert based("db", "forget", "libcase@1.0").code == 0
    assert based("ingest", new, "--version", "1.0", "--against", "baseline").code == 4
    assert based("ingest", new, "--version", "1.1", "--replace", "--against", "baseline").code == 64
    assert versions(based) == ["1.1"]


@pytest.mark.usefixtures("either_database")
def test_another_profile_is_another_line_and_has_its_own_baseline(based: Call, new: Path) -> None:
    done = based("ingest", new, "--version", "2.0", "--against", "baseline", "--profile", "debug")
    assert done.code == 67
    assert "libcase (elf-x86_64-64-little, default) at 1.0" in done.err
    first = based("ingest", new, "--version", "2.0", "--against", "prev", "--profile", "debug")
    assert first.code == 0
    assert "no previous release in the new line libcase (elf-x86_64-64-little, debug), beside libcase (" in first.out
    assert content(based, "libcase@baseline") == content(based, "libcase@1.0")


@pytest.mark.usefixtures("either_database")
def test_a_leading_v_makes_no_other_label(based: Call, old: Path, new: Path) -> None:
    for label in ("v1.0", "V1.0"):
        assert based("ingest", new, "--version", label).code == 68
        assert based("ingest", new, "--version", label, "--replace", "--replace-baseline", "x").code == 64
        assert file_of(based("ingest", old, "--version", label, "--json"))["status"] == "known"
        assert based("gate", new, "--version", label).code == 4
    assert based("ingest", new, "--version", "v2.0").code == 0
    assert based("ingest", old, "--version", "2.0").code == 68
    assert versions(based) == ["1.0", "v2.0"]


LABELS = ("0.1", "0~rc1", "1.0~1", "1.0-rc1", "v0", "1.0.1", "build")


@pytest.mark.usefixtures("either_database")
@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("against", ["prev", "latest", None])
def test_a_baseline_is_asked_before_it_moves(based: Call, new: Path, label: str, against: str | None) -> None:
    """Whatever else the build is compared with, and wherever its label stands."""
    words = ("--version", label, *(("--against", against) if against else ()), "--set-baseline", "--json")
    done = based("ingest", new, *words)
    assert (done.code, file_of(done)["status"], file_of(done)["baseline"]) == (4, "refused", None)
    assert based("db", "baseline", "list", "--json").json["baselines"][0]["version"] == "1.0"


def test_a_baseline_is_asked_for_a_release_that_is_stored(based: Call, old: Path, new: Path) -> None:
    """As by a second call, or by a label above one that was stored beside nothing."""
    assert based("ingest", new, "--version", "0.9", "--against", "prev").code == 0
    for label in ("0.9", "0.9.1"):
        done = based("ingest", new, "--version", label, "--against", "prev", "--set-baseline")
        assert (done.code, "compared with 1.0, the baseline release before it moves" in done.out) == (
            4,
            True,
        )
    assert content(based, "libcase@baseline") == content(based, "libcase@1.0")
    assert based("ingest", old, "--version", "1.0.2", "--against", "0.9", "--set-baseline").code == 4


def test_a_baseline_that_is_asked_needs_as_much_evidence_and_heeds_approvals(
    based: Call, new: Path, stripped: Path
) -> None:
    assert based("ingest", stripped, "--version", "1.1", "--against", "0.5", "--set-baseline").code == 67
    assert based("ingest", stripped, "--version", "0.9", "--against", "prev", "--set-baseline").code == 72
    found = based("gate", new, "--version", "1.1", "--json").json["files"][0]["judged"]["verdict"]["changes"]
    failing = [each["id"] for each in found if each["impact"] == "breaking"]
    for scope, code in (("branch:main", 4), ("branch:release", 0)):
        assert based("approve", *failing, "--library", "libcase", "--reason", "x", "--scope", scope).code == 0
        assert based("ingest", new, "--version", "0.9", "--against", "prev", "--set-baseline").code == code
    assert content(based, "libcase@baseline") == content(based, "libcase@0.9")


def test_the_baseline_of_another_channel_is_asked_for_itself(based: Call, old: Path, new: Path) -> None:
    assert based("ingest", new, "--version", "2.0", "--set-baseline=staging").code == 0
    both = ("--against", "baseline:staging", "--set-baseline")
    assert based("ingest", new, "--version", "2.0", *both).code == 4
    assert content(based, "libcase@baseline") == content(based, "libcase@1.0")
    assert based("db", "baseline", "set", "libcase@2.0", "--reason", "meant").code == 0
    assert based("ingest", new, "--version", "2.0.1", *both).code == 0


def test_what_a_suppression_let_pass_fails_without_it(based: Call, new: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.yaml"
    assert based("policy", "suppress", "suggest", "libcase@1.0", new, "-o", known).code == 0
    known.write_text(known.read_text().replace('reason: ""', "reason: agreed"))
    assert based("ingest", new, "--version", "2.0", "--against", "baseline").code == 4
    assert based("ingest", new, "--version", "2.0", "--against", "baseline", "--suppress", known).code == 0
    assert based("ingest", new, "--version", "2.0", "--against", "baseline").code == 4
    assert based("verdict", "libcase@2.0", "--against", "baseline").code == 4


# --- replacing ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("either_database")
def test_a_replacement_does_not_pass_by_being_its_own_measure(based: Call, new: Path, old: Path) -> None:
    before = content(based, "libcase@1.0")
    done = based("ingest", new, "--version", "1.0", "--replace", "--against", "baseline")
    assert done.code == 64
    assert "baseline release points at it" in done.err
    assert content(based, "libcase@baseline") == before
    assert based("ingest", old, "--version", "1.0", "--replace", "--against", "baseline").code == 0


@pytest.mark.usefixtures("either_database")
@pytest.mark.parametrize("command", ["ingest", "import"])
def test_a_baseline_is_replaced_for_a_reason_only_which_its_history_keeps(
    based: Call, added: Path, tmp_path: Path, command: str
) -> None:
    path = tmp_path / "added.json"
    assert based("export", added, "-o", path).code == 0
    before = content(based, "libcase@1.0")
    words = (command, path, "--version", "1.0", "--replace")
    assert based(*words).code == 64
    assert based(command, path, "--version", "1.0", "--replace-baseline", "why").code == 64
    assert based(*words, "--replace-baseline", "a patch was missing").code == 0
    first, second = based("db", "baseline", "history", "libcase", "--json").json["baselines"]
    assert (first["version"], first["digest"]) == ("1.0", before)
    assert (second["version"], second["digest"]) == ("1.0", content(based, "libcase@baseline"))
    assert second["reason"] == "a patch was missing"
    records = based("db", "audit", "--json").json["audit"]
    assert any("a patch was missing" in record["detail"] and before in record["detail"] for record in records)


def test_a_baseline_that_is_to_be_replaced_is_judged_against_what_it_was(based: Call, new: Path) -> None:
    words = ("ingest", new, "--version", "1.0", "--replace", "--replace-baseline", "why", "--against", "baseline")
    before = content(based, "libcase@1.0")
    assert based(*words).code == 4
    assert content(based, "libcase@baseline") == before
    assert based(*words, "--fail-on", "never").code == 0
    assert content(based, "libcase@baseline") != before


@pytest.mark.usefixtures("either_database")
def test_a_replacement_is_judged_against_what_it_replaces_and_against_the_baseline(
    based: Call, added: Path, old: Path
) -> None:
    """Both builds are compatible with the baseline; the second drops what the first has added."""
    assert based("ingest", added, "--version", "1.1", "--against", "baseline").code == 0
    rebuilt = build_library(OLD + "int other(int a) { return a; }\n")
    words = ("ingest", rebuilt, "--version", "1.1", "--replace", "--against", "baseline")
    done = based(*words, "--json")
    assert (done.code, file_of(done)["status"]) == (4, "refused")
    verdict, other = file_of(done)["verdict"], file_of(done)["other_verdict"]
    assert (verdict["verdict"], verdict["old"]["version"]) == ("BREAKING", "1.1")
    assert (other["verdict"], other["old"]["version"]) == ("COMPATIBLE", "1.0")
    shown = based(*words).out
    assert "libcase 1.1 -> libcase 1.1: BREAKING" in shown
    assert "libcase 1.0 -> libcase 1.1: COMPATIBLE" in shown


def test_a_replacement_that_breaks_the_baseline_alone_fails_too(based: Call, new: Path, added: Path) -> None:
    assert based("ingest", new, "--version", "2.0").code == 0
    worse = build_library(NEW + "int better(int a) { return a; }\n")
    done = based("ingest", worse, "--version", "2.0", "--replace", "--against", "baseline", "--json")
    assert (done.code, file_of(done)["verdict"]["old"]["version"]) == (4, "1.0")
    assert file_of(done)["other_verdict"]["verdict"] == "COMPATIBLE"


# --- the first of a line ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("either_database")
def test_the_first_run_sets_the_baseline_where_there_is_none(abistore: Call, old: Path, added: Path, new: Path) -> None:
    def build(path: Path, version: str) -> tuple[int, str, str | None]:
        words = ("--against", "baseline", "--set-baseline-if-none")
        file = file_of(done := abistore("ingest", path, "--version", version, *words, "--json"))
        return done.code, file["unjudged"], file["baseline"]

    assert build(old, "1.0") == (0, "no baseline precedes it", "release")
    assert build(added, "1.1") == (0, "", None)
    assert build(new, "2.0") == (4, "", None)
    assert content(abistore, "libcase@baseline") == content(abistore, "libcase@1.0")
    assert len(abistore("db", "baseline", "history", "libcase", "--json").json["baselines"]) == 1


def test_the_first_run_without_a_baseline_says_how_to_set_one(abistore: Call, old: Path) -> None:
    for words, hint in (("baseline",), "--set-baseline-if-none"), (("baseline:main",), "--set-baseline-if-none=main"):
        done = abistore("ingest", old, "--version", "1.0", "--against", *words)
        assert done.code == 67
        assert hint in done.err
    assert (
        abistore("ingest", old, "--version", "1.0", "--against", "baseline:main", "--set-baseline-if-none").code == 67
    )
    assert abistore("list", "--json").json["lines"] == []
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline", "--set-baseline-if-none").code == 64


def test_a_baseline_on_another_architecture_is_told(based: Call, narrow: Path) -> None:
    done = based("ingest", narrow, "--version", "1.0", "--against", "baseline")
    assert done.code == 67
    assert "no baseline is set in channel release of libcase (elf-i386-32-little, default)" in done.err
    assert "it is set for libcase (elf-x86_64-64-little, default) at 1.0" in done.err
    assert based("ingest", narrow, "--version", "1.0").code == 0
    shown = based("show", "libcase@baseline", "--target", "i386")
    assert (shown.code, "it is set for libcase (elf-x86_64-64-little, default) at 1.0" in shown.err) == (67, True)
    verdict = based("verdict", "libcase@1.0", "--target", "i386", "--against", "baseline")
    assert (verdict.code, "it is set for libcase (elf-x86_64-64-little" in verdict.err) == (67, True)


# --- evidence -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("either_database")
@pytest.mark.parametrize("gate", ["breaking", "api_break", "risk"])
def test_a_stripped_build_passes_no_gate_that_a_full_one_was_measured_by(
    based: Call, stripped: Path, gate: str
) -> None:
    done = based("ingest", stripped, "--version", "2.0", "--against", "baseline", "--fail-on", gate, "--json")
    assert (done.code, done.error["code"], done.envelope["outcome"]) == (72, "evidence", "undecided")
    assert (file_of(done)["status"], file_of(done)["verdict"]["verdict"]) == ("refused", "NO_CHANGE")
    assert "libcase 2.0: layout is missing (" in done.error["message"]
    assert "full in libcase 1.0" in done.error["message"]
    assert "--debug-dir" in done.error["hint"] and "--require none" in done.error["hint"]
    assert versions(based) == ["1.0"]


def test_a_stripped_build_passes_where_that_is_said(based: Call, stripped: Path) -> None:
    for words in (("--require", "symbol"), ("--require", "none"), ("--fail-on", "never")):
        assert based("ingest", stripped, "--version", "2.0", "--against", "baseline", *words).code == 0
        assert based("db", "forget", "libcase@2.0").code == 0


def test_a_stripped_build_that_breaks_in_its_symbols_is_breaking(based: Call) -> None:
    broken = build_library(NEW, flags=("-O1",))
    done = based("ingest", broken, "--version", "2.0", "--against", "baseline", "--json")
    assert (done.code, file_of(done)["verdict"]["verdict"], file_of(done)["code"]) == (4, "BREAKING", "")


def test_a_stripped_build_is_kept_as_a_candidate(based: Call, stripped: Path) -> None:
    done = based("ingest", stripped, "--version", "2.0", "--against", "baseline", "--keep-failed", "--json")
    assert (done.code, file_of(done)["status"]) == (72, "candidate")
    assert based("verdict", "libcase@candidate:2.0", "--against", "baseline").code == 72


def test_symbols_alone_are_less_than_the_baseline_had(based: Call, new: Path, old: Path) -> None:
    wider = build_library(WIDER)
    done = based("ingest", wider, "--version", "2.0", "--against", "baseline", "--symbols-only")
    assert done.code == 72
    assert "without --symbols-only" in done.err


def test_a_file_that_was_read_for_its_symbols_is_read_again_where_it_is_judged(based: Call) -> None:
    wider = build_library(WIDER)
    assert based("ingest", wider, "--version", "2.0", "--symbols-only").code == 0
    done = based("ingest", wider, "--version", "2.0", "--against", "baseline")
    assert (done.code, "pass --replace" in done.err) == (68, True)
    assert based("ingest", wider, "--version", "2.0", "--against", "baseline", "--replace").code == 4


def test_a_stripped_replacement_has_less_than_what_it_replaces(abistore: Call, stripped: Path, old: Path) -> None:
    bare = build_library(OLD, flags=("-O1",))
    assert abistore("ingest", bare, "--version", "1.0", "--set-baseline").code == 0
    assert abistore("ingest", old, "--version", "1.1", "--against", "baseline").code == 0
    words = ("ingest", stripped, "--version", "1.1", "--replace", "--against", "baseline")
    done = abistore(*words, "--json")
    assert (done.code, file_of(done)["verdict"]["old"]["version"]) == (72, "1.1")
    assert abistore("ingest", stripped, "--version", "1.2", "--against", "baseline").code == 0


def partly(folder: Path, units: dict[str, str], described: str) -> Path:
    """A library of several units, of which those that ``described`` names are built with ``-g``."""
    folder.mkdir()
    for name, text in units.items():
        (folder / f"{name}.c").write_text(text)
        debug = ["-g"] if name in described else []
        subprocess.run(["gcc", "-c", "-O1", "-fPIC", *debug, f"{name}.c"], cwd=folder, check=True)
    objects = [f"{name}.o" for name in units]
    soname = "-Wl,-soname,libcase.so.1"
    subprocess.run(["gcc", "-shared", *objects, "-o", "libcase.so", soname], cwd=folder, check=True)
    return folder / "libcase.so"


UNITS = {"a": OLD, "b": "int more(int a) { return a; }\n", "c": "int most(int a) { return a; }\n"}


STALE = "struct point {{ int x, y{0}; }};\nint {1}(const struct point *p) {{ return p->x; }}\n"


@pytest.mark.parametrize("built_again", ["first", "second"])
def test_an_object_file_that_was_not_built_again_hides_no_change(
    abistore: Call, tmp_path: Path, built_again: str
) -> None:
    """Its unit goes on describing the record as it was."""
    units = {name: STALE.format("", name) for name in ("first", "second")}
    old = partly(tmp_path / "old", units, "first second")
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    units[built_again] = STALE.format(", z", built_again)
    done = abistore("gate", partly(tmp_path / "new", units, "first second"), "--version", "1.1")
    assert (done.code, "type_field_added" in done.out) == (4, True), done.out


def test_half_the_evidence_is_no_full_one(abistore: Call, tmp_path: Path) -> None:
    full, half = partly(tmp_path / "full", UNITS, "abc"), partly(tmp_path / "half", {**UNITS, "a": WIDER}, "bc")
    assert abistore("ingest", full, "--version", "1.0", "--set-baseline").code == 0
    done = abistore("ingest", half, "--version", "1.1", "--against", "baseline")
    assert (done.code, "layout is partial (" in done.err) == (72, True)


def test_another_part_of_the_evidence_is_not_the_same_part(abistore: Call, tmp_path: Path) -> None:
    """As many exports are described as before, and what changed is not among them."""
    one = partly(tmp_path / "one", UNITS, "ab")
    units = {**UNITS, "a": WIDER, "d": "int last(int a) { return a; }\nint least(int a) { return a; }\n"}
    other = partly(tmp_path / "other", units, "bcd")
    assert abistore("ingest", one, "--version", "1.0", "--set-baseline").code == 0
    done = abistore("ingest", other, "--version", "1.1", "--against", "baseline")
    assert done.code == 72
    assert "layout leaves out 2 declarations that libcase 1.0 describes, e.g. gone, norm" in done.err


def test_new_exports_that_are_not_described_take_nothing_from_the_old_ones(abistore: Call, tmp_path: Path) -> None:
    one = partly(tmp_path / "one", UNITS, "ab")
    other = partly(tmp_path / "other", {**UNITS, "d": "int last(int a) { return a; }\n"}, "ab")
    assert abistore("ingest", one, "--version", "1.0", "--set-baseline").code == 0
    assert abistore("ingest", other, "--version", "1.1", "--against", "baseline").code == 0


def test_evidence_that_is_required_must_be_on_both_sides(abistore: Call, old: Path) -> None:
    bare = build_library(OLD, flags=("-O1",))
    for words in ((bare, old), (old, bare), (bare, bare)):
        assert abistore("compare", *words).code == 0
        assert abistore("compare", *words, "--require", "symbol").code == 0
        done = abistore("compare", *words, "--require", "symbol,layout", "--json")
        assert (done.code, done.error["code"], done.json["verdict"]) == (72, "evidence", "NO_CHANGE")
        assert done.envelope["exit_code"] == 72
    assert abistore("compare", old, old, "--require", "symbol,layout").code == 0
    assert abistore("compare", old, bare, "--require", "old").code == 72
    assert abistore("compare", bare, old, "--require", "old").code == 0
    assert abistore("compare", old, old, "--require", "source").code == 72


ONLY_DECLARED = """
struct Item { virtual void draw(); int size() const { return count; } int count; };
int get(const Item *item) { return item->size(); }
"""
INTERFACE = """
struct Listener { virtual void opened(int) = 0; };
void add(Listener *listener) { listener->opened(1); }
"""
HANDLE = """
struct Listener;
Listener *make() { return nullptr; }
void add(Listener *) {}
"""


@pytest.mark.parametrize(("source", "code"), [(ONLY_DECLARED, 72), (INTERFACE, 72), (HANDLE, 0)])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_a_class_that_is_only_declared_lacks_the_layout_that_a_gate_requires(
    abistore: Call, source: str, code: int, compiler: str
) -> None:
    built = build_library(source, language="c++", compiler=compiler, flags=("-g", "-O1"))
    done = abistore("compare", built, built, "--require", "layout")
    assert (done.code, "only declares 1 class" in done.err) == (code, code == 72)
    assert abistore("compare", built, built).code == 0


def test_a_first_release_lacks_the_layout_of_a_class_that_is_only_declared(abistore: Call) -> None:
    built = build_library(ONLY_DECLARED, language="c++", flags=("-g", "-O1"))
    done = abistore("ingest", built, "--version", "1.0", "--require", "layout")
    assert done.code == 72
    assert "layout is required in full, and the debug information only declares 1 class" in done.err


def test_missing_evidence_is_told_beside_the_report_in_every_format(abistore: Call, old: Path, tmp_path: Path) -> None:
    bare = build_library(OLD, flags=("-O1",))
    done = abistore("compare", old, bare, "--require", "layout")
    assert done.out.splitlines()[0].startswith("libcase")
    assert "error: " in done.err and "layout is required in full, and is missing" in done.err
    shown = {
        "report.html": 'class="gap unchecked">UNDECIDED: libcase',
        "report.xml": '<failure type="evidence" message="Required evidence is missing: libcase',
        "report.sarif": '"text": "UNDECIDED: libcase',
        "report.md": "**UNDECIDED: libcase",
    }
    for name, mark in shown.items():
        done = abistore("compare", old, bare, "--require", "layout", "-o", tmp_path / name)
        assert (done.code, "layout is required in full" in done.err) == (72, True)
        assert (tmp_path / name).read_text().count(mark) == 1
    run = json.loads((tmp_path / "report.sarif").read_text())["runs"][0]
    told = run["invocations"][0]["toolExecutionNotifications"]
    said = [(each["level"], each["descriptor"]["id"]) for each in told if "in full" in each["message"]["text"]]
    assert said == [("error", "evidence")]
    assert (tmp_path / "report.html").read_text().count("layout is required in full") == 1
    done = abistore("compare", bare, bare, "--require", "layout", "--format", "github")
    assert done.out.startswith("::error title=Required evidence is missing::UNDECIDED: libcase")


def test_a_verdict_that_is_asked_for_against_something_asks_for_its_evidence(based: Call, stripped: Path) -> None:
    assert based("ingest", stripped, "--version", "2.0").code == 0
    assert based("verdict", "libcase@2.0").code == 0
    for _ in range(2):
        done = based("verdict", "libcase@2.0", "--against", "baseline")
        assert (done.code, "libcase 2.0: layout is missing" in done.err) == (72, True)
    assert based("verdict", "libcase@2.0", "--against", "baseline", "--require", "none").code == 0
    assert based("verdict", "libcase@2.0", "--against", "baseline", "--fail-on", "never").code == 0
    assert based("verdict", "libcase@2.0", "--require", "layout").code == 72


def test_the_first_release_must_show_what_is_required(abistore: Call, stripped: Path, old: Path) -> None:
    words = ("--against", "baseline", "--set-baseline-if-none", "--require", "old,layout")
    done = abistore("ingest", stripped, "--version", "1.0", *words, "--json")
    assert (done.code, file_of(done)["status"], file_of(done)["code"]) == (72, "refused", "evidence")
    assert abistore("db", "baseline", "list", "--json").json["baselines"] == []
    assert abistore("ingest", stripped, "--version", "1.0", "--require", "layout").code == 72
    assert abistore("ingest", old, "--version", "1.0", *words).code == 0


@pytest.mark.parametrize("words", ["headers", "layout,none", "", "old"])
def test_a_requirement_that_means_nothing_is_refused(abistore: Call, old: Path, words: str) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--require", words).code == 64
    assert abistore("list").code == 74


@pytest.mark.parametrize(
    "option", ["--against=", "--set-baseline=", "--set-baseline-if-none=", "--require=", "--policy=", "--suppress="]
)
def test_an_empty_word_opens_no_gate(based: Call, new: Path, option: str) -> None:
    """As where a variable of the script is unset."""
    assert based("ingest", new, "--version", "2.0", option).code == 64
    assert based("verdict", "libcase@1.0", "--against", "").code != 0
    assert versions(based) == ["1.0"]


@pytest.mark.parametrize("claim", ["full", "nothing-to-describe", "too many"])
def test_a_snapshot_that_claims_what_it_does_not_hold_is_refused(
    based: Call, stripped: Path, tmp_path: Path, claim: str
) -> None:
    path = tmp_path / "claims.json"
    assert based("export", stripped, "-o", path).code == 0
    document = json.loads(undigested(path.read_text()))
    (layout,) = (seen for seen in document["evidence"] if seen["facet"] == "layout")
    layout |= {
        "full": {"state": "full", "reason": "", "described": 2},
        "nothing-to-describe": {"reason": "nothing-to-describe"},
        "too many": {"state": "partial", "reason": "partial-debug-info", "described": 1},
    }[claim]
    for facets in (["symbol"], ["symbol", "layout"]):
        path.write_text(json.dumps({**document, "facets": facets}))
        done = based("ingest", path, "--version", "2.0", "--against", "baseline")
        assert (done.code, "its evidence claims" in done.err) == (65, True)
        assert based("import", path, "--version", "2.0").code == 65
        assert based("compare", "libcase@1.0", path).code == 65


@pytest.mark.parametrize("left", ["nothing", "an empty entry"])
def test_a_snapshot_that_leaves_out_a_type_which_it_mentions_is_refused(based: Call, tmp_path: Path, left: str) -> None:
    """The type would be taken for one that no export uses any more, and what broke in it for nothing."""
    path = tmp_path / "holes.json"
    assert based("export", build_library(WIDER), "-o", path).code == 0
    document = json.loads(undigested(path.read_text()))
    record = ["record", "point"]
    if left == "nothing":
        document["names"] = [each for each in document["names"] if each[0] != record]
    else:
        next(each for each in document["names"] if each[0] == record)[1]["layout"] = []
    path.write_text(json.dumps(document))
    done = based("gate", path, "--version", "2.0")
    assert (done.code, "1 type is only mentioned, e.g. point" in done.err) == (65, True)


# --- what is said -------------------------------------------------------------------------------------------------


def test_quiet_is_one_line_a_file(based: Call, new: Path, added: Path) -> None:
    done = based("-q", "ingest", added, "--version", "1.1", "--against", "baseline")
    (line,) = done.out.splitlines()
    assert line.startswith("libcase 1.0 -> libcase 1.1: COMPATIBLE, 1 compatible; exit code 0")
    done = based("ingest", new, "--version", "2.0", "--against", "baseline", "-q")
    (line,) = done.out.splitlines()
    assert line.startswith("libcase 1.0 -> libcase 2.0: BREAKING, 2 breaking")
    assert line.endswith("; not stored")


def test_what_failed_is_told_with_the_way_on(based: Call, new: Path) -> None:
    done = based("ingest", new, "--version", "2.0", "--against", "baseline")
    assert done.out.startswith("refused ")
    assert "--keep-failed" in done.err


@pytest.mark.parametrize("words", [(), ("--against", "baseline", "--set-baseline")])
def test_a_library_without_exports_is_told(abistore: Call, words: tuple[str, ...]) -> None:
    hidden = build_library(OLD, flags=("-g", "-fvisibility=hidden"))
    for _ in range(2):
        done = abistore("ingest", hidden, "--version", "1.0", *words)
        assert done.code == 0
        assert "0 exports, nothing can link to it" in done.out
        assert "-fvisibility" in done.err


def test_all_of_a_call_is_one_json_object(based: Call, new: Path, stripped: Path) -> None:
    done = based("ingest", new, stripped, "--version", "2.0", "--against", "baseline", "--json")
    assert (done.code, done.envelope["outcome"]) == (72, "undecided")
    assert [each["exit_code"] for each in done.json["files"]] == [4, 72]


def test_what_takes_too_long_to_judge_is_not_stored(based: Call, added: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.3)
    monkeypatch.setattr(import_module("abistore.diffing.judge.judged"), "fold", endless)
    done = based("ingest", added, "--version", "1.1", "--against", "baseline", "--keep-failed", "--json")
    assert (done.code, done.error["code"], file_of(done)["status"]) == (65, "limit", "failed")
    assert versions(based) == ["1.0"]


@pytest.mark.usefixtures("either_database")
def test_nothing_believes_a_verdict_that_another_database_brought(based: Call, new: Path, tmp_path: Path) -> None:
    """It is judged anew, and what was judged here answers from then on."""
    assert based("ingest", new, "--version", "2.0").code == 0
    bundle, forged = tmp_path / "all.bundle", tmp_path / "forged.db"
    assert based("export", "--bundle", "-o", bundle).code == 0
    assert based("import", bundle, "--db", forged).code == 0
    with Store.open(forged, write=True) as store:
        first, second = store.resolve("libcase@1.0"), store.resolve("libcase@2.0")
        nothing = Comparison(first.side, second.side, Verdict.NO_CHANGE, (), engine=str(ENGINE))
        store.save_verdicts([StoredVerdict(first, second, nothing, Churn(0, 0, 0), datetime(2026, 5, 1, tzinfo=UTC))])
        told = replace(nothing, verdict=Verdict.COMPATIBLE_WITH_RISK, findings=(FORGED,))
        store.save_verdicts([StoredVerdict(first, second, told, Churn(0, 0, 0), datetime(2026, 5, 2, tzinfo=UTC))])
    assert based("db", "merge", forged).code == 0
    for words in (("explain",), ("approve", "--reason", "x"), ("approve", "note", "--state", "seen")):
        done = based(*words, identity(FORGED).hex())
        assert (done.code, "only a verdict merged from another store" in done.err) == (67, True), done
        assert "`abistore verdict libcase@2.0 --against 1.0` judges here" in done.err
    assert based("verdict", "libcase@2.0").code == 4
    assert based("history", "libcase", "--json").json["histories"][0]["rows"][1]["verdict"] == "BREAKING"
    assert based("gate", new, "--version", "2.0").code == 4
    assert based("ingest", new, "--version", "2.0", "--against", "baseline").code == 4


@pytest.mark.usefixtures("either_database")
def test_a_finding_that_another_database_brought_is_explained_once_it_was_found_here(
    based: Call, new: Path, tmp_path: Path
) -> None:
    """Both have the same finding, of which one row is kept."""
    assert based("ingest", new, "--version", "2.0").code == 0
    bundle, there = tmp_path / "all.bundle", tmp_path / "there.db"
    assert based("export", "--bundle", "-o", bundle).code == 0
    assert based("import", bundle, "--db", there).code == 0
    found = [each["id"] for each in based("verdict", "libcase@2.0", "--json", "--db", there).json["changes"]]
    assert based("db", "merge", there).code == 0
    assert found
    assert {based("explain", each).code for each in found} == {67}
    assert based("verdict", "libcase@2.0").code == 4
    assert {based("explain", each).code for each in found} == {0}
    assert based("db", "check").code == 0


@pytest.mark.usefixtures("either_database")
def test_a_release_that_was_withdrawn_is_told_where_it_is_passed_over(based: Call, added: Path, old: Path) -> None:
    """A tag takes away what the next release is measured by."""
    assert based("ingest", added, "--version", "1.1").code == 0
    assert based("db", "release", "tag", "libcase@1.1", "withdrawn").code == 0
    done = based("ingest", build_library(OLD + " "), "--version", "1.2", "--against", "prev")
    assert (done.code, "compared with 1.0: 1.1 was withdrawn" in done.out) == (0, True)
    for words in ((), ("--against", "prev")):
        assert "compared with 1.0: 1.1 was withdrawn" in based("verdict", "libcase@1.2", *words).out
    assert "was withdrawn" not in based("verdict", "libcase@1.2", "--against", "1.0").out
