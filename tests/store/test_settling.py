"""A store from before labels were ordered each by itself keeps the order of its lines."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from abistore.errors import StoreError
from abistore.model.history import IngestRequest
from abistore.store.opening import upgrade
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, snapshot

OLDER = Path(__file__).parent / "schemas" / "0002.db"


def older(path: Path, *lines: tuple[str, ...]) -> None:
    """A store of schema 0002 in which each line of the library ``libgeo`` has releases with the labels given."""
    shutil.copy(OLDER, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        (line, *_) = connection.execute(
            "SELECT line.* FROM line JOIN library ON library.id = library_id WHERE library.name = 'libgeo'"
        )
        (release, *_) = connection.execute("SELECT * FROM snapshot WHERE line_id = ?", (line["id"],))
        connection.execute("DELETE FROM snapshot WHERE line_id = ?", (line["id"],))
        for number, labels in enumerate(lines):
            own = {**line, "id": line["id"] if not number else 100 + number, "profile": f"p{number}"}
            insert(connection, "REPLACE INTO line", own)
            for sequence, label in enumerate(labels, 1):
                changed = {"line_id": own["id"], "sequence": sequence, "version": label}
                values = {**release, **changed}
                del values["id"]
                insert(connection, "INSERT INTO snapshot", values)
        connection.commit()


def insert(connection: sqlite3.Connection, into: str, values: dict[str, object]) -> None:
    places = ", ".join("?" * len(values))
    connection.execute(f"{into} ({', '.join(values)}) VALUES ({places})", tuple(values.values()))


def versions(store: Store, profile: str = "p0") -> list[str]:
    return [release.version for release in store.releases("libgeo", profile=profile)]


def ingest(store: Store, version: str) -> None:
    content = snapshot(version, symbols={function(f"f_{version}"): EXPORTED})
    store.ingest(content, IngestRequest(version, "p0"))


@pytest.mark.parametrize(
    ("labels", "scheme", "arriving", "after"),
    [
        ("1.0 1.1rc1 1.1", "auto", "1.0.1a", "1.0 1.0.1a 1.1rc1 1.1"),
        ("nightly v2.0 v2.0-rc1", "plain", "v1.9", "nightly v1.9 v2.0 v2.0-rc1"),
        ("1.0.0-1 1.0.0", "semver", "main", "1.0.0-1 1.0.0 main"),
        ("1.0 1.0-1 1.0-beta1", "debian", "?", "1.0 1.0-1 1.0-beta1 ?"),
    ],
)
def test_the_order_of_an_older_line_is_kept_until_another_is_declared(
    path: Path, labels: str, scheme: str, arriving: str, after: str
) -> None:
    older(path, tuple(labels.split()))
    with Store.open(path, write=True) as store:
        assert versions(store) == labels.split()
        (order,) = store.orders("libgeo")
        assert (order.scheme, store.scheme("libgeo")) == (scheme, "auto")
        ingest(store, arriving)
        assert versions(store) == after.split()


def test_what_keeps_its_order_is_audited_and_mended_by_declaring_auto(path: Path) -> None:
    older(path, ("v2.0-rc1", "v2.0", "nightly"))
    with Store.open(path, write=True) as store:
        assert versions(store) == ["nightly", "v2.0", "v2.0-rc1"]
        (record,) = [one for one in store.audit() if one.action == "scheme" and "libgeo" in one.subject]
        assert record.subject == "libgeo (elf-x86_64-64-little, p0)"
        assert record.detail == "plain, with the existing order; was auto"
        (order,) = store.set_scheme("libgeo", "auto", actor="ana")
        assert (order.latest, order.latest_before, order.moved) == ("v2.0", "v2.0-rc1", ("v2.0-rc1", "nightly"))
        assert versions(store) == ["v2.0-rc1", "v2.0", "nightly"]
        assert store.check() == ()


def test_each_line_keeps_its_own_order(path: Path) -> None:
    older(path, ("v2.0-rc1", "v2.0", "nightly"), ("v2.0-rc1", "v2.0"))
    with Store.open(path, write=True) as store:
        assert versions(store) == ["nightly", "v2.0", "v2.0-rc1"]
        assert versions(store, "p1") == ["v2.0-rc1", "v2.0"]
        assert [one.scheme for one in store.orders("libgeo")] == ["plain", "auto"]


def test_git_describe_labels_follow_their_tags_in_an_older_line_too(path: Path) -> None:
    older(path, ("v1.0.0", "v1.0.0-1-g126bde0"))
    upgrade(path)
    with Store.open(path, write=False) as store:
        assert versions(store) == ["v1.0.0", "v1.0.0-1-g126bde0"]
        (record,) = [one for one in store.audit() if one.action == "scheme" and "libgeo" in one.subject]
        assert record.detail == "auto; latest v1.0.0-1-g126bde0, was v1.0.0"


@pytest.mark.parametrize("scheme", ["semver", None])
def test_a_scheme_that_nobody_wrote_is_told_as_damage(path: Path, scheme: str | None) -> None:
    older(path, ("v2.0-rc1", "v2.0", "nightly") if scheme is None else ("1.0", "1.1"))
    upgrade(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE line SET scheme = ? WHERE profile = 'p0'", (scheme,))
        connection.commit()
    with Store.open(path, write=False) as store, pytest.raises(StoreError, match="line libgeo"):
        versions(store)
