"""A server that writes, on every address of the machine: what a token allows, and what bounds those who have one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.types import ElicitRequestParams, ElicitResult, TextContent

from abistore.errors import UsageError
from abistore.interface import db_audit, open_store
from abistore.mcp.listening import Listening, add
from abistore.mcp.tools.all import TOOLS, WRITING
from tests.mcp.conftest import ERAS, Era, fill
from tests.mcp.over_http import INITIALIZE, META, MODERN, Served, served

SUBJECTS = ("reader", "writer", "builder", "tester")
SESSIONS = len(SUBJECTS) - 1
"""One less than there are subjects, of which each has one session at most."""


@pytest.fixture(scope="module")
def database(libraries: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("store") / "abi.db"
    with open_store(found, create=True) as store:
        fill(store, libraries)
    return found


@pytest.fixture(scope="module")
def server(database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    where = ("--host", "0.0.0.0", "--allow-remote", "--allowed-host", "127.0.0.1", "--allowed-host", "abi.example.org")
    bounds = ("--max-sessions", str(SESSIONS), "--session-timeout", "2", "--allowed-origin", "https://abi.example.org")
    folder = tmp_path_factory.mktemp("http")
    for subject in SUBJECTS:
        add(folder / "tokens", subject, write=subject == "writer")
    with served(folder, database, "--allow-write", *where, *bounds) as found:
        yield found


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize("era", ERAS)
def test_tools_that_write_are_for_tokens_that_may_write(era: Era, server: Served) -> None:
    assert anyio.run(server.ask, names, era, "reader") == TOOLS.keys()
    assert anyio.run(server.ask, names, era, "writer") == TOOLS.keys() | WRITING.keys()

    async def asked(client: Client) -> str:
        answer = await client.call_tool("abi_baseline", {"library": "libgeo", "version": "1.1", "reason": "no"})
        assert answer.is_error and isinstance(answer.content[0], TextContent)
        return answer.content[0].text

    assert '"code":"WRITE_DISABLED"' in anyio.run(server.ask, asked, era, "reader")


@pytest.mark.parametrize("era", ERAS)
def test_a_person_is_asked_over_http_and_the_token_says_who_wrote(era: Era, server: Served, database: Path) -> None:
    seen: list[str] = []

    async def person(context: Any, params: ElicitRequestParams) -> ElicitResult:
        seen.append(params.message)
        return ElicitResult(action="accept", content={"agree": True})

    async def asked(client: Client) -> Any:
        given = {"library": "libgeo", "version": "2.0", "reason": "the next series", "channel": era.replace("-", "")}
        await client.call_tool("abi_baseline", {**given, "version": "1.0"})
        return await client.call_tool("abi_baseline", given)

    async def talk() -> Any:
        return await server.ask(asked, era, "writer", elicitation_callback=person)

    assert anyio.run(talk).structured_content["decided_by"] == "user"
    assert seen and seen[0].startswith("Move the baseline")
    assert db_audit(limit=1, database=database)[0].actor.startswith("writer (mcp: mcp)")
    assert "subject=writer" in server.log.read_text()


LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
STATELESS = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/list"}


def test_names_and_pages_are_checked_where_other_machines_ask_too(server: Served) -> None:
    for host, code in (("abi.example.org", 200), ("abi.example.org:443", 200), ("evil.example", 421), ("0.0.0.0", 421)):
        assert server.post(LIST, **STATELESS, Host=host).status_code == code, host
    for origin, code in (("https://abi.example.org", 200), ("http://abi.example.org", 403), ("http://localhost", 403)):
        assert server.post(LIST, **STATELESS, Origin=origin).status_code == code, origin


def test_sessions_are_bounded_and_end_when_nobody_uses_them(server: Served) -> None:
    opened = {subject: server.post(INITIALIZE, subject) for subject in SUBJECTS}
    assert opened[SUBJECTS[-1]].status_code == 503
    who, first = next((who, told.headers["mcp-session-id"]) for who, told in opened.items() if told.status_code == 200)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    # a session that is asked does not end, so new ones are tried first, and then the old one after a longer time
    assert answered_in_time(200, 0.2, lambda: server.post(INITIALIZE, SUBJECTS[-1]))
    assert answered_in_time(404, 3, lambda: server.post(ping, who, Mcp_Session_Id=first))


def answered_in_time(code: int, pause: float, ask: Callable[[], httpx2.Response]) -> bool:
    """Whether what is asked again and again, with pauses in seconds, is answered so within two minutes."""
    ends = time.monotonic() + 120
    while ask().status_code != code:
        if time.monotonic() > ends:
            return False
        time.sleep(pause)
    return True


def test_other_machines_hear_that_nothing_is_encrypted(server: Served) -> None:
    assert "reachable from other machines without encryption" in server.log.read_text()


@pytest.mark.parametrize("name", ["session_timeout", "max_sessions", "max_body_size"])
def test_no_bound_is_switched_off(name: str) -> None:
    with pytest.raises(UsageError, match="is not positive"):
        Listening(**{name: 0})
