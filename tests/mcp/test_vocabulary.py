"""Agents are told arguments, tools and addresses: no option, no command, no file of the documentation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from abistore.cli.main import cli
from abistore.mcp.prompts import TASKS
from abistore.mcp.resources import PAGES, RESOURCES
from abistore.mcp.server import INSTRUCTIONS
from abistore.mcp.tools.all import PROVING, TOOLS, WRITING
from abistore.mcp.vocabulary import ASKED, BY_HAND, OF_THE_SERVER, RENAMED, for_agents, known_arguments
from tests.mcp.conftest import Agent
from tests.mcp.histories import LIBRARY

PACKAGE = Path(__file__).parents[2] / "abistore"
HEADS = (
    "abistore://libraries/{library}/releases/{version}",
    "abistore://libraries/{library}",
    "abistore://comparisons/{comparison_id}",
    "abistore://symbols/{symbol}",
    "abistore://latest",
)
"""What addresses begin with that are told together."""

SAID = re.compile(rf"(?<![\w-])--[a-z][a-z-]*|`abistore (?!{'|'.join(BY_HAND)})|docs/[a-z/-]+\.md")


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("give them with --header, or --new-header", "give them with headers, or new_headers"),
        ("name its folder with --debug-dir", "name its folder with debug_dir (command line only)"),
        ("have it started with --read-root", "have it started with --read-root"),
        ("choose one: --target elf --profile debug", "choose one: line='elf/debug'"),
        ("judge it: `abistore verdict foo@1.2`", "judge it: abi_summary(library='foo', version='1.2')"),
        ("see `abistore blame foo@1.2`", "see abistore://libraries/foo/blame"),
        ("run `abistore db upgrade --db x`", "run `abistore db upgrade` (command line only)"),
        ("abistore approve 0123abcd --library foo --reason WHY", "abi_approve(finding_ids=['0123abcd'], reason='WHY')"),
        ("(abistore db baseline set a@2 --channel lts)", "(abi_baseline(library='a', version='2', channel='lts'))"),
        ("`compare` takes two; see docs/questions/policies.md", "abi_compare takes two; see abistore://docs/policies"),
        ("this abistore reads format 4", "this abistore reads format 4"),
    ],
)  # fmt: skip
def test_a_sentence_is_said_in_the_words_of_agents(said: str, meant: str) -> None:
    assert for_agents(said) == meant


def sentences() -> Iterator[tuple[str, str]]:
    """Every text of the services that a hint may consist of."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in {"cli", "mcp"}:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and SAID.search(node.value):
                    yield path.name, node.value


def test_every_sentence_of_the_services_can_be_said_so() -> None:
    found = list(sentences())
    assert len(found) > 100
    for file, text in found:
        said = [each for each in SAID.findall(for_agents(text)) if each not in OF_THE_SERVER]
        assert said == [] or text.count("`") % 2, f"{file}: {text!r} becomes {for_agents(text)!r}"


def test_renamed_arguments_are_those_of_tools() -> None:
    assert {name.partition("=")[0] for name in RENAMED.values()} <= known_arguments()


def verbs(inside: click.Group, before: str = "") -> Iterator[str]:
    context = click.Context(inside)
    for name in inside.list_commands(context):
        command = inside.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from verbs(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


def test_what_a_person_can_ask_an_agent_can_ask() -> None:
    every = set(verbs(cli))
    assert every - ASKED.keys() == BY_HAND.keys() & every
    assert ASKED.keys() - every == {"approve"}, "a group whose first verb is meant"
    assert not ASKED.keys() & BY_HAND.keys()
    known = {*TOOLS, *WRITING, *PROVING, *(resource.uri for resource in RESOURCES.values())}
    assert set(ASKED.values()) <= known


def test_help_names_every_address_and_every_prompt(modern: Agent) -> None:
    """The instructions name that help, so that what has an address is found without the list of templates."""
    addresses = modern("abi_help", topic="resources")["text"]
    for uri in (resource.uri for resource in RESOURCES.values()):
        head = next((each for each in HEADS if uri.startswith(each)), "")
        assert head in addresses
        assert re.search(rf"{re.escape(uri.removeprefix(head))}(?![\w/{{])", addresses), uri
    prompts = modern("abi_help", topic="prompts")["text"]
    assert [task for task in TASKS if task not in prompts] == []
    assert all(f"topic='{topic}'" in INSTRUCTIONS for topic in ("resources", "prompts"))


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


REFUSED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("abi_gate", {"library": LIBRARY, "require_evidence": "bogus"}),
    ("abi_summary", {"library": "libwide2"}),
    ("abi_whatif", {"library": LIBRARY, "header_patch": "--- a.h"}),
    ("abi_whatif", {"library": LIBRARY}),
    ("abi_compare", {"old_input": f"{LIBRARY}@1.0", "new_input": f"{LIBRARY}@9"}),
    ("abi_symbol_history", {"symbol": "no_such_name"}),
    ("abi_explain_change", {"change_kind": "func_remove"}),
)


def test_a_missing_file_is_no_reference(modern: Agent) -> None:
    sides = {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"}
    for wrong in ({"policy_file": "/nowhere/p.yaml"}, {"headers": ["/nowhere/h.h"]}):
        assert modern.refused("abi_compare", **sides, **wrong)["hint"].startswith("give the absolute path of a file")
    assert "libfoo@1.2.0" in modern.refused("abi_compare", **{**sides, "old_input": "/nowhere/a.so"})["hint"]


@pytest.mark.parametrize(("tool", "arguments"), REFUSED)
def test_a_refusal_names_no_option(tool: str, arguments: dict[str, Any], wide_agent: Agent) -> None:
    document = wide_agent.refused(tool, **arguments)
    assert document["hint"]
    assert not SAID.search(" ".join(strings(document))), document


def test_what_was_not_checked_names_no_option(wide_agent: Agent, wide_build: tuple[Path, Path]) -> None:
    answer = wide_agent("abi_compare", old_input=f"{LIBRARY}@baseline", new_input=str(wide_build[0]))
    assert "new_headers" in str(answer["not_checked"])
    assert not SAID.search(" ".join(strings(answer)))


def test_a_page_that_a_hint_names_can_be_read() -> None:
    named = {page for _, text in sentences() for page in re.findall(r"docs/[a-z]+/([a-z-]+)\.md", text)}
    assert named <= PAGES.keys() | {"python"}  # the package's own docstring names that page
