"""Streamable HTTP: both eras from one server, for those who have a token and call it by its name."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socket import create_connection
from threading import Thread
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.types import TextContent
from starlette.types import Message

from abistore.cli.main import run
from abistore.mcp.http import RequestBounds
from abistore.mcp.listening import Listening, tokens
from tests.mcp.conftest import ERAS, Era
from tests.mcp.over_http import INITIALIZE, META, MODERN, Served, served


@pytest.fixture(scope="module")
def root(libraries: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the server reads files from."""
    found = tmp_path_factory.mktemp("root")
    shutil.copy(libraries["2.0"], found / "libgeo.so")
    return found


@pytest.fixture(scope="module")
def server(stored: Path, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("http")
    options = ("--log-format", "json", "--log-level", "debug", "--read-root", str(root))
    with served(folder, stored, *options) as found:
        yield found


@pytest.mark.parametrize("era", ERAS)
def test_both_eras_are_answered_by_one_server(era: Era, server: Served, root: Path) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total, message))

    async def asked(client: Client) -> Any:
        await client.list_tools()
        given = {"old_input": "libgeo@1.0", "new_input": str(root / "libgeo.so")}
        return await client.call_tool("abi_compare", given, progress_callback=progress)

    answer = anyio.run(server.ask, asked, era)
    assert answer.structured_content["verdict"] == "BREAKING"
    assert told and told[-1][1] == 1.0


@pytest.mark.parametrize("era", ERAS)
def test_a_file_elsewhere_is_not_read(era: Era, server: Served, libraries: dict[str, Path]) -> None:
    async def asked(client: Client) -> list[str]:
        paths = (str(libraries["1.0"]), "/nowhere/libgeo.so")
        answers = [await client.call_tool("abi_dump", {"library_path": path}) for path in paths]
        return [answer.content[0].text for answer in answers if isinstance(answer.content[0], TextContent)]

    first, second = anyio.run(server.ask, asked, era)
    assert first == second
    assert '"code":"PATH_DENIED"' in first


def test_without_a_token_nobody_is_answered_and_no_login_is_named(server: Served) -> None:
    for headers in ({}, {"Authorization": "Bearer " + "x" * 43}, {"Authorization": server.tokens["reader"]}):
        refused = server.post(INITIALIZE, "", **headers)
        assert refused.status_code == 401
        said = refused.headers["www-authenticate"]
        assert said.startswith('Bearer error="invalid_token"')
        assert "resource_metadata" not in said
    for page in ("oauth-protected-resource/mcp", "oauth-protected-resource", "oauth-authorization-server"):
        assert httpx2.get(server.url.replace("/mcp", f"/.well-known/{page}")).status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "10.0.0.1"])
def test_a_name_that_is_not_of_this_machine_is_refused_before_the_token(host: str, server: Served) -> None:
    for subject in ("reader", ""):
        assert server.post(INITIALIZE, subject, Host=host).status_code in {400, 421}
    metadata = server.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
    assert httpx2.get(metadata, headers={"Host": host}).status_code in {400, 421}


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example", "file://"])
def test_a_page_of_another_site_is_refused(origin: str, server: Served) -> None:
    assert server.post(INITIALIZE, Origin=origin).status_code == 403
    assert server.post(INITIALIZE, Origin="http://localhost:3000").status_code == 200


def test_who_asked_is_in_the_log_and_no_token_is(server: Served) -> None:
    async def asked(client: Client) -> None:
        await client.call_tool("abi_list", {"library": "libgeo"})

    for era in ERAS:
        for subject in ("reader", "writer"):
            anyio.run(server.ask, asked, era, subject)
    log = server.log.read_text()
    lines = [json.loads(line) for line in log.splitlines() if line.startswith('{"tool"')]
    assert {line["subject"] for line in lines if line["tool"] == "abi_list"} == {"reader", "writer"}
    command = Path(f"/proc/{server.process.pid}/cmdline").read_text()
    for token in server.tokens.values():
        assert token not in log
        assert token not in command


def test_the_environment_can_hold_the_token_and_processes_do_not_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABISTORE_MCP_TOKEN", "t" * 40 + " ci")
    (known,) = tokens(None)
    assert (known.subject, known.scopes) == ("ci", ("abistore:read",))
    assert "ABISTORE_MCP_TOKEN" not in os.environ


def test_a_session_is_of_whoever_opened_it(server: Served) -> None:
    session = server.session("reader")
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert server.post(ping, "reader", Mcp_Session_Id=session).status_code == 200
    assert server.post(ping, "writer", Mcp_Session_Id=session).status_code == 404


def test_one_subject_leaves_sessions_to_others(stored: Path, tmp_path: Path) -> None:
    with served(tmp_path, stored, "--max-sessions", "8") as small:
        opened = [small.session("reader") for _ in range(2)]
        refused = small.post(INITIALIZE, "reader")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "10")
        assert small.session("writer")
        headers = {"Authorization": f"Bearer {small.tokens['reader']}", "Mcp-Session-Id": opened[0]}
        assert httpx2.delete(small.url, headers=headers).status_code == 200
        assert small.session("reader")


def test_a_body_has_so_long_to_arrive() -> None:
    async def slow() -> list[Message]:
        async def receive() -> Message:
            if sent:
                await anyio.sleep(60)
            sent.append(True)
            return {"type": "http.request", "body": b"{", "more_body": True}

        async def send(message: Message) -> None:
            told.append(message)

        async def app(*_: object) -> None:
            raise AssertionError("a body that is not whole is no request")

        sent: list[bool] = []
        told: list[Message] = []
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [], "query_string": b""}
        with anyio.fail_after(10):
            await RequestBounds(Listening(), (), body_seconds=0.05).admit(app, scope, receive, send)
        return told

    assert anyio.run(slow)[0]["status"] == 408


def test_a_client_that_leaves_in_its_body_is_no_defect(server: Served) -> None:
    host, port = server.url.removeprefix("http://").removesuffix("/mcp").split(":")
    head = f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 100\r\n"
    with create_connection((host, int(port))) as connection:
        connection.sendall(f"{head}Authorization: Bearer {server.tokens['reader']}\r\n\r\n{{".encode())
    assert server.session()
    assert "Traceback" not in server.log.read_text()


def test_a_request_that_is_too_large_is_refused(server: Served) -> None:
    assert server.post("x" * (4 << 20)).status_code == 400
    assert server.post("x" * ((4 << 20) + 1)).status_code == 413


def test_without_a_token_the_server_does_not_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "serve", "--transport", "streamable-http"]) == 64
    said = capsys.readouterr().err
    assert "abistore mcp token FILE" in said


def test_a_file_of_tokens_is_made_for_its_owner_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    assert run(["mcp", "token", str(file), "--subject", "ci"]) == 0
    assert run(["mcp", "token", str(file), "--subject", "bot", "--write"]) == 0
    first, second = (line.split() for line in file.read_text().splitlines())
    assert (first[1:], second[1:]) == (["ci", "abistore:read"], ["bot", "abistore:write"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    printed = capsys.readouterr()
    assert first[0] not in printed.out + printed.err


def refused(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    capsys.readouterr()
    assert run(["mcp", "serve", "--transport", "streamable-http", *options]) == 64
    return capsys.readouterr().err


def test_a_file_of_tokens_that_others_can_read_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    assert run(["mcp", "token", str(file)]) == 0
    for mode in (0o640, 0o604, 0o660):
        file.chmod(mode)
        assert "others can read it" in refused(capsys, "--token-file", str(file))
        assert run(["mcp", "token", str(file)]) == 64


@pytest.mark.parametrize(
    "text",
    ["", "# nothing\n", "short ci\n", "s" * 40 + " ci abistore:all\n", "s" * 40 + " a/b\n", ("s" * 40 + " a\n") * 2],
)
def test_what_is_no_token_is_refused_and_not_quoted(
    text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "tokens"
    file.touch(0o600)
    file.write_text(text)
    said = refused(capsys, "--token-file", str(file))
    assert "sss" not in said and "short" not in said


def test_another_machine_is_served_only_where_that_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    assert run(["mcp", "token", str(file)]) == 0
    with_file = ("--token-file", str(file), "--port", "0")
    assert "--allow-remote" in refused(capsys, *with_file, "--host", "0.0.0.0")
    assert "--allowed-host" in refused(capsys, *with_file, "--host", "0.0.0.0", "--allow-remote")
    assert "--allowed-host *: is not one" in refused(capsys, *with_file, "--allowed-host", "*")
    assert "--allowed-origin *: is not one" in refused(capsys, *with_file, "--allowed-origin", "*")


def test_a_port_that_is_taken_is_told(server: Served, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    assert run(["mcp", "token", str(file)]) == 0
    port = server.url.split(":")[2].partition("/")[0]
    assert "address already in use" in refused(capsys, "--token-file", str(file), "--port", port)


def ignored(server: Served) -> None:
    """A call whose answer nobody waits for; the server may end before it is given."""
    with suppress(httpx2.HTTPError):
        server.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}, **STATELESS)


CALL = {"name": "abi_list", "arguments": {}, "_meta": META}
STATELESS = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/call", "Mcp_Name": "abi_list"}


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_the_server_with_its_sessions_and_processes(
    how: signal.Signals, code: int, stored: Path, tmp_path: Path
) -> None:
    with served(tmp_path, stored) as server:
        server.session()
        children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
        assert children
        for child in children:  # a call is being worked on, and will not end by itself
            os.kill(int(child), signal.SIGSTOP)
        asking = Thread(target=ignored, args=(server,), daemon=True)
        asking.start()
        asking.join(1)
        assert asking.is_alive()
        assert server.end(how) == code
        asking.join(60)
        assert not [child for child in children if Path(f"/proc/{child}").exists()]


def test_readiness_over_http_needs_tokens_names_and_a_port(
    capsys: pytest.CaptureFixture[str], stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tokens"
    check = ("--db", str(stored), "--check", "--port", "0")
    assert "no such file" in refused(capsys, *check, "--token-file", str(file))
    assert run(["mcp", "token", str(file)]) == 0
    monkeypatch.setenv("ABISTORE_MCP_TRANSPORT", "streamable-http")
    monkeypatch.setenv("ABISTORE_MCP_TOKEN_FILE", str(file))
    monkeypatch.setenv("ABISTORE_MCP_READ_ROOT", f"{tmp_path}:/nowhere/at/all")
    assert "--read-root /nowhere/at/all: not a readable folder" in refused(capsys, *check)
    monkeypatch.setenv("ABISTORE_MCP_READ_ROOT", f"{tmp_path}:{stored.parent}")
    capsys.readouterr()
    assert run(["mcp", "serve", *check]) == 0
    assert re.search(r"ready, 3 releases .* on http://127.0.0.1:\d+/mcp, called by 127.0.0.1", capsys.readouterr().out)
