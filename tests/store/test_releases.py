"""Release order, and what comes before what."""

from __future__ import annotations

from pathlib import Path

import pytest

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.history import IngestRequest
from abistore.store.store import Store
from tests.store.builders import ARM, EXPORTED, X86, function, snapshot


def ingest(store: Store, *versions: str, **line: str) -> None:
    for version in versions:
        target = ARM if line.get("target") == "arm" else X86
        content = snapshot(version, symbols={function(f"f_{version}"): EXPORTED}, target=target)
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


def test_a_label_that_is_no_version_moves_nothing_and_is_not_the_latest(address: str) -> None:
    with Store.open(address, write=True) as store:
        ingest(store, "v2.0-rc1", "v2.0", "nightly", "126bde0", "v1.9", "2.0-3-gabcdef0", "main")
        assert versions(store) == ["v1.9", "v2.0-rc1", "v2.0", "2.0-3-gabcdef0", "nightly", "126bde0", "main"]
        assert store.resolve("libgeo@latest").version == "2.0-3-gabcdef0"
        assert store.resolve("libgeo@prev").version == "v2.0"
        before = [store.previous(release) for release in store.releases("libgeo")[3:]]
        assert [release and release.version for release in before] == ["v2.0", "2.0-3-gabcdef0", "nightly", "126bde0"]
        (line,) = store.lines()
        preceding = [store.preceding(line, version) for version in ("v2.0", "v3.0", "foo", "nightly")]
        assert [one and one.version for one in preceding] == ["v2.0-rc1", "2.0-3-gabcdef0", "main", "main"]


def test_releases_that_are_no_versions_stand_in_the_order_of_ingestion(address: str) -> None:
    with Store.open(address, write=True) as store:
        hashes = ["fe1a2b3", "0123abc", "1234567", "9f8e7d6"]
        ingest(store, *hashes)
        assert versions(store) == hashes
        assert (store.resolve("libgeo@latest").version, store.resolve("libgeo@prev").version) == ("9f8e7d6", "1234567")


def test_whatever_arrives_leaves_the_others_in_their_order(address: str) -> None:
    labels = """
    v2.0-rc1 v2.0 1.0.2 1.0.2a nightly 1.0.2-beta1 2.36-9+deb12u7 v1.0.0-1-g126bde0 R_2_0 20240501 main 1.0.0-rc.1
    126bde0 nightly-2024-05-01 1:0.1 1.0~rc1 r123 1.0.0-foo 1.2.3.4 foo v1.0.0 2024-01-01 1!1.0 zzz 1.0.post1 3.0git"""
    with Store.open(address, write=True) as store:
        before: list[str] = []
        for label in labels.split():
            ingest(store, label)
            after = versions(store)
            assert [one for one in after if one != label] == before
            before = after


def test_a_scheme_that_is_declared_tells_what_it_moves(address: str) -> None:
    with Store.open(address, write=True) as store:
        ingest(store, "1.0.0", "1.0.0-1", "0.9.0")
        (order,) = store.set_scheme("libgeo", "semver", actor="ana")
        assert versions(store) == ["0.9.0", "1.0.0-1", "1.0.0"]
        assert (order.latest, order.latest_before, order.moved) == ("1.0.0", "1.0.0-1", ("1.0.0-1", "1.0.0"))
        line = "libgeo (elf-x86_64-64-little, default)"
        assert store.audit(1)[0].detail == f"semver; was auto; {line}: 2 moved, latest 1.0.0, was 1.0.0-1"
        (order,) = store.set_scheme("libgeo", "semver", actor="ben")
        assert (order.moved, store.audit(1)[0].actor) == ((), "ana")


def test_the_labels_that_a_scheme_cannot_order_are_told(path: Path) -> None:
    with Store.open(path, write=True) as store:
        ingest(store, "nightly", "1.0", "main")
        (order,) = store.orders("libgeo")
        assert (order.scheme, order.latest, order.unordered) == ("auto", "1.0", ("nightly", "main"))


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
