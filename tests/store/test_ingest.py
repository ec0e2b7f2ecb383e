"""What an ingest writes, refuses, and answers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from abistore.errors import SnapshotNotFound, StoreError, UsageError, VersionTaken
from abistore.model.declarations import Name
from abistore.model.history import IngestRequest, LineKey
from abistore.model.snapshot import Location, Snapshot
from abistore.store.store import Store
from tests.store.builders import ARM, EXPORTED, function, large, record, snapshot, struct

NORM = function("geo_norm")
POINT = record("point")
FIRST = snapshot(symbols={NORM: EXPORTED}, layout={POINT: struct("x", "y")}, locations={POINT: Location("geo.h", 3)})
SECOND = snapshot(symbols={NORM: EXPORTED}, layout={POINT: struct("x", "y", "z")})
STRIPPED = snapshot(symbols={NORM: EXPORTED})


def entries(store: Store) -> int:
    return store.stats().entries


def test_a_snapshot_loads_as_it_was_ingested(address: str) -> None:
    with Store.open(address, write=True) as store:
        release = store.ingest(FIRST, IngestRequest("1.0")).release
    with Store.open(address, write=False) as store:
        assert store.load(release) == msgspec.structs.replace(FIRST, version="1.0")


def test_a_release_carries_what_the_caller_said_of_it(address: str) -> None:
    released = datetime(2026, 5, 1, 12, tzinfo=UTC)
    request = IngestRequest("1.0", "debug", "libother", revision="4f2a", url="https://ci/1", released=released)
    with Store.open(address, write=True) as store:
        store.ingest(FIRST, request)
        (release,) = store.releases("libother")
    assert release.line == LineKey("libother", "elf-x86_64-64-little", "debug")
    assert (release.revision, release.url, release.released) == ("4f2a", "https://ci/1", released)
    assert (release.soname, release.exports, release.declarations) == ("libgeo.so.1", 1, 2)
    assert release.provenance == FIRST.provenance
    assert release.evidence == FIRST.evidence


def test_the_same_content_again_is_a_no_op(address: str) -> None:
    with Store.open(address, write=True) as store:
        first = store.ingest(FIRST, IngestRequest("1.0"))
        before = store.stats()
        again = store.ingest(FIRST, IngestRequest("1.0"))
        assert store.stats() == before
    assert (first.known, again.known, again.entries_written) == (False, True, 0)
    assert again.release == first.release


def test_a_rebuild_with_the_same_content_is_a_no_op_unless_it_is_to_replace(address: str) -> None:
    rebuilt = msgspec.structs.replace(FIRST, provenance=msgspec.structs.replace(FIRST.provenance, sha256="f" * 64))
    with Store.open(address, write=True) as store:
        store.ingest(FIRST, IngestRequest("1.0"))
        assert store.ingest(rebuilt, IngestRequest("1.0")).release.provenance == FIRST.provenance
        outcome = store.ingest(rebuilt, IngestRequest("1.0", replace=True))
        assert (outcome.replaced, outcome.entries_written) == (True, 0)
        assert store.load(outcome.release).provenance == rebuilt.provenance


def test_a_known_file_is_found_by_its_sha256(address: str) -> None:
    sha256 = FIRST.provenance.sha256
    with Store.open(address, write=True) as store:
        assert store.known(sha256) is None
        release = store.ingest(FIRST, IngestRequest("1.0", read_here=True)).release
        assert store.known(sha256) == release
        assert store.known(sha256, "1.0", library="libgeo") == release
        assert store.known(sha256, "1.1") is None
        assert store.known(sha256, profile="debug") is None
        assert store.known(sha256, library="libother") is None
        assert store.known("") is None


def test_a_file_of_another_size_than_all_that_have_these_labels_need_not_be_digested(address: str) -> None:
    size = FIRST.provenance.size
    with Store.open(address, write=True) as store:
        assert not store.may_know(size)
        store.ingest(FIRST, IngestRequest("1.0", read_here=True))
        assert store.may_know(size)
        assert store.may_know(size, "1.0", library="libgeo")
        assert not any(store.may_know(other) for other in (0, size - 1, size // 10, 10 * size))
        assert not store.may_know(size, "1.1")
        assert not store.may_know(size, profile="debug")
        assert not store.may_know(size, library="libother")
        store.ingest(resized(SECOND, 2 * size), IngestRequest("1.0", replace=True, read_here=True))
        assert (store.may_know(size), store.may_know(2 * size)) == (False, True)


def test_what_came_in_as_json_answers_for_no_file_until_that_is_read_here(address: str) -> None:
    sha256, size = FIRST.provenance.sha256, FIRST.provenance.size
    with Store.open(address, write=True) as store:
        store.ingest(FIRST, IngestRequest("1.0"))
        assert (store.may_know(size), store.known(sha256)) == (False, None)
        outcome = store.ingest(FIRST, IngestRequest("1.0", read_here=True, actor="ana"))
        assert (outcome.known, store.may_know(size), store.known(sha256)) == (True, True, outcome.release)
        assert [(one.actor, one.action) for one in store.audit(1)] == [("ana", "read")]
        assert store.ingest(FIRST, IngestRequest("1.0", read_here=True)).known
        assert len(store.audit()) == 3
        assert store.check() == ()


def resized(snapshot: Snapshot, size: int) -> Snapshot:
    return replace(snapshot, provenance=replace(snapshot.provenance, size=size))


def test_names_and_shapes_that_another_line_brought_are_found_beside_new_ones(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(large(names=20), IngestRequest("1"))
        before = store.stats()
        again = store.ingest(large(names=20, library="libother"), IngestRequest("1"))
        assert store.stats().names == before.names
        more = store.ingest(large(2, names=30, step=1, library="libthird"), IngestRequest("1"))
        assert store.check() == ()
        for outcome, content in (
            (again, large(names=20, library="libother")),
            (more, large(2, names=30, step=1, library="libthird")),
        ):
            assert store.load(outcome.release) == replace(content, version="1")


def test_another_binary_under_a_taken_version_is_refused_and_nothing_is_written(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(FIRST, IngestRequest("1.0"))
        before = store.stats()
        with pytest.raises(VersionTaken, match=r"libgeo@1\.0: another binary"):
            store.ingest(SECOND, IngestRequest("1.0"))
        assert store.stats() == before


def test_the_same_file_read_with_less_evidence_is_refused_as_such(address: str) -> None:
    less = msgspec.structs.replace(STRIPPED, provenance=FIRST.provenance)
    with Store.open(address, write=True) as store:
        store.ingest(FIRST, IngestRequest("1.0"))
        with pytest.raises(VersionTaken, match="this file is stored"):
            store.ingest(less, IngestRequest("1.0"))


def test_a_replaced_binary_stays_in_the_audit_and_loads_by_its_digest(address: str) -> None:
    with Store.open(address, write=True) as store:
        old = store.ingest(FIRST, IngestRequest("1.0")).release
        outcome = store.ingest(SECOND, IngestRequest("1.0", replace=True, actor="ana"))
        assert outcome.replaced
        assert [release.digest for release in store.releases("libgeo")] == [outcome.release.digest]
        assert store.resolve("libgeo@1.0") == outcome.release
        assert store.load(store.resolve(old.digest)) == msgspec.structs.replace(FIRST, version="1.0")
        (newest,) = store.audit(1)
    assert (newest.actor, newest.action) == ("ana", "replace")
    assert old.digest in newest.detail
    assert FIRST.provenance.sha256 in newest.detail


def test_a_file_that_was_replaced_is_not_known_any_more(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(FIRST, IngestRequest("1.0"))
        store.ingest(SECOND, IngestRequest("1.0", replace=True))
        assert store.known(FIRST.provenance.sha256) is None


def test_the_same_version_is_free_on_another_target_profile_and_library(address: str) -> None:
    elsewhere = snapshot(symbols={NORM: EXPORTED}, target=ARM)
    with Store.open(address, write=True) as store:
        store.ingest(FIRST, IngestRequest("1.0"))
        store.ingest(elsewhere, IngestRequest("1.0"))
        store.ingest(SECOND, IngestRequest("1.0", profile="debug"))
        store.ingest(SECOND, IngestRequest("1.0", library="libother"))
        assert [(line.library, line.target[4:7], line.profile) for line in store.lines()] == [
            ("libgeo", "aar", "default"),
            ("libgeo", "x86", "debug"),
            ("libgeo", "x86", "default"),
            ("libother", "x86", "default"),
        ]


def test_shapes_are_shared_by_all_lines(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(large(), IngestRequest("1.0"))
        outcome = store.ingest(large(), IngestRequest("1.0", library="libother"))
    assert outcome.entries_written > 0
    assert outcome.shapes_written == 0


def test_only_what_changed_is_written(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(large(), IngestRequest("1.0"))
        outcome = store.ingest(large(2, step=1), IngestRequest("1.1"))
    assert outcome.entries_written == 8  # two functions and two records, each ended and begun
    assert outcome.shapes_written == 4


def test_a_stripped_build_writes_no_entries_and_loads_without_its_layout(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(FIRST, IngestRequest("1.0"))
        stripped = store.ingest(STRIPPED, IngestRequest("1.1"))
        full = store.ingest(
            snapshot("rebuilt", symbols={NORM: EXPORTED}, layout={POINT: struct("x", "y")}), IngestRequest("1.2")
        )
        assert (stripped.entries_written, full.entries_written) == (0, 0)
        assert store.load(stripped.release) == msgspec.structs.replace(STRIPPED, version="1.1")
        assert POINT in store.load(full.release).entries["layout"]


def test_an_empty_layout_of_a_build_without_debug_information_ends_no_history(address: str) -> None:
    empty = snapshot(symbols={NORM: EXPORTED}, layout={}, states={"layout": "missing"})
    with Store.open(address, write=True) as store:
        store.ingest(FIRST, IngestRequest("1.0"))
        outcome = store.ingest(empty, IngestRequest("1.1"))
        assert outcome.entries_written == 0
        assert store.load(outcome.release) == msgspec.structs.replace(empty, version="1.1")


def test_an_empty_layout_that_saw_everything_ends_what_was_there(address: str) -> None:
    empty = snapshot(symbols={NORM: EXPORTED}, layout={})
    with Store.open(address, write=True) as store:
        store.ingest(FIRST, IngestRequest("1.0"))
        assert store.ingest(empty, IngestRequest("1.1")).entries_written == 1


def test_the_hundredth_release_costs_a_twentieth_of_the_first_at_most(path: Path) -> None:
    sizes = []
    for step in range(101):
        with Store.open(path, write=True) as store:
            if step:
                store.ingest(large(4, names=400, step=step), IngestRequest(f"1.{step}"))
        sizes.append(path.stat().st_size)
    assert (sizes[100] - sizes[50]) / 50 <= 0.05 * (sizes[1] - sizes[0])


@pytest.mark.parametrize("version", ["", " 1.0", "1.0\n", "latest", "prev", "baseline", "baseline:main"])
def test_a_version_that_no_reference_could_name_is_refused(path: Path, version: str) -> None:
    with Store.open(path, write=True) as store, pytest.raises(UsageError):
        store.ingest(FIRST, IngestRequest(version))


@pytest.mark.parametrize("library", ["lib@geo", " libgeo", "lib\x00geo"])
def test_a_library_that_no_reference_could_name_is_refused(path: Path, library: str) -> None:
    with Store.open(path, write=True) as store, pytest.raises(UsageError):
        store.ingest(FIRST, IngestRequest("1.0", library=library))


def test_a_store_open_for_reading_refuses_to_ingest(address: str) -> None:
    Store.open(address, write=True).close()
    with Store.open(address, write=False) as store, pytest.raises(StoreError, match="for reading only"):
        store.ingest(FIRST, IngestRequest("1.0"))


def test_a_release_of_another_store_does_not_load(tmp_path: Path) -> None:
    with Store.open(tmp_path / "one.db", write=True) as one, Store.open(tmp_path / "two.db", write=True) as two:
        release = one.ingest(FIRST, IngestRequest("1.0")).release
        with pytest.raises(SnapshotNotFound):
            two.load(release)
        with pytest.raises(SnapshotNotFound):
            one.load(replace(release, sequence=2))


def test_locations_of_names_without_entries_are_kept(address: str) -> None:
    apart = snapshot(symbols={NORM: EXPORTED}, locations={Name("alias", "elsewhere"): Location("a.h", 7)})
    with Store.open(address, write=True) as store:
        release = store.ingest(apart, IngestRequest("1.0")).release
    with Store.open(address, write=False) as store:
        assert store.load(release).locations == apart.locations


def test_many_releases_load_at_once(path: Path) -> None:
    history = [large(1, names=3, step=step) for step in range(130)]
    with Store.open(path, write=True) as store:
        releases = [store.ingest(content, IngestRequest(f"{step}")).release for step, content in enumerate(history)]
        loaded = store.load_many(releases[::-1])
    assert [snapshot.entries for snapshot in loaded] == [content.entries for content in history[::-1]]
