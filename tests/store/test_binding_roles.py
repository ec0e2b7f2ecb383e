"""Who may bind rules on PostgreSQL: a role, by the privileges that the page on policies gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from abistore.interface import (
    BindingPlan,
    Gate,
    IngestPlan,
    StoreError,
    approve,
    bind,
    bound,
    db_audit,
    db_check,
    ingest,
    unbind,
    verdict,
)
from abistore.service.approving import ApprovalPlan
from tests.build import build_library

PAGE = Path(__file__).parents[2] / "docs" / "questions" / "policies.md"
FIRST = "struct point { int x, y; }; int norm(struct point *p) { return p->x; } int gone(void) { return 1; }"
SECOND = "struct point { int x, y; }; int norm(struct point *p) { return p->x; }"


def library(source: str) -> Path:
    return build_library(source, name="libfoo.so", soname="libfoo.so.1")


def grants() -> str:
    """The statements of the page."""
    found = re.search(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def pipeline(postgres_store: str) -> Iterator[str]:
    """The URL of the same store for a role with the privileges of the page."""
    owner = str(postgres_store)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS pipeline")
        connection.execute("CREATE ROLE pipeline LOGIN")
        connection.execute(grants().encode())
    yield make_url(owner).set(username="pipeline").render_as_string(hide_password=False)
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute("DROP OWNED BY pipeline")
        connection.execute("DROP ROLE pipeline")


def test_a_pipeline_works_and_obeys_and_cannot_bind_or_unbind(postgres_store: str, pipeline: str) -> None:
    (first,) = ingest(library(FIRST), IngestPlan(version="1.0", gate=Gate(channel="release")), database=pipeline)
    assert first.status == "stored"
    bind("lib*", BindingPlan("ours", actor="ana"), database=postgres_store)
    with pytest.raises(StoreError, match="permission denied"):
        bind("lib*", BindingPlan("mine", policy="plugin_abi"), database=pipeline)
    with pytest.raises(StoreError, match="permission denied"):
        unbind("lib*", reason="mine", database=pipeline)
    assert [each.rule.actor for each in bound(database=pipeline)] == ["ana"]
    loose = IngestPlan(version="1.1", gate=Gate(against="baseline", fail_on="never"))
    assert [each.code for each in ingest(library(SECOND), loose, database=pipeline)] == ["rule-bound"]
    kept = IngestPlan(version="1.1", gate=Gate(against="baseline", keep_failed=True))
    (done,) = ingest(library(SECOND), kept, database=pipeline)
    assert done.exit_code == 4
    assert done.verdict is not None
    approve(done.verdict.changes, ApprovalPlan("agreed", library="libfoo"), database=pipeline)
    (done,) = ingest(library(SECOND), kept, database=pipeline)
    assert done.exit_code == 0
    assert verdict("libfoo@1.1", database=pipeline).report.exit_code == 0
    assert db_check(database=postgres_store) == ()
    assert {"bind"} == {one.action for one in db_audit(database=postgres_store) if one.actor == "ana"}


def test_a_pipeline_cannot_change_rules_behind_its_back(postgres_store: str, pipeline: str) -> None:
    bind("lib*", BindingPlan("ours"), database=postgres_store)
    statements = (
        "DELETE FROM bound_rule",
        "UPDATE bound_rule SET withdrawn = 1",
        "UPDATE root SET rules = 0",
        "DROP TABLE bound_rule",
        "UPDATE abistore_version SET version_num = '0013'",
    )
    for statement in statements:
        with psycopg.connect(pipeline, autocommit=True) as connection, pytest.raises(psycopg.Error):
            connection.execute(statement.encode())
    assert len(bound(database=pipeline)) == 1
