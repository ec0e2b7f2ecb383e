"""The server as clients start it: a process that speaks on standard input and output, and nothing else there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.mcp.conftest import ERAS, Era

LAUNCH = ["-c", "from abistore.cli.entry import serve_mcp; serve_mcp()"]


@pytest.mark.parametrize("era", ERAS)
def test_a_client_starts_the_server_and_asks(era: Era, stored: Path) -> None:
    started = StdioServerParameters(command=sys.executable, args=[*LAUNCH, "--db", str(stored)])

    async def talk() -> tuple[list[str], Any]:
        async with Client(started, mode=era) as client:
            listed = await client.list_tools()
            return [tool.name for tool in listed.tools], await client.call_tool("abi_list", {})

    names, answer = anyio.run(talk)
    assert "abi_list" in names
    assert answer.structured_content["items"][0]["library"] == "libgeo"


def lines(*messages: dict[str, Any]) -> str:
    return "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)


INITIALIZE: dict[str, Any] = {
    "id": "first",
    "method": "initialize",
    "params": {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "sh", "version": "1"}},
}


def spoken(text: str, stored: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *LAUNCH],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "ABISTORE_DB": str(stored)},
    )


def test_the_end_of_input_ends_the_server_with_success_and_pure_output(stored: Path) -> None:
    asked = lines(
        INITIALIZE,
        {"method": "notifications/initialized"},
        {"id": 2, "method": "ping"},
        {"id": 3, "method": "tools/list", "params": {"unknown": 1}},
    )
    with subprocess.Popen(
        [sys.executable, *LAUNCH, "--db", str(stored)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(asked)
        process.stdin.flush()
        told = [process.stdout.readline() for _ in range(3)]
        process.stdin.close()
        assert process.wait(60) == 0
        assert process.stdout.read() == ""
    answers = {message["id"]: message["result"] for message in map(json.loads, told)}
    assert answers["first"]["protocolVersion"] == "2024-11-05"
    assert answers["first"]["serverInfo"]["name"] == "abistore"
    assert answers[2] == {}
    assert answers[3]["tools"]


def test_what_is_no_message_is_survived(stored: Path) -> None:
    rubbish = 'no json\n{"jsonrpc":"2.0"}\n[]\n' + lines({"id": 1, "method": "nothing/there"})
    done = spoken(rubbish + lines(INITIALIZE, {"method": "notifications/initialized"}), stored)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["result"]["protocolVersion"] for answer in answers if answer.get("id") == "first"] == ["2024-11-05"]
