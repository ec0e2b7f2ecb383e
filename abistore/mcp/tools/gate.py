"""``abi_gate``: whether CI would fail."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, NamedTuple

from abistore.interface import (
    AllowPlan,
    EvidenceRequirement,
    Report,
    Ruling,
    SnapshotNotFound,
    db_scheme,
    gated,
    requirement,
    since_merge_base,
)
from abistore.mcp.answers.answer import Answer, asking, brief
from abistore.mcp.answers.compared import BumpItem, Gap, bump_item, counts, gaps
from abistore.mcp.call import Call
from abistore.mcp.handles import SHOWN, keep, told_report
from abistore.mcp.lines import line_of
from abistore.mcp.operands import allow_rule, ruling_of
from abistore.mcp.refusals import Refusal
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import Allow, FailOn, Line, Policy, described
from abistore.model.judging.bump import AllowRule
from abistore.model.labels.windows import DeprecationWindow
from abistore.model.labels.windows import window as read_window
from abistore.report.heading import passing
from abistore.report.model import VerdictName

NEXT = {True: ("abi_findings", "abi_pr_summary"), False: ("abi_pr_summary",)}
"""What follows a gate, by whether it fails."""


NOTES = 2
"""How many remarks a gate's answer has: that nothing else was compared, or that a release was withdrawn."""


class GateAnswer(Answer, frozen=True, kw_only=True):
    """What a gate would say; ``rule_source`` is what the findings were judged by."""

    would_fail: bool
    verdict: VerdictName
    exit_code: int
    reasons: tuple[str, ...]
    rule_source: str
    comparison_id: str
    bump: BumpItem | None = None
    not_checked: tuple[Gap, ...] = ()
    next: tuple[str, ...] = ()


@tool()
def abi_gate(
    call: Call,
    *,
    comparison_id: Annotated[str | None, described("Or give library")] = None,
    library: Annotated[str | None, described("As stored")] = None,
    version: Annotated[str, described("Label, as a string")] = "latest",
    against: Annotated[str, described("baseline[:CHANNEL], prev or version")] = "baseline",
    line: Line = None,
    fail_on: FailOn = "api_break",
    require_evidence: Annotated[str | None, described("symbol, layout, source, old or none")] = None,
    policy: Policy = "strict_abi",
    allow: Allow = "scheme",
    merge_base: Annotated[str, described("Revision")] = "",
    deprecation: Annotated[str, described("Window: 2 minor")] = "",
) -> GateAnswer:
    """Tell whether CI would fail: give library, or comparison_id."""
    for name, value in (("merge_base", merge_base), ("deprecation", deprecation)):
        if value and library is None:
            raise Refusal("INVALID_ARGUMENT", f"{name} needs library", "a comparison alone has no line of builds")
    required, rule = requirement(require_evidence), allow_rule(allow)
    by = ruling_of(call.settings, policy, None, None)
    if (comparison_id is None) == (library is None):
        raise Refusal("INVALID_ARGUMENT", "give comparison_id or library", "one of them, and not both")
    if comparison_id is not None:
        if by is not None:
            hint = "compare again with abi_compare(policy=...), and give its comparison_id"
            raise Refusal("INVALID_ARGUMENT", "a comparison was judged already: policy has no effect on it", hint)
        report = _gated(call, told_report(call, comparison_id), (fail_on, required, rule))
    else:
        rules = _Rules(fail_on, required, by, rule, read_window(deprecation) if deprecation else None)
        report = _stored(call, f"{library}@{version}", against, line, rules)
    since = _since(call, report, merge_base, (line, by)) if merge_base else ()
    return _answer(report, keep(call, report), since)


def _since(call: Call, report: Report, merge_base: str, asked: tuple[str | None, Ruling | None]) -> tuple[str, ...]:
    """What the change since its merge base brought, and what stood before."""
    line, by = asked
    with call.store() as store:
        profile = line_of(store, report.new.library, line).profile
        told = since_merge_base(report, merge_base, profile=profile, by=by, database=store)
    if told.untold:
        return (brief(f"not told apart: {told.untold}"),)
    return (f"since {told.merge_base}: {len(told.introduced)} that fail are new, {len(told.inherited)} stood before",)


class _Rules(NamedTuple):
    """What a stored release is judged by."""

    fail_on: FailOn
    required: EvidenceRequirement | None
    by: Ruling | None
    allow: AllowRule
    deprecation: DeprecationWindow | None


def _stored(call: Call, reference: str, against: str, line: str | None, rules: _Rules) -> Report:
    with call.store() as store:
        chosen = line_of(store, reference.partition("@")[0], line)
        judged = store.verdict(
            reference,
            against=against,
            target=chosen.target,
            profile=chosen.profile,
            fail_on=rules.fail_on,
            require=rules.required,
            by=rules.by,
            allow=rules.allow,
            deprecation=rules.deprecation,
        )
    return judged.report


def _gated(call: Call, report: Report, rules: tuple[FailOn, EvidenceRequirement | None, AllowRule]) -> Report:
    """A comparison at the gate, by the version scheme of its library where one is stored."""
    fail_on, required, allow = rules
    plan = AllowPlan(allow)
    if not call.has_no_store:
        with call.store() as store, suppress(SnapshotNotFound):
            plan = AllowPlan(allow, db_scheme(report.new.library, database=store).scheme)
    needed = EvidenceRequirement(no_less=fail_on != "never") if required is None else required
    return gated(report, fail_on, needed, plan)


def _answer(report: Report, comparison_id: str, since: tuple[str, ...]) -> GateAnswer:
    failing = report.exit_code != 0
    files = ", ".join(file.name for file in report.suppression_files)
    sides = f"{report.old} -> {report.new}"
    return GateAnswer(
        headline=f"{'WOULD FAIL' if failing else 'WOULD PASS'} with {report.exit_code}: {report.verdict}, {sides}",
        would_fail=failing,
        verdict=report.verdict,
        exit_code=report.exit_code,
        reasons=(*_reasons(report), *since),
        rule_source=f"policy {report.policy}; fail_on {report.fail_on}; suppressions {files or 'none'}",
        comparison_id=comparison_id[:SHOWN],
        bump=bump_item(report),
        not_checked=gaps(report),
        next=tuple(asking(tool, comparison_id=comparison_id[:SHOWN]) for tool in NEXT[failing]),
    )


def _reasons(report: Report) -> tuple[str, ...]:
    found = [f"{counts(report.summary)}; the mildest impact that fails is {report.fail_on}"]
    if report.bump is not None and (report.bump.passes or not report.bump.allowed) and report.bump.sentence:
        found.append(brief(report.bump.sentence))
    if report.error:
        found.append(f"{brief(report.error)}; {brief(report.hint)}")
    if passing(report):
        found.append(brief(passing(report)))
    found += [brief(note) for note in report.notes[:NOTES]]
    if report.suppressed_count:
        found.append(f"{report.suppressed_count} findings are suppressed and do not count")
    return tuple(found)
