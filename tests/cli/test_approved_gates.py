"""Gates and approvals: an accepted break is still BREAKING, and passes because somebody accepted it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from abistore.interface import (
    ApprovalPlan,
    Gate,
    IngestPlan,
    WithdrawalPlan,
    approve,
    compare,
    ingest,
    verdict,
    withdraw,
)
from abistore.service import admission
from tests.build import build_library
from tests.cli.conftest import NEW, OLD, Call

WHY = ("--reason", "nobody calls it", "--approver", "ana", "--ticket", "LIB-7")
LONG = NEW.replace("int x, y, z;", "int x, y; long z;")


@pytest.fixture
def released(abistore: Call, old: Path) -> Call:
    """A library with a first release, at which both channels stand."""
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    assert abistore("db", "baseline", "set", "libcase@1.0", "--channel", "main").code == 0
    return abistore


Ids = Callable[..., list[str]]


@pytest.fixture
def failing(released: Call) -> Ids:
    """The identities of the findings that fail a gate."""

    def found(library: Path, *words: str) -> list[str]:
        done = released("ingest", library, "--version", "2.0", "--against", "baseline", *words, "--dry-run", "--json")
        changes = done.json["files"][0]["verdict"]["changes"]
        return [one["id"] for one in changes if one["impact"] in {"breaking", "api_break"}]

    return found


def gate(call: Call, library: Path, *words: str) -> tuple[int, dict[str, Any]]:
    done = call("ingest", library, "--version", "2.0", "--against", "baseline", *words, "--json")
    return done.code, done.json["files"][0]


def test_a_gate_passes_when_all_that_fails_it_is_approved_and_the_verdict_stays(
    released: Call, failing: Ids, new: Path
) -> None:
    first, *others = failing(new)
    assert others
    released("approve", first, "--library", "libcase", *WHY)
    code, file = gate(released, new)
    decision = file["verdict"]["decision"]
    assert (code, file["status"], decision["outcome"], len(decision["waivers"])) == (4, "refused", "fail", 1)
    released("approve", *others, "--library", "libcase", *WHY, "--until", "2.0")
    code, file = gate(released, new)
    said = file["verdict"]
    assert (code, file["status"], said["verdict"], said["exit_code"]) == (0, "stored", "BREAKING", 0)
    assert len(said["decision"]["waivers"]) == 1 + len(others)
    assert "by ana (LIB-7): nobody calls it" in said["decision"]["headline"]
    assert "by ana up to 2.0 (LIB-7): nobody calls it" in said["decision"]["headline"]
    assert said["summary"]["breaking"] > 0
    assert {one["approved"]["approver"] for one in said["changes"] if one["id"] in (first, *others)} == {"ana"}


def test_every_command_that_judges_a_stored_release_asks_the_ledger(released: Call, failing: Ids, new: Path) -> None:
    ids = failing(new)
    commands = [("compare", "libcase@baseline", new), ("compare", "libcase@1.0", "libcase@2.0")]
    commands += [("verdict", "libcase@2.0"), ("verdict", "libcase@2.0", "--against", "baseline")]
    assert released("ingest", new, "--version", "2.0").code == 0
    assert [released(*words).code for words in commands] == [4] * 4
    released("approve", *ids, "--library", "libcase", *WHY)
    for words in commands:
        done = released(*words)
        assert (done.code, "BREAKING" in done.out) == (0, True), words
        assert f"PASS: {len(ids)} findings approved by ana (LIB-7): nobody calls it" in " ".join(done.out.split())
    assert released("verdict", "libcase@2.0", "--fail-on", "never").out.count("PASS: 2 findings approved") == 0
    released("approve", "withdraw", ids[0], "--reason", "used after all")
    assert [released(*words).code for words in commands] == [4] * 4


def test_two_files_are_compared_without_a_ledger(released: Call, failing: Ids, old: Path, new: Path) -> None:
    released("approve", *failing(new), "--library", "libcase", *WHY)
    done = released("compare", old, new, "--json")
    assert (done.code, done.json["decision"]["waivers"]) == (4, [])


@pytest.mark.usefixtures("either_database")
def test_an_approval_is_void_when_the_facts_change_and_the_report_says_so(
    released: Call, failing: Ids, new: Path
) -> None:
    ids = failing(new)
    assert released("ingest", new, "--version", "2.0").code == 0
    assert released("verdict", "libcase@2.0").code == 4
    released("approve", *ids, *WHY)
    longer = build_library(LONG)
    assert released("ingest", longer, "--version", "2.1").code == 0
    done = released("verdict", "libcase@2.1", "--against", "1.0", "--json")
    changed = [one for one in done.json["changes"] if one["unapproved"]]
    assert (done.code, bool(changed)) == (4, True)
    text = " ".join(released("verdict", "libcase@2.1", "--against", "1.0").out.split())
    for one in changed:
        assert one["unapproved"].startswith("approved on ")
        assert "by ana; it is `" in one["unapproved"]
        assert one["unapproved"].endswith(" now: approve again")
        assert one["unapproved"] in text


@pytest.mark.parametrize(
    ("terms", "passing", "lapsed"),
    [
        (("--until", "2.0"), {"2.0-rc1", "1.9", "2.0"}, {"2.0.1", "2.1", "3"}),
        (("--until", "soname:libcase.so.1"), {"2.0"}, set()),
        (("--until", "soname:libcase.so.2"), set(), {"2.0"}),
        (("--scope", "release:2.0"), {"2.0"}, {"2.0.1", "1.9"}),
    ],
)
def test_an_approval_holds_where_and_until_when_it_says(
    released: Call, failing: Ids, terms: tuple[str, ...], passing: set[str], lapsed: set[str]
) -> None:
    library = build_library(NEW)
    done = released(
        "ingest", library, "--version", "2", "--library", "libcase", "--against", "1.0", "--dry-run", "--json"
    )
    ids = [one["id"] for one in done.json["files"][0]["verdict"]["changes"] if one["impact"] == "breaking"]
    released("approve", *ids, "--library", "libcase", *WHY, *terms)
    for version in passing | lapsed:
        words = ("--version", version, "--library", "libcase", "--against", "1.0", "--fail-on", "breaking", "--dry-run")
        done = released("ingest", library, *words, "--json")
        assert (version, done.code) == (version, 0 if version in passing else 4)
        if version in lapsed:
            assert any(one["unapproved"] for one in done.json["files"][0]["verdict"]["changes"])


def test_a_day_is_the_last_one_on_which_an_approval_holds(
    released: Call, failing: Ids, new: Path, database: Path
) -> None:
    ids = failing(new)
    plan = ApprovalPlan("soon mended", approver="ana", until="2026-05-31", library="libcase", today=date(2026, 5, 1))
    approve(ids, plan, database=database)
    for day, code in ((date(2026, 5, 31), 0), (date(2026, 6, 1), 4)):
        tried = IngestPlan(version="2.0", dry_run=True, gate=Gate("baseline", today=day))
        assert ingest(new, tried, database=database)[0].exit_code == code
        assert compare("libcase@1.0", new, database=database, today=day).exit_code == code
    assert ingest(new, IngestPlan(version="2.0"), database=database)[0].exit_code == 0
    found = verdict("libcase@2.0", database=database, today=date(2026, 6, 1)).report
    assert found.exit_code == 4
    assert "no longer approved: by ana on elf-x86_64-64-little until 2026-05-31, which has expired" in {
        one.unapproved for one in found.changes
    }


def test_what_is_approved_for_a_branch_passes_its_channel_alone(released: Call, failing: Ids, new: Path) -> None:
    released("approve", *failing(new), "--library", "libcase", *WHY, "--scope", "branch:main")
    tried = {
        against: released("ingest", new, "--version", "2.0", "--against", against, "--dry-run").code
        for against in ("baseline:main", "baseline", "prev", "1.0")
    }
    assert tried == {"baseline:main": 0, "baseline": 4, "prev": 4, "1.0": 4}


def test_an_approval_hides_no_missing_evidence(released: Call, failing: Ids) -> None:
    stripped = build_library(NEW, flags=("-O1", "-s"))
    ids = failing(stripped, "--require", "none")
    released("approve", *ids, "--library", "libcase", *WHY)
    assert gate(released, stripped)[0] == 72
    assert gate(released, stripped, "--require", "none")[0] == 0


@pytest.mark.usefixtures("either_database")
def test_what_is_withdrawn_while_a_build_is_judged_does_not_let_it_pass(
    released: Call, failing: Ids, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = failing(new)
    approve(ids, ApprovalPlan("x", approver="ana", library="libcase"))
    judging = admission.concluded

    def withdrawn(*words: Any) -> Any:
        found = judging(*words)
        withdraw(ids, WithdrawalPlan("used after all"))
        return found

    monkeypatch.setattr(admission, "concluded", withdrawn)
    done = ingest(new, IngestPlan(version="2.0", gate=Gate("baseline")))[0]
    assert (done.exit_code, done.status) == (4, "refused")


@pytest.mark.usefixtures("either_database")
def test_an_approval_of_another_library_lets_nothing_pass(released: Call, failing: Ids, old: Path, new: Path) -> None:
    ids = failing(new)
    released("ingest", old, "--library", "libother", "--version", "1.0", "--set-baseline")
    released("approve", *ids, "--library", "libother", *WHY)
    assert gate(released, new)[0] == 4
    other = released("ingest", new, "--library", "libother", "--version", "2.0", "--against", "baseline", "--dry-run")
    assert other.code == 0


def test_a_source_break_that_nobody_approved_gives_its_own_exit_code(released: Call, failing: Ids, new: Path) -> None:
    ids = failing(new)
    found = released("ingest", new, "--version", "2.0", "--against", "1.0", "--dry-run", "--json").json["files"][0]
    breaking = [one["id"] for one in found["verdict"]["changes"] if one["impact"] == "breaking"]
    released("approve", *breaking, "--library", "libcase", *WHY)
    assert gate(released, new)[0] == (0 if ids == breaking else 2)


def test_an_approval_that_meets_nothing_is_told_where_more_is_asked(released: Call, old: Path, added: Path) -> None:
    released("approve", "0" * 20, "--library", "libcase", *WHY)
    code, file = gate(released, added)
    assert (code, file["verdict"]["notes"], file["verdict"]["unmet_approvals"]) == (0, [], ["0" * 20])
    words = ("gate", added, "--version", "1.1")
    for more in ((), ("--format", "markdown"), ("--github",)):
        assert "not apply" not in "".join(released(*words, *more).out)
    assert "1 approval does not apply to this comparison" in released("-v", *words).out


@pytest.mark.parametrize("format", ["text", "json", "sarif", "junit", "markdown", "html", "github"])
def test_every_format_names_who_approved_why_and_until_when(
    released: Call, failing: Ids, new: Path, format: str
) -> None:
    released("approve", *failing(new), "--library", "libcase", *WHY, "--until", "2999-12-31")
    done = released("compare", "libcase@baseline", new, "--format", format)
    assert done.code == 0
    said = " ".join(done.out.replace("\\-", "-").split())
    for word in ("BREAKING" if format != "html" else "Breaking", "ana", "nobody calls it", "2999-12-31", "LIB-7"):
        assert word in said, word
    if format in {"text", "markdown", "html", "github"}:
        assert "PASS: " in said
    if format == "sarif":
        assert '"justification": "nobody calls it"' in said
    if format == "junit":
        assert 'failures="0"' in said.partition("<testsuite ")[0]
    if format == "github":
        assert "::error" not in said


def test_a_review_is_shown_by_reports_and_moves_nothing(released: Call, new: Path) -> None:
    assert released("ingest", new, "--version", "2.0").code == 0
    found = released("verdict", "libcase@2.0", "--json").json["changes"][0]["id"]
    released("approve", "note", found, "to be mended", "--state", "defect", "--actor", "ben")
    done = released("verdict", "libcase@2.0")
    assert (done.code, "review: defect by ben: to be mended" in done.out) == (4, True)


def test_a_history_marks_what_is_approved_and_names_who_accepted_it(released: Call, failing: Ids, new: Path) -> None:
    first, *others = failing(new)
    assert released("ingest", new, "--version", "2.0").code == 0
    assert released("history", "libcase", "--json").json["histories"][0]["rows"][1]["decision"]["waivers"] == []
    released("approve", first, *WHY)
    assert "2.0 compared with 1.0: fail, 1 finding approved" in released("history", "libcase").out
    assert "1 waived" in released("verdict", "--all-baselines", "libcase@2.0").out
    released("approve", *others, *WHY, "--scope", "branch")
    row = released("history", "libcase", "--json").json["histories"][0]["rows"][1]
    assert (row["verdict"], row["decision"]["outcome"]) == ("BREAKING", "fail")
    assert [one["code"] for one in row["decision"]["reasons"]] == ["breaking", "waived", "waiver-void"]
    assert (row["baseline_decision"]["outcome"], len(row["baseline_decision"]["waivers"])) == ("pass", 2)
    text = released("history", "libcase").out
    assert re.search(r"BREAKING +fail, 1 waived +BREAKING, waived", text)
    assert "2.0 compared with 1.0: PASS: 1 finding approved by ana (LIB-7): nobody calls it" in text
    first_row = released("history", "libcase", "--channel", "main", "--json").json["histories"][0]["rows"][1]
    assert first_row["baseline_decision"]["outcome"] == "fail"


def test_each_library_of_a_release_needs_its_own_approval(abistore: Call, tmp_path: Path) -> None:
    for folder, source in (("1.0", OLD), ("2.0", NEW)):
        (tmp_path / folder).mkdir()
        for name in ("libone.so", "libtwo.so"):
            shutil.copy(build_library(source, soname=name, name=name), tmp_path / folder / name)
    assert abistore("ingest", tmp_path / "1.0", "--version", "1.0", "--set-baseline").code == 0
    words = ("ingest", tmp_path / "2.0", "--version", "2.0", "--against", "baseline", "--json")
    refused = abistore(*words)
    changes = refused.json["files"][0]["verdict"]["changes"]
    assert refused.code == 4
    ids = {one["id"] for one in changes if one["impact"] == "breaking" and one["symbol"] not in {"libone", "libtwo"}}
    assert abistore("approve", *ids, "--library", "libone", *WHY).code == 0
    half = abistore(*words)
    assert (half.code, half.json["files"][0]["verdict"]["decision"]["outcome"]) == (4, "fail")
    assert abistore("approve", *ids, "--library", "libtwo", *WHY).code == 0
    passed = abistore(*words)
    said = passed.json["files"][0]["verdict"]
    assert (passed.code, said["verdict"], said["decision"]["reasons"][0]["code"]) == (0, "BREAKING", "waived")
    assert {one["status"] for one in passed.json["files"][0]["members"]} == {"stored"}


def test_a_library_that_is_gone_is_approved_in_its_own_ledger(abistore: Call, tmp_path: Path) -> None:
    for folder, names in (("1.0", ("libone.so", "libtwo.so")), ("2.0", ("libone.so",))):
        (tmp_path / folder).mkdir()
        for name in names:
            shutil.copy(build_library(OLD, soname=name, name=name), tmp_path / folder / name)
    assert abistore("ingest", tmp_path / "1.0", "--version", "1.0", "--set-baseline").code == 0
    words = ("ingest", tmp_path / "2.0", "--version", "2.0", "--against", "baseline", "--json")
    gone = [one["id"] for one in abistore(*words).json["files"][0]["verdict"]["changes"]]
    abistore("approve", *gone, "--library", "libone", *WHY)
    assert abistore(*words).code == 4
    abistore("approve", *gone, "--library", "libtwo", *WHY)
    assert abistore(*words).code == 0


def test_a_release_that_may_break_names_who_accepted_its_breaks_too(released: Call, failing: Ids, new: Path) -> None:
    bumped = build_library(NEW, soname="libcase.so.2")
    released("approve", *failing(new), "--library", "libcase", *WHY)
    assert released("ingest", bumped, "--version", "2.0", "--library", "libcase").code == 0
    done = released("verdict", "libcase@2.0")
    said = " ".join(done.out.split())
    assert (done.code, "libcase.so.2" in said) == (0, True)
    assert "by ana (LIB-7): nobody calls it" in said
    assert "fails the gate" not in said


def test_history_and_statement_call_no_release_refused_that_ships_by_approval(
    released: Call, failing: Ids, new: Path
) -> None:
    ids = failing(new)
    assert released("ingest", new, "--version", "1.1").code == 0
    assert "! incompatible, and not allowed by this line's versioning: 1.1" in released("history", "libcase").out
    assert released("approve", *ids, "--library", "libcase", *WHY, "--scope", "branch:release").code == 0
    assert "not allowed" not in released("history", "libcase").out
    statement = released("verdict", "--statement", "libcase").out
    assert "libcase 1.1: BREAKING, outcome pass" in statement
    assert statement.startswith("PASS: 2 findings approved by ana for branch release")
    assert "Accepted: 2 findings" in statement
    assert "not allowed" not in statement
    assert "pass, waived" in statement


def versioned(names: str, node: str) -> Path:
    """A library that exports some functions in one version node, and ``stays`` in the first one."""
    listed, first = names.split(), "stays"
    source = "".join(f"int {each}(int x) {{ return x; }}\n" for each in (*listed, first))
    nodes = {"N_70": [first], f"N{node}": []}
    nodes[f"N{node}"] += listed
    script = " ".join(f"{name} {{ global: {'; '.join(given)}; }};" for name, given in nodes.items())
    return build_library(source, flags=("-g", "-Wl,--version-script=map"), files={"map": script})


def suffixed(names: str, suffix: str) -> Path:
    return build_library("".join(f"int u_{each}{suffix}(int x) {{ return x; }}\n" for each in names.split()))


FOUR = "alpha beta gamma delta"
FIVE = "alpha beta gamma delta zeta"


@pytest.mark.usefixtures("either_database")
@pytest.mark.parametrize(
    ("kind", "built"), [("symbol_renamed_batch", suffixed), ("symbol_moved_version_node.many", versioned)]
)
def test_what_is_approved_of_many_exports_approves_no_other_export(
    abistore: Call, kind: str, built: Callable[[str, str], Path]
) -> None:
    """Only the first of them are shown; the others are part of what is approved all the same."""
    for version, names in (("1.0", FOUR), ("1.1", FIVE)):
        words = ("--library", "libcase", "--version", version, "--set-baseline")
        assert abistore("ingest", built(names, "_70"), *words).code == 0
    gating = ("--library", "libcase", "--version", "2.0", "--against")

    def failing(names: str, old: str) -> dict[str, str]:
        done = abistore("ingest", built(names, "_71"), *gating, old, "--dry-run", "--json")
        changes = done.json["files"][0]["verdict"]["changes"]
        return {one["kind"]: one["id"] for one in changes if one["impact"] == "breaking"}

    first = failing(FOUR, "1.0")
    assert kind in first
    assert abistore("approve", *first.values(), "--library", "libcase", *WHY).code == 0
    assert abistore("ingest", built(FOUR, "_71"), *gating, "1.0", "--dry-run").code == 0
    assert failing(FIVE, "1.1")[kind] != first[kind]
    assert abistore("ingest", built(FIVE, "_71"), *gating, "1.1", "--dry-run").code == 4


def test_what_is_approved_of_many_undeclared_exports_approves_no_other(abistore: Call, tmp_path: Path) -> None:
    """A risk fails where it is asked for, and then its approval is for these exports, too."""
    (tmp_path / "api.h").write_text('#include "inside.h"\nint stays(int);\n')
    (tmp_path / "inside.h").write_text("".join(f"int {each}(int);\n" for each in FIVE.split()))
    options = ("--library", "libcase", "--header", tmp_path / "api.h")
    stays = "int stays(int x) { return x; }\n"
    for version, names in (("1.0", FOUR), ("1.1", FIVE)):
        source = "".join(f"int {each}(int x) {{ return x; }}\n" for each in names.split())
        words = (*options, "--version", version, "--set-baseline")
        assert abistore("ingest", build_library(f"{source}{stays}"), *words).code == 0
    gating = (
        "ingest",
        build_library(stays),
        *options,
        "--version",
        "2.0",
        "--fail-on",
        "risk",
        "--dry-run",
        "--against",
    )
    changes = abistore(*gating, "1.0", "--json").json["files"][0]["verdict"]["changes"]
    failing = {one["kind"]: one["id"] for one in changes if one["impact"] == "risk"}
    assert "symbols_removed.private" in failing
    assert abistore("approve", *failing.values(), "--library", "libcase", *WHY).code == 0
    assert [abistore(*gating, version).code for version in ("1.0", "1.1")] == [0, 2]
