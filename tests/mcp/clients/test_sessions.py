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
from abistore.interface import open_store
from abistore.mcp.jobs import Jobs
from abistore.mcp.settings import Settings
from abistore.mcp.tools.all import TOOLS, WRITING
from tests.mcp.clients.conftest import WAYS, reached, started
from tests.mcp.clients.installed import FOLDER, node, python
from tests.mcp.conftest import Agent, fill
from tests.mcp.over_http import served
from tests.mcp.test_resources import read

pytestmark = pytest.mark.full

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
    compared = {"old_input": "libgeo@1.0", "new_input": str(libraries["2.0"]), "limit": 1}
    listed = modern("abi_list", library="libgeo")
    session = told(start(), {**way, "compared": compared, "deleted": deleted(listed)})
    assert session["server"] == ["abistore", __version__]
    assert session["era"] == era
    assert session["tools"] == [*TOOLS, *WRITING]
    assert session["listed"] == listed
    assert session["compared"] == modern("abi_compare", **compared)
    assert session["compared"]["verdict"] == "BREAKING"
    assert session["progress"] == ["libgeo.so"]
    assert session["resource"] == ["application/json", read(modern, "abistore://libraries")]
    assert session["prompt"].startswith("Review release ")
    assert "libgeo" in session["prompt"]
    assert session["completed"] == ["libgeo"]
    assert error(session["refused"])["code"] == "NOT_FOUND"
    (question,) = session["asked"]
    assert question.startswith("Delete the release libgeo 2.0 ")
    assert error(session["declined"])["code"] == "DECLINED"
    assert session["unknown"] == -32602


def deleted(listed: dict[str, Any]) -> dict[str, str]:
    """The arguments that delete the last release."""
    last = listed["items"][-1]
    return {"library": last["library"], "version": last["version"], "confirm_digest": last["digest"]}


def error(told: list[Any]) -> dict[str, Any]:
    """The envelope of an answer that is marked as an error."""
    failed, text = told
    assert failed is True
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("over", WAYS)
def test_the_typescript_client_is_asked_and_told_of_the_change(
    over: str, libraries: dict[str, Path], tmp_path: Path, jobs: Jobs
) -> None:
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        fill(store, libraries)
    gone = deleted(Agent(Settings(database=str(database)), jobs, "legacy")("abi_list", library="libgeo"))
    if over == "stdio":
        session = told(typescript(), {**started(database), "deleted": gone})
    else:
        with served(tmp_path, database, "--allow-write") as server:
            session = told(typescript(), {**reached(server), "deleted": gone})
    assert session["answered"]["headline"].startswith("DELETED: libgeo 2.0")
    assert session["answered"]["decided_by"] == "user"
    assert session["updated"] == "abistore://libraries/libgeo"


def test_the_page_names_the_versions_that_are_run() -> None:
    required = (FOLDER / "python1.txt").read_text() + (FOLDER / "fastmcp.txt").read_text()
    versions = json.loads((FOLDER / "npm" / "package.json").read_text())["dependencies"]
    versions["fastmcp"] = re.findall("^fastmcp==(.+)$", required, re.MULTILINE)[0]
    versions["mcp"] = re.findall("^mcp==(.+)$", required, re.MULTILINE)[0]
    page = (FOLDER.parents[2] / "docs" / "reference" / "mcp.md").read_text()
    for package, version in versions.items():
        name = "MCP Inspector, `--cli`" if package.endswith("/inspector") else f"`{package}`"
        assert re.search(rf"^\| .*{re.escape(name)} \| {re.escape(version)} \|", page, re.MULTILINE), package
