"""What is hard to take back is asked about: a person decides, in both eras of the protocol, on what is then done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import ElicitRequestParams, ElicitResult

from abistore.interface import (
    ApprovalPlan,
    BaselinePlan,
    OpenStore,
    WithdrawalPlan,
    approvals,
    approve,
    baselines,
    db_audit,
    ingest,
    open_store,
    releases,
    set_baseline,
    verdict,
    withdraw,
)
from abistore.mcp.calls import Server
from abistore.mcp.jobs import Jobs
from abistore.mcp.server import build_server
from abistore.mcp.settings import Settings
from tests.mcp.conftest import ERAS, Answered, Era

Action = Literal["accept", "decline", "cancel"]


@dataclass
class Person:
    """A client with somebody before it, who is asked and answers; ``meanwhile`` happens while they think."""

    server: Server
    era: Era
    action: Action = "accept"
    agree: bool | None = True
    meanwhile: Any = None
    asked: list[str] = field(default_factory=list)

    async def _answer(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        if self.meanwhile is not None and len(self.asked) == 1:
            self.meanwhile()
        said = {} if self.agree is None else {"agree": self.agree}
        content: dict[str, Any] | None = said if self.action == "accept" else None
        return ElicitResult(action=self.action, content=content)

    def call(self, tool: str, /, **arguments: Any) -> Answered:
        async def talk() -> Answered:
            async with Client(self.server, mode=self.era, elicitation_callback=self._answer) as client:
                return Answered(await client.call_tool(tool, arguments))

        return anyio.run(talk)


@pytest.fixture
def store(store_with: Callable[..., str], libraries: dict[str, Path]) -> Iterator[OpenStore]:
    """Three releases of which the last breaks; the first is the baseline."""
    with open_store(store_with(*libraries)) as made:
        yield made


@pytest.fixture(params=ERAS)
def person(request: pytest.FixtureRequest, store: OpenStore, jobs: Jobs) -> Person:
    return Person(build_server(Settings(database=store.where, allow_write=True), jobs), request.param)


def stands(store: OpenStore) -> str | None:
    return next((move.version for move in baselines("libgeo", database=store) if move.channel == "release"), None)


def digest(store: OpenStore, version: str) -> str:
    return next(release.digest for release in releases("libgeo", database=store) if release.version == version)


def breaks(store: OpenStore) -> list[str]:
    """The findings that break 2.0 against the baseline, in a stored verdict."""
    report = verdict("libgeo@2.0", against="1.0", database=store).report
    return [one.id for one in report.changes if one.impact == "breaking"]


BREAKING = {"library": "libgeo", "version": "2.0", "reason": "the next series"}


def test_a_baseline_that_would_break_moves_when_a_person_agrees(person: Person, store: OpenStore) -> None:
    answer = person.call("abi_baseline", **BREAKING).document
    assert (answer["moved"], answer["previous"], answer["version"]) == (True, "1.0", "2.0")
    assert (answer["verdict"], answer["decided_by"]) == ("BREAKING", "user")
    (asked,) = dict.fromkeys(person.asked)
    assert asked.startswith("Move the baseline 'release' from libgeo 1.0 (elf-x86_64-64-little, default; digest ")
    assert f"to libgeo 2.0 (elf-x86_64-64-little, default; digest {digest(store, '2.0')[:12]})?" in asked
    assert "The new one is BREAKING against the old one: 2 breaking" in asked
    assert "Reason given: 'the next series'" in asked
    assert stands(store) == "2.0"
    record = db_audit(limit=1, database=store)[0]
    assert record.action == "baseline"
    assert record.actor.endswith(" (mcp: mcp), a person agreed")


@pytest.mark.parametrize(("action", "agree"), [("accept", False), ("decline", True), ("cancel", True)])
def test_nothing_is_written_without_a_yes(action: Action, agree: bool, person: Person, store: OpenStore) -> None:
    wanted = breaks(store)
    accepted = [one.approval.identity for one in approve(wanted[:1], ApprovalPlan("nobody calls it"), database=store)]
    before = db_audit(limit=1, database=store)
    person.action, person.agree = action, agree
    for tool, given in (
        ("abi_baseline", BREAKING),
        ("abi_delete", {"library": "libgeo", "version": "1.1", "confirm_digest": digest(store, "1.1")}),
        ("abi_approve", {"finding_ids": wanted, "reason": "nobody calls it"}),
        ("abi_approve", {"finding_ids": accepted, "reason": "it is called", "state": "withdrawn"}),
    ):
        refused = person.call(tool, **given)
        assert refused.failed
        assert refused.document["code"] == "DECLINED"
    assert db_audit(limit=1, database=store) == before


def test_an_answer_that_says_nothing_is_no_yes(person: Person, store: OpenStore) -> None:
    person.agree = None
    refused = person.call("abi_baseline", **BREAKING)
    assert refused.document["code"] == "DECLINED"
    assert stands(store) == "1.0"


def test_what_breaks_nobody_is_not_asked_about(person: Person, store: OpenStore) -> None:
    answer = person.call("abi_baseline", library="libgeo", version="1.1", reason="shipped").document
    assert (answer["moved"], answer["verdict"], answer["decided_by"]) == (True, "COMPATIBLE", "caller")
    assert person.asked == []
    again = person.call("abi_baseline", library="libgeo", version="1.1", reason="shipped").document
    assert (again["moved"], again["headline"]) == (False, "UNCHANGED: baseline release is at 1.1")
    first = person.call("abi_baseline", library="libgeo", version="2.0", reason="start", channel="main").document
    assert (first["previous"], first["verdict"], person.asked) == (None, None, [])


def test_a_baseline_moves_only_from_where_the_caller_saw_it(person: Person, store: OpenStore) -> None:
    refused = person.call("abi_baseline", library="libgeo", version="1.1", reason="x", expected_current="1.1").document
    assert (refused["code"], stands(store)) == ("STALE_BASELINE", "1.0")
    assert "is at 1.0, not at 1.1" in refused["error"]
    moved = person.call("abi_baseline", library="libgeo", version="1.1", reason="x", expected_current="1.0").document
    assert moved["moved"]


def test_what_was_decided_on_is_what_is_done(person: Person, store: OpenStore) -> None:
    """Somebody else moves the baseline while the person thinks: the yes was not for that."""

    def meanwhile() -> None:
        with open_store(store.where) as other:
            set_baseline("libgeo@1.1", BaselinePlan(reason="faster"), database=other)

    person.meanwhile = meanwhile
    answered = person.call("abi_baseline", **BREAKING)
    if person.era == "legacy":
        assert answered.document["code"] == "STALE_BASELINE"
        assert stands(store) == "1.1"
    else:  # the question is made anew, so that the person is asked about what holds now
        assert answered.document["previous"] == "1.1"
        assert len(person.asked) == 2
        assert "from libgeo 1.1" in person.asked[1]


def test_a_release_is_deleted_when_a_person_agrees(person: Person, store: OpenStore) -> None:
    gone = digest(store, "1.1")
    answer = person.call("abi_delete", library="libgeo", version="1.1", confirm_digest=gone[:12], reason="bad").document
    assert (answer["digest"], answer["decided_by"]) == (gone, "user")
    assert [release.version for release in releases("libgeo", database=store)] == ["1.0", "2.0"]
    assert "Delete the release libgeo 1.1" in person.asked[0]
    record = db_audit(limit=1, database=store)[0]
    assert (record.action, record.actor.partition(", ")[2]) == ("forget", "a person agreed")
    refused = person.call("abi_delete", library="libgeo", version="1.1", confirm_digest=gone).document
    assert refused["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("version", "confirmed", "error"),
    [
        ("1.1", "0" * 32, "libgeo@1.1 has another digest than confirm_digest"),
        ("1.1", "", "confirm_digest is empty"),
        ("1.0", None, "libgeo@1.0: baseline release points at it"),
    ],
)
def test_what_must_not_be_deleted_is_refused_before_anybody_is_asked(
    version: str, confirmed: str | None, error: str, person: Person, store: OpenStore
) -> None:
    confirm = digest(store, version) if confirmed is None else confirmed
    refused = person.call("abi_delete", library="libgeo", version=version, confirm_digest=confirm).document
    assert (refused["code"], refused["error"]) == ("INVALID_ARGUMENT", error)
    assert person.asked == []


def test_a_release_that_was_replaced_meanwhile_is_not_deleted(
    person: Person, store: OpenStore, libraries: dict[str, Path]
) -> None:
    from abistore.interface import IngestPlan

    def meanwhile() -> None:
        with open_store(store.where) as other:
            (done,) = ingest(libraries["2.0"], IngestPlan(version="1.1", replace=True), database=other)
            assert done.status == "replaced", done.error

    person.meanwhile = meanwhile
    refused = person.call("abi_delete", library="libgeo", version="1.1", confirm_digest=digest(store, "1.1")).document
    assert refused["code"] in {"STALE_BASELINE", "INVALID_ARGUMENT"}
    assert "1.1" in [release.version for release in releases("libgeo", database=store)]


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_cannot_ask_is_told_so(era: Era, store: OpenStore, jobs: Jobs) -> None:
    server = build_server(Settings(database=store.where, allow_write=True), jobs)

    async def talk() -> MCPError:
        async with Client(server, mode=era) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("abi_baseline", BREAKING)
            return caught.value

    error = anyio.run(talk)
    assert error.code == -32021
    assert "--approvals auto" in error.message
    assert error.error.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}
    assert stands(store) == "1.0"


def test_a_pipeline_decides_by_itself(store: OpenStore, jobs: Jobs) -> None:
    person = Person(build_server(Settings(database=store.where, allow_write=True, approvals="auto"), jobs), "legacy")
    answer = person.call("abi_baseline", **BREAKING).document
    assert (answer["moved"], answer["decided_by"], person.asked) == (True, "caller", [])
    assert "agreed" not in db_audit(limit=1, database=store)[0].actor


def test_a_break_is_approved_when_a_person_agrees_and_has_read_what_it_is(person: Person, store: OpenStore) -> None:
    wanted = breaks(store)
    given = {"finding_ids": [each[:14] for each in wanted], "reason": "nobody calls it", "until": "2.0"}
    answer = person.call("abi_approve", **given).document
    assert (answer["created"], answer["finding_ids"], answer["decided_by"]) == (True, wanted, "user")
    (asked,) = dict.fromkeys(person.asked)
    assert asked.startswith(f"Accept {len(wanted)} breaks of libgeo, so that gates let them through in every release")
    assert all(each in asked for each in wanted)
    assert "BREAKING func_removed 'gone'" in asked
    assert "Reason given: 'nobody calls it'" in asked
    for one in approvals(database=store):
        assert one.approval.approver.endswith(" (mcp: mcp), a person agreed")
        assert (one.approval.origin, one.approval.facts is not None) == ("", True)
    gate = person.call("abi_gate", library="libgeo", version="2.0").document
    assert (gate["would_fail"], gate["verdict"], gate["exit_code"]) == (False, "BREAKING", 0)
    assert any("PASS: " in reason and "nobody calls it" in reason for reason in gate["reasons"])
    row = person.call("abi_history", library="libgeo").document["rows"][-1]
    assert (row["verdict"], "nobody calls it" in row["approved_baseline"]) == ("BREAKING", True)


def test_what_is_withdrawn_closes_the_gate_of_a_comparison_that_was_made_before(
    person: Person, store: OpenStore, libraries: dict[str, Path]
) -> None:
    seen = person.call("abi_compare", old_input="libgeo@1.0", new_input=str(libraries["2.0"])).document
    wanted = [one["id"] for one in seen["changes"] if one["impact"] == "breaking"]
    one = {"comparison_id": seen["comparison_id"]}
    assert person.call("abi_approve", finding_ids=wanted, reason="x", **one).document["created"]
    assert person.call("abi_gate", **one).document["exit_code"] == 0
    found = person.call("abi_findings", **one).document["items"]
    assert all("by " in item["approved"] for item in found if item["id"] in wanted)
    withdraw(wanted, WithdrawalPlan("used after all"), database=store)
    assert person.call("abi_gate", **one).document["exit_code"] == 4
    assert "approved" not in person.call("abi_findings", **one).document["items"][0]


def test_an_approval_is_taken_back_when_a_person_agrees_and_has_read_whose_it_is(
    person: Person, store: OpenStore
) -> None:
    wanted = breaks(store)
    approve(wanted, ApprovalPlan("nobody calls it", approver="ana"), database=store)
    given = {"finding_ids": [each[:12] for each in wanted], "reason": "a plugin does", "state": "withdrawn"}
    answer = person.call("abi_approve", **given).document
    assert (answer["headline"], answer["finding_ids"]) == (f"WITHDRAWN: {len(wanted)} breaks of libgeo", wanted)
    (asked,) = dict.fromkeys(person.asked)
    assert asked.startswith(f"Withdraw {len(wanted)} approvals of libgeo, so that gates fail")
    assert all(
        each in asked
        for each in (
            *wanted,
            "func_removed 'gone'",
            "by ana on elf-x86_64-64-little: 'nobody calls it'",
            "Reason given: 'a plugin does'",
        )
    )
    assert approvals(database=store) == ()
    assert person.call("abi_gate", library="libgeo", version="2.0").document["exit_code"] == 4
    again = person.call("abi_approve", **given).document
    assert (again["code"], len(dict.fromkeys(person.asked))) == ("NOT_FOUND", 1)


def test_an_approval_of_one_scope_is_taken_back_alone(person: Person, store: OpenStore) -> None:
    (wanted, *_) = breaks(store)
    for scope in ("forever", "branch:main"):
        approve(wanted, ApprovalPlan("x", scope=scope), database=store)
    given = {"finding_ids": [wanted], "reason": "y", "state": "withdrawn"}
    refused = person.call("abi_approve", **given, until="3.0").document
    assert (refused["code"], person.asked) == ("INVALID_ARGUMENT", [])
    assert person.call("abi_approve", **given, scope="branch:main").document["scope"] == "branch:main"
    assert [one.approval.scope for one in approvals(database=store)] == ["forever"]


def test_an_approval_that_was_not_asked_of_is_not_taken_back(person: Person, store: OpenStore) -> None:
    (wanted, *_) = breaks(store)
    approve(wanted, ApprovalPlan("x"), database=store)

    def meanwhile() -> None:
        with open_store(store.where) as other:
            approve(wanted, ApprovalPlan("x", scope="branch:main"), database=other)

    person.meanwhile = meanwhile
    answered = person.call("abi_approve", finding_ids=[wanted], reason="y", state="withdrawn")
    if person.era == "legacy":
        assert answered.document["code"] == "VERSION_CONFLICT"
        assert len(approvals(database=store)) == 2
    else:  # the question is made anew
        assert (len(person.asked), "for branch main" in person.asked[1]) == (2, True)
        assert approvals(database=store) == ()


def test_an_agent_approves_nothing_by_itself(store: OpenStore, jobs: Jobs) -> None:
    """A client that cannot ask is refused; where nobody has to be asked, the ledger and every report say so."""
    given = {"finding_ids": breaks(store), "reason": "nobody calls it"}

    def call(settings: Settings, tool: str, **arguments: Any) -> Answered:
        async def talk() -> Answered:
            async with Client(build_server(settings, jobs)) as client:
                return Answered(await client.call_tool(tool, arguments))

        return anyio.run(talk)

    async def refused() -> MCPError:
        async with Client(build_server(Settings(database=store.where, allow_write=True), jobs)) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("abi_approve", given)
            return caught.value

    assert anyio.run(refused).code == -32021
    assert approvals(database=store) == ()
    closed = call(Settings(database=store.where), "abi_approve", **given).document
    assert closed["code"] == "WRITE_DISABLED"
    pipeline = Settings(database=store.where, allow_write=True, approvals="auto")
    assert call(pipeline, "abi_approve", **given).document["decided_by"] == "caller"
    assert {one.approval.origin for one in approvals(database=store)} == {"mcp, nobody was asked"}
    report = verdict("libgeo@2.0", against="1.0", database=store).report
    assert "[from mcp, nobody was asked]" in str(report.decision)


def test_more_findings_than_a_person_reads_are_not_approved_at_once(person: Person, store: OpenStore) -> None:
    refused = person.call("abi_approve", finding_ids=["ab"] * 9, reason="x")
    assert (refused.failed, refused.document["code"]) == (True, "INVALID_ARGUMENT")
    assert person.asked == []
