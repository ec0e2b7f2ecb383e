"""A store as one file, and back; and two stores that become one."""

from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from abistore.errors import BundleError, VersionTaken
from abistore.model.approvals import Approval
from abistore.model.environments import Environment, EnvironmentMember
from abistore.model.history import FindingReview, IngestRequest, LineKey, Merged, Side
from abistore.model.rules import Binding
from abistore.model.snapshot import Snapshot
from abistore.store import bundle_files
from abistore.store.bundle_files import (
    AnyRecord,
    ApprovalRecord,
    AuditLine,
    ConsumerRecord,
    EntryRecord,
    EnvironmentRecord,
    FindingRecord,
    LibraryRecord,
    LineRecord,
    MoveRecord,
    NameRecord,
    ReviewRecord,
    RuleRecord,
    ShapeRecord,
    SnapshotRecord,
    VerdictRecord,
)
from abistore.store.gathering import BundleSelection, gather
from abistore.store.merging import MergeWish
from abistore.store.store import Store
from abistore.store.tables import metadata
from abistore.store.verdicts import BROUGHT
from tests.store.builders import EXPORTED, X86, function, snapshot
from tests.store.schemas.build import fill, fill_with_every_fact, summary

LINE = LineKey("libgeo", str(X86))

CARRIED = {
    "library": (LibraryRecord, "lines and checksum are sums over what comes with it"),
    "line": (LineRecord, "its sums are over what comes with it"),
    "snapshot": (SnapshotRecord, "recomputed from its entries and provenance, and its digest compared"),
    "location": (SnapshotRecord, ""),
    "name": (NameRecord, ""),
    "shape": (ShapeRecord, ""),
    "entry": (EntryRecord, ""),
    "baseline_move": (MoveRecord, ""),
    "verdict": (VerdictRecord, ""),
    "verdict_part": (VerdictRecord, ""),
    "finding": (FindingRecord, "the first verdict that had it is the first in the bundle"),
    "review": (ReviewRecord, ""),
    "approval": (ApprovalRecord, ""),
    "consumer": (ConsumerRecord, ""),
    "consumer_import": (ConsumerRecord, ""),
    "consumer_type": (ConsumerRecord, ""),
    "environment": (EnvironmentRecord, ""),
    "environment_member": (EnvironmentRecord, ""),
    "bound_rule": (RuleRecord, ""),
    "audit": (AuditLine, "as the history of its source store"),
}
"""The record that carries what each table says, and what of it is not spelled out."""

ANEW = frozenset(
    {
        *("id", "line_id", "library_id", "old_id", "new_id", "snapshot_id", "verdict_id", "consumer_id"),
        *("environment_id", "checksum"),
    }
)
"""The columns that every store gives for itself: numbers of rows, and what seals them."""

LEFT_OUT = {
    "library": frozenset({"lines"}),
    "line": frozenset({"releases", "candidates", "moves"}),
    "snapshot": frozenset({"sha256", "size", "build_id", "soname", "exports", "declarations", "members"}),
    "name": frozenset({"digest", "entries"}),
    "shape": frozenset({"digest"}),
    "verdict": frozenset({"parts", "brought"}),
    "consumer": frozenset({"imported", "built"}),
    "audit": frozenset({"digest"}),
}
"""The other columns that are worked out again: sums, digests, what entries and provenance tell, and who judged."""

DERIVED = {
    "root": "sums over what the other tables hold",
    "calling": "made of names and shapes where they are written",
    "calling_sum": "sums over calling",
    "consequence": "made of findings where they are written",
}
"""The tables that a store makes of the others."""


def test_every_table_has_its_place_in_a_bundle() -> None:
    assert {table.name for table in metadata.sorted_tables} == {*CARRIED, *DERIVED}
    assert not CARRIED.keys() & DERIVED.keys()


RENAMED = {
    "line": {"library"},
    "location": {"body"},
    "entry": {"line", "facet", "name_id", "shape_id", "first_seq", "last_seq"},
    "verdict": set(BROUGHT),
    "verdict_part": {"part", "body"},
    "approval": set(Approval.__struct_fields__),
    "review": set(FindingReview.__struct_fields__),
    "environment": set(Environment.__struct_fields__),
    "environment_member": set(EnvironmentMember.__struct_fields__),
    "bound_rule": set(Binding.__struct_fields__),
    "consumer_import": {"body"},
    "consumer_type": {"name_id", "shape_id"},
}
"""Columns that a record carries in another form."""


def test_every_column_has_its_place_in_a_bundle() -> None:
    for table in metadata.sorted_tables:
        if table.name in CARRIED:
            told = {*CARRIED[table.name][0].__struct_fields__, *RENAMED.get(table.name, ())}
            columns = {column.name for column in table.columns} - ANEW
            assert columns - told == LEFT_OUT.get(table.name, frozenset()), table.name


def take(store: Store, bundle: bytes, prefer: Side | None = None, *, dry_run: bool = False) -> Merged:
    return store.merge(bundle_files.read(io.BytesIO(bundle), "bundle"), MergeWish("bundle", prefer, dry_run))


def without_audit(bundle: bytes) -> list[object]:
    return [each for each in bundle_files.read(io.BytesIO(bundle), "bundle") if not isinstance(each, AuditLine)]


def audit_of(bundle: bytes) -> set[object]:
    return {each for each in bundle_files.read(io.BytesIO(bundle), "bundle") if isinstance(each, AuditLine)}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "filled.db"
    with Store.open(path, write=True) as store:
        fill(store)
        fill_with_every_fact(store)
    return path


def test_a_store_is_the_same_after_a_journey_to_another_database_and_back(
    filled: Path, address: str, tmp_path: Path
) -> None:
    with Store.open(filled, write=False) as source, Store.open(address, write=True) as store:
        bundle = source.bundle()
        assert source.bundle() == bundle
        done = take(store, bundle)
        assert done.changed
        assert store.check() == ()
        there, here = summary(source), summary(store)
        assert {**here, "audit": None} == {**there, "audit": None, "findings": []}  # nobody here found any
        again = store.bundle()
        assert without_audit(again) == without_audit(bundle)
        assert audit_of(bundle) <= audit_of(again)
    with Store.open(tmp_path / "back.db", write=True) as back:
        take(back, again)
        assert without_audit(back.bundle()) == without_audit(bundle)
        assert back.check() == ()


def test_what_is_brought_twice_changes_nothing(filled: Path, address: str) -> None:
    with Store.open(filled, write=False) as source, Store.open(address, write=True) as store:
        bundle = source.bundle()
        take(store, bundle)
        once = store.bundle()
        done = take(store, bundle)
        assert not done.changed
        assert {one.status for one in done.releases} == {"known"}
        assert store.bundle() == once


def test_a_dry_run_tells_what_comes_and_changes_nothing(filled: Path, address: str) -> None:
    with Store.open(filled, write=False) as source, Store.open(address, write=True) as store:
        before = store.bundle()
        told = take(store, source.bundle(), dry_run=True)
        assert store.bundle() == before
        done = take(store, source.bundle())
        assert msgspec.structs.replace(told, dry_run=False) == done
        assert (done.earlier, done.baseline_moves, done.verdicts, done.findings) == (1, 1, 1, 1)
        assert (done.reviews, done.approvals, done.consumers, done.environments, done.rules) == (2, 5, 2, 5, 5)


def test_the_history_of_the_source_is_told_in_the_audit(filled: Path, address: str) -> None:
    with Store.open(filled, write=False) as source, Store.open(address, write=True) as store:
        take(store, source.bundle())
        there = source.audit(1000)
        newest, *told = store.audit(1000)
        assert (newest.action, newest.subject, newest.origin) == ("merge", "bundle", "")
        assert [msgspec.structs.replace(one, origin="") for one in told[: len(there)]] == list(there)
        assert all(one.origin for one in told[: len(there)])


@pytest.mark.parametrize("damage", ["cut", "flipped", "longer", "line", "newer"])
def test_a_damaged_bundle_is_refused_and_leaves_the_store_as_it_was(filled: Path, address: str, damage: str) -> None:
    with Store.open(filled, write=False) as source:
        whole = source.bundle()
    text = gzip.decompress(whole)
    damaged = {
        "cut": whole[:-20],
        "flipped": whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1 :],
        "longer": whole + whole,
        "line": gzip.compress(text.replace(b"unused", b"abused", 1)),
        "newer": gzip.compress(text.replace(b'"format":1', b'"format":2', 1)),
    }[damage]
    with Store.open(address, write=True) as store:
        before = store.bundle()
        with pytest.raises(BundleError) as refused:
            take(store, damaged)
        assert refused.value.code == "bundle"
        assert store.bundle() == before


def bundle_of(text: bytes) -> bytes:
    """A bundle of changed lines whose digest is right: what only somebody who means it makes."""
    return bundle_files.write(msgspec.json.decode(line, type=AnyRecord) for line in text.splitlines()[:-1])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"entry","line":0', b'"entry","line":9'),
        (b'"entry","line":0', b'"entry","line":-1'),
        (b'"line":0,"facet":0', b'"line":0,"facet":2'),
        (b'"version":"1.0"', b'"version":"a@b\\n"'),
        (b'"scheme":"pep440"', b'"scheme":"mine"'),
        (b'"verdict":4', b'"verdict":5'),
        (b'"new":3', b'"new":77'),
        (b'"findings":[0]', b'"findings":[7]'),
        (b'"kind":"func_removed"', b'"kind":"func_added"'),
        (b'"channel":"release","version":"1.0"', b'"channel":"release","version":"7.0"'),
        (b'"sequence":2', b'"sequence":0'),
        (b'"digest":"', b'"digest":"00'),
    ],
)
def test_a_forged_bundle_is_refused_and_leaves_the_store_as_it_was(
    filled: Path, path: Path, old: bytes, new: bytes
) -> None:
    with Store.open(filled, write=False) as source:
        text = gzip.decompress(source.bundle())
    assert old in text
    with Store.open(path, write=True) as store:
        before = store.bundle()
        with pytest.raises(BundleError):
            take(store, bundle_of(text.replace(old, new, 1)))
        assert store.bundle() == before


def stores(address: str, tmp_path: Path) -> tuple[Store, Store]:
    return Store.open(address, write=True), Store.open(tmp_path / "other.db", write=True)


def geo(*names: str, marker: str = "") -> Snapshot:
    return snapshot(marker, symbols={function(name): EXPORTED for name in names}, layout={})


def test_another_content_under_one_label_is_a_conflict_until_a_side_is_preferred(address: str, tmp_path: Path) -> None:
    here, there = stores(address, tmp_path)
    with here, there:
        for store, name in ((here, "f"), (there, "g")):
            store.ingest(geo(name), IngestRequest("1.0"))
            store.ingest(geo("both"), IngestRequest("1.1"))
        before = here.bundle()
        with pytest.raises(VersionTaken, match=r"libgeo@1\.0"):
            take(here, there.bundle())
        assert here.bundle() == before
        told = take(here, there.bundle(), dry_run=True)
        assert [one.status for one in told.releases] == ["conflict", "known"]
        assert len(told.conflicts) == 1
        kept = take(here, there.bundle(), "here")
        assert [one.status for one in kept.releases] == ["kept", "known"]
        mine = here.resolve("libgeo@1.0")
        assert function("f") in here.load(mine).entries["symbol"]
        assert not take(here, there.bundle()).changed  # decided once
        assert here.check() == ()


def test_the_preferred_content_takes_the_place_and_baselines_follow(address: str, tmp_path: Path) -> None:
    here, there = stores(address, tmp_path)
    with here, there:
        for store, name in ((here, "f"), (there, "g")):
            store.ingest(geo(name), IngestRequest("1.0"))
        here.set_baseline(LINE, "release", "1.0", "ana", "shipped")
        done = take(here, there.bundle(), "there")
        assert [one.status for one in done.releases] == ["replaced"]
        standing = here.resolve("libgeo@baseline")
        assert function("g") in here.load(standing).entries["symbol"]
        assert here.check() == ()


def test_a_release_that_was_replaced_on_one_side_is_no_conflict(address: str, tmp_path: Path) -> None:
    here, there = stores(address, tmp_path)
    with here, there:
        here.ingest(geo("f"), IngestRequest("1.0"))
        take(there, here.bundle())
        there.ingest(geo("g"), IngestRequest("1.0", replace=True))
        done = take(here, there.bundle())
        assert "replaced" in {one.status for one in done.releases}
        assert function("g") in here.load(here.resolve("libgeo@1.0")).entries["symbol"]


def test_baselines_moved_on_both_sides_are_a_conflict(address: str, tmp_path: Path) -> None:
    here, there = stores(address, tmp_path)
    with here, there:
        for version in ("1.0", "1.1", "1.2"):
            here.ingest(geo(f"f{version}"), IngestRequest(version))
        here.set_baseline(LINE, "release", "1.0", "ana", "")
        take(there, here.bundle())
        there.set_baseline(LINE, "release", "1.1", "ben", "")
        take(here, there.bundle())
        assert here.resolve("libgeo@baseline").version == "1.1"
        there.set_baseline(LINE, "release", "1.2", "ben", "")
        here.set_baseline(LINE, "release", "1.0", "ana", "back")
        with pytest.raises(VersionTaken, match=r"baseline release .* is at 1\.2 there, and at 1\.0 here"):
            take(here, there.bundle())
        take(here, there.bundle(), "here")
        assert here.resolve("libgeo@baseline").version == "1.0"
        assert not take(here, there.bundle()).changed


def test_a_baseline_at_a_release_that_was_taken_back_here_is_a_conflict(address: str, tmp_path: Path) -> None:
    here, there = stores(address, tmp_path)
    with here, there:
        here.ingest(geo("f"), IngestRequest("1.0"))
        take(there, here.bundle())
        there.set_baseline(LINE, "release", "1.0", "ben", "")
        here.forget(here.resolve("libgeo@1.0"), "ana", "by mistake")
        with pytest.raises(VersionTaken, match=r"is at 1\.0 there, which was removed here"):
            take(here, there.bundle())
        kept = take(here, there.bundle(), "here")
        assert "was removed here" in kept.notes[0]
        assert here.releases("libgeo") == () == here.baselines()
        assert here.check() == ()
        brought = take(here, there.bundle(), "there")
        assert [one.status for one in brought.releases] == ["added"]
        assert function("f") in here.load(here.resolve("libgeo@1.0")).entries["symbol"]
        assert here.check() == ()


def test_releases_of_both_sides_keep_their_order(address: str, tmp_path: Path) -> None:
    here, there = stores(address, tmp_path)
    with here, there:
        here.ingest(geo("a"), IngestRequest("nightly-x"))
        take(there, here.bundle())
        here.ingest(geo("b"), IngestRequest("nightly-c"))
        for label in ("nightly-b", "nightly-a"):
            there.ingest(geo(label), IngestRequest(label))
        take(here, there.bundle())
        labels = [one.version for one in sorted(here.releases("libgeo"), key=lambda one: one.sequence)]
        assert labels == ["nightly-x", "nightly-c", "nightly-b", "nightly-a"]
        assert here.check() == ()


def test_chosen_libraries_and_releases_come_alone(filled: Path, address: str) -> None:
    with Store.open(filled, write=False) as source, Store.open(address, write=True) as store:
        chosen = BundleSelection(("libgeo",), (source.resolve("liblarge@1.0"), source.resolve("liblarge@1.3")))
        take(store, source.bundle(chosen))
        assert {(one.line.library, one.version) for line in store.lines() for one in store.releases(line.library)} == {
            ("libgeo", "R_1"),
            ("liblarge", "1.0"),
            ("liblarge", "1.3"),
        }
        for reference in ("liblarge@1.0", "liblarge@1.3", "libgeo@R_1"):
            assert store.load(store.resolve(reference)) == source.load(source.resolve(reference))
        assert [move.channel for move in store.baselines()] == ["release"]
        assert len(store.approvals()) == 5
        assert store.check() == ()


def test_what_was_said_last_holds_whichever_side_said_it(address: str, tmp_path: Path) -> None:
    here, there = stores(address, tmp_path)
    with here, there:
        for store in (here, there):
            store.ingest(geo("f"), IngestRequest("1.0"))
        there.review(FindingReview("libgeo", "0" * 20, "seen", "", "ana", datetime(2026, 1, 1, tzinfo=UTC)))
        here.review(FindingReview("libgeo", "0" * 20, "intended", "", "ben", datetime(2026, 1, 2, tzinfo=UTC)))
        take(here, there.bundle())
        assert here.reviews()[-1].state == "intended"
        assert not take(here, there.bundle()).changed


def test_a_store_is_brought_into_another_without_a_file(filled: Path, address: str) -> None:
    with Store.open(filled, write=False) as source, Store.open(address, write=True) as store:
        store.merge(gather(source.database), MergeWish("filled"))
        assert without_audit(store.bundle()) == without_audit(source.bundle())
