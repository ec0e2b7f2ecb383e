"""What stands above the findings of every report: what the verdict covers, who ruled, and advice."""

from __future__ import annotations

import json
from operator import attrgetter

import pytest
from msgspec.structs import replace

from abistore.model.declarations import SELF
from abistore.model.findings import Comparison, Impact, Side, Verdict
from abistore.model.snapshot import Evidence
from abistore.report import render
from abistore.report.model import MODES, Mode, Report, Style, formats, formats_with_modes
from abistore.report.outline import evidence_gap, outline, tone
from tests.report.comparisons import ADDED, FULL, MOVED, NEW, OLD
from tests.report.golden import BUMP, CARDS, MISSING, report, unequal
from tests.subjects import assert_each

EVERY: list[tuple[str, Mode]] = [(format, "full") for format in formats()]
EVERY += [(format, mode) for format in formats_with_modes() for mode in MODES if mode != "full"]
LONG = [(format, mode) for format, mode in EVERY if mode != "stat"]

TABLES = Evidence("symbol", "full")
SEEN = Evidence("layout", "full")


def unescaped(text: str) -> str:
    return text.replace("\\_", "_").replace("\\", "").replace("%3A", ":").replace("_", " ").lower()


def judged(verdict: Verdict, *, stripped: bool) -> Report:
    new = replace(NEW, evidence=MISSING if stripped else FULL)
    return outline(Comparison(OLD, new, verdict, (), engine="e1"))


@pytest.mark.parametrize(("format", "mode"), EVERY)
def test_a_verdict_that_does_not_cover_everything_says_so_in_words(format: str, mode: Mode) -> None:
    def law(verdict: Verdict) -> None:
        whole, part = (render(judged(verdict, stripped=each), format, Style(mode=mode)) for each in (False, True))
        assert "layout not compared, new side has no debug information" in part
        assert "layout not compared" not in whole
        if format != "json":
            assert f"{verdict.name.replace('_', ' ').lower()} in what could be checked" in unescaped(part)
            assert "in what could be checked" not in whole
        else:
            assert json.loads(part)["unequal_evidence"] == ["layout"]
            assert json.loads(part)["evidence_gap"] == "layout not compared, new side has no debug information"

    assert_each(Verdict, law, named=attrgetter("name"))


def test_a_verdict_that_does_not_cover_everything_is_never_green() -> None:
    for verdict in (Verdict.NO_CHANGE, Verdict.COMPATIBLE):
        assert tone(judged(verdict, stripped=False)) == "compatible"
        assert tone(judged(verdict, stripped=True)) == "unchecked"
        assert "\x1b[32m" not in render(judged(verdict, stripped=True), "text", Style(colour=True))
        assert 'class="verdict compatible"' not in render(judged(verdict, stripped=True), "html", Style())
    assert tone(judged(Verdict.BREAKING, stripped=True)) == "breaking"


def test_machines_are_told_what_a_verdict_does_not_cover() -> None:
    made = unequal()
    (run,) = json.loads(render(made, "sarif", Style()))["runs"]
    assert run["properties"]["unequalEvidence"] == ["layout"]
    first = run["invocations"][0]["toolExecutionNotifications"][0]
    assert (first["level"], first["descriptor"]["id"]) == ("warning", "unequal-evidence")
    assert render(made, "github", Style()).startswith("::warning title=NO_CHANGE in what could be checked::")
    junit = render(made, "junit", Style())
    assert junit.index('testsuite name="evidence"') < junit.index('name="no change in what could be checked"')


PARTLY = Evidence("layout", "partial", "partial-debug-info", described=3, expected=9)
HEADERS = Evidence("source", "full")


def lacking(reason: str) -> Evidence:
    return Evidence("layout", "missing", reason)


@pytest.mark.parametrize(
    ("old", "new", "gap"),
    [
        ((TABLES, SEEN), (TABLES, SEEN), ""),
        ((TABLES,), (TABLES, lacking("no-debug-info")), ""),
        ((TABLES, SEEN), (TABLES,), "layout not compared, new side was read without debug information"),
        ((SEEN,), (lacking("stale-debug-file"),), "layout not compared, new side has a debug file from another build"),
        ((PARTLY,), (SEEN,), "layout compared in part, old side describes 3 of 9 exports"),
        ((lacking("other"),), (SEEN,), "layout not compared, old side shows less of it (other)"),
        ((TABLES, HEADERS), (TABLES,), "source not compared, new side was read without headers"),
        ((SEEN, HEADERS), (lacking("no-debug-info"),), "layout not compared, new side has no debug information; "
         "source not compared, new side was read without headers"),
    ],
)  # fmt: skip
def test_a_gap_names_the_facet_the_side_and_the_reason(
    old: tuple[Evidence, ...], new: tuple[Evidence, ...], gap: str
) -> None:
    assert evidence_gap(old, new) == gap


@pytest.mark.parametrize(("format", "mode"), LONG)
def test_what_was_suppressed_shows_by_what_and_why(format: str, mode: Mode) -> None:
    text = " ".join(unescaped(render(report(), format, Style(mode=mode))).split())
    for said in ("known.yaml, entry 1", "*documented*, no user found | ticket-17", "2027-01-31"):
        assert said in text
    assert ("no reason given" in text) is (format != "json")


@pytest.mark.parametrize(("format", "mode"), EVERY)
def test_every_report_names_the_policy_and_the_files_that_ruled_it(format: str, mode: Mode) -> None:
    text = render(report(), format, Style(mode=mode))
    for said in ("our-sdk", "sdk policy.yaml", "333333333333", "known.yaml", "444444444444", "skip_symbols"):
        assert said.replace("_", " ") in unescaped(text)
    assert "strict abi" in unescaped(render(unequal(), format, Style(mode=mode)))


@pytest.mark.parametrize(("format", "mode"), EVERY)
def test_advice_stands_above_the_findings(format: str, mode: Mode) -> None:
    text = unescaped(render(report(), format, Style(mode=mode)))
    assert "soname bump recommended" in text
    if mode != "stat":
        assert "bump the soname, or revert the breaking changes" in " ".join(text.split())
    if mode != "stat" and format != "json":
        assert text.index("soname bump recommended") < text.index(
            '"results"' if format == "sarif" else "type field added"
        )


def test_advice_is_no_finding_and_counts_nowhere() -> None:
    plain = outline(Comparison(OLD, NEW, Verdict.BREAKING, (MOVED, ADDED)))
    advised = outline(Comparison(OLD, NEW, Verdict.BREAKING, (MOVED, ADDED), advice=(BUMP,)), kinds=CARDS)
    assert (advised.summary, advised.changes) == (plain.summary, plain.changes)
    assert [change.impact for change in advised.advice] == [Impact.ADVICE.label]
    (run,) = json.loads(render(advised, "sarif", Style()))["runs"]
    assert "soname_bump_recommended" not in {result["ruleId"] for result in run["results"]}
    for format in ("text", "markdown", "html"):
        assert "Compatible (1)" in render(advised, format, Style()) or "Compatible <span>1</span>" in render(
            advised, format, Style()
        )


# --- how sure a break is ----------------------------------------------------------------------------------------------

READ = Evidence("source", "full", source="headers")


@pytest.mark.parametrize(("format", "mode"), LONG)
def test_a_break_without_headers_says_once_what_it_rests_on(format: str, mode: Mode) -> None:
    text = unescaped(render(judged_break(OLD), format, Style(mode=mode, width=200)))
    said = "no public headers given (--header): some of these breaks may be in types that no program can use"
    assert text.count(said) == (2 if format == "sarif" else 1)
    assert said not in unescaped(render(judged_break(replace(OLD, evidence=(*FULL, READ))), format, Style(mode=mode)))


def judged_break(old: Side) -> Report:
    finding = replace(ADDED, kind="func_removed", impact=Impact.BREAKING)
    return outline(Comparison(old, NEW, Verdict.BREAKING, (finding,), engine="e1"))


def test_only_a_break_of_what_programs_may_not_be_able_to_name_rests_on_a_guess() -> None:
    breaking = replace(ADDED, impact=Impact.BREAKING)
    own = replace(breaking, name=SELF, affected=())
    batch = replace(own, affected=(MOVED.name, ADDED.name))
    stripped = replace(OLD, evidence=(TABLES,))
    told = {
        (OLD, Verdict.COMPATIBLE, (ADDED,)): "",
        (OLD, Verdict.BREAKING, (own,)): "",
        (OLD, Verdict.BREAKING, (batch,)): "no public headers given",
        (stripped, Verdict.BREAKING, (breaking,)): "no public headers given",
    }
    for (old, verdict, findings), said in told.items():
        guess = outline(Comparison(old, NEW, verdict, findings)).guessed
        assert (said in guess) if said else guess == ""
