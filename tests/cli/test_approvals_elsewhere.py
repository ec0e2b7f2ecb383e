"""Approvals hold on the target that they name, and until what was approved is undone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.build import build_library
from tests.cli.conftest import NEW, OLD, Call
from tests.extract.elf_fixtures import MACHINES

pytestmark = pytest.mark.full

WHY = ("--library", "libcase", "--reason", "nobody calls it", "--approver", "ana")
GATE = ("--library", "libcase", "--against", "baseline", "--dry-run", "--json")
HERE, THERE = "elf-x86_64-64-little", "elf-i386-32-little"

Built = Callable[[str], Path]


def here(source: str) -> Path:
    return build_library(source)


def there(source: str) -> Path:
    return build_library(source, compiler=MACHINES["i386"], flags=("-g", "-O1", "-nostdlib"))


@pytest.fixture
def on_two_targets(abistore: Call) -> Call:
    """A library that is released for two targets, and a build of each that breaks in the same way."""
    for built in (here, there):
        words = ("--library", "libcase", "--version", "1.0", "--set-baseline")
        assert abistore("ingest", built(OLD), *words).code == 0
    return abistore


def refused(call: Call, built: Built, *words: str) -> list[str]:
    """What fails a gate."""
    done = call("ingest", built(NEW), "--version", "2.0", *GATE, *words)
    changes = done.json["files"][0]["verdict"]["changes"]
    return [one["id"] for one in changes if one["impact"] in {"breaking", "api_break"} and not one["approved"]]


@pytest.mark.usefixtures("either_database")
def test_an_approval_holds_on_the_target_that_it_names(on_two_targets: Call) -> None:
    """A field that falls into padding on one target moves all others on another."""
    ids = refused(on_two_targets, here)
    assert set(ids) & set(refused(on_two_targets, there))
    assert on_two_targets("approve", *ids, *WHY, "--target", "x86_64").code == 0
    assert refused(on_two_targets, here) == []
    assert set(refused(on_two_targets, there)) >= set(ids)
    text = on_two_targets("ingest", there(NEW), "--version", "2.0", *GATE[:-1]).out
    assert f"not approved here: by ana on {HERE} only" in " ".join(text.split())


def test_one_approval_may_name_all_targets(on_two_targets: Call) -> None:
    ids = {*refused(on_two_targets, here), *refused(on_two_targets, there)}
    assert on_two_targets("approve", *ids, *WHY, "--target", "all").code == 0
    assert [refused(on_two_targets, built) for built in (here, there)] == [[], []]


def test_where_an_approval_holds_is_said_where_there_are_several_targets(on_two_targets: Call) -> None:
    ids = refused(on_two_targets, here)
    done = on_two_targets("approve", *ids, *WHY)
    assert (done.code, "stored for 2 targets" in done.err, f"--target all, or one of {THERE}, {HERE}" in done.err) == (
        *(64, True, True),
    )
    gated = on_two_targets("gate", here(NEW), "--library", "libcase", "--version", "2.0")
    assert f"--library libcase --target {HERE} --reason WHY" in gated.out


def test_a_target_that_is_not_stored_is_told(abistore: Call, old: Path) -> None:
    assert abistore("ingest", old, "--version", "1.0", "--set-baseline").code == 0
    done = abistore("approve", "0" * 20, *WHY, "--target", "elf-vax-32-little")
    assert (done.code, done.out.strip().endswith("libcase is not stored for elf-vax-32-little yet")) == (0, True)


@pytest.mark.usefixtures("either_database")
def test_what_is_approved_on_one_target_is_taken_back_there_alone(on_two_targets: Call) -> None:
    ids = refused(on_two_targets, here)
    for target in (HERE, THERE):
        assert on_two_targets("approve", *ids, *WHY, "--target", target).code == 0
    taken = ("approve", "withdraw", *ids, "--library", "libcase", "--reason", "used after all", "--target", "i386")
    assert on_two_targets(*taken).code == 0
    listed = on_two_targets("approve", "list", "--json").json["approvals"]
    assert {one["approval"]["target"] for one in listed} == {HERE}


def test_a_file_says_on_which_target_an_approval_holds_and_on_all_without_that(
    on_two_targets: Call, tmp_path: Path
) -> None:
    ids = {*refused(on_two_targets, here), *refused(on_two_targets, there)}
    file = tmp_path / "approvals.json"
    entry = {"library": "libcase", "reason": "nobody calls it", "approver": "ana"}
    for target, open_here, open_there in (({"target": HERE}, True, False), ({}, True, True)):
        file.write_text(
            json.dumps({"project": "case", "approvals": [{"finding": one, **entry, **target} for one in sorted(ids)]})
        )
        assert on_two_targets("approve", "sync", file).code == 0
        assert on_two_targets("approve", "sync", file, "--check").code == 0
        assert [refused(on_two_targets, built) == [] for built in (here, there)] == [open_here, open_there]
    assert on_two_targets("approve", "export", "libcase", "-o", file).code == 0
    assert on_two_targets("approve", "sync", file, "--check").code == 0


@pytest.fixture
def in_two_profiles(abistore: Call) -> Call:
    """A library that is released in two build profiles."""
    for profile in ("default", "debug"):
        words = ("--library", "libcase", "--version", "1.0", "--set-baseline", "--profile", profile)
        assert abistore("ingest", here(OLD), *words).code == 0
    return abistore


DEBUG = ("--profile", "debug")


@pytest.mark.usefixtures("either_database")
def test_an_approval_holds_in_the_build_profile_that_it_names(in_two_profiles: Call) -> None:
    """What no debug build offers may be what all programs call in the other."""
    ids = refused(in_two_profiles, here)
    assert set(ids) == set(refused(in_two_profiles, here, *DEBUG))
    done = in_two_profiles("approve", *ids, *WHY)
    assert (done.code, "--profile all, or one of debug, default" in done.err) == (64, True)
    assert in_two_profiles("approve", *ids, *WHY, *DEBUG).code == 0
    assert (refused(in_two_profiles, here, *DEBUG), set(refused(in_two_profiles, here))) == ([], set(ids))
    text = in_two_profiles("ingest", here(NEW), "--version", "2.0", *GATE[:-1]).out
    assert f"not approved here: by ana on {HERE} in profile debug only" in " ".join(text.split())
    assert {one["approval"]["profile"] for one in in_two_profiles("approve", "list", "--json").json["approvals"]} == {
        "debug"
    }


def test_the_way_past_a_gate_names_its_profile(in_two_profiles: Call) -> None:
    done = in_two_profiles("gate", here(NEW), "--library", "libcase", "--version", "2.0", *DEBUG)
    assert f"--target {HERE} --profile debug --reason WHY" in done.out


def test_one_approval_may_name_all_profiles_and_is_taken_back_alone(in_two_profiles: Call) -> None:
    ids = refused(in_two_profiles, here)
    for profile in ("all", "debug"):
        assert in_two_profiles("approve", *ids, *WHY, "--profile", profile).code == 0
    assert [refused(in_two_profiles, here, *words) for words in ((), DEBUG)] == [[], []]
    taken = ("approve", "withdraw", *ids, "--library", "libcase", "--reason", "used after all", "--profile", "all")
    assert in_two_profiles(*taken).code == 0
    assert (refused(in_two_profiles, here, *DEBUG), set(refused(in_two_profiles, here))) == ([], set(ids))


def test_a_verdict_of_a_stored_release_asks_for_approvals_of_its_profile(in_two_profiles: Call) -> None:
    ids = refused(in_two_profiles, here)
    for words in ((), DEBUG):
        stored = ("ingest", here(NEW), "--library", "libcase", "--version", "2.0", *words)
        assert in_two_profiles(*stored).code == 0
    assert in_two_profiles("approve", *ids, *WHY, "--profile", "default").code == 0
    asked = ("verdict", "libcase@2.0", "--against", "baseline")
    assert [in_two_profiles(*asked, "--profile", each).code for each in ("default", "debug")] == [0, 4]


def test_a_file_says_in_which_profile_an_approval_holds_and_means_the_default_one_without_that(
    in_two_profiles: Call, tmp_path: Path
) -> None:
    ids = refused(in_two_profiles, here)
    file = tmp_path / "approvals.json"
    entry = {"library": "libcase", "reason": "nobody calls it", "approver": "ana"}
    for profile, is_open in (
        ({}, [True, False]),
        ({"profile": "debug"}, [False, True]),
        ({"profile": "all"}, [True, True]),
    ):
        file.write_text(
            json.dumps({"project": "case", "approvals": [{"finding": one, **entry, **profile} for one in ids]})
        )
        assert in_two_profiles("approve", "sync", file).code == 0
        assert in_two_profiles("approve", "sync", file, "--check").code == 0
        assert [refused(in_two_profiles, here, *words) == [] for words in ((), DEBUG)] == is_open
    text = in_two_profiles("ingest", here(NEW), "--version", "2.0", *GATE[:-1], *DEBUG).out
    assert "approved by ana" in text
    assert in_two_profiles("approve", "export", "libcase", "-o", file).code == 0
    assert in_two_profiles("approve", "sync", file, "--check").code == 0


def test_what_was_approved_before_profiles_were_kept_holds_in_the_default_one(
    in_two_profiles: Call, database: Path
) -> None:
    ids = refused(in_two_profiles, here)
    assert in_two_profiles("approve", *ids, *WHY, "--profile", "default").code == 0
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT DISTINCT profile FROM approval").fetchall() == [(None,)]
    assert set(refused(in_two_profiles, here, *DEBUG)) == set(ids)
    text = in_two_profiles("ingest", here(NEW), "--version", "2.0", *GATE[:-1], *DEBUG).out
    assert f"not approved here: by ana on {HERE}, in profile default only" in " ".join(text.split())


KEPT, REMOVED = OLD, OLD.replace("int gone(void) { return 1; }", "")


@pytest.fixture
def removed(abistore: Call) -> Callable[[str, str], int]:
    """Ingests a build against the release before, and tells the exit code."""

    def ingested(version: str, source: str) -> int:
        words = ("--library", "libcase", "--version", version, "--against", "prev", "--require", "none")
        return abistore("ingest", build_library(source), *words).code

    assert abistore("ingest", build_library(KEPT), "--library", "libcase", "--version", "1.0").code == 0
    return ingested


def removal(call: Call) -> str:
    words = ("--library", "libcase", "--version", "9.0", "--against", "1.0", "--dry-run", "--json")
    changes = call("ingest", build_library(REMOVED), *words).json["files"][0]["verdict"]["changes"]
    return str(next(one["id"] for one in changes if one["kind"] == "func_removed"))


@pytest.mark.usefixtures("either_database")
def test_what_was_approved_once_and_came_back_is_not_approved_when_it_goes_again(
    abistore: Call, removed: Callable[[str, str], int]
) -> None:
    gone = removal(abistore)
    assert abistore("approve", gone, *WHY).code == 0
    assert [removed("2.0", REMOVED), removed("3.0", KEPT), removed("4.0", REMOVED)] == [0, 0, 4]
    text = abistore(
        "ingest", build_library(REMOVED), "--library", "libcase", "--version", "4.0", "--against", "3.0"
    ).out
    assert "by ana, was restored after 1.0 and removed again: approve again" in " ".join(text.split())
    assert abistore("verdict", "libcase@2.0").code == 0
    assert abistore("approve", gone, *WHY).code == 0
    assert removed("4.0", REMOVED) == 0


def test_an_approval_holds_on_while_releases_come_that_still_have_what_goes(
    abistore: Call, removed: Callable[[str, str], int]
) -> None:
    assert abistore("approve", removal(abistore), *WHY).code == 0
    more = KEPT + "int more(void) { return 1; }\n"
    assert [removed("1.1", KEPT + " "), removed("1.2", more), removed("2.0", REMOVED + more[len(KEPT) :])] == [0, 0, 0]


def test_a_change_that_is_undone_and_made_again_needs_another_approval(
    abistore: Call, removed: Callable[[str, str], int]
) -> None:
    wider = KEPT.replace("int x, y;", "int x, y, z;")
    words = ("--library", "libcase", "--version", "2.0", "--against", "1.0", "--dry-run", "--json")
    changes = abistore("ingest", build_library(wider), *words).json["files"][0]["verdict"]["changes"]
    ids = [one["id"] for one in changes if one["impact"] in {"breaking", "api_break"}]
    assert abistore("approve", *ids, *WHY).code == 0
    assert removed("2.0", wider) == 0
    assert abistore("ingest", build_library(KEPT), "--library", "libcase", "--version", "3.0").code == 0
    assert removed("4.0", wider) == 4


@pytest.mark.usefixtures("either_database")
def test_a_retrospective_approval_does_not_cover_the_next_removal(
    abistore: Call, removed: Callable[[str, str], int]
) -> None:
    gone = removal(abistore)
    assert abistore("ingest", build_library(REMOVED), "--library", "libcase", "--version", "2.0").code == 0
    assert abistore("approve", gone, *WHY).code == 0
    assert abistore("verdict", "libcase@2.0").code == 0
    assert [removed("3.0", KEPT), removed("4.0", REMOVED)] == [0, 4]
