"""Release order, and what comes before what."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.history import IngestRequest
from abistore.store.store import Store
from tests.store.builders import ARM, EXPORTED, function, snapshot


def ingest(store: Store, *versions: str, **line: str) -> None:
    for version in versions:
        target = {"target": ARM} if line.get("target") == "arm" else {}
        content = snapshot(version, symbols={function(f"f_{version}"): EXPORTED}, **target)  # type: ignore[arg-type]
        store.ingest(content, IngestRequest(version, line.get("profile", "default")))


def versions(store: Store) -> list[str]:
    return [release.version for release in store.releases("libgeo")]


def test_releases_come_in_release_order_and_carry_the_order_of_ingestion(address: str) -> None:
    with Store.open(address, write=True) as store:
        ingest(store, "1.10", "1.9", "1.9rc1")
        assert versions(store) == ["1.9rc1", "1.9", "1.10"]
        assert [release.sequence for release in store.releases("libgeo")] == [3, 2, 1]


def test_a_back_filled_release_takes_its_place(address: str) -> None:
    with Store.open(address, write=True) as store:
        ingest(store, "1.0", "2.0", "1.5")
        before = [store.previous(release) for release in store.releases("libgeo")]
        assert [release.version if release else None for release in before] == [None, "1.0", "1.5"]


def test_a_declared_scheme_orders_releases(address: str) -> None:
    with Store.open(address, write=True) as store:
        ingest(store, "1.0.2", "1.0.2a")
        assert versions(store) == ["1.0.2", "1.0.2a"]
        store.set_scheme("libgeo", "pep440", actor="ana")
        assert versions(store) == ["1.0.2a", "1.0.2"]
        assert store.scheme("libgeo") == "pep440"
        assert (store.audit(1)[0].action, store.audit(1)[0].actor) == ("scheme", "ana")


def test_a_scheme_that_does_not_read_the_stored_versions_is_refused(path: Path) -> None:
    with Store.open(path, write=True) as store:
        ingest(store, "R_1_0")
        with pytest.raises(UsageError):
            store.set_scheme("libgeo", "semver")
        assert store.scheme("libgeo") == "auto"


def test_a_version_that_the_declared_scheme_does_not_read_is_refused(path: Path) -> None:
    with Store.open(path, write=True) as store:
        ingest(store, "1.0.0")
        store.set_scheme("libgeo", "semver")
        with pytest.raises(UsageError):
            ingest(store, "R_1_0")
        assert versions(store) == ["1.0.0"]


def test_a_scheme_for_nothing_is_refused(path: Path) -> None:
    with Store.open(path, write=True) as store:
        with pytest.raises(SnapshotNotFound):
            store.set_scheme("libgeo", "semver")
        with pytest.raises(UsageError):
            store.set_scheme("libgeo", "calver")


def test_each_line_is_ordered_on_its_own(path: Path) -> None:
    with Store.open(path, write=True) as store:
        ingest(store, "2.0", "1.0")
        ingest(store, "R_2", "R_1", target="arm")
        assert versions(store) == ["R_1", "R_2", "1.0", "2.0"]
        (first, second) = store.releases("libgeo", target=str(ARM))
        assert store.previous(second) == first
        assert store.previous(first) is None


def test_a_library_that_is_not_stored_has_no_releases(path: Path) -> None:
    with Store.open(path, write=True) as store:
        assert store.releases("libgeo") == ()
        assert store.lines() == ()
