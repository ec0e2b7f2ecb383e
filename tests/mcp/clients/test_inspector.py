"""The MCP Inspector: its check of schemas, its load, and what it is told."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from abistore.mcp.tools.all import TOOLS, WRITING
from tests.mcp.clients.conftest import reached
from tests.mcp.clients.installed import node
from tests.mcp.over_http import Served

pytestmark = pytest.mark.full

IS_ERROR = 5
PATIENCE = ("--connect-timeout", "120000")
"""In milliseconds; the usual 15 seconds are too few to start a server on a busy machine."""


class Inspector:
    """The Inspector of one server, with no memory of others."""

    def __init__(self, way: dict[str, Any], folder: Path) -> None:
        self._way = way
        self._folder = folder
        program, packages = node()
        self._start = [program, str(packages / ".bin" / "mcp-inspector"), "--cli"]

    def __call__(self, method: str, *words: str) -> subprocess.CompletedProcess[str]:
        """What one method gives."""
        asked = [*self._start, *self._target(), *PATIENCE, "--format", "json", "--method", method, *words]
        own = {"HOME": str(self._folder), "MCP_CATALOG_PATH": str(self._folder / "catalog.json")}
        return subprocess.run(asked, capture_output=True, text=True, timeout=300, env=own)

    def _target(self) -> list[str]:
        if "url" not in self._way:
            return list(self._way["command"])
        headers = [word for name, value in self._way["headers"].items() for word in ("--header", f"{name}: {value}")]
        return ["--server-url", self._way["url"], "--transport", "http", *headers]


@pytest.fixture
def inspector(way: dict[str, Any], tmp_path: Path) -> Inspector:
    return Inspector(way, tmp_path)


def result(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["result"]


def test_no_vendor_refuses_a_schema(inspector: Inspector) -> None:
    done = inspector("tools/list", "--strict")
    assert [tool["name"] for tool in result(done)["tools"]] == [*TOOLS, *WRITING]
    assert "Error: " not in done.stderr
    assert "Path: inputSchema" not in done.stderr


def test_many_calls_at_once_are_all_answered(inspector: Inspector) -> None:
    load = ("--load", "--load-requests", "40", "--load-concurrency", "2")
    told = result(inspector("tools/call", "--tool-name", "abi_list", *load))
    assert (told["ok"], told["toolErrors"], told["errors"]) == (40, 0, 0), told


def test_the_inspector_is_told_what_other_clients_are(
    over_http: Served, libraries: dict[str, Path], tmp_path: Path
) -> None:
    inspector = Inspector(reached(over_http), tmp_path)
    modern = ("--protocol-era", "modern")
    given = json.dumps({"old_input": "libgeo@1.0", "new_input": str(libraries["2.0"])})
    compared = result(inspector("tools/call", *modern, "--tool-name", "abi_compare", "--tool-args-json", given))
    assert compared["structuredContent"]["verdict"] == "BREAKING"
    (contents,) = result(inspector("resources/read", *modern, "--uri", "abistore://libraries"))["contents"]
    assert json.loads(contents["text"])["lines"][0]["latest"] == "2.0"
    named = ("--prompt-name", "triage_history", "--prompt-args", "library=libgeo")
    assert "libgeo" in result(inspector("prompts/get", *modern, *named))["messages"][0]["content"]["text"]
    refused = inspector("tools/call", "--tool-name", "abi_list", "--tool-args-json", '{"library":"libgoe"}')
    assert refused.returncode == IS_ERROR
    (content,) = json.loads(refused.stdout)["result"]["content"]
    assert json.loads(content["text"])["hint"] == "did you mean libgeo?"
    unknown = inspector("tools/call", *modern, "--tool-name", "abi_lst")
    assert unknown.returncode == IS_ERROR
    assert "abi_lst" in unknown.stderr
