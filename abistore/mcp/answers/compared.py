"""What every answer about a comparison says: the verdict, what it covers, and what was not checked."""

from __future__ import annotations

import msgspec

from abistore.interface import Bump, Evidence, Report, Side, Summary
from abistore.mcp.answers.answer import asking, brief
from abistore.report.wording import numbers

MOST_GAPS = 4


class ComparedSide(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One side; ``evidence`` says how much each facet could see."""

    library: str
    version: str | None = None
    digest: str
    evidence: tuple[str, ...]


class Gap(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that was not checked: a break there would not have been seen.

    With the reason ``guessed`` it is what programs can name: what breaks may be none of their business.
    """

    facet: str
    side: str
    reason: str
    detail: str = ""
    hint: str = ""
    names: int = 0


class BumpItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whether a release is allowed: the step that its changes require, and the one that its label declares."""

    required: str
    declared: str | None = None
    allowed: bool
    reason: str
    sentence: str = ""


def bump_item(report: Report) -> BumpItem | None:
    """Whether the release of a report is allowed, in short."""
    return bump_of(report.bump) if report.bump is not None and report.bump.sentence else None


def bump_of(found: Bump) -> BumpItem:
    """The answer in short."""
    return BumpItem(
        required=found.required,
        declared=found.declared,
        allowed=found.allowed,
        reason=found.reason,
        sentence=brief(found.sentence),
    )


def counts(summary: Summary) -> str:
    """The numbers of findings, worst first, as reports have them: ``2 breaking, 28 risks``."""
    return numbers(summary) or "no changes"


def headline(report: Report) -> str:
    """The comparison in one line, the verdict first."""
    gap = " in what could be checked" if report.evidence_gap else ""
    suppressed = f"; {report.suppressed_count} suppressed" if report.suppressed_count else ""
    missing = f"; NOT CHECKED: {report.evidence_gap}" if report.evidence_gap else ""
    sides = f"{brief(str(report.old), 80)} -> {brief(str(report.new), 80)}"
    return f"{report.verdict}{gap}: {sides}: {counts(report.summary)}{suppressed}{missing}"


def side(one: Side) -> ComparedSide:
    """A side of a comparison."""
    return ComparedSide(
        library=brief(one.library, 80),
        version=one.version,
        digest=one.digest[:12],
        evidence=tuple(map(extent, one.evidence)),
    )


def extent(evidence: Evidence) -> str:
    """How much a facet could see, and whence: ``layout full (from build-id)``, ``layout missing: no-debug-info``."""
    part = f" {evidence.described} of {evidence.expected}" if evidence.state == "partial" and evidence.expected else ""
    source = f" (from {evidence.source})" if evidence.source else ""
    reason = f": {evidence.reason}" if evidence.reason else ""
    return f"{evidence.facet} {evidence.state}{part}{source}{reason}"


def gaps(report: Report) -> tuple[Gap, ...]:
    """The first few things that were not checked. Ahead of them: that it is guessed which declarations are public."""
    found = [Gap(facet="source", side="both", reason="guessed", detail=report.guessed)] if report.guessed else []
    found += [
        Gap(
            facet=item.facet,
            side=item.side,
            reason=item.reason,
            detail=brief(item.detail, 160),
            hint=brief(item.hint, 160),
            names=len(item.names),
        )
        for item in report.not_checked
    ]
    return tuple(found[:MOST_GAPS])


def advice(report: Report) -> tuple[str, ...]:
    """What to do about all findings together: ``soname_bump_recommended: breaking changes under ...``."""
    return tuple(f"{one.kind}: {brief(one.description)}" for one in report.advice)


def next_calls(report: Report, comparison_id: str, *, listed: bool) -> tuple[str, ...]:
    """What usually follows a comparison; ``listed`` where its answer has all findings already."""
    gate = asking("abi_gate", comparison_id=comparison_id)
    if report.changes:
        worst = report.changes[0]
        one = asking("abi_finding", finding_id=worst.id, comparison_id=comparison_id)
        return (one if listed else asking("abi_findings", comparison_id=comparison_id, impact=worst.impact), gate)
    accepted = asking("abi_findings", comparison_id=comparison_id, state="suppressed")
    return (accepted, gate) if report.suppressed_count else (gate,)
