"""Laws of two stores that live on their own and are brought into each other, whatever was done to them between."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from abistore.errors import UsageError, VersionTaken
from abistore.model.approvals import Approval
from abistore.model.history import FindingReview, IngestRequest, LineKey, Merged, Release, Side
from abistore.model.snapshot import ReleaseTag, Snapshot
from abistore.service.verdicts import judged
from abistore.store import bundle_files
from abistore.store.bundle_files import AuditLine
from abistore.store.merging import MergeWish
from abistore.store.store import Store
from tests.draws import draws
from tests.store.builders import EXPORTED, function, record, snapshot, struct
from tests.store.test_store_laws import labelled

pytestmark = pytest.mark.full

LABELS = ("1.0", "1.1", "1.2-rc1", "1.2", "2.0")
SIDES = st.sampled_from(["here", "there"])
CONTENTS = st.builds(
    lambda names, fields: snapshot(
        symbols={function(each): EXPORTED for each in sorted(names)}, layout={record("a"): (struct(*fields),)}
    ),
    st.sets(st.sampled_from("fgh"), min_size=1),
    st.sampled_from([("x",), ("y",), ("x", "y")]),
)
START = datetime(2026, 1, 1, tzinfo=UTC)


def contents(store: Store, line: LineKey | None = None) -> dict[str, str]:
    """The content of each release and candidate that stands, by its label."""
    releases = [*store.releases("libgeo"), *store.candidates("libgeo")]
    return {one.version + "*" * one.candidate: one.digest for one in releases if line in {None, one.line}}


def said(bundle: bytes) -> list[object]:
    """All that a bundle holds, but the audit."""
    return [one for one in bundle_files.read(io.BytesIO(bundle), "bundle") if not isinstance(one, AuditLine)]


def take(store: Store, bundle: bytes, prefer: Side | None = None, *, dry_run: bool = False) -> Merged:
    return store.merge(bundle_files.read(io.BytesIO(bundle), "bundle"), MergeWish("bundle", prefer, dry_run))


class TwoStores(RuleBasedStateMachine):
    """Two stores of one library. Each content that was ever given is remembered beside them, by its digest."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.stores: Mapping[str, Store] = {
            side: Store.open(self.folder / f"{side}.db", write=True) for side in ("here", "there")
        }
        self.given: dict[str, Snapshot] = {}
        self.moments = 0

    def teardown(self) -> None:
        for store in self.stores.values():
            assert store.check() == ()
            store.close()
        shutil.rmtree(self.folder)

    def releases(self, side: str) -> tuple[Release, ...]:
        return tuple(self.stores[side].releases("libgeo"))

    def now(self) -> datetime:
        self.moments += 1
        return START + timedelta(hours=self.moments)

    @rule(side=SIDES, label=st.sampled_from(LABELS), content=CONTENTS, candidate=st.booleans(), replace=st.booleans())
    def ingest(self, side: str, label: str, content: Snapshot, candidate: bool, replace: bool) -> None:
        file_of_its_own = msgspec.structs.replace(
            content, provenance=msgspec.structs.replace(content.provenance, sha256=f"{len(self.given):064x}")
        )
        request = IngestRequest(label, candidate=candidate, replace=replace)
        try:
            done = self.stores[side].ingest(file_of_its_own, request)
        except (VersionTaken, UsageError):  # the label has another content, or a baseline points at it
            return
        self.given[done.release.digest] = content

    @rule(side=SIDES, place=st.integers(0, 9), channel=st.sampled_from(["release", "lts"]))
    def move(self, side: str, place: int, channel: str) -> None:
        if found := self.releases(side):
            chosen = found[place % len(found)]
            self.stores[side].set_baseline(chosen.line, channel, chosen.version, "ana", "")

    @rule(side=SIDES, place=st.integers(0, 9))
    def judge(self, side: str, place: int) -> None:
        if pairs := list(pairwise(self.releases(side))):
            store = self.stores[side]
            store.save_verdicts([judged(store, *pairs[place % len(pairs)]).given])

    @rule(side=SIDES, place=st.integers(0, 9), state=st.sampled_from(["seen", "intended"]))
    def say(self, side: str, place: int, state: str) -> None:
        store, identity = self.stores[side], f"{place:020x}"
        if not (found := self.releases(side)):
            return
        store.review(FindingReview("libgeo", identity, state, "", side, self.now()))
        store.approve([Approval("libgeo", identity, None, "forever", "", "meant", "", "ana", side, self.now())])
        store.tag(found[place % len(found)], [ReleaseTag(state)], side)

    @rule(side=SIDES, place=st.integers(0, 9))
    def take_back(self, side: str, place: int) -> None:
        store = self.stores[side]
        standing = {move.version for move in store.baselines()}
        if found := [one for one in self.releases(side) if one.version not in standing]:
            store.forget(found[place % len(found)], "ana", "by mistake")

    @rule(into=SIDES, prefer=SIDES)
    def merge(self, into: str, prefer: Side) -> None:
        store = self.stores[into]
        source = self.stores["there" if into == "here" else "here"]
        bundle, before = source.bundle(), store.bundle()
        held, theirs = contents(store), contents(source)
        told = take(store, bundle, prefer, dry_run=True)
        assert store.bundle() == before
        done = take(store, bundle, prefer)
        assert msgspec.structs.replace(told, dry_run=False) == done
        now = contents(store)
        assert now.keys() <= held.keys() | theirs.keys()
        for label in (held.keys() | theirs.keys()) - now.keys():
            replaced = label.endswith("*") and label.rstrip("*") in now
            stays_taken_back = label not in held and any("was removed here" in note for note in done.notes)
            assert replaced or stays_taken_back, label
        for label, digest in now.items():
            assert digest in {held.get(label), theirs.get(label)}
        once = store.bundle()
        again = take(store, bundle, prefer)
        assert not again.changed
        assert store.bundle() == once
        assert not take(store, once).changed
        assert store.check() == ()

    @rule(into=SIDES)
    def merge_without_preference(self, into: str) -> None:
        """What both sides say otherwise is refused, and nothing of it came."""
        store = self.stores[into]
        bundle, before = self.stores["there" if into == "here" else "here"].bundle(), store.bundle()
        told = take(store, bundle, dry_run=True)
        if told.conflicts:
            with pytest.raises(VersionTaken):
                take(store, bundle)
            assert store.bundle() == before
        else:
            assert msgspec.structs.replace(told, dry_run=False) == take(store, bundle)

    @rule(side=SIDES)
    def travel(self, side: str) -> None:
        """Bring a store into an empty one: nothing is lost, nothing is added."""
        bundle = self.stores[side].bundle()
        path = self.folder / "empty.db"
        with Store.open(path, write=True) as empty:
            take(empty, bundle)
            assert said(empty.bundle()) == said(bundle)
            assert empty.check() == ()
        for each in self.folder.glob("empty.db*"):
            each.unlink()

    @invariant()
    def every_release_loads_as_it_was_given(self) -> None:
        for store in self.stores.values():
            for release in (*store.releases("libgeo"), *store.candidates("libgeo")):
                expected = labelled(self.given[release.digest], "libgeo", release.version)
                assert store.load(release).entries == expected.entries


TwoStores.TestCase.settings = settings(
    max_examples=draws(40), stateful_step_count=14, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestTwoStores = TwoStores.TestCase
