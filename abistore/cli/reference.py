"""The reference of the commands as Markdown, and the JSON Schemas of files and answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from inspect import cleandoc
from typing import Any, NamedTuple

import click
import msgspec

from abistore.cli.main import cli
from abistore.cli.verbs import WHOLE, answer_types, declared

WIDTH = 100
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def command_line() -> str:
    """The reference of all commands, as Markdown: what ``--help-all`` prints for each."""
    root = click.Context(cli, info_name="abistore", **cli.context_settings)
    return "\n".join(("# Commands\n", *_sections(cli, root)))


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    context.terminal_width = WIDTH
    context.meta[WHOLE] = True
    level = "#" * min(3, 1 + len(context.command_path.split()))
    yield f"{level} {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _sections(below, click.Context(below, parent=context, info_name=name))


class Schema(NamedTuple):
    """A JSON Schema: what it describes, and how it is made."""

    about: str
    make: Callable[[], dict[str, Any]]
    indent: int = 2


def schema(name: str) -> str:
    """The JSON Schema of this name, one of :data:`SCHEMAS`, as a document."""
    found = SCHEMAS[name]
    return json.dumps(found.make(), indent=found.indent) + "\n"


def _same(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema as each version of msgspec makes it.

    Only older ones keep the indentation of docstrings, and only newer ones say which names the keys of mappings have.
    """
    return {key: _same_value(key, each) for key, each in schema.items() if key != "propertyNames"}


def _same_value(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        return _same(value)
    if isinstance(value, list | tuple):
        return [_same_value("", each) for each in value]
    return cleandoc(value) if key == "description" and isinstance(value, str) else value


def _answers() -> dict[str, Any]:
    from abistore.report.plain import answers_schema

    return _same(answers_schema({words: answer_types(each) for words, each in declared(cli)}))


def _statement() -> dict[str, Any]:
    from abistore.model.statements import ReleaseStatement
    from abistore.report.plain import answer_schema

    return _same(answer_schema("abistore release statement", ("verdict",), {"statement": ReleaseStatement}))


def _report() -> dict[str, Any]:
    from abistore.report.model import SCHEMA, Report

    (reference,), components = msgspec.json.schema_components([Report], ref_template="#/$defs/{name}")
    title = f"abistore report, schema {SCHEMA}"
    return _same({"$schema": DIALECT, "title": title, **reference, "$defs": components})


def _snapshot() -> dict[str, Any]:
    from abistore.model.declarations import SHORT
    from abistore.model.snapshot_files import FORMAT_NAME, FORMAT_VERSION, File

    _, definitions = msgspec.json.schema_components([File], ref_template="#/$defs/{name}")
    words = {short: word for word, short in SHORT.items()}
    file = definitions.pop("File")
    file["properties"] |= {"format": {"const": FORMAT_NAME}, "version": {"const": FORMAT_VERSION}}
    for described in definitions.values():
        for short, field in described.get("properties", {}).items():
            if short in words:
                field["title"] = words[short]
    title = f"abistore snapshot, format {FORMAT_VERSION}"
    return _same({**file, "$schema": DIALECT, "title": title, "$defs": definitions})


def _config() -> dict[str, Any]:
    from abistore.service.project import ConfigurationFile

    return _same({"$schema": DIALECT, "title": "abistore.toml", **msgspec.json.schema(ConfigurationFile)})


def _policy() -> dict[str, Any]:
    from abistore.service.ruling import policy_schema

    return policy_schema()


def _suppressions() -> dict[str, Any]:
    from abistore.service.ruling import suppression_schema

    return suppression_schema()


def _approvals() -> dict[str, Any]:
    from abistore.service.approval_files import ApprovalDocument

    return ApprovalDocument.model_json_schema()


SCHEMAS: Mapping[str, Schema] = {
    "answers": Schema("what each verb prints with `--json`, as `verb WORDS`", _answers, indent=1),
    "approvals": Schema("a file of approvals", _approvals),
    "config": Schema("`abistore.toml`", _config),
    "policy": Schema("a policy", _policy),
    "report": Schema("a comparison, as Python and MCP return it", _report),
    "snapshot": Schema("a snapshot file", _snapshot),
    "statement": Schema("a release statement, the answer of `verdict --statement`", _statement),
    "suppressions": Schema("a file of suppressions", _suppressions),
}
"""Every schema by its name. Their modules load when one is made: the names alone are for the command line."""
