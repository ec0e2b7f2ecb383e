"""A client of an MCP server in forty lines, without an SDK: one JSON message a line, over standard input and output."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

PROTOCOL = "2025-11-25"


class Told(NamedTuple):
    """What a server answered: the result or the error of the protocol, and the bytes of the text that a model reads."""

    message: dict[str, Any]
    bytes: int

    @property
    def result(self) -> dict[str, Any]:
        """The result, which is there."""
        found: dict[str, Any] = self.message["result"]
        return found

    @property
    def document(self) -> dict[str, Any]:
        """What a tool answered, or the error that it answered with."""
        found: dict[str, Any] = json.loads(text_of(self.result))
        return found


class Speaking:
    """A server that runs for as long as the ``with`` block, and one client that asks it."""

    def __init__(self, command: Sequence[str | Path], **started: Any) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(list(map(str, command)), stdin=pipe, stdout=pipe, text=True, **started)
        assert self.process.stdin and self.process.stdout
        self.tells, self.hears = self.process.stdin, self.process.stdout
        self._numbers = count(1)

    def __enter__(self) -> Speaking:
        client = {"name": "abistore-examples", "version": "1"}
        said = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        self.introduced = self.ask("initialize", said).result
        self.say({"method": "notifications/initialized"})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def ask(self, method: str, parameters: Mapping[str, Any] | None = None) -> Told:
        """The answer to a request."""
        number = next(self._numbers)
        self.say({"id": number, "method": method, "params": parameters or {}})
        return self.heard(number)

    def call(self, tool: str, /, **arguments: Any) -> Told:
        """The answer of a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def say(self, message: Mapping[str, Any]) -> None:
        """Send a message."""
        self.tells.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.tells.flush()

    def heard(self, number: int) -> Told:
        """The answer to the request of this number; notifications before it are passed over."""
        for line in self.hears:
            message = json.loads(line)
            if message.get("id") == number:
                return Told(message, len(text_of(message.get("result", {})).encode()))
        raise EOFError("the server ended")

    def end(self) -> int:
        """Close the server's input, which ends it, and tell its exit code."""
        with suppress(BrokenPipeError):
            self.tells.close()
        if not self.hears.closed:
            self.hears.read()
            self.hears.close()
        return self.process.wait(60)


def text_of(result: Mapping[str, Any]) -> str:
    """The text of a result: of a tool's answer, of a resource; else the whole of it as JSON."""
    blocks = [*result.get("content", ()), *result.get("contents", ())]
    return "".join(block.get("text", "") for block in blocks) if blocks else json.dumps(result, separators=(",", ":"))
