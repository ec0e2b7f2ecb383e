"""What the caller has seen is checked in the transaction that writes: a pipeline never undoes what another one did."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call

pytestmark = pytest.mark.fast


@pytest.fixture
def stored(abistore: Call, old: Path, added: Path) -> Call:
    for library, version in ((old, "1.0"), (added, "1.1")):
        assert abistore("ingest", library, "--version", version).code == 0
    return abistore


def test_a_baseline_moves_only_from_where_it_is_expected(stored: Call) -> None:
    assert stored("db", "baseline", "set", "libcase@1.0", "--expect", "1.1").code == 69
    assert stored("db", "baseline", "set", "libcase@1.0", "--expect", "none").code == 0
    refused = stored("db", "baseline", "set", "libcase@1.1", "--expect", "none", "--json")
    assert (refused.code, refused.error["code"]) == (69, "stale-baseline")
    assert refused.error["message"].endswith("baseline release is at 1.0, not at none")
    assert stored("db", "baseline", "set", "libcase@1.1", "--expect", "1.0").code == 0
    assert stored("db", "baseline", "set", "libcase", "--clear", "--expect", "1.1").code == 64


def test_a_release_is_forgotten_only_with_the_digest_that_is_expected(stored: Call) -> None:
    digest = stored("list", "libcase", "--json").json["releases"][1]["digest"]
    refused = stored("db", "forget", "libcase@1.1", "--digest", "0" * 12)
    assert refused.code == 69
    assert f"libcase@1.1: has the digest {digest[:12]}, and not 000000000000" in refused.err
    assert stored("db", "forget", "libcase@1.1", "--digest", digest[:12].upper()).code == 0
