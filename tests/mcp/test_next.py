"""Every call that an answer names in ``next`` is answered, to depth four, on two histories."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client

from abistore.mcp.tools.all import TOOLS
from tests.mcp.conftest import Agent
from tests.mcp.every import arguments
from tests.mcp.histories import LIBRARY, VERSIONS, build

DEPTH = 4


class Step(NamedTuple):
    """A call, and the calls that led to it."""

    tool: str
    arguments: dict[str, Any]
    trail: tuple[str, ...] = ()

    @property
    def spelled(self) -> str:
        return f"{self.tool} {json.dumps(self.arguments, sort_keys=True)}"


def follow(agent: Agent, seeds: Sequence[Step]) -> dict[str, tuple[Step, dict[str, Any]]]:
    """All calls that the seeds lead to, each with its answer; made in one session."""

    async def walk(client: Client) -> dict[str, tuple[Step, dict[str, Any]]]:
        answered: dict[str, tuple[Step, dict[str, Any]]] = {}
        waiting = list(seeds)
        while waiting:
            step = waiting.pop(0)
            if step.spelled in answered:
                continue
            result = await client.call_tool(step.tool, step.arguments)
            assert not result.is_error, f"{' -> '.join((*step.trail, step.spelled))}: {result.content}"
            assert result.structured_content is not None
            answered[step.spelled] = step, result.structured_content
            if len(step.trail) < DEPTH:
                waiting += following(step, result.structured_content)
        return answered

    found: dict[str, tuple[Step, dict[str, Any]]] = agent.ask(walk)
    return found


def following(step: Step, document: dict[str, Any]) -> Iterator[Step]:
    for each in document.get("next", ()):
        assert each.keys() == {"say", "tool", "arguments"}
        assert each["say"].endswith("."), each
        yield Step(each["tool"], each["arguments"], (*step.trail, step.spelled))


def compared(agent: Agent, old: str, new: str) -> str:
    found: str = agent("abi_compare", old_input=old, new_input=new, stat=True)["comparison_id"]
    return found


def test_every_call_is_answered_on_a_small_history(modern: Agent, libraries: dict[str, Path]) -> None:
    comparison = compared(modern, "libgeo@1.0", "libgeo@2.0")
    seeds = [Step(tool, given) for tool, given in arguments(comparison, libraries["2.0"]).items()]
    answered = follow(modern, seeds)
    assert {step.tool for step, _ in answered.values()} >= TOOLS.keys()


@pytest.fixture(scope="module")
def wide_seeds(wide: Path, wide_build: tuple[Path, Path]) -> list[Step]:
    """Calls about stored releases, and about a build whose library and header are given by their paths."""
    library, header = map(str, wide_build)
    return [
        *(Step(tool, {"library": LIBRARY}) for tool in ("abi_list", "abi_summary", "abi_history", "abi_gate")),
        *(Step("abi_summary", {"library": LIBRARY, "version": version}) for version in (VERSIONS[0], VERSIONS[4])),
        Step("abi_gate", {"library": LIBRARY, "version": VERSIONS[4], "against": "prev", "fail_on": "never"}),
        Step("abi_compare", {"old_input": f"{LIBRARY}@baseline", "new_input": library, "new_headers": [header]}),
        Step("abi_compare", {"old_input": f"{LIBRARY}@2.1", "new_input": f"{LIBRARY}@2.1"}),
        Step("abi_dump", {"library_path": library, "headers": [header]}),
        Step("abi_review_build", {"new_input": library, "new_headers": [header]}),
        Step("abi_show", {"reference": library, "name": "wide_loop", "against": f"{LIBRARY}@1.0"}),
        Step("abi_consumers", {"new_input": library}),
        Step("abi_symbol_history", {"symbol": "wide_loop"}),
        Step("abi_symbol_history", {"symbol": "wide_function_3"}),
    ]


def test_every_call_is_answered_on_a_long_history(wide_agent: Agent, wide_seeds: list[Step]) -> None:
    answered = follow(wide_agent, wide_seeds)
    assert len(answered) > 2 * len(wide_seeds)


def test_every_call_is_answered_where_the_library_is_not_stored(
    modern: Agent, wide_build: tuple[Path, Path], tmp_path: Path
) -> None:
    """Two files of a library that the store does not know, and one with no store at all."""
    old, new = str(build(0, tmp_path)[0]), str(wide_build[0])
    seeds = [Step("abi_compare", {"old_input": old, "new_input": new}), Step("abi_dump", {"library_path": new})]
    for agent in (modern, modern.set(database="/nowhere/abi.db")):
        assert len(follow(agent, [*seeds, *each_finding(agent, old, new)])) > len(seeds)


def test_every_finding_leads_on(wide_agent: Agent, modern: Agent, wide_build: tuple[Path, Path]) -> None:
    """Of stored releases, of a build, and of two libraries that have little in common."""
    for new in (f"{LIBRARY}@2.0", str(wide_build[0])):
        follow(wide_agent, list(each_finding(wide_agent, f"{LIBRARY}@baseline", new)))
    follow(modern, list(each_finding(modern, "libgeo@1.0", str(wide_build[0]))))


def each_finding(agent: Agent, old: str, new: str) -> Iterator[Step]:
    """A call for one finding of each kind, in a comparison of two sides."""
    comparison = compared(agent, old, new)
    listed = [agent("abi_findings", comparison_id=comparison, state=state, limit=200) for state in ("active", "advice")]
    kinds = {item["kind"]: item["id"] for page in listed for item in page["items"]}
    assert kinds
    for finding in kinds.values():
        yield Step("abi_finding", {"finding_id": finding, "comparison_id": comparison})


def test_a_dump_is_compared_by_the_path_and_headers_that_were_given(
    wide_agent: Agent, wide_build: tuple[Path, Path]
) -> None:
    library, header = map(str, wide_build)
    (following,) = wide_agent("abi_dump", library_path=library, headers=[header])["next"]
    wanted = {"old_input": f"{LIBRARY}@baseline", "new_input": library, "new_headers": [header]}
    assert (following["tool"], following["arguments"]) == ("abi_compare", wanted)
