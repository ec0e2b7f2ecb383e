"""``abi_summary``: the verdict about one release, and what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from abistore.interface import Judgement, OpenStore, Release, Summary, requirement
from abistore.mcp.answers.answer import Answer, asking, brief
from abistore.mcp.answers.changes import ChangeItem, change_item
from abistore.mcp.answers.compared import (
    BumpItem,
    ComparedSide,
    Gap,
    advice,
    bump_item,
    gaps,
    headline,
    next_calls,
    side,
)
from abistore.mcp.answers.units import fitting
from abistore.mcp.call import Call
from abistore.mcp.handles import keep
from abistore.mcp.lines import ChosenLine, line_of
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import Library, Line, described
from abistore.report.model import VerdictName

TOP, BUDGET = 5, 250


class BaselineCard(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the release was judged against; ``trusted`` where both sides were seen equally well."""

    ref: str | None
    status: Literal["ok", "missing", "digest_mismatch", "evidence_mismatch"]
    trusted: bool


class SummaryAnswer(Answer, frozen=True, kw_only=True):
    """The verdict about a release; ``freshness``: read from the store, or judged again for this answer."""

    verdict: VerdictName | None
    exit_code: int | None
    comparable: bool
    reason: str | None = None
    comparison_id: str | None = None
    counts: Summary | None = None
    suppressed_count: int = 0
    baseline: BaselineCard
    release: ComparedSide
    build_id: str | None = None
    freshness: Literal["stored", "recomputed"] | None = None
    top: tuple[ChangeItem, ...] = ()
    advice: tuple[str, ...] = ()
    bump: BumpItem | None = None
    not_evaluated: tuple[Gap, ...] = ()
    warnings: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


@tool()
def abi_summary(
    call: Call,
    *,
    library: Library,
    version: Annotated[str, described("Label, as a string")] = "latest",
    against: Annotated[str | None, described("baseline[:CHANNEL], prev or a version")] = None,
    line: Line = None,
) -> SummaryAnswer:
    """Tell the verdict about a release: by default the latest, against its baseline or else the one before.

    The cheapest answer to "may this release ship?": worst changes, needed SONAME, what was not checked.
    """
    with call.store() as store:
        chosen = line_of(store, library, line)
        wanted = {"latest": chosen.latest, "baseline": chosen.baseline or version}.get(version, version)
        releases = store.releases(library, target=chosen.target, profile=chosen.profile)
        other = against or _against(releases, chosen, wanted)
        if other is None:
            return _first(releases[0])
        judged = store.verdict(
            f"{library}@{wanted}",
            against=other,
            target=chosen.target,
            profile=chosen.profile,
            require=requirement("none"),
        )
        return _answer(call, judged, _baseline(store, judged, chosen, other))


def _against(releases: Sequence[Release], chosen: ChosenLine, version: str) -> str | None:
    """The baseline, or the release before where it is none itself; nothing for the first release."""
    if chosen.baseline not in {None, version}:
        return "baseline"
    return None if releases and releases[0].version == version else "prev"


def _baseline(store: OpenStore, judged: Judgement, chosen: ChosenLine, against: str) -> BaselineCard:
    report = judged.report
    ref = judged.given.old.reference
    if not against.startswith("baseline") and chosen.baseline is None:
        return BaselineCard(ref=ref, status="missing", trusted=False)
    moves = [move for move in store.baselines(chosen.library) if move.version == judged.given.old.version]
    if any(move.digest not in {None, judged.given.old.digest} for move in moves):
        return BaselineCard(ref=ref, status="digest_mismatch", trusted=False)
    if report.unequal_evidence:
        return BaselineCard(ref=ref, status="evidence_mismatch", trusted=False)
    return BaselineCard(ref=ref, status="ok", trusted=True)


def _first(release: Release) -> SummaryAnswer:
    reason = f"{release.reference} is the first release of its line: nothing precedes it"
    return SummaryAnswer(
        headline=f"NOT JUDGED: {reason}",
        verdict=None,
        exit_code=None,
        comparable=False,
        reason=reason,
        baseline=BaselineCard(ref=None, status="missing", trusted=False),
        release=side(release.side),
        build_id=release.provenance.build_id,
        next=(asking("abi_list", library=release.line.library),),
    )


def _answer(call: Call, judged: Judgement, baseline: BaselineCard) -> SummaryAnswer:
    report = judged.report
    comparison_id = keep(call, report)
    top = tuple(fitting([change_item(change, "summary") for change in report.changes[:TOP]], BUDGET))
    return SummaryAnswer(
        headline=headline(report),
        verdict=report.verdict,
        exit_code=report.exit_code,
        comparable=True,
        comparison_id=comparison_id,
        counts=report.summary,
        suppressed_count=report.suppressed_count,
        baseline=baseline,
        release=side(report.new),
        build_id=judged.given.new.provenance.build_id,
        freshness="stored" if judged.remembered else "recomputed",
        top=top,
        advice=advice(report),
        bump=bump_item(report),
        not_evaluated=gaps(report),
        warnings=tuple(brief(note) for note in report.notes),
        next=next_calls(report, comparison_id, listed=len(top) == len(report.changes)),
    )
