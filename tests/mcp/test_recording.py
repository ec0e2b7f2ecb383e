"""``--debug-rpc``: all messages of both transports, and none of what is private."""

from __future__ import annotations

import errno
import json
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from abistore.errors import UsageError
from abistore.mcp import server
from abistore.mcp.server import Recording, redacted
from tests.mcp.conftest import ERAS, Era
from tests.mcp.over_http import INITIALIZE, LAUNCH, served


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


async def talk(client: Client) -> None:
    await client.call_tool("abi_list", {"library": "libgeo"})
    await client.read_resource("abistore://libraries/libgeo/history.md")


def methods(file: Path) -> list[str]:
    return [
        line["message"]["method"] for line in lines(file) if line["direction"] == "in" and "method" in line["message"]
    ]


def answers(file: Path) -> list[Any]:
    return [line["message"].get("result") for line in lines(file) if line["direction"] == "out"]


@pytest.mark.parametrize("era", ERAS)
def test_what_passes_on_standard_input_and_output_is_written(era: Era, stored: Path, tmp_path: Path) -> None:
    file = tmp_path / "rpc.jsonl"
    args = [*LAUNCH, "--db", str(stored), "--debug-rpc", str(file)]

    async def asked() -> None:
        async with Client(StdioServerParameters(command=sys.executable, args=args), mode=era) as client:
            await talk(client)

    anyio.run(asked)
    assert [name for name in methods(file) if name in {"tools/call", "resources/read"}] == [
        "tools/call",
        "resources/read",
    ]
    told = json.dumps(answers(file))
    assert '"library": "libgeo"' in told
    assert "the first" not in told, "the reason of a baseline, which somebody wrote"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_what_passes_over_http_is_written_without_tokens(stored: Path, tmp_path: Path) -> None:
    file = tmp_path / "rpc.jsonl"
    with served(tmp_path, stored, "--debug-rpc", str(file)) as server:
        for era in ERAS:
            anyio.run(server.ask, talk, era)
        server.post("no json")
        server.post(INITIALIZE, "")
        assert server.end() == 0
        assert methods(file).count("tools/call") == len(ERAS)
        assert {line.get("status") for line in lines(file) if line["direction"] == "out"} >= {200, 400, 401}
        assert "(7 bytes that are not JSON)" in [line["message"] for line in lines(file)]
        assert not [token for token in server.tokens.values() if token in file.read_text()]
        assert "the first" not in file.read_text()


def test_a_file_that_others_can_read_is_not_written_to(tmp_path: Path) -> None:
    file = tmp_path / "rpc.jsonl"
    file.touch(0o644)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    for path in (file, link, tmp_path, tmp_path / "no" / "folder"):
        with pytest.raises(UsageError):
            Recording(path)
    assert file.read_text() == ""


def test_the_file_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_BYTES", 1_000)
    with Recording(tmp_path / "rpc.jsonl") as recorded:
        for number in range(100):
            recorded.write("in", {"id": number, "method": "ping"})
    assert (tmp_path / "rpc.jsonl").stat().st_size < 1_100
    assert lines(tmp_path / "rpc.jsonl")[-1] == {"full": True}
    with Recording(tmp_path / "rpc.jsonl") as recorded:
        recorded.write("in", {})
    assert (tmp_path / "rpc.jsonl").stat().st_size < 1_100


def test_private_members_and_long_texts_are_left_out() -> None:
    message = {
        "params": {"arguments": {"reason": "because", "note": "n", "library": "x" * 5_000, "uri": "http://u:pw@h/"}},
        "_meta": {"progressToken": 7, "api_key": "k", "token": "t"},
        "content": [{"text": '{"status":"ok","reason":"because"}'}, {"text": "# A page\n\nwith a note"}],
        "not text": None,
    }
    told = json.dumps(redacted(message))
    assert not [private for private in ("because", '"n"', '"k"', '"t"', "pw", "a note") if private in told]
    assert '"progressToken": 7' in told
    assert "3,000 more characters" in told
    assert "(21 characters)" in told


def test_a_disk_that_is_full_does_not_end_the_server(tmp_path: Path) -> None:
    class Full:
        def write(self, data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    with Recording(tmp_path / "rpc.jsonl") as recorded:
        file, recorded._file = recorded._file, Full()  # type: ignore[assignment]  # a disk like any other
        recorded.write("in", {})
        recorded._file = file
        recorded.write("in", {})
    assert lines(tmp_path / "rpc.jsonl") == []


@pytest.mark.parametrize(("how", "code"), [("TERM", 0), ("INT", 130)])
def test_a_signal_ends_a_server_that_waits_for_input(how: str, code: int, stored: Path) -> None:
    command = [sys.executable, *LAUNCH, "--db", str(stored)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert children
        process.send_signal(getattr(signal, f"SIG{how}"))
        assert process.wait(60) == code
        assert not [child for child in children if Path(f"/proc/{child}").exists()]
