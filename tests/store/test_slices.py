"""A large store comes into another one in slices, and a bundle in parts: as if all came at once."""

from __future__ import annotations

import gc
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from abistore.errors import BundleError, VersionTaken
from abistore.interface import (
    BindingPlan,
    MergePlan,
    bind,
    bound,
    db_merge,
    env_record,
    export_bundle,
    unbind,
    verdict,
)
from abistore.model.history import AuditRecord, IngestRequest, Merged
from abistore.service.verdicts import verdict_between
from abistore.store import gathering, merging
from abistore.store.bundle_files import Contents
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, snapshot
from tests.store.test_bundles import bundle_of, without_audit
from tests.store.test_site import ingest

LIBRARIES = [f"lib{number}" for number in range(5)]


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "MOST_TOGETHER", 500)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Five libraries, judged within each and one beside another, with rules and an environment."""
    path = tmp_path / "source.db"
    for library in LIBRARIES:
        ingest(path, library, 3)
        verdict(f"{library}@1.2", against="1.1", database=path)
    with Store.open(path, write=False) as store:
        across = store.resolve("lib0@1.1"), store.resolve("lib4@1.1")
    verdict_between(*across, database=path)
    bind("lib*", BindingPlan("shipped", require="symbol"), database=path)
    bind("lib3", BindingPlan("LTS", policy="sdk_vendor", since_soname=True), database=path)
    bind("lib4", BindingPlan("a trial"), database=path)
    unbind("lib4", reason="it is over", database=path)
    env_record("production", ["lib0@1.1", "lib4@1.1"], database=path)
    return path


def merged(source: Path, address: str, plan: MergePlan | None = None) -> Merged:
    return db_merge(source, plan or MergePlan(actor="ana"), database=address)


def audit_of(address: str) -> tuple[AuditRecord, ...]:
    with Store.open(address, write=False) as store:
        return store.audit_records()


def said(store: Store) -> list[bytes]:
    return sorted(map(msgspec.json.encode, without_audit(store.bundle())))


def merges(address: str) -> list[str]:
    return [one.detail for one in audit_of(address) if one.action == "merge" and not one.origin]


def interrupted_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a merge end without a farewell when so many slices came."""
    came: list[Sequence[str]] = []
    whole = merging._Slices._slice

    def stops(slices: merging._Slices, libraries: Sequence[str], *more: object) -> Merged:
        if len(came) == count:
            raise KeyboardInterrupt
        came.append(libraries)
        return whole(slices, libraries, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(merging._Slices, "_slice", stops)


def test_slices_bring_what_one_transaction_brings(
    source: Path, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = merged(source, address)
    monkeypatch.setattr(merging, "MOST_TOGETHER", 1 << 40)
    at_once = merged(source, str(tmp_path / "at_once.db"))
    assert sorted(told.releases, key=str) == sorted(at_once.releases, key=str)
    assert (told.verdicts, told.audit_records, told.changed) == (at_once.verdicts, at_once.audit_records, True)
    assert (told.rules, told.environments) == (at_once.rules, at_once.environments) == (4, 3)
    assert told.verdicts == len(LIBRARIES) + 1
    assert merges(address) == merges(str(tmp_path / "at_once.db"))
    with Store.open(address, write=False) as store, Store.open(source, write=False) as there:
        assert store.check() == ()
        assert said(store) == said(there)


def test_a_merge_that_is_interrupted_keeps_its_slices_and_the_next_one_goes_on(
    source: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        interrupted_after(3, patched)
        with pytest.raises(KeyboardInterrupt):
            merged(source, address)
    assert merges(address) == []
    with Store.open(address, write=False) as store:
        assert store.check() == ()
        assert len({line.library for line in store.lines()}) == 3
    told = merged(source, address)
    assert {one.status for one in told.releases} == {"known", "added"}
    assert len(merges(address)) == 1
    assert not merged(source, address).changed
    with Store.open(address, write=False) as store:
        assert store.stats().releases == 15
        assert store.check() == ()


def test_what_differs_is_found_before_a_slice_comes(source: Path, address: str) -> None:
    with Store.open(address, write=True) as store:
        other = snapshot("other", library="lib4", symbols={function("f"): EXPORTED})
        store.ingest(other, IngestRequest("1.2"))
    before = audit_of(address)
    with pytest.raises(VersionTaken, match=r"lib4@1\.2"):
        merged(source, address)
    assert audit_of(address) == before
    told = merged(source, address, MergePlan(prefer="there"))
    assert {one.status for one in told.releases if one.line.library == "lib4"} == {"added", "replaced"}


def test_rules_that_contradict_each_other_let_no_slice_come(source: Path, address: str) -> None:
    with Store.open(address, write=True):
        pass
    bind("lib3", BindingPlan("ours", policy="plugin_abi"), database=address)
    with pytest.raises(VersionTaken, match="'lib3' is bound to"):
        merged(source, address)
    assert any("lib3" in each for each in merged(source, address, MergePlan(dry_run=True)).conflicts)
    with Store.open(address, write=False) as store:
        assert store.stats().releases == 0
    assert merged(source, address, MergePlan(prefer="there")).rules == 4
    found = {one.rule.pattern: one.rule.policy for one in bound(database=address)}
    assert found == {"lib*": "", "lib3": "sdk_vendor"}


def test_a_dry_run_tells_all_slices_and_keeps_none(source: Path, address: str) -> None:
    with Store.open(address, write=True):
        pass
    before = audit_of(address)
    told = merged(source, address, MergePlan(dry_run=True))
    assert (len(told.releases), told.dry_run, told.changed) == (15, True, True)
    assert (told.rules, told.environments) == (4, 3)
    assert audit_of(address) == before


def test_a_release_never_comes_without_its_history(source: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted_after(1, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        merged(source, address)
    told = {one.subject.split("@")[0] for one in audit_of(address) if one.action == "ingest"}
    with Store.open(address, write=False) as store:
        assert {line.library for line in store.lines()} <= told


# --- bundles in parts


@pytest.fixture
def bundle(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same store as a bundle of several parts."""
    monkeypatch.setattr(gathering, "MOST_TOGETHER", 500)
    monkeypatch.setattr(gathering, "_LINES_TOGETHER", 7)
    path = tmp_path / "source.bundle"
    path.write_bytes(export_bundle(database=source).data)
    assert lines_of(path).count(b'{"is":"part"}') > len(LIBRARIES)
    return path


def lines_of(bundle: Path) -> list[bytes]:
    return gzip.decompress(bundle.read_bytes()).splitlines()


def test_a_bundle_in_parts_brings_what_one_part_brings(
    source: Path, bundle: Path, address: str, tmp_path: Path
) -> None:
    told, at_once = merged(bundle, address), merged(source, str(tmp_path / "at_once.db"))
    assert msgspec.structs.replace(told, source="") == msgspec.structs.replace(at_once, source="")
    assert len(merges(address)) == 1
    assert told.verdicts == len(LIBRARIES) + 1
    with Store.open(address, write=False) as store, Store.open(source, write=False) as there:
        assert store.check() == ()
        assert said(store) == said(there)
    assert not merged(bundle, address).changed


def test_one_part_of_a_bundle_is_in_memory_at_a_time(
    bundle: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    whole = merging._bring

    def counts(*words: Any) -> object:
        held.append(sum(isinstance(each, Contents) for each in gc.get_objects()))
        return whole(*words)

    monkeypatch.setattr(merging, "_bring", counts)
    merged(bundle, address)
    assert len(held) > len(LIBRARIES)
    assert set(held) == {1}


def test_a_bundle_that_is_damaged_at_its_end_stores_nothing(bundle: Path, tmp_path: Path) -> None:
    head, audit, last = (b"\n".join(lines_of(bundle)) + b"\n").rpartition(b'{"is":"audit"')
    bundle.write_bytes(gzip.compress(head + audit + last.replace(b'"action":"', b'"action":"re', 1)))
    with pytest.raises(BundleError, match="digest does not match"):
        merged(bundle, str(tmp_path / "new.db"))
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize("fault", ["digest", "library"])
def test_a_forged_last_part_takes_back_the_parts_before_it(bundle: Path, address: str, fault: str) -> None:
    text = b"\n".join(lines_of(bundle)) + b"\n"
    library, other = b'{"is":"library","name":"lib3"', b'{"is":"library","name":"lib2"'
    head, last = text[: text.index(library)], text[text.index(library) :]
    last = last.replace(library, other, 1) if fault == "library" else last.replace(b'"digest":"', b'"digest":"00', 1)
    bundle.write_bytes(bundle_of(head + last))
    with Store.open(address, write=True) as store:
        before = store.bundle()
    with pytest.raises(BundleError):
        merged(bundle, address)
    with Store.open(address, write=False) as store:
        assert store.bundle() == before


def test_a_conflict_in_the_last_part_takes_back_the_parts_before_it(bundle: Path, address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(snapshot("other", library="lib4", symbols={function("f"): EXPORTED}), IngestRequest("1.2"))
        before = store.bundle()
    with pytest.raises(VersionTaken, match=r"lib4@1\.2"):
        merged(bundle, address)
    assert len(merged(bundle, address, MergePlan(dry_run=True)).conflicts) == 1
    with Store.open(address, write=False) as store:
        assert store.bundle() == before


def test_chosen_libraries_come_in_parts_too(source: Path, bundle: Path, address: str) -> None:
    bundle.write_bytes(export_bundle(["lib0", "lib4", "lib2@1.1"], database=source).data)
    told = merged(bundle, address)
    assert {(one.line.library, one.version) for one in told.releases} == {
        *(("lib0", version) for version in ("1.1", "1.2", "1.3")),
        *(("lib4", version) for version in ("1.1", "1.2", "1.3")),
        ("lib2", "1.1"),
    }
    with Store.open(address, write=False) as store:
        assert store.check() == ()
    assert told.verdicts == 3  # one within each whole library, and the one across both
