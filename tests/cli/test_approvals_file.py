"""The ledger as a reviewed file: out of the database and back, differences told, and nothing hidden in it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import jsonschema
import pytest

from abistore.cli.reference import schema
from abistore.errors import PolicyError
from abistore.service.approval_files import sync_approvals
from tests.build import build_library
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast

WHY = ("--reason", "nobody calls it: it was internal", "--approver", "ana", "--ticket", "LIB-7", "--until", "2.1")


@pytest.fixture
def judged(abistore: Call, old: Path, new: Path) -> Call:
    for library, version in ((old, "1.0"), (new, "2.0")):
        assert abistore("ingest", library, "--version", version).code == 0
    assert abistore("verdict", "libcase@2.0").code == 4
    return abistore


@pytest.fixture
def file(judged: Call, tmp_path: Path) -> Path:
    """A file with everything that fails 2.0, of which the database says nothing any more."""
    ids = [
        one["id"] for one in judged("verdict", "libcase@2.0", "--json").json["changes"] if one["impact"] == "breaking"
    ]
    judged("approve", *ids, *WHY)
    path = tmp_path / "approvals.yaml"
    assert judged("approve", "export", "libcase", "-o", path).code == 0
    judged("approve", "withdraw", *ids, "--reason", "kept in the file")
    assert judged("verdict", "libcase@2.0").code == 4
    return path


def test_what_is_exported_and_synced_lets_the_same_gate_pass_and_says_where_it_came_from(
    judged: Call, file: Path
) -> None:
    assert judged("approve", "sync", file, "--check").code == 69
    assert judged("approve", "list").out == "no approvals\n"
    done = judged("approve", "sync", file, "--json")
    assert (done.code, len(done.json["synced"]["added"]), done.json["synced"]["withdrawn"]) == (0, 2, [])
    assert judged("approve", "sync", file).out == "the database matches the file\n"
    assert judged("approve", "sync", file, "--check").code == 0
    passed = judged("verdict", "libcase@2.0")
    assert (passed.code, "[from file approvals.yaml of project libcase]" in " ".join(passed.out.split())) == (0, True)


def test_what_is_gone_from_the_file_is_withdrawn_and_what_people_approved_stays(judged: Call, file: Path) -> None:
    judged("approve", "sync", file)
    judged("approve", "0" * 20, "--library", "libcase", "--reason", "by hand")
    file.write_text("project: libcase\napprovals: []\n")
    told = judged("approve", "sync", file, "--check")
    assert (told.code, told.out.count("would be withdrawn")) == (69, 2)
    assert judged("approve", "sync", file).code == 0
    assert judged("verdict", "libcase@2.0").code == 4
    listed = judged("approve", "list", "--json").json["approvals"]
    assert [one["approval"]["identity"] for one in listed] == ["0" * 20]


def test_an_end_that_the_scheme_of_a_library_cannot_order_is_refused_as_approve_refuses_it(
    judged: Call, file: Path, old: Path
) -> None:
    """The approval would be added, and hold for no release."""
    assert judged("ingest", old, "--library", "libother", "--version", "1.0.0").code == 0
    assert judged("db", "scheme", "libother", "semver").code == 0
    file.write_text(file.read_text().replace("libcase", "libother"))
    done = judged("approve", "sync", file)
    assert (done.code, "until: 2.1 is not a semver version" in done.err) == (64, True)
    assert judged("approve", "list").out == "no approvals\n"
    file.write_text(file.read_text().replace("2.1", "2.1.0"))
    assert judged("approve", "sync", file).code == 0


def test_both_forms_keep_to_the_schema_and_say_the_same(judged: Call, file: Path, tmp_path: Path) -> None:
    judged("approve", "sync", file)
    as_json = tmp_path / "approvals.json"
    judged("approve", "export", "--format", "json", "-o", as_json)
    document = json.loads(as_json.read_text())
    jsonschema.validate(document, json.loads(schema("approvals")))
    assert document["approvals"][0]["what"]["kind"]
    as_json.rename(file)
    assert judged("approve", "sync", file, "--check").code == 0


def entry(**changed: object) -> str:
    said = {"finding": "0" * 20, "library": "libcase", "reason": "x", "approver": "ana"} | changed
    return json.dumps({"project": "libcase", "approvals": [said]})


WRONG = {
    "an identity that is none": (entry(finding="0123"), "not the identity"),
    "no reason": (entry(reason="  "), "reason is empty"),
    "an end that is empty": (entry(until=""), "until is empty"),
    "a scope of nothing": (entry(scope="branch:"), "is empty"),
    "nobody": (entry(approver=""), "approver"),
    "a word of its own": (entry(verdict="COMPATIBLE"), "unknown key 'verdict'"),
    "another finding than it says": (
        entry(what={"kind": "func_removed", "subject": "function", "symbol": "harmless"}),
        "does not match its facts",
    ),
    "a control character": (entry(reason="a\u001b[2Jb"), "printable"),
    "a scope that is none": (entry(scope="world"), "not a scope"),
    "a day that is none": (entry(until="date:2001-13-13"), "not a date"),
    "the same twice": (
        json.dumps({"project": "x", "approvals": json.loads(entry())["approvals"] * 2}),
        "approved twice",
    ),
    "an end that is over": (entry(until="2001-01-31"), "is in the past"),
    "nobody's file": ('{"approvals": []}', "project"),
    "a project of two words": ('{"project": "lib foo", "approvals": []}', "not a project's name"),
    "a library that is not stored": (entry(library="libnone"), "no library libnone"),
    "an alias": ("project: x\napprovals: &a [*a]", "YAML"),
    "no list": ("project: x\napprovals: 3", "approvals"),
    "too many": (json.dumps({"project": "x", "approvals": json.loads(entry())["approvals"] * 5_001}), "at most 5000"),
    "more bytes than a file may have": ("#" * ((4 << 20) + 1), "larger than"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_file_that_is_wrong_changes_nothing_and_says_why(judged: Call, tmp_path: Path, wrong: str) -> None:
    text, said = WRONG[wrong]
    path = tmp_path / "approvals.yaml"
    path.write_text(text)
    before = judged("db", "audit").out
    done = judged("approve", "sync", path)
    assert (done.code in {64, 67}, said in done.err) == (True, True), done.err
    assert judged("db", "audit").out == before


def test_what_was_approved_by_hand_is_the_files_from_now_on_and_that_is_told(judged: Call, file: Path) -> None:
    """A file that was just exported was told as if the database said nothing of it."""
    entries = file.read_text().count("finding:")
    done = judged("approve", "sync", file, "--check")
    assert (done.out.count("would be approved"), "by hand" in done.out) == (entries, False)
    for one in judged("verdict", "libcase@2.0", "--json").json["changes"]:
        if one["impact"] == "breaking":
            judged("approve", one["id"], "--library", "libcase", *WHY)
    done = judged("approve", "sync", file, "--check")
    assert (done.code, done.out.count("approved by hand with the same terms")) == (69, entries)
    assert judged("approve", "sync", file).code == judged("approve", "sync", file, "--check").code == 0
    file.write_text("project: libcase\napprovals: []\n")
    assert judged("approve", "sync", file).code == 0
    assert judged("verdict", "libcase@2.0").code == 4


def project(folder: Path, name: str, *entries: dict[str, str]) -> Path:
    """A project's reviewed file, called as the documentation calls it."""
    folder.mkdir(exist_ok=True)
    path = folder / "abi-approvals.yaml"
    path.write_text(json.dumps({"project": name, "approvals": entries}))
    return path


@pytest.mark.usefixtures("either_database")
def test_projects_with_files_of_one_name_leave_each_other_alone(judged: Call, new: Path, tmp_path: Path) -> None:
    """Two pipelines withdrew each other's approvals for ever."""
    common = {"library": "libcase", "reason": "x", "approver": "ana"}
    ours, theirs = ({"finding": digit * 20} | common for digit in "01")
    both = {"finding": "2" * 20} | common
    first, second = (
        project(tmp_path / name, name, own, both | {"reason": name}) for name, own in (("a", ours), ("b", theirs))
    )
    assert judged("approve", "sync", first).code == judged("approve", "sync", second).code == 0
    for file in (first, second):
        assert judged("approve", "sync", file, "--check").code == 0
    listed = judged("approve", "list", "--json").json["approvals"]
    assert [one["approval"]["identity"][0] for one in listed] == ["0", "1", "2", "2"]
    project(tmp_path / "b", "b")
    assert judged("approve", "sync", second).code == 0
    listed = judged("approve", "list", "--json").json["approvals"]
    assert [(one["approval"]["identity"][0], one["approval"]["reason"]) for one in listed] == [("0", "x"), ("2", "a")]
    assert judged("approve", "sync", first, "--check").code == 0


def test_a_file_that_moves_in_its_project_is_the_same(judged: Call, file: Path, tmp_path: Path) -> None:
    assert judged("approve", "sync", file).code == 0
    moved = file.rename(tmp_path / "abi-approvals.yaml")
    assert judged("approve", "sync", moved, "--check").code == 0
    moved.write_text("project: libcase\napprovals: []\n")
    assert judged("approve", "sync", moved).code == 0
    assert judged("approve", "list").out == "no approvals\n"


def test_an_approval_by_hand_stays_beside_the_one_of_a_file(judged: Call, tmp_path: Path) -> None:
    said = {"finding": "0" * 20, "library": "libcase", "reason": "x", "approver": "ana"}
    by_hand = ("approve", "0" * 20, "--library", "libcase", "--reason", "by hand", "--target", "all")
    assert judged(*by_hand).code == 0
    file = project(tmp_path / "a", "a", said)
    assert judged("approve", "sync", file).code == 0
    assert judged("approve", "list").out.count("holds") + judged("approve", "list").out.count("unused") == 2
    project(tmp_path / "a", "a")
    assert judged("approve", "sync", file).code == 0
    assert "by hand" in judged("approve", "list").out


def test_a_file_says_what_its_changed_entry_replaces(judged: Call, tmp_path: Path) -> None:
    said = {"finding": "0" * 20, "library": "libcase", "reason": "old words", "approver": "ana"}
    assert judged("approve", "sync", project(tmp_path / "a", "a", said)).code == 0
    done = judged("approve", "sync", project(tmp_path / "a", "a", said | {"reason": "new words"}))
    assert "replaces the approval by ana: old words" in done.out
    assert "replaces the approval by ana: old words" in judged("db", "audit").out


def test_an_entry_whose_end_passes_stays_in_its_file_without_effect(
    judged: Call, tmp_path: Path, database: Path
) -> None:
    """A pipeline does not go red on the day after, but for what is not approved any more."""
    said = {"finding": "0" * 20, "library": "libcase", "reason": "x", "approver": "ana", "until": "2027-01-31"}
    file = project(tmp_path / "a", "a", said)
    sync_approvals(file, today=date(2027, 1, 31), database=database)
    assert not sync_approvals(file, today=date(2027, 2, 1), database=database).differs
    project(tmp_path / "a", "a", said | {"until": "2027-01-30"})
    with pytest.raises(PolicyError, match="is in the past"):
        sync_approvals(file, today=date(2027, 2, 1), database=database)


def test_a_withdrawal_says_which_file_would_undo_it_and_the_file_says_that_it_does(judged: Call, file: Path) -> None:
    """The next job of a pipeline opened the gate again, and nothing told it."""
    judged("approve", "sync", file)
    identity = judged("approve", "list", "--json").json["approvals"][0]["approval"]["identity"]
    done = judged("approve", "withdraw", identity, "--reason", "a plugin copies it", "--actor", "ben")
    assert (
        "remove it from approvals.yaml of project libcase too, or the next `abistore approve sync` approves it again"
        in done.out
    )
    done = judged("approve", "sync", file)
    assert "it was withdrawn by ben" in done.out
    assert "a plugin copies it" in done.out


def test_the_ledger_calls_functions_as_programmers_do(abistore: Call) -> None:
    for version, text in (("1.0", "namespace geo { void gone(int) {} void kept() {} }"), ("2.0", "void geo() {}")):
        built = build_library(text, language="c++", name="libcase.so")
        assert abistore("ingest", built, "--version", version).code == 0
    (first, *_) = abistore("verdict", "libcase@2.0", "--json").json["changes"]
    assert abistore("approve", first["id"], "--reason", "nobody calls it").code == 0
    assert "func_removed: geo::" in abistore("approve", "list").out
