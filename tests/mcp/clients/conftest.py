"""The two ways in which clients reach a server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.over_http import Served, served


@pytest.fixture(scope="session")
def over_http(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("http"), stored) as found:
        yield found


@pytest.fixture(params=["stdio", "http"])
def way(request: pytest.FixtureRequest, stored: Path) -> dict[str, Any]:
    """What a client needs to reach a server of a small real history."""
    if request.param == "stdio":
        return {"command": [str(Path(sys.executable).with_name("abistore-mcp")), "--db", str(stored)], "env": {}}
    server: Served = request.getfixturevalue("over_http")
    return {"url": server.url, "headers": {"Authorization": f"Bearer {server.tokens['reader']}"}}
