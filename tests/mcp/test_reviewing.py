"""One call reviews a build: the decision, every break by name, whom it hurts, and a comment."""

from __future__ import annotations

import shutil
from pathlib import Path

from abistore.interface import IngestPlan, ingest, open_store
from tests.build import build_library
from tests.mcp.conftest import OLD, Agent
from tests.mcp.histories import build

REVISION = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"


def test_a_build_is_reviewed_in_one_call(user: Agent, libraries: dict[str, Path]) -> None:
    told = user("abi_review_build", new_input=str(libraries["2.0"]), version="1.2")
    assert (told["outcome"], told["exit_code"], told["verdict"]) == ("fail", 4, "BREAKING")
    assert told["headline"].startswith("FAIL: 1.2 breaks 1.0 in 2 places under the same SONAME: release it as 2.0")
    assert {each["name"]: each["kind"] for each in told["breaks"]} == {
        "gone": "func_removed",
        "point: z": "type_field_added",
    }
    assert told["total_breaks"] == 2
    assert "release it as 2.0 and bump the SONAME" in told["bump"]
    assert [each["code"] for each in told["ways"]] == ["restore", "bump", "approve"]
    assert "abi_approve(finding_ids=[" in told["ways"][-1]["sentence"]
    assert told["comment"].startswith("## libgeo 1.0 → libgeo 1.2: BREAKING")
    assert told["comment"].endswith("`abistore compare libgeo@1.0 libgeo.so --full`.")


def test_a_review_names_the_programs_that_break(user: Agent, libraries: dict[str, Path]) -> None:
    """They were known to the command line alone, and to releases that are stored."""
    told = user("abi_review_build", new_input=str(libraries["2.0"]))
    assert {each["name"]: each["through"] for each in told["consumers"]} == {"caller": ["gone"], "measurer": ["point"]}
    assert {each["name"]: each["consumers"] for each in told["breaks"]} == {
        "gone": ["caller"],
        "point: z": ["measurer"],
    }
    assert "affects 2 of 3 known consumers of libgeo: caller, measurer" in told["warnings"]
    assert "affects caller" in told["comment"]


def test_a_compatible_build_passes(modern: Agent, libraries: dict[str, Path]) -> None:
    told = modern("abi_review_build", new_input=str(libraries["1.1"]), version="1.1")
    assert (told["outcome"], told["exit_code"], told["breaks"], told["consumers"]) == ("pass", 0, [], [])
    assert "🟢 **PASS: " in told["comment"]


def test_a_build_is_told_from_its_merge_base(
    modern: Agent, libraries: dict[str, Path], stored: Path, tmp_path: Path
) -> None:
    database = str(shutil.copy(stored, tmp_path / "own.db"))
    base = build_library(OLD.replace("int gone(void) { return 1; }", ""), soname="libgeo.so.1", name="libgeo.so")
    with open_store(database) as store:
        (done,) = ingest(base, IngestPlan(version="1.2~1", revision=REVISION), database=store)
        assert done.status == "stored"
    asked = {"new_input": str(libraries["2.0"]), "version": "1.2"}
    told = modern.set(database=database)("abi_review_build", **asked, merge_base=REVISION)
    assert {each["name"]: each["novelty"] for each in told["breaks"]} == {"gone": "known", "point: z": "new"}
    assert told["since"] == "since libgeo@1.2~1: 1 that fail are new, 1 existed before"
    unknown = modern("abi_review_build", **asked, merge_base="abcdef1")
    assert unknown["since"].startswith("new and existing breaks cannot be separated: libgeo: no build of")


def test_two_files_need_no_store(modern: Agent, libraries: dict[str, Path]) -> None:
    agent = modern.set(database="/nowhere/abi.db")
    sides = {"old_input": str(libraries["1.0"]), "new_input": str(libraries["2.0"])}
    told = agent("abi_review_build", **sides)
    assert (told["outcome"], told["bump"]) == ("fail", "bump the SONAME")


def test_evidence_that_is_missing_leaves_it_undecided(wide_agent: Agent, tmp_path: Path) -> None:
    """The baseline was stored with headers: a build without them may break sources unseen."""
    library, header = map(str, build(0, tmp_path))
    unseen = wide_agent("abi_review_build", new_input=library, version="1.0.1")
    assert (unseen["outcome"], unseen["exit_code"]) == ("undecided", 72)
    assert any("source" in each["sentence"] for each in unseen["missing"])
    seen = wide_agent("abi_review_build", new_input=library, version="1.0.1", new_headers=[header])
    assert (seen["outcome"], "missing" in seen) == ("pass", False)


def test_a_long_review_says_what_it_leaves_out(wide_agent: Agent) -> None:
    told = wide_agent("abi_review_build", new_input="libwide@2.2")
    assert told["old"]["version"] == "1.0"
    assert told["comment"].count("```") % 2 == 0
    assert all(f"`{each['name']}" in told["comment"] for each in told["breaks"])
    listed = {each["id"] for each in told["breaks"]}
    if len(listed) < told["total_breaks"]:
        assert told["next"][0]["arguments"]["impact"] == "breaking"


def test_a_digest_does_not_say_whose_baseline_is_meant(modern: Agent) -> None:
    digest = modern("abi_list", library="libgeo")["items"][0]["digest"]
    refused = modern.refused("abi_review_build", new_input=digest)
    assert refused["error"] == f"{digest}: a digest does not select a baseline"
    assert modern("abi_review_build", new_input=digest, library="libgeo")["exit_code"] == 0


def test_a_version_alone_is_one_of_the_library(modern: Agent, libraries: dict[str, Path], tmp_path: Path) -> None:
    build = str(libraries["2.0"])
    told = modern("abi_review_build", new_input=build, old_input="1.1", library="libgeo")
    assert (told["old"]["version"], told["exit_code"]) == ("1.1", 4)
    assert modern("abi_review_build", new_input=build, old_input="1.1")["old"] == told["old"]
    assert modern("abi_review_build", new_input=build, old_input="prev")["old"]["version"] == "1.1"
    refused = modern.refused("abi_review_build", new_input=build, old_input="9.9", library="libgeo")
    assert (refused["code"], refused["hint"]) == ("NOT_FOUND", "stored: 1.0, 1.1, 2.0")
    assert modern.refused("abi_review_build", new_input=build, old_input="1.1", library="libgoe")["code"] == "NOT_FOUND"
