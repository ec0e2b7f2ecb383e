"""Decisions about stored releases, from the verdicts that the store has."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, NamedTuple, cast

from msgspec.structs import replace

from abistore.model.approvals import Approval
from abistore.model.decision import Decision
from abistore.model.findings import Verdict
from abistore.model.history import Release, StoredVerdict, VerdictSummary
from abistore.report.model import SCHEMA, Report, Summary, VerdictName
from abistore.report.outline import evidence_gap, outline
from abistore.service.approved_gates import approved, place_between
from abistore.service.consumers import allow_plan
from abistore.service.decision import DecisionRequest, compared_as, decide, first_release, not_judged
from abistore.service.judging import usual
from abistore.service.log import early_removals, moment

if TYPE_CHECKING:
    from abistore.model.versions import DeprecationWindow
    from abistore.store.store import Store


class StoredDecisions(NamedTuple):
    """Decides about the releases of one library: with what is approved of it ``today``, by its scheme.

    With ``deprecation``, no release passes that removes what was not deprecated for so long.
    """

    store: Store
    approvals: tuple[Approval, ...]
    today: date
    deprecation: DeprecationWindow | None = None

    def beside(
        self,
        old: Release,
        new: Release,
        found: VerdictSummary | str,
        given: Callable[[], StoredVerdict | None],
        against: str | None = None,
    ) -> Decision:
        """The decision that ``verdict --against`` makes of two releases. ``found`` is their verdict, or why none is.

        ``given`` has the findings: it is asked where something may fail.
        """
        why, channel = compared_as(against)
        asked = DecisionRequest(why, channel, require=usual(against, "api_break"), profile=new.line.profile)
        if isinstance(found, str):
            return not_judged(new.side, asked, old.side, found)
        plan = allow_plan(self.store, old, new.soname, new.provenance)
        whole = None if _suffices(old, new, found) and not self.deprecation else given()
        report = _bare(old, new, found) if whole is None else outline(whole.comparison, churn=whole.churn)
        if whole is not None and self.deprecation is not None:
            early = early_removals(self.store, report, old, moment(new), self.deprecation)
            plan = replace(plan, early=early)
        if whole is not None and self.approvals:
            at = place_between(self.store, (old, new), self.today, channel or None)
            report = approved(report, self.approvals, at)
        return decide(report, replace(asked, allow=plan))


def first_decision(release: Release) -> Decision:
    """The decision about the first release of a line."""
    return first_release(release.side, DecisionRequest("first", profile=release.line.profile))


def _suffices(old: Release, new: Release, found: VerdictSummary) -> bool:
    """Whether the counts of a verdict say all that a decision rests on: nothing breaks, and all was compared."""
    return found.verdict < Verdict.API_BREAK and not found.not_checked and old.soname == new.soname


def _bare(old: Release, new: Release, found: VerdictSummary) -> Report:
    """A report without findings."""
    total = found.breaking + found.api_breaks + found.risk_changes + found.compatible + found.notices
    return Report(
        status="ok",
        schema=SCHEMA,
        verdict=cast(VerdictName, found.verdict.name),
        exit_code=0,
        summary=Summary(found.breaking, found.api_breaks, found.risk_changes, found.compatible, total),
        changes=(),
        suppressed_count=found.suppressed,
        suppressed=(),
        not_checked=(),
        notes=(),
        old=old.side,
        new=new.side,
        policy=found.ruling.policy,
        engine=found.engine,
        churn=found.churn,
        evidence_gap=evidence_gap(old.evidence, new.evidence),
    )
