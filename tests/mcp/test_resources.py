"""What is read by its address: the JSON of the command line and pages, which never judge."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp import Client, MCPError
from mcp.types import PromptReference

from abistore.interface import IngestPlan, export, history, ingest, open_store
from abistore.mcp.addresses import matched
from abistore.mcp.prompts import TASKS
from abistore.mcp.resources import MOST_BYTES, RESOURCES, Part, page_names, paged
from abistore.mcp.settings import Refusal
from abistore.model.history import IngestRequest
from abistore.store.store import Store
from tests.build import build_library
from tests.mcp.conftest import Agent, fill
from tests.mcp.histories import LIBRARY, VERSIONS
from tests.store.builders import ARM, EXPORTED, X86, function, snapshot


def read(agent: Agent, uri: str) -> str:
    async def asked(client: Client) -> Any:
        return await client.read_resource(uri)

    (contents,) = agent.ask(asked).contents
    assert str(contents.uri) == uri
    text = contents.text
    assert isinstance(text, str)
    return text


def unread(agent: Agent, uri: str) -> tuple[int, str]:
    async def asked(client: Client) -> tuple[int, str]:
        try:
            await client.read_resource(uri)
        except MCPError as error:
            return error.code, error.message
        return 0, ""

    found = agent.ask(asked)
    assert isinstance(found, tuple)
    return found


@pytest.fixture
def judged(modern: Agent, libraries: dict[str, Path], tmp_path: Path) -> Agent:
    """An agent of a store that remembers its verdicts."""
    database = tmp_path / "judged.db"
    with open_store(database, create=True) as store:
        fill(store, libraries)
        history("libgeo", database=store)
    return modern.set(database=str(database))


def test_every_resource_is_listed_with_what_it_is(agent: Agent) -> None:
    async def asked(client: Client) -> Any:
        return (await client.list_resources()).resources, (await client.list_resource_templates()).resource_templates

    fixed, templates = agent.ask(asked)
    assert {each.name for each in (*fixed, *templates)} == {*RESOURCES, "libgeo"}
    assert {each.uri for each in fixed} >= {"abistore://libraries", "abistore://schema", "abistore://latest/summary"}
    for each in (*fixed, *templates):
        assert each.description
        assert each.annotations.audience
        assert 0 <= each.annotations.priority <= 1
        assert each.mime_type in {"application/json", "text/markdown", "application/sarif+json", "text/html"}


def test_what_is_stored_is_told(agent: Agent) -> None:
    assert json.loads(read(agent, "abistore://libraries"))["lines"][0]["line"]["library"] == "libgeo"
    releases = json.loads(read(agent, "abistore://libraries/libgeo"))["releases"]
    assert [release["version"] for release in releases] == ["1.0", "1.1", "2.0"]
    moves = json.loads(read(agent, "abistore://libraries/libgeo/baseline"))["baselines"]
    assert [(move["version"], move["reason"]) for move in moves] == [("1.0", "the first")]
    snapshot = json.loads(read(agent, "abistore://libraries/libgeo/releases/1.0/snapshot.json"))
    assert snapshot["format"] == "abistore-snapshot"


def test_the_latest_of_a_library_of_two_lines_is_told(
    modern: Agent, tmp_path: Path, libraries: dict[str, Path]
) -> None:
    with open_store(tmp_path / "abi.db", create=True) as store:
        for profile in ("debug", "release"):
            for version in ("1.0", "2.0"):
                ingest(libraries[version], IngestPlan(version=version, profile=profile), database=store)
    agent = modern.set(database=str(tmp_path / "abi.db"))
    assert json.loads(read(agent, "abistore://latest/summary"))["new"] == "libgeo@2.0"
    assert json.loads(read(agent, "abistore://latest/report.json"))["verdict"] == "BREAKING"


def test_what_was_not_judged_stays_so(agent: Agent) -> None:
    (history,) = json.loads(read(agent, "abistore://libraries/libgeo/history"))["histories"]
    assert [row["unjudged"] for row in history["rows"]] == ["", "not judged yet", "not judged yet"]


def test_each_list_of_a_resource_is_as_long_as_is_asked_for(wide_agent: Agent) -> None:
    whole = json.loads(read(wide_agent, f"abistore://libraries/{LIBRARY}/history"))
    short = json.loads(read(wide_agent, f"abistore://libraries/{LIBRARY}/history?limit=3"))
    assert len(whole["histories"][0]["rows"]) == len(VERSIONS)
    assert short["histories"][0]["rows"][0] == whole["histories"][0]["rows"][0]
    assert len(short["histories"][0]["rows"]) == 3
    assert short["left_out"] >= len(VERSIONS) - 3
    assert "left_out" not in whole
    for refused in ("history?limit=0", "history?limit=x", "history.md?limit=3", "releases/1.0/snapshot.json?limit=3"):
        assert unread(wide_agent, f"abistore://libraries/{LIBRARY}/{refused}")[0] == -32602


MOST_SENT = 20_000
"""The bytes of a document about eight releases of which lists have at most ten items."""


def test_a_document_with_a_limit_is_short(wide_agent: Agent) -> None:
    place = f"abistore://libraries/{LIBRARY}"
    ends = (
        "",
        "/history",
        "/consumers",
        "/approvals",
        "/blame",
        "/matrix",
        "/deprecations",
        "/policies/sdk_vendor/evaluation",
    )
    of_release = ("consumers", "ledger", "statement", "lines", "range", "exports", "types", "types/wide_loop/users")
    addresses = [f"{place}{end}" for end in ends] + [f"{place}/releases/2.2/{end}" for end in of_release]
    lengths = {uri: len(read(wide_agent, f"{uri}?limit=10").encode()) for uri in addresses}
    assert {uri: length for uri, length in lengths.items() if length > MOST_SENT} == {}


def test_a_verdict_is_read_from_a_store_that_ingest_alone_filled(agent: Agent) -> None:
    place = "abistore://libraries/libgeo/releases"
    assert json.loads(read(agent, f"{place}/2.0/verdict"))["verdict"] == "BREAKING"
    assert read(agent, f"{place}/2.0/verdict.md").startswith("## libgeo 1.1")
    assert json.loads(read(agent, f"{place}/1.1/summary"))["verdict"] == "COMPATIBLE"
    assert json.loads(read(agent, "abistore://latest/summary"))["new"] == "libgeo@2.0"
    assert json.loads(read(agent, f"{place}/1.0/summary"))["exit_code"] == 0
    assert json.loads(read(agent, f"{place}/1.0/verdict"))["decision"]["outcome"] == "pass"
    assert "1.0" in read(agent, f"{place}/1.0/verdict.md")


def test_verdicts_are_told_as_they_are_remembered(judged: Agent) -> None:
    report = json.loads(read(judged, "abistore://libraries/libgeo/releases/2.0/verdict"))
    assert report["verdict"] == "BREAKING"
    assert read(judged, "abistore://libraries/libgeo/releases/2.0/verdict.md").startswith("## libgeo 1.1")
    summary = json.loads(read(judged, "abistore://libraries/libgeo/releases/2.0/summary"))
    assert (summary["verdict"], summary["old"], summary["new"]) == ("BREAKING", "libgeo@1.1", "libgeo@2.0")
    assert json.loads(read(judged, "abistore://latest/summary")) == summary
    assert json.loads(read(judged, "abistore://latest/report.json")) == report
    page = read(judged, "abistore://libraries/libgeo/history.md")
    assert "| 2.0 | " in page
    assert "| BREAKING, fail | BREAKING, fail |" in page


def test_a_comparison_is_read_in_every_form(judged: Agent) -> None:
    answer = judged("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0")
    root = f"abistore://comparisons/{answer['comparison_id']}"
    assert json.loads(read(judged, answer["report_uri"]))["verdict"] == "BREAKING"
    assert json.loads(read(judged, f"{root}/summary"))["headline"] == answer["headline"]
    assert read(judged, f"{root}/report.md").startswith("## libgeo 1.0")
    assert json.loads(read(judged, f"{root}/report.sarif"))["version"] == "2.1.0"
    assert "<html" in read(judged, f"{root}/report.html")
    finding = json.loads(read(judged, f"{root}/findings/{answer['changes'][0]['id']}"))["finding"]
    assert finding["kind"] == "func_removed"
    assert unread(judged, f"{root}/findings/ffff")[0] == -32602


def test_a_comparison_that_was_never_made_is_not_made_by_reading(agent: Agent) -> None:
    identity = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0")["comparison_id"]
    code, message = unread(agent.set(), f"abistore://comparisons/{identity}/report.json")
    assert code == -32602
    assert "not judged" in message


def test_the_last_gate_is_told_and_whoever_subscribed_hears_of_it(agent: Agent) -> None:
    uri = "abistore://latest/gates"
    code, message = unread(agent, uri)
    assert (code, "call abi_gate" in message) == (-32602, True)
    answer = agent("abi_gate", library="libgeo")
    assert json.loads(read(agent, uri)) == answer
    assert agent.server.gate == agent.call("abi_gate", library="libgeo").text.encode()


def test_a_dump_is_linked_and_read_by_its_address(agent: Agent, libraries: dict[str, Path]) -> None:
    answered = agent.call("abi_dump", library_path=str(libraries["1.0"]))
    _, link = answered.result.content
    assert (link.type, link.uri) == ("resource_link", answered.document["snapshot_uri"])
    snapshot = read(agent, link.uri)
    assert (json.loads(snapshot)["format"], len(snapshot.encode())) == ("abistore-snapshot", link.size)
    assert unread(agent.set(), link.uri)[0] == -32602


LONG = "\u00e9\u20ac\U0001f600" * 300_000


@pytest.mark.parametrize("text", ["x" * MOST_BYTES, LONG, LONG + "x" * (3 * MOST_BYTES)])
def test_pages_of_a_long_text_are_the_text_byte_for_byte(text: str) -> None:
    told = paged(text, Part("abistore://a"))
    if len(text.encode()) == MOST_BYTES:
        assert told == text
        return
    index = json.loads(told)
    parts = [(page, matched(page["uri"].replace("abistore://a", "abistore://libraries"))) for page in index["pages"]]
    found = [paged(text, part[2]) for _, part in parts if part]
    assert [len(page.encode()) for page in found] == [page["bytes"] for page in index["pages"]]
    assert max(len(page.encode()) for page in found) <= MOST_BYTES
    assert "".join(found) == text
    assert index["sha256"] == sha256(text.encode()).hexdigest()


def test_a_page_of_another_text_or_place_is_refused() -> None:
    for part in (Part("abistore://a", 1, ""), Part("abistore://a", 0, "0" * 12), Part("abistore://a", 1 << 30, "")):
        with pytest.raises(Refusal):
            paged(LONG, part)


def test_a_long_resource_is_listed_in_pages(modern: Agent, tmp_path: Path) -> None:
    source = "".join(f"int f{number}_{'x' * 200}(void) {{ return 0; }}\n" for number in range(3_000))
    database = tmp_path / "long.db"
    with open_store(database, create=True) as store:
        ingest(build_library(source, soname="liblong.so.1", name="liblong.so"), IngestPlan(version="1"), database=store)
        whole = export("liblong@1", database=store).json.decode()
    agent = modern.set(database=str(database))
    uri = "abistore://libraries/liblong/releases/1/snapshot.json"
    index = json.loads(read(agent, uri))
    assert (index["status"], index["bytes"]) == ("index", len(whole.encode()))
    assert len(index["pages"]) > 1
    assert "".join(read(agent, page["uri"]) for page in index["pages"]) == whole


@pytest.mark.parametrize(
    ("uri", "ttl"),
    [("abistore://docs/cli", 86_400_000), ("abistore://libraries", 0), ("abistore://latest/summary", 0)],
)
def test_a_client_is_told_how_long_a_text_lasts(uri: str, ttl: int, judged: Agent) -> None:
    async def asked(client: Client) -> Any:
        return await client.read_resource(uri)

    found = judged.ask(asked)
    assert (found.ttl_ms, found.cache_scope) == (ttl, "private")


def test_the_pages_of_documentation_are_read(agent: Agent) -> None:
    assert "cli" in page_names()
    for page in page_names():
        assert read(agent, f"abistore://docs/{page}").startswith("# ")
    assert "**Fix:**" in read(agent, "abistore://docs/kinds/type_size_changed")
    assert unread(agent, "abistore://docs/kinds/type_size_chnged")[0] == -32602


def test_the_schema_tells_all_members_of_every_answer(agent: Agent) -> None:
    schema = json.loads(read(agent, "abistore://schema"))
    assert schema["surface_version"] == 1
    assert "next_cursor" in schema["answers"]["abi_compare"]["properties"]


@pytest.mark.parametrize(
    "uri",
    [
        "abistore://nothing",
        "abistore://libraries/nolib",
        "abistore://docs/../../etc/passwd",
        "abistore://docs/%2e%2e%2fpasswd",
        "abistore://comparisons/zz/summary",
        "file:///etc/passwd",
    ],
)
def test_what_is_not_there_is_said(uri: str, agent: Agent) -> None:
    code, message = unread(agent, uri)
    assert code == -32602
    assert message


@pytest.mark.parametrize("version", ["v:1", "1.0+b~2", "2024-11-02", "\u00fc1"])
def test_any_label_has_an_address(version: str, modern: Agent, libraries: dict[str, Path], tmp_path: Path) -> None:
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        (done,) = ingest(libraries["1.0"], IngestPlan(version=version), database=store)
    assert done.status == "stored"
    uri = f"abistore://libraries/libgeo/releases/{quote(version, safe='')}/snapshot.json"
    assert json.loads(read(modern.set(database=str(database)), uri))["release"] == version


GIVEN = {
    "library": "libgeo",
    "version": "2.0",
    "new_input": "libgeo@2.0",
    "comparison_id": "123456",
    "finding_id": "abcdef",
    "from_version": "1.0",
    "to_version": "2.0",
}


def test_the_review_of_a_build_is_given_its_headers(agent: Agent) -> None:
    given = {"library": "libgeo", "new_input": "/ci/libgeo.so"}

    async def asked(client: Client) -> list[str]:
        made = [
            await client.get_prompt("review_pull_request", {**given, **more})
            for more in ({}, {"headers": "/ci/include, /ci/more"})
        ]
        return [prompt.messages[0].content.text for prompt in made]

    without, with_headers = agent.ask(asked)
    call = 'abi_review_build(new_input="/ci/libgeo.so", old_input="libgeo@baseline"'
    assert f"{call})" in without
    assert f'{call}, new_headers=["/ci/include", "/ci/more"])' in with_headers


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_prompt_is_a_task_that_names_the_calls(name: str, agent: Agent) -> None:
    arguments = {each: GIVEN[each] for each in TASKS[name].arguments}

    async def asked(client: Client) -> Any:
        return await client.get_prompt(name, arguments)

    first, *_ = agent.ask(asked).messages
    assert "abi_" in first.content.text
    assert all(value in first.content.text for value in arguments.values())
    assert "{" not in first.content.text


def test_a_prompt_brings_what_it_is_about(judged: Agent) -> None:
    async def asked(client: Client) -> Any:
        return await client.get_prompt("review_release", {"library": "libgeo", "version": "2.0"})

    _, about = judged.ask(asked).messages
    assert json.loads(about.content.resource.text)["verdict"] == "BREAKING"


def test_a_prompt_without_its_arguments_is_refused(agent: Agent) -> None:
    async def asked(client: Client) -> tuple[int, str]:
        try:
            await client.get_prompt("review_release", {"library": "libgeo"})
        except MCPError as error:
            return error.code, error.message
        return 0, ""

    assert agent.ask(asked) == (-32602, "review_release: missing version")


@pytest.mark.parametrize(
    ("argument", "start", "given", "words"),
    [
        ("library", "lib", {}, ["libgeo"]),
        ("version", "", {"library": "libgeo"}, ["1.0", "1.1", "2.0", "latest", "prev", "baseline:release"]),
        ("version", "2", {"library": "libgeo"}, ["2.0"]),
        ("version", "", {}, []),
        ("new_input", "libgeo@l", {}, ["libgeo@latest"]),
        ("finding_id", "", {}, []),
    ],
)
def test_words_are_offered_for_arguments(
    argument: str, start: str, given: dict[str, str], words: list[str], agent: Agent
) -> None:
    async def asked(client: Client) -> Any:
        reference = PromptReference(type="ref/prompt", name="review_release")
        return await client.complete(reference, {"name": argument, "value": start}, context_arguments=given)

    assert agent.ask(asked).completion.values == words


def test_a_statement_by_a_deprecation_window_is_that_of_the_command_line(agent: Agent) -> None:
    given = json.loads(read(agent, "abistore://libraries/libgeo/releases/2.0/statement/2%20minor"))["statement"]
    assert given["deprecation"] == "2 minor"
    code, said = unread(agent, "abistore://libraries/libgeo/releases/2.0/statement/soon")
    assert "not a deprecation window" in said, code


def test_a_ledger_names_the_lines_that_lack_the_version(modern: Agent, tmp_path: Path) -> None:
    address = str(tmp_path / "lines.db")
    with Store.open(address, write=True) as store:
        for version, target in (("1.0", X86), ("1.0", ARM), ("1.1", X86)):
            made = snapshot(version, symbols={function("f"): EXPORTED}, target=target)
            store.ingest(made, IngestRequest(version))
    told = read(modern.set(database=address), "abistore://libraries/libgeo/releases/1.1/ledger")
    (ledger,) = json.loads(told)["ledgers"]
    assert [(each["line"]["target"], each["why"]) for each in ledger["missing"]] == [
        (str(ARM), "no release 1.1: its only release is 1.0")
    ]
