"""Accepted breaks: approved by a person for a reason, listed with what has become of them, and withdrawn."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from abistore.interface import ApprovalPlan, approvals, approve, open_store
from abistore.report.plain import plain
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast

HERE = "elf-x86_64-64-little"


@pytest.fixture
def judged(abistore: Call, old: Path, new: Path) -> Call:
    for library, version in ((old, "1.0"), (new, "2.0")):
        assert abistore("ingest", library, "--version", version).code == 0
    assert abistore("verdict", "libcase@2.0").code == 4
    return abistore


def identity(call: Call, kind: str = "func_removed") -> str:
    changes = call("verdict", "libcase@2.0", "--json").json["changes"]
    return next(str(change["id"]) for change in changes if change["kind"] == kind)


def test_a_break_is_approved_by_its_first_digits_and_listed(judged: Call, database: Path) -> None:
    digits = identity(judged)
    words = ("--reason", "nobody calls it", "--ticket", "LIB-7", "--approver", "ana", "--until", "2999-12-31")
    done = judged("approve", digits[:14], *words, "--actor", "ci", "--json").json["approved"][0]
    approval = done["approval"]
    assert (done["changed"], approval["identity"], approval["approver"]) == (True, digits, "ana")
    assert approval["facts"] == {"kind": "func_removed", "subject": "function", "symbol": "gone", "part": ""} | {
        "old_value": approval["facts"]["old_value"],
        "new_value": None,
        "covers": [],
    }
    assert (approval["until"], approval["scope"]) == ("date:2999-12-31", "forever")
    assert (
        judged("approve", digits, *words).out
        == f"libcase {digits}: approved by ana on {HERE} until 2999-12-31 (LIB-7), as before\n"
    )
    listed = judged("approve", "list", "libcase", "--json").json["approvals"]
    assert [(one["state"], one["found_in"]) for one in listed] == [("holds", "1.0 -> 2.0")]
    told = judged("approve", "list").out
    assert "nobody calls it" in told
    assert "every release" in told and "forever" not in told, "an approval that ends does not apply for ever"
    with open_store(database) as store:
        assert json.loads(json.dumps(plain(approvals("libcase", database=store)))) == listed
        again = approve(digits, ApprovalPlan("no", approver="ben", replace=True), database=store)
    assert again[0].changed
    row = judged("db", "audit", "--json").json["audit"][1]
    assert (row["action"], row["actor"], row["detail"]) == (
        "approve",
        "ci",
        f"by ana on {HERE} until 2999-12-31 (LIB-7); nobody calls it",
    )


def test_an_approval_that_lets_nothing_through_is_said_to_be_so(judged: Call) -> None:
    digits = identity(judged)

    def told(*words: str) -> str:
        line = judged("approve", digits, "--reason", "x", "--approver", "ana", "--replace", *words).out.strip()
        line = re.sub("; replaces the approval [^;]*: x", "", line)
        return line.removeprefix(f"libcase {digits}: approved by ana").replace(f" on {HERE}", "")

    assert told("--until", "1.9") == " until 1.9; that has expired for 2.0, which has the finding"
    assert told("--until", "libcase.so.9") == " until libcase.so.9; that has expired for 2.0, which has the finding"
    assert told("--until", "2.0") == " until 2.0"
    assert told("--scope", "release", "--until", "1.9").endswith("; that has expired for 2.0, which has the finding")
    assert told("--scope", "release:3.0", "--until", "3.0") == " for release 3.0 until 3.0"
    assert told("--scope", "branch:maim") == " for branch maim; libcase has no baseline maim yet"
    assert judged("db", "baseline", "set", "libcase@1.0", "--channel", "main", "--reason", "x").code == 0
    assert told("--scope", "branch:main") == " for branch main"


def test_the_ledger_is_asked_for_what_has_become_of_approvals(judged: Call) -> None:
    digits = identity(judged)
    for words in (["--until", "1.9"], ["--scope", "branch:main"], ["--scope", "release"]):
        assert judged("approve", digits, "--reason", "x", *words).code == 0
    judged("approve", "withdraw", digits, "--reason", "y", "--scope", "release:2.0")

    def listed(*states: str) -> list[tuple[str, str]]:
        words = [word for state in states for word in ("--state", state)]
        found = judged("approve", "list", "libcase", *words, "--json").json["approvals"]
        return [(one["state"], one["approval"]["scope"]) for one in found]

    assert listed("expired") == [("expired", "forever")]
    assert listed("holds", "expired") == [("holds", "branch:main"), ("expired", "forever")] == listed()
    assert listed("withdrawn") == [("withdrawn", "release:2.0")]
    assert listed("unused") == []
    assert judged("approve", "list", "--state", "void").code == 64


def test_the_list_of_releases_shows_outcomes_of_stored_verdicts_alone(abistore: Call, old: Path, new: Path) -> None:
    for library, version in ((old, "1.0"), (new, "2.0"), (new, "2.1")):
        assert abistore("ingest", library, "--version", version).code == 0

    def listed() -> list[str | None]:
        return [each["outcome"] for each in abistore("list", "libcase", "--json").json["releases"]]

    def of_library() -> str | None:
        (line,) = abistore("list", "--json").json["lines"]
        return line["outcome"]

    assert (listed(), of_library()) == (["pass", None, None], None)
    assert [line.split()[6] for line in abistore("list", "libcase").out.splitlines()] == ["outcome", "pass", "-", "-"]
    abistore("verdict", "libcase@2.0")
    assert (listed(), of_library()) == (["pass", "fail", None], None)
    for digits in [each["id"] for each in abistore("verdict", "libcase@2.0", "--json").json["changes"]]:
        abistore("approve", digits, "--reason", "nobody calls it")
    abistore("verdict", "libcase@2.1")
    assert (listed(), of_library()) == (["pass", "pass", "pass"], "pass")


def test_an_approval_needs_a_reason_a_finding_and_an_end_that_is_to_come(judged: Call) -> None:
    digits = identity(judged)
    assert judged("approve", digits).code == 64
    assert "--reason is empty" in judged("approve", digits, "--reason", " ").err
    assert "is in the past" in judged("approve", digits, "--reason", "x", "--until", "2001-01-31").err
    assert "not a date" in judged("approve", digits, "--reason", "x", "--until", "date:2001-13-31").err
    assert "not a scope" in judged("approve", digits, "--reason", "x", "--scope", "world").err
    assert "not a version" in judged("approve", digits, "--reason", "x", "--until", "2.0 or so").err
    assert judged("approve", "ffffffffffffffffffff", "--reason", "x").code == 67
    assert "printable" in judged("approve", digits, "--reason", "a\x1b[2Jb").err
    assert judged("approve", "list").out == "no approvals\n"


def test_a_word_about_the_end_tells_what_it_is(judged: Call) -> None:
    digits = identity(judged)
    said = {"2.1": "version:2.1", "libfoo.so.1": "soname:libfoo.so.1", "libfoo.2.dylib": "soname:libfoo.2.dylib"}
    for word, meant in {**said, "version:2999-01-01": "version:2999-01-01"}.items():
        done = judged("approve", digits, "--reason", "x", "--replace", "--until", word, "--json").json["approved"][0]
        assert done["approval"]["until"] == meant


def test_an_approval_replaces_no_other_one_unless_that_is_said(judged: Call) -> None:
    digits = identity(judged)
    first = ("approve", digits, "--reason", "until we ship 2.1", "--approver", "ana", "--until", "2.1")
    assert judged(*first).code == 0
    assert "as before" in judged(*first).out
    second = ("approve", digits, "--reason", "for ever", "--approver", "ben")
    refused = judged(*second)
    assert (refused.code, "is approved by ana" in refused.err, "--replace" in refused.err) == (64, True, True)
    assert [one["approval"]["approver"] for one in judged("approve", "list", "--json").json["approvals"]] == ["ana"]
    done = judged(*second, "--replace", "--json").json["approved"][0]
    assert (done["changed"], done["replaced"][0]["reason"]) == (True, "until we ship 2.1")
    listed = judged("approve", "list", "--json").json["approvals"]
    assert [(one["approval"]["approver"], one["state"]) for one in listed] == [("ben", "holds"), ("ana", "replaced")]
    assert "replaces the approval by ana" in judged("db", "audit").out


def test_a_scope_alone_means_the_release_that_has_the_finding_or_the_usual_channel(judged: Call) -> None:
    digits = identity(judged)
    for word, meant in (("release", "release:2.0"), ("branch", "branch:release"), ("branch:main", "branch:main")):
        done = judged("approve", digits, "--reason", "x", "--scope", word, "--json").json["approved"][0]
        assert done["approval"]["scope"] == meant
    assert len(judged("approve", "list", "--json").json["approvals"]) == 3


def test_what_was_approved_is_withdrawn_and_stays_in_the_ledger(judged: Call) -> None:
    digits = identity(judged)
    judged("approve", digits, "--reason", "x", "--approver", "ana")
    judged("approve", digits, "--reason", "x", "--scope", "branch:main", "--approver", "ana")
    assert judged("approve", "withdraw", digits).code == 64
    one = judged("approve", "withdraw", digits[:12], "--scope", "branch:main", "--reason", "used after all")
    assert (one.code, one.out.count("\n")) == (0, 1)
    assert [entry["approval"]["scope"] for entry in judged("approve", "list", "--json").json["approvals"]] == [
        "forever"
    ]
    assert judged("approve", "withdraw", digits, "--reason", "used after all", "--actor", "ben").code == 0
    assert judged("approve", "withdraw", digits, "--reason", "again").code == 67
    assert judged("approve", "list").out == "no approvals\n"
    states = [entry["state"] for entry in judged("approve", "list", "--past", "--json").json["approvals"]]
    assert states == ["replaced", "replaced", "withdrawn", "withdrawn"]


def test_a_list_tells_what_is_over_and_what_meets_no_finding(judged: Call) -> None:
    digits = identity(judged)
    judged("approve", digits, "--reason", "x", "--until", "1.5")
    judged("approve", "0" * 20, "--library", "libcase", "--reason", "x")
    judged("approve", f"{digits[:12]}{'0' * 8}", "--library", "libcase", "--reason", "x")
    listed = judged("approve", "list", "--json").json["approvals"]
    states = {one["approval"]["identity"]: one["state"] for one in listed}
    assert states == {digits: "expired", "0" * 20: "unused", f"{digits[:12]}{'0' * 8}": "changed"}
