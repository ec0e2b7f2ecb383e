"""A store of schema 0008 in the encoding of today: what it says, what was damaged, and former digests."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import get_args

import msgspec
import psycopg
import pytest

from abistore.errors import SnapshotNotFound
from abistore.model.history import IngestRequest
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import digest, encode, snapshot_digest
from abistore.store.opening import upgrade
from abistore.store.store import Store
from tests.diffing.test_every_fact import former as as_former
from tests.store.sql import sql

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).parent / "schemas" / "0008.db"
FORMER = "0008"
Rows = list[tuple[object, ...]]

_numbers = count(1)

decode = msgspec.json.Decoder(AnyShape).decode


def kept(statement: str) -> Rows:
    """Rows of the store as it was."""
    with closing(sqlite3.connect(KEPT)) as driver:
        return driver.execute(statement).fetchall()


@pytest.fixture(scope="module")
def template(empty_postgres: Callable[[], str]) -> str:
    """The kept store as a PostgreSQL database, of which others are copies."""
    url = empty_postgres()
    copy_to(url)
    return url


def copied(template: str) -> str:
    """A copy of a database; its URL."""
    name = template.partition("?")[0].rpartition("/")[2]
    copy = f"{name}_{next(_numbers)}"
    with psycopg.connect(template.replace(f"/{name}?", "/postgres?"), autocommit=True) as driver:
        driver.execute(f"CREATE DATABASE {copy} TEMPLATE {name}".encode())
    return template.replace(f"/{name}?", f"/{copy}?")


@pytest.fixture(params=["sqlite", "postgresql"])
def former(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., str]:
    """Makes a store of schema 0008, on which statements have been run; its address."""

    def make(*statements: str) -> str:
        if request.param == "sqlite":
            path = tmp_path / "store.db"
            shutil.copy(KEPT, path)
            with closing(sqlite3.connect(path)) as driver:
                for statement in statements:
                    driver.execute(statement)
                driver.commit()
            return str(path)
        url = copied(request.getfixturevalue("template"))
        with psycopg.connect(url) as connection:
            for statement in statements:
                connection.execute(statement.encode())
        return url

    return make


def copy_to(url: str) -> None:
    """The kept store as a PostgreSQL database."""
    command = [sys.executable, "-m", "alembic", "-x", f"db={url}", "upgrade", FORMER]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    tables = ("library", "line", "snapshot", "location", "name", "calling", "calling_sum", "shape", "entry")
    with psycopg.connect(url) as connection:
        connection.execute("DELETE FROM root")
        for table in (*tables, "baseline_move", "verdict", "finding", "consequence", "verdict_part", "audit", "root"):
            columns = ", ".join(str(row[1]) for row in kept(f"PRAGMA table_info({table})"))
            with connection.cursor().copy(f"COPY {table} ({columns}) FROM STDIN".encode()) as copy:
                for row in kept(f"SELECT {columns} FROM {table}"):
                    copy.write_row(row)
            if table not in {"root", "location", "calling", "calling_sum", "entry", "consequence", "verdict_part"}:
                connection.execute(
                    f"SELECT setval('{table}_id_seq', (SELECT coalesce(max(id), 1) FROM {table}))".encode()
                )


def test_every_body_is_what_today_writes_and_every_digest_is_of_it(former: Callable[..., str]) -> None:
    address = former()
    upgrade(address)
    with Store.open(address, write=True) as store:
        assert store.check() == ()
        for key, body in sql(store.database, "SELECT digest, body FROM shape"):
            assert encode(decode(body)).decode() == body
            assert digest(body.encode()) == bytes(key)
        classes = {type(decode(body)) for (body,) in sql(store.database, "SELECT body FROM shape")}
        assert classes == set(get_args(AnyShape))
        for line in store.lines():
            for release in store.releases(line.library):
                assert snapshot_digest(store.load(release)).hex() == release.digest
        found = store.load(store.resolve("libcase@1.0"))
        assert found.entries == as_former().entries
        assert store.ingest(as_former(), IngestRequest("1.0")).known


def test_former_digests_still_find_their_releases(former: Callable[..., str]) -> None:
    address = former()
    before = kept("SELECT digest, version FROM snapshot WHERE superseded = 0 AND candidate = 0")
    upgrade(address)
    with Store.open(address, write=False) as store:
        for key, version in before:
            assert isinstance(key, bytes)
            found = store.resolve(key.hex()[:12])
            assert found.digest != key.hex()
            assert found.version == version or (version, found.version) == ("1.0", "1.2")  # the same content
            assert store.resolve(found.digest).version == found.version
        with pytest.raises(SnapshotNotFound):
            store.resolve("0123456789ab")


def test_the_audit_stays_as_it_was_written(former: Callable[..., str]) -> None:
    address = former()
    upgrade(address)
    with Store.open(address, write=False) as store:
        now = sql(store.database, "SELECT at, actor, action, subject, detail, digest FROM audit ORDER BY id")
        before = kept("SELECT at, actor, action, subject, detail, digest FROM audit ORDER BY id")
        assert [tuple(row) for row in now][: len(before)] == before
        assert [row[2] for row in now][len(before) :] == ["upgrade"]
        assert store.check(quick=True) == ()


def test_baselines_name_the_digests_of_today(former: Callable[..., str]) -> None:
    address = former()
    upgrade(address)
    with Store.open(address, write=False) as store:
        for move in store.baselines():
            assert move.digest == store.resolve(f"{move.line.library}@{move.version}").digest


DAMAGE = {
    "the body of a shape": "UPDATE shape SET body = replace(body, '\"int\",4', '\"int\",8') WHERE id = "
    "(SELECT min(shape_id) FROM entry WHERE facet = 1)",
    "the digest of a shape": "UPDATE shape SET digest = (SELECT digest FROM name WHERE id = 1) WHERE id = 1",
    "a missing entry": "DELETE FROM entry WHERE facet = 1 AND name_id = (SELECT min(name_id) FROM entry)",
    "the sum of a name": "UPDATE name SET entries = entries + 1 WHERE id = 2",
    "the spelling of a name": "UPDATE name SET spelling = 'x' WHERE id = 2",
    "the digest of a snapshot": "UPDATE snapshot SET digest = (SELECT digest FROM name WHERE id = 1) WHERE id = 2",
    "the sum of a snapshot": "UPDATE snapshot SET members = members + 1 WHERE id = 2",
    "the version of a snapshot": "UPDATE snapshot SET version = '9' WHERE id = 2",
    "the facets of a snapshot": "UPDATE snapshot SET facets = '[]' WHERE id = 2",
    "the target of a snapshot": "UPDATE snapshot SET target = '{}' WHERE id = 2",
    "the checksum of a snapshot": "UPDATE snapshot SET checksum = checksum + 1 WHERE id = 2",
    "the reason of a move": "UPDATE baseline_move SET reason = 'none' WHERE id = 1",
    "the digest of a move": "UPDATE baseline_move SET digest = NULL WHERE id = 1",
    "the sum of a line": "UPDATE line SET releases = releases + 1 WHERE id = 1",
    "the checksum of a line": "UPDATE line SET checksum = checksum + 1 WHERE id = 1",
    "a missing move": "DELETE FROM baseline_move WHERE id = 1",
    "an entry of no facet": "UPDATE entry SET facet = 7 WHERE facet = 1 AND name_id = (SELECT max(name_id) FROM entry)",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_was_damaged_is_told_after_the_upgrade_too(damage: str, former: Callable[..., str]) -> None:
    address = former(DAMAGE[damage])
    upgrade(address)
    with Store.open(address, write=False) as store:
        assert store.check() != ()


def test_a_body_that_cannot_be_read_is_kept(former: Callable[..., str]) -> None:
    bodies = ('["Function","f"]', "[", '["Planet",1]', '["Alias",' + '["*",' * 2_000 + "]" * 2_001)
    rows = [f"INSERT INTO shape (digest, body) VALUES ({hexed(body)}, '{body}')" for body in bodies]
    address = former()
    with closing(connection(address)) as driver:
        for row in rows:
            driver.execute(row if "://" not in address else row.replace("x'", "'\\x"))
        driver.commit()
    upgrade(address)
    with Store.open(address, write=False) as store:
        found = {row[0] for row in sql(store.database, "SELECT body FROM shape")}
        assert found >= set(bodies)
        assert store.check() == ()


def hexed(body: str) -> str:
    return f"x'{digest(body.encode()).hex()}'"


def connection(address: str) -> sqlite3.Connection | psycopg.Connection:
    return psycopg.connect(address) if "://" in address else sqlite3.connect(address)
