"""The four tools that the field knows: their names, arguments, envelopes and texts of errors."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import ResourceLink

from abistore.interface import ExtractOptions, dump
from abistore.mcp.settings import FORMATS
from tests.build import NARROW, build_library
from tests.mcp.conftest import OLD, Agent

CHANGE = {"id", "kind", "symbol", "description", "impact", "old_value", "new_value", "source_location"}
SUMMARY = {"breaking", "api_breaks", "risk_changes", "compatible", "total_changes"}


def test_a_comparison_has_the_established_keys(agent: Agent) -> None:
    answer = agent("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0")
    assert (answer["status"], answer["verdict"], answer["exit_code"]) == ("ok", "BREAKING", 4)
    assert answer["headline"].startswith("BREAKING: libgeo 1.0 -> libgeo 2.0: 2 breaking, 1 compatible")
    assert set(answer["summary"]) == SUMMARY
    assert answer["suppressed_count"] == 0
    assert [change["kind"] for change in answer["changes"]] == ["func_removed", "type_field_added", "func_added"]
    assert all(change.keys() >= CHANGE for change in answer["changes"])
    assert answer["changes"][0]["source_location"] == "case.c:4"


@pytest.mark.parametrize(
    ("old", "new", "verdict", "code"),
    [("1.0", "1.0", "NO_CHANGE", 0), ("1.0", "1.1", "COMPATIBLE", 0), ("1.0", "2.0", "BREAKING", 4)],
)
def test_verdict_and_exit_code_are_those_of_the_command(
    old: str, new: str, verdict: str, code: int, modern: Agent
) -> None:
    answer = modern("abi_compare", old_input=f"libgeo@{old}", new_input=f"libgeo@{new}", stat=True)
    assert (answer["verdict"], answer["exit_code"]) == (verdict, code)


def test_binaries_snapshots_and_stored_releases_are_compared_in_any_mixture(
    modern: Agent, libraries: dict[str, Path], tmp_path: Path
) -> None:
    snapshot = tmp_path / "old.json"
    snapshot.write_bytes(dump(libraries["1.0"], options=ExtractOptions(version="1.0")).json)
    for old in ("libgeo@1.0", "libgeo@baseline", str(libraries["1.0"]), str(snapshot)):
        for new in ("libgeo@latest", str(libraries["2.0"])):
            answer = modern("abi_compare", old_input=old, new_input=new)
            assert answer["verdict"] == "BREAKING"
            assert [change["kind"] for change in answer["changes"]] == [
                "func_removed",
                "type_field_added",
                "func_added",
            ]


def test_a_place_tells_no_folder_of_the_machine_that_built_the_library(
    modern: Agent, libraries: dict[str, Path]
) -> None:
    marked = '#line 7 "/home/builder/src/geo.c"\nint fresh(int a) { return a; }\n'
    built = build_library(OLD + marked, soname="libgeo.so.1", name="libgeo.so")
    (change,) = modern("abi_compare", old_input="libgeo@1.0", new_input=str(built))["changes"]
    assert change["source_location"] == "geo.c:7"


DECLARED = "struct point { int x, y; };\n\n\nint norm(const struct point *p);\nint gone(void);\n"


@pytest.fixture
def headers(tmp_path: Path) -> dict[str, str]:
    """The folder of the library's header, by what differs in it."""
    texts = {
        "old": DECLARED,
        "gone": DECLARED.replace("int gone(void);\n", ""),
        "renamed": DECLARED.replace("*p", "*q"),
    }
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "geo.h").write_text(text)
    return {name: str(tmp_path / name) for name in texts}


def test_a_place_is_that_of_the_header_that_declares(
    modern: Agent, libraries: dict[str, Path], headers: dict[str, str]
) -> None:
    sides = {"old_input": str(libraries["1.0"]), "new_input": str(libraries["2.0"])}
    named = {"old_headers": [headers["old"]], "new_headers": [headers["gone"]]}
    places = {each["symbol"]: each["source_location"] for each in modern("abi_compare", **sides, **named)["changes"]}
    assert (places["gone"], places[""]) == ("geo.h:5", None)


def test_a_source_break_has_exit_code_2_and_a_risk_0(
    modern: Agent, libraries: dict[str, Path], headers: dict[str, str]
) -> None:
    old = str(libraries["1.0"])
    renamed = build_library(OLD.replace("int x, y", "int x, w").replace("->y", "->w"), soname="libgeo.so.1")
    broken = modern("abi_compare", old_input=old, new_input=str(renamed))
    assert (broken["verdict"], broken["exit_code"]) == ("API_BREAK", 2)
    named = {"old_headers": [headers["old"]], "new_headers": [headers["renamed"]]}
    risky = modern("abi_compare", old_input=old, new_input=old, **named)
    assert (risky["verdict"], risky["exit_code"]) == ("COMPATIBLE_WITH_RISK", 0)


def test_the_leaf_mode_groups_changes_by_declaration(modern: Agent) -> None:
    sides = {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0", "output_format": "markdown"}
    full, leaf = (modern("abi_compare", **sides, report_mode=mode)["report"] for mode in ("full", "leaf"))
    assert "### 🔴 `point`" in leaf and "### 🔴 `gone`" in leaf
    assert "### 🔴 Breaking (2)" in full and "### 🔴 `point`" not in full


def test_one_line_is_short_and_has_no_changes(modern: Agent) -> None:
    answered = modern.call("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", stat=True)
    assert answered.document["changes"] == []
    assert len(answered.text) < 4 * 175
    line = modern("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", stat=True, output_format="markdown")
    assert line["report"] == line["headline"]
    assert "report" not in answered.document


def test_one_header_is_given_without_brackets(modern: Agent, libraries: dict[str, Path], tmp_path: Path) -> None:
    header = tmp_path / "geo.h"
    header.write_text("struct point { int x, y; };\nint norm(const struct point *p);\n")
    seen = [
        modern("abi_dump", library_path=str(libraries["1.0"]), headers=given)["summary"]["evidence"]
        for given in (str(header), [str(header)])
    ]
    assert seen[0] == seen[1]
    assert "source full" in str(seen[0]) or "source partial" in str(seen[0])


@pytest.mark.parametrize(
    ("tokens", "kinds"),
    [
        ("breaking", ["func_removed", "type_field_added"]),
        ("breaking,functions", ["func_removed"]),
        ("functions,added", ["func_added"]),
        (["types", "changed"], []),
        ("api-break", []),
        ("elf", []),
    ],
)
def test_show_only_chooses_what_is_shown_and_no_verdict(tokens: Any, kinds: list[str], modern: Agent) -> None:
    answer = modern("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", show_only=tokens)
    assert answer["verdict"] == "BREAKING"
    assert answer["summary"]["total_changes"] == 3
    shown = [change["kind"] for change in answer["changes"]]
    assert shown == (["type_field_added"] if tokens == ["types", "changed"] and shown else kinds)


def test_a_report_is_sent_in_the_format_asked_for(modern: Agent) -> None:
    sides = {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"}
    assert "report" not in modern("abi_compare", **sides)
    markdown = modern("abi_compare", **sides, output_format="markdown", show_impact=True)["report"]
    assert markdown.startswith("## libgeo 1.0")
    assert "2 exports affected" in markdown
    assert markdown.count("\n## ") == 0, "one report, and not another one before the table"
    assert json.loads(modern("abi_compare", **sides, output_format="sarif")["report"])["version"] == "2.1.0"
    assert modern("abi_compare", **sides, include_report=True)["report"]["verdict"] == "BREAKING"
    short = modern.set(max_response_units=4_000)("abi_compare", **sides, include_report=True)
    assert "read report_uri" in short["warnings"][-1]


def test_a_page_for_people_is_sent_as_a_link(modern: Agent) -> None:
    answered = modern.call("abi_compare", old_input="libgeo@1.0", new_input="libgeo@2.0", output_format="html")
    uri = f"abistore://comparisons/{answered.document['comparison_id']}/report.html"
    assert answered.document["report_uri"] == uri
    assert "report" not in answered.document
    (link,) = [block for block in answered.result.content if isinstance(block, ResourceLink)]
    assert (str(link.uri), link.mime_type) == (uri, "text/html")

    async def read(client: Client) -> str:
        return str((await client.read_resource(uri)).contents[0].text)

    assert "<html" in modern.ask(read)


def test_a_policy_and_suppressions_move_the_verdict(modern: Agent, tmp_path: Path) -> None:
    accepted = tmp_path / "accepted.yaml"
    accepted.write_text("suppressions:\n  - symbol: gone\n    reason: nobody called it\n")
    sides = {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"}
    answer = modern("abi_compare", **sides, suppression_file=str(accepted))
    assert answer["suppressed_count"] == 1
    assert answer["comparison_id"] != modern("abi_compare", **sides)["comparison_id"]
    policy = tmp_path / "lenient.yaml"
    policy.write_text(
        "overrides:\n  - change_kind: [func_removed, type_field_added, type_size_changed]\n"
        "    impact: risk\n    reason: known\n"
    )
    judged = modern("abi_compare", **sides, policy_file=str(policy), policy="sdk_vendor")
    assert (judged["verdict"], judged["policy"]) == ("COMPATIBLE_WITH_RISK", "lenient")
    assert {change["impact"] for change in judged["changes"]} == {"risk", "compatible"}


HEADER = "struct point;\nint norm(const struct point *p);\n"


@pytest.fixture
def include(tmp_path: Path) -> Path:
    """A folder with a header of the library, and one that it includes."""
    for name, text in (("api/geo.h", f"#include <part.h>\n{HEADER}"), ("more/part.h", "typedef int part;\n")):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def source(side: dict[str, Any]) -> str:
    """What a side says of its headers."""
    return next((each for each in side["evidence"] if each.startswith("source")), "")


def test_headers_are_read_for_the_sides_that_they_are_named_for(
    modern: Agent, libraries: dict[str, Path], include: Path
) -> None:
    sides = {"old_input": str(libraries["1.0"]), "new_input": str(libraries["2.0"])}
    folders = {"include_dirs": [str(include / "more")], "language": "c"}
    header = [str(include / "api" / "geo.h")]
    for arguments, old, new in (
        ({}, "", ""),
        ({"headers": header}, "full", "full"),
        ({"headers": [str(include / "api")]}, "full", "full"),
        ({"old_headers": header}, "full", ""),
        ({"new_headers": header}, "", "full"),
        ({"old_headers": header, "new_headers": header}, "full", "full"),
        ({"headers": [f"libgeo={header[0]}"]}, "full", "full"),
    ):
        answer = modern("abi_compare", **sides, **arguments, **(folders if arguments else {}))
        assert [source(answer[side]).split(" ")[1:2] for side in ("old", "new")] == [
            [state] if state else [] for state in (old, new)
        ], arguments
    stored = {"old_input": "libgeo@1.0", "new_input": str(libraries["2.0"])}
    assert "full" in source(modern("abi_compare", **stored, headers=header, **folders)["new"])
    dumped = modern("abi_dump", library_path=str(libraries["1.0"]), headers=header, **folders)
    assert "source full (from headers)" in dumped["summary"]["evidence"]


def test_what_is_wrong_with_headers_is_told(modern: Agent, libraries: dict[str, Path], include: Path) -> None:
    library = {"library_path": str(libraries["1.0"])}
    error = modern.refused("abi_dump", **library, headers=[f"libother={include / 'api'}"])
    assert "headers were given for libother" in error["error"]
    error = modern.refused("abi_dump", **library, headers=["libgeo=api"])
    assert error["code"] == "INVALID_ARGUMENT"
    error = modern.refused("abi_dump", **library, headers=[str(include / "api")])
    assert (error["code"], str(include) in error["error"]) == ("EXTRACTION_FAILED", False)
    assert "part.h" in error["error"]
    error = modern.refused("abi_dump", **library, include_dirs=[str(include)])
    assert (error["code"], error["error"]) == ("INVALID_ARGUMENT", "include_dirs are for headers, and none are given")
    stored = {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"}
    error = modern.refused("abi_compare", **stored, headers=[str(include / "api")])
    assert (error["code"], "is stored" in error["error"]) == ("INVALID_ARGUMENT", True)


def test_headers_are_recorded_with_a_release_and_count_in_its_digest(
    modern: Agent, libraries: dict[str, Path], include: Path
) -> None:
    library = {"library_path": str(libraries["1.0"])}
    headers = {"headers": [str(include / "api")], "include_dirs": [str(include / "more")]}
    plain, first = modern("abi_dump", **library), modern("abi_dump", **library, **headers, inline=True)
    assert first["snapshot"]["provenance"]["headers"]["files"] == ["geo.h"]
    (include / "api" / "geo.h").write_text(f"{HEADER}int more(void);\n")
    second = modern("abi_dump", **library, **headers)
    assert len({plain["digest"], first["digest"], second["digest"]}) == 3


def test_platforms_that_no_verdict_is_about_are_not_comparable(modern: Agent, libraries: dict[str, Path]) -> None:
    narrow = build_library(OLD, flags=NARROW, soname="libgeo.so.1", name="libgeo.so")
    answer = modern("abi_compare", old_input=str(libraries["1.0"]), new_input=str(narrow))
    assert (answer["comparable"], answer["verdict"]) == (False, None)
    assert (answer["outcome"], answer["exit_code"]) == (None, 66)
    assert answer["changes"] == []
    assert "i386" in answer["reason"]


ERRORS: list[tuple[dict[str, Any], str, str]] = [
    ({"old_input": "/nowhere/a.so"}, "NOT_FOUND", "File not found for old_input"),
    ({"old_input": "a.so/b"}, "INVALID_ARGUMENT", "old_input is a relative path"),
    ({"old_input": "/dev/null"}, "INVALID_ARGUMENT", "old_input is not a regular file"),
    ({"policy": "foo"}, "UNKNOWN_POLICY", "Unknown policy: 'foo'. Valid policies: plugin_abi, sdk_vendor, strict_abi"),
    (
        {"output_format": "pdf"},
        "INVALID_ARGUMENT",
        "Unknown output format 'pdf'. Valid: ['html', 'json', 'markdown', 'sarif']",
    ),
    ({"show_only": "breaking,fast"}, "INVALID_ARGUMENT", "Invalid show_only: fast"),
    ({"old_input": "/etc/hostname"}, "UNSUPPORTED_FORMAT", f"Cannot detect input format. {FORMATS}"),
    ({"policy_file": "/nowhere/p.yaml"}, "NOT_FOUND", "File not found for policy_file"),
    ({"suppression_file": "s.yaml"}, "INVALID_ARGUMENT", "suppression_file is a relative path"),
    ({"headers": ["/nowhere/h.h"]}, "NOT_FOUND", "File not found for headers[0]"),
    ({"language": "rust"}, "INVALID_ARGUMENT", "Unknown language: 'rust'. Valid languages: c++, c"),
    ({"new_input": "libgeo@9"}, "NOT_FOUND", "libgeo@9: no such version"),
    ({"limit": 0}, "INVALID_ARGUMENT", "limit: input should be greater than or equal to 1"),
]


@pytest.mark.parametrize(("wrong", "code", "error"), ERRORS, ids=[error[2][:30] for error in ERRORS])
def test_what_is_wrong_is_said_as_the_field_says_it(
    wrong: dict[str, Any], code: str, error: str, modern: Agent
) -> None:
    refused = modern.refused("abi_compare", **{"old_input": "libgeo@1.0", "new_input": "libgeo@2.0", **wrong})
    assert (refused["code"], refused["error"]) == (code, error)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(modern: Agent, tmp_path: Path) -> None:
    large = tmp_path / "large.so"
    large.touch()
    os.truncate(large, 642_148_762)
    refused = modern.refused("abi_compare", old_input=str(large), new_input="libgeo@1.0")
    assert (refused["code"], refused["error"]) == ("FILE_TOO_LARGE", "old_input is 612.4 MB, exceeds limit of 500 MB")
    for name in ("policy_file", "suppression_file"):
        refused = modern.refused("abi_compare", old_input="libgeo@1.0", new_input="libgeo@1.1", **{name: str(large)})
        assert refused["error"] == f"{name} is 612.4 MB, exceeds limit of 500 MB"


def test_a_small_limit_is_said_in_bytes(modern: Agent, libraries: dict[str, Path]) -> None:
    """It was said in megabytes: 0 MB exceeds the limit of 0 MB."""
    library, limited = libraries["1.0"], modern.set(max_file_size=1_000)
    refused = limited.refused("abi_compare", old_input=str(library), new_input="libgeo@1.0")
    assert refused["error"] == f"old_input is {library.stat().st_size:,} bytes, exceeds limit of 1,000 bytes"


def test_a_pipe_that_nobody_writes_to_is_no_wait(modern: Agent, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.so"
    os.mkfifo(pipe)
    assert "not a regular file" in modern.refused("abi_dump", library_path=str(pipe))["error"]


def test_a_dump_is_told_in_numbers_and_whole_on_request(agent: Agent, libraries: dict[str, Path]) -> None:
    answer = agent("abi_dump", library_path=str(libraries["2.0"]), version="2.0")
    assert answer["summary"] == {
        "library": "libgeo",
        "version": "2.0",
        "platform": "elf-x86_64-64-little",
        "functions": 2,
        "variables": 0,
        "types": 1,
        "enums": 0,
        "evidence": ["symbol full (from file)", "layout full (from file)"],
    }
    assert "snapshot" not in answer
    whole = agent("abi_dump", library_path=str(libraries["2.0"]), inline=True)
    assert whole["snapshot"]["format"] == "abistore-snapshot"
    assert whole["digest"] == answer["digest"]


def test_of_a_folder_with_several_libraries_one_is_dumped_by_its_name(
    agent: Agent, libraries: dict[str, Path], tmp_path: Path
) -> None:
    for name in ("libone.so", "libtwo.so"):
        shutil.copy(build_library(f"int {name[3:6]}(void) {{ return 1; }}", soname=f"{name}.1", name=name), tmp_path)
    refused = agent.refused("abi_dump", library_path=str(tmp_path))
    assert "contains 2 libraries" in refused["error"]
    assert refused["hint"] == "choose one with only"
    assert agent("abi_dump", library_path=str(tmp_path), only="libtwo*")["summary"]["library"] == "libtwo"
    assert "--" not in agent.refused("abi_dump", library_path=str(tmp_path), only="libthree")["hint"]


def test_a_dump_without_debug_information_says_what_is_missing(modern: Agent) -> None:
    bare = build_library(OLD, flags=("-O1",), soname="libgeo.so.1", name="libgeo.so")
    answer = modern("abi_dump", library_path=str(bare))
    assert "layout missing: no-debug-info" in answer["summary"]["evidence"]
    assert any(warning.startswith("layout could not be seen") for warning in answer["warnings"])
    said = modern.refused("abi_dump", library_path=str(bare), headers=["/etc/hostname"])["error"]
    assert said == "the header does not parse: hostname cannot be parsed"


def test_the_kinds_are_counted_first_and_listed_by_filter(agent: Agent) -> None:
    counted = agent("abi_list_changes")
    assert counted["change_kinds"] == []
    assert sum(sum(numbers.values()) for numbers in counted["categories"].values()) == counted["count"]
    page = agent("abi_list_changes", impact="breaking", category="enums")
    assert page["count"] == len(page["change_kinds"]) == counted["categories"]["enums"]["breaking"]
    assert all(kind["default_verdict"] == "BREAKING" for kind in page["change_kinds"])
    assert "status" not in page


def test_all_kinds_are_reached_by_pages(modern: Agent) -> None:
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = modern("abi_list_changes", impact="breaking", limit=200, **cursor)
        seen += [kind["kind"] for kind in page["change_kinds"]]
        if "next_cursor" not in page:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert len(seen) == len(set(seen)) == page["count"]


def test_a_kind_is_explained(agent: Agent) -> None:
    answer = agent("abi_explain_change", change_kind="type_size_changed", kinds=["func_added"])
    established = {"kind", "impact", "default_verdict", "severity", "description", "fix_guidance"}
    assert answer.keys() >= established
    assert (answer["severity"], answer["default_verdict"]) == ("error", "BREAKING")
    assert answer["kinds"][0]["default_verdict"] == "COMPATIBLE"
    assert agent("abi_explain_change", change_kind="func_added")["severity"] == "warning"
    assert "pointer" in answer["fix_guidance"]


def test_an_unknown_kind_is_an_error_with_the_nearest(modern: Agent) -> None:
    assert modern("abi_explain_change", change_kind="TYPE_SIZE_CHANGED")["kind"] == "type_size_changed"
    assert modern.refused("abi_explain_change", change_kind="TYPE_SIZE_CHNGED")["hint"].startswith("did you mean")
    refused = modern.refused("abi_explain_change", change_kind="type_size_chnged")
    assert refused["code"] == "UNKNOWN_KIND"
    assert refused["error"] == (
        "Unknown change kind: 'type_size_chnged'. Use abi_list_changes to see all available kinds."
    )
    assert refused["hint"].startswith("did you mean type_size_changed")


def test_it_is_said_which_of_two_digests_a_write_expects(modern: Agent, libraries: dict[str, Path]) -> None:
    told = modern("abi_dump", library_path=str(libraries["1.0"]), inline=True)
    assert told["digest"] != told["snapshot"]["digest"]
    assert any(said.startswith("give digest, not snapshot.digest, as expected_digest") for said in told["warnings"])
    plain = modern("abi_dump", library_path=str(libraries["1.0"]))
    assert not any("snapshot.digest" in said for said in plain.get("warnings", ()))
