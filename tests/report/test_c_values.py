"""Every report shows values of C as C spells them."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from abistore.mcp.answers import change_item
from abistore.model.declarations import Name
from abistore.report import render
from abistore.report.model import Style
from abistore.report.outline import outline
from abistore.report.wording import concern
from tests.report.comparisons import MOVED, comparison

FOUND = replace(
    MOVED,
    name=Name("function", "norm"),
    part="parameter 1",
    old_value="point*",
    new_value="spot*",
    in_c=("struct point*", "spot*"),
    consequences=(),
)
REPORT = outline(comparison(FOUND))


@pytest.mark.parametrize("format", ["text", "markdown", "html", "github", "junit", "sarif"])
def test_a_report_has_the_keywords_of_tags(format: str) -> None:
    assert "struct point*" in render(REPORT, format, Style())


def test_json_has_both_spellings() -> None:
    (change,) = json.loads(render(REPORT, "json", Style()))["changes"]
    assert (change["old_value"], change["in_c"]) == ("point*", ["struct point*", "spot*"])


def test_json_has_one_spelling_where_c_has_no_other() -> None:
    (change,) = json.loads(render(outline(comparison(MOVED)), "json", Style()))["changes"]
    assert "in_c" not in change


def test_agents_read_values_as_c_spells_them() -> None:
    assert change_item(REPORT.changes[0], "summary").old_value == "struct point*"


@pytest.mark.parametrize("text", ["struct point", "point*"])
def test_a_finding_is_found_by_either_spelling(text: str) -> None:
    assert concern(REPORT.changes[0], text) == "value"
