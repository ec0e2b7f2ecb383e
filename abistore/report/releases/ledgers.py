"""Ledgers and folded releases as text and as Markdown: verdicts against all baselines, and over all lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from abistore.model.findings import Verdict
from abistore.model.history import LineKey
from abistore.model.judging.standing import FoldedRelease, Ledger, LineDifference, MissingLine, Standing, is_withdrawn
from abistore.model.words.characters import visible
from abistore.model.words.counting import counted
from abistore.report.formats.markdown import plain
from abistore.report.wording import shortened

UNKNOWN = "not known"
NOTHING = "nothing to be measured by"
LISTED = 20
REFUSED = "!"
HEADS = ("against", "as", "verdict", "breaks", "source breaks", "bump", "remark")
LINE_HEADS = ("library", "target", "profile", "release", "worst", "remark")


class LedgerTable(NamedTuple):
    """A heading, a table, and sentences below it."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    below: Sequence[str]


def as_text(tables: Sequence[LedgerTable]) -> str:
    """The tables in columns."""
    return visible("\n\n".join("\n".join(_text(each)) for each in tables))


def as_markdown(tables: Sequence[LedgerTable]) -> str:
    """The tables as Markdown."""
    return visible("\n\n".join("\n".join(_markdown(each)) for each in tables))


def ledger_tables(ledgers: Sequence[Ledger]) -> list[LedgerTable]:
    """One table a release, with a row for each baseline; then each line that lacks the version."""
    missing = dict.fromkeys((each.release.version, one) for each in ledgers for one in each.missing)
    return [*map(_ledger, ledgers), *(_missing(*each) for each in missing)]


def lines_table(found: FoldedRelease) -> LedgerTable:
    """One row a line; holes are rows too."""
    named = f"{found.library} {found.version}"
    if len(found.libraries) > 1:
        named = f"{named}, {counted(len(found.libraries), 'library', 'libraries')}"
    rows = [
        (
            row.line.library,
            row.line.target,
            row.line.profile,
            row.release.version if row.release else "MISSING",
            _worst(row.ledger) if row.ledger else UNKNOWN,
            row.missing or _first_breaks(row.ledger),
        )
        for row in found.rows
    ]
    shown = [_difference(each) for each in found.differences[:LISTED]]
    if len(found.differences) > LISTED:
        shown.append(f"and {len(found.differences) - LISTED} more exports that only some lines have: --json has all")
    title = f"{named}: {_named(found.verdict)} over {counted(len(found.rows), 'line')}"
    return LedgerTable(title, LINE_HEADS, rows, (*found.remarks, *shown))


def _ledger(ledger: Ledger) -> LedgerTable:
    release = ledger.release
    head = f"{release.line}: {release.version}"
    if ledger.channels:
        head += f" ({', '.join(f'channel {name} stands here' for name in ledger.channels)})"
    rows = [_row(each) for each in ledger.standings]
    below = (*_refused(ledger), *ledger.remarks, *(said for each in ledger.standings for said in _below(each)))
    return LedgerTable(f"{head}: {_worst(ledger)}", HEADS, rows, below)


def _refused(ledger: Ledger) -> Iterator[str]:
    refused = [each.against.version for each in ledger.standings if each.bump and not each.bump.allowed]
    if refused:
        yield f"{REFUSED} not allowed in this line as a step from {', '.join(refused)}"


def _missing(version: str, one: MissingLine) -> LedgerTable:
    return LedgerTable(f"{one.line}: {version}: MISSING: nothing is known to be compatible there", (), (), (one.why,))


def _worst(ledger: Ledger) -> str:
    return _named(ledger.worst) if ledger.standings else NOTHING


def _named(verdict: Verdict | None) -> str:
    return UNKNOWN if verdict is None else verdict.name


def _row(standing: Standing) -> tuple[str, ...]:
    summary, bump = standing.summary, standing.bump
    breaks, sources = (summary.breaking, summary.api_breaks) if summary else (0, 0)
    notes = filter(
        None,
        (
            "" if standing.supported else "withdrawn" if is_withdrawn(standing.against) else "no longer supported",
            "approved" if standing.passed_by else f"{standing.approved} approved" if standing.approved else "",
            "checked in part" if standing.evidence_gap else "",
        ),
    )
    return (
        standing.against.version,
        ", ".join(map(str, standing.roles)),
        summary.verdict.name if summary else "not judged",
        str(breaks or ""),
        str(sources or ""),
        "" if bump is None else f"{bump.required}{'' if bump.allowed else REFUSED}",
        ", ".join(notes),
    )


def _below(standing: Standing) -> Iterator[str]:
    if standing.unjudged:
        yield f"not judged against {standing.against.version}: {standing.unjudged}"
    if standing.evidence_gap:
        yield f"against {standing.against.version}: {standing.evidence_gap}"
    if standing.bump and standing.bump.reason == "removed-too-early":
        yield f"against {standing.against.version}: {standing.bump.sentence}"
    if standing.passed_by:
        yield f"against {standing.against.version}: approved: {standing.passed_by}"


def _first_breaks(ledger: Ledger | None) -> str:
    standings = ledger.standings if ledger else ()
    broken = [each.against.version for each in standings if (each.verdict or Verdict.NO_CHANGE) >= Verdict.API_BREAK]
    return f"breaks {', '.join(broken)}" if broken else ""


def _difference(one: LineDifference) -> str:
    only, lacking = (", ".join(map(_line, lines)) for lines in (one.only_in, one.not_in))
    return f"{one.library}: {shortened(one.name)} only on {only}; not on {lacking}"


def _line(line: LineKey) -> str:
    return f"{line.target} {line.profile}"


def _text(shown: LedgerTable) -> Iterator[str]:
    yield shown.title
    every = [tuple(shown.heads), *map(tuple, shown.rows)] if shown.rows else []
    widths = [max(len(row[column]) for row in every) for column in range(len(shown.heads))] if every else []
    for row in every:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()
    yield from shown.below


def _markdown(shown: LedgerTable) -> Iterator[str]:
    yield f"### {plain(shown.title)}"
    if shown.rows:
        yield ""
        yield f"| {' | '.join(shown.heads)} |"
        yield f"|{'---|' * len(shown.heads)}"
        yield from (f"| {' | '.join(map(_cell, row))} |" for row in shown.rows)
    for sentence in shown.below:
        yield ""
        yield plain(sentence)


def _cell(text: str) -> str:
    return plain(text).replace("\\|", "&#124;").replace("|", "&#124;")
