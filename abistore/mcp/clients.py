"""What the configuration files of clients need, and whether the server could answer."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from abistore import __version__
from abistore.errors import UsageError
from abistore.installing import source
from abistore.interface import db_stats, open_store
from abistore.mcp.settings import Settings, absolute, variable
from abistore.model.words import counted
from abistore.urls import masked


class ClientFormat(NamedTuple):
    """Where a client reads its servers: below ``key`` of ``file``.

    ``reference`` is what it replaces by a secret, so that its file holds none; empty where it replaces nothing.
    """

    file: str
    key: str
    reference: str


CLIENTS: Mapping[str, ClientFormat] = {
    "claude-code": ClientFormat(".mcp.json", "mcpServers", "${{{name}}}"),
    "claude-desktop": ClientFormat("claude_desktop_config.json", "mcpServers", ""),
    "cursor": ClientFormat(".cursor/mcp.json", "mcpServers", "${{env:{name}}}"),
    "vscode": ClientFormat(".vscode/mcp.json", "servers", "${{input:{name}}}"),
}

TOKEN = variable("token")
DATABASE = "ABISTORE_DB"
BRIDGE = "mcp-remote@0.15.1"
"""The npm package by which Claude Desktop, which only starts commands, reaches a server over HTTP."""


class Snippet(NamedTuple):
    """What to write into ``file``; ``notes`` tell what else there is to do."""

    file: str
    config: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The file's contents, where it has no other servers."""
        return json.dumps(self.config, indent=2)


def starting(client: str, database: str | None, *, uvx: bool = False, allow_write: bool = False) -> Snippet:
    """The configuration of a client that starts the server. A database whose URL has a password is left out of it.

    ``uvx`` installs the server first, from what this abistore was installed from. Raises :class:`UsageError` where that
    is not known.
    """
    one_word = re.sub(r"\s", "%20", database or "")  # a password may hold spaces, at which a text would be cut
    secret = masked(one_word) != one_word
    given = absolute(database)
    words = [*_command(uvx), *([] if secret or not given else ["--db", given])]
    words += ["--allow-write"] if allow_write else []
    server: dict[str, Any] = {"type": "stdio", "command": words[0], "args": words[1:]}
    if client == "claude-desktop":
        del server["type"]
    notes: list[str] = []
    if client == "claude-code" and not secret:
        notes.append(f"or run: claude mcp add abistore -- {shlex.join(words)}")
    if secret:
        server |= _environment(client)
        notes.append(f"the database's URL has a password: {_kept(client, DATABASE, 'it')}")
    return _snippet(client, server, notes, DATABASE if secret else "")


def reaching(client: str, url: str) -> Snippet:
    """The configuration of a client that reaches a server over HTTP. Raises :class:`UsageError` for another address."""
    address = urlsplit(url)
    if address.scheme not in {"http", "https"} or not address.hostname or "@" in address.netloc:
        raise UsageError("--url: is not the address of a server", "e.g. --url http://127.0.0.1:8765/mcp")
    notes = [f"the server's token, which `abistore mcp token FILE` makes: {_kept(client, TOKEN, 'it')}"]
    if client == "claude-desktop":
        header = "Authorization:${" + TOKEN + "}"  # no space: Windows would cut the argument there
        server = {"command": "npx", "args": ["-y", BRIDGE, url, "--header", header], "env": {TOKEN: "Bearer TOKEN"}}
        return _snippet(client, server, notes, "")
    authorization = f"Bearer {CLIENTS[client].reference.format(name=TOKEN)}"
    typed = {} if client == "cursor" else {"type": "http"}
    return _snippet(client, {**typed, "url": url, "headers": {"Authorization": authorization}}, notes, TOKEN)


def _command(uvx: bool) -> list[str]:
    if not uvx:
        return ["abistore-mcp"]
    found = source()
    if found is None:
        told = "--uvx: what this abistore was installed from is not known, or no longer there"
        raise UsageError(told, "leave it out, or install abistore from a checkout or a wheel that stays")
    return ["uvx", "--from", found.with_extra("mcp"), "abistore-mcp"]


def _environment(client: str) -> dict[str, Any]:
    reference = CLIENTS[client].reference
    return {"env": {DATABASE: reference.format(name=DATABASE)}} if reference else {}


def _kept(client: str, name: str, what: str) -> str:
    """Where a secret is, which the file that others may see does not hold."""
    if client == "vscode":
        return f"VS Code asks for {what} once, and keeps {what} for you"
    if client == "claude-desktop" and name == TOKEN:
        return f"put {what} in the place of TOKEN; the file is yours alone"
    return f"set {name} in the client's environment"


def _snippet(client: str, server: Mapping[str, Any], notes: list[str], secret: str) -> Snippet:
    """``secret`` is the variable that VS Code asks for."""
    file, key, _ = CLIENTS[client]
    config: dict[str, Any] = {key: {"abistore": dict(server)}}
    if client == "vscode" and secret:
        asked = {"type": "promptString", "id": secret, "description": f"abistore: {secret}", "password": True}
        config["inputs"] = [asked]
    return Snippet(file, config, (f"write this into {file}", *notes))


def skill() -> str:
    """The file by which agents learn how to review with abistore, for the folder of skills of a client."""
    return Path(__file__).with_name("SKILL.md").read_text()


class Readiness(msgspec.Struct, frozen=True):
    """What a server would serve."""

    version: str
    revision: str
    releases: int
    libraries: int

    @property
    def line(self) -> str:
        """The same for people."""
        stored = f"{counted(self.releases, 'release')} of {counted(self.libraries, 'library', 'libraries')}"
        return f"abistore mcp {self.version}: ready, {stored}, schema {self.revision}"


def readiness(settings: Settings) -> Readiness:
    """What a server of these settings would serve. Raises :class:`StoreError`."""
    with open_store(settings.database, read_only=True) as store:
        stats = db_stats(database=store)
    return Readiness(__version__, stats.revision, stats.releases, stats.libraries)
