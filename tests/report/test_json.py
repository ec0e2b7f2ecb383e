"""The JSON report: versioned, described by the published schema, and read back without loss."""

from __future__ import annotations

import json

import jsonschema
import msgspec
import pytest

from abistore.cli.reference import schema
from abistore.model.findings import Churn, Comparison, Verdict
from abistore.report import render
from abistore.report.formats.json import encode
from abistore.report.model import Report, Style, formats
from abistore.report.outline import outline
from tests.report.comparisons import ADDED, MOVED, REMOVED, comparison, many

COMPARISONS = {
    "findings": comparison(MOVED, REMOVED, ADDED),
    "nothing": comparison(verdict=Verdict.NO_CHANGE, not_checked=False),
    "many": many(50),
}


@pytest.mark.parametrize("made", COMPARISONS.values(), ids=COMPARISONS)
def test_a_report_satisfies_the_published_schema(made: Comparison) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema("report")))
    validator.validate(json.loads(encode(outline(made, churn=Churn(1, 2, 3)))))
    validator.validate(json.loads(encode(outline(made))))


def test_the_schema_refuses_what_is_no_report() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema("report")))
    document = json.loads(encode(outline(COMPARISONS["findings"])))
    assert not validator.is_valid({**document, "verdict": "FINE"})
    assert not validator.is_valid({name: value for name, value in document.items() if name != "not_checked"})


@pytest.mark.parametrize("made", COMPARISONS.values(), ids=COMPARISONS)
def test_a_report_is_read_back_without_loss(made: Comparison) -> None:
    report = outline(made, churn=Churn(1, 2, 3))
    assert msgspec.json.decode(encode(report), type=Report) == report


def test_a_report_has_what_machines_ask_for() -> None:
    document = json.loads(render(outline(COMPARISONS["findings"]), "json", Style()))
    assert document["status"] == "ok"
    assert document["schema"] == 1
    assert document["verdict"] == "BREAKING"
    assert document["exit_code"] == 4
    assert document["summary"] == {
        "breaking": 2,
        "api_breaks": 0,
        "risk_changes": 0,
        "compatible": 1,
        "total_changes": 3,
    }
    change = document["changes"][0]
    assert change["kind"] == "struct_field_offset_changed"
    assert (change["symbol"], change["part"], change["impact"]) == ("geo::Shape", "y", "breaking")
    assert (change["old_value"], change["new_value"]) == ("offset 4", "offset 8")
    assert change["source_location"] == "geo.h:7"
    assert change["affected"] == ["_ZN3geo4areaERKNS_5ShapeE", "norm"]
    assert [consequence["kind"] for consequence in change["consequences"]] == ["type_size_changed"]
    assert document["not_checked"][0]["reason"] == "no-debug-info"
    assert document["suppressed_count"] == 0


def test_identities_are_distinct_and_stay_when_other_findings_come() -> None:
    few = [change.id for change in outline(comparison(MOVED, REMOVED)).changes]
    more = [change.id for change in outline(comparison(ADDED, MOVED, REMOVED, REMOVED)).changes]
    assert len(set(more)) == 4
    assert set(few) <= set(more)


def test_formats_are_found_by_their_modules() -> None:
    assert {"json", "text"} <= set(formats())
    for format in formats():
        assert render(outline(COMPARISONS["findings"]), format, Style())
