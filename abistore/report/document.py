"""A report as a document of typed blocks, which text, Markdown and HTML render.

What a block says is decided here, once. The formats decide how it looks and where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from abistore.model.names import Kind
from abistore.model.words.counting import counted
from abistore.report.arrangements import (
    HEADINGS,
    ChangedDeclaration,
    Declarations,
    declarations,
    groups,
    impacts,
    roots,
)
from abistore.report.heading import by_suppression
from abistore.report.model import ChangeKind, ComparedDeclaration, Report, ReportedFinding
from abistore.report.style import Style
from abistore.report.wording import (
    affects,
    by_itself,
    consequences,
    differing,
    location_of,
    overridden,
    said_of,
    shortened,
    subject,
    value_lines,
    values,
)

Element = TypeVar("Element")


class FindingBlock(msgspec.Struct, frozen=True):
    """One finding with its facts. A fact is empty if it is not known, or if the others say it already.

    ``values`` are the old and the new value; ``lines`` are the differing lines of values that have several. The first
    finding about a declaration has it as ``declared``; the others have the identity of that finding as ``shown_at``. A
    finding is ``alike`` if the one before about its declaration affects the same exports. ``said`` is what people said
    of it: who approved it, and its review.
    """

    id: str
    kind: str
    name: str
    part: str
    location: str
    description: str
    values: tuple[str, ...]
    lines: Sequence[str]
    policy: str
    affects: str
    affected: tuple[str, ...]
    consequences: tuple[str, ...]
    declared: ComparedDeclaration | None = None
    shown_at: str = ""
    alike: bool = False
    said: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The declaration, and the part of it: ``geo::Shape: stamp``."""
        return f"{self.name}: {self.part}" if self.part else self.name


class KindBlock(msgspec.Struct, frozen=True):
    """The findings of one kind. ``description`` is what all of them say, if it is the same; ``more`` are left out."""

    kind: str
    total: int
    card: ChangeKind | None
    description: str
    findings: Iterable[FindingBlock]
    more: int


class ImpactBlock(msgspec.Struct, frozen=True):
    """The findings of one impact, by kind."""

    impact: str
    title: str
    total: int
    kinds: tuple[KindBlock, ...]


class DeclarationBlock(msgspec.Struct, frozen=True):
    """A declaration that changed, with all its findings; ``more`` are left out."""

    root: ChangedDeclaration
    affects: str
    findings: Iterable[FindingBlock]
    more: int
    declared: ComparedDeclaration | None


class ImpactTable(msgspec.Struct, frozen=True):
    """The declarations through which exports are affected, worst first; ``more`` are left out."""

    rows: tuple[ChangedDeclaration, ...]
    more: int
    total: str


class OmittedBlock(msgspec.Struct, frozen=True):
    """What is left out at the end of a list: ``12 more declarations``."""

    text: str


class SuppressionBlock(msgspec.Struct, frozen=True):
    """What one suppression took out, as kind and subject; ``more`` are left out."""

    by: str
    findings: tuple[tuple[str, str], ...]
    more: int


Block: TypeAlias = ImpactBlock | DeclarationBlock | ImpactTable | OmittedBlock


class ReportDocument(msgspec.Struct, frozen=True):
    """A report and its blocks. ``body`` depends on the mode, and is made as it is read."""

    report: Report
    body: Iterable[Block]
    suppressed: tuple[SuppressionBlock, ...]


def document(report: Report, style: Style) -> ReportDocument:
    """The report in the style's mode and within its limits."""
    body = {"leaf": _by_declaration, "impact": _by_exports}.get(style.mode, _by_impact)
    return ReportDocument(
        report,
        body(report, style),
        tuple(_suppressed(by, taken, style) for by, taken in by_suppression(report.suppressed).items()),
    )


def cut(elements: Sequence[Element], most: int | None) -> tuple[Sequence[Element], int]:
    """The first ``most`` elements (``None``: all), and how many are left out."""
    return (elements, 0) if most is None else (elements[:most], max(0, len(elements) - most))


# --- the body, by mode --------------------------------------------------------------------------------------------


def _by_impact(report: Report, style: Style) -> Iterator[Block]:
    cards = {card.kind: card for card in report.kinds}
    shown = _Differences(declarations(report), style)
    for impact, kinds in groups(report).items():
        made = tuple(_kind(findings, cards.get(kind), shown, style) for kind, findings in kinds.items())
        yield ImpactBlock(impact, HEADINGS[impact], sum(kind.total for kind in made), made)


def _kind(findings: Sequence[ReportedFinding], card: ChangeKind | None, shown: _Differences, style: Style) -> KindBlock:
    descriptions = {finding.description for finding in findings}
    first, more = cut(findings, style.limit)
    return KindBlock(
        findings[0].kind,
        len(findings),
        card,
        descriptions.pop() if len(descriptions) == 1 else "",
        map(shown.finding_block, first),
        more,
    )


def _by_declaration(report: Report, style: Style) -> Iterator[Block]:
    first, more = cut(roots(report), style.limit)
    yield from (_declaration(root, style) for root in first)
    if more:
        yield OmittedBlock(counted(more, "more declaration"))


def _declaration(root: ChangedDeclaration, style: Style) -> DeclarationBlock:
    alone = by_itself(root.symbol, root.display, root.affected)
    drawn = root.declared is not None and worth_drawing(root.declared, style)
    first, more = cut(root.findings, style.limit)
    return DeclarationBlock(
        root,
        "" if alone else f"affects {counted(len(root.affected), 'export')}",
        (replace(finding_block(finding, drawn=drawn), affects="") for finding in first),
        more,
        root.declared if drawn else None,
    )


def _by_exports(report: Report, style: Style) -> Iterator[Block]:
    rows = impacts(report)
    first, more = cut(rows, style.limit)
    reached = {name for root in rows for name in root.affected}
    yield ImpactTable(
        tuple(first),
        more,
        f"{counted(len(reached), 'export')} affected; the old side has {report.old.exports}",
    )


# --- findings -----------------------------------------------------------------------------------------------------


def finding_block(finding: ReportedFinding, *, drawn: bool = False) -> FindingBlock:
    """A finding with its facts. If its declaration is ``drawn``, values of several lines would repeat it."""
    both = values(finding)
    several = any("\n" in value for value in both)
    return FindingBlock(
        finding.id,
        finding.kind,
        shortened(finding.display) or "",
        finding.part,
        location_of(finding),
        finding.description,
        () if several else both,
        value_lines(finding) if several and not drawn else (),
        overridden(finding),
        affects(finding),
        finding.affected,
        consequences(finding),
        said=said_of(finding),
    )


class _Differences:
    """Shows each declaration, and the exports that it affects, with the first finding about it."""

    def __init__(self, pending: Declarations, style: Style) -> None:
        self._pending = pending
        self._style = style
        self._shown: dict[tuple[str, str], str] = {}
        self._affected: dict[tuple[str, str], tuple[str, ...]] = {}

    def finding_block(self, finding: ReportedFinding) -> FindingBlock:
        key = (finding.subject, finding.symbol)
        alike = self._affected.get(key) == finding.affected
        self._affected[key] = finding.affected
        return replace(self._with_declaration(finding, key), alike=alike)

    def _with_declaration(self, finding: ReportedFinding, key: tuple[Kind, str]) -> FindingBlock:
        declared = self._pending.pop(key, None)
        if declared is None or not worth_drawing(declared, self._style):
            return replace(finding_block(finding), shown_at=self._shown.get(key, ""))
        self._shown[key] = finding.id
        block = finding_block(finding, drawn=True)
        drawn = tuple(line[2:] for line in differing(declared))
        return replace(block, declared=declared, values=() if block.values == drawn else block.values)


def worth_drawing(declared: ComparedDeclaration, style: Style) -> bool:
    """Whether to show a declaration. Of a type that was added or removed, the members are shown only with detail."""
    text = declared.after if declared.before is None else declared.before if declared.after is None else ""
    return style.detail or "\n" not in (text or "")


def _suppressed(by: str, taken: Sequence[ReportedFinding], style: Style) -> SuppressionBlock:
    first, more = cut(taken, style.limit)
    return SuppressionBlock(by, tuple((finding.kind, subject(finding)) for finding in first), more)
