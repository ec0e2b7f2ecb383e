"""The review of a build: the decision about it beside what its users have, and what the change itself brought."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import UsageError
from abistore.model.findings import FailOn
from abistore.model.labels import Given
from abistore.report.model import Report
from abistore.service.comparing import compare
from abistore.service.database import Database
from abistore.service.gating import SinceMergeBase, since_merge_base
from abistore.service.judging import usual
from abistore.service.predecessors import usual_counterpart
from abistore.service.snapshots import ExtractOptions, Selection, capture, is_reference

if TYPE_CHECKING:
    from abistore.service.ruling import Ruling


class BuildReviewPlan(Given, frozen=True):
    """What is asked about a build.

    ``library`` is the one whose baseline it is judged against, where the build does not tell; ``merge_base`` the
    revision, or the version, that the change was made from. With ``consumers``, each break has the stored programs that
    it hurts.
    """

    library: str | None = None
    merge_base: str | None = None
    consumers: bool = True
    fail_on: FailOn = "api_break"
    by: Ruling | None = None
    selection: Selection = Selection()


class ReviewedBuild(msgspec.Struct, frozen=True):
    """A build that was judged as a release; ``since`` tells what the change brought, where its merge base is named."""

    report: Report
    since: SinceMergeBase | None = None


AS_IT_IS = BuildReviewPlan()


def review_build(
    new: str | Path, old: str | Path | None = None, plan: BuildReviewPlan = AS_IT_IS, *, database: Database = None
) -> ReviewedBuild:
    """Judge a build, or a stored release, as the next release: beside ``old``, by default its library's baseline.

    What is approved does not fail, a release may break what its line lets it break, and no less evidence than the old
    side has is needed. Nothing is stored. Raises :class:`SnapshotNotFound`, :class:`InputError`, :class:`Incomparable`.
    """
    against = old if old is not None else _usual(new, plan, database)
    report = compare(
        against,
        new,
        database=database,
        selection=plan.selection,
        fail_on=plan.fail_on,
        require=usual(str(against) if is_reference(against) else None, plan.fail_on),
        by=plan.by,
        allow="scheme",
        consumers=plan.consumers,
    )
    if plan.merge_base is None:
        return ReviewedBuild(report)
    profile = report.decision.profile if report.decision is not None else None
    since = since_merge_base(report, plan.merge_base, profile=profile or None, by=plan.by, database=database)
    return ReviewedBuild(report, since)


def _usual(new: str | Path, plan: BuildReviewPlan, database: Database) -> str:
    """What a build is judged against: the baseline of its library, or the release before one that is older."""
    if is_reference(new) and "@" in new:
        line = {"target": plan.selection.target, "profile": plan.selection.profile}
        meant = usual_counterpart(new, database=database, **line)
        if meant.word == "prev":
            return meant.reference
    return f"{plan.library or _library(new, plan.selection)}@baseline"


def _library(new: str | Path, selection: Selection) -> str:
    """The library that a build says it is; of a stored release the one that its reference names."""
    if is_reference(new):
        library, at, _ = new.partition("@")
        if at:
            return library
        raise UsageError(f"{new}: a digest does not tell whose baseline is meant", "name the library, or the old side")
    options = ExtractOptions(layout=False, max_bytes=selection.options.max_bytes, only=selection.options.only)
    return capture(new, options=options, target=selection.target).library
