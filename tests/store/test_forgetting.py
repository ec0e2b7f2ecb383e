"""A release that was stored wrongly is taken back, and nothing else."""

from __future__ import annotations

import pytest

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.history import IngestRequest
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, record, snapshot, struct

ONE = snapshot("one", symbols={function("f"): EXPORTED}, layout={record("point"): struct("x")})
TWO = snapshot("two", symbols={function("f"): EXPORTED}, layout={record("point"): struct("x", "y")})
THREE = snapshot("three", symbols={function("f"): EXPORTED}, layout={record("point"): struct("x", "y", "z")})


def fill(store: Store) -> None:
    for version, content in (("1.0", ONE), ("9.9", TWO), ("1.2", THREE)):
        store.ingest(content, IngestRequest(version))


def versions(store: Store) -> list[str]:
    return [release.version for release in store.releases("libgeo")]


def test_a_line_goes_on_without_a_release_that_was_taken_back(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        wrong = store.resolve("libgeo@9.9")
        store.forget(wrong, "ana", "a wrong label")
        assert versions(store) == ["1.0", "1.2"]
        assert [(event.release.version, event.action) for event in next(iter(store.logs(["point"]).values()))] == [
            ("1.0", "appeared"),
            ("1.2", "changed"),
        ]
        assert store.load(store.resolve("libgeo@1.2")).entries == THREE.entries
        assert store.resolve(wrong.digest) == wrong
        assert store.check() == ()


def test_the_file_may_be_stored_again_under_another_version_or_the_same(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        store.forget(store.resolve("libgeo@9.9"))
        assert not store.known(TWO.provenance.sha256)
        for version in ("1.1", "9.9"):
            assert not store.ingest(TWO, IngestRequest(version)).known
        assert versions(store) == ["1.0", "1.1", "1.2", "9.9"]
        assert store.load(store.resolve("libgeo@1.1")).entries == TWO.entries
        assert store.check() == ()


def test_the_audit_tells_who_took_what_back_and_why(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        wrong = store.resolve("libgeo@9.9")
        store.forget(wrong, "ana", "a wrong label")
        last = store.audit(1)[0]
    assert (last.actor, last.action) == ("ana", "forget")
    assert last.subject.startswith("libgeo@9.9 ")
    assert wrong.digest in last.detail
    assert last.detail.endswith("; a wrong label")


def test_a_baseline_is_not_taken_back(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        release = store.resolve("libgeo@9.9")
        store.set_baseline(release.line, "main", "9.9")
        with pytest.raises(UsageError, match="baseline main points at it"):
            store.forget(release)
        assert versions(store) == ["1.0", "1.2", "9.9"]
        store.set_baseline(release.line, "main", "1.2")
        store.forget(release)
        assert versions(store) == ["1.0", "1.2"]


def test_what_was_taken_back_before_is_told(address: str) -> None:
    with Store.open(address, write=True) as store:
        fill(store)
        wrong = store.resolve("libgeo@9.9")
        store.forget(wrong)
        with pytest.raises(SnapshotNotFound, match="replaced or removed before"):
            store.forget(wrong)


def test_a_library_without_a_release_is_none(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(ONE, IngestRequest("1.0"))
        store.forget(store.resolve("libgeo@1.0"))
        assert store.lines() == ()
        with pytest.raises(SnapshotNotFound, match="no such library"):
            store.resolve("libgeo@1.0")
