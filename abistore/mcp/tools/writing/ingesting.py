"""``abi_ingest``: store a build as a release."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal, TypeAlias

import msgspec

from abistore.interface import ExtractOptions, Gate, Ingested, IngestPlan, Report, Summary, VersionTaken, requirement
from abistore.mcp.answers.answer import Answer, asking, brief
from abistore.mcp.answers.changes import ChangeItem, change_item
from abistore.mcp.answers.compared import ComparedSide, Gap, counts, gaps, next_calls, side
from abistore.mcp.answers.units import fitting
from abistore.mcp.call import Call
from abistore.mcp.handles import keep
from abistore.mcp.operands import allow_rule, check_include_dirs, headers_of, ruling_of
from abistore.mcp.operands import library as library_at
from abistore.mcp.refusals import Refusal, refusal_for
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import (
    Allow,
    FailOn,
    Folders,
    Headers,
    Language,
    Library,
    Policy,
    PolicyFile,
    SuppressionFile,
    Version,
    described,
)
from abistore.report.model import VerdictName

TOP, BUDGET = 5, 250

State: TypeAlias = Literal["stored", "known", "candidate", "refused"]
"""``known``: it was stored already. ``candidate``: it failed its gate and was kept. ``refused``: and was not stored."""

HEADS: dict[State, str] = {
    "stored": "STORED",
    "known": "KNOWN, nothing to store",
    "candidate": "KEPT AS A CANDIDATE, which is no release",
    "refused": "NOT STORED, it failed its gate",
}


class IngestAnswer(Answer, frozen=True, kw_only=True):
    """What became of a build. ``verdict`` and ``exit_code`` are the gate's; without ``against`` nothing was judged."""

    created: bool
    dry_run: bool = False
    state: State
    library: str
    version: str
    exit_code: int
    verdict: VerdictName | None
    release: ComparedSide | None = None
    comparison_id: str | None = None
    counts: Summary | None = None
    top: tuple[ChangeItem, ...] = ()
    not_checked: tuple[Gap, ...] = ()
    warnings: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


@tool(writes=True)
def abi_ingest(
    call: Call,
    *,
    library: Library,
    version: Version,
    library_path: Annotated[str, described("Absolute path of a shared library or JSON snapshot")],
    headers: Headers = None,
    include_dirs: Folders = None,
    language: Language = None,
    profile: Annotated[str | None, described("Build profile, e.g. debug")] = None,
    released_at: Annotated[str | None, described("YYYY-MM-DD")] = None,
    tags: Annotated[list[str] | None, described("Words for the release, e.g. lts")] = None,
    expected_digest: Annotated[str | None, described("Refuse another file: digest of abi_dump")] = None,
    dry_run: Annotated[bool, described("Only tell what would become of it")] = False,
    against: Annotated[str | None, described("Gate: baseline, baseline:CHANNEL, prev, latest or a version")] = None,
    fail_on: FailOn = "api_break",
    require_evidence: Annotated[str | None, described("symbol, layout, old or none")] = None,
    keep_failed: Annotated[bool, described("Keep what fails its gate as a candidate")] = False,
    policy: Policy = "strict_abi",
    policy_file: PolicyFile = None,
    suppression_file: SuppressionFile = None,
    allow: Allow = "scheme",
) -> IngestAnswer:
    """Store a build as a release of a library. What is stored already is told, with created=false.

    With `against` it is judged first, and a build that fails is not stored: see state and exit_code. A version that
    another binary has is an error (VERSION_CONFLICT): nothing is overwritten.
    """
    path = library_at(call.settings, library_path, "library_path")
    named = headers_of(call.settings, headers, include_dirs, language, "headers")
    check_include_dirs(include_dirs, headers)
    by = ruling_of(call.settings, policy, policy_file, suppression_file)
    gate = Gate(against, fail_on, requirement(require_evidence), by, keep_failed, allow=allow_rule(allow))
    plan = IngestPlan(
        library=library,
        version=version,
        profile=profile,
        released=_day(released_at),
        actor=call.actor,
        tags=tuple(tags or ()),
        expected_digest=expected_digest,
        dry_run=dry_run,
        options=ExtractOptions(max_bytes=call.settings.max_file_size, headers=named),
        gate=gate,
    )
    with call.store() if dry_run else call.writing(create=True) as store:
        (done,) = store.ingest(path, plan, progress=call.progress)
    if done.status == "failed":
        raise _refusal(done, library, version)
    return _answer(call, done, plan)


def _day(text: str | None) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) if text else None
    except ValueError:
        raise Refusal(
            "INVALID_ARGUMENT", f"released_at is no day: {brief(text or '', 40)}", "give YYYY-MM-DD"
        ) from None


def _refusal(done: Ingested, library: str, version: str) -> Refusal:
    hint = done.hint
    if done.code == VersionTaken.code:
        other = asking("abi_delete", library=library, version=version, confirm_digest="...")
        hint = f"give another version; if the stored one is wrong, take it back first: {other}"
    return refusal_for(done.code, done.error, hint)


def _answer(call: Call, done: Ingested, plan: IngestPlan) -> IngestAnswer:
    report, release = done.verdict, done.release
    judged = f": {report.verdict} against {report.old}, {counts(report.summary)}" if report else ""
    failed = f"; exit code {done.exit_code}" if done.exit_code else ""
    said = (done.error, done.unjudged and f"not judged: {done.unjudged}", *done.notes)
    head = f"{'DRY RUN: ' if done.dry_run else ''}{HEADS[_state(done)]}"
    answer = IngestAnswer(
        headline=f"{head}: {brief(f'{plan.library} {plan.version}', 120)}{brief(judged)}{failed}",
        created=done.created,
        dry_run=done.dry_run,
        state=_state(done),
        library=plan.library or "",
        version=plan.version or "",
        exit_code=done.exit_code,
        verdict=None,
        release=side(release.side) if release else None,
        warnings=tuple(brief(each) for each in said if each),
        next=(asking("abi_summary", library=plan.library, version=plan.version),),
    )
    return answer if report is None else _judged(call, answer, report)


def _state(done: Ingested) -> State:
    if done.status == "candidate" or done.status == "refused":
        return done.status
    return "known" if done.status == "known" else "stored"


def _judged(call: Call, answer: IngestAnswer, report: Report) -> IngestAnswer:
    """The answer with what the gate said."""
    comparison_id = keep(call, report)
    top = tuple(fitting([change_item(change, "summary") for change in report.changes[:TOP]], BUDGET))
    listed = len(top) == len(report.changes)
    return msgspec.structs.replace(
        answer,
        verdict=report.verdict,
        comparison_id=comparison_id,
        counts=report.summary,
        top=top,
        not_checked=gaps(report),
        next=next_calls(report, comparison_id, listed=listed) if answer.exit_code else answer.next,
    )
