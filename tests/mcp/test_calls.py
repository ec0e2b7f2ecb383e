"""What holds for every call: the form of answers and errors, bounds, and that the server goes on."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError

from abistore.mcp.calls import failed
from abistore.mcp.jobs import QUICK, Advance, Done, Jobs, Request, encode
from abistore.mcp.settings import Refusal, Settings
from abistore.mcp.tools.all import TOOLS, WRITING
from abistore.process import Answered, Child, Failed
from tests.mcp.conftest import Agent

pytestmark = pytest.mark.fast


def test_an_answer_is_one_json_object_that_begins_with_status_and_headline(agent: Agent) -> None:
    document = agent("abi_list")
    assert list(document)[:2] == ["status", "headline"]
    assert document["headline"] == "1 line stored"
    assert document["items"][0]["library"] == "libgeo"


def test_an_error_says_what_is_wrong_and_what_to_do(agent: Agent) -> None:
    assert agent.refused("abi_list", library="libgoe") == {
        "status": "error",
        "error": "libgoe: no such library in abi.db",
        "code": "NOT_FOUND",
        "hint": "did you mean libgeo?",
    }


def test_a_version_as_a_number_is_refused_with_the_reason(agent: Agent) -> None:
    refused = agent.refused("abi_list", library=2.1)
    assert refused["code"] == "INVALID_ARGUMENT"
    assert "2.10 becomes 2.1" in refused["hint"]


def test_an_unknown_argument_is_refused_with_the_nearest(agent: Agent) -> None:
    refused = agent.refused("abi_list", limt=5)
    assert (refused["error"], refused["hint"]) == ("limt: unknown argument", "did you mean limit?")


def test_an_unknown_tool_is_an_error_of_the_protocol(agent: Agent) -> None:
    async def asked(client: Client) -> tuple[int, str]:
        try:
            await client.call_tool("abi_lst", {})
        except MCPError as error:
            return error.code, error.message
        return 0, ""

    assert agent.ask(asked) == (-32602, "Unknown tool: abi_lst. did you mean abi_list?")


def test_twenty_failing_calls_then_a_good_one(agent: Agent) -> None:
    async def asked(client: Client) -> list[bool]:
        failed = [(await client.call_tool("abi_list", {"library": f"lib{number}"})).is_error for number in range(20)]
        return [*map(bool, failed), bool((await client.call_tool("abi_list", {})).is_error)]

    assert agent.ask(asked) == [True] * 20 + [False]


def test_no_folder_of_this_machine_is_told(modern: Agent, tmp_path: Path) -> None:
    absent = tmp_path / "some where" / "abi.db"
    refused = modern.set(database=str(absent)).refused("abi_list")
    assert refused["error"] == "abi.db: no such database"
    assert str(tmp_path) not in json.dumps(refused)


def test_the_same_call_has_the_same_bytes(agent: Agent) -> None:
    assert agent.call("abi_list", library="libgeo").text == agent.call("abi_list", library="libgeo").text


def test_an_answer_above_the_cap_is_an_error_and_not_a_flood(modern: Agent) -> None:
    refused = modern.set(max_response_units=20).refused("abi_help")
    assert refused["code"] == "LIMIT"
    assert "20 are allowed" in refused["error"]


def test_pages_hold_everything_once_and_in_order(agent: Agent) -> None:
    first = agent("abi_list", library="libgeo", limit=2)
    assert [item["version"] for item in first["items"]] == ["1.0", "1.1"]
    second = agent("abi_list", library="libgeo", limit=2, cursor=first["next_cursor"])
    assert [item["version"] for item in second["items"]] == ["2.0"]
    assert "next_cursor" not in second


@pytest.mark.parametrize("cursor", ["", "x", "../../etc", "00000000ff"])
def test_a_cursor_of_another_question_is_refused(modern: Agent, cursor: str) -> None:
    assert modern.refused("abi_list", cursor=cursor)["code"] == "INVALID_ARGUMENT"
    page = modern("abi_list", library="libgeo", limit=1)
    assert modern.refused("abi_list", cursor=page["next_cursor"])["error"] == "the cursor is not one of this question"


async def run(jobs: Jobs, request: Request) -> str:
    try:
        return (await jobs.run(request)).answer
    except Refusal as refusal:
        return f"{refusal.code}: {refusal.message}"


def test_a_call_that_takes_too_long_is_ended_with_its_process(stored: Path) -> None:
    import anyio

    jobs = Jobs(1)
    slow = Request("abi_list", {}, Settings(database=str(stored), timeout=0.001))
    try:
        assert anyio.run(run, jobs, slow) == "TIMEOUT: abi_list timed out after 0.001s"
        assert jobs.running == ()
        assert '"status":"ok"' in anyio.run(run, jobs, Request("abi_list", {}, Settings(database=str(stored))))
    finally:
        jobs.close()


class Slow(Jobs):
    """Work that begins and waits to be let go; nothing of it is done."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.begun: list[str] = []
        self.end = anyio.Event()

    async def _asked(self, child: Child, request: Request, advance: Advance | None) -> Answered | Failed:
        self.begun.append(request.tool)
        if request.tool not in QUICK:
            await self.end.wait()
        return Answered(encode(Done("{}")), 0)


def test_quick_calls_do_not_wait_for_long_ones_and_one_subject_leaves_room() -> None:
    async def asked() -> None:
        jobs = Slow(2)
        slow = Request("abi_dump", {"file_path": "/lib/foo.so"}, Settings(max_wait=30))
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(jobs.run, slow, None, "ana")
            await anyio.sleep(0.05)
            assert jobs.begun == ["abi_dump"]  # the other process is for somebody else
            await jobs.run(Request("abi_list", {}, Settings()), subject="bob")
            group.start_soon(jobs.run, slow, None, "bob")
            await anyio.sleep(0.05)
            assert jobs.begun == ["abi_dump", "abi_list", "abi_dump"]
            jobs.end.set()

    anyio.run(asked)


def test_a_call_that_waits_too_long_is_told_when_to_come_again() -> None:
    async def asked() -> Refusal:
        jobs = Slow(1)
        slow = Request("abi_dump", {"file_path": "/lib/foo.so"}, Settings(max_wait=0.05))
        async with anyio.create_task_group() as group:
            group.start_soon(jobs.run, slow)
            await anyio.sleep(0.01)
            with pytest.raises(Refusal) as refused:
                await jobs.run(slow)
            jobs.end.set()
        return refused.value

    refusal = anyio.run(asked)
    assert refusal.code == "BUSY"
    document = json.loads(failed(refusal, []).content[0].text)
    assert (document["retry_after_seconds"], document["hint"]) == (10, "nothing was done: call again in 10 seconds")


def test_a_process_that_is_killed_is_an_error_and_is_replaced(stored: Path) -> None:
    import anyio

    jobs = Jobs(1)
    request = Request("abi_list", {}, Settings(database=str(stored)))
    try:
        assert '"status":"ok"' in anyio.run(run, jobs, request)
        (process,) = jobs.running
        os.kill(process, signal.SIGSTOP)

        async def killed() -> str:
            async with anyio.create_task_group() as group:
                found: list[str] = []

                async def ask() -> None:
                    found.append(await run(jobs, request))

                group.start_soon(ask)
                await anyio.sleep(0.2)
                os.kill(process, signal.SIGKILL)
            return found[0]

        assert anyio.run(killed) == "LIMIT: abi_list: the process that worked on it ended (killed)"
        assert '"status":"ok"' in anyio.run(run, jobs, request)
    finally:
        jobs.close()
    assert jobs.running == ()


def test_fifty_calls_at_once_are_all_answered(modern: Agent) -> None:
    import anyio

    async def asked(client: Client) -> int:
        answered = []

        async def one(number: int) -> None:
            result = await client.call_tool("abi_list", {"library": "libgeo", "limit": number % 3 + 1})
            answered.append(not result.is_error)

        async with anyio.create_task_group() as group:
            for number in range(50):
                group.start_soon(one, number)
        return sum(answered)

    assert modern.ask(asked) == 50


def test_an_answer_says_that_what_breaks_is_guessed_to_be_public(modern: Agent) -> None:
    for counts_only in (False, True):
        answer = modern("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", stat=counts_only)
        assert answer["verdict"] == "BREAKING"
        first = answer["not_checked"][0]
        assert (first["facet"], first["reason"]) == ("source", "guessed")
        assert counts_only or "no public headers given" in first["detail"]


@pytest.mark.parametrize("name", [*TOOLS, *WRITING])
@pytest.mark.parametrize("blank", ["", " ", [""]], ids=repr)
def test_no_argument_of_any_tool_may_be_empty(modern: Agent, name: str, blank: str | list[str]) -> None:
    writing = modern.set(allow_write=True)
    known = {**TOOLS, **WRITING}[name].parameters()
    for argument in known:
        answered = writing.call(name, **{argument.name: blank})
        assert (answered.failed, answered.document.get("code")) == (True, "INVALID_ARGUMENT"), argument.name
        assert answered.document["error"] == f"{argument.name} is empty"
