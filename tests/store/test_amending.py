"""What people say about a release: said later, said otherwise, taken away; and who said it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest

from abistore.errors import SnapshotNotFound
from abistore.model.history import IngestRequest, Release, ReleaseFacts
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, snapshot

CONTENT = snapshot(symbols={function("f"): EXPORTED})
DAY = datetime(2026, 5, 1, tzinfo=UTC)


def stored(store: Store, revision: str | None = None, url: str | None = None) -> Release:
    return store.ingest(CONTENT, IngestRequest("1.0", revision=revision, url=url)).release


def said(store: Store) -> ReleaseFacts:
    (release,) = store.releases("libgeo")
    return ReleaseFacts(release.released, release.revision, release.url)


def test_what_nobody_said_is_said_later_and_audited(address: str) -> None:
    with Store.open(address, write=True) as store:
        done = store.supplement(stored(store, revision="abc"), ReleaseFacts(DAY, "abc", "https://ci/1"), "ana")
        assert (done.changed, done.kept) == (("released", "url"), ())
        assert said(store) == ReleaseFacts(DAY, "abc", "https://ci/1")
        assert store.releases("libgeo") == (done.release,)
        (record, *_) = store.audit(1)
        assert (record.actor, record.action) == ("ana", "edit")
        assert record.subject == "libgeo@1.0 (elf-x86_64-64-little, default)"
        assert record.detail == "released 2026-05-01T00:00:00.000000+00:00, was -; url https://ci/1, was -"


def test_what_was_said_otherwise_stays_beside_what_is_said_now(address: str) -> None:
    with Store.open(address, write=True) as store:
        done = store.supplement(stored(store, revision="abc"), ReleaseFacts(DAY, "def", None), "ana")
        assert (done.changed, done.kept) == (("released",), ("revision",))
        assert said(store) == ReleaseFacts(DAY, "abc", None)


def test_what_is_said_already_writes_nothing(address: str) -> None:
    with Store.open(address, write=True) as store:
        stored(store, revision="abc")
        (release,) = store.releases("libgeo")
        before = store.audit()
        elsewhere = DAY.astimezone(timezone(timedelta(hours=9)))
        store.amend(release, ReleaseFacts(DAY), actor="", reason="")
        (release,) = store.releases("libgeo")
        for again in (
            ReleaseFacts(),
            ReleaseFacts(None, "abc"),
            ReleaseFacts(elsewhere),
            ReleaseFacts(DAY.replace(tzinfo=None)),
        ):
            done = store.supplement(release, again, "ana")
            assert (done.changed, done.kept) == ((), ())
            assert store.amend(release, again, actor="ana", reason="").changed == ()
        assert len(store.audit()) == len(before) + 1


def test_a_release_is_amended_and_cleared_with_a_record_of_before_and_after(address: str) -> None:
    with Store.open(address, write=True) as store:
        release = stored(store, revision="abc", url="https://ci/1")
        done = store.amend(release, ReleaseFacts(None, "def"), clear=("url",), actor="ben", reason="typo")
        assert done.before == ReleaseFacts(None, "abc", "https://ci/1")
        assert said(store) == ReleaseFacts(None, "def", None)
        assert store.audit(1)[0].detail == "revision def, was abc; url -, was https://ci/1; typo"
        assert store.check() == ()


def test_a_release_is_amended_as_it_stands_and_not_as_the_caller_saw_it(address: str) -> None:
    with Store.open(address, write=True) as store:
        release = stored(store)
        store.amend(release, ReleaseFacts(None, "abc"), actor="", reason="")
        done = store.supplement(release, ReleaseFacts(None, "def"), "")
        assert (done.changed, done.kept, done.release.revision) == ((), ("revision",), "abc")


def test_only_the_release_meant_is_amended(address: str) -> None:
    with Store.open(address, write=True) as store:
        release = stored(store)
        for request in (IngestRequest("1.1"), IngestRequest("1.0", "debug"), IngestRequest("1.0", library="libother")):
            store.ingest(CONTENT, request)
        store.amend(release, ReleaseFacts(None, "abc"), actor="", reason="")
        told = [one.revision for library in ("libgeo", "libother") for one in store.releases(library)]
        assert told == [None, "abc", None, None]


def test_a_release_of_another_store_is_not_amended(address: str) -> None:
    with Store.open(address, write=True) as store:
        gone = msgspec.structs.replace(stored(store), sequence=9)
        with pytest.raises(SnapshotNotFound):
            store.amend(gone, ReleaseFacts(None, "abc"), actor="", reason="")
