"""The head of a report: the verdict, what it does not cover and how sure it is, the ruling, and advice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from abistore.model.findings import (
    EXPORT_NOT_DESCRIBED,
    TYPE_NOT_DESCRIBED,
    Comparison,
    RulingFile,
    evidence_rank,
    unequal_evidence,
)
from abistore.model.labels.sonames import name_word, to_bump
from abistore.model.names import Facet
from abistore.model.snapshot import NO_EXPORT_DECLARED, NOT_FOUND_BY_LINKER, Evidence, evidence_of
from abistore.model.words.counting import counted
from abistore.report.model import Report, ReportedFinding
from abistore.report.wording import approval, counts

CHECKED = "in what could be checked"
"""Follows a verdict if one side has less evidence than the other."""

REQUIRED = "Required evidence is missing"
"""The heading of the reason why a gate on evidence failed."""

PASSES = "passes by approval"
"""What is said of a gate that lets a break through: the verdict stays."""

NO_REASON = "no reason given"
DIGITS = 12
"""How many digits of a file's SHA-256 are shown: what ``sha256sum`` prints begins with them."""

LACKS = {
    "no-debug-info": "has no debug information",
    "debug-file-missing": "lacks its debug file",
    "stale-debug-file": "has the debug file of another build",
    "incomplete-debug-info": "has incomplete debug information",
    "alternate-file-missing": "lacks the file that dwz moved debug information to",
    "unreadable-debug-file": "has a debug file that cannot be read",
    "debuginfod-failed": "got no debug file from debuginfod",
    "split-debug-missing": "lacks its split debug files",
    "types-not-recorded": "has debug information without types",
    "corrupt-debug-info": "has damaged debug information",
    "type-too-large": "has types that are too large to be spelled out",
}
UNASKED: dict[Facet, str] = {
    "symbol": "was read without its symbols",
    "layout": "was read without debug information",
    "source": "was read without headers",
}


def evidence_gap(old: Sequence[Evidence], new: Sequence[Evidence]) -> str:
    """What was not compared because one side has less evidence, and why; empty if the evidence is equal.

    ``layout not compared, new side has no debug information``
    """
    return "; ".join(
        _gap(facet, evidence_of(old, facet), evidence_of(new, facet)) for facet in unequal_evidence(old, new)
    )


def comparison_gap(comparison: Comparison) -> str:
    """The same of a comparison: equal evidence may leave out exports and types that the other side describes."""
    lost = [
        f"new side does not describe {counted(len(each.names), _LOST[each.reason])} that the old one does"
        for each in comparison.not_checked
        if each.reason in _LOST and each.side == "new"
    ]
    return "; ".join(filter(None, (evidence_gap(comparison.old.evidence, comparison.new.evidence), *lost)))


_LOST: Mapping[str, str] = {EXPORT_NOT_DESCRIBED: "export", TYPE_NOT_DESCRIBED: "type"}


def _gap(facet: Facet, old: Evidence, new: Evidence) -> str:
    side, less = ("old", old) if evidence_rank(old) < evidence_rank(new) else ("new", new)
    extent = "compared in part" if less.state == "partial" else "not compared"
    return f"{facet} {extent}, {side} side {_lack(less)}"


def _lack(evidence: Evidence) -> str:
    if evidence.state == "partial" and evidence.expected:
        if evidence.reason == NO_EXPORT_DECLARED:
            return "has headers that declare none of its exports"
        if evidence.facet == "source":
            return f"has {evidence.described} of {counted(evidence.expected, 'header')} that parse without errors"
        if evidence.reason == NOT_FOUND_BY_LINKER:
            return f"lets the dynamic linker find {evidence.described} of {counted(evidence.expected, 'symbol')}"
        return f"describes {evidence.described} of {counted(evidence.expected, 'export')}"
    if evidence.reason in {"", "not-requested"}:
        return UNASKED[evidence.facet] if evidence.state == "missing" else "shows less of it"
    return LACKS.get(evidence.reason, f"shows less of it ({evidence.reason})")


def extent(evidence: Evidence) -> str:
    """How much evidence a facet has: ``layout full``, ``layout partial (3 of 4)``."""
    part = (
        f" ({evidence.described} of {evidence.expected})" if evidence.state == "partial" and evidence.expected else ""
    )
    return f"{evidence.facet} {evidence.state}{part}"


def verdict(report: Report) -> str:
    """The verdict's name, with a reservation if one side has less evidence than the other."""
    return f"{report.verdict} {CHECKED}" if report.evidence_gap else report.verdict


def told_verdict(report: Report) -> str:
    """The verdict with the reason for its reservation, for a line of its own."""
    return f"{verdict(report)}: {report.evidence_gap}" if report.evidence_gap else report.verdict


def tone(report: Report) -> str:
    """The verdict's colour. A good verdict is not green if evidence is missing."""
    if (report.evidence_gap or report.error) and report.verdict in {"NO_CHANGE", "COMPATIBLE"}:
        return "unchecked"
    return {"NO_CHANGE": "compatible", "COMPATIBLE_WITH_RISK": "risk"}.get(report.verdict, report.verdict.lower())


def ruling(
    policy: str,
    policy_file: RulingFile | None,
    suppression_files: Sequence[RulingFile],
    no_files: str = "no suppressions",
) -> str:
    """The policy and the suppression files that findings were judged by, or ``no_files`` where there are none."""
    origin = f" ({policy_file.name}, sha256 {policy_file.sha256[:DIGITS]})" if policy_file else ""
    files = ", ".join(f"{file.name} (sha256 {file.sha256[:DIGITS]})" for file in suppression_files)
    return f"policy {policy}{origin}, {f'suppressions {files}' if files else no_files}"


def ruled_by(report: Report) -> str:
    """The policy and the suppression files of a report. What it leaves out for a program comes from no file."""
    none = "no suppression files" if report.suppressed_count else "no suppressions"
    return ruling(report.policy, report.policy_file, report.suppression_files, none)


def allowance(report: Report) -> str:
    """Whether the release is allowed, in a sentence; empty if it breaks nothing and is labelled as it should be."""
    return report.bump.sentence if report.bump is not None and report.bump.notable else ""


def advice(report: Report) -> Iterable[tuple[ReportedFinding, str]]:
    """Each piece of advice with its text: what was found, and how to fix it, in the words of the platform."""
    name = name_like(report)
    fixes = {
        card.kind: card.fix.replace("bump the SONAME", to_bump(name)).replace("SONAME", name_word(name))
        for card in report.kinds
    }
    for each in report.advice:
        both = " -> ".join(value for value in (each.old_value, each.new_value) if value is not None)
        found = f"{each.description} ({both})" if both else each.description
        fix = fixes.get(each.kind, "").removesuffix(".")
        yield each, f"{found}: {fix}" if fix else found


def name_like(report: Report) -> str:
    """A SONAME of the report, as words for it depend on the platform; none where libraries of several are in it."""
    names = [report.new.soname or report.old.soname, *(each.new_soname or each.old_soname for each in report.libraries)]
    by_word = {name_word(each): each for each in names if each}
    return by_word.popitem()[1] if len(by_word) == 1 else ""


def by_suppression(findings: Iterable[ReportedFinding]) -> dict[str, list[ReportedFinding]]:
    """The suppressed findings by their suppression, in report order."""
    found: dict[str, list[ReportedFinding]] = {}
    for finding in findings:
        found.setdefault(suppression(finding), []).append(finding)
    return found


def suppression(finding: ReportedFinding) -> str:
    """The suppression that took a finding, its reason, and its last day."""
    until = f" (until {finding.suppression_expires})" if finding.suppression_expires else ""
    return f"{finding.suppressed_by or 'a suppression'}: {finding.suppression_reason or NO_REASON}{until}"


def by_approval(findings: Iterable[ReportedFinding]) -> str:
    """By whom findings are approved, why, and until when: ``2 findings by ana until 2026-12-31 (LIB-7): unused``."""
    said = Counter(approval(each.approved) for each in findings if each.approved)
    return "; ".join(f"{counted(count, 'finding')} {text}" for text, count in said.items())


def passing(report: Report) -> str:
    """That the gate passes by approval, or what of it is approved though it fails; empty where nothing is."""
    if report.passed_by:
        return f"{PASSES}: {report.passed_by}"
    if not report.approved_count:
        return ""
    if not report.exit_code:
        return f"approved, too: {by_approval(report.changes)}"
    counting = "is" if report.approved_count == 1 else "are"
    return f"{counted(report.approved_count, 'finding')} {counting} approved and {counting} not what fails the gate"


def stat(report: Report) -> str:
    """The whole report in one line: operands, verdict, counts, policy, suppressions, and kinds of advice."""
    gap = f" ({report.evidence_gap})" if report.evidence_gap else ""
    passed = f", allowed: {report.bump.reason}" if report.bump is not None and report.bump.passes else ""
    line = f"{report.old} -> {report.new}: {verdict(report)}{gap}{passed}, {counts(report)}"
    said = (passing(report),) if passing(report) else ()
    return "; ".join((line, *said, ruled_by(report), *(f"advice: {each.kind}" for each in report.advice)))
