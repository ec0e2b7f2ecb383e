"""``abi_summary``, ``abi_pr_summary`` and ``abi_whatif``: verdicts about a release, a pull request, an edit."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from abistore.arguments import Against, Declarations, HeaderPatch
from abistore.interface import (
    BoundRule,
    Judgement,
    OpenStore,
    Release,
    Report,
    Summary,
    WhatIf,
    WhatIfBaseline,
    WhatIfPlan,
    WhatIfWay,
    baselines,
    bound_rule,
    first_decision,
    releases,
    usual_verdict,
    verdict,
    whatif,
)
from abistore.mcp.answers import (
    Answer,
    BumpItem,
    ChangeItem,
    ComparedSide,
    Gap,
    NextCall,
    advice,
    asking,
    brief,
    bump_item,
    change_item,
    encoded,
    fitting,
    gaps,
    headline,
    next_calls,
    side,
)
from abistore.mcp.operands import SHOWN, Call, ChosenLine, headers_of, identity_of, keep, line_of, operand, told_report
from abistore.mcp.tools.comparing import gated
from abistore.mcp.tools.declaration import (
    ComparisonId,
    Folders,
    Headers,
    Language,
    Library,
    Line,
    Version,
    described,
    like,
    tool,
)
from abistore.report.comment import comment, rest_of
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
    outcome: str = ""
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
    next: tuple[NextCall, ...] = ()


@tool("Verdict about a release")
def abi_summary(
    call: Call,
    *,
    library: Library,
    version: Version = "latest",
    against: Against = None,
    line: Line = None,
) -> SummaryAnswer:
    """Tell the verdict about a release: by default the latest, against an earlier baseline or else the one before.

    Use it first for "may this release ship?": worst changes, needed SONAME, what was not checked.
    Example: library="libfoo", version="1.2", against="prev".
    """
    with call.store() as store:
        chosen = line_of(store, library, line)
        wanted = {"latest": chosen.latest, "baseline": chosen.baseline or version}.get(version, version)
        reference, of_line = f"{library}@{wanted}", chosen.words
        if against is not None:
            judged = verdict(reference, against=against, **of_line, database=store)
            return _answer(call, judged, _baseline(store, judged, chosen, against))
        usual = usual_verdict(reference, database=store, **of_line)
        if usual.judgement is None:
            first = releases(library, **of_line, database=store)[0]
            return _first(first, bound_rule(library, first.soname, database=store))
        answer = _answer(call, usual.judgement, _baseline(store, usual.judgement, chosen, usual.meant.word))
        why = (usual.meant.why,) if usual.meant.why else ()
        return msgspec.structs.replace(answer, warnings=(*why, *answer.warnings))


def _baseline(store: OpenStore, judged: Judgement, chosen: ChosenLine, against: str) -> BaselineCard:
    report = judged.report
    ref = judged.given.old.reference
    if not against.startswith("baseline") and chosen.baseline is None:
        return BaselineCard(ref=ref, status="missing", trusted=False)
    moves = [move for move in baselines(chosen.library, database=store) if move.version == judged.given.old.version]
    if any(move.digest not in {None, judged.given.old.digest} for move in moves):
        return BaselineCard(ref=ref, status="digest_mismatch", trusted=False)
    if report.unequal_evidence:
        return BaselineCard(ref=ref, status="evidence_mismatch", trusted=False)
    return BaselineCard(ref=ref, status="ok", trusted=True)


def _first(release: Release, rule: BoundRule | None) -> SummaryAnswer:
    """The decision about the first release of a line, which has no verdict."""
    decision = first_decision(release, rule)
    return SummaryAnswer(
        headline=brief(decision.headline),
        verdict=None,
        exit_code=decision.exit_code,
        outcome=decision.outcome,
        comparable=False,
        reason=brief(decision.reasons[0].sentence),
        baseline=BaselineCard(ref=None, status="missing", trusted=False),
        release=side(release.side),
        build_id=release.provenance.build_id,
        next=(asking("abi_list", "List the releases.", library=release.line.library),),
    )


def _answer(call: Call, judged: Judgement, baseline: BaselineCard) -> SummaryAnswer:
    report = judged.report
    comparison_id = keep(call, report)
    top = tuple(fitting([change_item(change, "summary") for change in report.changes[:TOP]], BUDGET))
    return SummaryAnswer(
        headline=headline(report),
        verdict=report.verdict,
        exit_code=report.exit_code,
        outcome=report.decision.outcome if report.decision is not None else "",
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


class PullRequestAnswer(Answer, frozen=True, kw_only=True):
    """A comment; ``truncated`` where it leaves out more than compatible changes, which it counts in its last line."""

    verdict: VerdictName
    comparison_id: str
    format: Literal["markdown", "json"]
    content: str
    truncated: bool = False
    next: tuple[NextCall, ...] = ()


@tool("Comment for a pull request")
def abi_pr_summary(
    call: Call,
    *,
    comparison_id: ComparisonId,
    format: Annotated[Literal["markdown", "json"], described("Of content")] = "markdown",
    max_items: Annotated[int | None, described("Most changes of each impact", ge=1, le=50)] = None,
) -> PullRequestAnswer:
    """Write a comment about a comparison: the decision, every break by name, what was not checked, how to pass.

    Use it where a comparison was made already; abi_review_build has the comment with its answer.
    """
    report = gated(call, told_report(call, comparison_id))
    short = identity_of(report)[:SHOWN]
    content, truncated = _json(report, max_items) if format == "json" else markdown_comment(report, max_items)
    return PullRequestAnswer(
        headline=headline(report),
        verdict=report.verdict,
        comparison_id=short,
        format=format,
        content=content,
        truncated=truncated,
        next=(asking("abi_gate", "See whether CI would fail.", comparison_id=short),),
    )


def markdown_comment(report: Report, items: int | None = None, *, new: str = "") -> tuple[str, bool]:
    """The comment about a report, and whether it leaves out more than compatible changes; ``new`` is a file's name."""
    told = comment(report, rest=rest_of(report, new), items=items)
    return told.text, not told.is_whole


JSON_ROOM = 1_000
"""How many units the changes have in JSON."""


def _json(report: Report, most: int | None) -> tuple[str, bool]:
    shown = tuple(fitting([change_item(change, "summary") for change in report.changes[:most]], JSON_ROOM))
    document = {
        "verdict": report.verdict,
        "exit_code": report.exit_code,
        "outcome": report.decision.outcome if report.decision is not None else None,
        "summary": report.summary,
        "changes": shown,
        "total": len(report.changes),
        "not_checked": gaps(report),
    }
    return encoded(document).decode(), len(shown) < len(report.changes)


MOST_BASELINES, MOST_CHANGES, MOST_WAYS = 8, 5, 3
MOST_TEXT = 1200
"""The longest declaration of another way that is sent, in characters."""


class WayItem(msgspec.Struct, frozen=True):
    """Another way to make a change, judged by the same rules, and what is declared then."""

    title: str
    verdict: str
    declaration: str


class BaselineItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the edit means for one release, and for the channels that stand at it."""

    reference: str
    platform: str
    channels: tuple[str, ...]
    verdict: str
    total: int
    changes: tuple[ChangeItem, ...]
    room: tuple[str, ...] = ()
    ways: tuple[WayItem, ...] = ()
    not_checked: tuple[str, ...] = ()


class WhatIfAnswer(Answer, frozen=True, kw_only=True):
    """The worst verdict, and what the edit means for each baseline; ``comparison_id`` is that of the first."""

    verdict: VerdictName
    exit_code: int
    comparison_id: str
    edited: tuple[str, ...]
    baselines: tuple[BaselineItem, ...]
    warnings: tuple[str, ...] = ()
    next: tuple[NextCall, ...] = ()


@tool("Judge an edit of headers")
def abi_whatif(
    call: Call,
    *,
    library: Annotated[str, described("libfoo (each baseline), libfoo@1.2.0")],
    header_patch: Annotated[str | None, like(HeaderPatch)] = None,
    declaration: Annotated[str | None, like(Declarations)] = None,
    headers: Headers = None,
    include_dirs: Folders = None,
    language: Language = None,
) -> WhatIfAnswer:
    """Judge an edit of headers before it is built: whom it breaks, and ways that do not.

    Use it before code is written. Give header_patch with headers, or declaration.
    Example: library="libfoo", declaration="struct point { int x, y, z; };".
    """
    plan = WhatIfPlan(
        headers_of(call.settings, headers, include_dirs, language, "headers"),
        header_patch or "",
        (declaration,) if declaration else (),
    )
    with call.store() as store:
        return _whatif_answer(call, whatif(operand(call.settings, library, "library"), plan, database=store))


def _whatif_answer(call: Call, found: WhatIf) -> WhatIfAnswer:
    shown = sorted(found.judged, key=lambda each: each.report.verdict != found.verdict)[:MOST_BASELINES]
    hidden = len(found.judged) - len(shown)
    at = f"{shown[0].reference}{_channels(shown[0])}"
    first = shown[0].report
    comparison_id = keep(call, first)
    return WhatIfAnswer(
        headline=f"{found.verdict} for {at}{f' and {len(found.judged) - 1} more' if len(found.judged) > 1 else ''}",
        verdict=found.verdict,
        exit_code=found.exit_code,
        comparison_id=comparison_id,
        edited=tuple(map(brief, found.edited[:50])),
        baselines=tuple(map(_item, shown)),
        warnings=(f"{hidden} more baselines are not shown, and none is worse",) if hidden else (),
        next=next_calls(first, comparison_id, listed=len(first.changes) <= MOST_CHANGES),
    )


def _channels(each: WhatIfBaseline) -> str:
    return f" (baseline {', '.join(each.channels)})" if each.channels else ""


def _item(each: WhatIfBaseline) -> BaselineItem:
    changes = each.report.changes
    embedding = (f"the layout of {name}, which embeds what changes" for name in each.unsettled)
    unseen = (f"{gap.facet}: {gap.detail or gap.reason}" for gap in each.report.not_checked)
    return BaselineItem(
        reference=each.reference,
        platform=each.target,
        channels=each.channels,
        verdict=each.report.verdict,
        total=len(changes),
        changes=tuple(change_item(change, "summary") for change in changes[:MOST_CHANGES]),
        room=tuple(f"{room.symbol}: {', '.join(room.rooms)}" for room in each.rooms),
        ways=tuple(map(_way, each.ways[:MOST_WAYS])),
        not_checked=tuple(map(brief, (*embedding, *unseen))),
    )


def _way(way: WhatIfWay) -> WayItem:
    return WayItem(brief(way.title), way.verdict, brief(way.declaration, MOST_TEXT))
