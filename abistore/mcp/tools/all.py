"""Every tool by its name, in the order in which clients are told of them: those that read, and those that write."""

from __future__ import annotations

from collections.abc import Mapping

from abistore.mcp.settings import Settings
from abistore.mcp.tools.comparing import abi_compare
from abistore.mcp.tools.declaration import Tool
from abistore.mcp.tools.dumping import abi_dump
from abistore.mcp.tools.findings import abi_finding, abi_findings
from abistore.mcp.tools.gate import abi_gate
from abistore.mcp.tools.help import abi_help
from abistore.mcp.tools.history import abi_history
from abistore.mcp.tools.kinds import abi_explain_change, abi_list_changes
from abistore.mcp.tools.listing import abi_list, abi_store_stats
from abistore.mcp.tools.pull_requests import abi_pr_summary
from abistore.mcp.tools.summary import abi_summary
from abistore.mcp.tools.symbols import abi_symbol_history
from abistore.mcp.tools.whatif import abi_whatif
from abistore.mcp.tools.writing.approving import abi_approve
from abistore.mcp.tools.writing.baselines import abi_baseline
from abistore.mcp.tools.writing.deleting import abi_delete
from abistore.mcp.tools.writing.exporting import abi_dump as _dump_to_file
from abistore.mcp.tools.writing.ingesting import abi_ingest
from abistore.mcp.tools.writing.reviewing import abi_review
from abistore.mcp.tools.writing.tagging import abi_tag

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
        abi_whatif,
        abi_pr_summary,
        abi_list_changes,
        abi_explain_change,
        abi_dump,
        abi_help,
        abi_store_stats,
    )
}
"""The tools that every server has: they only read."""

TO_FILE = "output_path"
"""The argument of ``abi_dump`` by which it writes a file; a server has it with ``--export-root``, too."""

WRITING: Mapping[str, Tool] = {
    tool.name: tool for tool in (abi_ingest, abi_baseline, abi_approve, abi_review, abi_tag, abi_delete)
}
"""The tools that write; a server has them with ``--allow-write``."""


def tools_of(settings: Settings) -> Mapping[str, Tool]:
    """The tools of a server that is started with these settings."""
    if not settings.allow_write:
        return TOOLS
    return {**TOOLS, **({abi_dump.name: _dump_to_file} if settings.export_root else {}), **WRITING}
