"""A report for the terminal: the verdict, the findings with the worst first, and what could not be checked."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from abistore.model.labels import name_word
from abistore.model.words import counted
from abistore.report.document import (
    Block,
    ChangedDeclaration,
    DeclarationBlock,
    FindingBlock,
    ImpactBlock,
    ImpactTable,
    KindBlock,
    OmittedBlock,
    ReportDocument,
    cut,
    document,
    finding_block,
)
from abistore.report.model import ComparedDeclaration, Report, ReportedFinding, ReportFormat, Style
from abistore.report.outline import advice, ruled_by, sides, tone, verdict
from abistore.report.reasons import said, stat, ways_to_pass
from abistore.report.wording import SAME_EXPORTS, counts, differing, names, unchecked

NAMES_SHOWN = 3
CONSEQUENCES_SHOWN = 3
NAME_WIDTH = 80
DIFFERENCES_SHOWN = 14
LINES_SHOWN = 4
DEEP = " " * 10
NAME_COLUMN = 48
SIGNS = frozenset("-+!")
"""A line that begins with one of these is painted in its colour."""


def render(report: Report, style: Style) -> str:
    """The report as lines of text, without a newline at its end."""
    return stat(report) if style.mode == "stat" else "\n".join(_lines(document(report, style), style))


def _lines(whole: ReportDocument, style: Style) -> Iterator[str]:
    yield from _head(whole.report, style)
    yield from _advice(whole.report, style)
    for block in whole.body:
        yield ""
        yield from _block(block, style)
    yield from _ending(whole, style)


def _block(block: Block, style: Style) -> Iterator[str]:
    match block:
        case ImpactBlock():
            yield style.paint(f"{block.title} ({block.total})", block.impact)
            for kind in block.kinds:
                yield from _kind(kind, style)
        case DeclarationBlock():
            yield from _declaration(block, style)
        case ImpactTable():
            yield from _table(block, style)
        case OmittedBlock():
            yield _more(block.text)


# --- above and below the findings ---------------------------------------------------------------------------------


def headline(report: Report, style: Style) -> str:
    """The operands, the verdict, and what it does not cover, in one line."""
    gap = f": {report.evidence_gap}" if report.evidence_gap else ""
    return f"{sides(report)}: {style.paint(verdict(report), tone(report))}{gap}"


def _head(report: Report, style: Style) -> Iterator[str]:
    """The headline, in two lines if it is too long for one; what was compared; and the ruling."""
    line, gap = headline(report, style), report.evidence_gap
    if not gap or len(headline(report, replace(style, colour=False))) <= style.width:
        yield line
    else:
        yield line.removesuffix(f" {gap}")
        yield from wrapped(gap, "  ", style)
    for text in filter(None, (*said(report), report.guessed)):
        yield from wrapped(text, "  ", style)
    old, new = report.old, report.new
    if report.libraries:
        yield from _libraries(report, style)
        return
    soname = old.soname if old.soname == new.soname else f"{old.soname or 'none'} -> {new.soname or 'none'}"
    before = f"{old.exports} -> " if old.exports != new.exports else ""
    word = name_word(new.soname or old.soname or "")
    sides = f"{new.target}, {word} {soname or 'none'}, {before}{counted(new.exports, 'export')}"
    for text in (sides, ruled_by(report)):
        yield from (style.paint(line, "dim") for line in wrapped(text, "  ", style))


def _libraries(report: Report, style: Style) -> Iterator[str]:
    """The table of a release's libraries, below what was compared and the ruling."""
    from abistore.report.releases import library_table  # few reports are about releases of several

    old, new = report.old, report.new
    exports = f"{old.exports} -> {new.exports}" if old.exports != new.exports else f"{new.exports}"
    count = counted(len(report.libraries), "library", "libraries")
    for text in (f"{count}, {new.target}, {exports} exports", ruled_by(report)):
        yield from (style.paint(line, "dim") for line in wrapped(text, "  ", style))
    table = library_table(report)
    yield from ("", style.paint(f"Libraries ({len(report.libraries)})", "bold"))
    widths = [max(len(row[column]) for row in table.rows) if table.rows else 0 for column in range(3)]
    for row in table.rows:
        name, soname, exports = (cell.ljust(width) for cell, width in zip(row, widths, strict=False))
        counts = f", {row.counts}" if row.counts else ""
        yield f"  {name}  {soname}  {exports.strip().rjust(widths[2])}  {style.paint(row.verdict, row.tone)}{counts}"
    if table.unchanged:
        yield from wrapped(table.unchanged, "  ", style)


def _advice(report: Report, style: Style) -> Iterator[str]:
    if report.advice:
        yield from ("", style.paint("Advice", "bold"))
    for each, text in advice(report):
        yield from _entry(each.kind, f": {text}", "  ", style)


def _ending(whole: ReportDocument, style: Style) -> Iterator[str]:
    report = whole.report
    if report.suppressed:
        yield from ("", style.paint(f"Suppressed ({len(report.suppressed)})", "bold"))
    for each in whole.suppressed:
        yield from wrapped(f"by {each.by}", "  ", style)
        for kind, subject in each.findings:
            yield from wrapped(f"{kind}: {subject}", "      ", style)
        if each.more:
            yield f"      {_more(each.more)}"
    if report.not_checked:
        yield from ("", style.paint("Not checked", "bold"))
    for item in report.not_checked:
        yield from wrapped(f"{unchecked(item)} ({item.reason})", "  ", style)
        if item.names:
            yield from wrapped(listed(item.names, style), "      ", style)
        if item.hint:
            yield from wrapped(f"hint: {item.hint}", "      ", style)
    for note in report.notes:
        yield from wrapped(f"note: {note}", "", style)
    if style.detail and (unmet := report.unmet_approvals):
        apply = "approval does not apply" if len(unmet) == 1 else "approvals do not apply"
        yield from wrapped(f"note: {len(unmet)} {apply} to this comparison: {', '.join(unmet)}", "", style)
    if ways := ways_to_pass(report):
        yield from ("", "To pass, do one of these:")
        for text in ways:
            yield from wrapped(f"- {text}", "  ", style)
    yield from ("", counts(report))


# --- findings -----------------------------------------------------------------------------------------------------


def _kind(kind: KindBlock, style: Style) -> Iterator[str]:
    count = f" ({kind.total})" if kind.total > 1 else ""
    yield from _entry(kind.kind, f"{count}: {kind.description}" if kind.description else count, "  ", style)
    for each in kind.findings:
        yield from wrapped(_subject(each, style), "      ", style)
        if not kind.description:
            yield from wrapped(each.description, DEEP, style)
        yield from _facts(each, style)
    if kind.more:
        yield f"      {_more(kind.more)}"


def _declaration(block: DeclarationBlock, style: Style) -> Iterator[str]:
    root, label = block.root, block.root.impact.label
    where = f"  ({root.location})" if root.location else ""
    yield from _entry(label, f"  {root.name}{where}", "", style, tone=label)
    if block.affects:
        yield from wrapped(f"{block.affects}: {listed(root.affected, style)}", "    ", style)
    for each in block.findings:
        part = f"{each.part}: " if each.part else ""
        yield from wrapped(f"{each.kind}: {part}{each.description}", "    ", style)
        yield from _facts(each, style)
    if block.more:
        yield f"    {_more(block.more)}"
    if block.declared:
        yield from _differing(differing(block.declared), style)


def one_finding(finding: ReportedFinding, declared: ComparedDeclaration | None, style: Style) -> Iterator[str]:
    """One finding by itself."""
    told = finding_block(finding, drawn=declared is not None)
    yield from wrapped(_subject(told, style), "  ", style)
    yield from wrapped(f"{finding.kind}, {finding.impact}: {finding.description}", "    ", style)
    yield from _facts(replace(told, declared=declared), style)


def _subject(told: FindingBlock, style: Style) -> str:
    """What changed, where it is declared, and with detail the finding's identity."""
    location = f"  ({told.location})" if told.location else ""
    return f"{told.subject}{location}{f'  [{told.id}]' if style.detail else ''}"


def _facts(told: FindingBlock, style: Style) -> Iterator[str]:
    """The values of a finding, who is affected, what follows from it, and its declaration."""
    yield from _values(told.values, style)
    yield from _differing(told.lines, style)
    for text in filter(None, (told.policy, *told.said)):
        yield from wrapped(text, DEEP, style)
    if told.affects:
        exports = SAME_EXPORTS if told.alike else f"{told.affects}: {listed(told.affected, style)}"
        yield from wrapped(exports, DEEP, style)
    shown, more = cut(told.consequences, None if style.detail else CONSEQUENCES_SHOWN)
    for text in shown:
        yield from wrapped(f"causes {text}", DEEP, style)
    if more:
        yield f"{DEEP}and {counted(more, 'more consequence')} (-v shows all)"
    if told.declared:
        yield from _differing(differing(told.declared), style)
    if told.witness:
        from abistore.report.witnesses import witness_lines, witness_title  # few ask for programs

        yield f"{DEEP}{witness_title(told.witness)}:"
        yield from (f"{DEEP}  {line}" for line in witness_lines(told.witness))


def _values(values: Sequence[str], style: Style) -> Iterator[str]:
    """The values in one line if they fit, else below each other, each cut after a few lines without detail."""
    line = " -> ".join(values)
    if line and len(line) + len(DEEP) <= style.width:
        yield f"{DEEP}{line}"
        return
    for sign, value in zip("-+", values, strict=False):
        told = list(wrapped(f"{sign} {value}" if len(values) > 1 else value, DEEP, style))
        shown, more = cut(told, None if style.detail else LINES_SHOWN)
        yield from shown
        if more:
            yield f"{DEEP}{sign} ... (-v shows all)"


def _differing(lines: Sequence[str], style: Style) -> Iterator[str]:
    shown, more = cut(lines, None if style.detail else DIFFERENCES_SHOWN)
    for text in shown:
        for line in wrapped(text, DEEP, style):
            yield style.paint(line, text[0]) if text[:1] in SIGNS else line
    if more:
        yield f"{DEEP}… (-v shows all)"


# --- a table and pieces of lines ----------------------------------------------------------------------------------


def _table(table: ImpactTable, style: Style) -> Iterator[str]:
    yield style.paint(f"{'impact':<11} {'exports':>7}  {'changed':<{NAME_COLUMN}}  through", "bold")
    yield from (_row(row, style) for row in table.rows)
    if table.more:
        yield _more(table.more)
    yield table.total


def _row(root: ChangedDeclaration, style: Style) -> str:
    label = root.impact.label
    line = f"{label:<11} {len(root.affected):>7}  {root.name:<{NAME_COLUMN}}  {', '.join(root.kinds)}".rstrip()
    line = line if len(line) <= style.width else f"{line[: style.width - 3]}..."
    return line.replace(label, style.paint(label, label), 1)


def _more(left_out: int | str) -> str:
    return f"and {left_out if isinstance(left_out, str) else f'{left_out} more'} (--full shows all)"


def _entry(title: str, text: str, indent: str, style: Style, *, tone: str = "bold") -> Iterator[str]:
    """``text`` behind a painted title."""
    first, *rest = wrapped(f"{title}{text}", indent, style)
    yield first.replace(title, style.paint(title, tone), 1)
    yield from rest


def listed(symbols: Sequence[str], style: Style) -> str:
    """The first of ``symbols`` as a programmer calls them, and how many more there are; all with detail."""
    return names(symbols, None) if style.detail else names(symbols, NAMES_SHOWN, NAME_WIDTH)


def wrapped(text: str, indent: str, style: Style) -> Iterator[str]:
    """``text`` wrapped to the width, with further lines indented more. Long words stay whole."""
    yield from textwrap.wrap(
        text,
        style.width,
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


FORMAT = ReportFormat(render, has_modes=True)
