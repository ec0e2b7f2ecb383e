"""A report as a document of typed blocks, which text, Markdown and HTML render.

A report as a document of typed blocks, which text, Markdown and HTML render.

What a block says is decided here, once. The formats decide how it looks and where it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from abistore.model.declarations import TYPES, Kind, Name
from abistore.model.findings import Comparison, Finding, Impact
from abistore.model.layout import Layouts
from abistore.model.names.spelling import Mention, declare, mentions, spell, spelled_out
from abistore.model.shapes import Field, Record
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.words import counted
from abistore.report.model import (
    ChangeKind,
    ComparedDeclaration,
    ImpactLabel,
    Member,
    RecordLayout,
    Report,
    ReportedFinding,
    Style,
    Witness,
    every,
)
from abistore.report.outline import by_suppression
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


EMPTY = 8
"""The size in bits of an object of an empty class."""

DRAWN = 2_000
"""Records with more members are not drawn."""


def declared(comparison: Comparison, old: Snapshot, new: Snapshot) -> tuple[ComparedDeclaration, ...]:
    """The declarations with findings, sorted. One whose text repeats its findings is left out."""
    return _declared(every(comparison.findings), old, new)


def declaration_of(finding: Finding, old: Snapshot, new: Snapshot) -> ComparedDeclaration | None:
    """The declaration of one finding; ``None`` if it says no more than the finding."""
    return next(iter(_declared((finding,), old, new)), None)


def _declared(findings: Iterable[Finding], old: Snapshot, new: Snapshot) -> tuple[ComparedDeclaration, ...]:
    before, after = map(_Side, (old, new), mentions(old, new))
    said: dict[Name, set[tuple[str | None, str | None]]] = {}
    for finding in findings:
        if finding.name.kind not in {"library", "import"}:
            said.setdefault(finding.name, set()).add(finding.shown)
    made = (
        ComparedDeclaration(
            name.spelling, name.kind, before.text(name), after.text(name), before.layout(name), after.layout(name)
        )
        for name in sorted(said)
    )
    return tuple(
        each
        for each, values in zip(made, (said[name] for name in sorted(said)), strict=True)
        if each.before != each.after and not _repeats(_bare(each.before), _bare(each.after), values)
    )


def _bare(text: str | None) -> str | None:
    return text.removesuffix(";") if text is not None else None


def _repeats(before: str | None, after: str | None, said: Iterable[tuple[str | None, str | None]]) -> bool:
    """Whether a finding says all that two texts do: both in full, or the values of one ``constant macro N``."""
    return any((before, after) == pair or _are_values_of(pair, before, after) for pair in said)


def _are_values_of(values: tuple[str | None, str | None], before: str | None, after: str | None) -> bool:
    heads = {_head(text, value) for text, value in zip((before, after), values, strict=True)} - {""}
    return len(heads) == 1 and None not in heads


def _head(text: str | None, value: str | None) -> str | None:
    """What stands before ``value`` in a constant's text; empty where neither is there, ``None`` where they differ."""
    if text is None or value is None:
        return "" if text is value else None
    head = text.removesuffix(value)
    return head if head != text and head.endswith(" = ") else None


class _Side:
    def __init__(self, snapshot: Snapshot, mention: Mention) -> None:
        self._snapshot = snapshot
        self._mention = mention
        self._layouts = Layouts(snapshot)

    def _variants(self, name: Name) -> Variants:
        return self._snapshot.variants("layout", name) or self._snapshot.variants("source", name)

    def text(self, name: Name) -> str | None:
        """What ``name`` declares, all its variants one below the other."""
        shapes = self._variants(name)
        told = spelled_out(name, shapes, self._snapshot, self._layouts, mention=self._mention)
        return "\n".join(told) if shapes else None

    def layout(self, name: Name) -> RecordLayout | None:
        """The members of the record ``name``; of its first variant where it has several."""
        shape = next(iter(self._variants(name)), None)
        if not isinstance(shape, Record) or len(shape.fields) > DRAWN:
            return None
        members = sorted(self._members(shape), key=lambda member: (member.offset, member.role, member.name))
        return RecordLayout(shape.size, tuple(members))

    def _members(self, record: Record) -> Iterator[Member]:
        if record.has_vptr:
            yield Member("", "vtable pointer", 0, self._snapshot.target.bits, "vptr")
        yield from self._bases(record)
        yield from map(self._field, record.fields)
        for hole in self._layouts.holes(record):
            yield Member("", "padding" if hole.tail else "hole", hole.offset, hole.length, "padding")

    def _bases(self, record: Record) -> Iterator[Member]:
        """Bases that are not virtual, as far as they have the room to themselves.

        An empty one lies where something else does, and what is derived may lie in a base's padding.
        """
        placed = [(base, base.offset, 8 * (self._layouts.size(base.type) or 0)) for base in record.bases]
        starts = {field.offset for field in record.fields} | ({0} if record.has_vptr else set())
        taken = starts | {offset for _, offset, length in placed if offset is not None and length > EMPTY}
        for base, offset, length in placed:
            if offset is None:
                continue
            end = min((start for start in starts if offset < start < offset + length), default=offset + length)
            room = 0 if length == EMPTY and offset in taken else end - offset
            yield Member(spell(base.type), f"base {spell(base.type)}", offset, room, "base")

    def _field(self, field: Field) -> Member:
        text = declare(field.type, field.name, self._mention)
        if field.bit_size is not None:
            return Member(field.name, f"{text} : {field.bit_size}", field.offset, field.bit_size, "field")
        return Member(field.name, text, field.offset, 8 * (self._layouts.size(field.type) or 0), "field")


Element = TypeVar("Element")


class FindingBlock(msgspec.Struct, frozen=True):
    """One finding with its facts. A fact is empty if it is not known, or if the others say it already.

    ``values`` are the old and the new value; ``lines`` are the differing lines of values that have several. The first
    finding about a declaration has it as ``declared``; the others have the identity of that finding as ``shown_at``. A
    finding is ``alike`` if the one before about its declaration affects the same exports. ``said`` is what people said
    of it: who approved it, and its review. ``witness`` is a program that shows it, where witnesses were asked for.
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
    witness: Witness | None = None

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
        witness=finding.witness or None,
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
