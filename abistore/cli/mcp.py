"""The name ``abistore-mcp``: ``abistore mcp serve``, for the configuration of clients."""

from __future__ import annotations

import sys


def main() -> None:
    """Serve MCP with the options of ``abistore mcp serve``."""
    from abistore.cli.main import run

    words = sys.argv[1:]
    sys.exit(run(words if words == ["--version"] else ["mcp", "serve", *words]))
