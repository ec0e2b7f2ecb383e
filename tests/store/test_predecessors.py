"""What a release is compared with unasked: the last that was released and not withdrawn, and never a build between."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from abistore.model.findings import Verdict
from abistore.model.history import IngestRequest
from abistore.model.snapshot import ReleaseTag
from abistore.service.history import history
from abistore.service.predecessors import counterpart_of
from abistore.service.verdicts import verdict
from abistore.store.store import Store
from tests.store.test_ledger import LINE, release

BUILD = "1.1-2-gabc1234"


def stored(address: str, *releases: tuple[str, Sequence[str]]) -> None:
    with Store.open(address, write=True) as store:
        for version, exports in releases:
            store.ingest(release(*exports), IngestRequest(version))


@pytest.fixture
def broken_by_a_build(address: str) -> str:
    """Release 1.2 is as the build before it, which lacks an export of release 1.1."""
    stored(address, ("1.0", ["a"]), ("1.1", ["a", "b"]), (BUILD, ["a"]), ("1.2", ["a"]))
    return address


def test_a_release_is_judged_against_the_last_one_and_not_against_a_build(broken_by_a_build: str) -> None:
    told = verdict("libgeo@1.2", database=broken_by_a_build)
    assert (told.given.old.version, told.report.verdict) == ("1.1", "BREAKING")
    told = verdict(f"libgeo@{BUILD}", database=broken_by_a_build)
    assert (told.given.old.version, told.report.verdict) == ("1.1", "BREAKING")


def test_a_build_is_judged_against_the_build_before(address: str) -> None:
    stored(address, ("1.1", ["a"]), (BUILD, ["a", "b"]), ("1.1-3-gabc1235", ["a"]))
    told = verdict("libgeo@1.1-3-gabc1235", database=address)
    assert (told.given.old.version, told.report.verdict) == (BUILD, "BREAKING")


def test_the_history_compares_as_the_verdict_does(broken_by_a_build: str) -> None:
    [line] = history("libgeo", database=broken_by_a_build)
    assert [(row.previous, row.verdict) for row in line.rows] == [
        (None, None),
        ("1.0", Verdict.COMPATIBLE),
        ("1.1", Verdict.BREAKING),
        ("1.1", Verdict.BREAKING),
    ]
    assert "each release is compared with the previous release; development builds are skipped" in line.remarks


def test_a_withdrawn_release_is_passed_over(address: str) -> None:
    stored(address, ("1.0", ["a", "b"]), ("1.1", ["a"]), ("1.2", ["a"]))
    with Store.open(address, write=True) as store:
        store.tag(store.resolve("libgeo@1.1"), [ReleaseTag("withdrawn")], "ana")
    told = verdict("libgeo@1.2", database=address)
    assert (told.given.old.version, told.report.verdict) == ("1.0", "BREAKING")
    [line] = history("libgeo", database=address)
    assert [row.previous for row in line.rows] == [None, "1.0", "1.0"]
    assert "1.2 is compared with 1.0: 1.1 was withdrawn" in line.remarks


def test_a_new_release_is_judged_against_the_last_one_before_it_is_stored(broken_by_a_build: str) -> None:
    with Store.open(broken_by_a_build, write=True) as store:
        found = [counterpart_of(store, LINE, each, "prev", None).release for each in ("1.1.1", "1.3", "1.2-1-gabc1236")]
    assert [each and each.version for each in found] == ["1.1", "1.2", "1.2"]


def test_builds_and_withdrawn_releases_count_where_nothing_else_is_there(address: str) -> None:
    stored(address, ("nightly-1", ["a"]), ("nightly-2", ["a"]), ("1.0", ["a"]))
    with Store.open(address, write=True) as store:
        store.tag(store.resolve("libgeo@nightly-2"), [ReleaseTag("yanked")], "ana")
    [line] = history("libgeo", database=address)
    assert {row.release.version: row.previous for row in line.rows}["nightly-2"] == "nightly-1"
