"""What a reference names, and what is said when it names nothing or too much."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from abistore.errors import SnapshotNotFound
from abistore.model.history import IngestRequest, LineKey
from abistore.store import releases
from abistore.store.store import Store
from tests.store.builders import ARM, EXPORTED, X86, function, snapshot

LINE = LineKey("libgeo", str(X86))


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """libgeo 1.0, 1.1 and 2.0, ingested newest first; 1.1 and 2.0 have the same content."""
    with Store.open(path, write=True) as store:
        two = snapshot("two", symbols={function("geo_norm"): EXPORTED, function("geo_area"): EXPORTED})
        store.ingest(two, IngestRequest("2.0"))
        store.ingest(snapshot("one", symbols={function("geo_norm"): EXPORTED}), IngestRequest("1.0"))
        store.ingest(two, IngestRequest("1.1"))
        yield store


@pytest.mark.parametrize(
    ("label", "version"),
    [("1.0", "1.0"), ("latest", "2.0"), ("prev", "1.1"), ("baseline", "1.0"), ("baseline:main", "1.1")],
)
def test_a_label_names_a_release(store: Store, label: str, version: str) -> None:
    store.set_baseline(LINE, "release", "1.0")
    store.set_baseline(LINE, "main", "1.1")
    assert store.resolve(f"libgeo@{label}").version == version


def test_a_digest_prefix_of_six_digits_or_more_names_a_release(store: Store) -> None:
    release = store.resolve("libgeo@1.0")
    for length in (6, 7, 31, 32):
        assert store.resolve(release.digest[:length]) == release
    assert store.resolve(release.digest.upper()) == release


def test_a_digest_of_several_releases_names_the_latest_ingested(store: Store) -> None:
    assert store.resolve(store.resolve("libgeo@2.0").digest).version == "1.1"


@pytest.mark.parametrize(
    ("reference", "message", "hint"),
    [
        ("libgeo@1.3", "no such version", "did you mean"),
        ("libgeo@zzz", "no such version", "stored: 1.0, 1.1, 2.0"),
        ("libgoe@1.0", "no such library", "did you mean libgeo?"),
        ("libgeo", r"libgeo: which release\?", "libgeo@latest"),
        ("libgeo@baseline", "no baseline is set in channel release", "abistore db baseline set"),
        ("libgeo@baseline:main", "no baseline is set in channel main", "abistore db baseline set"),
        ("abcdef01", "no snapshot has this digest", "abistore list"),
        ("abcde", "neither a reference nor a digest", "LIBRARY@VERSION"),
        ("", "neither a reference nor a digest", "LIBRARY@VERSION"),
        ("@1.0", "no such library", "libgeo"),
        ("libgeo@", "no such version", "1.0"),
    ],
)
def test_what_is_not_there_is_told_with_what_was_meant(store: Store, reference: str, message: str, hint: str) -> None:
    with pytest.raises(SnapshotNotFound, match=message) as caught:
        store.resolve(reference)
    assert hint in caught.value.hint


def test_a_digest_prefix_of_two_contents_is_ambiguous(store: Store) -> None:
    one, two = store.resolve("libgeo@1.0"), store.resolve("libgeo@2.0")
    shared = two.digest[:6] + "00" * 13
    releases.amend_card(store.database, releases.identifier(store.database, one), {"digest": bytes.fromhex(shared)})
    with pytest.raises(SnapshotNotFound, match="2 digests begin with this"):
        store.resolve(two.digest[:6])
    assert store.resolve(two.digest).digest == two.digest


def test_prev_of_an_only_release_is_told(path: Path) -> None:
    with Store.open(path, write=True) as store:
        store.ingest(snapshot(symbols={}), IngestRequest("1.0"))
        with pytest.raises(SnapshotNotFound, match="no release before the latest"):
            store.resolve("libgeo@prev")


def test_a_release_of_two_targets_is_ambiguous_until_one_is_said(store: Store) -> None:
    store.ingest(snapshot(symbols={}, target=ARM), IngestRequest("1.0"))
    with pytest.raises(SnapshotNotFound, match="stored in 2 lines") as caught:
        store.resolve("libgeo@1.0")
    assert str(ARM) in caught.value.hint
    assert store.resolve("libgeo@1.0", target=str(ARM)).target == ARM
    assert store.resolve("libgeo@1.1").target == X86


def test_the_default_profile_is_meant_where_none_is_said(store: Store) -> None:
    store.ingest(snapshot("debug", symbols={}), IngestRequest("1.0", profile="debug"))
    assert store.resolve("libgeo@1.0").line.profile == "default"
    assert store.resolve("libgeo@1.0", profile="debug").line.profile == "debug"
    with pytest.raises(SnapshotNotFound, match="not stored for release"):
        store.resolve("libgeo@1.0", profile="release")


def test_a_digest_that_is_not_stored_for_a_target_is_told(store: Store) -> None:
    with pytest.raises(SnapshotNotFound, match="not stored for"):
        store.resolve(store.resolve("libgeo@1.0").digest, target=str(ARM))


def test_nothing_stored_is_said(path: Path) -> None:
    with Store.open(path, write=True) as store, pytest.raises(SnapshotNotFound) as caught:
        store.resolve("libgeo@1.0")
    assert caught.value.hint == "nothing is stored yet"
