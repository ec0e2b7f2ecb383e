"""Every tool by its name, in the order in which clients are told of them."""

from __future__ import annotations

from collections.abc import Mapping

from abistore.mcp.tools.declaration import Tool
from abistore.mcp.tools.help import abi_help
from abistore.mcp.tools.listing import abi_list
from abistore.mcp.tools.store import abi_store_stats

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (abi_list, abi_help, abi_store_stats)}
