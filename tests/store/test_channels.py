"""Baselines, verdicts, and the audit of both."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from abistore.errors import SnapshotNotFound, StoreError, UsageError
from abistore.model.findings import Verdict
from abistore.model.history import IngestRequest, LineKey, StoredVerdict
from abistore.store import verdicts
from abistore.store.store import Store
from tests.store.builders import ARM, X86, snapshot

LINE = LineKey("libgeo", str(X86))
JUDGED = datetime(2026, 5, 1, tzinfo=UTC)
VERDICT = StoredVerdict("ab" * 16, "cd" * 16, "strict_abi", "e1", Verdict.BREAKING, 2, 1, 0, 7, JUDGED, b'{"a": 1}')


def filled(store: Store) -> Store:
    for version in ("1.0", "1.1"):
        store.ingest(snapshot(version, symbols={}), IngestRequest(version))
        store.ingest(snapshot(version, symbols={}, target=ARM), IngestRequest(version))
    return store


def test_a_channel_stands_where_its_last_move_put_it(address: str) -> None:
    with Store.open(address, write=True) as store:
        filled(store)
        store.set_baseline(LINE, "release", "1.0", "ana", "shipped")
        move = store.set_baseline(LINE, "release", "1.1", "ben", "shipped too")
        store.set_baseline(LINE, "main", "1.0")
        assert [(move.channel, move.version) for move in store.baselines("libgeo")] == [
            ("main", "1.0"),
            ("release", "1.1"),
        ]
        assert store.baselines() == store.baselines("libgeo")
        assert store.baselines("libother") == ()
        moves = store.baseline_history("libgeo", "release")
        assert [(m.version, m.actor, m.reason) for m in moves] == [
            ("1.0", "ana", "shipped"),
            ("1.1", "ben", "shipped too"),
        ]
        assert moves[-1] == move
        assert len(store.baseline_history("libgeo")) == 3
        assert "1.1; was 1.0; shipped too" in [record.detail for record in store.audit()]


def test_channels_of_two_lines_are_apart(address: str) -> None:
    with Store.open(address, write=True) as store:
        filled(store)
        arm = LineKey("libgeo", str(ARM))
        store.set_baseline(LINE, "release", "1.0")
        store.set_baseline(arm, "release", "1.1")
        assert store.resolve("libgeo@baseline", target=str(ARM)).version == "1.1"
        assert [(move.line, move.version) for move in store.baselines()] == [(arm, "1.1"), (LINE, "1.0")]


def test_moving_a_channel_to_where_it_stands_is_a_no_op(address: str) -> None:
    with Store.open(address, write=True) as store:
        filled(store)
        first = store.set_baseline(LINE, "release", "1.0", "ana", "shipped")
        before = store.stats()
        assert store.set_baseline(LINE, "release", "1.0", "ben", "again") == first
        assert store.stats() == before


def test_a_cleared_channel_is_gone_and_its_history_is_not(address: str) -> None:
    with Store.open(address, write=True) as store:
        filled(store)
        store.set_baseline(LINE, "release", "1.0")
        store.set_baseline(LINE, "release", None, "ana", "withdrawn")
        assert store.baselines() == ()
        assert [move.version for move in store.baseline_history("libgeo")] == ["1.0", None]
        with pytest.raises(SnapshotNotFound):
            store.resolve("libgeo@baseline")
        with pytest.raises(SnapshotNotFound, match="is not set"):
            store.set_baseline(LINE, "release", None)


def test_a_baseline_at_nothing_is_refused(path: Path) -> None:
    with Store.open(path, write=True) as store:
        filled(store)
        with pytest.raises(SnapshotNotFound, match=r"no release 1\.2") as caught:
            store.set_baseline(LINE, "release", "1.2")
        assert caught.value.hint == "stored: 1.0, 1.1"
        with pytest.raises(SnapshotNotFound):
            store.set_baseline(LineKey("libother", str(X86)), "release", "1.0")
        with pytest.raises(UsageError):
            store.set_baseline(LINE, "", "1.0")
        assert store.baseline_history("libgeo") == ()


def test_a_verdict_is_found_by_its_sides_policy_and_engine(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.save_verdict(VERDICT, actor="ana")
        assert store.find_verdict(VERDICT.old_digest, VERDICT.new_digest, "strict_abi", "e1") == VERDICT
        assert store.find_verdict(VERDICT.new_digest, VERDICT.old_digest, "strict_abi", "e1") is None
        assert store.find_verdict(VERDICT.old_digest, VERDICT.new_digest, "sdk_vendor", "e1") is None
        assert store.find_verdict(VERDICT.old_digest, VERDICT.new_digest, "strict_abi", "e2") is None
        assert (store.audit(1)[0].action, store.audit(1)[0].actor) == ("verdict", "ana")


def test_judging_again_makes_a_new_row_unless_the_same_is_said(address: str) -> None:
    other = replace(VERDICT, comparison=b"{}", judged=datetime(2026, 5, 2, tzinfo=UTC))
    newer = replace(VERDICT, engine="e2", verdict=Verdict.NO_CHANGE)
    with Store.open(address, write=True) as store:
        for judgement in (VERDICT, replace(VERDICT, judged=datetime(2026, 6, 1, tzinfo=UTC)), other, newer):
            store.save_verdict(judgement)
        assert store.verdicts() == (VERDICT, other, newer)
        assert store.find_verdict(VERDICT.old_digest, VERDICT.new_digest, "strict_abi", "e1") == other
        assert store.verdicts(new_digest=VERDICT.new_digest) == store.verdicts()
        assert store.verdicts(old_digest=VERDICT.new_digest) == ()


def test_verdicts_that_mention_a_text_come_newest_first(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "_BATCH", 2)
    made = [replace(VERDICT, engine=f"e{number}", comparison=b'{"id":"%06d"}' % (number % 2)) for number in range(7)]
    with Store.open(address, write=True) as store:
        for each in made:
            store.save_verdict(each)
        assert list(store.verdicts_mentioning(b'"id":"000001')) == [made[5], made[3], made[1]]
        assert list(store.verdicts_mentioning(b'"id":"2')) == []


def test_a_damaged_verdict_is_told(path: Path) -> None:
    with Store.open(path, write=True) as store:
        store.save_verdict(VERDICT)
        store.database.run("UPDATE verdict SET comparison = ?", (b"no",))
        with pytest.raises(StoreError, match="damaged"):
            store.verdicts()
