"""Servers that are started with ``--allow-write``: what they write, what they refuse, and what the store says then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abistore.interface import OpenStore, db_audit, open_store
from abistore.mcp.jobs.pool import Jobs
from abistore.mcp.settings import Settings
from abistore.mcp.tools.all import TOOLS, WRITING
from tests.mcp.conftest import ERAS, Agent, fill


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is to be created."""
    return str(tmp_path / "abi.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url"))


@pytest.fixture
def store(address: str, libraries: dict[str, Path]) -> Iterator[OpenStore]:
    """A store with two releases, of which the first is the baseline."""
    with open_store(address, create=True) as made:
        fill(made, {version: libraries[version] for version in ("1.0", "1.1")})
        yield made


@pytest.fixture
def writer(store: OpenStore, jobs: Jobs) -> Agent:
    """An agent that may write to it, and decides by itself."""
    settings = Settings(database=store.where, allow_write=True, approvals="auto")
    return Agent(settings, jobs, "2026-07-28")


def versions(store: OpenStore) -> list[str]:
    return [release.version for release in store.releases("libgeo") if not release.candidate]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", sorted(WRITING))
def test_a_server_that_only_reads_neither_lists_nor_does_what_writes(
    tool: str, era: Any, stored: Path, jobs: Jobs
) -> None:
    reader = Agent(Settings(database=str(stored)), jobs, era)
    assert [each.name for each in reader.tools()] == list(TOOLS)
    refused = reader.refused(tool)
    assert refused["code"] == "WRITE_DISABLED"
    assert refused["error"] == f"{tool}: this server only reads"
    assert "--allow-write" in refused["hint"]


def test_a_server_that_writes_tells_so(writer: Agent, modern: Agent) -> None:
    assert [tool.name for tool in writer.tools()] == [*TOOLS, *WRITING]
    assert writer("abi_store_stats")["allow_write"] is True
    assert modern("abi_store_stats")["allow_write"] is False


def test_a_build_is_stored_once_and_by_whom_is_told(
    writer: Agent, store: OpenStore, libraries: dict[str, Path]
) -> None:
    given = {"library": "libgeo", "version": "2.0", "library_path": str(libraries["2.0"]), "released_at": "2026-01-02"}
    answer = writer("abi_ingest", **given)
    assert (answer["created"], answer["state"], answer["exit_code"]) == (True, "stored", 0)
    assert answer["headline"] == "STORED: libgeo 2.0"
    assert versions(store) == ["1.0", "1.1", "2.0"]
    (release,) = (one for one in store.releases("libgeo") if one.version == "2.0")
    assert f"{release.released:%Y-%m-%d}" == "2026-01-02"
    record = db_audit(limit=1, database=store)[0]
    assert (record.action, record.subject.split()[0]) == ("ingest", "libgeo@2.0")
    assert record.actor.endswith(" (mcp: mcp)")
    again = writer("abi_ingest", **given)
    assert (again["created"], again["state"]) == (False, "known")
    assert db_audit(limit=1, database=store)[0] == record


def test_another_binary_under_a_taken_version_is_a_conflict(
    writer: Agent, store: OpenStore, libraries: dict[str, Path]
) -> None:
    before = store.releases("libgeo")
    refused = writer.refused("abi_ingest", library="libgeo", version="1.1", library_path=str(libraries["2.0"]))
    assert refused["code"] == "VERSION_CONFLICT"
    assert "abi_delete(library='libgeo', version='1.1'" in refused["hint"]
    assert store.releases("libgeo") == before


def test_a_build_that_fails_its_gate_is_not_stored_unless_it_is_to_be_kept(
    writer: Agent, store: OpenStore, libraries: dict[str, Path]
) -> None:
    given = {"library": "libgeo", "version": "2.0", "library_path": str(libraries["2.0"]), "against": "baseline"}
    refused = writer("abi_ingest", **given)
    assert (refused["state"], refused["created"]) == ("refused", False)
    assert (refused["verdict"], refused["exit_code"]) == ("BREAKING", 4)
    assert refused["headline"].startswith("NOT STORED, it failed its gate: libgeo 2.0: BREAKING against libgeo 1.0")
    assert versions(store) == ["1.0", "1.1"]
    found = writer("abi_findings", comparison_id=refused["comparison_id"])
    assert found["items"][0]["id"] == refused["top"][0]["id"]
    kept = writer("abi_ingest", **given, keep_failed=True)
    assert (kept["state"], kept["created"], kept["exit_code"]) == ("candidate", True, 4)
    assert versions(store) == ["1.0", "1.1"]
    assert writer("abi_ingest", **given, keep_failed=True)["created"] is False
    passed = writer("abi_ingest", **given, fail_on="never")
    assert (passed["state"], passed["verdict"], passed["exit_code"]) == ("stored", "BREAKING", 0)
    assert versions(store) == ["1.0", "1.1", "2.0"]


def test_the_first_build_creates_the_database(tmp_path: Path, jobs: Jobs, libraries: dict[str, Path]) -> None:
    database = tmp_path / "new.db"
    writer = Agent(Settings(database=str(database), allow_write=True), jobs, "2026-07-28")
    assert "no such database" in writer.refused("abi_list")["error"]
    assert writer("abi_ingest", library="libgeo", version="1.0", library_path=str(libraries["1.0"]))["created"]
    assert writer("abi_list")["total"] == 1
