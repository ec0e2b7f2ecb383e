"""The decision about a release: whether it may ship, why, and what would make it pass. Nothing else decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from abistore.errors import EvidenceMissing, RuleBound
from abistore.model.decision import (
    FOR_SCHEME,
    AllowPlan,
    AllowRule,
    Bump,
    ComparedAs,
    Counterpart,
    Decision,
    HurtConsumer,
    MissingEvidence,
    OldAndNew,
    Outcome,
    Reason,
    ReasonCode,
    Waiver,
    Way,
    bump,
)
from abistore.model.declarations import FACETS
from abistore.model.findings import VERDICT_OF, FailOn, Impact, RulingKey, Side, Verdict
from abistore.model.labels import soname_change
from abistore.report import reasons as words
from abistore.report.model import ReleaseLibrary, Report, ReportedFinding, verdict_of
from abistore.report.wording import ChangeFacts, facts_of, in_words, is_checked
from abistore.service.judging import NOTHING, EvidenceRequirement, evidence_error, lacks, lacks_alone

if TYPE_CHECKING:
    from abistore.model.rules import BoundRule

THRESHOLD: dict[FailOn, Verdict | None] = {
    "breaking": Verdict.BREAKING,
    "api_break": Verdict.API_BREAK,
    "risk": Verdict.COMPATIBLE_WITH_RISK,
    "never": None,
}
RISK_EXIT_CODE = 2
"""The exit code of COMPATIBLE_WITH_RISK with ``--fail-on risk``; without it the code is 0."""

GONE = "bundle_library_removed"
"""A library that is gone is judged by its row: its name is gone with it."""
KEPT = "soname_changed.package_kept"
"""The package kept its name, and a library in it has another SONAME."""


BUMP_ADVICE = "soname_bump_recommended"
"""The advice to bump the SONAME."""

BUMP = "soname_changed"
NEEDED_BUMP = "the breaks need this bump: built programs keep the old library"
"""Why a bump is no risk."""

LAPSES: dict[str, ReasonCode] = {"expired": "waiver-expired", "void": "waiver-void"}


LOOSER: frozenset[FailOn] = frozenset({"breaking", "never"})
"""Values of ``--fail-on`` that let more pass than the default."""

AS_STRICT: frozenset[AllowRule] = frozenset({"scheme", "never"})
"""Values of ``--allow`` that let no more pass than the default."""


class DecisionRequest(msgspec.Struct, frozen=True):
    """What is asked about a release, beside what was found.

    ``why`` it is compared with the other side, and at which ``channel``. It fails from ``fail_on`` on, and is undecided
    without the evidence that ``require`` names. ``allow`` says what the line promises; without it, a promise is told
    and lets nothing pass. Findings that a merge base has already are ``inherited`` and do not fail. ``profile`` is the
    build profile of the line; ``None`` where no line is asked about, in which nothing can be approved.
    ``promise`` is what the line promises where that is known already. ``bound`` is the rule in the store.
    """

    why: ComparedAs = "file"
    channel: str = ""
    fail_on: FailOn = "api_break"
    require: EvidenceRequirement = NOTHING
    allow: AllowPlan | None = None
    inherited: frozenset[str] = frozenset()
    profile: str | None = None
    promise: Bump | None = None
    bound: BoundRule | None = None


def compared_as(against: str | None) -> tuple[ComparedAs, str]:
    """Why ``--against`` compares with a release, and the channel that it names."""
    from abistore.model.versions import channel_in  # files are at no channel

    if against in {None, "prev"}:
        return "previous", ""
    named = (against or "").rpartition("@")[2]
    if channel := channel_in(named):
        return "baseline", channel
    return ("previous", "") if named == "latest" else ("release", "")


def decided(report: Report, asked: DecisionRequest, parts: Sequence[Report] = ()) -> Report:
    """The report with the decision about it, and what follows from that for its readers.

    ``parts`` are the reports of the libraries of a release of several, which say what evidence is missing.
    """
    report = replace(report, fail_on=asked.fail_on)
    return with_decision(report, decide(report, asked, parts))


def with_decision(report: Report, decision: Decision) -> Report:
    """The report of a decision: the exit code is the decision's, and so is the error where evidence is missing.

    Nobody is advised to bump the SONAME of what passes as it is.
    """
    advice = tuple(each for each in report.advice if decision.outcome != "pass" or each.kind != BUMP_ADVICE)
    if decision.code == "allowed":
        report = _with_needed_bumps(report)
    told = replace(report, decision=decision, exit_code=decision.exit_code, advice=advice)
    if decision.outcome != "undecided":
        return told
    lack = evidence_error(decision.missing)
    return replace(told, status="error", code=lack.code, error=lack.message, hint=lack.hint)


def _with_needed_bumps(report: Report) -> Report:
    """The report of an allowed release, in which a bump that its breaks need is no risk: programs load the old SONAME.

    A bump of a library that does not break makes everybody rebuild, and stays a risk.
    """
    broken = {each.name for each in report.libraries if each.verdict == Verdict.BREAKING.name}
    is_broken = verdict_of(report) is Verdict.BREAKING

    def needed(each: ReportedFinding) -> bool:
        bumped = each.kind == BUMP and soname_change(each.old_value, each.new_value) == "bumped"
        breaks = broken.issuperset(each.libraries) if report.libraries else is_broken
        return bumped and breaks and each.impact == "risk"

    changes = [
        replace(each, impact="compatible", default_impact="risk", reason=NEEDED_BUMP) if needed(each) else each
        for each in report.changes
    ]
    count = sum(map(needed, report.changes))
    found = report.summary
    summary = replace(found, risk_changes=found.risk_changes - count, compatible=found.compatible + count)
    worst_first = sorted(changes, key=lambda each: -Impact[each.impact.upper()])
    return replace(report, changes=tuple(worst_first), summary=summary)


def decide(report: Report, asked: DecisionRequest, parts: Sequence[Report] = ()) -> Decision:
    """Decide whether a release may ship, by what was found and what is asked.

    A break that was found is worse than one that may have been missed: a release that fails is not undecided. The first
    release of a line was compared with itself, for want of another one.
    """
    asked = _obeying(asked)
    _check_ruling(report, asked)
    if asked.why == "first":
        return first_release(report.new, asked)
    found = _weighed(report, asked)
    missing = () if found.code else tuple(_missing(parts or (report,), report, asked.require))
    outcome: Outcome = "fail" if found.code else "undecided" if missing else "pass"
    reasons = (*_reasons(report, found, missing), *_bound(asked))
    return Decision(
        library=report.new.library,
        version=report.new.version or "",
        against=Counterpart(asked.why, report.old.version or "", report.old.digest, asked.channel),
        verdict=report.verdict,
        outcome=outcome,
        exit_code=found.code or (EvidenceMissing.exit_code if missing else 0),
        headline=words.headline(outcome, reasons),
        reasons=reasons,
        target=report.new.target,
        profile=asked.profile or "",
        fail_on=asked.fail_on,
        promise=found.promise,
        waivers=tuple(map(_waiver, (each for each in found.heavy if each.approved or each.unapproved))),
        missing=missing,
        ways=tuple(_ways(report, asked, found, missing)),
        consumers=tuple(_hurt(found.heavy)),
    )


# --- what is bound ------------------------------------------------------------------------------------------------


def refused(rule: BoundRule, what: str, hint: str) -> RuleBound:
    """The error for an option that lets more pass than a rule does."""
    return RuleBound(f"{what}: {rule.sentence}", f"{hint}; `abistore policy bound` shows the rules")


def check_options(rule: BoundRule | None, fail_on: FailOn, allow: AllowRule | None) -> None:
    """Raise :class:`RuleBound` for what lets more pass than a rule does."""
    if rule is None:
        return
    if fail_on in LOOSER:
        raise refused(rule, f"--fail-on {fail_on} does not apply", "leave --fail-on out, or fail on risk")
    if allow is not None and allow not in AS_STRICT:
        raise refused(rule, f"--allow {allow} does not apply", "leave --allow out, or pass never")


def needed(rule: BoundRule | None, require: EvidenceRequirement) -> EvidenceRequirement:
    """The evidence that a gate needs, with what is bound."""
    if rule is None or set(rule.require) <= set(require.facets):
        return require
    facets = tuple(facet for facet in FACETS if facet in (*require.facets, *rule.require))
    return replace(require, facets=facets)


def planned(rule: BoundRule | None, plan: AllowPlan | None) -> AllowPlan | None:
    """What decides which releases may break, with the scheme that is bound."""
    if rule is None or not rule.scheme or plan is None:
        return plan
    return replace(plan, scheme=rule.scheme)


def _obeying(asked: DecisionRequest) -> DecisionRequest:
    """What is asked, as the rule in the store makes it. Raises :class:`RuleBound` for what lets more pass."""
    rule = asked.bound
    if rule is None:
        return asked
    check_options(rule, asked.fail_on, asked.allow.rule if asked.allow else None)
    if asked.inherited:
        raise RuleBound(f"--introduced-only does not apply: {rule.sentence}", "leave it out: every break counts")
    promise = None if rule.scheme else asked.promise
    require, allow = needed(rule, asked.require), planned(rule, asked.allow)
    return replace(asked, require=require, allow=allow, promise=promise)


def _check_ruling(report: Report, asked: DecisionRequest) -> None:
    """Raise :class:`RuleBound` for a report by another policy than the bound one, or with suppressions."""
    rule = asked.bound
    if rule is None:
        return
    wanted = rule.policy or RulingKey().policy
    if report.policy != wanted or report.suppression_digest:
        other = "with suppressions" if report.policy == wanted else f"by policy {report.policy}"
        raise RuleBound(f"a comparison {other} does not count: {rule.sentence}", f"compare by policy {wanted} alone")


def _bound(asked: DecisionRequest) -> Iterator[Reason]:
    if asked.bound is not None:
        yield Reason("bound", asked.bound.sentence)


def first_release(new: Side, asked: DecisionRequest) -> Decision:
    """The decision about the first release of a line, which no release precedes."""
    asked = _obeying(asked)
    missing = lacks_alone(str(new), new.evidence, asked.require)
    outcome: Outcome = "undecided" if missing else "pass"
    reasons = (
        *(Reason("evidence-missing", each.sentence) for each in missing),
        Reason("first-release", f"{new} is the first release of its line: there is no previous release"),
        *_bound(asked),
    )
    return Decision(
        new.library,
        new.version or "",
        Counterpart("first"),
        None,
        outcome,
        EvidenceMissing.exit_code if missing else 0,
        words.headline(outcome, reasons),
        reasons,
        target=new.target,
        profile=asked.profile or "",
        fail_on=asked.fail_on,
        missing=missing,
        ways=tuple(Way("evidence", each.hint or each.sentence) for each in missing),
    )


def not_judged(new: Side, asked: DecisionRequest, old: Side, why: str) -> Decision:
    """The decision about a release that could not be compared with one that it has to be compared with."""
    reasons = (Reason("not-judged", f"{new} was not compared with {old.version}: {why}"), *_bound(asked))
    return Decision(
        new.library,
        new.version or "",
        Counterpart(asked.why, old.version or "", old.digest, asked.channel),
        None,
        "undecided",
        EvidenceMissing.exit_code,
        words.headline("undecided", reasons),
        reasons,
        target=new.target,
        profile=asked.profile or "",
        fail_on=asked.fail_on,
    )


def undecided(report: Report, lack: EvidenceMissing) -> Report:
    """The report of a release that would pass, and of which evidence is missing that no comparison shows."""
    assert report.decision is not None
    missing = (MissingEvidence(None, lack.message, lack.hint),)
    reasons = (Reason("evidence-missing", lack.message), *report.decision.reasons)
    said = words.headline("undecided", reasons)
    told = replace(report.decision, outcome="undecided", exit_code=lack.exit_code, headline=said, reasons=reasons)
    ways = (Way("evidence", lack.hint or lack.message),)
    return with_decision(report, replace(told, missing=missing, ways=ways))


# --- weighing -----------------------------------------------------------------------------------------------------


class _Weighed(NamedTuple):
    """What was found: the exit code, what the line promises, and the findings that would fail by themselves."""

    code: int
    promise: Bump
    allowed: bool
    heavy: tuple[ReportedFinding, ...]
    inherited: frozenset[str]

    @property
    def waived(self) -> tuple[ReportedFinding, ...]:
        return tuple(each for each in self.heavy if each.approved)

    @property
    def existing(self) -> tuple[ReportedFinding, ...]:
        return tuple(each for each in self.heavy if not each.approved and each.id in self.inherited)

    @property
    def failing(self) -> tuple[ReportedFinding, ...]:
        return tuple(each for each in self.heavy if not each.approved and each.id not in self.inherited)


def _weighed(report: Report, asked: DecisionRequest) -> _Weighed:
    promise = asked.promise or promised(report, asked.allow)
    allowed = asked.allow is not None and promise.allowed and verdict_of(report) >= Verdict.API_BREAK
    heavy = tuple(each for each in report.changes if _is_heavy(each, asked.fail_on))
    excused = {each.id for each in heavy if each.approved or each.id in asked.inherited}
    code = 0 if allowed else _code(report, excused, asked.fail_on)
    return _Weighed(code, promise, allowed, heavy, asked.inherited)


def _is_heavy(finding: ReportedFinding, fail_on: FailOn) -> bool:
    return fail_on != "never" and Impact[finding.impact.upper()] >= Impact[fail_on.upper()]


def _code(report: Report, excused: set[str], fail_on: FailOn) -> int:
    code = exit_code(verdict_of(report), fail_on)
    if not code or not excused or _worst(report.changes) is not verdict_of(report):
        return code
    return exit_code(_worst(each for each in report.changes if each.id not in excused), fail_on)


def _worst(findings: Iterable[ReportedFinding]) -> Verdict:
    return max((VERDICT_OF[Impact[each.impact.upper()]] for each in findings), default=Verdict.NO_CHANGE)


def exit_code(verdict: Verdict, fail_on: FailOn) -> int:
    """0 if the verdict is milder than ``fail_on``; else the verdict's own code, 2 for a risk."""
    threshold = THRESHOLD[fail_on]
    if threshold is None or verdict < threshold:
        return 0
    return verdict.exit_code or RISK_EXIT_CODE


def _missing(parts: Sequence[Report], whole: Report, require: EvidenceRequirement) -> Iterator[MissingEvidence]:
    """The evidence that is required and missing: of several libraries that of the first, and how many lack some."""
    every = parts if whole in parts else (*parts, whole)
    found = [each for each in (lacks(part, require) for part in every) if each]
    for number, each in enumerate(found[0] if found else ()):
        more = f" (and of {len(found) - 1} more)" if number == len(found[0]) - 1 and len(found) > 1 else ""
        yield replace(each, sentence=f"{each.sentence}{more}")


# --- what the line promises ---------------------------------------------------------------------------------------


def promised(report: Report, allow: AllowPlan | None = None) -> Bump:
    """What the line promises by its SONAME and its label, and whether this step keeps it."""
    plan = allow or FOR_SCHEME
    return _of_libraries(report, plan) if report.libraries else _of_one(report, plan)


def _of_one(report: Report, plan: AllowPlan) -> Bump:
    facts = replace(facts_of(report), users=plan.users, early=plan.early)
    adds = report.churn is not None and report.churn.added > 0
    return in_words(bump(facts.verdict, facts.labels, facts.sonames, plan, adds=adds), facts)


def _of_libraries(report: Report, plan: AllowPlan) -> Bump:
    """The answer for a release of several libraries: each that breaks must be allowed to."""
    labels = OldAndNew(report.old.version, report.new.version)
    checked = is_checked(report)
    found = [
        _of_library(each, labels, plan, checked) for each in report.libraries if each.state not in {"added", "moved"}
    ]
    between = [each for each in _breaks(report.changes) if not each.libraries and each.kind != GONE]
    kept = all(each.kind == KEPT for each in between)
    if between:
        verdict = Verdict.BREAKING if any(each.impact == "breaking" for each in between) else Verdict.API_BREAK
        base = bump(verdict, labels, OldAndNew(None, None), replace(plan, rule="never"))
        facts = ChangeFacts(labels, OldAndNew(None, None), verdict, len(between), library="the package itself")
        found.append((replace(base, reason="package-kept" if kept else "between-libraries", rule=plan.rule), facts))
    if not found:
        return _of_one(report, plan)
    refused = [each for each in found if not each[0].allowed]
    decisive, facts = max(refused or found, key=lambda each: each[1].verdict)
    return in_words(decisive, facts)


def _breaks(changes: Sequence[ReportedFinding]) -> Iterator[ReportedFinding]:
    yield from (each for each in changes if each.impact in {"breaking", "api_break"})


def _of_library(row: ReleaseLibrary, labels: OldAndNew, plan: AllowPlan, checked: bool) -> tuple[Bump, ChangeFacts]:
    sonames = OldAndNew(row.old_soname, row.new_soname)
    verdict = Verdict[row.verdict] if row.verdict else Verdict.BREAKING
    breaks = 0
    if row.summary is not None:
        breaks = row.summary.breaking if verdict is Verdict.BREAKING else row.summary.api_breaks
    adds = (row.new_exports or 0) > (row.old_exports or 0)
    facts = ChangeFacts(labels, sonames, verdict, breaks, library=row.name, checked=checked)
    return bump(verdict, labels, sonames, plan, adds=adds), facts


# --- reasons and ways ---------------------------------------------------------------------------------------------


def _reasons(report: Report, found: _Weighed, missing: Sequence[MissingEvidence]) -> Iterator[Reason]:
    yield from (Reason("evidence-missing", each.sentence) for each in missing)
    yield _first_reason(report, found)
    if found.waived and (found.code or found.allowed or found.existing):
        yield Reason("waived", words.waived(found.waived), _ids(found.waived))
    if found.existing and (found.code or found.waived):
        yield Reason("inherited", words.inherited(found.existing, alone=not found.code), _ids(found.existing))
    if found.code:
        for each in found.failing:
            if each.lapse:
                yield Reason(LAPSES[each.lapse], f"{each.display}: {each.unapproved}", (each.id,))


def _first_reason(report: Report, found: _Weighed) -> Reason:
    """The reason that decides where the evidence suffices."""
    verdict, promise = verdict_of(report), found.promise
    if found.code and verdict < Verdict.API_BREAK:
        return Reason("risk", words.risky(report), _ids(found.failing))
    if found.code:
        code: ReasonCode = "breaking" if verdict is Verdict.BREAKING else "source-breaking"
        return Reason(code, words.breaking(report, promise), _ids(found.failing))
    if found.allowed:
        return Reason("allowed", promise.sentence, _ids(found.heavy))
    if found.waived and not found.existing:
        return Reason("waived", words.waived(found.waived), _ids(found.waived))
    if found.existing:
        return Reason("inherited", words.inherited(found.existing, alone=True), _ids(found.existing))
    if verdict >= Verdict.API_BREAK:
        return Reason("tolerated", words.tolerated(report))
    return Reason("no-break", words.no_break(report, promise))


def _ids(findings: Iterable[ReportedFinding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.id for each in findings))


def _ways(report: Report, asked: DecisionRequest, found: _Weighed, missing: Sequence[MissingEvidence]) -> Iterator[Way]:
    """What would make the release pass: each is one thing to do."""
    yield from (Way("evidence", each.hint or each.sentence) for each in missing)
    if not found.code:
        return
    if found.failing:
        yield Way("restore", words.restore(found.failing))
    promise = found.promise
    if not promise.allowed and promise.rule != "never" and promise.reason != "removed-too-early":
        yield Way("bump", words.bump_way(promise, report.new.soname or report.old.soname))
    if promise.allowed and asked.allow is None and verdict_of(report) >= Verdict.API_BREAK:
        yield Way("bump", "judge it as a release that may break: --allow scheme")
    if asked.profile is not None and found.failing:
        command = f"abistore approve {' '.join(_ids(found.failing))} {_where(report, asked.profile)} --reason WHY"
        yield Way("approve", f"approve it: {command}", command)


def _where(report: Report, profile: str) -> str:
    from abistore.model.history import DEFAULT_PROFILE  # files are of no line

    said = "" if profile == DEFAULT_PROFILE else f" --profile {profile}"
    return f"--library {report.new.library} --target {report.new.target}{said}"


def _waiver(finding: ReportedFinding) -> Waiver:
    one, about = finding.approved, (finding.id, finding.kind, finding.display)
    if one is None:
        return Waiver(*about, finding.lapse or "void", finding.part, said=finding.unapproved)
    told = (one.approver, one.reason, one.ticket, one.scope, one.until, one.approved)
    return Waiver(*about, "approved", finding.part, *told)


def _hurt(findings: Iterable[ReportedFinding]) -> Iterator[HurtConsumer]:
    met: dict[str, list[str]] = {}
    for each in findings:
        for consumer in each.consumers:
            met.setdefault(consumer, []).append(each.id)
    yield from (HurtConsumer(name, tuple(ids)) for name, ids in sorted(met.items()))
