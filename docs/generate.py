"""Write the documents that derive from the code: ``cli.md``, ``comparison-schema.json`` and a page a kind in ``kinds``.

Run ``python docs/generate.py``; a test fails where they are not current.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click

from abistore.cli.main import cli
from abistore.compare.policies.policy_file import PolicyDocument
from abistore.compare.policies.suppression_file import SuppressionDocument
from abistore.report.case import labelled
from abistore.report.formats.json import schema
from abistore.service.catalogue import changes, established, explain

DOCS = Path(__file__).parent
WIDTH = 100

HEAD = """# Command line

Generated from `--help` by `python docs/generate.py`. Exit codes: [exit-codes.md](exit-codes.md). The JSON of `compare`
and `verdict`: [comparison-schema.json](comparison-schema.json).
"""


def command_line() -> str:
    """The reference of all commands, as Markdown."""
    return "\n".join([HEAD, *_sections(cli, click.Context(cli, info_name="abistore", **cli.context_settings))])


def comparison_schema() -> str:
    """The JSON Schema of a comparison report."""
    return json.dumps(schema(), indent=2) + "\n"


def policy_schema() -> str:
    """The JSON Schema of a policy file."""
    return json.dumps(PolicyDocument.model_json_schema(), indent=2) + "\n"


def suppression_schema() -> str:
    """The JSON Schema of a file of suppressions."""
    return json.dumps(SuppressionDocument.model_json_schema(), indent=2) + "\n"


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    context.terminal_width = WIDTH
    level = "#" * min(3, 1 + len(context.command_path.split()))
    yield f"{level} {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _sections(below, click.Context(below, parent=context, info_name=name))


IMPACTS = {
    "breaking": "Breaking: some built consumers fail",
    "api_break": "Source breaks: built consumers work, some sources stop compiling",
    "risk": "Risks: consumers may fail, depending on what no comparison can see",
    "compatible": "Compatible: built consumers go on working, and sources still compile",
    "notice": "Notices: about the evidence or the toolchain, without weight unless a policy gives it",
    "advice": "Advice: what to do about all findings together; no finding itself, without weight under any policy",
}


def kinds_index() -> str:
    """The table of all kinds of change, worst first."""
    kinds = changes()
    lines = [
        "# Kinds of change",
        "",
        f"{len(kinds)} kinds, generated from the rules by `python docs/generate.py`. `abistore changes` lists them,",
        "`abistore explain KIND` prints a page. The impact is the one of the profile `strict_abi`.",
    ]
    for impact, heading in IMPACTS.items():
        chosen = [kind for kind in kinds if kind.impact.label == impact]
        lines += ["", f"## {heading}", "", "| kind | what | about | evidence |", "|---|---|---|---|"]
        lines += [
            f"| [{kind.kind}]({kind.kind}.md) | {kind.title} | {kind.element}, {kind.action} | {kind.evidence} |"
            for kind in chosen
        ]
    return "\n".join(lines) + "\n"


def catalogue() -> str:
    """The table of the field's names, with the kinds that tell each."""
    names = tuple(established())
    lines = [
        "# The field's catalogue",
        "",
        f"{len(names)} established names of kinds of change, and what tells each fact: a kind of that name, or",
        "others of which it is an alias that policies, suppressions and `abistore explain` accept. Each case and",
        "near-miss is run by the tests. `abistore changes --established` prints this table.",
        "",
        "| name | kinds | cases | near-misses |",
        "|---|---|--:|--:|",
    ]
    for one in names:
        told = ", ".join(f"[{kind}](kinds/{kind}.md)" for kind in one.kinds) or f"none: {one.reason}"
        lines.append(f"| {one.name} | {told} | {one.cases} | {one.near_misses} |")
    return "\n".join((*lines, "", "[All kinds](kinds/index.md)")) + "\n"


def kind_page(kind: str) -> str:
    """The page of one kind: what happens to a consumer, how to fix it, and its cases."""
    one = explain(kind)
    facts = f"{one.impact.label} · evidence: {one.evidence} · about: {one.element}, {one.action}"
    parts = [f"# {one.kind}", one.title, facts, one.why, f"**Fix:** {one.fix}"]
    if one.aliases:
        parts.append(f"Also called {', '.join(f'`{alias}`' for alias in one.aliases)}.")
    parts += ["## Example", labelled(one.example)] if one.example else []
    parts += ["## Stays silent", labelled(one.near_misses)] if one.near_misses else []
    return "\n\n".join((*parts, "[All kinds](index.md)")) + "\n"


DOCUMENTS = {
    "cli.md": command_line,
    "comparison-schema.json": comparison_schema,
    "policy-schema.json": policy_schema,
    "suppression-schema.json": suppression_schema,
    "kinds/index.md": kinds_index,
    "catalogue.md": catalogue,
    **{f"kinds/{kind.kind}.md": partial(kind_page, kind.kind) for kind in changes()},
}

if __name__ == "__main__":
    (DOCS / "kinds").mkdir(exist_ok=True)
    for page in (DOCS / "kinds").glob("*.md"):
        if f"kinds/{page.name}" not in DOCUMENTS:
            page.unlink()
    for name, make in DOCUMENTS.items():
        (DOCS / name).write_text(make())
