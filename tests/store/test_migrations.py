"""The schema: one truth in metadata and migrations, and old stores that come along."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from abistore.errors import SchemaMismatch, StoreError
from abistore.model.history import IngestRequest, StoreUpgrade
from abistore.store import opening
from abistore.store import store as checking
from abistore.store.database import HEAD, VERSION_TABLE, revision
from abistore.store.engines import connect
from abistore.store.store import Store
from abistore.store.tables import metadata
from tests.store.builders import large
from tests.store.schemas.build import summary
from tests.store.sql import sql

ROOT = Path(__file__).parent.parent.parent
NEXT = f"{int(HEAD) + 1:04}"
SCHEMAS = sorted((Path(__file__).parent / "schemas").glob("*.db"))


def alembic(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "alembic", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def structure(path: Path) -> list[tuple[str, str, list[str]]]:
    """All tables and indexes, each with the sorted clauses of its definition."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
        identity = connection.execute("PRAGMA application_id").fetchone()
    clauses = [
        (kind, name, sorted(re.split(r",\s*|\(\s*|\s*\)", " ".join(sql.replace('"', "").split()))))
        for kind, name, sql in rows
    ]
    return [("application_id", str(identity), []), *sorted(clauses)]


def test_the_newest_migration_is_the_head_that_the_store_knows() -> None:
    config = Config()
    config.set_main_option("script_location", str(opening.migrations()))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [HEAD]
    assert all(re.fullmatch(r"\d{4}", script.revision) for script in scripts.walk_revisions())


def test_migrations_are_found_in_an_installed_package_and_beside_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "abistore"
    (package / "migrations").mkdir(parents=True)
    assert opening.migrations() == ROOT / "migrations"
    monkeypatch.setattr(opening.abistore, "__file__", str(package / "__init__.py"))
    assert opening.migrations() == package / "migrations"


def test_a_new_store_has_the_very_tables_that_the_migrations_lead_to(tmp_path: Path) -> None:
    created, migrated = tmp_path / "created.db", tmp_path / "migrated.db"
    Store.open(created, write=True).close()
    done = alembic("-x", f"db={migrated}", "upgrade", "head")
    assert done.returncode == 0, done.stderr
    assert structure(created) == structure(migrated)
    with Store.open(migrated, write=True) as store:
        assert not store.ingest(large(), IngestRequest("1.0")).known


def test_a_postgresql_store_has_the_very_tables_that_the_migrations_lead_to(postgres_url: str) -> None:
    done = alembic("-x", f"db={postgres_url}", "upgrade", "head")
    assert done.returncode == 0, done.stderr
    with Store.open(postgres_url, write=True) as store:
        assert not store.ingest(large(), IngestRequest("1.0")).known


def test_a_new_store_has_what_the_metadata_says(address: str) -> None:
    with Store.open(address, write=True) as store:
        options = {"compare_type": True, "compare_server_default": True, "version_table": VERSION_TABLE}
        context = MigrationContext.configure(store.database.connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_alembic_finds_nothing_to_do_on_a_new_store(path: Path) -> None:
    Store.open(path, write=True).close()
    done = alembic("-x", f"db={path}", "check")
    assert "No new upgrade operations detected" in done.stdout, done.stderr


def test_alembic_wants_to_know_the_database() -> None:
    done = alembic("upgrade", "head")
    assert done.returncode != 0
    assert "name the database" in done.stderr


def test_the_schema_of_today_is_kept() -> None:
    assert HEAD in {path.stem for path in SCHEMAS}


@pytest.mark.parametrize("kept", SCHEMAS, ids=lambda path: path.stem)
def test_a_store_of_every_released_schema_upgrades_and_loads(kept: Path, path: Path) -> None:
    shutil.copy(kept, path)
    done = opening.upgrade(path)
    assert (done.before, done.after) == (kept.stem, HEAD)
    with Store.open(path, write=False) as store:
        assert store.check() == ()
        said = json.loads(json.dumps(summary(store)))
    expected = json.loads(kept.with_suffix(".json").read_text())
    said["audit"] = [record for record in said["audit"] if record[1] != "upgrade"]
    assert said == expected


@pytest.fixture
def next_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A schema that does not exist yet: one more column, in a table that others refer to."""
    folder = tmp_path / "next"
    shutil.copytree(ROOT / "migrations", folder)
    (folder / "versions" / f"{NEXT}_next.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        f"revision, down_revision, branch_labels, depends_on = '{NEXT}', '{HEAD}', None, None\n"
        "def upgrade():\n"
        "    with op.batch_alter_table('line') as batch:\n"
        "        batch.add_column(sa.Column('note', sa.Text(), nullable=False, server_default='none'))\n"
        "        batch.alter_column('profile', nullable=True)\n"
    )
    monkeypatch.setattr(opening, "migrations", lambda: folder)
    for module in (opening, checking):
        monkeypatch.setattr(module, "HEAD", NEXT)
    return folder


@pytest.fixture
def older(path: Path) -> Path:
    with Store.open(path, write=True) as store:
        store.ingest(large(), IngestRequest("1.0"))
    return path


def revision_of(path: Path) -> str | None:
    database = connect(path, write=False, create=False, busy_seconds=1)
    try:
        return revision(database)
    finally:
        database.close()


def test_an_older_store_is_not_upgraded_by_reading(older: Path, next_schema: Path) -> None:
    with Store.open(older, write=False) as store:
        assert store.lines()
    with pytest.raises(SchemaMismatch, match=f"older schema {HEAD}") as caught:
        Store.open(older, write=True, upgrade=False)
    assert caught.value.hint == "run `abistore db upgrade`"
    assert revision_of(older) == HEAD


def test_an_older_store_is_upgraded_on_the_first_write_with_a_backup_beside_it(older: Path, next_schema: Path) -> None:
    with Store.open(older, write=True) as store:
        assert store.ingest(large(), IngestRequest("1.0")).known
        assert sql(store.database, "SELECT note FROM line") == [("none",)]
        assert sql(store.database, "PRAGMA foreign_keys") == [(1,)]
        assert store.check() == ()
        assert store.audit(1)[0].action == "upgrade"
    assert revision_of(older) == NEXT
    assert revision_of(older.with_name(f"store.db.{HEAD}.backup")) == HEAD


def test_an_upgrade_tells_what_it_did_and_does_nothing_twice(older: Path, next_schema: Path) -> None:
    backup = older.with_name(f"store.db.{HEAD}.backup")
    assert opening.upgrade(older) == StoreUpgrade(HEAD, NEXT, str(backup))
    assert opening.upgrade(older) == StoreUpgrade(NEXT, NEXT, None)


def test_a_backup_that_is_there_is_kept(older: Path, next_schema: Path) -> None:
    older.with_name(f"store.db.{HEAD}.backup").write_text("mine")
    assert opening.upgrade(older).backup == str(older.with_name(f"store.db.{HEAD}.backup2"))
    assert older.with_name(f"store.db.{HEAD}.backup").read_text() == "mine"


def test_an_upgrade_that_fails_leaves_the_store_as_it_was(older: Path, next_schema: Path) -> None:
    with (next_schema / "versions" / f"{NEXT}_next.py").open("a") as script:
        script.write('    op.execute("DELETE FROM name")\n')
    with pytest.raises(SchemaMismatch, match="that refer to nothing"):
        opening.upgrade(older)
    assert revision_of(older) == HEAD
    with closing(sqlite3.connect(older)) as connection:
        assert "note" not in [row[1] for row in connection.execute("PRAGMA table_info(line)")]
        assert connection.execute("SELECT count(*) FROM name").fetchone() == (401,)


def test_an_older_postgresql_store_is_upgraded_on_request_only(postgres_url: str, next_schema: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "HEAD", HEAD)
        Store.open(postgres_url, write=True).close()
    with pytest.raises(SchemaMismatch, match="older schema"):
        Store.open(postgres_url, write=True)
    assert opening.upgrade(postgres_url) == StoreUpgrade(HEAD, NEXT, None)
    with Store.open(postgres_url, write=True) as store:
        store.ingest(large(), IngestRequest("1.0"))


def test_what_is_empty_or_not_there_is_not_upgraded(path: Path) -> None:
    with pytest.raises(StoreError, match="no such database"):
        opening.upgrade(path)
    path.touch()
    with pytest.raises(StoreError, match="is empty"):
        opening.upgrade(path)
