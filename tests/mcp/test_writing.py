"""Servers that are started with ``--allow-write``: what they write, what they refuse, and what the store says then."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from abistore.interface import OpenStore, db_audit, db_check, export, import_, open_store, releases, reviews, verdict
from abistore.mcp.jobs import Jobs
from abistore.mcp.settings import Settings
from abistore.mcp.tools.all import TOOLS, WRITING
from tests.mcp.conftest import ERAS, Agent
from tests.mcp.test_budgets import sent
from tests.mcp.test_resources import read


@pytest.fixture
def store(store_with: Callable[..., str]) -> Iterator[OpenStore]:
    """A store with two releases, of which the first is the baseline."""
    with open_store(store_with("1.0", "1.1")) as made:
        yield made


@pytest.fixture
def writer(store: OpenStore, jobs: Jobs) -> Agent:
    """An agent that may write to it, and decides by itself."""
    settings = Settings(database=store.where, allow_write=True, approvals="auto")
    return Agent(settings, jobs, "2026-07-28")


def versions(store: OpenStore) -> list[str]:
    return [release.version for release in releases("libgeo", database=store) if not release.candidate]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", sorted(WRITING))
def test_a_server_that_only_reads_neither_lists_nor_does_what_writes(
    tool: str, era: Any, stored: Path, jobs: Jobs
) -> None:
    reader = Agent(Settings(database=str(stored)), jobs, era)
    assert [each.name for each in reader.tools()] == list(TOOLS)
    refused = reader.refused(tool)
    assert refused["code"] == "WRITE_DISABLED"
    assert refused["error"] == f"{tool}: this server only reads"
    assert "--allow-write" in refused["hint"]


def test_a_server_that_writes_tells_so(writer: Agent, modern: Agent) -> None:
    assert [tool.name for tool in writer.tools()] == [*TOOLS, *WRITING]
    assert writer("abi_store_stats")["allow_write"] is True
    assert modern("abi_store_stats")["allow_write"] is False


def test_a_build_is_stored_once_and_by_whom_is_told(
    writer: Agent, store: OpenStore, libraries: dict[str, Path]
) -> None:
    given = {"library": "libgeo", "version": "2.0", "library_path": str(libraries["2.0"]), "released_at": "2026-01-02"}
    answer = writer("abi_ingest", **given)
    assert (answer["created"], answer["state"], answer["exit_code"]) == (True, "stored", 0)
    assert answer["headline"] == "STORED: libgeo 2.0"
    assert versions(store) == ["1.0", "1.1", "2.0"]
    (release,) = (one for one in releases("libgeo", database=store) if one.version == "2.0")
    assert f"{release.released:%Y-%m-%d}" == "2026-01-02"
    record = db_audit(limit=1, database=store)[0]
    assert (record.action, record.subject.split()[0]) == ("ingest", "libgeo@2.0")
    assert record.actor.endswith(" (mcp: mcp)")
    again = writer("abi_ingest", **given)
    assert (again["created"], again["state"]) == (False, "known")
    assert db_audit(limit=1, database=store)[0] == record


def test_another_binary_under_a_taken_version_is_a_conflict(
    writer: Agent, store: OpenStore, libraries: dict[str, Path]
) -> None:
    before = releases("libgeo", database=store)
    refused = writer.refused("abi_ingest", library="libgeo", version="1.1", library_path=str(libraries["2.0"]))
    assert refused["code"] == "VERSION_CONFLICT"
    assert "abi_delete(library='libgeo', version='1.1'" in refused["hint"]
    assert releases("libgeo", database=store) == before


def test_a_build_that_fails_its_gate_is_not_stored_unless_it_is_to_be_kept(
    writer: Agent, store: OpenStore, libraries: dict[str, Path]
) -> None:
    given = {"library": "libgeo", "version": "2.0", "library_path": str(libraries["2.0"]), "against": "baseline"}
    refused = writer("abi_ingest", **given)
    assert (refused["state"], refused["created"]) == ("refused", False)
    assert (refused["verdict"], refused["exit_code"]) == ("BREAKING", 4)
    assert refused["headline"].startswith("NOT STORED, it failed its gate: libgeo 2.0: BREAKING against libgeo 1.0")
    assert versions(store) == ["1.0", "1.1"]
    found = writer("abi_findings", comparison_id=refused["comparison_id"])
    assert found["items"][0]["id"] == refused["top"][0]["id"]
    kept = writer("abi_ingest", **given, keep_failed=True)
    assert (kept["state"], kept["created"], kept["exit_code"]) == ("candidate", True, 4)
    assert versions(store) == ["1.0", "1.1"]
    assert writer("abi_ingest", **given, keep_failed=True)["created"] is False
    passed = writer("abi_ingest", **given, fail_on="never")
    assert (passed["state"], passed["verdict"], passed["exit_code"]) == ("stored", "BREAKING", 0)
    assert versions(store) == ["1.0", "1.1", "2.0"]


def test_the_first_build_creates_the_database(tmp_path: Path, jobs: Jobs, libraries: dict[str, Path]) -> None:
    database = tmp_path / "new.db"
    writer = Agent(Settings(database=str(database), allow_write=True), jobs, "2026-07-28")
    assert "no such database" in writer.refused("abi_list")["error"]
    assert writer("abi_ingest", library="libgeo", version="1.0", library_path=str(libraries["1.0"]))["created"]
    assert writer("abi_list")["total"] == 1


def test_a_dry_run_says_what_would_become_of_a_build_and_writes_nothing(
    writer: Agent, store: OpenStore, libraries: dict[str, Path]
) -> None:
    before = db_audit(database=store), releases("libgeo", database=store)
    given: dict[str, Any] = {"library": "libgeo", "library_path": str(libraries["2.0"]), "dry_run": True}
    stored = writer("abi_ingest", **given, version="2.0", tags=["lts"])
    assert (stored["state"], stored["created"], stored["dry_run"]) == ("stored", False, True)
    assert stored["headline"] == "DRY RUN: STORED: libgeo 2.0"
    refused = writer("abi_ingest", **given, version="2.0", against="baseline")
    assert (refused["state"], refused["verdict"], refused["exit_code"]) == ("refused", "BREAKING", 4)
    assert writer("abi_ingest", **given, version="2.0", against="baseline", keep_failed=True)["state"] == "candidate"
    known = writer("abi_ingest", **{**given, "library_path": str(libraries["1.1"])}, version="1.1")
    assert known["state"] == "known"
    assert writer.refused("abi_ingest", **given, version="1.1")["code"] == "VERSION_CONFLICT"
    assert (db_audit(database=store), releases("libgeo", database=store)) == before


def test_a_build_that_is_not_the_one_that_was_seen_is_refused(
    writer: Agent, store: OpenStore, libraries: dict[str, Path]
) -> None:
    seen = writer("abi_dump", library_path=str(libraries["2.0"]))["digest"]
    given: dict[str, Any] = {"library": "libgeo", "version": "2.0", "expected_digest": seen}
    refused = writer.refused("abi_ingest", **given, library_path=str(libraries["1.1"]))
    assert refused["code"] == "INVALID_ARGUMENT"
    assert refused["error"].endswith(f"and not {seen[:12]}")
    assert versions(store) == ["1.0", "1.1"]
    assert writer("abi_ingest", **given, library_path=str(libraries["2.0"]))["created"]
    known = writer.refused("abi_ingest", **{**given, "version": "1.1"}, library_path=str(libraries["1.1"]))
    assert known["code"] == "INVALID_ARGUMENT"


def test_a_release_is_tagged_and_a_tag_that_is_there_stays(
    writer: Agent, store: OpenStore, libraries: dict[str, Path], tmp_path: Path
) -> None:
    given = {"library": "libgeo", "version": "1.1", "tag": "lts"}
    answer = writer("abi_tag", **given, note="until 2028")
    assert (answer["created"], answer["tags"]) == (True, [{"name": "lts", "note": "until 2028"}])
    record = db_audit(limit=1, database=store)[0]
    assert (record.action, record.detail) == ("tag", "lts (until 2028)")
    again = writer("abi_tag", **given, note="for ever")
    assert (again["created"], again["tags"]) == (False, [{"name": "lts", "note": "until 2028"}])
    assert "with another note, which stays" in again["warnings"][0]
    build = {"library": "libgeo", "library_path": str(libraries["1.1"]), "version": "1.1", "tags": ["shipped"]}
    assert writer("abi_ingest", **build)["state"] == "known"
    assert [item.get("tags") for item in writer("abi_list", library="libgeo")["items"]] == [None, ["lts", "shipped"]]
    assert writer.refused("abi_tag", **{**given, "tag": "two words"})["code"] == "INVALID_ARGUMENT"
    assert writer.refused("abi_tag", **{**given, "version": "1.2"})["code"] == "NOT_FOUND"
    # what people say of a release goes with it into another store
    copy = tmp_path / "1.1.json"
    copy.write_bytes(export("libgeo@1.1", database=store).json)
    with open_store(tmp_path / "other.db", create=True) as other:
        (done,) = import_(copy, database=other)
        assert done.release
        assert [(tag.name, tag.note) for tag in done.release.tags] == [("lts", "until 2028"), ("shipped", "")]
        assert db_check(database=other) == ()


def test_a_review_of_a_finding_is_told_wherever_it_is_found_and_moves_no_verdict(
    writer: Agent, store: OpenStore, libraries: dict[str, Path]
) -> None:
    build = {"old_input": "libgeo@1.0", "new_input": str(libraries["2.0"])}
    seen = writer("abi_compare", **build)
    finding, comparison = seen["changes"][0]["id"], seen["comparison_id"]
    given = {"finding_id": finding[:8], "comparison_id": comparison, "state": "intended", "note": "said in the notes"}
    answer = writer("abi_review", **given)
    assert (answer["created"], answer["finding_id"], answer["library"]) == (True, finding, "libgeo")
    assert writer("abi_review", **given)["created"] is False
    said = {"state": "intended", "note": "said in the notes", "by": db_audit(limit=1, database=store)[0].actor}
    assert writer("abi_finding", finding_id=finding, comparison_id=comparison)["finding"]["review"] == said
    marked = writer("abi_findings", comparison_id=comparison, state="reviewed")
    assert [(item["id"], item["review"]) for item in marked["items"]] == [(finding, said)]
    assert writer("abi_compare", **build)["verdict"] == seen["verdict"]
    # later, in the stored release
    assert writer("abi_ingest", library="libgeo", version="2.0", library_path=str(libraries["2.0"]))["created"]
    verdict("libgeo@2.0", against="1.0", database=store)
    assert writer("abi_finding", finding_id=finding)["finding"]["review"] == said
    assert writer("abi_review", finding_id=finding, state="open")["created"]
    assert "review" not in writer("abi_finding", finding_id=finding)["finding"]
    assert [one.state for one in reviews("libgeo", past=True, database=store)] == ["intended", "open"]
    assert reviews("libgeo", database=store) == ()
    assert writer.refused("abi_review", finding_id="0" * 20, state="seen")["code"] == "NOT_FOUND"
    assert db_check(database=store) == ()


def test_an_agent_says_which_releases_may_break(writer: Agent, libraries: dict[str, Path]) -> None:
    build = {"library": "libgeo", "version": "2.0", "library_path": str(libraries["2.0"]), "against": "baseline"}
    refused = writer("abi_ingest", **build, allow="never", dry_run=True)
    assert (refused["state"], refused["exit_code"]) == ("refused", 4)
    allowed = writer("abi_ingest", **build, allow="major", dry_run=True)
    assert (allowed["state"], allowed["verdict"], allowed["exit_code"]) == ("stored", "BREAKING", 0)
    unknown = writer.refused("abi_ingest", **build, allow="majors", dry_run=True)
    assert (unknown["code"], "breaking-on-soname-bump" in unknown["error"]) == ("INVALID_ARGUMENT", True), unknown


BUDGETS = {
    **{"abi_ingest": 5_600, "abi_baseline": 1_600, "abi_review": 1_440, "abi_tag": 1_200, "abi_delete": 1_200},
    "abi_approve": 2_400,
}
"""The bytes that are sent."""


def test_what_is_answered_to_a_write_is_short_and_fits_its_schemas(
    writer: Agent, store: OpenStore, libraries: dict[str, Path]
) -> None:
    build = {"library": "libgeo", "version": "2.0", "library_path": str(libraries["2.0"]), "against": "baseline"}
    seen = writer("abi_compare", old_input="libgeo@1.0", new_input=str(libraries["2.0"]))
    calls: dict[str, dict[str, Any]] = {
        "abi_ingest": {**build, "fail_on": "never"},
        "abi_review": {
            "finding_id": seen["changes"][0]["id"],
            "comparison_id": seen["comparison_id"],
            "state": "defect",
            "note": "mend " * 90,
        },
        "abi_approve": {
            "finding_ids": [one["id"] for one in seen["changes"]][:8],
            "comparison_id": seen["comparison_id"],
            "reason": "nobody calls it " * 50,
            "ticket": "LIB-7 " * 50,
            "until": "3.0",
        },
        "abi_tag": {"library": "libgeo", "version": "1.1", "tag": "lts", "note": "until " * 50},
        "abi_baseline": {"library": "libgeo", "version": "2.0", "reason": "next " * 50},
        "abi_delete": {
            "library": "libgeo",
            "version": "1.1",
            "confirm_digest": next(one.digest for one in releases("libgeo", database=store) if one.version == "1.1"),
        },
    }
    assert calls.keys() == BUDGETS.keys() == WRITING.keys()
    whole = json.loads(read(writer, "abistore://schema"))["answers"]
    listed = {tool.name: tool.output_schema or {} for tool in writer.tools()}
    for tool, given in calls.items():
        answered = writer.call(tool, **given)
        assert not answered.failed, answered.text
        assert sent(answered.text) <= BUDGETS[tool], tool
        assert list(answered.document)[:2] == ["status", "headline"]
        for schema in (listed[tool], whole[tool]):
            assert list(Draft202012Validator(schema).iter_errors(answered.document)) == []
        assert set(listed[tool]["properties"]) <= set(answered.document) <= set(whole[tool]["properties"])
    assert db_check(database=store) == ()


def test_prompts_help_and_findings_name_what_writes_only_where_it_is(writer: Agent, modern: Agent) -> None:
    async def asked(client: Client) -> str:
        found = await client.get_prompt("review_release", {"library": "libgeo", "version": "1.1"})
        return found.messages[0].content.text

    assert 'abi_baseline(library="libgeo", version="1.1", reason=' in writer.ask(asked)
    assert "abi_baseline" not in modern.ask(asked)
    assert "DECLINED" in writer("abi_help", topic="writes")["text"]
    assert "only reads" in modern("abi_help", topic="writes")["text"]
    made = modern("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0")
    one = {"finding_id": made["changes"][0]["id"], "comparison_id": made["comparison_id"]}
    assert "abi_review" not in str(modern("abi_finding", **one)["next"])
    reader = modern.set(allow_write=True)
    assert "abi_review" in str(reader("abi_finding", **one)["next"])
