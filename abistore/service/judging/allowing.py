"""Whether the release that a report is about is allowed, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from abistore.model.findings import Verdict
from abistore.model.judging.bump import FOR_SCHEME, AllowPlan, Bump, OldAndNew, bump
from abistore.report.model import ReleaseLibrary, Report, ReportedFinding, verdict_of
from abistore.report.releases.allowance import ChangeFacts, facts_of, in_words, is_checked


def assessed(report: Report, allow: AllowPlan | None = None) -> Report:
    """The report with the answer. With ``allow``, a gate follows it; without, it is only told by the line's scheme."""
    plan = allow or FOR_SCHEME
    found = _of_libraries(report, plan) if report.libraries else _of_one(report, plan)
    return replace(report, bump=replace(found, decides=allow is not None))


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
    between = [each for each in _worst(report.changes) if not each.libraries and each.kind != GONE]
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


GONE = "bundle_library_removed"
"""A library that is gone is judged by its row: its name is gone with it."""


KEPT = "soname_changed.package_kept"
"""The package kept its name, and a library in it has another SONAME."""


def _worst(changes: Sequence[ReportedFinding]) -> Iterator[ReportedFinding]:
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


def passes(report: Report) -> bool:
    """Whether a gate passes because the release is allowed to break what it breaks."""
    return report.bump is not None and report.bump.passes and verdict_of(report) >= Verdict.API_BREAK
