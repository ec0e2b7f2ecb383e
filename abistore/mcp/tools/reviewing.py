"""``abi_review_build``: the decision about a build, every break by name, and the comment for its pull request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from abistore.arguments import BuildVersion, MergeBase, NamedLibrary
from abistore.interface import (
    BuildReviewPlan,
    Decision,
    ExtractOptions,
    Report,
    ReportedFinding,
    ReviewedBuild,
    Selection,
    Summary,
    Waiver,
    review_build,
)
from abistore.mcp.answers import (
    Answer,
    ComparedSide,
    Gap,
    NextCall,
    advice,
    asking,
    brief,
    fitting,
    gaps,
    side,
)
from abistore.mcp.operands import Call, keep, operand, ruling_of
from abistore.mcp.tools.comparing import headers_of_sides
from abistore.mcp.tools.declaration import (
    Folders,
    Headers,
    Language,
    Line,
    Operand,
    Policy,
    PolicyFile,
    SuppressionFile,
    described,
    tool,
)
from abistore.mcp.tools.summary import markdown_comment
from abistore.model.decision import Outcome, WayCode
from abistore.report.model import ImpactLabel, VerdictName
from abistore.report.reasons import bump_sentence, short_ways
from abistore.report.wording import subject

BUDGET = 1_500
MOST_WAIVERS = 20
BREAKS = ("breaking", "api_break")


class BreakItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A finding that breaks programs or sources. ``novelty``: whether the merge base has it already.

    ``consumers`` are the stored programs that it hurts. One that is ``waived`` was approved.
    """

    id: str
    name: str
    kind: str
    impact: ImpactLabel
    novelty: Literal["", "new", "known"] = ""
    consumers: tuple[str, ...] = ()
    waived: bool = False


class HurtItem(msgspec.Struct, frozen=True):
    """A stored program that breaks, and through which declarations."""

    name: str
    through: tuple[str, ...]


class PassItem(msgspec.Struct, frozen=True):
    """One thing to do, after which the build passes."""

    code: WayCode
    sentence: str


class LackItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Evidence that the decision needs and does not have, and how to get it."""

    sentence: str
    hint: str = ""


class BuildAnswer(Answer, frozen=True, kw_only=True):
    """The decision about a build: ``outcome`` says whether it may be released, ``verdict`` what changed.

    ``breaks`` are all breaking and source-breaking findings, worst first, ``total_breaks`` their number. ``comment`` is
    whole, and can be posted as it is.
    """

    outcome: Outcome
    exit_code: int
    verdict: VerdictName
    comparison_id: str
    old: ComparedSide
    new: ComparedSide
    summary: Summary
    reasons: tuple[str, ...]
    breaks: tuple[BreakItem, ...]
    total_breaks: int
    consumers: tuple[HurtItem, ...]
    comment: str
    bump: str = ""
    advice: tuple[str, ...] = ()
    ways: tuple[PassItem, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    missing: tuple[LackItem, ...] = ()
    not_checked: tuple[Gap, ...] = ()
    since: str = ""
    warnings: tuple[str, ...] = ()
    next: tuple[NextCall, ...] = ()


@tool("Review a build")
def abi_review_build(
    call: Call,
    *,
    new_input: Operand,
    old_input: Annotated[str | None, described("Else the baseline of its library")] = None,
    library: NamedLibrary = None,
    version: BuildVersion = None,
    headers: Headers = None,
    old_headers: Headers = None,
    new_headers: Headers = None,
    include_dirs: Folders = None,
    language: Language = None,
    merge_base: MergeBase = None,
    line: Line = None,
    policy: Policy = "strict_abi",
    policy_file: PolicyFile = None,
    suppression_file: SuppressionFile = None,
) -> BuildAnswer:
    """Review a build in one call: may it be released, what breaks, and whom?

    Use this for a pull request or a release. Tells the decision with its exit code, every break by name, the label and
    SONAME that it needs, the stored programs that break, what was not checked, and a whole comment in Markdown.
    Example: new_input="/ci/libfoo.so", new_headers=["/ci/include"].
    """
    new = operand(call.settings, new_input, "new_input")
    old = operand(call.settings, old_input, "old_input") if old_input is not None else None
    given = {"headers": headers, "old_headers": old_headers, "new_headers": new_headers}
    named = headers_of_sides(call, given, include_dirs, language)
    target, _, profile = (line or "").partition("/")
    options = ExtractOptions(
        version=None if isinstance(old, Path) else version,
        max_bytes=call.settings.max_file_size,
        progress=call.progress,
        headers=named["headers"],
    )
    plan = BuildReviewPlan(
        library=library,
        merge_base=merge_base,
        by=ruling_of(call.settings, policy, policy_file, suppression_file, gate=True),
        selection=Selection(target or None, profile or None, options, named["old_headers"], named["new_headers"]),
    )
    if isinstance(old, Path) and isinstance(new, Path) and call.has_no_store:
        return _answer(call, review_build(new, old, replace(plan, consumers=False)), new)
    with call.store() as store:
        return _answer(call, review_build(new, old, plan, database=store), new)


def _answer(call: Call, reviewed: ReviewedBuild, new: str | Path) -> BuildAnswer:
    report, decision = reviewed.report, reviewed.report.decision
    assert decision is not None, "a review decides"
    breaks = tuple(_break(each, reviewed) for each in report.changes if each.impact in BREAKS)
    shown = tuple(fitting(breaks, BUDGET))
    comparison_id = keep(call, report)
    return BuildAnswer(
        headline=decision.headline,
        outcome=decision.outcome,
        exit_code=decision.exit_code,
        verdict=report.verdict,
        comparison_id=comparison_id,
        old=side(report.old),
        new=side(report.new),
        summary=report.summary,
        reasons=tuple(each.sentence for each in decision.reasons),
        breaks=shown,
        total_breaks=len(breaks),
        consumers=tuple(_hurt(report, decision)),
        comment=markdown_comment(report, new=new.name if isinstance(new, Path) else "")[0],
        bump=bump_sentence(report),
        advice=advice(report),
        ways=tuple(PassItem(each.code, each.sentence) for each in short_ways(decision)),
        waivers=decision.waivers[:MOST_WAIVERS],
        missing=tuple(LackItem(each.sentence, each.hint) for each in decision.missing),
        not_checked=gaps(report),
        since=_since(reviewed),
        warnings=tuple(map(brief, report.notes)),
        next=tuple(_next(report, comparison_id, listed=len(shown) == len(breaks))),
    )


def _break(finding: ReportedFinding, reviewed: ReviewedBuild) -> BreakItem:
    since = reviewed.since
    novelty: Literal["", "new", "known"] = ""
    if since is not None:
        novelty = "new" if finding.id in since.introduced else "known" if finding.id in since.inherited else ""
    return BreakItem(
        id=finding.id,
        name=brief(subject(finding)),
        kind=finding.kind,
        impact=finding.impact,
        novelty=novelty,
        consumers=finding.consumers,
        waived=finding.approved is not None,
    )


def _hurt(report: Report, decision: Decision) -> Iterator[HurtItem]:
    names = {each.id: brief(each.display, 120) for each in report.changes}
    for each in decision.consumers:
        yield HurtItem(each.name, tuple(dict.fromkeys(names[one] for one in each.findings)))


def _since(reviewed: ReviewedBuild) -> str:
    """What the change brought, in a sentence; why that is not known, where it is not."""
    since = reviewed.since
    if since is None:
        return ""
    if since.untold:
        return f"new and existing breaks cannot be separated: {since.untold}"
    new, known = len(since.introduced), len(since.inherited)
    return f"since {since.merge_base}: {new} that fail are new, {known} existed before"


def _next(report: Report, comparison_id: str, *, listed: bool) -> Iterator[NextCall]:
    breaks = [each for each in report.changes if each.impact in BREAKS]
    if breaks and not listed:
        say = "List the breaks that are left out here."
        yield asking("abi_findings", say, comparison_id=comparison_id, impact=breaks[0].impact)
    if breaks:
        say = "Read the worst break: its declaration, and how to avoid it."
        yield asking("abi_finding", say, comparison_id=comparison_id, finding_id=breaks[0].id)
    if not breaks:
        yield asking("abi_gate", "See whether CI would fail.", comparison_id=comparison_id)
    if report.summary.risk_changes:
        yield asking("abi_findings", "List the risks.", comparison_id=comparison_id, impact="risk")
    if not report.changes and report.suppressed_count:
        yield asking("abi_findings", "List what is suppressed.", comparison_id=comparison_id, state="suppressed")
