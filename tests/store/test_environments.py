"""Environments in a store: what was recorded stays as written, and goes along with bundles and merges."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from abistore.errors import UsageError
from abistore.model.environments import Environment, EnvironmentMember
from abistore.model.history import IngestRequest, Merged
from abistore.store import bundle_files
from abistore.store.bundle_files import EnvironmentRecord
from abistore.store.gathering import BundleSelection
from abistore.store.merging import MergeWish
from abistore.store.store import Store
from tests.store.builders import EXPORTED, X86, function, snapshot

START = datetime(2026, 5, 1, tzinfo=UTC)


def member(version: str, *, soname: str = "libgeo.so.1", day: int = 0) -> EnvironmentMember:
    """A release of libgeo, recorded on some day."""
    return EnvironmentMember(
        "library",
        "libgeo",
        str(X86),
        START + timedelta(days=day),
        "ana",
        "default",
        version,
        version.replace(".", "").ljust(32, "0"),
        soname,
        version.replace(".", "").ljust(64, "0"),
        "libgeo.so",
    )


def record(store: Store, *members: EnvironmentMember, beside: bool = False, name: str = "production") -> None:
    store.record_members(name, members, beside=beside, actor="ana")


def versions(store: Store, name: str = "production") -> tuple[list[str], list[str]]:
    """What is there, and what was."""
    found = store.environment(name)
    return [each.version for each in found.members], [each.version for each in found.earlier]


def merged(store: Store, source: Store, *, dry_run: bool = False) -> Merged:
    records = bundle_files.read(io.BytesIO(source.bundle()), "bundle")
    return store.merge(records, MergeWish("bundle", None, dry_run))


def test_what_is_recorded_is_read_as_it_was_written(address: str) -> None:
    with Store.open(address, write=True) as store:
        record(store, member("1.0"), EnvironmentMember("program", "app", str(X86), START, "ana", sha256="ab"))
        found = store.environment("production")
        assert [each.label for each in found.members] == ["libgeo@1.0", "app"]
        assert found.members[0] == member("1.0")
        assert store.check() == ()
        assert [each.subject for each in store.audit()][:2] == ["app in production", "libgeo@1.0 in production"]


def test_a_version_replaces_the_one_that_is_loaded_by_the_same_name(address: str) -> None:
    with Store.open(address, write=True) as store:
        record(store, member("1.0"))
        record(store, member("2.0", soname="libgeo.so.2"), beside=True)
        record(store, member("1.1"))
        assert versions(store) == (["1.1", "2.0"], ["1.0"])
        record(store, member("1.1", day=1))
        assert versions(store) == (["1.1", "2.0"], ["1.0"])
        with pytest.raises(UsageError, match="which one does it replace"):
            record(store, member("3.0", soname="libgeo.so.3"))
        assert store.check() == ()


def test_versions_beside_each_other_are_replaced_together(address: str) -> None:
    with Store.open(address, write=True) as store:
        record(store, member("1.0"))
        record(store, member("1.1"), beside=True)
        record(store, member("1.1"))
        assert versions(store) == (["1.1"], ["1.0"])
        ended = store.environment("production").earlier[0]
        assert (ended.until, ended.ended_by) == (START, "ana")


def test_a_merge_takes_over_what_is_new_and_what_ended(address: str, tmp_path: Path) -> None:
    with Store.open(address, write=True) as here, Store.open(tmp_path / "there.db", write=True) as there:
        record(there, member("1.0"))
        record(there, member("1.0"), name="staging")
        assert merged(here, there, dry_run=True).environments == 4
        assert here.environments() == ()
        assert merged(here, there).environments == 4
        assert here.environments() == there.environments()
        assert not merged(here, there).changed
        record(there, member("1.1", day=1))
        assert merged(here, there).environments == 2
        assert versions(here) == (["1.1"], ["1.0"])
        assert not merged(there, here).environments
        assert here.check() == ()


def test_what_both_sides_recorded_is_there_beside_each_other(address: str, tmp_path: Path) -> None:
    with Store.open(address, write=True) as here, Store.open(tmp_path / "there.db", write=True) as there:
        record(here, member("1.0"))
        record(there, member("1.1"))
        merged(here, there)
        merged(there, here)
        assert versions(here) == versions(there)
        assert sorted(versions(here)[0]) == ["1.0", "1.1"]


def test_a_part_of_a_store_leaves_environments_out(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(snapshot(symbols={function("f"): EXPORTED}, layout={}), IngestRequest("1.0"))
        record(store, member("1.0"))
        part = bundle_files.read(io.BytesIO(store.bundle(BundleSelection(libraries=("libgeo",)))), "bundle")
        assert not [each for each in part if isinstance(each, EnvironmentRecord)]


def test_an_environment_with_a_name_that_no_command_accepts_is_left_out(path: Path) -> None:
    forged = EnvironmentRecord(Environment("a@b", START, "eva", (member("1.0"),)))
    with Store.open(path, write=True) as store:
        records = [*bundle_files.read(io.BytesIO(store.bundle()), "bundle"), forged]
        done = store.merge(records, MergeWish("bundle"))
        assert done.left_out[0].startswith("environment a@b: ")
        assert store.environments() == ()


def test_a_build_that_is_recorded_is_kept_when_others_are_pruned(path: Path) -> None:
    with Store.open(path, write=True) as store:
        labels = [f"1.0-{number}-gabc000{number}" for number in range(1, 4)]
        builds = [
            store.ingest(snapshot(symbols={function(f"f{label}"): EXPORTED}, layout={}), IngestRequest(label)).release
            for label in labels
        ]
        first = builds[0]
        recorded = EnvironmentMember(
            "library", "libgeo", str(X86), START, "ana", "default", first.version, first.digest, "libgeo.so"
        )
        record(store, recorded)
        assert [each.release.version for each in store.prunable(None, keep_last=1, before=None)] == labels[1:2]
