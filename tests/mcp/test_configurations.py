"""``abistore mcp config``: what it prints is read as each product reads it, and reaches a server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from abistore.cli.commands.mcp import BRIDGE, CLIENTS
from abistore.cli.main import run
from tests.mcp.clients.installed import FOLDER, node
from tests.mcp.over_http import INITIALIZE, Served, result, served

SECRET = "postgresql://me:se cret@db/abi"
Printed = Callable[..., tuple[dict[str, Any], str]]


class Strict(BaseModel):
    """The keys that a product knows, and no other."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Started(Strict):
    type: Literal["stdio"] = "stdio"
    command: str
    args: list[str]
    env: dict[str, str] = {}


class Untyped(Strict):
    command: str
    args: list[str]
    env: dict[str, str] = {}


class Reached(Strict):
    type: Literal["http"]
    url: str
    headers: dict[str, str]


class ReachedUntyped(Strict):
    url: str
    headers: dict[str, str]


Named = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]


class ClaudeCode(Strict):
    mcpServers: dict[Named, Started | Reached]


class ClaudeDesktop(Strict):
    mcpServers: dict[Named, Untyped]


class Cursor(Strict):
    mcpServers: dict[Named, Started | ReachedUntyped]


class Input(Strict):
    type: Literal["promptString"]
    id: str
    description: str
    password: Literal[True]


class VSCode(Strict):
    servers: dict[Named, Started | Reached]
    inputs: list[Input] = []


PRODUCTS: dict[str, tuple[type[BaseModel], str]] = {
    "claude-code": (ClaudeCode, r"\$\{(\w+)\}"),
    "claude-desktop": (ClaudeDesktop, r"(?!)"),
    "cursor": (Cursor, r"\$\{env:(\w+)\}"),
    "vscode": (VSCode, r"\$\{input:(\w+)\}"),
}
"""What each product reads, and what it replaces by a secret."""


def read(client: str, config: Any, secrets: Mapping[str, str]) -> dict[str, Any]:
    """The server that a product makes of its configuration, with its secrets."""
    model, reference = PRODUCTS[client]
    text = json.dumps(config)
    found = TypeAdapter(model).validate_json(text).model_dump()
    asked = {each["id"] for each in found.get("inputs", ())}
    if client == "vscode":
        assert asked == set(re.findall(reference, text))
    (server,) = found[CLIENTS[client].key].values()
    filled = re.sub(reference, lambda match: json.dumps(secrets[match[1]])[1:-1], json.dumps(server))
    assert "${" not in filled or client == "claude-desktop"
    replaced = json.loads(filled)
    assert isinstance(replaced, dict)
    return replaced


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    def call(*words: str) -> tuple[dict[str, Any], str]:
        capsys.readouterr()
        assert run(["mcp", "config", *words]) == 0
        said = capsys.readouterr()
        return json.loads(said.out), said.err

    return call


def test_every_client_has_a_product() -> None:
    assert PRODUCTS.keys() == CLIENTS.keys()


@pytest.mark.parametrize("client", list(CLIENTS))
def test_what_a_client_starts_answers(client: str, printed: Printed, stored: Path) -> None:
    config, _ = printed(client, "--db", str(stored), "--allow-write")
    server = read(client, config, {})
    assert answered(server["command"], *server["args"]) == "abistore"
    assert server["args"] == ["--db", str(stored), "--allow-write"]


@cache
def answered(*command: str, **environment: str) -> str:
    """Who the server says that it is, when a client starts it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {**os.environ, "PATH": path, **environment}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=own) as process:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(INITIALIZE) + "\n")
        process.stdin.flush()
        told = json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(60) == 0
    return str(told["result"]["serverInfo"]["name"])


@pytest.fixture(scope="module")
def running(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("http"), stored) as found:
        yield found


@pytest.mark.parametrize("client", [client for client in CLIENTS if client != "claude-desktop"])
def test_a_client_reaches_a_server_that_runs(client: str, printed: Printed, running: Served) -> None:
    config, said = printed(client, "--url", running.url)
    server = read(client, config, {"ABISTORE_MCP_TOKEN": running.tokens["reader"]})
    assert server["url"] == running.url
    response = running.post(INITIALIZE, "", **server["headers"])
    assert result(response)["result"]["serverInfo"]["name"] == "abistore"
    assert "abistore mcp token FILE" in said


@pytest.mark.full
def test_claude_desktop_reaches_a_server_that_runs_by_a_bridge(
    printed: Printed, running: Served, tmp_path: Path
) -> None:
    program, packages = node()
    assert (
        BRIDGE.partition("@")[::2] in json.loads((FOLDER / "npm" / "package.json").read_text())["dependencies"].items()
    )
    config, said = printed("claude-desktop", "--url", running.url)
    server = read("claude-desktop", config, {})
    assert [server["command"], *server["args"][:2]] == ["npx", "-y", BRIDGE]
    assert "put it in the place of TOKEN" in said
    environment = {name: value.replace("TOKEN", running.tokens["reader"]) for name, value in server["env"].items()}
    bridge = [program, str(packages / ".bin" / "mcp-remote"), *server["args"][2:]]
    assert answered(*bridge, **environment, HOME=str(tmp_path)) == "abistore"


@pytest.mark.parametrize("client", list(CLIENTS))
def test_no_password_is_in_a_configuration(client: str, printed: Printed) -> None:
    config, said = printed(client, "--db", SECRET)
    assert "cret" not in json.dumps(config) + said
    server = read(client, config, {"ABISTORE_DB": SECRET})
    if client == "claude-desktop":
        assert server["env"] == {}
        assert "set ABISTORE_DB in the client's environment" in said
    else:
        assert server["env"] == {"ABISTORE_DB": SECRET}


@pytest.mark.parametrize("client", list(CLIENTS))
def test_uvx_installs_and_starts_the_server(client: str, printed: Printed) -> None:
    server = read(client, printed(client, "--db", "abi.db", "--uvx")[0], {})
    root = Path(__file__).parents[2]
    wanted = ["uvx", "--from", f"abistore[mcp] @ {root.as_uri()}", "abistore-mcp"]
    assert [server["command"], *server["args"][:3]] == wanted
    assert Path(server["args"][-1]).is_absolute()


def test_uvx_installs_nothing_where_nobody_knows_what(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("abistore.cli.commands.mcp.source", lambda: None)
    assert run(["mcp", "config", "cursor", "--uvx"]) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert "install abistore from a checkout or a wheel" in err


@pytest.mark.parametrize("url", ["127.0.0.1:8765", "ftp://127.0.0.1/mcp", "http://me:secret@127.0.0.1/mcp", "http://"])
def test_what_is_no_address_of_a_server_is_refused(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "config", "cursor", "--url", url]) == 64
    assert "secret" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--uvx", "--allow-write"])
def test_how_a_server_is_started_is_not_said_to_one_that_runs(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "config", "cursor", "--url", "http://127.0.0.1:8765/mcp", option]) == 64
    assert "--allow-write" in capsys.readouterr().err
