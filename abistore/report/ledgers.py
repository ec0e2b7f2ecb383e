"""Ledgers, evaluations and release statements as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from abistore.model.approvals import FOREVER, Deprecation
from abistore.model.findings import Verdict
from abistore.model.history import LineKey
from abistore.model.labels import SonameChange
from abistore.model.statements import (
    Evaluation,
    FoldedRelease,
    Ledger,
    LineDifference,
    MissingLine,
    MovedFinding,
    MovedVerdict,
    ReleaseStatement,
    Standing,
    StatedApproval,
    StatedExport,
    StatedGap,
    StatedLine,
    is_withdrawn,
)
from abistore.model.words import counted, visible
from abistore.report.formats.markdown import plain
from abistore.report.outline import extent, ruling
from abistore.report.reasons import outcome_words
from abistore.report.wording import named, shortened

UNKNOWN = "not known"
NOTHING = "no baseline to compare with"
LISTED = 20
REFUSED = "!"
HEADS = ("against", "as", "verdict", "outcome", "breaks", "source breaks", "bump", "remark")
LINE_HEADS = ("library", "target", "profile", "release", "worst", "outcome", "remark")


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


def as_html(title: str, tables: Sequence[LedgerTable]) -> str:
    """The tables as one page that needs no other file."""
    from abistore.report.drawing import environment  # the templates' language, for HTML only

    return visible(environment().get_template("tables.html").render(title=title, tables=tables))


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
            row.ledger.decision.outcome if row.ledger else "",
            row.missing or _first_breaks(row.ledger),
        )
        for row in found.rows
    ]
    shown = [_difference(each) for each in found.differences[:LISTED]]
    if len(found.differences) > LISTED:
        shown.append(f"and {len(found.differences) - LISTED} more exports that only some lines have: --json has all")
    title = f"{named}: {_named(found.verdict)}, {found.outcome} over {counted(len(found.rows), 'line')}"
    return LedgerTable(title, LINE_HEADS, rows, (*found.remarks, *shown))


def _ledger(ledger: Ledger) -> LedgerTable:
    release = ledger.release
    head = f"{release.line}: {release.version}"
    if ledger.channels:
        head += f" ({', '.join(f'channel {name} is here' for name in ledger.channels)})"
    rows = [_row(each) for each in ledger.standings]
    below = (*_refused(ledger), *ledger.remarks, *(said for each in ledger.standings for said in _below(each)))
    return LedgerTable(f"{head}: {_worst(ledger)}, {ledger.decision.outcome}", HEADS, rows, below)


def _refused(ledger: Ledger) -> Iterator[str]:
    refused = [each.against.version for each in ledger.standings if each.decision.outcome == "fail" and each.supported]
    if refused:
        yield f"{REFUSED} fails compared with {', '.join(refused)}"


def _missing(version: str, one: MissingLine) -> LedgerTable:
    return LedgerTable(f"{one.line}: {version}: MISSING: nothing is known to be compatible there", (), (), (one.why,))


def _worst(ledger: Ledger) -> str:
    return _named(ledger.worst) if ledger.standings else NOTHING


def _named(verdict: Verdict | None) -> str:
    return UNKNOWN if verdict is None else verdict.name


def _row(standing: Standing) -> tuple[str, ...]:
    summary, promise = standing.summary, standing.decision.promise
    breaks, sources = (summary.breaking, summary.api_breaks) if summary else (0, 0)
    notes = filter(
        None,
        (
            "" if standing.supported else "withdrawn" if is_withdrawn(standing.against) else "no longer supported",
            "checked in part" if standing.evidence_gap else "",
        ),
    )
    return (
        standing.against.version,
        ", ".join(map(str, standing.roles)),
        summary.verdict.name if summary else "not judged",
        outcome_words(standing.decision),
        str(breaks or ""),
        str(sources or ""),
        "" if promise is None else promise.required,
        ", ".join(notes),
    )


def _below(standing: Standing) -> Iterator[str]:
    if standing.unjudged:
        yield f"not judged against {standing.against.version}: {standing.unjudged}"
    if standing.evidence_gap:
        yield f"against {standing.against.version}: {standing.evidence_gap}"
    promise = standing.decision.promise
    if promise and promise.reason == "removed-too-early":
        yield f"against {standing.against.version}: {promise.sentence}"
    if standing.decision.code == "waived":
        yield f"against {standing.against.version}: {standing.decision.headline}"


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


EVALUATION_HEADS = ("release", "against", "as", "before", "after")
EVALUATIONS_LISTED = 10


def evaluation_tables(found: Sequence[Evaluation]) -> list[LedgerTable]:
    """One table a line: the verdicts that change, and below it the findings that change them."""
    return [_table(each) for each in found]


def _table(found: Evaluation) -> LedgerTable:
    moved = [each for each in found.moved if each.is_moved]
    rows = [(each.new, each.old, ", ".join(map(str, each.roles)), each.before.name, each.after.name) for each in moved]
    title = f"{found.line}: {len(moved)} of {counted(found.judged, 'verdict')} change under {found.policy}"
    if found.suppression_files:
        title += f" with {', '.join(each.name for each in found.suppression_files)}"
    return LedgerTable(title, EVALUATION_HEADS, rows, tuple(_evaluation_notes(found)))


def _evaluation_notes(found: Evaluation) -> Iterator[str]:
    for each in found.moved:
        if each.is_moved:
            yield f"{each.new} against {each.old}: {each.before.name} -> {each.after.name}"
            yield from _findings(each)
    if stayed := [each for each in found.moved if not each.is_moved]:
        verb = "stays" if len(stayed) == 1 else "stay"
        yield f"{counted(len(stayed), 'verdict')} {verb}, though findings in it count otherwise: --json lists them"
    yield from (f"not judged: {said}" for said in found.unjudged)


def _findings(moved: MovedVerdict) -> Iterator[str]:
    yield from (f"  {_finding(each)}" for each in moved.findings[:EVALUATIONS_LISTED])
    if len(moved.findings) > EVALUATIONS_LISTED:
        yield f"  and {len(moved.findings) - EVALUATIONS_LISTED} more"


def _finding(one: MovedFinding) -> str:
    part = f" ({one.part})" if one.part else ""
    impacts = f"{one.before or 'not found'} -> {one.after or 'not found'}"
    return f"{impacts}  {one.kind}  {named(one.name)}{part}{f': {one.reason}' if one.reason else ''}  [{one.id[:12]}]"


NAMES_LISTED = 5
BUMP_HEADS = ("line", "previous", "required", "declared", "SONAME", "outcome")
REMOVAL_HEADS = ("name", "deprecated", "removable from", "state")
APPROVAL_HEADS = ("against", "finding", "name", "approved by", "on", "until", "why")
GAP_HEADS = ("against", "evidence", "side", "why", "names")

SONAMES: dict[SonameChange, str] = {"none": "has none", "unversioned": "has no version"}
"""What is said of SONAMEs in other words than their own."""


def statement_tables(found: ReleaseStatement) -> list[LedgerTable]:
    """The sentence, and a table for each thing that there is something to say of."""
    ledgers = [row.ledger for row in found.release.rows if row.ledger]
    several = len(found.release.rows) > 1
    tables = [
        _head(found),
        _bumps(found),
        *(_titled("Baselines", each) for each in ledger_tables(ledgers)),
        *([_titled("Lines", lines_table(found.release))] if several else []),
    ]
    for line in found.lines:
        tables.extend(_of_line(line, f" ({line.line})" if several else ""))
    return tables


def _titled(title: str, table: LedgerTable) -> LedgerTable:
    return table._replace(title=f"{title}: {table.title}")


def _head(found: ReleaseStatement) -> LedgerTable:
    verdict = found.verdict.name if found.verdict is not None else _unknown(found)
    judged = ruling(found.policy, found.policy_file, found.suppression_files)
    below = [f"{found.library} {found.version}: {verdict}, outcome {found.outcome}; {judged}"]
    if found.today is not None:
        below.append(f"approvals as of {found.today:%Y-%m-%d}")
    return LedgerTable(found.sentence, (), (), below)


def _unknown(found: ReleaseStatement) -> str:
    """Why there is no verdict: nothing to judge against, or something that could not be judged."""
    ledgers = [row.ledger for row in found.release.rows]
    first = all(ledger is not None and not ledger.standings for ledger in ledgers)
    return "no verdict for the first release" if first else "not known"


def _bumps(found: ReleaseStatement) -> LedgerTable:
    rows = [(str(each.line), each.previous or "first release", *_step(each)) for each in found.lines]
    return LedgerTable("Step from the previous release", BUMP_HEADS, rows, ())


def _step(line: StatedLine) -> tuple[str, str, str, str]:
    if line.step is None or line.step.promise is None:
        return "", "", "", (line.step or line.decision).outcome
    promise = line.step.promise
    soname = SONAMES.get(promise.soname, promise.soname)
    return promise.required, promise.declared or "promises nothing", soname, outcome_words(line.step)


def _of_line(line: StatedLine, of: str) -> Iterator[LedgerTable]:
    accepted = [each for each in line.approvals if each.state == "approved"]
    if line.approvals:
        rows = [_approval(each) for each in accepted]
        lapsed = [
            f"{each.name}, {each.kind}, against {each.against}: {each.said}" for each in line.approvals if each.said
        ]
        title = f"Accepted{of}: {counted(len(accepted), 'finding')}"
        yield LedgerTable(title, APPROVAL_HEADS, rows, lapsed)
    yield from _exports(line, of)
    if line.removals:
        title = f"Removed declarations{of}: {len(line.removals)}"
        yield LedgerTable(title, REMOVAL_HEADS, [_removal(each) for each in line.removals], ())
    seen = ", ".join(map(extent, line.evidence))
    gaps = tuple(_gap(each) for each in line.not_checked)
    hints = sorted({each.hint for each in line.not_checked if each.hint})
    yield LedgerTable(f"Not checked{of}: {counted(len(gaps), 'gap')}; evidence: {seen}", GAP_HEADS, gaps, hints)


def _approval(one: StatedApproval) -> tuple[str, ...]:
    name = ".".join(filter(None, (shortened(one.name), one.part)))
    until = one.until.replace(":", " ", 1) or "any time"
    scope = "" if one.scope == FOREVER else one.scope
    why = ", ".join(filter(None, (one.reason, one.ticket, scope)))
    return one.against, f"{one.kind} {one.id}", name, one.approver, one.approved, until, why


def _removal(one: Deprecation) -> tuple[str, ...]:
    since = f"since {one.since}" if one.since else "never"
    judged = {"removed": "in time" if one.removable else "", "too-early": "too early"}.get(one.state, "unannounced")
    return shortened(one.display) or "", since, one.removable, judged


def _gap(one: StatedGap) -> tuple[str, ...]:
    names = ", ".join(one.names[:NAMES_LISTED])
    if one.count > NAMES_LISTED:
        names += f" and {one.count - NAMES_LISTED} more"
    return one.against, one.facet, one.side, one.detail or one.reason, names or "all"


def _exports(line: StatedLine, of: str) -> Iterator[LedgerTable]:
    if line.previous is None:
        yield LedgerTable(f"Exports{of}: {line.exports}", (), (), ())
        return
    changed = f"{len(line.new_exports)} new, {len(line.removed_exports)} removed"
    below = (*_listed("+", line.new_exports), *_listed("-", line.removed_exports))
    yield LedgerTable(f"Exports{of}: {line.exports}, {changed} since {line.previous}", (), (), below)


def _listed(sign: str, exports: Sequence[StatedExport]) -> Iterator[str]:
    yield from (f"{sign} {shortened(each.display)}" for each in exports[:LISTED])
    if len(exports) > LISTED:
        yield f"{sign} {len(exports) - LISTED} more: --format json has all"
