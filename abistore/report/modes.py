"""Other arrangements of a report: by declaration, as a table of who is affected, in one line."""

from __future__ import annotations

import msgspec

from abistore.model.findings import Impact
from abistore.model.names import Kind
from abistore.report.heading import ruled_by, verdict
from abistore.report.outline import Change, Declared, Report
from abistore.report.wording import counts, location_of

TYPES = frozenset({"record", "enum", "alias"})


class Root(msgspec.Struct, frozen=True):
    """One declaration and all its changes; ``affected`` are the exports through which consumers meet any of them."""

    symbol: str
    subject: Kind
    display: str
    impact: Impact
    changes: tuple[Change, ...]
    affected: tuple[str, ...]
    declared: Declared | None

    @property
    def location(self) -> str | None:
        """Where it is declared, if any of its changes knows."""
        return next(filter(None, map(location_of, self.changes)), None)


def declarations(report: Report) -> dict[tuple[Kind, str], Declared]:
    """The report's declarations by subject and symbol."""
    return {(declared.subject, declared.symbol): declared for declared in report.declarations}


def roots(report: Report) -> tuple[Root, ...]:
    """The declarations that changed: worst first; among equals types first, then in report order."""
    by_name: dict[tuple[Kind, str], list[Change]] = {}
    for change in report.changes:
        by_name.setdefault((change.subject, change.symbol), []).append(change)
    known = declarations(report)
    made = [_root(changes, known.get(key)) for key, changes in by_name.items()]
    return tuple(sorted(made, key=lambda root: (-root.impact, root.subject not in TYPES)))


def _root(changes: list[Change], declared: Declared | None) -> Root:
    first = changes[0]
    lists = {change.affected for change in changes}
    return Root(
        first.symbol,
        first.subject,
        first.display,
        max(Impact[change.impact.upper()] for change in changes),
        tuple(changes),
        lists.pop() if len(lists) == 1 else tuple(sorted({name for names in lists for name in names})),
        declared,
    )


def impacts(report: Report) -> tuple[Root, ...]:
    """The declarations through which exports are affected: worst first, then those with the most exports."""
    reaching = (root for root in roots(report) if root.affected)
    return tuple(sorted(reaching, key=lambda root: (-root.impact, -len(root.affected), root.display, root.symbol)))


def fails(report: Report, change: Change) -> bool:
    """Whether a change of this impact fails the comparison, by its ``fail_on``."""
    return report.fail_on != "never" and Impact[change.impact.upper()] >= Impact[report.fail_on.upper()]


def stat(report: Report) -> str:
    """The operands, the verdict and what it does not cover, the counts, the ruling and what advice there is."""
    gap = f" ({report.evidence_gap})" if report.evidence_gap else ""
    counted = f"{report.old} -> {report.new}: {verdict(report)}{gap}, {counts(report)}"
    return "; ".join((counted, ruled_by(report), *(f"advice: {each.kind}" for each in report.advice)))
