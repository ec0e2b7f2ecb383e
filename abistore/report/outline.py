"""Arrange a judged comparison as a report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from abistore.model.cpp_names.demangle import demangle
from abistore.model.findings import Churn, Comparison, Finding, Impact, NotChecked, unequal_evidence
from abistore.model.judging.identity import covered, identified, identity_of, place
from abistore.model.judging.kinds import variant_of
from abistore.model.names import Name
from abistore.report.guesses import guessed
from abistore.report.heading import comparison_gap
from abistore.report.model import (
    SCHEMA,
    ChangeKind,
    ComparedDeclaration,
    ImpactLabel,
    Report,
    ReportedFinding,
    ReportedNotChecked,
    Summary,
    VerdictName,
    every,
)


def outline(
    comparison: Comparison,
    *,
    churn: Churn | None = None,
    kinds: Iterable[ChangeKind] = (),
    declarations: tuple[ComparedDeclaration, ...] = (),
) -> Report:
    """The report of a comparison. Of ``kinds``, it has those that occur."""
    return Report(
        status="ok",
        schema=SCHEMA,
        verdict=cast(VerdictName, comparison.verdict.name),
        exit_code=comparison.verdict.exit_code,
        summary=_summary(comparison),
        changes=_all_reported(comparison.findings),
        suppressed_count=len(comparison.suppressed),
        suppressed=_all_reported(comparison.suppressed),
        not_checked=tuple(map(_unchecked, comparison.not_checked)),
        notes=comparison.notes,
        old=comparison.old,
        new=comparison.new,
        policy=comparison.policy,
        engine=comparison.engine,
        churn=churn,
        kinds=_occurring(comparison, kinds),
        declarations=declarations,
        policy_digest=comparison.policy_digest,
        suppression_digest=comparison.suppression_digest,
        unequal_evidence=unequal_evidence(comparison.old.evidence, comparison.new.evidence),
        advice=_all_reported(comparison.advice),
        policy_file=comparison.policy_file,
        suppression_files=comparison.suppression_files,
        evidence_gap=comparison_gap(comparison),
        guessed=guessed(comparison),
    )


def _occurring(comparison: Comparison, kinds: Iterable[ChangeKind]) -> tuple[ChangeKind, ...]:
    used = {finding.kind for finding in every((*comparison.findings, *comparison.suppressed, *comparison.advice))}
    return tuple(sorted((card for card in kinds if card.kind in used), key=lambda card: card.kind))


def _summary(comparison: Comparison) -> Summary:
    return Summary(
        breaking=comparison.count(Impact.BREAKING),
        api_breaks=comparison.count(Impact.API_BREAK),
        risk_changes=comparison.count(Impact.RISK),
        compatible=comparison.count(Impact.COMPATIBLE),
        total_changes=len(comparison.findings),
    )


def _all_reported(findings: Iterable[Finding]) -> tuple[ReportedFinding, ...]:
    return tuple(reported(finding, identity) for identity, finding in identified(findings))


def reported(finding: Finding, identity: str) -> ReportedFinding:
    """A single finding, as reports have it."""
    return ReportedFinding(
        id=identity,
        place=place(finding).hex(),
        kind=finding.kind,
        symbol=finding.name.spelling,
        display=_display(finding.name),
        part=finding.part,
        subject=finding.name.kind,
        description=finding.description,
        impact=cast(ImpactLabel, finding.impact.label),
        facet=finding.facet,
        old_value=finding.old_value,
        new_value=finding.new_value,
        source_location=str(finding.location) if finding.location else None,
        affected=tuple(name.spelling for name in finding.affected),
        affected_count=len(finding.affected),
        consequences=_all_reported(finding.consequences),
        variant=variant_of(finding.kind),
        default_impact=cast(ImpactLabel, finding.default_impact.label) if finding.default_impact is not None else None,
        reason=finding.reason,
        suppressed_by=finding.suppressed_by,
        suppression_reason=finding.suppression_reason,
        suppression_expires=finding.suppression_expires,
        covers=covered(finding),
    )


def parts_of(finding: ReportedFinding) -> frozenset[str]:
    """The ids of all that a reported finding covers, each by itself: its own, and those of what is bound to it."""
    name, values = Name(finding.subject, finding.symbol), (finding.old_value, finding.new_value)
    told = Finding(finding.kind, name, finding.part, "", Impact.NOTICE, finding.facet, *values)
    return frozenset((identity_of(told, ()).hex(), *finding.covers))


def _display(name: Name) -> str:
    linked = name.kind in {"function", "variable", "import"}
    return (demangle(name.spelling) if linked else name.spelling) or "the library"


def _unchecked(item: NotChecked) -> ReportedNotChecked:
    names = tuple(name.spelling for name in item.names)
    return ReportedNotChecked(item.facet, item.side, item.reason, item.detail, item.hint, names)
