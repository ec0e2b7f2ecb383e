"""The same short session of every client, over standard input and output and over HTTP: all are told the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from abistore import __version__
from abistore.mcp.tools.all import TOOLS
from tests.mcp.clients.installed import FOLDER, node, python
from tests.mcp.conftest import Agent
from tests.mcp.test_resources import read

LEGACY, MODERN = "2025-11-25", "2026-07-28"


def typescript() -> list[str]:
    program, packages = node()
    return ["env", f"NODE_PATH={packages}", program, str(FOLDER / "typescript.cjs")]


CLIENTS: dict[str, tuple[Callable[[], Sequence[str]], str]] = {
    "python 1.x": (lambda: [python("python1"), str(FOLDER / "python1.py")], LEGACY),
    "python 2.x": (lambda: [sys.executable, str(FOLDER / "python2.py")], MODERN),
    "fastmcp": (lambda: [python("fastmcp"), str(FOLDER / "with_fastmcp.py")], MODERN),
    "typescript": (typescript, LEGACY),
}
"""How each is started, and the protocol that it and the server agree on."""


def told(command: Sequence[str], way: dict[str, Any]) -> dict[str, Any]:
    """What the session of a client prints."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run([*command, json.dumps(way)], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("client", list(CLIENTS))
def test_every_client_is_told_the_same(
    client: str, way: dict[str, Any], modern: Agent, libraries: dict[str, Path]
) -> None:
    start, era = CLIENTS[client]
    new = "libgeo@2.0" if "url" in way else str(libraries["2.0"])
    compared = {"old_input": "libgeo@1.0", "new_input": new, "limit": 1}
    session = told(start(), {**way, "compared": compared})
    assert session["server"] == ["abistore", __version__]
    assert session["era"] == era
    assert session["tools"] == list(TOOLS)
    assert session["listed"] == modern("abi_list", library="libgeo")
    assert session["compared"] == modern("abi_compare", **compared)
    assert session["compared"]["verdict"] == "BREAKING"
    assert session["resource"] == ["application/json", read(modern, "abistore://libraries")]
    assert session["prompt"].startswith("Review release 2.0 of libgeo.")
    assert session["completed"] == ["libgeo"]
    failed, envelope = session["refused"]
    assert failed is True
    assert json.loads(envelope)["code"] == "NOT_FOUND"
    assert session["unknown"] == -32602


def test_the_page_names_the_versions_that_are_run() -> None:
    required = (FOLDER / "python1.txt").read_text() + (FOLDER / "fastmcp.txt").read_text()
    versions = json.loads((FOLDER / "npm" / "package.json").read_text())["dependencies"]
    versions["fastmcp"] = re.findall("^fastmcp==(.+)$", required, re.MULTILINE)[0]
    versions["mcp"] = re.findall("^mcp==(.+)$", required, re.MULTILINE)[0]
    page = (FOLDER.parents[2] / "docs" / "mcp.md").read_text()
    for package, version in versions.items():
        name = "MCP Inspector, `--cli`" if package.endswith("/inspector") else f"`{package}`"
        assert re.search(rf"^\| .*{re.escape(name)} \| {re.escape(version)} \|", page, re.MULTILINE), package
