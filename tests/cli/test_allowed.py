"""A release that may break passes and says why; one that may not says what to call it. The verdict stays BREAKING."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.build import build_library
from tests.cli.conftest import Call, Done

OLD = "int one(void) { return 1; }\nint two(void) { return 2; }\nint three(void) { return 3; }\n"
GONE = "int one(void) { return 1; }\n"
MORE = OLD + "int four(void) { return 4; }\n"


def built(source: str, soname: str | None) -> Path:
    return build_library(source, soname=soname)


@pytest.fixture
def based(abistore: Call) -> Call:
    done = abistore("ingest", built(OLD, "libfoo.so.1"), "--library", "libfoo", "--version", "1.9.4", "--set-baseline")
    assert done.code == 0
    return abistore


def ingest(call: Call, version: str, soname: str | None, *words: str, source: str = GONE) -> Done:
    library = ("--library", "libfoo", "--version", version, "--against", "prev")
    return call("ingest", built(source, soname), *library, *words)


def test_a_major_release_with_a_bumped_soname_passes_and_is_still_breaking(based: Call) -> None:
    done = ingest(based, "2.0.0", "libfoo.so.2")
    assert done.code == 0
    assert "BREAKING" in done.out
    told = " ".join(done.out.split())
    assert (
        "2.0.0 removes 2 functions; this is allowed: SONAME changed from .1 to .2, and its version declares it" in told
    )
    assert based("verdict", "libfoo@2.0.0").code == 0
    assert based("verdict", "libfoo@2.0.0", "--allow", "never").code == 4


def listed(call: Call, version: str) -> list[tuple[str, str]]:
    """The findings of a release that are not about its functions, and the counts of the verdict."""
    told = call("verdict", f"libfoo@{version}", "--json").json
    counts = [(name, str(told["summary"][name])) for name in ("risk_changes", "compatible")]
    return [(each["kind"], each["impact"]) for each in told["changes"] if each["subject"] == "library"] + counts


def test_a_bump_is_a_risk_where_no_break_needs_it(based: Call) -> None:
    ingest(based, "2.0.0", "libfoo.so.2")
    assert listed(based, "2.0.0") == [("soname_changed", "compatible"), ("risk_changes", "0"), ("compatible", "1")]
    told = based("verdict", "libfoo@2.0.0").out
    assert "Risks" not in told and "the breaks need this bump" in told
    assert "Advice" not in told and "To pass" not in told
    ingest(based, "3.0.0", "libfoo.so.3")
    assert listed(based, "3.0.0") == [("soname_changed", "risk"), ("risk_changes", "1"), ("compatible", "0")]


def test_nobody_is_advised_to_undo_what_is_approved(based: Call) -> None:
    ingest(based, "1.10.0", "libfoo.so.1", "--keep-failed")
    ingest(based, "1.10.0", "libfoo.so.1", "--fail-on", "never")
    assert "Advice" in based("verdict", "libfoo@1.10.0").out
    breaks = [each["id"] for each in based("verdict", "libfoo@1.10.0", "--json").json["changes"]]
    based("approve", *breaks, "--reason", "nobody calls them", "--approver", "ana")
    told = based("verdict", "libfoo@1.10.0")
    assert told.code == 0
    assert told.out.splitlines()[1].startswith("  PASS: 2 findings approved by ana")
    assert not [word for word in ("Advice", "bump", "restore", "To pass") if word in told.out]


def test_a_minor_release_that_breaks_fails_and_is_told_what_to_do(based: Call) -> None:
    done = ingest(based, "1.10.0", "libfoo.so.1")
    assert done.code == 4
    told = " ".join(done.out.split())
    assert "removes 2 functions under the same SONAME: release it as 2.0.0 and bump the SONAME, or restore them" in told


@pytest.mark.parametrize(
    ("version", "soname"),
    [
        ("2.0.0", "libfoo.so.1"),
        ("2.0.0", "libbar.so.2"),
        ("2.0.0", "libfoo.so"),
        ("2.0.0", None),
        ("2.0.0", "libfoo.so.0"),
        ("2.0.0-rc1", "libfoo.so.1"),
        ("1:0.5", "libfoo.so.1"),
        ("2024.10", "libfoo.so.1"),
        ("nightly-7", "libfoo.so.1"),
    ],
)
def test_no_label_and_no_other_name_leads_around_the_gate(based: Call, version: str, soname: str | None) -> None:
    assert ingest(based, version, soname).code == 4


def test_a_declared_scheme_asks_for_the_label_too(based: Call) -> None:
    assert based("db", "scheme", "libfoo", "semver").code == 0
    minor = ingest(based, "1.10.0", "libfoo.so.2")
    assert (minor.code, "release it as 2.0.0" in minor.out) == (4, True)
    assert ingest(based, "2.0.0", "libfoo.so.2").code == 0


def test_a_rule_may_look_at_the_label_or_the_soname_alone(based: Call) -> None:
    assert ingest(based, "1.10.0", "libfoo.so.2", "--allow", "major", "--dry-run").code == 4
    assert ingest(based, "2.0.0", "libfoo.so.1", "--allow", "breaking-on-soname-bump", "--dry-run").code == 4
    assert ingest(based, "2.0.0", "libfoo.so.1", "--allow", "major").code == 0


def test_a_library_replaced_under_its_label_may_not_break(based: Call) -> None:
    replaced = based(
        "ingest", built(GONE, "libfoo.so.2"), "--library", "libfoo", "--version", "1.9.4", "--replace",
        "--replace-baseline", "rebuilt", "--against", "baseline",
    )  # fmt: skip
    assert replaced.code == 4


def test_comparing_files_keeps_the_code_of_the_verdict_unless_a_rule_is_given(abistore: Call) -> None:
    sides = built(OLD, "libfoo.so.1"), built(GONE, "libfoo.so.2")
    plain = abistore("compare", *sides)
    assert (plain.code, "SONAME changed from .1 to .2" in " ".join(plain.out.split())) == (4, True)
    assert abistore("compare", *sides, "--allow", "scheme").code == 0
    assert abistore("compare", *sides, "--allow", "major").code == 4


def test_a_bump_without_need_and_a_small_label_are_told(based: Call) -> None:
    bumped = ingest(based, "2.0.0", "libfoo.so.2", "--dry-run", source=OLD)
    assert bumped.code == 0
    assert "2.0.0 does not break 1.9.4, but SONAME changed from .1 to .2" in " ".join(bumped.out.split())
    small = ingest(based, "1.9.5", "libfoo.so.1", source=MORE)
    assert (small.code, "release it as 1.10.0, a minor release" in small.out) == (0, True)


def test_builds_between_releases_are_told_what_the_next_release_must_be(based: Call) -> None:
    done = ingest(based, "1.9.4-14-g126bde0", "libfoo.so.1")
    assert (done.code, "the next release must be 2.0.0" in " ".join(done.out.split())) == (4, True)


def test_a_build_between_releases_that_changes_nothing_asks_nothing_of_the_next_one(based: Call) -> None:
    ingest(based, "1.9.4-1-gabc1234", "libfoo.so.1", source=OLD)
    said = based("history", "libfoo").out
    assert "pending: 1.9.4-1-gabc1234 does not break 1.9.4\n" in said
    assert "the next release must be" not in said


def test_history_says_what_the_builds_after_the_last_release_ask_of_the_next_one(based: Call) -> None:
    ingest(based, "1.9.4-1-gabc1234", "libfoo.so.1", source=MORE)
    added = "1.9.4-1-gabc1234 does not break 1.9.4, and adds to it: the next release must be 1.10.0, a minor release"
    assert f"pending: {added}" in based("history", "libfoo").out
    ingest(based, "1.9.4-2-gabc1235", "libfoo.so.1", "--fail-on", "never")
    ingest(based, "1.9.4-3-gabc1236", "libfoo.so.1")
    said = "1.9.4-3-gabc1236 removes 2 functions under the same SONAME: the next release must be 2.0.0 and"
    (found,) = based("history", "libfoo", "--json").json["histories"]
    assert found["pending"].startswith(said)  # though the last step changes nothing
    for form in ("markdown", "html"):
        assert "the next release must be 2.0.0" in based("history", "libfoo", "--format", form).out
    ingest(based, "2.0.0", "libfoo.so.2", "--allow", "scheme")
    assert "pending" not in based("history", "libfoo").out


def test_known_programs_are_told_that_have_to_be_built_again_without_need(based: Call) -> None:
    old = built(OLD, "libfoo.so.1")
    for name in ("archiver", "browser", "compiler", "debugger"):
        program = build_library(
            f"int one(void);\nint {name}(void) {{ return one(); }}\n", flags=("-g", f"-Wl,--no-as-needed,{old}")
        )
        assert based("consumers", "add", program, "--name", name).code == 0
    done = ingest(based, "1.9.5", "libfoo.so.2", source=OLD)
    told = " ".join(done.out.split())
    assert "every program must be rebuilt, 4 known ones among them (archiver, browser, compiler and 1 more); if" in told
    assert "4 known ones among them" in " ".join(based("verdict", "--statement", "libfoo@1.9.5").out.split())
    assert "4 known ones among them" in " ".join(based("verdict", "libfoo@1.9.5").out.split())


def test_every_report_says_why_the_gate_passed(based: Call) -> None:
    assert ingest(based, "2.0.0", "libfoo.so.2").code == 0
    bump = based("verdict", "libfoo@2.0.0", "--json").json["decision"]["promise"]
    assert (bump["required"], bump["declared"], bump["allowed"], bump["reason"]) == (
        "major",
        "major",
        True,
        "soname-and-label",
    )
    for form in ("markdown", "html", "sarif", "junit", "github"):
        told = based("verdict", "libfoo@2.0.0", "--format", form)
        assert told.code == 0
        assert "this is allowed: SONAME changed from .1 to .2" in " ".join(told.out.split()), form
    suites = ElementTree.fromstring(based("verdict", "libfoo@2.0.0", "--format", "junit").out)
    assert suites.get("failures") == "0"
    assert "BREAKING, allowed, " in based("verdict", "libfoo@2.0.0", "--mode", "stat").out


def test_missing_evidence_fails_a_release_that_may_break(based: Call) -> None:
    stripped = build_library(GONE, flags=("-O1",), soname="libfoo.so.2")
    words = ("--library", "libfoo", "--version", "2.0.0", "--against", "prev")
    assert based("ingest", stripped, *words).code == 72


def test_one_library_of_a_package_that_may_not_break_fails_it_whole(abistore: Call, tmp_path: Path) -> None:
    for folder, first, second in (("old", "liba.so.1", "libb.so.1"), ("kept", "liba.so.2", "libb.so.1")):
        (tmp_path / folder).mkdir()
        source = OLD if folder == "old" else GONE
        for name in (first, second):
            (tmp_path / folder / name).write_bytes(built(source, name).read_bytes())
    done = abistore("compare", tmp_path / "old", tmp_path / "kept", "--allow", "scheme")
    assert done.code == 4
    (tmp_path / "kept" / "libb.so.1").unlink()
    (tmp_path / "kept" / "libb.so.2").write_bytes(built(GONE, "libb.so.2").read_bytes())
    done = abistore("compare", tmp_path / "old", tmp_path / "kept", "--allow", "scheme")
    assert done.code == 0


def test_the_projects_file_says_which_releases_may_break(
    based: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "abistore.toml").write_text('allow = "major"\n')
    monkeypatch.chdir(tmp_path)
    assert ingest(based, "1.10.0", "libfoo.so.2", "--dry-run").code == 4
    assert ingest(based, "1.10.0", "libfoo.so.2", "--dry-run", "--allow", "scheme").code == 0
    assert ingest(based, "2.0.0", "libfoo.so.1").code == 0
    assert based("verdict", "libfoo@2.0.0").code == 0
    assert based("verdict", "libfoo@2.0.0", "--allow", "breaking-on-soname-bump").code == 4


def test_a_named_file_decides_for_the_gate_that_reads_its_headers(based: Call, tmp_path: Path) -> None:
    file = tmp_path / "strict.toml"
    file.write_text('allow = "never"\n')
    assert ingest(based, "2.0.0", "libfoo.so.2", "--dry-run", "--config", str(file)).code == 4
    assert ingest(based, "2.0.0", "libfoo.so.2", "--dry-run").code == 0


def test_a_rule_that_there_is_not_is_refused_in_the_projects_file(based: Call, tmp_path: Path) -> None:
    file = tmp_path / "abistore.toml"
    file.write_text('allow = "majors"\n')
    done = ingest(based, "2.0.0", "libfoo.so.2", "--dry-run", "--config", str(file))
    assert (done.code, "$.allow" in done.err) == (64, True)
    assert "breaking-on-soname-bump" in done.err


def test_two_files_are_judged_by_their_verdict_whatever_the_project_allows(
    based: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "abistore.toml").write_text('allow = "breaking-on-soname-bump"\n')
    monkeypatch.chdir(tmp_path)
    assert based("compare", built(OLD, "libfoo.so.1"), built(GONE, "libfoo.so.2")).code == 4
