"""The law of one decision: wherever a surface states an outcome, a reason or an exit code, it is the same.

Histories are drawn: exports come and go, records grow, builds are stripped, SONAMEs are bumped, channels move, builds
fail their gate and are kept or promoted, releases are withdrawn, and breaks are approved, suppressed or re-weighted.
"""

from __future__ import annotations

import html
import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch
from xml.etree import ElementTree

from abistore import interface
from abistore.cli.main import run
from abistore.errors import SnapshotNotFound, UsageError
from abistore.interface import ApprovalPlan, WithdrawalPlan, approve, open_store, withdraw
from abistore.mcp import resources
from abistore.mcp.operands import Call
from abistore.mcp.settings import Settings
from abistore.mcp.tools.comparing import abi_gate
from abistore.mcp.tools.history import abi_history
from abistore.mcp.tools.summary import abi_summary
from abistore.model.decision import Decision, worst_decision
from abistore.model.history import IngestRequest, Release
from abistore.model.snapshot import ReleaseTag, Snapshot
from abistore.model.statements import BaselineRole
from abistore.report import render
from abistore.report.history import History, markdown, shown_outcome
from abistore.report.model import Report, Style
from abistore.report.reasons import OUTCOMES, notable_outcome, outcome_words, said
from abistore.report.site import history_page
from abistore.service.admission import admit_judged, foresee
from abistore.service.ingest_gates import Arrival, Gate
from abistore.service.ruling import Ruling, ruling
from abistore.service.site import LibraryPages, SitePlan, SiteSource
from abistore.service.site_folder import SiteFolder
from abistore.service.site_folder import Tally as FileTally
from abistore.store.store import Store
from tests.store.test_ledger import LINE, release

TODAY = datetime.now(UTC).date()
BEFORE = TODAY - timedelta(days=200)
"""A day on which approvals hold that are over today."""

UNTIL = f"{TODAY - timedelta(days=50):%Y-%m-%d}"
WIDE = Style(width=10_000)
RELEASES = 4
CHANNELS = ("release", "lts")
POLICY = (
    "kinds:\n  func_removed: {impact: risk, reason: weak symbols}\n  func_added: {impact: api_break, reason: size}\n"
)
SUPPRESSIONS = "suppressions:\n  - symbol: g\n    reason: nobody calls it\n"
ROW = re.compile(r"\d+\.\d+\.\d+ +\d{4}-\d\d-\d\d ")
"""A row of a history in text."""

WORDS = re.compile(r"\b(PASS|FAIL|UNDECIDED): ")


class Stated(NamedTuple):
    """What a surface states, and what was decided."""

    surface: str
    about: str
    stated: object
    decided: object


class Tally:
    """How often each surface stated something, and where that was not what was decided."""

    def __init__(self) -> None:
        self.statements: Counter[str] = Counter()
        self.contradictions: list[Stated] = []

    def same(self, surface: str, about: str, stated: object, decided: object) -> None:
        """Count a statement."""
        self.statements[surface] += 1
        if stated != decided:
            self.contradictions.append(Stated(surface, about, stated, decided))


class Question(NamedTuple):
    """What ``verdict`` is asked."""

    version: str
    against: str | None = None
    today: date = TODAY


class LawOfOneDecision:
    """A history that is drawn to a new database, and asked through every surface."""

    def __init__(self, seed: int, folder: Path, tally: Tally, *, bound: bool = False) -> None:
        """With ``bound``, a rule that the store binds afterwards keeps every release since the SONAME."""
        self.random = Random(seed)
        self.bound = bound
        self.folder = folder
        self.address = str(folder / "abi.db")
        self.tally = tally
        self.versions: list[str] = []
        self._told: dict[Question, Report | None] = {}

    def check(self) -> None:
        """Draw the history, and ask every surface about it."""
        self._draw()
        if self.bound:
            policy = self.random.choice([None, "sdk_vendor", self._written("p.yaml", POLICY)])
            plan = interface.BindingPlan("programs load it for years", policy=policy, since_soname=True)
            interface.bind("libgeo", plan, database=self.address)
        with open_store(self.address) as store:
            self.store = store
            for today in (BEFORE, TODAY):
                self._check_history(today)
                for version in self.versions:
                    self._check_statement(version, today)
            for version in self.versions:
                for question in self._questions(version, TODAY):
                    if report := self.told(question):
                        self._check_formats(report)
                self._check_agents(version)
            self._check_matrix()
            self._check_ranges()
        if self.bound:
            self._check_shipping()
        self._check_commands()
        self._check_site()

    # --- drawing ------------------------------------------------------------------------------------------------

    @cached_property
    def by(self) -> Ruling | None:
        """What the history is judged by."""
        return ruling(self._files.get("--policy"), list(filter(None, [self._files.get("--suppress")])))

    @cached_property
    def _files(self) -> Mapping[str, str]:
        """The files of a policy and of suppressions; each is there every other time."""
        found: dict[str, str] = {}
        if self.bound:  # a rule refuses them
            return found
        for option, name, text in (("--policy", "p.yaml", POLICY), ("--suppress", "s.yaml", SUPPRESSIONS)):
            if self.random.random() < 0.5:
                found[option] = self._written(name, text)
        return found

    def _written(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def _draw(self) -> None:
        label: tuple[int, ...] = (1, 0, 0)
        soname = 1
        for number in range(RELEASES):
            if number:
                step = self.random.choices((0, 1, 2), (2, 5, 3))[0]
                label = (*label[:step], label[step] + 1, *(0,) * (2 - step))
                soname += self.random.random() < (0.7 if step == 0 else 0.15)
            version = ".".join(map(str, label))
            exports = self.random.sample("fghi", self.random.randint(1, 4))
            fields = self.random.choice(["ab", "ab", "abc", None])
            if self._arrives(release(*exports, fields=fields, soname=soname), version):
                self.versions.append(version)
                self._approve(version)

    def _arrives(self, snapshot: Snapshot, version: str) -> bool:
        """Ask a gate about a build, store it, and move channels; whether it is a release."""
        with Store.open(self.address, write=True) as store:
            against = self._against(store)
            if against is None:
                store.ingest(snapshot, IngestRequest(version))
            else:
                self._admit(store, Arrival.of(snapshot, IngestRequest(version)), against)
            stored = kept(store, version)
            if stored.candidate:
                return False
            for channel in CHANNELS:
                if self.random.random() < 0.35:
                    store.set_baseline(LINE, channel, version)
            if self.random.random() < 0.1:
                store.tag(stored, [ReleaseTag("withdrawn")], "ana")
            return True

    def _against(self, store: Store) -> str | None:
        """What a build is judged against before it is stored; nothing where it meets no gate."""
        known = {move.channel for move in store.baselines("libgeo")}
        choices = [None, "prev", *(f"baseline:{channel}" for channel in sorted(known))]
        return self.random.choice(choices) if self.versions else None

    def _admit(self, store: Store, arrival: Arrival, against: str) -> None:
        """A gate decides the same before a build is stored, when it is stored, and afterwards."""
        version = arrival.request.version
        gate = Gate(against=against, keep_failed=True, by=self.by, today=TODAY)
        found = foresee(store, arrival, gate).outcome
        admitted = admit_judged(store, arrival, gate).outcome
        stored = kept(store, version)
        report = interface.verdict(
            stored.reference, against=against, database=self.address, by=self.by, today=TODAY
        ).report
        assert report.decision is not None
        for surface, outcome in (("gate", found), ("ingest --against", admitted)):
            decision = outcome.reports[0].decision if outcome.reports else outcome.first
            assert decision is not None
            self.tally.same(surface, f"{version} against {against}", words(decision), words(report.decision))
        if found.exit_code and self.random.random() < 0.5:
            assert arrival.snapshot is not None
            store.ingest(arrival.snapshot, arrival.request)  # promoted

    def _approve(self, version: str) -> None:
        """Approve some breaks, for ever, for one release, or at one channel; some until a day, and withdraw a few."""
        changes = self._verdict(Question(version, None, BEFORE)).changes
        for finding in changes:
            if finding.impact not in {"breaking", "api_break"} or self.random.random() < 0.5:
                continue
            scope = self.random.choice(["forever", f"release:{version}", "branch:release"])
            until = self.random.choice(["", UNTIL, version])
            plan = ApprovalPlan(
                reason="nobody calls it", approver="ana", scope=scope, until=until, today=BEFORE, replace=True
            )
            with suppress(UsageError):  # until a release that is in the past
                approve(finding.id, plan, database=self.address)
                if self.random.random() < 0.2:
                    withdraw(
                        finding.id, WithdrawalPlan("a user was found", "libgeo", actor="ana"), database=self.address
                    )

    # --- what is decided ----------------------------------------------------------------------------------------

    def _verdict(self, asked: Question, database: Any = None) -> Report:
        """What ``verdict`` answers."""
        return interface.verdict(
            f"libgeo@{asked.version}",
            against=asked.against,
            database=database or self.address,
            today=asked.today,
            by=self.by,
        ).report

    def told(self, asked: Question) -> Report | None:
        """What ``verdict`` answers, where the other side is there."""
        if asked not in self._told:
            try:
                self._told[asked] = self._verdict(asked, self.store)
            except SnapshotNotFound:
                self._told[asked] = None
        return self._told[asked]

    def decided(self, version: str, against: str | None = None, today: date = TODAY) -> Decision | None:
        """The decision of the same."""
        report = self.told(Question(version, against, today))
        return report.decision if report else None

    def _questions(self, version: str, today: date) -> Iterator[Question]:
        others = self.random.sample(self.versions, min(2, len(self.versions)))
        for against in (None, *(f"baseline:{channel}" for channel in CHANNELS), *others):
            yield Question(version, against, today)

    # --- surfaces -----------------------------------------------------------------------------------------------

    def _check_formats(self, report: Report) -> None:
        """Each format says the outcome and the reasons, and none says another exit code."""
        decision, about = report.decision, f"{report.old} -> {report.new}"
        assert decision is not None
        code, passes = decision.exit_code, decision.outcome == "pass"
        document = json.loads(render(report, "json", WIDE))
        self.tally.same(
            "json", about, (document["exit_code"], document["decision"]["headline"]), (code, decision.headline)
        )
        run_of = json.loads(render(report, "sarif", WIDE))["runs"][0]
        self.tally.same("sarif", about, run_of["invocations"][0]["exitCode"], code)
        page = render(report, "html", WIDE)
        marks = re.findall(r'<span class="outcome (\w+)">', page)
        self.tally.same("html", about, marks, [shown_outcome(decision)])
        suites = ElementTree.fromstring(render(report, "junit", WIDE))
        self.tally.same("junit", about, suites.get("failures") == "0", passes)
        lines = render(report, "github", Style(limit=None)).splitlines()
        self.tally.same("github", about, not any(line.startswith("::error") for line in lines), passes)
        expected = {OUTCOMES[decision.outcome]}
        for form in ("text", "markdown", "html", "junit", "github"):
            text = plain(render(report, form, WIDE))
            self.tally.same(form, about, set(WORDS.findall(text)) | expected, expected)
            codes = {int(found) for found in re.findall(r"exit code (\d+)", text)}
            self.tally.same(form, about, codes | {code}, {code})
            missing = [each for each in said(report) if " ".join(each.split()) not in text]
            self.tally.same(form, about, missing, [])
        bump = any(each.kind == "soname_bump_recommended" for each in report.advice)
        self.tally.same("advice", about, bump and passes, False)

    def _check_history(self, today: date) -> None:
        (found,) = interface.history("libgeo", database=self.store, today=today, by=self.by)
        for row in found.rows:
            version = row.release.version
            self._same("history", version, row.decision, self.decided(version, None, today))
            if row.baseline_decision is not None:
                at = self.decided(version, "baseline", today)
                self._same("history, baseline", version, row.baseline_decision, at)
        self._check_pages(found)

    def _check_pages(self, found: History) -> None:
        """The tables of a history in Markdown and HTML."""
        lines = markdown([found]).splitlines()
        page = history_page([found])
        for row in found.rows:
            assert row.decision is not None
            version, notable = row.release.version, notable_outcome(row.decision)
            (line,) = (each for each in lines if each.startswith(f"| `{version}`"))
            cell = line.split(" | ")[-2].partition(": ")[2]
            self.tally.same("history, markdown", version, cell, outcome_words(row.decision) if notable else "")
            shown = re.findall(rf'<tr class="(\w+)"><td class="version">{re.escape(version)}', page)
            self.tally.same("history, html", version, shown, [shown_outcome(row.decision)])

    def _check_statement(self, version: str, today: date) -> None:
        stated = interface.statement(f"libgeo@{version}", database=self.store, today=today, by=self.by)
        (ledger,) = interface.ledger(f"libgeo@{version}", database=self.store, today=today, by=self.by)
        for standing in ledger.standings:
            one = standing.decision
            named = {"previous": None, "baseline": f"baseline:{one.against.channel}", "release": one.against.version}
            expected = self.decided(version, named[one.against.why], today)
            meant = one.against.why, one.against.version
            if expected is not None and (expected.against.why, expected.against.version) == meant:
                # else a channel moved on, or a bound rule asks about another release
                self._same("ledger", f"{version} against {one.against.version}", one, expected)
        bound = BaselineRole("bound")
        supported = [each.decision for each in ledger.standings if each.supported or bound in each.roles]
        worst = worst_decision(supported) if supported else self.decided(version, None, today)
        if supported or not ledger.standings:
            assert worst is not None
            told = stated.outcome, stated.exit_code, stated.sentence.startswith(worst.headline)
            self.tally.same("statement", version, told, (worst.outcome, worst.exit_code, True))
            self._same("ledger", version, ledger.decision, worst)

    def _check_matrix(self) -> None:
        (found,) = interface.matrix("libgeo", database=self.store, by=self.by)
        for old, outcomes in zip(found.releases, found.outcomes, strict=True):
            for new, outcome in zip(found.releases, outcomes, strict=True):
                if outcome is not None:
                    asked = (self.decided(new.version), self.decided(new.version, "baseline"))
                    beside = {each.outcome for each in asked if each and each.against.version == old.version}
                    self.tally.same("matrix", f"{old.version} -> {new.version}", {outcome} | beside, beside)

    def _check_shipping(self) -> None:
        """What a rule keeps from shipping is what ``verdict`` does not let pass beside a release of the same SONAME."""
        first, *others = self.versions
        interface.env_record("production", [f"libgeo@{first}"], database=self.address)
        for version in others:
            shipping = interface.env_can_ship(f"libgeo@{version}", "production", database=self.address)
            report = interface.verdict(f"libgeo@{version}", database=self.address).report
            assert report.decision is not None
            passes, kept = report.decision.outcome == "pass", report.old.soname == report.new.soname
            if passes or kept:  # else the release before it fails first, which the rule does not name
                self.tally.same("env can-ship", version, not shipping.bound, passes)
            self.tally.same("env can-ship", version, bool(shipping.bound) <= (shipping.outcome != "pass"), True)

    def _check_ranges(self) -> None:
        """The verdicts of compatible ranges, and of who is to blame, are those of ``verdict``."""
        for old in self.versions:
            found = interface.compatible_range(f"libgeo@{old}", database=self.store, by=self.by)
            later = [each for each in found.releases if each.version > old]
            for each in later:
                (blamed,) = interface.blame(f"libgeo@{each.version}", since=old, database=self.store, by=self.by)
                about = f"{old} -> {each.version}"
                report = self.told(Question(each.version, old))
                assert report is not None
                if report.old.version != old:
                    continue  # a bound rule compares with more releases, and reports the one that fails
                self.tally.same("blame", about, blamed.verdict.name, report.verdict)
                if each.verdict is not None:
                    self.tally.same("compatible range", about, each.verdict.name, report.verdict)

    def _check_agents(self, version: str) -> None:
        """The tools and resources of agents, which know no files of policies and suppressions here."""
        settings, reference = Settings(database=self.address), f"libgeo@{version}"
        for against in ("prev", "baseline"):
            with suppress(SnapshotNotFound):
                strict = interface.verdict(reference, against=against, database=self.store).report.decision
                arguments: dict[str, Any] = {"library": "libgeo", "version": version, "against": against}
                for tool in (abi_gate, abi_summary):
                    answer = tool(Call(tool.name, arguments, settings), **arguments)
                    self._agrees(tool.name, f"{reference} against {against}", answer, strict)
        alone = interface.verdict(reference, database=self.store).report.decision
        assert alone is not None
        listed = {
            each.version: each.outcome for each in interface.releases_with_outcomes("libgeo", database=self.store)
        }
        self.tally.same("list", reference, listed[version], alone.outcome)
        told = json.loads(resources.verdict(Call("", {}, settings), library="libgeo", version=version))
        found = told["decision"]
        stated = found["outcome"], told.get("exit_code", found["exit_code"]), found["headline"]
        self.tally.same("resource", reference, stated, (alone.outcome, alone.exit_code, alone.headline))
        told = json.loads(resources.summary(Call("", {}, settings), library="libgeo", version=version))
        self.tally.same("resource", reference, (told["outcome"], told["exit_code"]), (alone.outcome, alone.exit_code))
        answer: Any = abi_history(Call("abi_history", {"library": "libgeo"}, settings), library="libgeo")
        for item in answer.rows:
            if item.version == version:
                self._agrees("abi_history", reference, item, alone)

    def _check_commands(self) -> None:
        """The text of verbs, and the exit codes of their processes."""
        files = [word for pair in self._files.items() for word in pair]
        _, text = self._printed("history", "libgeo", *files)
        cells, beside = column(text, "outcome"), column(text, "baseline")
        for version in self.versions:
            decision, reference = self.decided(version), f"libgeo@{version}"
            assert decision is not None
            self.tally.same("history, text", version, cells.get(version), outcome_words(decision))
            at = self.decided(version, "baseline")
            if at is not None and beside.get(version) not in {None, "", "(baseline)"}:
                self.tally.same("history, text", version, beside[version].partition(", ")[2], notable_outcome(at))
            code, text = self._printed("verdict", reference, *files)
            self.tally.same("verdict, process", version, code, decision.exit_code)
            code, text = self._printed("verdict", reference, "--statement", *files)
            word = re.search(r"outcome (\w+);", text)
            stated = OUTCOMES[word[1]] if word else ""
            self.tally.same("statement, text", version, text.split(":")[0], stated)
            self.tally.same("statement, process", version, CODES[text.split(":")[0]] >= {code}, True)

    def _printed(self, *command: str) -> tuple[int, str]:
        """The exit code and the output of a command."""
        out = io.StringIO()
        as_a_pipe = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        with patch.dict(os.environ, as_a_pipe, clear=True), redirect_stdout(out), redirect_stderr(io.StringIO()):
            code = run(["--db", self.address, *command])
        return code, out.getvalue()

    def _check_site(self) -> None:
        """The pages of releases: the mark, and all reasons."""
        out = self.folder / "site"
        with Store.open(self.address, write=False) as store:
            source = SiteSource(SitePlan(), self.address, self.by)
            LibraryPages(store, source).write("libgeo", SiteFolder(out, FileTally()))
        pages = [each.read_text() for each in out.glob("*.html")]
        for version in self.versions:
            decision = self.decided(version)
            assert decision is not None
            (page,) = (each for each in pages if f"<h1>libgeo <b>{version}</b>" in each)
            shown = re.findall(r'<div class="decision (\w+)">', page)
            self.tally.same("site", version, shown, [shown_outcome(decision)])
            text = plain(page)
            missing = [each.sentence for each in decision.reasons if plain(each.sentence) not in text]
            self.tally.same("site", version, missing, [])

    def _same(self, surface: str, about: str, stated: Decision | None, decided: Decision | None) -> None:
        assert stated is not None, about
        assert decided is not None, about
        self.tally.same(surface, about, words(stated), words(decided))

    def _agrees(self, surface: str, about: str, answer: Any, decided: Decision | None) -> None:
        """An answer of a tool."""
        assert decided is not None, about
        self.tally.same(surface, about, (answer.outcome, answer.exit_code), (decided.outcome, decided.exit_code))


CODES: Mapping[str, set[int]] = {"PASS": {0}, "FAIL": {2, 4}, "UNDECIDED": {72}}


def kept(store: Store, version: str) -> Release:
    """A release, or a candidate that failed its gate."""
    return next(each for each in store.builds(LINE.library, LINE.target, LINE.profile) if each.version == version)


def words(decision: Decision) -> tuple[object, ...]:
    """All that a surface states of a decision."""
    return decision.outcome, decision.exit_code, decision.headline, decision.reasons, decision.waivers, decision.missing


def plain(page: str) -> str:
    """The words of a page or a text, in one line."""
    text = re.sub(r"\\([^A-Za-z0-9\s])", r"\1", html.unescape(page)).replace("`", "")
    return " ".join(text.split())


def column(text: str, head: str) -> Mapping[str, str]:
    """The cells of a column of a history, by the version of the row."""
    lines = text.splitlines()
    top = next(line for line in lines if line.startswith("version "))
    if head not in top:
        return {}
    start = top.index(head)
    behind = top[start + len(head) :]
    end = len(top) - len(behind.lstrip()) if behind.strip() else None
    rows: Sequence[str] = lines[lines.index(top) + 1 :]
    return {line.split()[0]: line[start:end].strip() for line in rows if ROW.match(line)}
