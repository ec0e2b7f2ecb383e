"""Whom a release or a build breaks, and which releases a program can run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build import build_library
from tests.mcp.conftest import NEW, Agent
from tests.mcp.programs import PROGRAMS, program


def states(told: dict[str, object], member: str = "name") -> dict[str, str]:
    items = told["items"]
    assert isinstance(items, list)
    return {each[member]: each["state"] for each in items}


def test_the_programs_that_a_stored_release_breaks_are_named(user: Agent) -> None:
    told = user("abi_consumers", new_input="libgeo@2.0", old_input="1.0")
    assert told["headline"] == "libgeo@2.0 breaks 2 of 3 known programs, compared with 1.0: caller, measurer"
    assert states(told) == {"caller": "breaks", "measurer": "breaks", "idler": "runs"}
    caller, measurer, _ = told["items"]
    assert caller["broken_by"] == [{"sort": "symbol", "symbol": "gone", "detail": "not exported"}]
    assert [(each["kind"], each["symbol"]) for each in measurer["broken_by"]] == [("type_field_added", "point")]


def test_the_programs_that_a_build_breaks_are_named_with_their_findings(
    user: Agent, libraries: dict[str, Path]
) -> None:
    """A build that nobody stored was beside the point of every tool."""
    told = user("abi_consumers", new_input=str(libraries["2.0"]))
    assert states(told) == {"caller": "breaks", "measurer": "breaks", "idler": "runs"}
    for each in told["items"][:2]:
        (finding,) = each["findings"]
        found = user("abi_finding", finding_id=finding, comparison_id=told["comparison_id"])
        assert found["finding"]["symbol"] in {one["symbol"] for one in each["broken_by"]}


def test_another_soname_asks_for_a_new_build(user: Agent) -> None:
    bumped = build_library(NEW, soname="libgeo.so.2", name="libgeo.so")
    told = user("abi_consumers", new_input=str(bumped))
    assert set(states(told).values()) == {"asks-for-another"}
    assert "3 ask for another SONAME" in told["headline"]


@pytest.mark.parametrize("given", ["stored", "file"])
def test_the_releases_that_a_program_runs_on_are_told(
    given: str, user: Agent, libraries: dict[str, Path], tmp_path: Path
) -> None:
    built = program(tmp_path, PROGRAMS["caller"], libraries["1.0"], "other")
    told = user("abi_consumers", program="caller" if given == "stored" else str(built))
    assert told["headline"].endswith(" runs on libgeo 1.0 to 1.1 (2 of 3 releases)")
    assert states(told, "version") == {"1.0": "runs", "1.1": "runs", "2.0": "breaks"}
    assert told["items"][-1]["broken_by"] == [{"sort": "symbol", "symbol": "gone", "detail": "not exported"}]


def test_who_uses_a_name_is_told(user: Agent) -> None:
    told = user("abi_consumers", library="libgeo", name="gone")
    assert [(each["name"], each["symbols"]) for each in told["items"]] == [("caller", ["gone"])]
    assert [each["name"] for each in user("abi_consumers", library="libgeo", name="point")["items"]] == ["measurer"]


def test_the_known_programs_are_listed(user: Agent, modern: Agent) -> None:
    assert [each["name"] for each in user("abi_consumers", library="libgeo")["items"]] == sorted(PROGRAMS)
    none = modern("abi_consumers", new_input="libgeo@2.0")
    assert (none["items"], none["breaking"]) == ([], 0)
    assert none["warnings"][0].startswith("no known program uses it")


def test_what_is_no_question_is_refused(user: Agent, tmp_path: Path) -> None:
    both = user.refused("abi_consumers", new_input="libgeo@2.0", program="caller")
    assert both["error"] == "give new_input or program, and not both"
    unknown = user.refused("abi_consumers", program="callar")
    assert (unknown["error"], unknown["hint"]) == (
        "no stored program is called callar",
        "did you mean caller?",
    )
    assert user.refused("abi_consumers", program=str(tmp_path / "nowhere"))["code"] == "NOT_FOUND"
    assert user.refused("abi_consumers", name="gone")["error"] == "name needs library"
