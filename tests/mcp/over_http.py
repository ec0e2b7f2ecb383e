"""A server over HTTP as people start it: a process that listens on a free port, and clients that have its tokens."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY

from abistore.mcp.listening import add
from tests.mcp.conftest import Asked, Era

LAUNCH = ["-c", "from abistore.cli.entry import serve_mcp; serve_mcp()"]
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
MODERN = "2026-07-28"
META = {
    PROTOCOL_VERSION_META_KEY: MODERN,
    CLIENT_INFO_META_KEY: {"name": "probe", "version": "1"},
    CLIENT_CAPABILITIES_META_KEY: {},
}
"""What a request without a handshake has beside its parameters."""


@dataclass
class Served:
    """A server that runs; ``tokens`` has one for each subject."""

    process: subprocess.Popen[str]
    url: str
    log: Path
    tokens: dict[str, str] = field(default_factory=dict)

    def post(self, body: Any, subject: str = "reader", **headers: str) -> httpx2.Response:
        """The answer to a request; a body that is no text is sent as JSON."""
        token = {"Authorization": f"Bearer {self.tokens[subject]}"} if subject else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if isinstance(body, str | bytes) else json.dumps(body)
        return httpx2.post(self.url, content=content, headers={**JSON, **token, **named}, timeout=60)

    def session(self, subject: str = "reader") -> str:
        """A new session of the handshake era."""
        opened = self.post(INITIALIZE, subject)
        assert opened.status_code == 200, opened.text
        return opened.headers["mcp-session-id"]

    async def ask(self, asked: Asked, era: Era, subject: str = "reader", **options: Any) -> Any:
        """What a coroutine gives that talks to the server by the SDK's client, which has ``options``."""
        header = {"Authorization": f"Bearer {self.tokens[subject]}"}
        async with (
            httpx2.AsyncClient(headers=header, timeout=60) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=era, **options) as client,
        ):
            return await asked(client)

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ends the server; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(60)


INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "probe", "version": "1"}},
}


def result(response: httpx2.Response) -> dict[str, Any]:
    """The message in an answer, which may be a stream of events."""
    text = response.text
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        text = re.findall(r"^data: (\{.*)$", text, re.MULTILINE)[-1]
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


@contextmanager
def served(
    folder: Path, database: Path, *options: str, launch: Sequence[str] = LAUNCH, **environment: str
) -> Iterator[Served]:
    """A server with a token that may read and one that may write; ``options`` are those of ``mcp serve``."""
    file, log = folder / "tokens", folder / "log"
    if not file.exists():
        add(file, "reader", write=False)
        add(file, "writer", write=True)
    command = [sys.executable, *launch, "--db", str(database), "--transport", "streamable-http", "--port", "0"]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*command, "--token-file", str(file), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            text=True,
            env={**os.environ, **environment},
        )
    found = Served(process, "", log, {line.split()[1]: line.split()[0] for line in file.read_text().splitlines()})
    try:
        found.url = _address(found)
        yield found
    finally:
        process.kill()
        process.wait()


def _address(server: Served) -> str:
    """The address, as soon as the server says it."""
    import time

    while server.process.poll() is None:
        if told := re.search(r"serving on (http://\S+)\n", server.log.read_text(errors="replace")):
            return told[1]
        time.sleep(0.05)
    raise AssertionError(server.log.read_text(errors="replace"))
