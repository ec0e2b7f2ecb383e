"""Judging builds of a pipeline, which are not stored: against a channel, and against the merge base of a change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import SnapshotNotFound
from abistore.model.findings import VERDICT_OF, Impact
from abistore.model.history import DEFAULT_CHANNEL, DEFAULT_PROFILE, Progress
from abistore.model.labels.blanks import Given
from abistore.report.model import Report, ReportedFinding, fails
from abistore.service.database import Database, using
from abistore.service.gating.merge_base import Inherited, inherited, introduced, merge_base
from abistore.service.gating.ways import deciding, ways
from abistore.service.ingest.gates import Gate
from abistore.service.ingest.ingesting import ingest
from abistore.service.ingest.results import AS_IT_SAYS, Ingested, IngestPlan
from abistore.service.judging.judging import RISK_EXIT_CODE

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store


class GatePlan(Given, frozen=True):
    """What a pipeline asks: ``files`` says how files are read and by what they are judged.

    ``channel`` is the baseline that they are judged against. ``merge_base`` names the source revision, or the version,
    that the change was made from. With ``introduced_only`` what stood there already does not fail the gate. Without a
    baseline the gate fails, unless ``bootstrap`` says that this is the first build; a line that ever had a baseline is
    refused then (:class:`BaselineLost`).
    """

    files: IngestPlan = AS_IT_SAYS
    channel: str = DEFAULT_CHANNEL
    merge_base: str | None = None
    introduced_only: bool = False
    bootstrap: bool = False


class GateResult(msgspec.Struct, frozen=True):
    """What a gate says of one file, in one ``sentence``, and the ``ways`` to make it pass.

    ``judged`` is what an ingest would do. ``merge_base`` is the stored build that the change was made from; where it is
    known, ``introduced`` and ``inherited`` are the ids of the findings that would fail, by whether the change brought
    them. ``untold`` says why the two are not told apart.
    """

    judged: Ingested
    exit_code: int
    sentence: str
    merge_base: str = ""
    introduced: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    untold: str = ""
    ways: tuple[str, ...] = ()


class SinceMergeBase(msgspec.Struct, frozen=True):
    """What a change brought: the ids of the findings that fail, as in :class:`GateResult`."""

    merge_base: str = ""
    introduced: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    untold: str = ""


USUAL = GatePlan()

JUDGED = "a gate judges only"

FIRST_INGEST = ": --set-baseline-if-none"
"""What an ingest hints at for the first build of a line; a gate sets no baseline."""


def gate(
    paths: str | Path | Sequence[str | Path],
    plan: GatePlan = USUAL,
    *,
    database: Database = None,
    progress: Progress | None = None,
) -> tuple[GateResult, ...]:
    """Say of each file whether it may be merged and released. Nothing is stored.

    It is judged against the release at ``plan.channel``, as :func:`ingest` would with ``against``. Raises
    :class:`UsageError` where the call is wrong.
    """
    against = msgspec.structs.replace(
        plan.files.gate,
        against=f"baseline:{plan.channel}",
        channel=plan.channel if plan.bootstrap else None,
        if_unset=plan.bootstrap,
        bootstrap=plan.bootstrap,
    )
    # a build may have the label of a stored one, as a second build of a tag has: nothing is replaced here
    files = msgspec.structs.replace(plan.files, gate=against, dry_run=True, replace=True, replace_baseline=JUDGED)
    results = ingest(paths, files, database=database, progress=progress)
    with using(database) as store:
        return tuple(_result(store, each, plan) for each in results)


def _result(store: Store, judged: Ingested, plan: GatePlan) -> GateResult:
    report = judged.verdict
    if FIRST_INGEST in judged.hint:
        judged = msgspec.structs.replace(judged, hint=f"{judged.hint.partition(FIRST_INGEST)[0]}: --bootstrap")
    if report is None:
        return GateResult(judged, judged.exit_code, deciding(judged, plan.channel))
    since = _since(store, report, plan) if plan.merge_base is not None else SinceMergeBase()
    failing = _failing(report)
    apart = bool(plan.merge_base) and not since.untold
    brought = tuple(each for each in failing if each.id in since.introduced)
    code = judged.exit_code
    if plan.introduced_only and apart and failing and not report.code:
        code = _code(brought)
    told = since.introduced, since.inherited
    needed = brought if plan.introduced_only and apart else failing
    return GateResult(
        judged,
        code,
        deciding(judged, plan.channel, told, code),
        since.merge_base,
        *told,
        untold=since.untold,
        ways=tuple(ways(report, needed, plan.files.profile or DEFAULT_PROFILE)) if code else (),
    )


def since_merge_base(
    report: Report,
    merge_base: str,
    *,
    profile: str | None = None,
    by: Ruling | None = None,
    database: Database = None,
) -> SinceMergeBase:
    """Tell what fails in a gated report by whether it stood at ``merge_base`` already: a revision, or a version."""
    with using(database) as store:
        plan = GatePlan(IngestPlan(profile=profile, gate=Gate(by=by)), merge_base=merge_base)
        return _since(store, report, plan)


def _since(store: Store, report: Report, plan: GatePlan) -> SinceMergeBase:
    base, before = _before(store, report, plan)
    if before.untold:
        return SinceMergeBase(base, untold=before.untold)
    new, failing = {each.id for each in introduced(report, before)}, _failing(report)
    brought, stood = (tuple(each.id for each in failing if (each.id in new) is word) for word in (True, False))
    return SinceMergeBase(base, brought, stood)


def _failing(report: Report) -> tuple[ReportedFinding, ...]:
    return tuple(each for each in report.changes if fails(report, each)) if report.exit_code else ()


def _before(store: Store, report: Report, plan: GatePlan) -> tuple[str, Inherited]:
    assert plan.merge_base is not None
    if report.libraries:
        return "", Inherited(untold="a package of several libraries is judged as a whole")
    try:
        base = merge_base(store, report, plan.files.profile, plan.merge_base)
    except SnapshotNotFound as error:
        return "", Inherited(untold=error.message)
    return base.reference, inherited(store, base, report, plan.files.profile, plan.files.gate.by)


def _code(findings: Sequence[ReportedFinding]) -> int:
    """The exit code of the worst of some findings that fail."""
    worst = max((VERDICT_OF[Impact[each.impact.upper()]] for each in findings), default=None)
    return 0 if worst is None else worst.exit_code or RISK_EXIT_CODE
