"""``explain`` and ``changes``: what each kind means, and what a stored finding is about."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from abistore.diffing.context import load
from abistore.diffing.rules import CASES
from abistore.errors import SnapshotNotFound
from abistore.interface import findings
from abistore.model.declarations import Name
from abistore.model.findings import Churn, Comparison, Finding, Impact, Verdict, identity
from abistore.model.history import StoredVerdict
from abistore.model.kind_names import kind_of
from abistore.service import kinds
from abistore.store.store import Store
from tests.cli.conftest import Call

pytestmark = pytest.mark.fast

KINDS = load()


def test_a_kind_is_explained_with_its_case(abistore: Call) -> None:
    done = abistore("explain", "func_removed")
    assert done.code == 0
    for part in ("func_removed: ", "Impact: breaking", "Fix: ", "Before:", "After:", "int drop(void)"):
        assert part in done.out
    assert "Stays silent" not in done.out
    assert "Stays silent" in abistore("explain", "func_removed", "-v").out


def test_an_explanation_as_json_has_the_case_as_markdown(abistore: Call) -> None:
    found = abistore("explain", "func-removed", "--json").json
    assert found["kind"] == "func_removed"
    assert "```c old" in found["example"]
    assert "```findings" in found["near_misses"]


def test_every_case_is_an_example_with_near_misses() -> None:
    shown = {path.stem: kinds.case(path.stem) for path in CASES.glob("*.md") if path.stem in KINDS}
    assert len(shown) > 100
    assert not [kind for kind, texts in shown.items() if not all("```findings" in text for text in texts)]


def test_a_kind_that_is_not_there_is_refused_with_the_nearest(abistore: Call) -> None:
    done = abistore("explain", "func_remove")
    assert done.code == 64
    assert "func_removed" in done.err


def test_a_stored_finding_is_explained_by_its_identity(stored: Call) -> None:
    report = stored("verdict", "libcase@2.0", "--json").json
    change = next(change for change in report["changes"] if change["symbol"] == "point")
    done = stored("explain", change["id"])
    assert done.code == 0
    assert "libcase 1.1 -> libcase 2.0" in done.out
    assert f"point: {change['part']}" in done.out
    assert "+     int z;" in done.out
    assert f"{change['kind']}: " in done.out
    assert "Fix: " in done.out


def test_an_explanation_says_who_accepted_the_finding_and_how_it_was_reviewed(stored: Call) -> None:
    report = stored("verdict", "libcase@2.0", "--json").json
    change = next(change for change in report["changes"] if change["impact"] == "breaking")
    words = ("--reason", "announced", "--approver", "the board", "--until", "2.5")
    assert stored("approve", change["id"], *words).code == 0
    assert stored("approve", "note", change["id"], "seen by QA", "--state", "seen").code == 0
    done = stored("explain", change["id"])
    assert "approved by the board up to 2.5: announced" in done.out
    assert "seen by QA" in done.out
    (found,) = stored("explain", change["id"], "--json").json["findings"]
    assert found["change"]["approved"]["approver"] == "the board"
    assert found["change"]["review"]["note"] == "seen by QA"


def test_the_beginning_of_an_identity_will_do_and_json_has_it_all(stored: Call) -> None:
    change = stored("verdict", "libcase@2.0", "--json").json["changes"][0]
    found = stored("explain", change["id"][:7], "--json").json
    assert found["findings"][0]["change"]["id"] == change["id"]
    assert found["kinds"][0]["kind"] == change["kind"]


def test_a_consequence_has_an_identity_too(stored: Call) -> None:
    changes = stored("verdict", "libcase@2.0", "--json").json["changes"]
    (consequence, *_) = (each for change in changes for each in change["consequences"])
    assert consequence["kind"] in stored("explain", consequence["id"]).out


def test_an_identity_that_no_comparison_has_is_not_found(stored: Call) -> None:
    stored("verdict", "libcase@2.0")
    done = stored("explain", "0123456789ab")
    assert done.code == 67
    assert "no stored comparison has a finding 0123456789ab" in done.err


@pytest.mark.parametrize(
    ("option", "value", "field"),
    [("--impact", "api_break", "impact"), ("--element", "enums", "element"), ("--evidence", "symbol", "evidence")],
)
def test_kinds_are_filtered_by_each_of_their_properties(abistore: Call, option: str, value: str, field: str) -> None:
    found = abistore("changes", option, value, "--json").json
    assert 0 < found["count"] == len(found["changes"]) < len(KINDS)
    assert {kind[field] for kind in found["changes"]} == {value}


def test_a_finding_that_was_stored_by_a_former_name_is_shown_by_its_name_of_today(stored: Call, database: Path) -> None:
    former, now = "library_allocated_type_resized", "type_size_changed.handle"
    finding = Finding(former, Name("record", "point"), "", "the size changed", Impact.RISK, "layout", "8", "12")
    with Store.open(database, write=True) as store:
        old, new = store.resolve("libcase@1.1"), store.resolve("libcase@2.0")
        comparison = Comparison(old.side, new.side, Verdict.COMPATIBLE_WITH_RISK, (finding,), engine="before")
        store.save_verdicts([StoredVerdict(old, new, comparison, Churn(0, 0, 1), datetime(2026, 5, 1, tzinfo=UTC))])
    done = stored("explain", identity(finding).hex())
    assert done.code == 0
    assert f"{now}: " in done.out
    assert "Fix: " in done.out
    change = stored("explain", identity(finding).hex(), "--json").json["findings"][0]["change"]
    assert (change["kind"], change["id"]) == (now, identity(finding).hex())


def test_a_former_name_of_a_kind_is_explained(abistore: Call) -> None:
    done = abistore("explain", "type_no_longer_used")
    assert done.code == 0
    assert "type_removed.unused: " in done.out
    assert "Also called: type_no_longer_used" in done.out


def test_what_is_no_identity_finds_nothing(stored: Call, database: Path) -> None:
    assert stored("verdict", "libcase@2.0").code == 4
    for word in ("norm", "-3", "0123 45"):
        with pytest.raises(SnapshotNotFound, match="no stored comparison has a finding"):
            findings(word, database=database)


def test_a_review_of_what_is_no_identity_is_refused_and_told(stored: Call) -> None:
    for words in (("libcase@1.1",), ("norm", "--library", "libcase"), ("x" * 20, "--library", "libcase")):
        done = stored("approve", "note", *words)
        assert (done.code, f"no stored comparison has a finding {words[0]}" in done.err) == (67, True)


def test_a_finding_of_two_rulings_is_shown_once(stored: Call, tmp_path: Path) -> None:
    identity = stored("verdict", "libcase@2.0", "--json").json["changes"][0]["id"]
    known = tmp_path / "known.yaml"
    known.write_text("suppressions: [{symbol: other, reason: x}]\n")
    assert stored("verdict", "libcase@2.0", "--suppress", known).code == 4
    assert stored("explain", identity).out.count("libcase 1.1 -> libcase 2.0") == 1


def test_a_kind_is_listed_once_with_its_variants(abistore: Call) -> None:
    shown = abistore("changes").out.splitlines()
    (line,) = (each for each in shown if each.startswith("type_size_changed"))
    assert line.split()[:2] == ["type_size_changed", "breaking"]
    assert line.endswith("handle")
    assert shown[-1] == f"{len(set(map(kind_of, KINDS)))} kinds, {len(KINDS)} variants"


def test_a_kind_is_explained_with_its_variants(abistore: Call) -> None:
    plain = abistore("explain", "type_size_changed")
    assert "type_size_changed.handle  risk" in plain.out
    found = abistore("explain", "type_size_changed.handle", "--json").json
    assert (found["kind"], found["variant"], found["impact"]) == ("type_size_changed.handle", "handle", "risk")
    assert [each["kind"] for each in found["variants"]] == ["type_size_changed"]


def test_a_kind_of_variants_only_is_explained_by_the_worst(abistore: Call) -> None:
    found = abistore("explain", "symbols_removed", "--json").json
    assert found["impact"] == "risk"
    assert "compatible" in {each["impact"] for each in found["variants"]}
