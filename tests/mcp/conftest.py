"""An agent that asks a server in this process, in both eras of the protocol, about a small real history."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import anyio
import msgspec
import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent, Tool
from sqlalchemy import make_url

from abistore.interface import BaselinePlan, IngestPlan, OpenStore, ingest, open_store, set_baseline
from abistore.mcp.jobs import Jobs
from abistore.mcp.server import build_server
from abistore.mcp.settings import Settings
from tests.build import build_library
from tests.mcp import histories
from tests.mcp.programs import with_programs
from tests.store.postgres import dropped

Era = Literal["legacy", "2026-07-28", "auto"]
ERAS: tuple[Era, ...] = ("legacy", "2026-07-28")

OLD = """
struct point { int x, y; };
int norm(const struct point *p) { return p->x + p->y; }
int gone(void) { return 1; }
"""
ADDED = OLD + "int fresh(int a) { return a; }\n"
NEW = """
struct point { int x, y, z; };
int norm(const struct point *p) { return p->x + p->y; }
int fresh(int a) { return a; }
"""
Asked = Callable[[Client], Coroutine[Any, Any, Any]]


@dataclass(frozen=True)
class Answered:
    """What a client got."""

    result: CallToolResult

    @property
    def text(self) -> str:
        block, *_ = self.result.content
        assert isinstance(block, TextContent)
        return block.text

    @property
    def failed(self) -> bool:
        return bool(self.result.is_error)

    @property
    def document(self) -> dict[str, Any]:
        found = json.loads(self.text)
        assert isinstance(found, dict)
        assert self.failed == (found.get("status") == "error")
        assert self.failed or found == self.result.structured_content
        return found


class Agent:
    """A client of a server with its own settings; all agents of a test run share the processes that work."""

    def __init__(self, settings: Settings, jobs: Jobs, era: Era) -> None:
        self.settings = settings
        self.era = era
        self.server = build_server(settings, jobs)

    def set(self, **settings: Any) -> Agent:
        """An agent of a server with other settings."""
        return Agent(msgspec.structs.replace(self.settings, **settings), self.server.jobs, self.era)

    def ask(self, asked: Asked) -> Any:
        """What a coroutine gives that talks to the server."""

        async def talk() -> Any:
            async with Client(self.server, mode=self.era) as client:
                return await asked(client)

        return anyio.run(talk)

    def call(self, tool: str, /, **arguments: Any) -> Answered:
        """The answer of a tool."""
        return Answered(self.ask(partial(_call, tool, arguments)))

    def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The document that a tool answers with; it is no error."""
        answered = self.call(tool, **arguments)
        assert not answered.failed, answered.text
        return answered.document

    def refused(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The error that a tool answers with."""
        answered = self.call(tool, **arguments)
        assert answered.failed, answered.text
        assert answered.result.structured_content is None
        return answered.document

    def tools(self) -> list[Tool]:
        """All tools that the server lists."""
        found: list[Tool] = self.ask(_tools)
        return found


async def _call(tool: str, arguments: dict[str, Any], client: Client) -> CallToolResult:
    return await client.call_tool(tool, arguments)


async def _tools(client: Client) -> list[Tool]:
    return (await client.list_tools()).tools


@pytest.fixture(scope="session")
def jobs() -> Iterator[Jobs]:
    made = Jobs(2)
    yield made
    made.close()


@pytest.fixture(scope="session")
def libraries() -> dict[str, Path]:
    """Three releases of a library: the second adds a function, the third removes one and grows a struct."""
    sources = {"1.0": OLD, "1.1": ADDED, "2.0": NEW}
    return {
        version: build_library(source, soname="libgeo.so.1", name="libgeo.so") for version, source in sources.items()
    }


@pytest.fixture(scope="session")
def file_with(libraries: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a file that holds some of them once, with the first as the baseline. Nobody writes to it."""

    @cache
    def made(*versions: str) -> Path:
        database = tmp_path_factory.mktemp("store") / "abi.db"
        with open_store(database, create=True) as store:
            fill(store, {version: libraries[version] for version in versions})
        return database

    return made


@pytest.fixture(scope="session")
def server_with(libraries: dict[str, Path], empty_postgres: Callable[[], str]) -> Callable[..., str]:
    """Makes the same as a database of a server, of which others are copies; its name."""

    @cache
    def made(*versions: str) -> str:
        address = empty_postgres()
        with open_store(address, create=True) as store:
            fill(store, {version: libraries[version] for version in versions})
        return make_url(address).database or ""

    return made


@pytest.fixture(params=["sqlite", "postgresql"])
def store_with(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Makes a test's own store of some of them, on each database that is supported; its address."""
    if request.param == "sqlite":
        made = request.getfixturevalue("file_with")
        yield lambda *versions: str(shutil.copy(made(*versions), tmp_path / "abi.db"))
        return
    made, copied = request.getfixturevalue("server_with"), request.getfixturevalue("copied_postgres")
    with ExitStack() as until_the_end:
        yield lambda *versions: until_the_end.enter_context(dropped(copied(made(*versions))))


@pytest.fixture(scope="session")
def stored(file_with: Callable[..., Path], libraries: dict[str, Path]) -> Path:
    """A database that holds all of them. Nobody writes to it."""
    return file_with(*libraries)


def fill(store: OpenStore, libraries: dict[str, Path]) -> None:
    for version, library in libraries.items():
        (done,) = ingest(library, IngestPlan(version=version), database=store)
        assert done.status == "stored", done.error
    set_baseline("libgeo@1.0", BaselinePlan(reason="the first"), database=store)


@pytest.fixture(params=ERAS)
def agent(request: pytest.FixtureRequest, stored: Path, jobs: Jobs) -> Agent:
    """An agent of either era."""
    return Agent(Settings(database=str(stored)), jobs, request.param)


@pytest.fixture
def modern(stored: Path, jobs: Jobs) -> Agent:
    """An agent of the stateless era, where the era has no part in what is tested."""
    return Agent(Settings(database=str(stored)), jobs, "2026-07-28")


@pytest.fixture
def writer(stored: Path, jobs: Jobs) -> Agent:
    """An agent of a server that writes, and leaves decisions to nobody."""
    return Agent(Settings(database=str(stored), allow_write=True, approvals="auto"), jobs, "2026-07-28")


@pytest.fixture(scope="session")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that holds eight releases of a library with long declarations. Nobody writes to it."""
    return histories.store(tmp_path_factory.mktemp("wide"))


@pytest.fixture(scope="session")
def wide_build(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A build of that library which nobody has stored, and its header."""
    return histories.build(len(histories.VERSIONS), tmp_path_factory.mktemp("build"))


@pytest.fixture
def wide_agent(wide: Path, jobs: Jobs) -> Agent:
    """An agent of a server of that library."""
    return Agent(Settings(database=str(wide)), jobs, "2026-07-28")


@pytest.fixture(scope="session")
def used(stored: Path, libraries: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with all releases and three programs that are linked with 1.0. Nobody writes to it."""
    return with_programs(stored, libraries["1.0"], tmp_path_factory.mktemp("programs"))


@pytest.fixture
def user(used: Path, jobs: Jobs) -> Agent:
    """An agent of a server that knows programs."""
    return Agent(Settings(database=str(used)), jobs, "2026-07-28")
