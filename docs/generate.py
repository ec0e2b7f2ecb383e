"""Write the documents that derive from the code: ``cli.md`` and ``comparison-schema.json``.

Run ``python docs/generate.py``; a test fails where they are not current.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from abistore.cli.main import cli
from abistore.compare.policies.policy_file import PolicyDocument
from abistore.compare.policies.suppression_file import SuppressionDocument
from abistore.report.json import schema

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


DOCUMENTS = {
    "cli.md": command_line,
    "comparison-schema.json": comparison_schema,
    "policy-schema.json": policy_schema,
    "suppression-schema.json": suppression_schema,
}

if __name__ == "__main__":
    for name, make in DOCUMENTS.items():
        (DOCS / name).write_text(make())
