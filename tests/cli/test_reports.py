"""Choosing a report's format, mode and file on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from abistore.report.model import formats
from tests.build import build_library
from tests.cli.conftest import OLD, Call

pytestmark = pytest.mark.fast

FILES = {
    "report.html": "<!doctype html>",
    "report.sarif": '{\n  "$schema"',
    "report.md": "## libcase",
    "report.json": '{\n  "schema": "abistore/compare/1"',
    "report.xml": "<?xml",
    "report.txt": "libcase",
}


@pytest.mark.parametrize("name", FILES)
def test_a_files_name_tells_the_format(abistore: Call, old: Path, new: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    done = abistore("compare", old, new, "-o", file)
    assert done.code == 4
    assert file.read_text().startswith(FILES[name])
    assert done.out.count("\n") == 1
    assert "BREAKING" in done.out


def test_a_format_wins_over_the_files_name(abistore: Call, old: Path, new: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    assert abistore("compare", old, new, "--format", "junit", "--output", file).code == 4
    assert ElementTree.parse(file).getroot().tag == "testsuites"


def test_json_is_printed_beside_a_file_of_another_format(abistore: Call, old: Path, new: Path, tmp_path: Path) -> None:
    done = abistore("compare", old, new, "--json", "-o", tmp_path / "report.sarif")
    assert done.json["verdict"] == "BREAKING"
    assert json.loads((tmp_path / "report.sarif").read_text())["version"] == "2.1.0"


def test_quiet_prints_nothing_beside_a_file(abistore: Call, old: Path, new: Path, tmp_path: Path) -> None:
    assert abistore("compare", old, new, "-q", "-o", tmp_path / "report.md").out == ""


def test_a_file_that_cannot_be_written_is_an_output_error(abistore: Call, old: Path, new: Path, tmp_path: Path) -> None:
    done = abistore("compare", old, new, "-o", tmp_path / "missing" / "report.html")
    assert done.code == 73
    assert "cannot be written" in done.err


@pytest.mark.parametrize("format", formats())
def test_every_format_is_printed_with_the_verdicts_exit_code(abistore: Call, old: Path, new: Path, format: str) -> None:
    done = abistore("compare", old, new, "--format", format)
    assert done.code == 4
    assert "gone" in done.out


def test_each_mode_of_text_shows_what_it_is_for(stored: Call) -> None:
    stat = stored("verdict", "libcase@2.0", "--mode", "stat")
    assert stat.code == 4
    assert stat.out.count("\n") == 1
    assert "affected; the old side has" in stored("verdict", "libcase@2.0", "--mode", "impact").out
    assert "breaking  point" in stored("verdict", "libcase@2.0", "--mode", "leaf").out


def test_a_mode_that_a_format_has_not_is_refused(abistore: Call, old: Path, new: Path) -> None:
    done = abistore("compare", old, new, "--mode", "leaf", "--format", "sarif")
    assert done.code == 64
    assert "mode leaf is not for sarif" in done.err


def test_a_record_is_shown_as_its_programmer_writes_it(abistore: Call, old: Path, new: Path) -> None:
    lines = [line.strip() for line in abistore("compare", old, new).out.splitlines()]
    assert "struct point {" in lines
    assert any(line.startswith("+     int z;") and line.endswith("// 8") for line in lines)


def test_a_report_tells_its_kinds_and_declarations(abistore: Call, old: Path, new: Path) -> None:
    report = abistore("compare", old, new, "--json").json
    cards = {card["kind"]: card for card in report["kinds"]}
    assert {change["kind"] for change in report["changes"]} <= set(cards)
    assert cards["func_removed"]["action"] == "removed"
    point = next(each for each in report["declarations"] if each["symbol"] == "point")
    assert [(each["name"], each["offset"], each["length"]) for each in point["layout_after"]["members"]] == [
        ("x", 0, 32),
        ("y", 32, 32),
        ("z", 64, 32),
    ]


def test_a_report_has_the_gate_that_was_asked_for(abistore: Call, old: Path, new: Path) -> None:
    done = abistore("compare", old, new, "--format", "junit", "--fail-on", "never")
    assert done.code == 0
    assert "<failure" not in done.out


@pytest.mark.parametrize("format", ["text", "markdown", "html", "github", "junit", "sarif", "json"])
def test_every_report_tells_that_two_different_libraries_were_compared(abistore: Call, old: Path, format: str) -> None:
    other = build_library(OLD, soname="libother.so.1")
    done = abistore("compare", old, other, "--format", format)
    said = "these libraries have different names: libcase.so.1 and libother.so.1"
    assert said in done.out
    assert done.err == ("" if format == "json" else f"note: {said}\n")
    assert abistore("compare", old, other, "-q").err == ""
    assert said not in abistore("compare", old, old, "--format", format).out


def test_sarif_links_to_where_the_documentation_is_published(
    abistore: Call, old: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = '"helpUri": "https://example.org/abi/reference/kinds/func_removed.html"'
    assert link in abistore("compare", old, new, "--format", "sarif", "--docs-base", "https://example.org/abi").out
    monkeypatch.setenv("ABISTORE_DOCS_BASE", "https://example.org/abi/reference/kinds/{kind}.html")
    assert link in abistore("compare", old, new, "--format", "sarif").out


@pytest.mark.parametrize("docs", ["docs", "example.org/x", "javascript:alert(1)", "http://[", "https://a b"])
def test_an_address_of_documentation_that_is_none_is_refused(abistore: Call, old: Path, new: Path, docs: str) -> None:
    done = abistore("compare", old, new, "--docs-base", docs)
    assert done.code == 64
    assert "not the address of documentation" in done.err
