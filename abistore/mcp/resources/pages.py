"""``abistore://docs/...``: pages of documentation, and the kinds of change."""

from __future__ import annotations

from pathlib import Path

from abistore.interface import UsageError, explain
from abistore.mcp.answers.schema import output_schema
from abistore.mcp.answers.units import encoded
from abistore.mcp.call import Call
from abistore.mcp.refusals import Refusal
from abistore.mcp.resources.declaration import MARKDOWN, resource
from abistore.mcp.tools.all import tools_of
from abistore.mcp.tools.listing import SURFACE

PAGES = {
    "cli": "cli.md",
    "exit-codes": "exit-codes.md",
    "mapping": "mcp.md",
    "policies": "policies.md",
    "reference": "concepts.md",
    "suppressions": "suppressions.md",
    "tools": "mcp.md",
    "verdicts": "concepts.md",
}
"""Each page, and the file that it is."""


def folder() -> Path:
    """The folder of the pages: in the package where it was installed, beside it in a checkout."""
    package = Path(__file__).parents[2]
    installed = package / "docs"
    return installed if installed.is_dir() else package.parent / "docs"


@resource("abistore://schema", priority=0.2, lasts=True)
def schema(call: Call) -> str:
    """The version of this surface, and the whole schema of each tool's answers."""
    answers = {name: output_schema(tool.answer_type()) for name, tool in tools_of(call.settings).items()}
    return encoded({"status": "ok", "surface_version": SURFACE, "answers": answers}).decode()


@resource("abistore://docs/{page}", MARKDOWN, priority=0.2, lasts=True)
def docs(call: Call, *, page: str) -> str:
    """A page: cli, exit-codes, mapping, policies, reference, suppressions, tools, verdicts."""
    if page not in PAGES:
        raise Refusal("NOT_FOUND", f"there is no page {page[:40]}", f"one of: {', '.join(sorted(PAGES))}")
    return (folder() / PAGES[page]).read_text()


@resource("abistore://docs/kinds/{kind}", MARKDOWN, priority=0.2, lasts=True)
def kind(call: Call, *, kind: str) -> str:
    """A kind of change: what happens, why, how to avoid it, and an example."""
    try:
        found = explain(kind)
    except UsageError as error:
        raise Refusal("NOT_FOUND", error.message, error.hint) from error
    about = f"Impact: {found.impact}. Evidence: {found.evidence}. About: {found.element}, {found.action}."
    aliases = f"Also called: {', '.join(found.aliases)}." if found.aliases else ""
    example = f"## Example\n\n{found.example}" if found.example else ""
    variants = "\n".join(f"- `{each.kind}` ({each.impact}): {each.title}" for each in found.variants)
    parts = (f"# {found.kind}", found.title, about, found.why, f"**Fix:** {found.fix}", aliases, variants, example)
    return "\n\n".join(part for part in parts if part) + "\n"
