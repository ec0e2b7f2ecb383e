"""Wherever a surface states an outcome, a reason or an exit code, it is the same: over drawn histories of a library."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from random import Random

import pytest

from abistore import interface
from abistore.errors import SnapshotNotFound
from abistore.interface import ApprovalPlan, approve
from abistore.model.decision import Decision, worst_decision
from abistore.report import render
from abistore.report.history import markdown, shown_outcome
from abistore.report.ledgers import as_text, statement_tables
from abistore.report.model import Report, Style
from abistore.report.reasons import OUTCOMES, said
from abistore.service.open_store import open_store
from tests.store.test_ledger import LINE, release, stored

DAY = date(2026, 1, 1)
SEEDS = range(25)
WIDE = Style(width=10_000)
RELEASES = 4


def drawn(random: Random, address: str) -> None:
    """A history: exports come and go, records grow, SONAMEs are bumped, layouts are stripped, channels move."""
    releases = []
    soname = 1
    for _ in range(RELEASES):
        soname += random.random() < 0.3
        exports = random.sample("fghi", random.randint(1, 4))
        fields = random.choice(["ab", "ab", "abc", None])
        releases.append(release(*exports, fields=fields, soname=soname))
    with stored(address, *releases) as store:
        for channel in ("release", "lts"):
            for place in sorted(random.sample(range(RELEASES - 1), random.randint(0, 2))):
                store.set_baseline(LINE, channel, f"1.{place}")


def approve_some(random: Random, address: str) -> None:
    """Approve findings of steps, for ever, for one release or at one channel, some of them until a day that is over."""
    for place in range(1, RELEASES):
        with open_store(address) as store:
            changes = store.verdict(f"libgeo@1.{place}", today=DAY).report.changes
        for finding in (each for each in changes if each.impact == "breaking" and random.random() < 0.5):
            scope = random.choice(["forever", f"release:1.{place}", "branch:release"])
            until = random.choice(["", "2026-06-30", "1.2"])
            plan = ApprovalPlan(
                reason="nobody calls it", approver="ana", scope=scope, until=until, today=DAY, replace=True
            )
            approve(finding.id, plan, database=address)


def decisions(address: str, version: str, today: date) -> Iterator[tuple[Report, str | None]]:
    """What ``verdict`` says of a release beside all that it can be compared with."""
    for against in (None, "baseline", "baseline:lts", *(f"1.{place}" for place in range(RELEASES))):
        try:
            found = interface.verdict(f"libgeo@{version}", against=against, database=address, today=today)
        except SnapshotNotFound:
            continue
        yield found.report, against


def words(decision: Decision) -> tuple[object, ...]:
    """All that a surface states of a decision."""
    return decision.outcome, decision.exit_code, decision.headline, decision.reasons, decision.waivers, decision.missing


def check_formats(report: Report) -> None:
    """Each format says the outcome and the reasons, and none says another exit code."""
    decision = report.decision
    assert decision is not None
    assert json.loads(render(report, "json", WIDE))["decision"]["headline"] == decision.headline
    run = json.loads(render(report, "sarif", WIDE))["runs"][0]
    assert run["invocations"][0]["exitCode"] == report.exit_code == decision.exit_code
    forms = ("text", "html", "junit", "github")
    texts = [" ".join(html.unescape(render(report, form, WIDE)).split()) for form in forms]
    page = render(report, "html", WIDE)
    assert re.findall(r'<span class="outcome (\w+)">', page) == [shown_outcome(decision)]
    others = {"PASS: ", "FAIL: ", "UNDECIDED: "} - {f"{OUTCOMES[decision.outcome]}: "}
    for text in texts:
        assert all(" ".join(sentence.split()) in text for sentence in said(report))
        assert not any(other in text for other in others)
    assert decision.outcome != "pass" or "soname_bump_recommended" not in {each.kind for each in report.advice}
    errors = [line for line in render(report, "github", Style(limit=None)).splitlines() if "::error file" in line]
    assert bool(errors) <= (decision.outcome == "fail")


def check_history(address: str, today: date) -> None:
    """``history``, ``ledger`` and ``statement`` say what ``verdict`` says."""
    (found,) = interface.history("libgeo", database=address, today=today)
    page = markdown([found])
    for row in found.rows:
        version, decision = row.release.version, row.decision
        assert decision is not None
        told = {against: report.decision for report, against in decisions(address, version, today)}
        if row.previous is None:
            assert (decision.outcome, decision.code, decision.exit_code) == ("pass", "first-release", 0)
        expected = told[None]
        assert expected is not None
        assert words(decision) == words(expected)
        if decision.outcome == "fail":
            (line,) = [line for line in page.splitlines() if line.startswith(f"| `{version}`")]
            assert ": fail" in line
        if row.baseline_decision is not None and (beside := told["baseline"]) is not None:
            assert words(row.baseline_decision) == words(beside)


def check_statement(address: str, version: str, today: date) -> None:
    stated = interface.statement(f"libgeo@{version}", database=address, today=today)
    (ledger,) = interface.ledger(f"libgeo@{version}", database=address, today=today)
    told = {against: report.decision for report, against in decisions(address, version, today)}
    for standing in ledger.standings:
        one = standing.decision
        named = {"previous": None, "baseline": f"baseline:{one.against.channel}", "release": one.against.version}
        against = named[one.against.why]
        expected = told["baseline" if against == "baseline:release" else against]
        assert expected is not None
        if expected.against.version == one.against.version:  # a channel may have moved on since
            assert words(one) == words(expected)
    if ledger.standings:
        worst = worst_decision(each.decision for each in ledger.standings if each.supported)
        assert (stated.outcome, stated.exit_code) == (worst.outcome, worst.exit_code)
    first, second, *_ = as_text(statement_tables(stated)).splitlines()
    assert first.startswith(f"{OUTCOMES[stated.outcome]}: ")
    assert f"outcome {stated.outcome};" in second


@pytest.mark.parametrize("seed", SEEDS)
def test_every_surface_states_one_decision(seed: int, tmp_path: Path) -> None:
    random, address = Random(seed), str(tmp_path / "abi.db")
    drawn(random, address)
    approve_some(random, address)
    for today in (DAY, date(2026, 7, 1)):
        check_history(address, today)
        for place in range(RELEASES):
            check_statement(address, f"1.{place}", today)
    for place in range(RELEASES):
        for report, _ in decisions(address, f"1.{place}", DAY):
            check_formats(report)
