"""Judgements in the store: what is remembered, under what, and what a timeline reads of it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.errors import StoreError
from abistore.model.findings import Churn, Comparison, Finding, Impact, NotChecked, RulingKey, Verdict, identified
from abistore.model.history import IngestRequest, LineKey, StoredVerdict
from abistore.store.store import Store
from tests.store.builders import EXPORTED, X86, function, record, snapshot

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
        for each in (made, later, other):
            store.save_verdicts([each])
        assert store.stats().verdicts == 2
        assert store.find_verdict(made.old, made.new, RulingKey(), "e1") == other


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
        (gone,), (size,) = (list(store.findings(next(iter(identified([finding])))[0])) for finding in (GONE, SIZE))
        assert (gone.finding, gone.old.version, gone.new.version) == (GONE, "1.0", "1.1")
        assert size.finding == SIZE
        assert list(store.findings("0123456789ab")) == []


def test_a_damaged_verdict_is_told(path: Path) -> None:
    with Store.open(path, write=True) as store:
        for number in (0, 1):
            store.ingest(
                snapshot(str(number), symbols={function(f"f{number}"): EXPORTED}), IngestRequest(f"1.{number}")
            )
        made = given(store, GONE)
        store.save_verdicts([made])
        store.database.run("UPDATE verdict SET comparison = ?", (b"no",))
        with pytest.raises(StoreError, match="damaged"):
            store.find_verdict(made.old, made.new, RulingKey(), "e1")
