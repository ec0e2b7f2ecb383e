"""Clients one schema behind, and ahead: all of them read one store, and none of them writes what others cannot know."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from abistore.errors import SchemaMismatch
from abistore.interface import (
    BaselinePlan,
    Gate,
    GatePlan,
    IngestPlan,
    approvals,
    baselines,
    blame,
    compare,
    db_check,
    gate,
    history,
    ingest,
    lines,
    releases,
    set_baseline,
    verdict,
)
from abistore.store.database import HEAD, VERSION_TABLE
from abistore.store.opening import OLDEST_READ, READABLE
from abistore.store.store import Store
from tests.build import build_library
from tests.store.sql import sql

SCHEMAS = Path(__file__).parent / "schemas"
OLD = "int kept(int a) { return a; } int gone(void) { return 1; }"
NEW = "int kept(int a) { return a; }"
ADDED = {"approval": ("target", "stood_at", "profile"), "verdict": ("brought",), "root": ("environments", "rules")}
NEW_TABLES = ("environment_member", "environment", "bound_rule")
"""What schemas after the oldest one that is read have added."""


def changed(address: str, *statements: str) -> str:
    with Store.open(address, write=True) as store:
        for statement in statements:
            store.database.command(statement)
    return address


@pytest.fixture
def stored(address: str) -> str:
    """A store with a baseline, a release that breaks it, and its verdict."""
    with Store.open(address, write=True):
        pass
    for source, version in ((OLD, "1.0"), (NEW, "2.0")):
        (done,) = ingest(build_library(source), IngestPlan(version=version), database=address)
        assert done.status == "stored"
    set_baseline("libcase@1.0", database=address)
    assert verdict("libcase@2.0", database=address).report.verdict == "BREAKING"
    return address


@pytest.fixture
def behind(stored: str) -> str:
    """The same as an older abistore wrote it."""
    dropped = (f"ALTER TABLE {table} DROP COLUMN {column}" for table, columns in ADDED.items() for column in columns)
    tables = (f"DROP TABLE {table}" for table in NEW_TABLES)
    return changed(stored, *dropped, *tables, f"UPDATE {VERSION_TABLE} SET version_num = '{OLDEST_READ}'")


def ahead(address: str, readable_from: str) -> str:
    """The same as a newer abistore wrote it, which says who can read it."""
    return changed(
        address,
        "ALTER TABLE line ADD COLUMN note TEXT",
        f"CREATE TABLE {READABLE} (from_schema TEXT NOT NULL)",
        f"INSERT INTO {READABLE} VALUES ('{readable_from}')",
        f"UPDATE {VERSION_TABLE} SET version_num = '{int(HEAD) + 1:04}'",
    )


def assert_read(address: str) -> None:
    """Whatever is asked is answered, and nothing is written."""
    assert [one.latest for one in lines(database=address)] == ["2.0"]
    assert len(releases("libcase", database=address)) == 2
    assert [one.version for one in baselines("libcase", database=address)] == ["1.0"]
    assert approvals(database=address) == ()
    with Store.open(address, write=False) as store:
        assert store.environments() == ()
        assert store.rules() == ()
    assert verdict("libcase@2.0", database=address).report.verdict == "BREAKING"
    assert history("libcase", database=address)[0].rows[1].verdict == 4
    assert blame("libcase", database=address)
    assert compare("libcase@1.0", "libcase@2.0", database=address).verdict == "BREAKING"
    plan = GatePlan(IngestPlan(version="3.0", gate=Gate()))
    assert [gate(build_library(each), plan, database=address)[0].exit_code for each in (OLD, NEW)] == [0, 4]


def test_a_client_ahead_reads_a_store_and_leaves_its_schema(behind: str) -> None:
    assert_read(behind)
    assert_read(behind)
    with Store.open(behind, write=False) as store:
        assert sql(store.database, f"SELECT version_num FROM {VERSION_TABLE}") == [(OLDEST_READ,)]


def test_a_client_behind_reads_a_store_that_says_it_may(stored: str) -> None:
    assert_read(ahead(stored, HEAD))
    with pytest.raises(SchemaMismatch, match="newer schema"):
        set_baseline("libcase@2.0", BaselinePlan(reason="x"), database=stored)
    with pytest.raises(SchemaMismatch, match="verifies"):
        db_check(database=stored)


def test_a_client_behind_reads_no_store_that_says_nothing_or_that_it_may_not(stored: str) -> None:
    ahead(stored, f"{int(HEAD) + 1:04}")
    with pytest.raises(SchemaMismatch, match="newer schema"):
        lines(database=stored)


def test_a_store_behind_is_verified_by_those_who_know_it(behind: str) -> None:
    with pytest.raises(SchemaMismatch, match="verifies"):
        db_check(database=behind)


@pytest.mark.parametrize("schema", sorted(path.stem for path in SCHEMAS.glob("*.db")))
def test_stored_schemas_are_read_or_refused(schema: str, tmp_path: Path) -> None:
    path = Path(shutil.copy(SCHEMAS / f"{schema}.db", tmp_path / "store.db"))
    with Store.open(shutil.copy(path, tmp_path / "upgraded.db"), write=True) as upgraded:
        expected = upgraded.approvals(), upgraded.baselines(), upgraded.lines(), upgraded.reviews()
    if schema < OLDEST_READ:
        with pytest.raises(SchemaMismatch, match="older schema"):
            Store.open(path, write=False)
        return
    with Store.open(path, write=False) as store:
        assert (store.approvals(), store.baselines(), store.lines(), store.reviews()) == expected
        for line in store.lines():
            assert store.load_many(store.releases(line.library, line.target, line.profile))
