"""What goes wrong while something is written: it is told, and the store is as it was, or as it was to become."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ElicitRequestParams, ElicitResult

from abistore.interface import db_check, open_store, releases
from abistore.mcp.jobs import Jobs
from abistore.mcp.server import build_server
from abistore.mcp.settings import Settings
from abistore.store.store import Store
from tests.mcp.conftest import ERAS, Agent, Era

pytestmark = pytest.mark.full

SCHEMAS = Path(__file__).parents[1] / "store" / "schemas"
LAUNCH = ["-c", "from abistore.cli.entry import serve_mcp; serve_mcp()"]


@pytest.fixture
def database(file_with: Callable[..., Path], tmp_path: Path) -> Path:
    return Path(shutil.copy(file_with("1.0", "1.1"), tmp_path / "abi.db"))


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    """Processes that wait for a locked database for a fifth of a second."""
    monkeypatch.setenv("ABISTORE_BUSY_SECONDS", "0.2")
    made = Jobs(2)
    yield made
    made.close()


def build(libraries: dict[str, Path]) -> dict[str, Any]:
    return {"library": "libgeo", "version": "2.0", "library_path": str(libraries["2.0"])}


def versions(database: Path) -> list[str]:
    with open_store(database, read_only=True) as store:
        assert db_check(database=store) == ()
        return [release.version for release in releases("libgeo", database=store)]


@pytest.fixture
def anywhere(store_with: Callable[..., str]) -> str:
    """A store on each database that is supported."""
    return store_with("1.0", "1.1")


def test_a_locked_database_is_told_and_read_meanwhile(anywhere: str, patient: Jobs, libraries: dict[str, Path]) -> None:
    agent = Agent(Settings(database=anywhere, allow_write=True), patient, "2026-07-28")
    with Store.open(anywhere, write=True) as other:
        (line,) = other.lines()
        with other.transaction():
            other.hold(line)
            refused = agent.refused("abi_ingest", **build(libraries))
            assert refused["code"] == "DB_BUSY"
            assert agent("abi_list")["total"] == 1
    assert agent("abi_ingest", **build(libraries))["created"]


def test_agents_that_write_at_once_store_each_build_once(anywhere: str, libraries: dict[str, Path]) -> None:
    """Twelve calls of two servers, four for each of three versions: each is stored by one of them."""
    jobs = [Jobs(2), Jobs(2)]
    servers = [build_server(Settings(database=anywhere, allow_write=True), each) for each in jobs]
    created: list[tuple[str, bool]] = []

    async def one(client: Client, version: str) -> None:
        given = {**build(libraries), "version": version}
        answered = await client.call_tool("abi_ingest", given)
        assert answered.structured_content, answered.content
        created.append((version, answered.structured_content["created"]))

    async def talk() -> None:
        async with Client(servers[0]) as first, Client(servers[1]) as second, anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(one, (first, second)[number % 2], f"2.{number % 3}")

    anyio.run(talk)
    for each in jobs:
        each.close()
    assert sorted(version for version, new in created if new) == ["2.0", "2.1", "2.2"]
    assert len(created) == 12
    with open_store(anywhere, read_only=True) as store:
        assert db_check(database=store) == ()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("how", ["timeout", "cancel"])
def test_a_write_that_is_ended_leaves_the_store_as_it_was(
    how: str, era: Era, database: Path, libraries: dict[str, Path]
) -> None:
    jobs = Jobs(1)
    server = build_server(Settings(database=str(database), allow_write=True), jobs)

    async def talk() -> tuple[Any, Any]:
        async with Client(server, mode=era) as client:
            assert not (await client.call_tool("abi_list", {})).is_error
            late = None
            with closing(sqlite3.connect(database, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                if how == "timeout":
                    server.bounds = Settings(database=str(database), allow_write=True, timeout=1.5)
                    late = await client.call_tool("abi_ingest", build(libraries))
                else:
                    with anyio.move_on_after(1.5):
                        await client.call_tool("abi_ingest", build(libraries))
                other.execute("ROLLBACK")
            await anyio.sleep(0.5)  # nothing goes on in the background
            assert versions(database) == ["1.0", "1.1"]
            server.bounds = Settings(database=str(database), allow_write=True)
            return late, await client.call_tool("abi_ingest", build(libraries))

    late, after = anyio.run(talk)
    jobs.close()
    assert late is None or '"code":"TIMEOUT"' in late.content[0].text
    assert after.structured_content["created"]
    assert versions(database) == ["1.0", "1.1", "2.0"]


def test_a_database_of_an_older_schema_is_not_upgraded_by_a_call(
    tmp_path: Path, jobs: Jobs, libraries: dict[str, Path]
) -> None:
    database = tmp_path / "old.db"
    shutil.copy(SCHEMAS / "0008.db", database)
    before = database.read_bytes()
    agent = Agent(Settings(database=str(database), allow_write=True, approvals="auto"), jobs, "2026-07-28")
    for tool, given in (
        ("abi_ingest", build(libraries)),
        ("abi_tag", {"library": "libgeo", "version": "R_1", "tag": "lts"}),
        ("abi_review", {"finding_id": "abc", "state": "seen"}),
        ("abi_approve", {"finding_ids": ["abc"], "reason": "x"}),
        ("abi_delete", {"library": "libgeo", "version": "R_1", "confirm_digest": "0" * 12}),
    ):
        refused = agent.refused(tool, **given)
        assert (refused["code"], refused["hint"]) == (
            "SCHEMA_OUTDATED",
            "run `abistore db upgrade` (command line only)",
        )
    assert database.read_bytes() == before
    assert not list(tmp_path.glob("*.backup*"))


@pytest.mark.parametrize("era", ERAS)
def test_a_person_is_asked_over_real_standard_input_and_output(
    era: Era, database: Path, libraries: dict[str, Path]
) -> None:
    started = StdioServerParameters(
        command=sys.executable, args=[*LAUNCH, "--db", str(database), "--allow-write"], env={"USER": "ana"}
    )
    asked: list[str] = []

    async def agree(context: Any, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"agree": True})

    async def talk() -> tuple[Any, Any]:
        async with Client(started, mode=era, elicitation_callback=agree) as client:
            stored = await client.call_tool("abi_ingest", build(libraries))
            move = {"library": "libgeo", "version": "2.0", "reason": "next", "expected_current": "1.0"}
            return stored.structured_content, (await client.call_tool("abi_baseline", move)).structured_content

    stored, moved = anyio.run(talk)
    assert stored["created"]
    assert (moved["moved"], moved["decided_by"]) == (True, "user")
    assert asked[0].startswith("Move the baseline 'release' from libgeo 1.0 ")
