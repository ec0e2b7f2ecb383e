"""Judgements in the store: what is remembered, under what, and what a timeline reads of it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.errors import StoreError
from abistore.model.findings import (
    Churn,
    Comparison,
    Finding,
    Impact,
    NotChecked,
    RulingKey,
    Verdict,
    identified,
    identity,
    place,
)
from abistore.model.history import IngestRequest, LineKey, StoredVerdict
from abistore.model.snapshot import Location
from abistore.store.gathering import gather
from abistore.store.merging import MergeWish
from abistore.store.store import Store
from tests.store.builders import EXPORTED, X86, function, record, snapshot
from tests.store.sql import sql

LINE = LineKey("libgeo", str(X86))
AFFECTED = (function("area"), function("norm"))
SIZE = Finding("type_size_changed", record("Point"), "", "grew", Impact.BREAKING, "layout", "8", "12", None, AFFECTED)
MOVED = Finding("field_moved", record("Point"), "y", "", Impact.BREAKING, "layout", "4", "8", consequences=(SIZE,))
GONE = Finding("func_removed", function("gone"), "", "no longer exported", Impact.BREAKING, "symbol", "f()", gone=True)
RISKY = Finding("soname_kept", function("area"), "", "", Impact.RISK, "symbol", default_impact=Impact.BREAKING)
NOTED = Finding("copied", function("copy"), "", "", Impact.NOTICE, "symbol", reason="ours", suppressed_by="known:1")
UNSEEN = NotChecked("layout", "new", "no-debug-info", "stripped", "build with -g", (function("norm"),))


def given(store: Store, *findings: Finding, sides: tuple[str, str] = ("1.0", "1.1")) -> StoredVerdict:
    """A judgement of two stored releases."""
    old, new = (store.resolve(f"libgeo@{version}") for version in sides)
    comparison = Comparison(
        *(old.side, new.side, Verdict.BREAKING, findings, (UNSEEN,), (NOTED,)),
        engine="e1",
        notes=("a note",),
    )
    return StoredVerdict(old, new, comparison, Churn(1, 2, 3), datetime(2026, 5, 1, tzinfo=UTC))


@pytest.fixture
def store(address: str) -> Store:
    store = Store.open(address, write=True)
    for number in range(4):
        symbols = {function(name): EXPORTED for name in ("area", "norm", "gone", f"f{number}")}
        store.ingest(snapshot(str(number), symbols=symbols), IngestRequest(f"1.{number}"))
    return store


def test_a_judgement_is_read_back_as_it_was_given(store: Store) -> None:
    made = given(store, GONE, MOVED, RISKY)
    with store:
        store.save_verdicts([made], actor="ana")
        assert store.find_verdict(made.old, made.new, RulingKey(), "e1") == made
        assert (store.audit(1)[0].action, store.audit(1)[0].actor) == ("verdict", "ana")


def test_a_stored_finding_of_a_former_name_is_read_by_its_name_of_today(store: Store) -> None:
    now = replace(
        MOVED, kind="type_field_added.trailing", consequences=(replace(SIZE, kind="type_size_changed.handle"),)
    )
    before = replace(
        MOVED, kind="type_field_appended", consequences=(replace(SIZE, kind="library_allocated_type_resized"),)
    )
    made = given(store, before)
    with store:
        store.save_verdicts([made])
        read = store.find_verdict(made.old, made.new, RulingKey(), "e1")
        assert read is not None
        assert read.comparison.findings == (now,)
        for one in (now, *now.consequences):
            ((found,), _) = store.findings(identity(one).hex(), 9)
            assert found.finding == one
        store.save_verdicts([given(store, now)])
        assert len({found.identity for found in store.findings(identity(now).hex(), 9)[0]}) == 1
        assert store.check() == ()


def test_a_judgement_that_another_store_gave_travels_on_and_answers_for_nobody(store: Store, tmp_path: Path) -> None:
    """What the store gives itself answers, and says the same beside it."""
    forged = given(store)
    with store, Store.open(tmp_path / "there.db", write=True) as there:
        there.merge(gather(store.database), MergeWish("here"))
        there.save_verdicts([forged])
        store.merge(gather(there.database), MergeWish("there"))
        assert store.find_verdict(forged.old, forged.new, RulingKey(), "e1") is None
        assert store.verdict_summaries(LINE, "e1") == {}
        assert store.check() == ()
        store.save_verdicts([forged])
        assert store.find_verdict(forged.old, forged.new, RulingKey(), "e1") == forged
        assert [told.verdict for told in store.verdict_summaries(LINE, "e1").values()] == [Verdict.BREAKING]
        assert store.stats().verdicts == 2
        sql(store.database, "UPDATE verdict SET brought = NULL WHERE brought = 1")
        assert any("row of verdict 1" in said for said in store.check())


def test_a_judgement_is_found_by_its_sides_ruling_and_engine(store: Store) -> None:
    made = given(store, GONE)
    ruled = replace(
        made, comparison=replace(made.comparison, policy="ours", policy_digest="ab", suppression_digest="c")
    )
    with store:
        store.save_verdicts([made, ruled])
        assert store.find_verdict(made.new, made.old, RulingKey(), "e1") is None
        assert store.find_verdict(made.old, made.new, RulingKey("sdk_vendor"), "e1") is None
        assert store.find_verdict(made.old, made.new, RulingKey("ours", "ab"), "e1") is None
        assert store.find_verdict(made.old, made.new, RulingKey(), "e2") is None
        assert store.find_verdict(made.old, made.new, RulingKey("ours", "ab", "c"), "e1") == ruled


def test_judging_again_makes_a_new_row_unless_the_same_is_said(store: Store) -> None:
    made = given(store, GONE, MOVED)
    later = replace(made, judged=datetime(2026, 6, 1, tzinfo=UTC))
    other = given(store, GONE)
    with store:
        for each in (made, later, other, given(store), given(store)):
            store.save_verdicts([each])
        assert store.stats().verdicts == 3
        assert store.find_verdict(made.old, made.new, RulingKey(), "e1") == given(store)


def test_a_timeline_reads_the_summaries_of_its_line(store: Store) -> None:
    first = given(store, GONE, MOVED, RISKY)
    second = given(store, GONE, sides=("1.0", "1.3"))
    with store:
        store.save_verdicts([first, second])
        told = store.verdict_summaries(LINE, "e1")
        assert sorted(told) == [(1, 2, RulingKey()), (1, 4, RulingKey())]
        summary = told[1, 2, RulingKey()]
        assert (summary.breaking, summary.risk_changes, summary.suppressed, summary.notices) == (2, 1, 1, 0)
        assert (summary.verdict, summary.churn, summary.not_checked) == (Verdict.BREAKING, Churn(1, 2, 3), 1)
        assert store.verdict_summaries(LINE, "e2") == {}
        assert store.verdict_summaries(LineKey("libgeo", "other"), "e1") == {}


def test_findings_and_consequences_are_found_by_their_identity(store: Store) -> None:
    with store:
        store.save_verdicts([given(store, GONE, MOVED)])
        (gone,), (size,) = (store.findings(identity(finding).hex(), 9)[0] for finding in (GONE, SIZE))
        assert (gone.finding, gone.old.version, gone.new.version) == (GONE, "1.0", "1.1")
        assert size.finding == SIZE
        assert store.findings("0123456789ab", 9) == ((), 0)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE verdict_part SET body = ?",
        "UPDATE finding SET body = ?",
        "UPDATE finding SET key = ?",
        "DELETE FROM finding WHERE ? IS NOT NULL",
    ],
)
def test_a_damaged_verdict_is_told(path: Path, damage: str) -> None:
    with Store.open(path, write=True) as store:
        for number in (0, 1):
            symbols = {function(f"f{number}"): EXPORTED}
            store.ingest(snapshot(str(number), symbols=symbols), IngestRequest(f"1.{number}"))
        made = given(store, GONE)
        store.save_verdicts([made])
        sql(store.database, "PRAGMA foreign_keys = OFF")
        sql(store.database, "DELETE FROM finding WHERE id > 1")
        sql(store.database, "DELETE FROM verdict_part WHERE part <> 'findings'")
        sql(store.database, damage, b"no")
        with pytest.raises(StoreError, match=r"damaged|missing|another body"):
            store.find_verdict(made.old, made.new, RulingKey(), "e1")


def test_a_finding_is_stored_once_and_told_where_it_was_found_first(store: Store) -> None:
    with store:
        for number in (1, 2, 3):
            store.save_verdicts([given(store, GONE, MOVED, sides=("1.0", f"1.{number}"))])
        assert sql(store.database, "SELECT count(*) FROM finding") == [(3,)]
        ((found,), more) = store.findings(identity(GONE).hex(), 9)
        assert (found.new.version, more) == ("1.1", 0)


def test_findings_of_one_identity_are_numbered_as_in_the_report_that_had_them_first(store: Store) -> None:
    variants = [replace(GONE, description=f"variant {number} is gone") for number in range(3)]
    with store:
        store.save_verdicts([given(store, *variants)])
        name = identity(GONE).hex()
        found, _ = store.findings(name, 9)
        assert {one.identity: one.finding for one in found} == dict(identified(variants))
        ((second,), _) = store.findings(f"{name}-2", 9)
        assert second.finding == variants[1]
        latest, more = store.findings(name, 2)
        assert (len(latest), more) == (2, 1)


def test_findings_with_other_values_are_of_one_place_and_have_identities_of_their_own(store: Store) -> None:
    added = [replace(RISKY, new_value=value) for value in ("int y", "int y[100]")]
    with store:
        store.save_verdicts([given(store, *added)])
        for one in added:
            ((found,), more) = store.findings(identity(one).hex(), 9)
            assert (found.finding, found.identity, more) == (one, identity(one).hex(), 0)
        found_there, _ = store.findings(place(RISKY).hex(), 9)
        assert {found.finding for found in found_there} == set(added)


def test_places_are_those_of_the_releases_and_not_of_the_judgement(store: Store) -> None:
    norm, gone = (replace(RISKY, name=function("norm")), replace(GONE, name=function("norm")))
    with store:
        symbols = {function("norm"): EXPORTED}
        for number, line in (("2.0", 7), ("2.1", 8), ("2.2", 9)):
            places = {function("norm"): Location("geo.c", line)}
            store.ingest(snapshot(number, symbols=symbols, locations=places), IngestRequest(number))
        for new in ("2.1", "2.2"):
            store.save_verdicts([given(store, gone, norm, sides=("2.0", new))])
        assert sql(store.database, "SELECT count(*) FROM finding WHERE verdict_id > 1") == [(0,)]
        made = given(store, sides=("2.0", "2.2"))
        found = store.find_verdict(made.old, made.new, RulingKey(), "e1")
        assert found is not None
        assert [one.location for one in found.comparison.findings] == [Location("geo.c", 7), Location("geo.c", 9)]
        ((first,), _) = store.findings(identity(gone).hex(), 9)
        assert first.finding.location == Location("geo.c", 7)


def test_releases_of_equal_content_have_verdicts_of_their_own(store: Store) -> None:
    """What judging reads of a release is more than its content: evidence, compilers, files."""
    with store:
        again = snapshot("again", symbols={function(name): EXPORTED for name in ("area", "norm", "gone", "f1")})
        other = store.ingest(again, IngestRequest("1.1-rebuilt")).release
        made = given(store, GONE)
        store.save_verdicts([made])
        assert other.digest == made.new.digest
        assert store.find_verdict(made.old, other, RulingKey(), "e1") is None


def test_a_row_says_who_asked_first_and_what_both_sides_showed(store: Store) -> None:
    made = replace(given(store, GONE), asker="ana (abistore history)")
    with store:
        store.save_verdicts([made])
        store.save_verdicts([replace(made, asker="ben (mcp: agent)")])
        (told,) = store.verdict_summaries(LINE, "e1").values()
        shown = {"symbol": "full", "layout": "missing", "source": "missing"}
        assert (told.asker, told.evidence) == ("ana (abistore history)", (shown, shown))
        assert store.find_verdict(made.old, made.new, RulingKey(), "e1") == made
        for column in ("asker", "evidence"):
            for value in ("NULL", "'[{},{}]'"):
                with pytest.raises(StoreError), store.transaction():
                    sql(store.database, f"UPDATE verdict SET {column} = {value}")
                    store.verdict_summaries(LINE, "e1")


def test_a_row_of_a_former_schema_says_neither(path: Path) -> None:
    shutil.copy(Path(__file__).parent / "schemas" / "0011.db", path)
    with Store.open(path, write=True) as store:
        (told,) = store.verdict_summaries(LineKey("liblarge", str(X86)), "e").values()
        assert (told.asker, told.evidence) == ("", None)
        assert store.check() == ()
        sql(store.database, "UPDATE verdict SET asker = 'ben'")
        with pytest.raises(StoreError, match="the row of verdict"):
            store.verdict_summaries(LineKey("liblarge", str(X86)), "e")
