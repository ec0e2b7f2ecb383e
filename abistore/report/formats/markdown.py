"""A report as Markdown (GitHub flavour), for pull requests, job summaries and release notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from abistore.model.labels import name_word
from abistore.model.words import counted
from abistore.report.document import (
    Block,
    DeclarationBlock,
    FindingBlock,
    ImpactBlock,
    ImpactTable,
    KindBlock,
    OmittedBlock,
    ReportDocument,
    SuppressionBlock,
    cut,
    document,
)
from abistore.report.model import Report, ReportedNotChecked, ReportFormat, Style
from abistore.report.outline import advice, is_first, name_like, ruled_by, verdict
from abistore.report.reasons import said as decided
from abistore.report.reasons import stat, ways_to_pass
from abistore.report.wording import SAME_EXPORTS, counts, differing, names, unchecked

NAMES_SHOWN = 5
DIFFERENCES_SHOWN = 40
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
LISTED = re.compile(r"\A(\d*)([-+=.)])(?!\w)")
"""At the start of a line, these begin a list or underline a heading."""

LINKED = re.compile(r"[@#$]|://|www\.|\bGH-\d|\b[0-9a-f]{40}\b", re.IGNORECASE)
"""GitHub turns a word with one of these into a link, mention, reference or formula, even escaped; not in code."""

MARKS = {"breaking": "🔴", "api_break": "🟠", "risk": "🟣", "compatible": "🟢", "notice": "⚪"}


def render(report: Report, style: Style) -> str:
    """The report as Markdown, without a newline at its end."""
    if style.mode == "stat":
        return plain(stat(report))
    return "\n".join(_lines(document(report, replace(style, detail=True)), style))


def _lines(whole: ReportDocument, style: Style) -> Iterator[str]:
    report = whole.report
    yield from _head(report)
    for block in whole.body:
        yield from ("", *_block(block, style))
    if whole.suppressed:
        yield from ("", f"### Suppressed ({len(report.suppressed)})", "")
        for suppressed in whole.suppressed:
            yield from _suppressed(suppressed)
    if report.not_checked:
        yield from ("", f"### Not checked ({len(report.not_checked)})", "")
        for item in report.not_checked:
            yield from _unchecked(item)
    yield from (line for note in report.notes for line in ("", f"> {plain(note)}"))


def _block(block: Block, style: Style) -> Iterator[str]:
    match block:
        case ImpactBlock():
            yield f"### {MARKS[block.impact]} {block.title} ({block.total})"
            for kind in block.kinds:
                yield from ("", *_kind(kind, style))
        case DeclarationBlock():
            yield from _declaration(block, style)
        case ImpactTable():
            yield from _table(block)
        case OmittedBlock():
            yield f"and {block.text}"


# --- above and below the findings ---------------------------------------------------------------------------------


OUTCOME_MARKS = {"pass": "🟢", "fail": "🔴", "undecided": "🟡"}


def _head(report: Report) -> Iterator[str]:
    before = "" if is_first(report) else f"{plain(str(report.old))} → "
    yield from (f"## {before}{plain(str(report.new))}: {plain(verdict(report))}", "")
    mark = OUTCOME_MARKS[report.decision.outcome] if report.decision is not None else ""
    yield from (line for each in decided(report) for line in (f"{mark} **{plain(each)}.**", ""))
    if report.evidence_gap:
        yield from (f"🟡 **Not everything could be checked:** {plain(report.evidence_gap)}.", "")
    if report.guessed:
        yield from (f"🟡 **How sure this is:** {plain(report.guessed)}.", "")
    said = counts(report)
    yield f"{plain(said[0].upper() + said[1:])}."
    word = name_word(name_like(report))
    yield from ("", f"| | version | {word} | exports | digest |", "|---|---|---|--:|---|")
    for label, side in (("old", report.old), ("new", report.new)):
        soname, version = (cell(text) if text else "none" for text in (side.soname, side.version))
        yield f"| {label} | {version} | {soname} | {side.exports} | {code(side.digest[:12])} |"
    yield from _libraries(report)
    yield from ("", f"Judged by {plain(ruled_by(report))}.")
    for each, text in advice(report):
        yield from ("", f"> **Advice** ({code(each.kind)}): {prose(text)}.")
    if ways := ways_to_pass(report):
        yield from ("", "To pass, do one of these:", "", *(f"- {plain(each)}" for each in ways))


def _libraries(report: Report) -> Iterator[str]:
    if not report.libraries:
        return
    from abistore.report.releases import library_table  # few reports are about releases of several

    table = library_table(report)
    if table.rows:
        yield from (
            "",
            f"| library | {name_word(name_like(report))} | exports | verdict | changes |",
            "|---|---|--:|---|---|",
        )
    for row in table.rows:
        exports = row.exports.replace("->", "→")
        yield f"| {cell(row.name)} | {cell(row.soname)} | {exports} | {plain(row.verdict)} | {plain(row.counts)} |"
    if table.unchanged:
        yield from ("", f"{plain(table.unchanged)}.")


def _suppressed(suppressed: SuppressionBlock) -> Iterator[str]:
    yield f"- by {plain(suppressed.by)}"
    yield from (f"  - {code(kind)}: {code(subject)}" for kind, subject in suppressed.findings)
    yield from _more(suppressed.more, "  ")


def _unchecked(item: ReportedNotChecked) -> Iterator[str]:
    names = f": {_names(item.names)}" if item.names else ""
    yield f"- {plain(unchecked(item))} ({code(item.reason)}){names}"
    if item.hint:
        yield f"  - hint: {plain(item.hint)}"


# --- findings -----------------------------------------------------------------------------------------------------


def _kind(kind: KindBlock, style: Style) -> Iterator[str]:
    count = f" ({kind.total})" if kind.total > 1 else ""
    title = f": {prose(kind.card.title)}" if kind.card else ""
    yield f"**{code(kind.kind)}**{count}{title}"
    if kind.card and kind.card.impact not in {"compatible", "notice"}:
        yield from ("", f"*Fix:* {prose(kind.card.fix)}")
    yield ""
    for finding in kind.findings:
        where = f" ({plain(finding.location)})" if finding.location else ""
        yield f"- {code(finding.subject)}{where}: {plain(finding.description)}"
        yield from _facts(finding, style)
    yield from _more(kind.more)


def _declaration(block: DeclarationBlock, style: Style) -> Iterator[str]:
    root = block.root
    where = f" ({plain(root.location)})" if root.location else ""
    yield from (f"### {MARKS[root.impact.label]} {code(root.name)}{where}", "")
    if block.affects:
        yield from (f"{block.affects.capitalize()}: {_names(root.affected)}", "")
    for finding in block.findings:
        part = f" {code(finding.part)}" if finding.part else ""
        yield f"- {code(finding.kind)}{part}: {plain(finding.description)}"
        yield from _facts(finding, style)
    yield from _more(block.more)
    if block.declared:
        yield from _differing(differing(block.declared), "")


def _facts(finding: FindingBlock, style: Style) -> Iterator[str]:
    if finding.values:
        yield f"  - {' → '.join(map(code, finding.values))}"
    yield from (f"  - {plain(text)}" for text in (finding.policy, *finding.said) if text)
    if finding.affects:
        yield f"  - {SAME_EXPORTS if finding.alike else f'{finding.affects}: {_names(finding.affected)}'}"
    shown, more = cut(finding.consequences, style.limit)
    yield from (f"  - causes {code(text)}" for text in shown)
    if more:
        yield f"  - and {counted(more, 'more consequence')}"
    if finding.lines:
        yield from _differing(finding.lines, "  ")
    if finding.declared:
        yield from _differing(differing(finding.declared), "  ")
    if finding.witness:
        from abistore.report.witnesses import witness_lines, witness_title  # few ask for programs

        yield f"  - {plain(witness_title(finding.witness))}:"
        yield from fenced(list(witness_lines(finding.witness)), "    ", "text")


def _differing(lines: Sequence[str], indent: str) -> Iterator[str]:
    shown, more = cut(lines, DIFFERENCES_SHOWN)
    yield from fenced([*shown, *(["  …"] if more else [])], indent)


def fenced(lines: Sequence[str], indent: str, language: str = "diff") -> Iterator[str]:
    """Lines as a block of their own, which none of them can end."""
    fence = "`" * max(3, 1 + longest_run("\n".join(lines)))
    yield ""
    yield from (f"{indent}{line}" for line in (f"{fence}{language}", *lines, fence))


def _names(symbols: Sequence[str]) -> str:
    return names(symbols, NAMES_SHOWN, mark=code)


def _more(left_out: int, indent: str = "") -> Iterator[str]:
    if left_out:
        yield f"{indent}- and {left_out} more"


def _table(table: ImpactTable) -> Iterator[str]:
    yield from ("| impact | exports affected | changed | through |", "|---|--:|---|---|")
    for row in table.rows:
        kinds, label = ", ".join(map(cell, row.kinds)), row.impact.label
        yield f"| {MARKS[label]} {plain(label)} | {len(row.affected)} | {cell(row.name)} | {kinds} |"
    if table.more:
        yield from ("", f"and {table.more} more")
    yield from ("", f"{table.total}.")


# --- escaping -----------------------------------------------------------------------------------------------------


def plain(text: str) -> str:
    """``text`` in one line, so that Markdown shows it as it is. A word that GitHub would link is code."""
    words = (code(word) if LINKED.search(word) else _bare(word) for word in text.split())
    return LISTED.sub(r"\1\\\2", " ".join(words))


def _bare(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)


def prose(text: str) -> str:
    """``text`` in one line, with the words between backticks as code."""
    parts = " ".join(text.split()).split("`")
    return "".join(code(part) if number % 2 else _bare(part) for number, part in enumerate(parts))


def cell(text: str) -> str:
    """``text`` as a code span in a table, where a bar would end the cell."""
    return code(text.replace("\\|", "\\x7c")).replace("|", "\\|")  # readers differ about a backslash before a bar


def code(text: str) -> str:
    """``text`` as a code span in one line; it may have backticks."""
    flat = " ".join(text.split()) or " "
    fence = "`" * (1 + longest_run(flat))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def longest_run(text: str) -> int:
    """The longest run of backticks: a fence must be longer."""
    return max(map(len, re.findall("`+", text)), default=0)


FORMAT = ReportFormat(render, has_modes=True, suffix=".md")
