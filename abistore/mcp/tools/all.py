"""Every tool by its name, in the order in which clients are told of them."""

from __future__ import annotations

from collections.abc import Mapping

from abistore.mcp.tools.comparing import abi_compare
from abistore.mcp.tools.declaration import Tool
from abistore.mcp.tools.dumping import abi_dump
from abistore.mcp.tools.findings import abi_finding, abi_findings
from abistore.mcp.tools.gate import abi_gate
from abistore.mcp.tools.help import abi_help
from abistore.mcp.tools.history import abi_history
from abistore.mcp.tools.kinds import abi_explain_change, abi_list_changes
from abistore.mcp.tools.listing import abi_list
from abistore.mcp.tools.pull_requests import abi_pr_summary
from abistore.mcp.tools.store import abi_store_stats
from abistore.mcp.tools.summary import abi_summary
from abistore.mcp.tools.symbols import abi_symbol_history

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        abi_list,
        abi_summary,
        abi_history,
        abi_compare,
        abi_findings,
        abi_finding,
        abi_symbol_history,
        abi_gate,
        abi_pr_summary,
        abi_list_changes,
        abi_explain_change,
        abi_dump,
        abi_help,
        abi_store_stats,
    )
}
