"""Verdicts of an older schema, which held whole reports: their findings become rows, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from abistore.model.declarations import Name
from abistore.model.findings import Churn, Finding, Impact, RulingKey, Verdict, identity, place
from abistore.model.history import LineKey
from abistore.store import opening
from abistore.store.database import Database
from abistore.store.engines import connect
from abistore.store.store import Store
from tests.store.builders import X86
from tests.store.sql import sql

pytestmark = pytest.mark.full

ROOT = Path(__file__).parent.parent.parent
SIDE = {"target": str(X86), "soname": "libgeo.so.1", "exports": 2, "evidence": []}
SIZE: dict[str, Any] = {
    **{"id": "0", "kind": "type_size_changed", "symbol": "geo::Point", "display": "geo::Point", "part": ""},
    **{"subject": "record", "description": "the size changed", "impact": "breaking", "facet": "layout"},
    **{"old_value": "8 bytes", "new_value": "12 bytes", "source_location": "geo.h:7", "affected": ["norm", "origin"]},
    **{"affected_count": 2, "consequences": []},
}
ADDED = {**SIZE, "kind": "type_field_added", "part": "z", "consequences": [SIZE]}
GONE = {**SIZE, "kind": "func_removed", "subject": "function", "symbol": "norm", "facet": "symbol", "new_value": None}
UNSEEN = {"facet": "layout", "side": "new", "reason": "no-debug-info", "detail": "", "hint": "", "names": ["norm"]}
REPORT: dict[str, Any] = {
    **{"status": "ok", "schema": 1, "verdict": "BREAKING", "exit_code": 4, "notes": ["a note"], "engine": "e1"},
    "summary": {"breaking": 2, "api_breaks": 0, "risk_changes": 0, "compatible": 0, "total_changes": 3},
    **{"changes": [ADDED, GONE, {**SIZE, "impact": "notice"}], "suppressed_count": 1, "not_checked": [UNSEEN]},
    "suppressed": [{**SIZE, "suppressed_by": "known:1", "default_impact": "risk", "reason": "ours"}],
    "old": {"library": "libgeo", "version": "1.0", **SIDE},
    "new": {"library": "libgeo", "version": "1.1", **SIDE},
    **{"policy": "ours", "churn": {"added": 1, "removed": 2, "changed": 3}},
    "kinds": [{"kind": "func_removed", "action": "removed"}, {"kind": "type_field_added", "action": "added"}],
}


@pytest.fixture
def older(empty_address: str) -> Database:
    """A store of the schema before, with two releases and a name of each kind."""
    words = [sys.executable, "-m", "alembic", "-x", f"db={empty_address}", "upgrade", "0002"]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    database = connect(empty_address, write=True, create=False, busy_seconds=5)
    sql(database, "INSERT INTO library (name, scheme) VALUES ('libgeo', 'auto')")
    sql(database, "INSERT INTO line (library_id, target, profile) VALUES (1, ?, 'default')", str(X86))
    for name in (("function", "norm"), ("variable", "origin"), ("record", "geo::Point")):
        sql(database, "INSERT INTO name (kind, spelling) VALUES (?, ?)", *name)
    for number, digest in enumerate((b"a" * 16, b"b" * 16)):
        card = {"format": "elf", "machine": "x86_64", "bits": 64, "endianness": "little", "os_abi": "sysv"}
        values = (number + 1, f"1.{number}", digest, json.dumps(card))
        sql(
            database,
            "INSERT INTO snapshot (line_id, sequence, version, superseded, digest, sha256, exports, declarations, "
            "facets, target, provenance, evidence, ingested) VALUES (1, ?, ?, 0, ?, '', 2, 3, '{}', ?, '{}', '[]', "
            "'2026-05-01T00:00:00.000000+00:00')",
            *values,
        )
    return database


def judge(database: Database, policy: str, comparison: bytes) -> None:
    sql(
        database,
        "INSERT INTO verdict (old_digest, new_digest, policy, engine, verdict, breaking, api_breaks, risk_changes, "
        "compatible, judged, comparison) VALUES (?, ?, ?, 'e1', 4, 2, 0, 0, 0, '2026-05-01T00:00:00.000000+00:00', ?)",
        *(b"a" * 16, b"b" * 16, policy, comparison),
    )


def report(**changed: object) -> bytes:
    return zlib.compress(json.dumps({**REPORT, **changed}).encode())


def test_a_stored_report_becomes_a_summary_and_findings(older: Database, empty_address: str) -> None:
    judge(older, "ours/ab/-", report())
    older.close()
    opening.upgrade(empty_address)
    with Store.open(empty_address, write=False) as store:
        line = LineKey("libgeo", str(X86))
        (((old, new, ruling), told),) = store.verdict_summaries(line, "e1").items()
        assert (old, new, ruling) == (1, 2, RulingKey("ours", "ab"))
        assert (told.verdict, told.breaking, told.notices, told.suppressed) == (Verdict.BREAKING, 2, 1, 1)
        assert (told.churn, told.not_checked) == (Churn(1, 2, 3), 1)
        sides = (store.resolve("libgeo@1.0"), store.resolve("libgeo@1.1"))
        found = store.find_verdict(*sides, ruling, "e1")
        assert found is not None
        gone, added, noticed = found.comparison.findings
        assert (gone.kind, gone.gone, added.gone) == ("func_removed", True, False)
        assert added.affected == (Name("function", "norm"), Name("variable", "origin"))
        assert (noticed.impact, added.consequences[0].old_value) == (Impact.NOTICE, "8 bytes")
        (suppressed,) = found.comparison.suppressed
        assert (suppressed.suppressed_by, suppressed.default_impact) == ("known:1", Impact.RISK)
        assert found.comparison.notes == ("a note",)
        assert found.comparison.not_checked[0].names == (Name("function", "norm"),)


def test_verdicts_of_a_store_that_another_was_brought_into_before_answer_no_more(
    older: Database, empty_address: str
) -> None:
    """Nobody wrote down who gave them: they stay, and are given anew."""
    judge(older, "strict_abi", report())
    sql(
        older,
        "INSERT INTO audit (at, actor, action, subject, detail) VALUES (?, 'ana', 'merge', 'ci.db', '1 verdicts')",
        "2026-05-01T00:00:00.000000+00:00",
    )
    older.close()
    opening.upgrade(empty_address)
    with Store.open(empty_address, write=False) as store:
        assert store.stats().verdicts == 1
        sides = (store.resolve("libgeo@1.0"), store.resolve("libgeo@1.1"))
        assert store.find_verdict(*sides, RulingKey(), "e1") is None
        assert store.verdict_summaries(LineKey("libgeo", str(X86)), "e1") == {}
        assert not [said for said in store.check() if "verdict" in said]


def test_findings_of_before_are_explained(older: Database, empty_address: str) -> None:
    judge(older, "strict_abi", report())
    judge(older, "strict_abi", report(notes=[]))
    older.close()
    opening.upgrade(empty_address)
    with Store.open(empty_address, write=False) as store:
        assert store.stats().verdicts == 2
        assert sql(store.database, "SELECT count(*) FROM finding") == [(4,)]
        for change, count in ((GONE, 1), (ADDED, 1), (SIZE, 3)):
            name = Finding(
                change["kind"], Name(change["subject"], change["symbol"]), change["part"], "", Impact.RISK, "layout"
            )
            found, _ = store.findings(place(name).hex(), 9)
            assert [one.finding.kind for one in found] == [change["kind"]] * count
            assert {(one.old.version, one.new.version) for one in found} == {("1.0", "1.1")}
            for one in found:
                assert one.identity.startswith(identity(one.finding).hex())
                assert one.finding in {same.finding for same in store.findings(identity(one.finding).hex(), 9)[0]}
        assert not [said for said in store.check() if "finding" in said or "consequence" in said]


def test_a_report_that_cannot_be_read_stays_as_it_is(older: Database, empty_address: str) -> None:
    for comparison in (b"", zlib.compress(b"{}"), report()):
        judge(older, "strict_abi", comparison)
    older.close()
    opening.upgrade(empty_address)
    with Store.open(empty_address, write=False) as store:
        assert store.stats().verdicts == 1
        kept = sql(store.database, "SELECT comparison FROM unread_verdict ORDER BY id")
        assert [bytes(row[0]) for row in kept] == [b"", zlib.compress(b"{}")]
