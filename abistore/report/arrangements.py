"""The findings of a report in order: by impact and kind, by declaration, and by how many exports they affect."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from abistore.model.findings import Impact
from abistore.model.names import TYPES, Kind
from abistore.report.model import ComparedDeclaration, ImpactLabel, Report, ReportedFinding
from abistore.report.wording import location_of, shortened

HEADINGS = {
    "breaking": "Breaking",
    "api_break": "Source breaks",
    "risk": "Risks",
    "compatible": "Compatible",
    "notice": "Notices",
}
"""The headings above the findings of each impact."""

Declarations: TypeAlias = dict[tuple[Kind, str], ComparedDeclaration]
"""The declarations of a report by subject and symbol."""


class ChangedDeclaration(msgspec.Struct, frozen=True):
    """One declaration and all its findings; ``affected`` are the exports through which consumers meet any of them."""

    symbol: str
    subject: Kind
    display: str
    impact: Impact
    findings: tuple[ReportedFinding, ...]
    affected: tuple[str, ...]
    declared: ComparedDeclaration | None

    @property
    def name(self) -> str:
        """Its name, with ``std::string`` spelled short."""
        return shortened(self.display) or ""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its findings, each once."""
        return tuple(dict.fromkeys(finding.kind for finding in self.findings))

    @property
    def location(self) -> str | None:
        """Where it is declared; ``None`` if debug information does not say."""
        return next(filter(None, map(location_of, self.findings)), None)


def groups(report: Report) -> dict[ImpactLabel, dict[str, list[ReportedFinding]]]:
    """The findings by impact, worst first, and by kind: what moved or renamed many exports, then in report order."""
    worst_first: list[ImpactLabel] = ["breaking", "api_break", "risk", "compatible", "notice"]
    found: dict[ImpactLabel, dict[str, list[ReportedFinding]]] = {impact: {} for impact in worst_first}
    for finding in report.changes:
        found.setdefault(finding.impact, {}).setdefault(finding.kind, []).append(finding)
    return {impact: _roots_first(kinds) for impact, kinds in found.items() if kinds}


def _roots_first(kinds: dict[str, list[ReportedFinding]]) -> dict[str, list[ReportedFinding]]:
    return dict(sorted(kinds.items(), key=lambda item: not any(map(_breaks_many, item[1]))))


def _breaks_many(finding: ReportedFinding) -> bool:
    """Whether a finding says of many exports at once why programs break: a reader looks for it first."""
    return finding.subject == "library" and bool(finding.affected) and finding.impact in ("breaking", "api_break")


def declarations(report: Report) -> Declarations:
    """The report's declarations by subject and symbol."""
    return {(declared.subject, declared.symbol): declared for declared in report.declarations}


def roots(report: Report) -> tuple[ChangedDeclaration, ...]:
    """The declarations that changed: worst first; among equals what breaks many exports at once, then types."""
    by_name: dict[tuple[Kind, str], list[ReportedFinding]] = {}
    for finding in report.changes:
        by_name.setdefault((finding.subject, finding.symbol), []).append(finding)
    known = declarations(report)
    made = [_root(findings, known.get(key)) for key, findings in by_name.items()]
    return tuple(sorted(made, key=_importance))


def _importance(root: ChangedDeclaration) -> tuple[object, ...]:
    return -root.impact, not any(map(_breaks_many, root.findings)), root.subject not in TYPES


def _root(findings: list[ReportedFinding], declared: ComparedDeclaration | None) -> ChangedDeclaration:
    first = findings[0]
    lists = {finding.affected for finding in findings}
    return ChangedDeclaration(
        first.symbol,
        first.subject,
        first.display,
        max(Impact[finding.impact.upper()] for finding in findings),
        tuple(findings),
        lists.pop() if len(lists) == 1 else tuple(sorted({name for names in lists for name in names})),
        declared,
    )


def impacts(report: Report) -> tuple[ChangedDeclaration, ...]:
    """The declarations through which exports are affected: worst first, then those with the most exports."""
    reaching = (root for root in roots(report) if root.affected)
    return tuple(sorted(reaching, key=lambda root: (-root.impact, -len(root.affected), root.display, root.symbol)))
