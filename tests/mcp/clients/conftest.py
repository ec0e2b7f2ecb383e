"""The two ways in which clients reach a server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.build import CACHE
from tests.mcp.over_http import Served, served

WAYS = ("stdio", "http")


def started(database: Path) -> dict[str, Any]:
    """What a client needs to start a server."""
    return {"command": [str(Path(sys.executable).with_name("abistore-mcp")), "--db", str(database), "--allow-write"]}


def reached(server: Served) -> dict[str, Any]:
    """What a client needs to reach one over HTTP."""
    return {"url": server.url, "headers": {"Authorization": f"Bearer {server.tokens['writer']}"}}


@pytest.fixture(scope="session")
def over_http(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("http"), stored, "--allow-write", "--read-root", str(CACHE)) as found:
        yield found


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, stored: Path) -> dict[str, Any]:
    """What a client needs to reach a server of a small real history, in which nobody changes anything."""
    return started(stored) if request.param == "stdio" else reached(request.getfixturevalue("over_http"))
