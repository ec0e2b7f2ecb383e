"""SARIF: valid by the official schema, traceable to rules and header lines.

``sarif-2.1.0.json`` is the schema of the SARIF SDK, from the npm package ``@microsoft/sarif-multitool-linux`` 5.7.0
(MIT licence).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

from abistore.model.findings import Comparison, Verdict
from abistore.model.kind_names import kind_of
from abistore.report import render
from abistore.report.model import Report, Style
from abistore.report.outline import outline
from abistore.report.reasons import said
from tests.report.comparisons import comparison, many
from tests.report.golden import report

VALIDATOR = jsonschema.Draft202012Validator(json.loads((Path(__file__).parent / "sarif-2.1.0.json").read_text()))


def sarif(made: Report) -> dict[str, Any]:
    document = json.loads(render(made, "sarif", Style()))
    assert isinstance(document, dict)
    return document


@pytest.fixture(scope="module")
def run() -> dict[str, Any]:
    found = sarif(report())["runs"][0]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    "made", [outline(many(20)), outline(comparison(verdict=Verdict.NO_CHANGE)), report()], ids=["many", "none", "all"]
)
def test_a_log_satisfies_the_official_schema(made: Report) -> None:
    VALIDATOR.validate(sarif(made))


def test_the_official_schema_refuses_what_is_no_log() -> None:
    document = sarif(report())
    document["runs"][0]["results"][0]["level"] = "fatal"
    assert not VALIDATOR.is_valid(document)


def test_each_result_names_its_rule(run: dict[str, Any]) -> None:
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({rule["id"] for rule in rules})
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    removed = next(rule for rule in rules if rule["id"] == "func_removed")
    assert removed["shortDescription"]["text"] == "An exported function was removed."
    assert "Fix: keep the function" in removed["help"]["text"]
    assert removed["defaultConfiguration"]["level"] == "error"


def test_each_rule_has_an_absolute_address(run: dict[str, Any]) -> None:
    assert all(urlsplit(rule["helpUri"]).scheme for rule in run["tool"]["driver"]["rules"])


def test_results_point_at_headers_and_else_at_the_library(run: dict[str, Any]) -> None:
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert places[0] == {
        "artifactLocation": {"uri": "include/geo%7Cshape.h", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 12},
    }
    assert places[2]["artifactLocation"] == {"uri": "file:///usr/include/geo%20norm.h"}
    assert places[3] == {"artifactLocation": {"uri": "include/mode.h", "uriBaseId": "SRCROOT"}}
    assert places[4] == {"artifactLocation": {"uri": "libgeo.so.1"}}
    assert "SRCROOT" in run["originalUriBaseIds"]


def test_levels_follow_impacts(run: dict[str, Any]) -> None:
    levels = {result["properties"]["impact"]: result["level"] for result in run["results"]}
    assert levels == {"breaking": "error", "api_break": "error", "risk": "warning", "compatible": "note"}


def test_fingerprints_are_distinct_and_the_findings_identities(run: dict[str, Any]) -> None:
    prints = [result["partialFingerprints"]["abistoreChange/v2"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    assert set(prints) == {change.id for change in (*report().changes, *report().suppressed)}


def test_suppressed_findings_are_there_and_say_so(run: dict[str, Any]) -> None:
    suppressed = [result for result in run["results"] if "suppressions" in result]
    assert suppressed[0]["suppressions"] == [
        {
            "kind": "external",
            "status": "accepted",
            "justification": "never *documented*, no user found | TICKET-17",
            "properties": {"suppressedBy": "internal <names> (known.yaml, entry 1)", "expires": "2027-01-31"},
        }
    ]
    assert len(suppressed) == report().suppressed_count


def test_what_was_not_checked_is_a_notification(run: dict[str, Any]) -> None:
    *decision, gap, guess, advice, note, remark = run["invocations"][0]["toolExecutionNotifications"]
    assert [each["message"]["text"] for each in decision] == [f"{each}." for each in said(report())]
    assert decision[0]["message"]["text"].startswith("FAIL: ")
    assert {each["descriptor"]["id"] for each in decision} == {"decision"}
    assert (gap["descriptor"]["id"], advice["descriptor"]["id"]) == (
        "unequal-evidence",
        "advice/soname_bump_recommended",
    )
    assert guess["descriptor"]["id"] == "guessed"
    assert remark["message"]["text"].startswith("Note: the policy is read")
    assert "1 of 4 exports is not described" in note["message"]["text"]
    assert note["descriptor"]["id"] == "not-checked/partial-debug-info"


def test_an_exit_code_is_told(run: dict[str, Any]) -> None:
    made: Comparison = comparison(verdict=Verdict.NO_CHANGE)
    assert run["invocations"][0]["exitCode"] == 4
    assert sarif(outline(made))["runs"][0]["invocations"][0]["exitCode"] == 0


@pytest.mark.parametrize(
    ("docs", "address"),
    [
        ("https://example.org/abistore/", "https://example.org/abistore/reference/kinds/{kind}.html"),
        ("https://example.org/{kind}.html", "https://example.org/{kind}.html"),
        ("", "urn:abistore:kind:{kind}"),
    ],
)
def test_rules_link_to_the_published_documentation(docs: str, address: str) -> None:
    document = json.loads(render(report(), "sarif", Style(docs=docs)))
    VALIDATOR.validate(document)
    rules = document["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["helpUri"] for rule in rules] == [address.replace("{kind}", kind_of(rule["id"])) for rule in rules]


def test_the_page_of_a_rule_is_in_the_report(run: dict[str, Any]) -> None:
    pages = [rule["help"]["markdown"] for rule in run["tool"]["driver"]["rules"] if "help" in rule]
    assert pages
    assert all("**Fix:**" in page and "**Impact:**" in page and "abistore explain" in page for page in pages)
