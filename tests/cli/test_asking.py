"""Questions to the history from the command line: commits, stripped releases, exports that come back, bad questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.model.declarations import Name
from abistore.model.history import IngestRequest
from abistore.model.shapes import AnyShape, Function, Named, Pointer
from abistore.model.snapshot import Snapshot
from abistore.store.store import Store
from tests.cli.conftest import Call
from tests.store.builders import EXPORTED, INT, function, record, snapshot, struct

pytestmark = pytest.mark.fast

RUN, HELP = function("run"), function("help_me")


def release(marker: int, *fields: str, helps: bool = True, stripped: bool = False) -> Snapshot:
    """A library whose run() takes a struct of these fields."""
    symbols = {RUN: EXPORTED, **({HELP: EXPORTED} if helps else {})}
    if stripped:
        return snapshot(str(marker), symbols=symbols)
    layout: dict[Name, AnyShape] = {
        record("parcel"): struct(*fields),
        RUN: Function("run", INT, (Named(record("parcel")),)),
        **({HELP: Function("help_me", INT, (Pointer(INT),))} if helps else {}),
    }
    return snapshot(str(marker), symbols=symbols, layout=layout)


def ingested(database: Path, releases: list[Snapshot]) -> None:
    with Store.open(database, write=True) as store:
        for number, each in enumerate(releases):
            store.ingest(each, IngestRequest(f"1.{number}", revision=f"c0ffee{number:02}"))


def test_the_first_commit_that_breaks_is_told_with_its_revision_after_few_were_judged(
    abistore: Call, database: Path
) -> None:
    ingested(database, [release(number, *("ab" if number < 23 else "abc")) for number in range(40)])
    answer = abistore("blame", "parcel", "--json").json["found"][0]
    assert answer["first_broken"]["version"] == "1.23"
    assert answer["first_broken"]["revision"] == "c0ffee23"
    assert answer["last_good"]["revision"] == "c0ffee22"
    assert answer["judged"] <= 3
    assert answer["releases"] == 39
    told = abistore("blame", "parcel").out
    assert f"last good     1.22  {answer['last_good']['date']}  revision c0ffee22\n" in told


def test_a_finding_that_the_store_has_is_looked_for_by_its_identity(abistore: Call, database: Path) -> None:
    ingested(database, [release(number, *("ab", "ab", "abc", "abcd")[number]) for number in range(4)])
    found = abistore("verdict", "libgeo@1.3", "--against", "1.0", "--json").json["changes"]
    called = next(each["id"] for each in found if each["part"] == "d")
    answer = abistore("blame", called, "--json").json["found"][0]
    assert (answer["first_broken"]["version"], answer["last_good"]["version"]) == ("1.3", "1.2")
    assert [each["id"] for each in answer["changes"]] == [called]


def test_a_stripped_release_is_neither_good_nor_broken(abistore: Call, database: Path) -> None:
    ingested(database, [release(0, "a"), release(1, stripped=True), release(2, "a", "b"), release(3, "a", "b")])
    broken = abistore("blame", "parcel", "--json").json["found"][0]
    assert (broken["last_good"]["version"], broken["first_broken"]["version"]) == ("1.0", "1.2")
    assert broken["not_observed"] == ["1.1"]
    (blamed,) = abistore("blame", "libgeo", "--json").json["blames"][0]["breaks"]
    assert (blamed["last_good"]["version"], blamed["introduced"]["version"]) == ("1.0", "1.2")
    assert blamed["not_observed"] == ["1.1"]
    assert "not observed after 1.0: 1.1" in abistore("blame", "libgeo").out


def test_a_break_that_grew_is_blamed_on_its_first_release_and_tells_since_when_it_is_as_it_is(
    abistore: Call, database: Path
) -> None:
    layouts = [("a",), ("a", "b"), ("a", "c", "b")]
    ingested(database, [release(number, *fields) for number, fields in enumerate(layouts)])
    breaks = abistore("blame", "libgeo", "--json").json["blames"][0]["breaks"]
    added = next(each for each in breaks if each["change"]["part"] == "b")
    assert added["introduced"]["version"] == "1.1"
    assert added["as_now_since"]["version"] == "1.2"
    assert "with today's values since 1.2" in abistore("blame", "libgeo").out


def test_an_export_that_was_gone_for_a_while_is_told_as_restored(abistore: Call, database: Path) -> None:
    ingested(database, [release(number, "a", helps=number not in {2, 3}) for number in range(6)])
    answer = abistore("blame", "libgeo", "--json").json["blames"][0]
    assert (answer["verdict"], answer["breaks"]) == ("NO_CHANGE", [])
    (back,) = answer["restored"]
    assert (back["change"]["kind"], back["introduced"]["version"], back["restored"]["version"]) == (
        "func_removed",
        "1.2",
        "1.4",
    )
    assert "restored in 1.4" in abistore("blame", "libgeo").out
    (row,) = abistore("matrix", "libgeo", "--json").json["matrices"]
    assert row["verdicts"][0] == [None, "NO_CHANGE", "BREAKING", "BREAKING", "NO_CHANGE", "NO_CHANGE"]
    (spell, again) = abistore("list", "--provides", "help_me", "--json").json["providers"]
    assert (spell["since"], spell["until"], again["since"], again["until"]) == ("1.0", "1.2", "1.4", None)


def test_a_matrix_marks_what_was_checked_in_part(abistore: Call, database: Path) -> None:
    ingested(database, [release(0, "a"), release(1, stripped=True), release(2, "a")])
    text = abistore("matrix", "libgeo").out
    assert "=*" in text
    assert "* one of the two releases has less evidence" in text
    page = abistore("matrix", "libgeo", "--format", "html").out
    assert "checked in part" in page
    assert '<td class="unchecked"' in page
    assert "checked in part 1.1" in abistore("matrix", "libgeo@1.0").out


def test_a_range_tells_the_releases_beyond_a_break_that_fit_again(abistore: Call, database: Path) -> None:
    ingested(database, [release(0, "a"), release(1), release(2, "a"), release(3, "a")])
    told = abistore("matrix", "libgeo@1.0").out.splitlines()
    assert told[-3:] == ["  runs up to      1.0", "  not on          1.1", "  also on         1.2, 1.3"]
    assert abistore("matrix", "libgeo@1.2").out.splitlines()[-1] == "  also on         1.0"


def test_versions_are_escaped_in_a_page(abistore: Call, database: Path) -> None:
    with Store.open(database, write=True) as store:
        for number, each in enumerate(("<script>", "2")):
            store.ingest(release(number, "a"), IngestRequest(each))
    page = abistore("matrix", "libgeo", "--format", "html").out
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("matrix", "libgoe"), "did you mean libgeo"),
        (("matrix", "libgeo", "--from", "9"), "has no release 9"),
        (("blame", "libgeo", "--since", "9"), "has no release 9"),
        (("blame", "parcell"), "did you mean parcel"),
        (("show", "libgeo@1.1", "--users", "parcell"), "did you mean parcel"),
        (("show", "libgeo", "--users", "parcell"), "did you mean parcel"),
        (("list", "--provides", "rnu"), "no stored library exports it"),
        (("show", "--exports", "libgeo@9"), "no such version"),
        (("show", "--exports", "libgeo", "--regex", "("), "("),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(
    words: tuple[str, ...], said: str, abistore: Call, database: Path
) -> None:
    ingested(database, [release(0, "a"), release(1, "a", "b")])
    done = abistore(*words)
    assert done.code >= 64
    assert said in done.err


def test_a_question_about_one_symbol_costs_no_more_in_a_longer_history(abistore: Call, database: Path) -> None:
    def asked(count: int) -> int:
        ingested(database, [release(number, *("ab" if number < 5 else "abc")) for number in range(count)])
        judged: int = abistore("blame", "parcel", "--json").json["found"][0]["judged"]
        return judged

    assert asked(10) == asked(30)
