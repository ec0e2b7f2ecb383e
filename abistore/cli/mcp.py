"""The name ``abistore-mcp``, kept for the MCP server that a later release brings."""

from __future__ import annotations

import sys

from abistore import __version__
from abistore.errors import UsageError


def main() -> None:
    """Say that this release has no MCP server, as an error of usage."""
    sys.stderr.write(
        f"error: abistore {__version__} has no MCP server\n"
        "hint: the same facts come as JSON from every command, e.g. `abistore history libfoo --json`\n"
    )
    raise SystemExit(UsageError.exit_code)
