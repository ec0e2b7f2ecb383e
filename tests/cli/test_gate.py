"""``abistore gate``: a build against what was released, and what a change brought told from what stood before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.build import NARROW, build_library
from tests.cli.conftest import ADDED, OLD, Call, Done

WITHOUT_GONE = OLD.replace("int gone(void) { return 1; }", "")
REVISION = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"

Gating = Callable[..., Done]


@pytest.fixture
def gating(abistore: Call, old: Path) -> Gating:
    """Calls ``gate`` for a library of which 1.0 is the release."""
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    return lambda library, *words: abistore("gate", library, "--version", "1.1", *words)


def test_a_compatible_build_passes_and_nothing_is_stored(gating: Gating, abistore: Call) -> None:
    done = gating(build_library(ADDED))
    assert done.code == 0
    assert done.out.startswith("PASS: ")
    assert "; libcase 1.1 compared with libcase 1.0 (release): COMPATIBLE" in done.out
    assert [one["version"] for one in abistore("list", "libcase", "--json").json["releases"]] == ["1.0"]


def test_a_break_fails_and_the_last_lines_say_what_would_pass(gating: Gating, abistore: Call, new: Path) -> None:
    done = gating(new)
    lines = done.out.splitlines()
    assert done.code == 4
    assert lines[0].startswith("FAIL: 1.1 breaks 1.0 in ")
    assert lines[0].endswith("; libcase 1.1 compared with libcase 1.0 (release): BREAKING")
    ways = lines[lines.index("to pass, do one of these:") + 1 :]
    assert ways[0].startswith("  - fix 2 findings: ")
    assert ways[1] == "  - release it as 2.0 and bump the SONAME"
    accept = ways[2].removeprefix("  - approve it: abistore ").split()
    assert abistore(*accept[:-1], "nobody calls it").code == 0
    again = gating(new)
    first = again.out.splitlines()[0]
    assert (again.code, first.startswith("PASS: 2 findings approved by ")) == (0, True)
    assert first.endswith("; libcase 1.1 compared with libcase 1.0 (release): BREAKING")


def test_what_a_change_brought_is_told_from_what_stood_before(gating: Gating, abistore: Call, new: Path) -> None:
    base = build_library(WITHOUT_GONE)
    words = ("--version", "1.1~1", "--revision", REVISION)
    assert abistore("ingest", base, *words).code == 0
    done = gating(new, "--merge-base", REVISION[:8], "--json")
    (file,) = done.json["files"]
    changes = {one["id"]: one["kind"] for one in file["judged"]["verdict"]["changes"]}
    assert (done.code, file["merge_base"]) == (4, "libcase@1.1~1")
    assert [changes[one] for one in file["inherited"]] == ["func_removed"]
    assert file["introduced"] and "func_removed" not in [changes[one] for one in file["introduced"]]
    assert file["sentence"].endswith("; this change adds 1 of 2 breaks")


def test_what_stood_before_fails_unless_only_the_change_counts(gating: Gating, abistore: Call) -> None:
    base = build_library(WITHOUT_GONE)
    assert abistore("ingest", base, "--version", "1.1~1", "--revision", REVISION).code == 0
    change = build_library(WITHOUT_GONE + "int fresh(int a) { return a; }\n")
    strict = gating(change, "--merge-base", REVISION)
    assert (strict.code, strict.out.splitlines()[0].endswith("; not introduced by this change")) == (4, True)
    assert gating(change, "--merge-base", REVISION, "--introduced-only").code == 0
    worse = build_library(WITHOUT_GONE.replace("int x, y;", "int x, y, z;"))
    assert gating(worse, "--merge-base", REVISION, "--introduced-only").code == 4


@pytest.mark.usefixtures("either_database")
def test_digits_that_begin_several_revisions_are_no_merge_base(gating: Gating, abistore: Call, old: Path) -> None:
    """The build that was stored last told what stood before, whoever stored it and of whatever revision."""
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    other = build_library(WITHOUT_GONE)
    for version, revision, built in (("1.1~1", REVISION, old), ("1.1~2", REVISION[:12] + "0" * 28, other)):
        assert abistore("ingest", built, "--version", version, "--revision", revision).code == 0
    done = gating(other, "--merge-base", REVISION[:12], "--introduced-only")
    assert (done.code, f"several revisions begin with {REVISION[:12]}" in done.out + done.err) == (4, True)
    assert gating(other, "--merge-base", REVISION, "--introduced-only").code == 4
    assert gating(other, "--merge-base", REVISION[:12] + "0" * 28, "--introduced-only").code == 0


def test_a_first_build_for_a_target_says_which_targets_have_a_baseline(
    gating: Gating, new: Path, tmp_path: Path
) -> None:
    """One byte of its header makes a file one for another system, which nothing was stored for."""
    patched = tmp_path / "other" / new.name
    patched.parent.mkdir()
    patched.write_bytes(new.read_bytes()[:7] + b"\x09" + new.read_bytes()[8:])
    done = gating(patched, "--bootstrap")
    assert (done.code, "(target elf-x86_64-64-little has one)" in done.out) == (0, True)


def test_an_unknown_merge_base_is_told_and_lets_nothing_pass(gating: Gating, new: Path) -> None:
    done = gating(new, "--merge-base", REVISION, "--introduced-only")
    assert done.code == 4
    assert f"new and existing breaks cannot be separated: libcase: no build of the merge base {REVISION}" in done.err


def test_a_candidate_of_the_main_branch_is_a_merge_base(gating: Gating, abistore: Call) -> None:
    base = build_library(WITHOUT_GONE)
    kept = ("--against", "baseline", "--keep-failed", "--revision", REVISION)
    assert abistore("ingest", base, "--version", "1.1", *kept).code == 4
    done = gating(base, "--merge-base", REVISION, "--introduced-only", "--json")
    assert (done.code, done.json["files"][0]["merge_base"]) == (0, "libcase@candidate:1.1")


def test_without_a_baseline_the_first_build_says_so(abistore: Call, old: Path) -> None:
    assert abistore("ingest", old, "--version", "1.0").code == 0
    done = abistore("gate", old, "--version", "1.1")
    assert (done.code, "no baseline" in done.err) == (67, True)
    assert "for the first of its line: --bootstrap" in done.err
    said = "is the first release of its line: there is no previous release; not judged: no baseline precedes it"
    first = abistore("gate", old, "--version", "1.1", "--bootstrap")
    assert (first.code, said in first.out) == (0, True)
    assert said in abistore("gate", old, "--version", "1.1", "--bootstrap", "--format", "markdown").out
    sarif = abistore("gate", old, "--version", "1.1", "--bootstrap", "--format", "sarif")
    assert (sarif.out, said in sarif.err) == ("", True)


@pytest.mark.usefixtures("gating")
def test_a_label_that_declares_the_break_already_is_not_asked_for(abistore: Call, new: Path) -> None:
    done = abistore("gate", new, "--version", "2.0")
    assert done.code == 4
    assert "  - bump the SONAME\n" in done.out


def test_a_baseline_that_was_lost_is_no_first_build(gating: Gating, abistore: Call, new: Path) -> None:
    typed = gating(new, "--channel", "relase", "--bootstrap")
    assert (typed.code, "release was set to 1.0" in typed.err) == (67, True)
    assert "gate against --channel release" in typed.err
    assert abistore("db", "baseline", "clear", "libcase").code == 0
    done = gating(new, "--bootstrap", "--json")
    assert (done.code, done.error["code"]) == (67, "baseline-lost")
    assert "abistore db baseline set libcase@1.0 --channel release" in done.error["hint"]
    assert gating(new, "--profile", "debug", "--bootstrap").code == 0
    assert abistore("db", "baseline", "set", "libcase@1.0").code == 0
    first = gating(new, "--profile", "debug", "--bootstrap")
    assert (first.code, "no baseline precedes it (profile default has one)" in first.out) == (0, True)
    other = gating(new, "--profile", "debug")
    assert (other.code, other.err.rstrip().endswith("for the first of its line: --bootstrap")) == (67, True)


def test_missing_evidence_fails_and_names_the_next_step(gating: Gating) -> None:
    done = gating(build_library(OLD, flags=("-O1", "-s")))
    assert (done.code, "error: " in done.err) == (72, True)


def test_a_build_without_a_version_is_told_once_and_named_once(gating: Gating, abistore: Call, new: Path) -> None:
    done = abistore("gate", new)
    assert (done.code, done.out) == (64, "")
    assert done.err.splitlines() == [
        f"error: {new}: no version given",
        "hint: pass --version, or --version-from filename, folder or soname",
    ]
    told = abistore("gate", new, "--json").json["files"][0]["sentence"]
    assert told == f"{new}: no version given"


def test_a_gate_takes_the_version_from_a_folder_as_an_ingest_does(
    gating: Gating, abistore: Call, tmp_path: Path
) -> None:
    build = tmp_path / "1.7.0" / "libcase.so"
    build.parent.mkdir()
    build.write_bytes(build_library(ADDED).read_bytes())
    done = abistore("gate", build, "--version-from", "folder")
    assert (done.code, done.out.partition(";")[0]) == (0, "PASS: 1.7.0 does not break 1.0")


def test_reports_of_several_libraries_are_one_file(
    gating: Gating, abistore: Call, old: Path, new: Path, tmp_path: Path
) -> None:
    other = build_library(OLD, soname="libother.so.1")
    assert abistore("ingest", other, "--version", "1.0", "--set-baseline").code == 0
    done = gating(new, other, "-o", tmp_path / "abi.json")
    answer = json.loads((tmp_path / "abi.json").read_text())
    assert (done.code, answer["exit_code"], answer["verdict"], answer["outcome"]) == (4, 4, "BREAKING", "fail")
    assert [one["judged"]["verdict"]["verdict"] for one in answer["data"]["files"]] == ["BREAKING", "NO_CHANGE"]
    assert gating(new, other, "--format", "junit", "-o", tmp_path / "abi.xml").code == 4
    assert int(ElementTree.parse(tmp_path / "abi.xml").getroot().get("failures", "0")) > 0


def test_an_ingest_writes_the_reports_of_several_libraries_as_one_file_too(
    gating: Gating, abistore: Call, old: Path, new: Path, tmp_path: Path
) -> None:
    other = build_library(OLD, soname="libother.so.1")
    words = ("--version", "1.1", "--against", "baseline", "--fail-on", "never")
    assert abistore("ingest", other, "--version", "1.0", "--set-baseline").code == 0
    done = abistore("ingest", new, other, *words, "-o", tmp_path / "abi.json")
    assert done.code == 0 and "stored    libcase 1.1" in done.out
    written = json.loads((tmp_path / "abi.json").read_text())
    assert [one["verdict"]["verdict"] for one in written["data"]["files"]] == ["BREAKING", "NO_CHANGE"]
    printed = abistore("ingest", new, other, *words, "--format", "junit")
    assert int(ElementTree.fromstring(printed.out).get("tests", "0")) > 1


def test_an_ingest_shows_its_report_in_the_mode_that_is_asked_for(gating: Gating, abistore: Call, new: Path) -> None:
    words = ("ingest", new, "--version", "1.1", "--against", "baseline", "--dry-run")
    short, whole = (abistore(*words, *mode).out.splitlines() for mode in (("--mode", "stat"), ()))
    assert [line for line in short if line][1].startswith("libcase 1.0 -> libcase 1.1: BREAKING, 2 breaking")
    assert len(short) < 5 < len(whole)


def test_an_ingest_that_judges_nothing_writes_no_report_and_says_so(abistore: Call, old: Path, tmp_path: Path) -> None:
    done = abistore("ingest", old, "--version", "1.0", "-o", tmp_path / "abi.html")
    assert (done.code, (tmp_path / "abi.html").exists()) == (0, False)
    assert "nothing was judged (--against)" in done.err


def test_github_gets_annotations_and_a_summary(
    gating: Gating, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    done = gating(new, "--github")
    assert done.code == 4 and "::error" in done.out
    assert summary.read_text().startswith("before\n") and "BREAKING" in summary.read_text()


def test_gitlab_gets_a_quality_report(gating: Gating, new: Path, tmp_path: Path) -> None:
    done = gating(new, "--gitlab", tmp_path / "quality.json")
    issues = json.loads((tmp_path / "quality.json").read_text())
    assert done.code == 4
    assert {one["severity"] for one in issues} >= {"blocker"}
    for one in issues:
        assert set(one) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert one["location"]["lines"]["begin"] >= 1 and one["location"]["path"]
    assert len({one["fingerprint"] for one in issues}) == len(issues)


def test_annotations_name_headers_where_the_checkout_has_them(
    abistore: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "include" / "deep").mkdir(parents=True)
    header = tmp_path / "include" / "deep" / "case.h"
    words = ("--header", "include")
    header.write_text("int kept(void);\n")
    old = build_library("int kept(void) { return 1; }\n")
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline", *words).code == 0
    header.write_text("int kept(void);\nint added(void);\n")
    new = build_library("int kept(void) { return 1; }\nint added(void) { return 1; }\n")
    quality, sarif = tmp_path / "quality.json", tmp_path / "abi.sarif"
    said = (*words, "--version", "1.1", "--gitlab", quality, "--format", "sarif", "-o", sarif)
    done = abistore("gate", new, "--github", *said)
    assert "::notice file=include/deep/case.h,line=2," in done.out
    assert [each["location"]["path"] for each in json.loads(quality.read_text())] == ["include/deep/case.h"]
    assert '"include/deep/case.h"' in sarif.read_text()


def test_a_build_with_the_label_of_the_release_is_judged_beside_it(gating: Gating, abistore: Call, new: Path) -> None:
    """A tag is built twice, and no two builds are the same file."""
    again = abistore("gate", build_library(OLD, flags=("-g", "-O2")), "--version", "1.0")
    assert (again.code, "; libcase 1.0 compared with libcase 1.0 (release)" in again.out) == (0, True)
    assert abistore("gate", new, "--version", "1.0").code == 4


def test_the_command_that_accepts_many_breaks_names_each_of_them(abistore: Call) -> None:
    functions = [f"int f{number}(void) {{ return {number}; }}\n" for number in range(9)]
    assert abistore("ingest", build_library("".join(functions)), "--version", "1.0", "--set-baseline").code == 0
    less = build_library(functions[0])
    done = abistore("gate", less, "--version", "1.1")
    (way,) = [line for line in done.out.splitlines() if "approve it: " in line]
    words = way.partition("approve it: abistore ")[2].split()
    words[words.index("WHY")] = "nobody calls them"
    assert abistore(*words).code == 0
    assert abistore("gate", less, "--version", "1.1").code == 0


def test_a_library_without_exports_is_no_first_baseline_unless_told_so(abistore: Call) -> None:
    """Beside it nothing would ever break, and the gate would be one that all pass."""
    silent = build_library('__attribute__((visibility("hidden"))) int area(int x) { return x; }\n')
    first = abistore("ingest", silent, "--version", "1.0", "--set-baseline-if-none")
    assert first.code == 0
    assert "no first baseline (--set-baseline makes it one)" in first.out
    assert abistore("db", "baseline", "list", "--json").json["baselines"] == []
    told = abistore("ingest", silent, "--version", "1.0", "--set-baseline", "--json")
    assert told.json["files"][0]["baseline"] == "release"


def test_a_gate_that_passes_by_a_suppression_or_a_policy_says_so_first(
    gating: Gating, new: Path, tmp_path: Path
) -> None:
    """A pattern that fits everything leaves a verdict without a change, and nobody would look further."""
    known, ours = tmp_path / "known.yaml", tmp_path / "ours.yaml"
    known.write_text('suppressions:\n  - {source_location: "**", reason: all}\n')
    ours.write_text("categories:\n  abi_breaking: {impact: compatible, reason: all}\n")
    lenient = ("--suppress", known, "--no-strict-suppressions")
    suppressed = gating(new, *lenient)
    first, *below = suppressed.out.splitlines()
    assert (suppressed.code, first.rpartition("; ")[2]) == (0, "2 breaks are suppressed by known.yaml")
    assert "Suppressed (3)" in below
    milder = gating(new, "--policy", ours)
    assert (milder.code, "; 2 breaks are no break by policy ours" in milder.out.splitlines()[0]) == (0, True)
    shown = gating(new, *lenient, "--json").json["files"][0]["sentence"]
    assert shown.endswith("2 breaks are suppressed by known.yaml")


def test_a_gate_that_passes_by_a_setting_or_an_approval_says_so_first(
    gating: Gating, abistore: Call, new: Path
) -> None:
    """``fail_on`` may stand in a file that nobody looks at."""
    mild = gating(new, "--fail-on", "never")
    assert (mild.code, "; --fail-on never lets that pass; " in mild.out.splitlines()[0]) == (0, True)
    changes = gating(new, "--json").json["files"][0]["judged"]["verdict"]["changes"]
    ids = [one["id"] for one in changes if one["impact"] in {"breaking", "api_break"}]
    assert abistore("approve", *ids, "--library", "libcase", "--reason", "nobody", "--approver", "ana").code == 0
    first = gating(new).out.splitlines()[0]
    assert first.startswith("PASS: 2 findings approved by ana: nobody; ")


def test_a_first_build_names_the_libraries_that_have_a_baseline(gating: Gating) -> None:
    """A library that got another SONAME begins a line of its own, and is judged beside nothing."""
    renamed = build_library(OLD, soname="libother.so.1", name="libother.so")
    assert gating(renamed).code == 67
    done = gating(renamed, "--bootstrap")
    assert (done.code, "not judged: no baseline precedes it (libcase has one)" in done.out) == (0, True)


def test_a_build_is_no_first_one_under_another_name(gating: Gating, new: Path) -> None:
    """The loader goes by the SONAME, and no misspelled name makes another library of it."""
    done = gating(new, "--library", "libcsae", "--bootstrap")
    assert (done.code, "its SONAME libcase.so.1 is that of libcase@1.0" in done.err) == (67, True)
    assert "--library libcase" in done.err
    assert gating(new, "--library", "libcase-debug", "--profile", "debug", "--bootstrap").code == 0


def test_a_library_for_another_platform_stands_for_none_that_is_gone(abistore: Call, tmp_path: Path) -> None:
    ordinary = ("-g", "-O1")

    def package(version: str, flags: Sequence[str]) -> Path:
        folder = tmp_path / version / "dist"
        folder.mkdir(parents=True)
        for name, by in (("libone.so", ordinary), ("libtwo.so", flags)):
            shutil.copy(build_library(OLD, soname=name, name=name, flags=by), folder)
        return folder

    assert abistore("ingest", package("1.0", ordinary), "--version", "1.0", "--set-baseline").code == 0
    new = package("1.1", NARROW)
    done = abistore("gate", new, "--version", "1.1", "--bootstrap", "--json")
    (file,) = done.json["files"]
    changes = [(one["kind"], one["symbol"]) for one in file["judged"]["verdict"]["changes"]]
    assert (done.code, ("bundle_library_removed", "libtwo") in changes) == (4, True)


def test_a_comment_for_the_pull_request_is_written(gating: Gating, new: Path, tmp_path: Path) -> None:
    page = tmp_path / "comment.md"
    assert gating(new, "--comment", page).code == 4
    text = page.read_text()
    assert text.startswith("## libcase 1.0 → libcase 1.1: BREAKING\n")
    assert "**FAIL: 1.1 breaks 1.0 in 2 places" in text
    assert text.rstrip().endswith(f"All of it: `abistore compare libcase@1.0 {new} --full`.")


def test_a_comment_about_a_break_that_is_approved_says_so_and_one_about_none_is_empty(
    gating: Gating, abistore: Call, new: Path, tmp_path: Path
) -> None:
    page = tmp_path / "comment.md"
    for each in gating(new, "--json").json["files"][0]["judged"]["verdict"]["changes"]:
        abistore("approve", each["id"], "--library", "libcase", "--reason", "nobody calls it")
    assert gating(new, "--comment", page).code == 0
    assert "PASS: 2 findings approved" in page.read_text()
    assert gating(build_library(ADDED), "--comment", page).code == 0
    assert page.read_bytes() == b""
