"""Baselines, and the audit of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.history import IngestRequest, LineKey
from abistore.store.store import Store
from tests.store.builders import ARM, X86, snapshot

LINE = LineKey("libgeo", str(X86))


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
