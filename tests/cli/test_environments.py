"""``env``: what an environment has, and what may ship there."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.shipped import ADDED, BASE, GROWN, base, mid, user_of_base, user_of_mid


@pytest.fixture
def recorded(abistore: Call, tmp_path: Path) -> Path:
    """An environment with two libraries and two programs, which lie in this folder."""
    for version, source in (("1.0", BASE), ("1.1", ADDED), ("2.0", GROWN)):
        assert abistore("ingest", base(source), "--library", "libbase", "--version", version).code in {0, 4}
    assert abistore("ingest", mid(), "--library", "libmid", "--version", "1.0").code == 0
    folder = tmp_path / "product"
    user_of_mid(folder), user_of_base(folder)
    assert abistore("consumers", "add", folder / "app", folder / "keeper").code == 0
    for built in (base(), mid()):
        shutil.copy(built, folder)
    done = abistore("env", "record", "production", "libbase@1.0", "libmid@1.0", "app", "keeper")
    assert (done.code, done.out.splitlines()[0]) == (0, "recorded libbase@1.0 in production")
    return folder


def test_a_release_that_breaks_something_is_shown_with_a_table_and_fails(abistore: Call, recorded: Path) -> None:
    done = abistore("env", "can-ship", "libbase@2.0", "--to", "production")
    assert done.code == 4
    head, columns, first, second, *below = done.out.splitlines()
    assert head == "libbase@2.0 may not ship to production: it breaks 2 members: app, libmid@1.0"
    assert columns.split() == ["member", "outcome", "reason"]
    assert first.split()[:2] == ["libmid@1.0", "breaks"] and "point" in first
    assert second.split() == ["app", "uses", "a", "broken", "member", "uses", "libmid@1.0"]
    assert "versions that may ship: 1.0, 1.1" in below
    answer = abistore("env", "can-ship", "libbase@2.0", "--to", "production", "--json").envelope
    assert (answer["outcome"], answer["verdict"], answer["error"]) == ("fail", "BREAKING", None)
    assert [each["state"] for each in answer["data"]["shipping"]["broken"]] == ["breaks", "uses-broken"]


def test_a_release_that_breaks_nothing_passes_in_every_format(abistore: Call, recorded: Path) -> None:
    said = "may ship to production: it breaks none of 2 members that use it"
    for form, head in (("text", f"libbase@1.1 {said}"), ("markdown", f"### `libbase@1.1` {said}")):
        done = abistore("env", "can-ship", "libbase@1.1", "--to", "production", "--format", form)
        assert (done.code, done.out.splitlines()[0]) == (0, head)
    done = abistore("env", "can-ship", "libbase@1.1", "libmid@1.0", "--to", "production")
    assert "libbase@1.1 replaces 1.0" in done.out.splitlines()
    done = abistore("env", "can-ship", base(ADDED), "libmid@1.0", "--to", "production")
    assert (done.code, "libbase@build replaces 1.0" in done.out.splitlines()) == (0, True)
    done = abistore("env", "can-ship", "libbase@1.1", "--to", "production", "--header", recorded)
    assert (done.code, "no release is a library file" in done.err) == (64, True)
    done = abistore("env", "can-ship", "libbase@1.1", "--to", "production", "--format", "json")
    assert done.envelope["outcome"] == "pass"


def test_what_nobody_can_know_is_an_error_of_evidence(abistore: Call, recorded: Path) -> None:
    assert abistore("env", "remove", "production", "libbase").code == 0
    done = abistore("env", "can-ship", "libbase@1.1", "--to", "production", "--json")
    assert (done.code, done.envelope["outcome"], done.error["code"]) == (72, "undecided", "evidence")
    assert done.json["shipping"]["unknown"]


def test_environments_are_listed_and_compared(abistore: Call, recorded: Path) -> None:
    assert abistore("env", "record", "staging", "libbase@1.1", "libmid@1.0", "app").code == 0
    listed = abistore("env", "list").out
    assert "production: 4 members" in listed and "staging: 3 members" in listed
    assert abistore("env", "diff", "staging", "staging").out.strip() == "staging and staging: 0 differences"
    rows = [each.split() for each in abistore("env", "diff", "production", "staging").out.splitlines()[2:]]
    assert [(row[0], row[2], row[3]) for row in rows[:1]] == [("libbase", "1.0", "1.1")]
    assert rows[1][0] == "keeper" and rows[1][3] == "-"
    assert abistore("env", "record", "production", "libbase@1.1").code == 0
    shown = abistore("env", "list", "production").out
    assert "production: earlier" in shown and "libbase@1.0" in shown


def test_a_folder_that_differs_from_what_was_recorded_is_an_error(abistore: Call, recorded: Path) -> None:
    clean = abistore("env", "drift", recorded, "--env", "production")
    assert (clean.code, clean.out.splitlines()[0].rpartition(": ")[2]) == (0, "0 differences, 4 as recorded")
    shutil.copy(base(ADDED), recorded / "libbase.so")
    (recorded / "keeper").unlink()
    shutil.copy(base(GROWN), recorded / "foreign.so")
    done = abistore("env", "drift", recorded, "--env", "production", "--json")
    assert (done.code, done.error["code"]) == (69, "stale-baseline")
    assert [each["state"] for each in done.json["drift"]["files"]] == ["changed", "missing", "unknown"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("record", "production", "libbase"), 64, "libbase: which release?"),
        (("record", "production", "libbase@9"), 67, "no such version"),
        (("record", "pro@duction", "app"), 64, "not a name of an environment"),
        (("remove", "production", "nothing"), 67, "not recorded in production"),
        (("can-ship", "libbase@1.0", "--to", "productoin"), 67, "did you mean production?"),
        (("drift", "nowhere", "--env", "production"), 65, "nowhere"),
    ],
)
def test_what_is_not_there_is_an_error(
    abistore: Call, recorded: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    done = abistore("env", *words)
    assert done.code == code
    assert said in done.err
