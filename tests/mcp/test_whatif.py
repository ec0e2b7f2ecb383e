"""``abi_whatif``: what the command line says of an edit, for agents."""

from __future__ import annotations

import difflib
from pathlib import Path

import abistore
from abistore.report.plain import plain
from tests.mcp.conftest import Agent

WIDER = "struct point { int z; int x, y; };"


def test_a_declaration_is_judged_against_the_baselines(agent: Agent) -> None:
    found = agent("abi_whatif", library="libgeo", declaration=WIDER)
    assert (found["verdict"], found["exit_code"], found["edited"]) == ("BREAKING", 4, ["point"])
    (baseline,) = found["baselines"]
    assert baseline["reference"] == "libgeo@1.0"
    assert baseline["channels"] == ["release"]
    assert [change["kind"] for change in baseline["changes"]] == ["type_field_added"]
    assert found["headline"].startswith("BREAKING for libgeo@1.0 (baseline release)")


def test_a_patch_needs_its_headers_and_is_judged_with_them(modern: Agent, tmp_path: Path) -> None:
    old = "struct point { int x, y; };\nint norm(const struct point *p);\n"
    new = old.replace("int x, y;", "int z; int x, y;")
    (tmp_path / "geo.h").write_text(old)
    patch = "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a/geo.h", "b/geo.h"))
    refused = modern.refused("abi_whatif", library="libgeo", header_patch=patch)
    assert "header" in refused["error"]
    found = modern("abi_whatif", library="libgeo", header_patch=patch, headers=[str(tmp_path)])
    assert (found["verdict"], found["edited"]) == ("BREAKING", ["point"])


def test_it_says_what_python_says(modern: Agent, stored: Path) -> None:
    plan = abistore.WhatIfPlan(declarations=(WIDER,))
    found = abistore.whatif("libgeo@1.0", plan, database=stored)
    told = modern("abi_whatif", library="libgeo@1.0", declaration=WIDER)
    assert (told["verdict"], told["exit_code"], told["edited"]) == (found.verdict, found.exit_code, list(found.edited))
    (judged,), (baseline,) = found.judged, told["baselines"]
    assert [way["title"] for way in baseline.get("ways", [])] == [way.title for way in judged.ways][:3]
    assert baseline["total"] == len(plain(judged.report)["changes"])


def test_files_below_no_root_are_not_read(modern: Agent, tmp_path: Path) -> None:
    (tmp_path / "geo.h").write_text("struct point { int x, y; };\n")
    refused = modern.set(read_roots=()).refused(
        "abi_whatif", library="libgeo", declaration=WIDER, headers=[str(tmp_path)]
    )
    assert refused["code"] == "PATH_DENIED"


def test_without_headers_no_file_is_needed(modern: Agent) -> None:
    """A server that reads no files judges a declaration all the same."""
    found = modern.set(read_roots=())("abi_whatif", library="libgeo", declaration=WIDER)
    assert found["verdict"] == "BREAKING"
