"""Comparing two snapshots and judging the difference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.limits import limits_for
from abistore.model.findings import VERDICT_OF, Churn, Comparison, FailOn, Impact, Verdict
from abistore.model.judging.bump import AllowPlan
from abistore.model.names import Name
from abistore.model.snapshot import Snapshot
from abistore.report.heading import by_approval
from abistore.report.model import Report, verdict_of, would_fail
from abistore.report.outline import outline
from abistore.service.judging.allowing import assessed, passes
from abistore.service.judging.evidence import NOTHING, EvidenceRequirement, lacked, lacking
from abistore.service.kinds import kinds

if TYPE_CHECKING:
    from abistore.compare.differing import Differing
    from abistore.service.judging.ruling import Ruling

THRESHOLD: dict[FailOn, Verdict | None] = {
    "breaking": Verdict.BREAKING,
    "api_break": Verdict.API_BREAK,
    "risk": Verdict.COMPATIBLE_WITH_RISK,
    "never": None,
}
OF_MOVES = frozenset(
    {"inline_namespace_moved", "namespace_renamed", "inline_namespace_moved.unexported", "symbol_renamed_batch"}
)
"""Where one of these kinds is found, the new side's declarations have the old side's names in findings."""

RISK_EXIT_CODE = 2
"""The exit code of COMPATIBLE_WITH_RISK with ``--fail-on risk``; without it the code is 0."""


def told_apart(old: str, new: str) -> tuple[str, str]:
    """Two paths without the folders that both begin with: ``v1/libfoo.so`` and ``v2/libfoo.so``."""
    paths = [Path(each).absolute().parts if each else () for each in (old, new)]
    shortest = min(len(each) - 1 for each in paths if each) if any(paths) else 0
    shared = next((at for at in range(shortest) if len({each[at] for each in paths if each}) > 1), shortest)
    if not all(paths):
        shared = shortest
    first, second = ("/".join(each[shared:]) for each in paths)
    return first, second


def judge(old: Snapshot, new: Snapshot, by: Ruling | None = None) -> Report:
    """The judged difference of two snapshots, by a ruling or the strict policy. Raises :class:`Incomparable`."""
    return report(*concluded(old, new, by), (old, new))


def concluded(old: Snapshot, new: Snapshot, by: Ruling | None = None) -> tuple[Comparison, Churn]:
    """The comparison of two snapshots, as verdicts are stored, and how much changed.

    Time and memory are limited by the size of the snapshots. Raises :class:`Incomparable`, :class:`LimitExceeded`.
    """
    with limits_for(old.weight + new.weight, f"judging {new.label} against {old.label}"):
        return _concluded(old, new, by)


def _concluded(old: Snapshot, new: Snapshot, by: Ruling | None) -> tuple[Comparison, Churn]:
    from abistore.compare.comparison import both_record
    from abistore.compare.comparison import compare as compare_snapshots
    from abistore.compare.differing import differing

    sides = both_record(old, new)
    names = differing(*sides)
    return compare_snapshots(old, new, by, names), churn(*sides, names)


def report(comparison: Comparison, churned: Churn, sides: tuple[Snapshot, Snapshot]) -> Report:
    """The report of a comparison, with the declarations of its findings from both snapshots."""
    from abistore.report.declarations import declared

    old, new = sides
    with limits_for(old.weight + new.weight, f"telling what changed from {old.label} to {new.label}"):
        if any(each.kind in OF_MOVES for each in comparison.findings):
            from abistore.compare.scopes.found import aligned

            both = aligned(old, new)
            sides = both.old, both.new
        return outline(comparison, churn=churned, kinds=kinds().values(), declarations=declared(comparison, *sides))


def gated(
    report: Report,
    fail_on: FailOn,
    require: EvidenceRequirement = NOTHING,
    allow: AllowPlan | None = None,
) -> Report:
    """The report with the exit code of its verdict by ``fail_on``, or else of the evidence that ``require`` misses.

    A break that was found is worse than one that may have been missed. Findings that are approved do not fail it, and
    with ``allow`` no release that may break.
    """
    report, code = accepted(assessed(report, allow), fail_on)
    if passes(report):
        report, code = msgspec.structs.replace(report, passed_by=""), 0
    lack = None if code else lacking(report, require)
    if lack is None:
        return msgspec.structs.replace(report, exit_code=code, fail_on=fail_on)
    return lacked(msgspec.structs.replace(report, fail_on=fail_on), lack)


def accepted(report: Report, fail_on: FailOn) -> tuple[Report, int]:
    """The report with what is approved of it, and the exit code of the worst finding that nobody approved."""
    code = exit_code(verdict_of(report), fail_on)
    report = msgspec.structs.replace(report, fail_on=fail_on, passed_by="", approved_count=0)
    let_through = [each for each in report.changes if each.approved and would_fail(report, each)]
    if not code or not let_through:
        return report, code
    every, left = (
        max((VERDICT_OF[Impact[each.impact.upper()]] for each in found), default=Verdict.NO_CHANGE)
        for found in (report.changes, [each for each in report.changes if not each.approved])
    )
    remaining = exit_code(left, fail_on) if every is verdict_of(report) else code
    said = "" if remaining else by_approval(let_through)
    return msgspec.structs.replace(report, approved_count=len(let_through), passed_by=said), remaining


def exit_code(verdict: Verdict, fail_on: FailOn) -> int:
    """0 if the verdict is milder than ``fail_on``; else the verdict's own code, 2 for a risk."""
    threshold = THRESHOLD[fail_on]
    if threshold is None or verdict < threshold:
        return 0
    return verdict.exit_code or RISK_EXIT_CODE


def churn(old: Snapshot, new: Snapshot, names: Differing) -> Churn:
    """How many exports were added and removed, and how many names differ in a facet that saw both sides.

    ``names`` are those that differ.
    """
    before, after = (side.entries.get("symbol", {}).keys() for side in (old, new))
    exported = [name for name in names["symbol"] if name.kind in {"function", "variable"}]
    changed: set[Name] = set()
    for facet in old.entries.keys() & new.entries.keys():
        both = names[facet] & old.entries[facet].keys() & new.entries[facet].keys()
        changed |= {name for name in both if name.kind != "import"} if facet == "symbol" else both
    return Churn(
        added=sum(name not in before for name in exported),
        removed=sum(name not in after for name in exported),
        changed=len(changed),
    )
