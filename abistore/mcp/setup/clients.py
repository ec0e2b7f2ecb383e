"""What the configuration files of clients need to start the server."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from abistore.mcp.settings import absolute
from abistore.urls import masked

FILES: Mapping[str, tuple[str, str]] = {
    "claude-code": (".mcp.json", "mcpServers"),
    "claude-desktop": ("claude_desktop_config.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
}
"""Each client's file, and the key in it below which servers stand."""


class Snippet(NamedTuple):
    """What to write into ``file``; ``notes`` tell what else there is to do."""

    file: str
    config: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The file's contents, where it has no other servers."""
        return json.dumps(self.config, indent=2)


def snippet(client: str, database: str | None, *, uvx: bool = False) -> Snippet:
    """The configuration of a client; a database whose URL has a password is left to the environment."""
    file, key = FILES[client]
    one_word = re.sub(r"\s", "%20", database or "")  # a password may hold spaces, at which a text would be cut
    secret = masked(one_word) != one_word
    given = absolute(database)
    words = [*_command(uvx), *([] if secret or not given else ["--db", given])]
    server: dict[str, Any] = {"command": words[0], "args": words[1:]}
    if client == "vscode":
        server = {"type": "stdio", **server}
    notes = [f"write this into {file}"]
    if client == "claude-code":
        notes.append(f"or run: claude mcp add abistore -- {shlex.join(words)}")
    if secret:
        notes.append("the database's URL has a password: set ABISTORE_DB in the client's environment instead")
    return Snippet(file, {key: {"abistore": server}}, tuple(notes))


def _command(uvx: bool) -> list[str]:
    return ["uvx", "--from", "abistore[mcp]", "abistore-mcp"] if uvx else ["abistore-mcp"]
