"""``abi_whatif``: what the command line says of an edit, for agents."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

import abistore
from abistore.report.plain import plain
from tests.build import build_library
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


IDIOM = """typedef struct {{ int kind; int size; }} part;
typedef struct {{ part first; int level; unsigned reserved[2]; {} }} options;
"""
USE = "int use(options *one, part *other) { return one->level + other->size; }\n"
TAGGED = "struct options { part first; int level; unsigned reserved[2]; unsigned more; };"
ANONYMOUS = "typedef struct { part first; int level; unsigned reserved[2]; unsigned more; } options;"


@pytest.fixture
def idiom(modern: Agent, tmp_path: Path) -> tuple[Agent, list[str]]:
    """An agent of a store whose library names its structs by typedefs alone, and the library's headers."""
    (tmp_path / "options.h").write_text(f"#pragma once\n{IDIOM.format('')}")
    (tmp_path / "use.h").write_text('#include "options.h"\nint use(options *one, part *other);\n')
    headers = [str(tmp_path / name) for name in ("use.h", "options.h")]
    library = build_library(IDIOM.format("") + USE, soname="libopt.so.1", name="libopt.so")
    database = tmp_path / "opt.db"
    options = abistore.ExtractOptions(headers=abistore.HeaderOptions.given(headers))
    with abistore.open_store(database, create=True) as store:
        (done,) = abistore.ingest(library, abistore.IngestPlan(version="1.0", options=options), database=store)
        assert done.status == "stored", done.error
        abistore.set_baseline("libopt@1.0", abistore.BaselinePlan(reason="first"), database=store)
    return modern.set(database=str(database)), headers


@pytest.mark.parametrize("declaration", [TAGGED, ANONYMOUS])
@pytest.mark.parametrize("given", [(), (0, 1), (1, 0)])
def test_a_declaration_is_judged_as_the_patch_of_the_same_edit(
    given: tuple[int, ...], declaration: str, idiom: tuple[Agent, list[str]]
) -> None:
    """A field of a type that has its name from a typedef seemed to change, and in headers the edit was lost."""
    agent, headers = idiom
    old = Path(headers[1]).read_text()
    new = old.replace("unsigned reserved[2];  }", "unsigned reserved[2]; unsigned more; }")
    patch = "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "a/options.h", "b/options.h"))
    patched = agent("abi_whatif", library="libopt", header_patch=patch, headers=headers)
    read = {"headers": [headers[number] for number in given]} if given else {}
    told = agent("abi_whatif", library="libopt", declaration=declaration, **read)
    assert told["edited"] == patched["edited"] == ["options"]
    (first,), (other,) = told["baselines"], patched["baselines"]
    assert [each["id"] for each in first["changes"]] == [each["id"] for each in other["changes"]]
    assert first["ways"][0]["title"] == "put more into the reserved field reserved, at offset 12"
    assert first["room"] == other["room"]


def test_it_leads_on_to_the_findings(modern: Agent) -> None:
    told = modern("abi_whatif", library="libgeo", declaration=WIDER)
    found = modern("abi_findings", comparison_id=told["comparison_id"])
    assert [each["kind"] for each in found["items"]] == ["type_field_added"]
    assert told["next"][0]["arguments"]["comparison_id"] == told["comparison_id"]
