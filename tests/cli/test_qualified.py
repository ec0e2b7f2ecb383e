"""What a verdict does not cover, who ruled, and why something was suppressed: in every report and in ``history``."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from abistore.report.model import MODES, formats, formats_with_modes
from tests.build import build_library
from tests.cli.conftest import NEW, OLD, Call

GAP = "layout not compared, new side has no debug information"
CHECKED = "in what could be checked"
POLICY = "name: ours\nkinds: {type_size_changed: {impact: risk, reason: nobody embeds it}}\n"
KNOWN = """
suppressions:
  - {symbol: gone, reason: nobody calls it, expires: 2999-12-31, label: TICKET-17}
  - {type: point, reason: only we make one}
"""
EVERY = [(format, "full") for format in formats()]
EVERY += [(format, mode) for format in formats_with_modes() for mode in MODES if mode != "full"]


@pytest.fixture(scope="session")
def stripped() -> Path:
    """A release that breaks where only debug information shows it: a struct that callers allocate has grown."""
    return build_library(NEW.replace("int fresh(int a) { return a; }", "int gone(void) { return 1; }"), flags=("-O1",))


def plain(text: str) -> str:
    return " ".join(text.replace("\\", "").replace("%3A", ":").split())


@pytest.mark.parametrize(("format", "mode"), EVERY)
def test_a_stripped_build_is_never_told_as_a_clean_one(
    abistore: Call, old: Path, stripped: Path, format: str, mode: str
) -> None:
    done = abistore("compare", old, stripped, "--format", format, "--mode", mode, "--fail-on", "never")
    assert GAP in plain(done.out)
    if format != "json":
        assert CHECKED in plain(done.out)
    clean = abistore("compare", old, old, "--format", format, "--mode", mode)
    assert GAP not in plain(clean.out)
    assert CHECKED not in plain(clean.out)


def test_a_quiet_answer_and_the_line_beside_a_file_are_qualified(
    abistore: Call, old: Path, stripped: Path, tmp_path: Path
) -> None:
    quiet = abistore("compare", old, stripped, "-q")
    assert f"NO_CHANGE {CHECKED}: {GAP}" in quiet.out
    line = abistore("compare", old, stripped, "-o", tmp_path / "abi.html")
    assert f"NO_CHANGE {CHECKED} ({GAP})" in line.out


def test_history_marks_verdicts_that_do_not_cover_everything(abistore: Call, old: Path, stripped: Path) -> None:
    abistore("ingest", old, "--version", "1.0", "--set-baseline")
    abistore("ingest", stripped, "--version", "1.1")
    abistore("ingest", stripped, "--version", "1.2", "--profile", "default")
    timeline = abistore("history", "libcase").out.splitlines()
    row = next(line for line in timeline if line.startswith("1.1"))
    assert row.count("NO_CHANGE*") == 2
    assert any(line.startswith(f"* {CHECKED}") for line in timeline)
    history = abistore("history", "libcase", "--json").json["histories"][0]
    assert [each["evidence_gap"] for each in history["rows"]] == ["", GAP, ""]
    assert history["rows"][2]["evidence_gap_baseline"] == GAP


def test_history_of_equal_evidence_has_no_mark(stored: Call) -> None:
    timeline = stored("history", "libcase").out
    assert CHECKED not in timeline
    assert "*" not in timeline


def test_history_names_what_ruled_it(stored: Call, tmp_path: Path) -> None:
    policy, known = tmp_path / "ours.yaml", tmp_path / "known.yaml"
    policy.write_text(POLICY)
    known.write_text(KNOWN)
    assert "; policy strict_abi, no suppressions" in stored("history", "libcase").out.splitlines()[0]
    sums = [hashlib.sha256(text.encode()).hexdigest() for text in (POLICY, KNOWN)]
    ruled = ("history", "libcase", "--policy", policy, "--suppress", known)
    head = stored(*ruled).out.splitlines()[0]
    assert f"policy ours (ours.yaml, sha256 {sums[0][:12]}), suppressions known.yaml (sha256 {sums[1][:12]})" in head
    assert str(tmp_path) not in stored(*ruled, "--json").out
    history = stored(*ruled, "--json").json["histories"][0]
    assert history["policy_file"] == {"name": "ours.yaml", "sha256": sums[0]}
    assert history["suppression_files"] == [{"name": "known.yaml", "sha256": sums[1]}]


@pytest.mark.parametrize("remembered", [False, True], ids=["judged now", "remembered"])
@pytest.mark.parametrize(("format", "mode"), [each for each in EVERY if each[1] != "stat"])
def test_a_suppressions_reason_is_in_every_report(
    stored: Call, tmp_path: Path, format: str, mode: str, remembered: bool
) -> None:
    policy, known = tmp_path / "ours.yaml", tmp_path / "known.yaml"
    policy.write_text(POLICY)
    known.write_text(KNOWN)
    words = ("verdict", "libcase@2.0", "--policy", policy, "--suppress", known, "--format", format, "--mode", mode)
    done = [stored(*words) for _ in range(1 + remembered)][-1]
    assert done.code == 0
    text = plain(done.out)
    for said in (
        "nobody calls it",
        "TICKET-17 (known.yaml, entry 1)",
        "known.yaml, entry 2",
        "2999-12-31",
        "ours.yaml",
    ):
        assert said in text
    if format == "json":
        reasons = {each["symbol"]: each["suppression_reason"] for each in done.json["suppressed"]}
        assert reasons == {"gone": "nobody calls it", "point": "only we make one"}
    else:
        assert "only we make one" in text


def test_a_remembered_verdict_names_the_files_of_this_call(stored: Call, tmp_path: Path) -> None:
    first, second = tmp_path / "first" / "ours.yaml", tmp_path / "second" / "ours.yaml"
    for number, path in enumerate((first, second)):
        path.parent.mkdir()
        path.write_text(f"# {number}\n{POLICY}")
    told = [stored("verdict", "libcase@2.0", "--policy", path, "--json").json for path in (first, second)]
    assert told[0]["policy_digest"] == told[1]["policy_digest"]
    sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (first, second)]
    assert [each["policy_file"]["sha256"] for each in told] == sums


def test_sarif_carries_the_reason_as_justification(stored: Call, tmp_path: Path) -> None:
    known = tmp_path / "known.yaml"
    known.write_text(KNOWN)
    done = stored("verdict", "libcase@2.0", "--suppress", known, "--format", "sarif")
    results = json.loads(done.out)["runs"][0]["results"]
    said = {result["suppressions"][0]["justification"] for result in results if "suppressions" in result}
    assert said == {"nobody calls it", "only we make one"}


def test_advice_has_no_part_in_counts_or_verdict(abistore: Call, old: Path, new: Path) -> None:
    done = abistore("compare", old, new, "--json")
    assert [each["kind"] for each in done.json["advice"]] == ["soname_bump_recommended"]
    assert done.json["advice"][0]["impact"] == "advice"
    assert done.json["summary"]["compatible"] == sum(
        change["impact"] == "compatible" for change in done.json["changes"]
    )
    assert "soname_bump_recommended" not in {change["kind"] for change in done.json["changes"]}
    text = abistore("compare", old, new).out
    assert text.index("Advice") < text.index("Breaking (")


def test_unneeded_sonames_alone_are_advice_and_not_a_change(abistore: Call, old: Path) -> None:
    renamed = build_library(OLD, soname="libcase.so.2")
    done = abistore("compare", old, renamed, "--json")
    assert [each["kind"] for each in done.json["advice"]] == ["soname_bump_unnecessary"]
    assert [each["kind"] for each in done.json["changes"]] == ["soname_changed"]
