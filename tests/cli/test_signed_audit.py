"""The signed head of a store's audit finds what was changed with all digests computed anew."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from abistore.store.database import link
from tests.build import build_library
from tests.cli.conftest import Call
from tests.signing.keys import fingerprint_of, make_key, public, signers

SOURCE = "int area(int side) { return side; }\n"
Verify = Callable[..., Any]


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return make_key(tmp_path / "release")


@pytest.fixture
def verify(abistore: Call, database: Path, tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> Verify:
    """Verifies the head that was signed after two records."""
    for name in ("ABISTORE_ALLOWED_SIGNERS", "ABISTORE_REVOKED_SIGNERS"):
        monkeypatch.delenv(name, raising=False)
    assert abistore("ingest", build_library(SOURCE), "--version", "1.0", "--set-baseline").code == 0
    done = abistore("db", "audit", "--sign", key, "-o", tmp_path / "audit.json", "--json")
    assert (done.code, done.json["head"]["number"] >= 2) == (0, True)
    trusted = signers(tmp_path / "signers", f"release@example.org {public(key)}")
    return lambda: abistore("db", "audit", "--verify", tmp_path / "audit.json", "--allowed-signers", trusted, "--json")


def rewrite(database: Path, statement: str) -> None:
    """Change the audit by a statement, and compute all digests of the chain anew, as its own code does."""
    with sqlite3.connect(database) as connection:
        connection.execute(statement)
        before = b""
        rows = connection.execute("SELECT id, at, actor, action, subject, detail FROM audit ORDER BY id").fetchall()
        for number, *said in rows:
            before = link(before, said)
            connection.execute("UPDATE audit SET digest = ? WHERE id = ?", (before, number))
        connection.execute("UPDATE root SET audit = ?", (before,))
    connection.close()


def test_an_audit_that_grew_is_that_of_the_signed_head(verify: Verify, abistore: Call, key: Path) -> None:
    found = verify().json["verified"]
    assert (found["added"], found["key"], found["principals"]) == (0, fingerprint_of(key), ["release@example.org"])
    assert abistore("db", "release", "tag", "libcase@1.0", "lts").code == 0
    assert verify().json["verified"]["added"] == 1


def test_a_changed_record_is_found_though_all_digests_are_consistent(
    verify: Verify, abistore: Call, database: Path
) -> None:
    rewrite(database, "UPDATE audit SET actor = 'mallory' WHERE id = 1")
    assert abistore("db", "check").code == 0
    done = verify()
    assert (done.code, done.error["code"]) == (76, "audit-rewritten")
    assert "was changed since it was signed" in done.error["message"]


def test_removed_last_records_are_found(verify: Verify, abistore: Call, database: Path) -> None:
    rewrite(database, "DELETE FROM audit WHERE id = (SELECT max(id) FROM audit)")
    done = verify()
    assert (done.code, done.error["code"]) == (76, "audit-rewritten")
    assert "lacks its last records" in done.error["message"]
    assert abistore("db", "release", "tag", "libcase@1.0", "lts").code == 0
    done = verify()
    assert (done.code, done.error["code"]) == (76, "audit-rewritten")


def test_a_record_that_was_changed_without_its_digest_is_damage(verify: Verify, database: Path) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE audit SET actor = 'mallory' WHERE id = 1")
    connection.close()
    done = verify()
    assert (done.code, done.error["code"]) == (74, "store")


def test_a_statement_is_no_head_of_an_audit(verify: Verify, abistore: Call, tmp_path: Path, key: Path) -> None:
    assert abistore("verdict", "libcase@1.0", "--statement", "--sign", key, "-o", tmp_path / "audit.json").code == 0
    done = verify()
    assert (done.code, done.error["code"]) == (76, "malformed-statement")


def test_signing_and_verifying_exclude_each_other(abistore: Call, tmp_path: Path) -> None:
    assert abistore("db", "audit", "--sign", "a", "--verify", "b").code == 64
    assert abistore("db", "audit", "-o", tmp_path / "x").code == 64
