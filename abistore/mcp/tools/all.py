"""Every tool by its name, in the order in which clients are told of them: those that read, and those that write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from abistore.errors import UsageError
from abistore.mcp.settings import Settings
from abistore.mcp.tools.approving import abi_approve
from abistore.mcp.tools.comparing import abi_compare, abi_gate
from abistore.mcp.tools.consuming import abi_consumers
from abistore.mcp.tools.declaration import Tool
from abistore.mcp.tools.findings import abi_finding, abi_findings
from abistore.mcp.tools.history import abi_history, abi_symbol_history
from abistore.mcp.tools.kinds import abi_explain_change, abi_help, abi_list_changes
from abistore.mcp.tools.reviewing import abi_review_build
from abistore.mcp.tools.showing import abi_show
from abistore.mcp.tools.stored import abi_dump, abi_list, abi_store_stats
from abistore.mcp.tools.summary import abi_pr_summary, abi_summary, abi_whatif
from abistore.mcp.tools.witnessing import abi_witness
from abistore.mcp.tools.writing import abi_baseline, abi_delete, abi_ingest, abi_review, abi_tag
from abistore.mcp.tools.writing import abi_dump as _dump_to_file

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        abi_list,
        abi_summary,
        abi_review_build,
        abi_history,
        abi_compare,
        abi_findings,
        abi_finding,
        abi_show,
        abi_consumers,
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

PROVING: Mapping[str, Tool] = {abi_witness.name: abi_witness}
"""The tools that start compilers; a server has them with ``--allow-witness``."""


TOOLSETS: Mapping[str, tuple[str, ...]] = {
    "review": (
        "abi_review_build",
        "abi_consumers",
        "abi_compare",
        "abi_findings",
        "abi_finding",
        "abi_gate",
        "abi_pr_summary",
        "abi_whatif",
        "abi_list_changes",
        "abi_explain_change",
    ),
    "history": (
        "abi_list",
        "abi_summary",
        "abi_history",
        "abi_show",
        "abi_symbol_history",
        "abi_dump",
        "abi_store_stats",
    ),
    "admin": tuple(WRITING),
    "proof": tuple(PROVING),
}
"""What ``--toolsets`` may name. ``abi_help`` is always served."""


def tools_of(settings: Settings) -> Mapping[str, Tool]:
    """The tools of a server that is started with these settings. Raises :class:`UsageError` for names of none."""
    offered = TOOLS
    if settings.allow_write:
        offered = {**TOOLS, **({abi_dump.name: _dump_to_file} if settings.export_root else {}), **WRITING}
    if settings.allow_witness:
        offered = {**offered, **PROVING}
    chosen = [
        *(name for toolset in _words("--toolsets", settings.toolsets, TOOLSETS) for name in TOOLSETS[toolset]),
        *_words("--tools", settings.tools, {**TOOLS, **WRITING, **PROVING}),
    ]
    if not chosen:
        return offered
    if not settings.allow_write and (writing := sorted(WRITING.keys() & set(chosen))):
        raise UsageError(f"{', '.join(writing)}: this server only reads", "add --allow-write, or leave them out")
    if not settings.allow_witness and (proving := sorted(PROVING.keys() & set(chosen))):
        raise UsageError(f"{', '.join(proving)}: this server starts no compiler", "add --allow-witness")
    return {name: tool for name, tool in offered.items() if name in {*chosen, abi_help.name}}


def _words(option: str, text: str, known: Iterable[str]) -> list[str]:
    """The names of an option, which has commas between them."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    for word in words:
        if word not in known:
            raise UsageError(f"{option} {word}: there is none", f"one of: {', '.join(known)}")
    return words
