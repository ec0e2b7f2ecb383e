"""Evaluations as tables: which verdicts move under another policy, and by which findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abistore.model.judging.standing import Evaluation, MovedFinding, MovedVerdict
from abistore.model.words.counting import counted
from abistore.report.releases.ledgers import LedgerTable
from abistore.report.wording import named

HEADS = ("release", "against", "as", "before", "after")
LISTED = 10


def evaluation_tables(found: Sequence[Evaluation]) -> list[LedgerTable]:
    """One table a line: the verdicts that move, and below it the findings that moved them."""
    return [_table(each) for each in found]


def _table(found: Evaluation) -> LedgerTable:
    moved = [each for each in found.moved if each.is_moved]
    rows = [(each.new, each.old, ", ".join(map(str, each.roles)), each.before.name, each.after.name) for each in moved]
    title = f"{found.line}: {len(moved)} of {counted(found.judged, 'verdict')} move under {found.policy}"
    if found.suppression_files:
        title += f" with {', '.join(each.name for each in found.suppression_files)}"
    return LedgerTable(title, HEADS, rows, tuple(_below(found)))


def _below(found: Evaluation) -> Iterator[str]:
    for each in found.moved:
        if each.is_moved:
            yield f"{each.new} against {each.old}: {each.before.name} -> {each.after.name}"
            yield from _findings(each)
    if stayed := [each for each in found.moved if not each.is_moved]:
        verb = "stays" if len(stayed) == 1 else "stay"
        yield f"{counted(len(stayed), 'verdict')} {verb}, though findings in it count otherwise: --json lists them"
    yield from (f"not judged: {said}" for said in found.unjudged)


def _findings(moved: MovedVerdict) -> Iterator[str]:
    yield from (f"  {_finding(each)}" for each in moved.findings[:LISTED])
    if len(moved.findings) > LISTED:
        yield f"  and {len(moved.findings) - LISTED} more"


def _finding(one: MovedFinding) -> str:
    part = f" ({one.part})" if one.part else ""
    impacts = f"{one.before or 'not found'} -> {one.after or 'not found'}"
    return f"{impacts}  {one.kind}  {named(one.name)}{part}{f': {one.reason}' if one.reason else ''}  [{one.id[:12]}]"
