"""Retention: what goes is no release and nobody needs it, and what stays answers as before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from abistore.diffing.judge.judged import compare
from abistore.errors import UsageError
from abistore.interface import ApprovalPlan, approve, exports, findings, open_store
from abistore.model.history import IngestRequest, Release
from abistore.model.snapshot import Snapshot
from abistore.report.plain import plain
from abistore.service.administration import PrunedStore, RetentionPlan, db_audit, db_prune, older_than
from abistore.service.verdicts import judged
from abistore.store import pruning
from abistore.store.store import Store
from tests.laws.histories import history

EVERY = RetentionPlan(keep_last=1)


def ingested(address: str, releases: Sequence[Snapshot], labels: Sequence[str]) -> list[Release]:
    """Snapshots as releases with these labels."""
    with Store.open(address, write=True) as store:
        requests = [IngestRequest(version=label, library="lib") for label in labels]
        return [store.ingest(each, request).release for each, request in zip(releases, requests, strict=True)]


def filled(address: str, seed: int, count: int = 12) -> None:
    """A random history in which two of three labels are of builds between releases; two snapshots are taken back."""
    labels = [f"1.{n // 3}.0" + (f"-{n % 3}-gabc{n:04x}" if n % 3 else "") for n in range(count)]
    found = ingested(address, history(seed, count), labels)
    with Store.open(address, write=True) as store:
        for each in Random(seed).sample(found[:-1], 2):
            store.forget(each, "me", "by mistake")
        for old, new in pairwise(store.releases("lib")):
            store.save_verdicts([judged(store, old, new).given])


def answers(address: str, versions: Sequence[str]) -> dict[str, Any]:
    """What the store says of releases."""
    with Store.open(address, write=False) as store:
        held = {each.version: each for each in store.releases("lib") if each.version in versions}
        loaded = {version: store.load(each) for version, each in held.items()}
        cards = {version: (each.sequence, each.digest, each.released) for version, each in held.items()}
    with open_store(address) as opened:
        exported = {version: plain(exports(f"lib@{version}", database=opened).items) for version in held}
    return {"cards": cards, "loaded": loaded, "names": {v: [e["display"] for e in x] for v, x in exported.items()}}


def is_release(version: str) -> bool:
    return "-g" not in version


def versions(done: PrunedStore) -> list[str]:
    return [each.version for each in done.snapshots]


@pytest.mark.parametrize("seed", range(5))
def test_what_stays_answers_as_before_and_the_store_is_sound(seed: int, address: str) -> None:
    filled(address, seed)
    with Store.open(address, write=False) as store:
        before = [each.version for each in store.releases("lib")]
    kept = [version for version in before if is_release(version)] + before[-1:]
    told = answers(address, kept)
    dry = db_prune(RetentionPlan(keep_last=1, dry_run=True), database=address)
    done = db_prune(EVERY, database=address)
    assert versions(dry) == versions(done)
    assert {"build", "replaced"} <= {each.reason for each in done.snapshots}
    assert not {version for version in versions(done) if is_release(version)} - {
        each.version for each in done.snapshots if each.reason == "replaced"
    }
    with Store.open(address, write=False) as store:
        assert store.check() == ()
        after = store.releases("lib")
        assert set(kept) <= {each.version for each in after}
        for old, new in pairwise(after):
            sides = store.load_many([old, new])
            assert judged(store, old, new).given.comparison.verdict == compare(*sides).verdict
    assert answers(address, kept) == told
    assert db_prune(EVERY, database=address).snapshots == ()


def test_what_is_interrupted_leaves_the_store_as_it_was(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(address, 1)
    with Store.open(address, write=False) as store:
        before, held = store.releases("lib"), store.stats().verdicts

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pruning, "record", fail)
    with pytest.raises(KeyboardInterrupt):
        db_prune(EVERY, database=address)
    with Store.open(address, write=False) as store:
        assert store.releases("lib") == before
        assert store.stats().verdicts == held
        assert store.check() == ()


@pytest.mark.parametrize("seed", range(3))
def test_a_line_goes_on_after_it_was_pruned(seed: int, address: str) -> None:
    """What comes after is stored, and read, as if nothing had gone."""
    filled(address, seed)
    db_prune(EVERY, database=address)
    later = history(seed + 50, 4)
    found = ingested(address, later, [f"2.{place}.0" for place in range(4)])
    with Store.open(address, write=False) as store:
        assert [store.load(each).entries for each in found] == [each.entries for each in later]
        assert store.check() == ()


def test_what_a_baseline_stood_at_and_what_was_approved_stays(address: str) -> None:
    filled(address, 1)
    with Store.open(address, write=True) as store:
        builds = [each for each in store.releases("lib") if not is_release(each.version)]
        store.set_baseline(builds[0].line, "main", builds[0].version, "me", "first")
        store.set_baseline(builds[0].line, "main", store.releases("lib")[-1].version, "me", "then")
        pair = next(
            (old, new)
            for old, new in pairwise(store.releases("lib"))
            if judged(store, old, new).given.comparison.findings and not is_release(new.version)
        )
        finding = judged(store, *pair).report.changes[0].id
    approve(finding, ApprovalPlan(reason="meant", library="lib"), database=address)
    gone = versions(db_prune(EVERY, database=address))
    assert builds[0].version not in gone
    assert not {each.version for each in pair} & set(gone)
    with open_store(address) as opened:
        assert findings(finding, database=opened).findings[0].change.approved is not None
    with Store.open(address, write=False) as store:
        assert store.check() == ()


def test_age_and_number_choose_together(address: str) -> None:
    filled(address, 2)
    now = datetime.now(UTC)
    assert versions(db_prune(RetentionPlan(before=now - timedelta(days=1)), database=address)) == []
    some = db_prune(RetentionPlan(keep_last=6, before=now + timedelta(days=1), dry_run=True), database=address)
    every = db_prune(RetentionPlan(before=now + timedelta(days=1), dry_run=True), database=address)
    assert set(versions(some)) < set(versions(every))


def test_the_audit_says_what_went_and_why(address: str) -> None:
    filled(address, 3)
    done = db_prune(RetentionPlan(keep_last=1, actor="ci", reason="thirty days"), database=address)
    told = [each for each in db_audit(database=address) if each.action == "prune"]
    assert len(told) == len(done.snapshots) > 0
    assert all("thirty days" in each.detail and each.actor == "ci" for each in told)


def test_a_plan_that_keeps_nothing_is_refused(address: str) -> None:
    filled(address, 0, 3)
    for plan in (RetentionPlan(), RetentionPlan(keep_last=0)):
        with pytest.raises(UsageError):
            db_prune(plan, database=address)


@pytest.mark.parametrize(
    ("text", "day"), [("30d", "2026-01-01"), ("2 weeks", "2026-01-17"), ("2025-12-24", "2025-12-24")]
)
def test_ages_are_days_weeks_or_a_day(text: str, day: str) -> None:
    today = datetime(2026, 1, 31).date()
    assert f"{older_than(text, today):%Y-%m-%d}" == day
    with pytest.raises(UsageError, match="is not an age"):
        older_than("soon")
