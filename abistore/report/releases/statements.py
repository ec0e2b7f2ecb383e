"""Release statements as text and as Markdown: the sentence first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.model.judging.deprecations import Deprecation
from abistore.model.judging.standing import Ledger, Standing
from abistore.model.judging.statement import ReleaseStatement, StatedApproval, StatedExport, StatedGap, StatedLine
from abistore.model.labels.soname_changes import SonameChange
from abistore.model.words.counting import counted
from abistore.report.heading import extent, ruling
from abistore.report.releases.ledgers import LedgerTable, ledger_tables, lines_table
from abistore.report.wording import shortened

LISTED = 20
NAMES_LISTED = 5
BUMP_HEADS = ("line", "since", "required", "declared", "SONAME", "allowed")
REMOVAL_HEADS = ("name", "deprecated", "may go in", "which is")
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
    may = {True: "allowed", False: "not allowed", None: "not known to be allowed"}[found.allowed]
    judged = ruling(found.policy, found.policy_file, found.suppression_files)
    below = [f"{found.library} {found.version}: {verdict}, {may}; {judged}"]
    if found.today is not None:
        below.append(f"approvals as of {found.today:%Y-%m-%d}")
    return LedgerTable(found.sentence, (), (), below)


def _unknown(found: ReleaseStatement) -> str:
    """Why there is no verdict: nothing to judge against, or something that could not be judged."""
    ledgers = [row.ledger for row in found.release.rows]
    first = all(ledger is not None and not ledger.standings for ledger in ledgers)
    return "no verdict, as nothing came before it" if first else "not known"


def _bumps(found: ReleaseStatement) -> LedgerTable:
    ledgers = {row.line: row.ledger for row in found.release.rows if row.ledger}
    rows = [
        (str(each.line), each.previous or "first release", *_bump(each, ledgers[each.line])) for each in found.lines
    ]
    return LedgerTable("Bump since the previous release", BUMP_HEADS, rows, ())


def _bump(line: StatedLine, ledger: Ledger) -> tuple[str, str, str, str]:
    bump = line.bump
    if bump is None:
        return "", "", "", ""
    soname = SONAMES.get(bump.soname, bump.soname)
    approved = line.passed_by and line.decided_by == line.previous
    allowed = "yes" if bump.allowed else f"by approval, else no: {bump.reason}" if approved else f"no: {bump.reason}"
    refused = [each for each in ledger.standings if each.supported and each.role != "previous" and _is_refused(each)]
    if bump.allowed and refused:
        allowed = f"yes since {line.previous}, no since {', '.join(each.against.version for each in refused)}"
    return bump.required, bump.declared or "promises nothing", soname, allowed


def _is_refused(standing: Standing) -> bool:
    return standing.bump is not None and not standing.bump.allowed and not standing.passed_by


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
    why = ", ".join(filter(None, (one.reason, one.ticket, one.scope)))
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
