"""Clients that subscribe are told what changes, in both eras, whoever writes to the store."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp import Client, MCPError
from mcp.types import ResourceListChangedNotification, ResourceUpdatedNotification

from abistore.interface import (
    BaselinePlan,
    IngestPlan,
    OpenStore,
    db_check,
    db_forget,
    ingest,
    open_store,
    set_baseline,
)
from abistore.mcp import sessions
from abistore.mcp.calls import Server
from abistore.mcp.jobs import Jobs
from abistore.mcp.server import build_server
from abistore.mcp.sessions import OF_FILE
from abistore.mcp.settings import Settings
from tests.mcp.conftest import ERAS, Era, fill
from tests.mcp.test_stdio import LAUNCH

pytestmark = [pytest.mark.full, pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")]

LIST = "the list"
PATIENCE = 60
"""Seconds that no test waits for: what it waits for comes, or it fails."""

OF_LIBRARY = "abistore://libraries/libgeo"
OF_RELEASE = f"{OF_LIBRARY}/releases/2.0"
EVERY = (
    "abistore://libraries",
    OF_LIBRARY,
    f"{OF_LIBRARY}/history",
    f"{OF_LIBRARY}/history.md",
    f"{OF_LIBRARY}/baseline",
    f"{OF_LIBRARY}/releases/1.1/verdict",
    f"{OF_RELEASE}/verdict",
    f"{OF_RELEASE}/verdict.md",
    f"{OF_RELEASE}/summary",
    f"{OF_RELEASE}/snapshot.json",
    "abistore://latest/summary",
    "abistore://latest/report.json",
    "abistore://docs/cli",
    "abistore://nothing",
)
LATEST = {"abistore://latest/summary", "abistore://latest/report.json"}
AFTERWARDS = tuple(f"abistore://libraries/zz/releases/{number}/snapshot.json" for number in range(1, 5))
"""Of a library that is written to behind what is tested: each is told once, and last."""


class Told:
    """What a client was told, in order."""

    def __init__(self, client: Client, stream: MemoryObjectReceiveStream[str]) -> None:
        self.client = client
        self._stream = stream
        self.settled = 0

    async def until(self, last: str) -> set[str]:
        """All that was told until ``last`` was, and that."""
        found: set[str] = set()
        with anyio.fail_after(PATIENCE):
            while last not in found:
                found.add(await self._stream.receive())
        return found


@asynccontextmanager
async def told(server: Server, era: Era, *addresses: str) -> AsyncIterator[Told]:
    """A client of an era that subscribed to addresses, and to the list."""
    send, receive = anyio.create_memory_object_stream[str](1_000)

    async def handle(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            send.send_nowait(str(message.params.uri))
        elif isinstance(message, ResourceListChangedNotification):
            send.send_nowait(LIST)

    async with (
        send,
        receive,
        Client(server, mode=era, message_handler=handle) as client,
        subscribed(client, era, addresses, send),
    ):
        yield Told(client, receive)


@asynccontextmanager
async def subscribed(client: Client, era: Era, addresses: tuple[str, ...], send: Any) -> AsyncIterator[None]:
    if era == "legacy":
        await client.list_resources()
        for address in addresses:
            await client.session.subscribe_resource(address)
        yield
        return
    async with (
        client.listen(resources_list_changed=True, resource_subscriptions=addresses) as stream,
        anyio.create_task_group() as tasks,
    ):

        async def pass_on() -> None:
            async for event in stream:
                send.send_nowait(str(getattr(event, "uri", LIST)))

        tasks.start_soon(pass_on)
        yield
        tasks.cancel_scope.cancel()


async def command(*words: str) -> None:
    """A process of its own, which runs the command."""
    done = await anyio.run_process([sys.executable, "-m", "abistore", *words], check=False)
    assert done.returncode in {0, 1, 2}, done.stderr


async def changed(listener: Told, address: str, library: Path, change: Callable[[OpenStore], object]) -> set[str]:
    """All that is told of a change: something else is written behind it, which is told last."""

    def write() -> None:
        with open_store(address) as store:
            change(store)

    await anyio.to_thread.run_sync(write)
    return await settled(listener, address, library)


async def settled(listener: Told, address: str, library: Path) -> set[str]:
    """All that is told until what is written now is."""
    listener.settled += 1
    number = listener.settled

    def write() -> None:
        with open_store(address) as store:
            ingest(library, IngestPlan(version=str(number), library="zz"), database=store)

    await anyio.to_thread.run_sync(write)
    return await listener.until(AFTERWARDS[number - 1]) - {*AFTERWARDS, "abistore://libraries"}


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is to be created."""
    return str(tmp_path / "abi.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url"))


@pytest.fixture
def path(tmp_path: Path, libraries: dict[str, Path]) -> Path:
    """A store in a file."""
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        fill(store, libraries)
        ingest(libraries["1.0"], IngestPlan(version="0", library="zz"), database=store)
    return database


def serve(database: object, jobs: Jobs) -> Server:
    return build_server(Settings(database=str(database)), jobs)


def talk(asked: Callable[[], Coroutine[Any, Any, None]]) -> None:
    anyio.run(asked)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_is_told_what_another_process_stores(
    era: Era, address: str, libraries: dict[str, Path], jobs: Jobs
) -> None:
    with open_store(address, create=True) as store:
        ingest(libraries["1.0"], IngestPlan(version="1.0"), database=store)
        ingest(libraries["1.0"], IngestPlan(version="0", library="zz"), database=store)

    async def asked() -> None:
        async with told(serve(address, jobs), era, *EVERY, *AFTERWARDS) as listener:
            await command("ingest", str(libraries["2.0"]), "--version", "2.0", "--db", address)
            found = await settled(listener, address, libraries["1.0"])
        of_library = {OF_LIBRARY, f"{OF_LIBRARY}/history", f"{OF_LIBRARY}/history.md"}
        of_release = {f"{OF_RELEASE}/{end}" for end in ("verdict", "verdict.md", "summary", "snapshot.json")}
        assert found == of_library | of_release | LATEST

    talk(asked)


@pytest.mark.parametrize("era", ERAS)
def test_a_baseline_that_moves_and_a_release_that_is_forgotten_are_told(
    era: Era, path: Path, libraries: dict[str, Path], jobs: Jobs
) -> None:
    address = str(path)

    async def asked() -> None:
        async with told(serve(address, jobs), era, *EVERY, *AFTERWARDS) as listener:
            await settled(listener, address, libraries["1.0"])
            moved = await changed(
                listener,
                address,
                libraries["1.0"],
                lambda store: set_baseline("libgeo@1.1", BaselinePlan(reason="tested"), database=store),
            )
            assert moved - LATEST == {f"{OF_LIBRARY}/{end}" for end in ("baseline", "history", "history.md")}
            gone = await changed(
                listener, address, libraries["1.0"], lambda store: db_forget("libgeo@2.0", database=store)
            )
            assert gone >= {OF_LIBRARY, f"{OF_LIBRARY}/history", f"{OF_RELEASE}/snapshot.json", f"{OF_RELEASE}/verdict"}
            assert not gone & {f"{OF_LIBRARY}/baseline", f"{OF_LIBRARY}/releases/1.1/verdict", LIST}

    talk(asked)


@pytest.mark.parametrize("era", ERAS)
def test_a_new_library_and_a_gone_one_are_told(era: Era, path: Path, libraries: dict[str, Path], jobs: Jobs) -> None:
    async def asked() -> None:
        async with told(serve(path, jobs), era) as listener:
            await command("ingest", str(libraries["1.0"]), "--version", "1.0", "--library", "libnew", "--db", str(path))
            assert await listener.until(LIST) == {LIST}
            await command("db", "forget", "libnew@1.0", "--reason", "a trial", "--db", str(path))
            assert await listener.until(LIST) == {LIST}

    talk(asked)


@pytest.mark.parametrize("era", ERAS)
def test_nothing_looks_at_the_store_while_nobody_subscribes(
    era: Era, path: Path, libraries: dict[str, Path], jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(path, jobs)
    looks: list[tuple[str, object]] = []
    look = server.watcher._ask

    async def counted(mark: str, addresses: Any) -> Any:
        looks.append((mark, list(addresses)))
        return await look(mark, addresses)

    monkeypatch.setattr(server.watcher, "_ask", counted)

    async def asked() -> None:
        async with Client(server, mode=era) as client:
            await client.call_tool("abi_list", {})
            await anyio.sleep(3 * OF_FILE)
            assert looks == []
        async with told(server, era, OF_LIBRARY, *AFTERWARDS) as listener:
            await settled(listener, str(path), libraries["1.0"])
            assert looks
        assert len(server.subscribers) == 0

    talk(asked)


@pytest.mark.parametrize("era", ERAS)
def test_subscriptions_are_bounded_and_end_with_their_client(
    era: Era, path: Path, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MOST_SUBSCRIBED", 4)
    server = serve(path, jobs)
    many = tuple(f"{OF_LIBRARY}/releases/{number}/verdict" for number in range(4))

    async def refused(client: Client) -> str:
        try:
            if era == "legacy":
                await client.session.subscribe_resource(OF_LIBRARY)
            else:
                async with client.listen(resource_subscriptions=[OF_LIBRARY]):
                    pass
        except MCPError as error:
            return error.message
        return ""

    async def asked() -> None:
        async with told(server, era, *many), Client(server, mode=era) as client:
            assert "at most 4 subscriptions" in await refused(client)
            assert not (await client.call_tool("abi_list", {})).is_error
        async with Client(server, mode=era) as client:
            assert await refused(client) == ""
        assert len(server.subscribers) == 0

    talk(asked)


def test_an_address_that_is_left_is_told_no_more(path: Path, libraries: dict[str, Path], jobs: Jobs) -> None:
    server = serve(path, jobs)

    async def asked() -> None:
        async with told(server, "legacy", OF_LIBRARY, *AFTERWARDS) as listener:
            await settled(listener, str(path), libraries["1.0"])
            await listener.client.session.unsubscribe_resource(OF_LIBRARY)
            found = await changed(
                listener,
                str(path),
                libraries["1.0"],
                lambda store: ingest(libraries["1.0"], IngestPlan(version="3.0"), database=store),
            )
            assert found == set()

    talk(asked)


@pytest.mark.parametrize("era", ERAS)
def test_a_database_that_is_replaced_is_told_and_stays_sound(
    era: Era, path: Path, libraries: dict[str, Path], jobs: Jobs, tmp_path: Path
) -> None:
    """A connection that stayed open would leave its log to the file that takes the place."""
    other = tmp_path / "other.db"
    with open_store(other, create=True) as store:
        ingest(libraries["2.0"], IngestPlan(version="9.0"), database=store)
        ingest(libraries["2.0"], IngestPlan(version="1.0", library="libelse"), database=store)

    async def asked() -> None:
        async with told(serve(path, jobs), era, OF_LIBRARY, *AFTERWARDS) as listener:
            await settled(listener, str(path), libraries["1.0"])
            other.replace(path)
            assert await listener.until(LIST) >= {OF_LIBRARY, LIST}
            assert db_check(database=path) == ()
            await settled(listener, str(path), libraries["1.0"])

    talk(asked)


@pytest.fixture(scope="module")
def hasty() -> Iterator[Jobs]:
    """A process that does not wait long for a locked database."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ABISTORE_BUSY_SECONDS", "0.2")
        made = Jobs(1)
        made.warm()
    yield made
    made.close()


def vanish(path: Path) -> Callable[[], object]:
    away = path.with_suffix(".away")
    path.rename(away)
    return lambda: away.rename(path)


def lock(path: Path) -> Callable[[], object]:
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    holder.execute("UPDATE root SET id = 1")
    holder.execute("COMMIT")
    return holder.close


def upgrade(path: Path) -> Callable[[], object]:
    def call(number: str) -> str:
        with sqlite3.connect(path, isolation_level=None) as connection:
            ((before,),) = connection.execute("SELECT version_num FROM abistore_version").fetchall()
            connection.execute("UPDATE abistore_version SET version_num = ?", (number,))
        connection.close()
        return str(before)

    return partial(call, call("9999"))


@pytest.mark.parametrize("trouble", [vanish, lock, upgrade])
def test_what_happens_to_the_database_is_said_in_the_log_and_survived(
    trouble: Callable[[Path], Callable[[], object]],
    path: Path,
    libraries: dict[str, Path],
    hasty: Jobs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = serve(path, hasty)
    said: list[str] = []
    monkeypatch.setattr(server.audit, "warn", said.append)

    async def until(words: str) -> None:
        with anyio.fail_after(PATIENCE):
            while not any(words in line for line in said):
                await anyio.sleep(0.05)

    async def asked() -> None:
        async with told(server, "2026-07-28", OF_LIBRARY, *AFTERWARDS) as listener:
            await settled(listener, str(path), libraries["1.0"])
            mend = trouble(path)
            await until("subscribers are not notified of changes")
            mend()
            await until("subscribers are notified of changes again")
            await changed(
                listener,
                str(path),
                libraries["1.0"],
                lambda store: ingest(libraries["1.0"], IngestPlan(version="3.0"), database=store),
            )
        assert len(said) == 2
        assert str(path.parent) not in "".join(said)

    talk(asked)


def test_a_server_that_is_watched_ends_with_its_input(path: Path) -> None:
    words = [sys.executable, *LAUNCH, "--db", str(path)]
    asked = [
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
        '"clientInfo":{"name":"sh","version":"1"}}}',
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"abistore://libraries"}}',
    ]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONWARNINGS": "ignore"}
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write("\n".join(asked) + "\n")
        process.stdin.flush()
        first, second = process.stdout.readline(), process.stdout.readline()
        assert '"subscribe":true' in first and '"listChanged":true' in first
        assert '"id":2,"result":{}' in second
        process.stdin.close()
        assert process.wait(60) == 0
