"""The statement of a release: one sentence, then bumps, baselines, exports, approvals and what nobody checked."""

from __future__ import annotations

from datetime import date
from typing import Any

import jsonschema
import pytest

from abistore import interface
from abistore.interface import ApprovalPlan, approve, verdict
from abistore.model.envelope import Envelope
from abistore.model.findings import Verdict
from abistore.model.history import IngestRequest
from abistore.model.statements import ReleaseStatement
from abistore.report.ledgers import as_text, statement_tables
from abistore.report.plain import plain
from abistore.service.database import open_store
from abistore.store.store import Store
from tests.statement_schema import PUBLISHED, STATEMENTS
from tests.store.builders import ARM
from tests.store.test_ledger import LINE, release, stored
from tests.store.test_lines import release as plain_release

DAY = date(2026, 1, 1)


def statement(reference: str, **words: Any) -> ReleaseStatement:
    """A statement, which the published schema describes completely, whatever it states."""
    found = interface.statement(reference, **words)
    STATEMENTS.validate(answer(found))
    return found


def answer(found: ReleaseStatement) -> dict[str, Any]:
    concluded = found.outcome, found.exit_code, found.verdict
    answer: dict[str, Any] = plain(Envelope("abistore/verdict/1", *concluded, {"statement": found}, (), None))
    return answer


def told(found: ReleaseStatement) -> str:
    return as_text(statement_tables(found))


def test_a_careless_minor_release_is_not_allowed_and_its_sentence_says_what_to_do(address: str) -> None:
    stored(address, release("f", "g"), release("f", "h")).close()
    found = statement("libgeo@1.1", database=address)
    assert found.sentence == (
        "FAIL: 1.1 removes 1 function under the same SONAME: release it as 2.0 and bump the SONAME, or restore it"
    )
    assert (found.verdict, found.outcome, found.exit_code) == (Verdict.BREAKING, "fail", 4)
    (line,) = found.lines
    assert line.step is not None
    assert line.step.promise is not None
    assert (line.previous, line.step.promise.required, line.step.promise.declared) == ("1.0", "major", "minor")
    assert [each.display for each in line.new_exports] == ["h"]
    assert [each.display for each in line.removed_exports] == ["g"]
    assert line.exports == 3
    assert told(found).splitlines()[:2] == [
        found.sentence,
        "libgeo 1.1: BREAKING, outcome fail; policy strict_abi, no suppressions",
    ]
    assert statement("libgeo@1.1", database=address, today=DAY) == found


def test_a_break_of_an_older_supported_baseline_decides_though_the_last_step_is_fine(address: str) -> None:
    with stored(address, release("f"), release(), release()) as store:
        store.set_baseline(LINE, "lts", "1.0")
    found = statement("libgeo", database=address)
    assert (found.version, found.outcome) == ("1.2", "fail")
    assert "1.2 removes 1 function" in found.sentence
    assert found.sentence.endswith("; compared with 1.1, the previous release: PASS: 1.2 does not break 1.1")
    assert (found.lines[0].previous, found.lines[0].decision.against.version) == ("1.1", "1.0")
    (row,) = [line for line in told(found).splitlines() if "  same  " in line]
    assert row.endswith("  pass")
    assert "! fails compared with 1.0" in told(found)


def test_an_accepted_step_is_told_beside_the_older_baseline_that_refuses_the_release(address: str) -> None:
    with stored(address, release("f", "g"), release("g"), release()) as store:
        store.set_baseline(LINE, "lts", "1.0")
    with open_store(address) as store:
        (finding,) = [
            each for each in verdict("libgeo@1.2", database=store).report.changes if each.impact == "breaking"
        ]
    approve(finding.id, ApprovalPlan(reason="nobody calls it", approver="ana", today=DAY), database=address)
    found = statement("libgeo", database=address, today=DAY)
    assert (found.outcome, found.lines[0].decision.against.version) == ("fail", "1.0")
    step = "compared with 1.1, the previous release: PASS: 1 finding approved by ana: nobody calls it"
    assert found.sentence.endswith(f"; {step}")
    assert "not allowed" not in told(found)


def test_a_step_that_another_line_refuses_is_not_said_to_break_nothing(address: str) -> None:
    with Store.open(address, write=True) as store:
        for version, arm, exports in (("1.0", "fgh", "f"), ("1.1", "h", "fg"), ("1.2", "h", "f")):
            store.ingest(plain_release(*arm, target=ARM), IngestRequest(version))
            store.ingest(plain_release(*exports), IngestRequest(version))
    found = statement("libgeo", database=address)
    decided = [line.decision.against.version for line in found.lines]
    assert (found.outcome, decided) == ("fail", ["1.0", "1.1"])
    assert "1.2 removes 2 functions" in found.sentence
    assert "breaks nothing" not in found.sentence


def test_the_first_release_is_called_so_and_nothing_is_said_to_be_compatible(address: str) -> None:
    stored(address, release("f")).close()
    found = statement("libgeo@1.0", database=address)
    assert found.sentence == "PASS: libgeo 1.0 is the first release of its line: there is no previous release"
    assert (found.verdict, found.lines[0].previous, found.lines[0].new_exports) == (None, None, ())
    assert "libgeo 1.0: no verdict for the first release, outcome pass; " in told(found)
    assert "Exports: 2" in told(found)


def test_a_missing_line_is_said_in_the_sentence_and_the_release_is_not_known_to_be_allowed(address: str) -> None:
    with Store.open(address, write=True) as store:
        for version, exports in (("1.0", "fg"), ("1.1", "fgh")):
            store.ingest(plain_release(*exports), IngestRequest(version))
        store.ingest(plain_release("f", "g", target=ARM), IngestRequest("1.0"))
    found = statement("libgeo@1.1", database=address)
    assert "1 of 2 lines is missing (elf-aarch64-64-little default)" in found.sentence
    assert (found.verdict, found.outcome, found.exit_code) == (None, "undecided", 72)
    assert "MISSING" in told(found)


def test_a_break_on_one_line_is_the_sentence_and_names_its_line(address: str) -> None:
    with Store.open(address, write=True) as store:
        for version, exports in (("1.0", "fg"), ("1.1", "fgh")):
            store.ingest(plain_release(*exports), IngestRequest(version))
        store.ingest(plain_release("f", "g", target=ARM), IngestRequest("1.0"))
        store.ingest(plain_release("f", target=ARM), IngestRequest("1.1"))
    found = statement("libgeo@1.1", database=address)
    assert found.sentence.startswith("FAIL: 1.1 removes 1 function")
    assert found.sentence.endswith(", on elf-aarch64-64-little")
    assert (found.verdict, found.outcome) == (Verdict.BREAKING, "fail")


def test_who_accepted_what_and_until_when_is_stated_and_lapses_on_its_day(address: str) -> None:
    stored(address, release("f", "g"), release("f")).close()
    with open_store(address) as store:
        (finding,) = [
            each for each in verdict("libgeo@1.1", database=store).report.changes if each.impact == "breaking"
        ]
    plan = ApprovalPlan(reason="nobody calls it", ticket="GEO-7", approver="ana", until="2026-06-30", today=DAY)
    approve(finding.id, plan, database=address)
    found = statement("libgeo@1.1", database=address, today=DAY)
    assert (found.verdict, found.outcome, found.today) == (Verdict.BREAKING, "pass", DAY)
    assert found.sentence.startswith("PASS: 1 finding approved by ana until 2026-06-30 (GEO-7)")
    (one,) = {(each.name, each.state, each.approver, each.reason, each.until) for each in found.lines[0].approvals}
    assert one == ("g", "approved", "ana", "nobody calls it", "date:2026-06-30")
    late = statement("libgeo@1.1", database=address, today=date(2026, 7, 1))
    assert late.outcome == "fail"
    assert {each.state for each in late.lines[0].approvals} == {"lapsed"}
    assert "no longer approved" in told(late)


def test_what_was_not_checked_is_stated_with_its_reason(address: str) -> None:
    stored(address, release("f"), release("f", fields=None)).close()
    found = statement("libgeo@1.1", database=address)
    assert found.sentence.startswith("PASS: 1.1 does not break 1.0; in what could be checked: layout not compared")
    assert {(each.against, each.facet, each.side) for each in found.lines[0].not_checked} >= {("1.0", "layout", "new")}
    assert ("any", "source") in {(each.against, each.facet) for each in found.lines[0].not_checked}
    assert "was read without headers" in told(found)


@pytest.mark.parametrize("soname", [1, 2])
def test_a_bumped_soname_allows_what_a_kept_one_does_not(address: str, soname: int) -> None:
    stored(address, release("f", "g"), release("f", soname=soname)).close()
    found = statement("libgeo@1.1", database=address)
    assert (found.outcome == "pass") is (soname == 2)
    assert ("this is allowed: SONAME changed from .1 to .2" in found.sentence) is (soname == 2)


def test_the_schema_refuses_what_is_no_statement(address: str) -> None:
    stored(address, release("f", "g"), release("f")).close()
    stated = answer(statement("libgeo@1.1", database=address))
    published = jsonschema.Draft202012Validator(PUBLISHED)
    told = stated["data"]["statement"]
    assert published.is_valid({**stated, "data": {"statement": {**told, "later": 1}}})
    assert not published.is_valid({**stated, "later": 1})
    for wrong in ({"verdict": "FINE"}, {"outcome": "yes"}, {"lines": [{}]}):
        assert not published.is_valid({**stated, "data": {"statement": {**told, **wrong}}})
    for missing in ("sentence", "outcome", "lines", "policy"):
        left = {name: value for name, value in told.items() if name != missing}
        assert not published.is_valid({**stated, "data": {"statement": left}}), missing
