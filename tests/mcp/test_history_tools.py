"""The tools that ask the history: summaries, findings, the life of a declaration, gates, and comments."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from abistore.files import canonical
from abistore.interface import (
    BaselinePlan,
    BindingPlan,
    ExtractOptions,
    HeaderOptions,
    IngestPlan,
    bind,
    ingest,
    open_store,
    set_baseline,
    verdict,
)
from abistore.mcp.operands import Call, identity_of, report_of
from abistore.mcp.settings import Refusal, Settings
from abistore.model.history import IngestRequest
from abistore.model.snapshot import ReleaseTag
from tests.build import build_library
from tests.effort import steps
from tests.mcp.conftest import OLD, Agent, fill
from tests.store.test_ledger import release as released
from tests.store.test_ledger import stored


def compared(agent: Agent) -> str:
    identity = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", stat=True)["comparison_id"]
    assert isinstance(identity, str)
    return identity


def test_a_summary_tells_the_verdict_what_it_rests_on_and_what_to_do_next(agent: Agent) -> None:
    answer = agent("abi_summary", library="libgeo")
    assert answer["headline"] == "BREAKING: libgeo 1.0 -> libgeo 2.0: 2 breaking, 1 compatible"
    assert answer["baseline"] == {"ref": "libgeo@1.0", "status": "ok", "trusted": True}
    assert answer["freshness"] == "recomputed"
    assert [change["kind"] for change in answer["top"]] == ["func_removed", "type_field_added", "func_added"]
    assert answer["build_id"]
    worst, identity = answer["top"][0]["id"], answer["comparison_id"]
    assert [(each["tool"], each["arguments"]) for each in answer["next"]] == [
        ("abi_finding", {"finding_id": worst, "comparison_id": identity}),
        ("abi_gate", {"comparison_id": identity}),
    ]
    assert answer["next"][0]["say"] == "Read the worst finding with its fix."
    assert answer["advice"] == ["soname_bump_recommended: breaking changes under the same SONAME, libgeo.so.1"]


def test_a_release_is_summarised_against_what_is_asked_for(modern: Agent) -> None:
    assert modern("abi_summary", library="libgeo", version="1.1", against="prev")["verdict"] == "COMPATIBLE"
    assert modern("abi_summary", library="libgeo", version="2.0", against="1.1")["counts"]["breaking"] == 2
    first = modern("abi_summary", library="libgeo", version="1.0")
    assert (first["verdict"], first["comparable"]) == (None, False)
    assert (first["outcome"], first["exit_code"]) == ("pass", 0)
    assert first["headline"] == "PASS: libgeo 1.0 is the first release of its line: there is no previous release"
    (row, *_) = modern("abi_history", library="libgeo")["rows"]
    assert (row["outcome"], row["exit_code"]) == (first["outcome"], first["exit_code"])


def test_a_release_that_may_break_the_baseline_is_summarised_as_in_its_history(modern: Agent, tmp_path: Path) -> None:
    """The new SONAME of 2.0 let 2.1 pass, too, which breaks programs of 2.0."""
    functions = {"1.0": "abc", "2.0": "bc", "2.1": "c", "2.2": "cd"}
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        for version, names in functions.items():
            text = "".join(f"int {name}(void) {{ return 1; }}\n" for name in names)
            built = build_library(text, soname=f"libgeo.so.{version[0]}", name="libgeo.so")
            ingest(built, IngestPlan(version=version), database=store)
        set_baseline("libgeo@1.0", BaselinePlan(reason="the first"), database=store)
    agent = modern.set(database=str(database))
    rows = agent("abi_history", library="libgeo")["rows"]
    told = [agent("abi_summary", library="libgeo", version=version) for version in functions]
    assert [each["outcome"] for each in told] == [row["outcome"] for row in rows] == ["pass", "pass", "fail", "pass"]
    assert [each["baseline"]["ref"] for each in told] == [None, "libgeo@1.0", "libgeo@2.0", "libgeo@2.1"]
    assert told[2]["warnings"][0] == "2.1 may break the baseline 1.0: it is judged against the release before it"
    assert agent("abi_review_build", new_input="libgeo@2.1")["outcome"] == "fail"
    asked = agent("abi_gate", library="libgeo", version="2.1")
    assert (asked["outcome"], asked["next"][0]["arguments"]["against"]) == ("pass", "prev")
    assert agent("abi_gate", **asked["next"][0]["arguments"])["outcome"] == "fail"


def test_a_baseline_with_other_evidence_is_not_trusted(
    modern: Agent, tmp_path: Path, libraries: dict[str, Path]
) -> None:
    bare = build_library(OLD, flags=("-O1",), soname="libgeo.so.1", name="libgeo.so")
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        ingest(libraries["1.0"], IngestPlan(version="1.0"), database=store)
        ingest(bare, IngestPlan(version="1.1"), database=store)
        set_baseline("libgeo@1.0", BaselinePlan(reason="first"), database=store)
    answer = modern.set(database=str(database))("abi_summary", library="libgeo")
    assert answer["baseline"]["status"] == "evidence_mismatch"
    assert answer["baseline"]["trusted"] is False
    assert "in what could be checked" in answer["headline"]
    assert any(gap["facet"] == "layout" for gap in answer["not_evaluated"])


def test_a_history_tells_who_moved_the_baseline_and_why(agent: Agent) -> None:
    assert "baseline_moves" not in agent("abi_history", library="libgeo")
    (move,) = agent("abi_history", library="libgeo", moves=True)["baseline_moves"]
    assert (move["channel"], move["version"], move["reason"]) == ("release", "1.0", "the first")
    assert move["by"]


def test_a_history_tells_the_first_break(agent: Agent) -> None:
    answer = agent("abi_history", library="libgeo", delta=True)
    assert answer["headline"] == "1 BREAK in 3 releases of libgeo; first BREAKING in 2.0"
    assert (answer["first_break"], answer["current_baseline"]) == ("2.0", "1.0")
    assert [(row["version"], row["from"], row["verdict"]) for row in answer["rows"]] == [
        ("1.0", None, None),
        ("1.1", "1.0", "COMPATIBLE"),
        ("2.0", "1.1", "BREAKING"),
    ]
    assert [row.get("trend") for row in answer["rows"]] == [None, "incomparable", "regressed"]


def test_a_history_tells_what_no_single_verdict_does(modern: Agent, tmp_path: Path) -> None:
    """What came after the baseline and is gone, which release was taken back, and what builds ask of the next one."""
    database = tmp_path / "abi.db"
    with stored(str(database), *(released(*names) for names in ("", "f", "", "h", "h"))) as store:
        store.tag(store.resolve("libgeo@1.3"), [ReleaseTag("withdrawn")], "ana")
        store.ingest(released("h", "i"), IngestRequest("1.4-2-gabc1234"))
    answer = modern.set(database=str(database))("abi_history", library="libgeo")
    assert answer["remarks"][0] == "1.4 is compared with 1.2: 1.3 was withdrawn"
    assert "1.4-2-gabc1234 lacks f, which 1.1 added and 1.2 removed" in " ".join(answer["remarks"])
    assert answer["pending"].endswith("the next release must be 1.5, a minor release")
    assert [row.get("tags") for row in answer["rows"]] == [None, None, None, ["withdrawn"], None, None]
    page = modern.set(database=str(database))("abi_history", library="libgeo", limit=2)
    later = modern.set(database=str(database))("abi_history", library="libgeo", limit=2, cursor=page["next_cursor"])
    assert page["remarks"] == answer["remarks"] and "remarks" not in later


def test_a_part_of_a_history_is_told(modern: Agent) -> None:
    answer = modern("abi_history", library="libgeo", until="1.1")
    assert [row["version"] for row in answer["rows"]] == ["1.0", "1.1"]
    assert answer["headline"] == "NO BREAK in 2 releases of libgeo, each against its previous release"
    assert modern.refused("abi_history", library="libgeo", since="9")["code"] == "NOT_FOUND"


def test_several_lines_are_told_apart(modern: Agent, tmp_path: Path, libraries: dict[str, Path]) -> None:
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        for profile in ("debug", "release"):
            ingest(libraries["1.0"], IngestPlan(version="1.0", profile=profile), database=store)
            ingest(libraries["2.0"], IngestPlan(version="2.0", profile=profile), database=store)
    agent = modern.set(database=str(database))
    refused = agent.refused("abi_history", library="libgeo")
    assert refused["code"] == "AMBIGUOUS_REF"
    assert "elf-x86_64-64-little/debug, elf-x86_64-64-little/release" in refused["hint"]
    sides = {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"}
    assert "stored in 2 lines" in agent.refused("abi_compare", **sides)["error"]
    assert agent("abi_compare", **sides, line="x86_64/debug")["verdict"] == "BREAKING"
    answer = agent("abi_history", library="libgeo", line="x86_64/debug")
    assert answer["line"] == "elf-x86_64-64-little/debug"
    assert agent("abi_summary", library="libgeo", line="elf-x86_64-64-little/release")["verdict"] == "BREAKING"
    assert agent.refused("abi_history", library="libgeo", line="arm")["code"] == "NOT_FOUND"


def test_a_declaration_of_several_lines_is_told_once(modern: Agent, tmp_path: Path, libraries: dict[str, Path]) -> None:
    """Each release was listed once for each line, and nothing said which was which."""
    database = tmp_path / "abi.db"
    debug, release = "elf-x86_64-64-little/debug", "elf-x86_64-64-little/release"
    with open_store(database, create=True) as store:
        for version, profiles in {
            "1.0": ("debug", "release"),
            "1.1": ("release",),
            "2.0": ("debug", "release"),
        }.items():
            for profile in profiles:
                ingest(libraries[version], IngestPlan(version=version, profile=profile), database=store)
    agent = modern.set(database=str(database))
    told = agent("abi_symbol_history", symbol="gone", library="libgeo")
    assert [(each["version"], each["action"], each["lines"]) for each in told["events"]] == [
        ("1.0", "appeared", [debug, release]),
        ("2.0", "vanished", [debug, release]),
    ]
    told = agent("abi_symbol_history", symbol="fresh")
    assert [(each["version"], each["lines"]) for each in told["events"]] == [("1.1", [release]), ("2.0", [debug])]
    assert all("lines" not in each for each in modern("abi_symbol_history", symbol="gone")["events"])


def test_findings_are_filtered_and_say_what_they_leave_out(agent: Agent) -> None:
    comparison = compared(agent)
    answer = agent("abi_findings", comparison_id=comparison, impact="breaking", element="functions")
    assert [item["symbol"] for item in answer["items"]] == ["gone"]
    assert answer["excluded"] == {"suppressed": 0, "filtered_out": 2}
    assert agent("abi_findings", comparison_id=comparison, symbol="poin")["total"] == 1
    assert agent("abi_findings", comparison_id=comparison, kind="func_added", action="added")["total"] == 1
    advice = agent("abi_findings", comparison_id=comparison, state="advice")
    assert [item["kind"] for item in advice["items"]] == ["soname_bump_recommended"]
    by_symbol = agent("abi_findings", comparison_id=comparison, sort_by="symbol")
    assert [item["symbol"] for item in by_symbol["items"]] == ["fresh", "gone", "point"]


def test_suppressed_findings_are_counted_and_found(modern: Agent, tmp_path: Path) -> None:
    accepted = tmp_path / "accepted.yaml"
    accepted.write_text("suppressions:\n  - symbol: gone\n    reason: nobody called it\n")
    sides = {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0", "suppression_file": str(accepted)}
    comparison = modern("abi_compare", **sides, stat=True)["comparison_id"]
    assert modern("abi_findings", comparison_id=comparison)["excluded"]["suppressed"] == 1
    (item,) = modern("abi_findings", comparison_id=comparison, state="suppressed")["items"]
    assert (item["symbol"], item["suppression_reason"]) == ("gone", "nobody called it")


def test_a_comparison_of_stored_releases_is_known_to_every_server(agent: Agent) -> None:
    comparison = compared(agent)
    other = agent.set()
    assert other("abi_findings", comparison_id=comparison)["total"] == 3
    assert other("abi_findings", comparison_id=comparison[:6].upper())["comparison_id"] == comparison


@pytest.mark.parametrize("judge", [True, False])
def test_finding_a_comparison_costs_the_same_after_many_releases(
    judge: bool, libraries: dict[str, Path], tmp_path: Path
) -> None:
    database = tmp_path / "abi.db"

    def ask() -> None:
        report_of(Call("abi_findings", {}, Settings(database=str(database))), identity, judge=judge)

    with open_store(database, create=True) as store:
        fill(store, libraries)
        report = verdict("libgeo@2.0", against="1.0", database=store).report
    identity = identity_of(report)[:16]
    ask()
    few = steps(ask)
    with open_store(database) as store:
        for number in range(30):
            ingest(libraries["1.1"], IngestPlan(version=f"1.1.{number}"), database=store)
    assert steps(ask) <= 1.02 * few


def test_digits_that_several_comparisons_have_name_them(
    modern: Agent, libraries: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        for version in ("1.0", "1.0.1"):
            ingest(libraries["1.0"], IngestPlan(version=version), database=store)
        ingest(libraries["2.0"], IngestPlan(version="2.0"), database=store)
    agent = modern.set(database=str(database))
    identity = agent("abi_compare", old_input="libgeo@1.0.1", new_input="libgeo@2.0", stat=True)["comparison_id"]
    assert agent.set()("abi_findings", comparison_id=identity)["comparison_id"] == identity
    assert agent.set().refused("abi_findings", comparison_id=identity[:15])["code"] == "NOT_FOUND"
    monkeypatch.setattr("abistore.mcp.operands.SHOWN", 8)
    call = Call("abi_findings", {}, agent.settings)
    with pytest.raises(Refusal, match=r"libgeo 1\.0\.1 -> libgeo 2\.0"):
        report_of(call, identity[:8])


def test_a_comparison_of_files_is_kept_by_its_server_only(
    modern: Agent, libraries: dict[str, Path], tmp_path: Path
) -> None:
    copies = [tmp_path / name for name in ("old.so", "new.so")]
    for copy, version in zip(copies, ("1.0", "2.0"), strict=True):
        copy.write_bytes(libraries[version].read_bytes())
    old, new = map(str, copies)
    comparison = modern("abi_compare", old_input=old, new_input=new, stat=True)["comparison_id"]
    for copy in copies:
        copy.unlink()
    assert modern("abi_findings", comparison_id=comparison)["total"] == 3
    assert modern.set().refused("abi_findings", comparison_id=comparison)["code"] == "NOT_FOUND"


def test_the_oldest_comparison_of_files_is_forgotten_first(modern: Agent, libraries: dict[str, Path]) -> None:
    agent = modern.set(history_limit=1)
    files = [str(library) for library in libraries.values()]
    first = agent("abi_compare", old_input=files[0], new_input=files[1], stat=True)["comparison_id"]
    second = agent("abi_compare", old_input=files[0], new_input=files[2], stat=True)["comparison_id"]
    assert agent("abi_findings", comparison_id=second)["total"] == 3
    assert agent.refused("abi_findings", comparison_id=first)["code"] == "NOT_FOUND"


@pytest.mark.parametrize("identity", ["12", "zzzzzz", "'; drop table"])
def test_what_is_no_comparison_is_refused(identity: str, modern: Agent) -> None:
    assert modern.refused("abi_findings", comparison_id=identity)["code"] == "INVALID_ARGUMENT"


def test_one_finding_has_its_declaration_before_and_after_and_the_fix(agent: Agent) -> None:
    comparison = compared(agent)
    (item,) = agent("abi_findings", comparison_id=comparison, symbol="point")["items"]
    answer = agent("abi_finding", finding_id=item["id"][:8], comparison_id=comparison)
    assert answer["finding"]["id"] == item["id"]
    assert "int z;" in answer["after"]
    assert "int z;" not in answer["before"]
    assert [one["kind"] for one in answer["consequences"]] == ["type_size_changed"]
    assert answer["guidance"]
    assert agent.refused("abi_finding", finding_id="ffffffff", comparison_id=comparison)["code"] == "NOT_FOUND"


def test_a_finding_of_a_stored_verdict_needs_no_comparison(
    modern: Agent, tmp_path: Path, libraries: dict[str, Path]
) -> None:
    database = tmp_path / "abi.db"
    with open_store(database, create=True) as store:
        for version in ("1.0", "2.0"):
            ingest(libraries[version], IngestPlan(version=version), database=store)
        report = verdict("libgeo@2.0", database=store).report
    agent = modern.set(database=str(database))
    answer = agent("abi_finding", finding_id=report.changes[0].id)
    assert answer["found_in"] == "libgeo 1.0 -> libgeo 2.0"
    assert agent("abi_summary", library="libgeo")["freshness"] == "stored"


def test_a_change_is_told_once_as_what_differs(wide_agent: Agent) -> None:
    """Two texts that were cut in the middle looked alike, and each change came by layout and by source."""
    events = wide_agent("abi_symbol_history", symbol="wide_loop", limit=200)["events"]
    assert [event["action"] for event in events] == ["appeared", *["changed"] * 7]
    for number, event in enumerate(events[1:], 1):
        assert event["evidence"] == "layout, source"
        assert f"+     void* added_by_release_{number};" in event["diff"]
        assert not {"before", "after", "text"} & event.keys()


def test_the_life_of_a_declaration_is_told(agent: Agent) -> None:
    answer = agent("abi_symbol_history", symbol="gone", library="libgeo")
    assert [(event["version"], event["action"]) for event in answer["events"] if "symbol" in event["evidence"]] == [
        ("1.0", "appeared"),
        ("2.0", "vanished"),
    ]
    assert "vanished in libgeo 2.0" in answer["headline"]
    assert agent.refused("abi_symbol_history", symbol="gon")["hint"] == "did you mean gone?"


def test_a_gate_tells_whether_ci_would_fail(agent: Agent) -> None:
    comparison = compared(agent)
    answer = agent("abi_gate", comparison_id=comparison)
    assert (answer["would_fail"], answer["exit_code"]) == (True, 4)
    assert agent("abi_gate", comparison_id=comparison, fail_on="never")["exit_code"] == 0
    stored = agent("abi_gate", library="libgeo", version="1.1")
    assert (stored["would_fail"], stored["verdict"]) == (False, "COMPATIBLE")
    risky = agent("abi_gate", library="libgeo", version="1.1", require_evidence="source")
    assert (risky["would_fail"], risky["exit_code"]) == (True, 72)
    assert risky["headline"].startswith("UNDECIDED with 72: ")
    told = " ".join(risky["reasons"])
    assert (told.count("libgeo 1.1: source is"), told.count("libgeo 1.0: source is")) == (1, 1)
    assert risky["reasons"][-1].endswith("require_evidence none")
    assert agent("abi_findings", comparison_id=comparison)["verdict"] == "BREAKING"


def test_a_gate_needs_as_much_evidence_of_a_comparison_as_the_old_side_has(agent: Agent, tmp_path: Path) -> None:
    """CI would ask for it, too: a stripped build hides what broke."""
    bare = shutil.copy(build_library(OLD, flags=("-O1",), soname="libgeo.so.1", name="libgeo.so"), tmp_path)
    agent = agent.set(read_roots=(canonical(tmp_path),))
    answer = agent("abi_compare", old_input="libgeo@1.0", new_input=str(bare), stat=True)
    gate = agent("abi_gate", comparison_id=answer["comparison_id"])
    assert (gate["would_fail"], gate["exit_code"]) == (True, 72)
    assert not agent("abi_gate", comparison_id=answer["comparison_id"], require_evidence="none")["would_fail"]


def test_a_gate_tells_what_stood_at_the_merge_base(agent: Agent) -> None:
    own = agent("abi_gate", library="libgeo", version="2.0", merge_base="2.0")
    new = agent("abi_gate", library="libgeo", version="2.0", merge_base="1.1")
    assert own["reasons"][-1].startswith("since libgeo@2.0: 0 that fail are new, ")
    assert " that fail are new, 0 existing" in new["reasons"][-1]
    assert not new["reasons"][-1].startswith("since libgeo@1.1: 0 ")
    unknown = agent("abi_gate", library="libgeo", version="2.0", merge_base="feedbeef")
    assert "no build of the merge base feedbeef" in unknown["reasons"][-1]
    refused = agent.refused("abi_gate", comparison_id="123456", merge_base="1.1")
    assert refused["error"] == "merge_base needs library"


def test_a_gate_obeys_the_rule_that_is_bound_to_the_library(modern: Agent, stored: Path, tmp_path: Path) -> None:
    database = Path(shutil.copy(stored, tmp_path / "bound.db"))
    with open_store(database) as store:
        bind("libgeo", BindingPlan(reason="LIB-7", actor="ana"), database=store)
    agent = modern.set(database=str(database))
    for asked in ({"comparison_id": compared(agent)}, {"library": "libgeo"}):
        assert agent("abi_gate", **asked)["exit_code"] == 4
        for looser in ({"fail_on": "never"}, {"allow": "major"}):
            refused = agent.refused("abi_gate", **asked, **looser)
            (name,) = looser
            assert refused["code"] == "INVALID_ARGUMENT"
            assert (name in refused["error"], "--" in refused["error"] + refused["hint"]) == (True, False)


def test_a_gate_leaves_the_comparison_as_it_was(modern: Agent) -> None:
    comparison = compared(modern)
    modern("abi_gate", comparison_id=comparison, fail_on="never")
    content = modern("abi_pr_summary", comparison_id=comparison, format="json")["content"]
    assert json.loads(content)["exit_code"] == 4


def test_a_gate_says_that_a_release_was_compared_with_itself(agent: Agent) -> None:
    """A baseline that stands at the latest release lets it pass by default."""
    told = agent("abi_gate", library="libgeo", version="1.1", against="1.1")
    assert "1.1 is its own baseline: nothing else was compared" in told["reasons"]


@pytest.mark.parametrize("tool", ["abi_summary", "abi_gate"])
def test_a_release_older_than_the_baseline_is_judged_against_the_one_before(
    tool: str, modern: Agent, stored: Path, tmp_path: Path
) -> None:
    """Beside the later baseline, what was added since seemed to be removed."""
    database = shutil.copy(stored, tmp_path / "own.db")
    set_baseline("libgeo@2.0", BaselinePlan(reason="moved"), database=database)
    agent = modern.set(database=str(database))
    told = agent(tool, library="libgeo", version="1.1")
    assert (told["verdict"], told["exit_code"]) == ("COMPATIBLE", 0)
    said = "1.1 is older than the baseline 2.0: it is judged against the release before it"
    assert said in told["warnings" if tool == "abi_summary" else "reasons"]
    assert agent(tool, library="libgeo", version="1.1", against="baseline")["verdict"] == "BREAKING"


def test_a_gate_is_about_one_thing(modern: Agent) -> None:
    for arguments in ({}, {"library": "libgeo", "comparison_id": "123456"}):
        assert modern.refused("abi_gate", **arguments)["error"] == "give comparison_id or library"


def test_a_comment_is_written_in_markdown_and_json(agent: Agent) -> None:
    comparison = compared(agent)
    markdown = agent("abi_pr_summary", comparison_id=comparison)
    assert markdown["content"].startswith("## libgeo 1.0")
    assert markdown["content"].endswith("All of it: `abistore compare libgeo@1.0 libgeo@2.0 --full`.")
    document = json.loads(agent("abi_pr_summary", comparison_id=comparison, format="json", max_items=1)["content"])
    assert [change["symbol"] for change in document["changes"]] == ["gone"]
    assert document["total"] > 1


def test_a_comment_names_every_break_and_closes_every_fence(modern: Agent) -> None:
    """A bot appends to it, and a person reads it: an open fence made code of all that followed."""
    told = modern("abi_pr_summary", comparison_id=compared(modern))
    assert "truncated" not in told
    assert "**FAIL: 2.0 breaks 1.0 in 2 places under the same SONAME: bump the SONAME" in told["content"]
    assert all(f"- `{name}" in told["content"] for name in ("gone", "point: z"))
    assert told["content"].count("```") == 2
    assert "  +     int z;" in told["content"]
    few = modern("abi_pr_summary", comparison_id=compared(modern), max_items=1)
    assert few["truncated"] is True
    assert "Left out: 1 break" in few["content"]


def test_a_gate_takes_a_deprecation_window(modern: Agent, tmp_path: Path) -> None:
    address = str(tmp_path / "own.db")
    for version, names in (("1.0", "fg"), ("2.0", "f")):
        header = tmp_path / version / "api.h"
        header.parent.mkdir()
        header.write_text("".join(f"int {name}(void);\n" for name in names))
        built = build_library("".join(f"int {name}(void) {{ return 1; }}\n" for name in names), soname=f"own.{version}")
        options = ExtractOptions(library="libown", headers=HeaderOptions((header,)))
        ingest(built, IngestPlan(version=version, options=options), database=address)
    own = modern.set(database=address)
    asked = {"library": "libown", "version": "2.0", "against": "1.0"}
    assert not own("abi_gate", **asked, require_evidence="none")["would_fail"]
    window = own("abi_gate", **asked, require_evidence="none", deprecation="2 minor")
    assert window["would_fail"]
    assert any("deprecated" in said for said in window["reasons"])
    assert own.refused("abi_gate", **asked, deprecation="soon")["code"] == "INVALID_ARGUMENT"
    refused = own.refused("abi_gate", comparison_id="123456", deprecation="2 minor")
    assert refused["error"] == "deprecation needs library"
