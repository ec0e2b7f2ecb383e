"""What takes too long, or is not wanted any more, ends at once, with the process that worked on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from abistore.mcp.jobs import Jobs
from abistore.mcp.server import build_server
from abistore.mcp.settings import Settings
from tests.mcp.conftest import ERAS, Era


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def stopped(client: Client, jobs: Jobs) -> int:
    """A process that works for the server, and hangs from now on."""
    import signal

    assert not (await client.call_tool("abi_help", {})).is_error
    (process,) = jobs.running
    os.kill(process, signal.SIGSTOP)
    return process


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_hangs_is_told_and_the_server_goes_on(era: Era, stored: Path) -> None:
    jobs = Jobs(1)
    server = build_server(Settings(database=str(stored)), jobs)

    async def talk() -> tuple[Any, Any]:
        async with Client(server, mode=era) as client:
            process = await stopped(client, jobs)
            server.bounds = Settings(database=str(stored), timeout=0.5)
            late = await client.call_tool("abi_compare", {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"})
            assert not is_running(process)
            server.bounds = Settings(database=str(stored))
            return late, await client.call_tool("abi_list", {})

    late, after = anyio.run(talk)
    jobs.close()
    assert late.is_error
    assert '"error":"abi_compare timed out after 0.5s","code":"TIMEOUT"' in late.content[0].text
    assert not after.is_error


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_cancelled_ends_its_process(era: Era, stored: Path) -> None:
    jobs = Jobs(1)
    server = build_server(Settings(database=str(stored)), jobs)

    async def talk() -> tuple[bool, Any]:
        async with Client(server, mode=era) as client:
            process = await stopped(client, jobs)
            with anyio.move_on_after(0.5):
                await client.call_tool("abi_list", {})
            for _ in range(100):
                if not is_running(process):
                    break
                await anyio.sleep(0.05)
            return is_running(process), await client.call_tool("abi_list", {})

    running, after = anyio.run(talk)
    jobs.close()
    assert not running
    assert not after.is_error


def test_a_call_that_takes_too_much_memory_is_told(stored: Path) -> None:
    jobs = Jobs(1)
    server = build_server(Settings(database=str(stored), max_memory=1), jobs)

    async def talk() -> Any:
        async with Client(server) as client:
            return await client.call_tool("abi_history", {"library": "libgeo"})

    refused = anyio.run(talk)
    jobs.close()
    assert refused.is_error
    assert '"code":"LIMIT"' in refused.content[0].text
