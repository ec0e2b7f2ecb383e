"""Snapshots that failed their gate and were kept: named by who means them, and never taken for releases."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from abistore.errors import SnapshotNotFound, UsageError, VersionTaken
from abistore.model.history import IngestRequest
from abistore.store import opening
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, snapshot

GOOD = snapshot("good", symbols={function("f"): EXPORTED, function("g"): EXPORTED})
BAD = snapshot("bad", symbols={function("f"): EXPORTED})
WORSE = snapshot("worse", symbols={})
MENDED = snapshot("mended", symbols={function("f"): EXPORTED, function("g"): EXPORTED, function("h"): EXPORTED})


def kept(store: Store) -> list[tuple[str, str]]:
    return [(candidate.reference, candidate.digest) for candidate in store.candidates("libgeo")]


def fill(store: Store) -> None:
    """Release 1.0, and a build of 1.1 that failed its gate."""
    store.ingest(GOOD, IngestRequest("1.0"))
    store.ingest(BAD, IngestRequest("1.1", candidate=True, actor="ana"))


def test_a_candidate_is_found_where_it_is_meant_and_nowhere_else(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        candidate = store.resolve("libgeo@candidate:1.1")
        assert (candidate.candidate, candidate.version, candidate.reference) == (True, "1.1", "libgeo@candidate:1.1")
        assert store.resolve(candidate.digest[:10]) == candidate
        assert store.load(candidate).entries == BAD.entries
        assert [release.version for release in store.releases("libgeo")] == ["1.0"]
        assert store.resolve("libgeo@latest").version == "1.0"
        for reference in ("libgeo@1.1", "libgeo@prev", "libgeo@candidate:1.0"):
            with pytest.raises(SnapshotNotFound):
                store.resolve(reference)
        assert store.check() == ()


def test_a_candidate_precedes_nothing_answers_for_no_file_and_takes_no_label(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        assert store.known(BAD.provenance.sha256) is None
        assert not store.may_know(BAD.provenance.size, "1.1")
        before = store.preceding(store.lines()[0], "1.2")
        assert before is not None and before.version == "1.0"
        outcome = store.ingest(MENDED, IngestRequest("1.1"))
        assert (outcome.known, outcome.replaced, outcome.release.candidate) == (False, False, False)
        assert store.resolve("libgeo@latest") == outcome.release
        assert store.load(outcome.release).entries == MENDED.entries


def test_a_release_settles_the_candidate_of_its_label(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        digest = store.resolve("libgeo@candidate:1.1").digest
        store.ingest(MENDED, IngestRequest("1.1"))
        assert kept(store) == []
        assert store.resolve(digest).version == "1.1"
        assert store.stats().candidates == 0


def test_the_very_build_that_failed_may_become_a_release(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        assert not store.ingest(BAD, IngestRequest("1.1", read_here=True)).release.candidate
        assert store.known(BAD.provenance.sha256) == store.resolve("libgeo@1.1")
        assert kept(store) == []


def test_a_candidate_takes_the_place_of_the_one_before_it(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        assert store.ingest(BAD, IngestRequest("1.1", candidate=True)).known
        worse = store.ingest(WORSE, IngestRequest("1.1", candidate=True)).release
        assert kept(store) == [("libgeo@candidate:1.1", worse.digest)]
        assert store.load(worse).entries == WORSE.entries
        assert store.check() == ()


def test_a_candidate_may_stand_beside_the_release_that_it_was_to_replace(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        store.ingest(WORSE, IngestRequest("1.0", candidate=True))
        assert store.load(store.resolve("libgeo@1.0")).entries == GOOD.entries
        assert store.load(store.resolve("libgeo@candidate:1.0")).entries == WORSE.entries
        store.ingest(MENDED, IngestRequest("1.0", replace=True))
        assert [reference for reference, _ in kept(store)] == ["libgeo@candidate:1.1"]


def test_a_library_of_candidates_only_says_so(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(BAD, IngestRequest("1.0", candidate=True))
        assert store.lines() == ()
        with pytest.raises(SnapshotNotFound, match="only candidates") as caught:
            store.resolve("libgeo@latest")
        assert "libgeo@candidate:1.0" in caught.value.hint
        assert store.resolve("libgeo@candidate:1.0").version == "1.0"


def test_a_missing_release_whose_candidate_is_kept_is_told_with_it(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        with pytest.raises(SnapshotNotFound) as caught:
            store.resolve("libgeo@1.1")
        assert "candidate:1.1" in caught.value.hint


def test_no_version_looks_like_a_candidate(path: Path) -> None:
    with Store.open(path, write=True) as store, pytest.raises(UsageError):
        store.ingest(GOOD, IngestRequest("candidate:1.0"))


def test_a_candidate_can_be_taken_back(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        store.forget(store.resolve("libgeo@candidate:1.1"), "ana", "noise")
        assert kept(store) == []
        assert [release.version for release in store.releases("libgeo")] == ["1.0"]


def test_what_is_kept_and_counted_is_audited(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        (last, *_) = store.audit()
        assert (last.actor, last.action) == ("ana", "candidate")
        assert last.subject.startswith("libgeo@1.1 ")
        assert (store.stats().releases, store.stats().candidates) == (1, 1)


# --- replacing what a baseline names ------------------------------------------------------------------------------


def test_a_release_at_which_a_baseline_stands_is_not_replaced(address: str) -> None:
    with Store.open(address, write=True) as store:
        release = store.ingest(GOOD, IngestRequest("1.0")).release
        store.set_baseline(release.line, "main", "1.0")
        for ask in (store.place, store.ingest):
            with pytest.raises(UsageError, match="baseline main points at it"):
                ask(BAD, IngestRequest("1.0", replace=True))
            with pytest.raises(VersionTaken):
                ask(BAD, IngestRequest("1.0"))
        assert store.load(store.resolve("libgeo@baseline:main")).entries == GOOD.entries
        assert store.ingest(GOOD, IngestRequest("1.0", replace=True)).known


def test_a_baseline_is_replaced_for_a_reason_and_its_history_says_so(address: str) -> None:
    with Store.open(address, write=True) as store:
        old = store.ingest(GOOD, IngestRequest("1.0")).release
        store.set_baseline(old.line, "main", "1.0", "ana", "shipped")
        request = IngestRequest("1.0", replace=True, replace_baseline="built without a patch", actor="ben")
        new = store.ingest(BAD, request).release
        first, second = store.baseline_history("libgeo")
        assert (first.version, first.digest, first.reason) == ("1.0", old.digest, "shipped")
        assert (second.version, second.digest, second.reason) == ("1.0", new.digest, "built without a patch")
        assert (second.channel, second.actor) == ("main", "ben")
        last = store.audit(1)[0]
        assert (last.actor, last.action) == ("ben", "baseline")
        assert all(text in last.detail for text in (old.digest, new.digest, "built without a patch"))


def test_an_upgrade_tells_what_content_a_baseline_stands_at(path: Path) -> None:
    shutil.copy(Path(__file__).parent / "schemas" / "0001.db", path)
    opening.upgrade(path)
    with Store.open(path, write=False) as store:
        (move,) = store.baselines("liblarge")
        assert move.digest == store.resolve("liblarge@baseline").digest


# --- transactions within transactions -----------------------------------------------------------------------------


def test_what_is_written_within_one_transaction_is_written_together_or_not_at_all(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(GOOD, IngestRequest("1.0"))
        line = store.lines()[0]
        with pytest.raises(SnapshotNotFound), store.transaction():
            store.hold(line)
            store.ingest(BAD, IngestRequest("1.1"))
            store.set_baseline(line, "main", "1.1")
            store.set_baseline(line, "main", "9.9")
        assert [release.version for release in store.releases("libgeo")] == ["1.0"]
        assert store.baselines() == ()
        with store.transaction():
            store.ingest(BAD, IngestRequest("1.1"))
            store.set_baseline(line, "main", "1.1")
        assert store.resolve("libgeo@baseline:main").version == "1.1"
