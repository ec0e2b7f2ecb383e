"""``abi_baseline``: point a channel at another release."""

from __future__ import annotations

from typing import Annotated

from abistore.interface import BaselinePlan, Incomparable, OpenStore, Release, Report, Verdict, requirement
from abistore.interface import set_baseline as moved
from abistore.mcp.answers.answer import Answer, asking, brief
from abistore.mcp.answers.compared import counts
from abistore.mcp.call import Call
from abistore.mcp.handles import keep
from abistore.mcp.lines import line_of
from abistore.mcp.questions import Question
from abistore.mcp.refusals import Refusal
from abistore.mcp.tools.declaration import tool
from abistore.mcp.tools.parameters import Library, Line, Version, described
from abistore.mcp.tools.writing.releases import named, release_of
from abistore.model.history import DEFAULT_CHANNEL
from abistore.model.words.characters import in_line

BREAKS = {Verdict.API_BREAK.name, Verdict.BREAKING.name, "INCOMPARABLE"}
UNSET = "none"
LONG = 200


class BaselineAnswer(Answer, frozen=True, kw_only=True):
    """Where a channel stands now. ``verdict`` is about the release against the one at which it stood before."""

    moved: bool
    library: str
    line: str
    channel: str
    version: str
    previous: str | None
    verdict: str | None
    comparison_id: str | None = None
    decided_by: str
    next: tuple[str, ...] = ()


def _question(
    call: Call,
    *,
    library: str,
    version: str,
    reason: str,
    channel: str = DEFAULT_CHANNEL,
    expected_current: str | None = None,
    line: str | None = None,
) -> Question:
    """What a move rests on; a question where what users build against would break, or could not be checked."""
    with call.store() as store:
        chosen = line_of(store, library, line)
        release = release_of(store, chosen, version)
        before = _standing(store, release, channel)
        stands = before.version if before else UNSET
        if expected_current not in {None, stands}:
            expected = brief(expected_current or "", 80)
            message = f"baseline {brief(channel, 80)} of {library} stands at {stands}, and not {expected}"
            raise Refusal("STALE_BASELINE", message, "look at what it stands at now, and decide again")
        report, verdict = _judged(store, before, release)
    facts = {
        "target": release.line.target,
        "profile": release.line.profile,
        "version": release.version,
        "digest": release.digest,
        "stands": stands,
        "standing_digest": before.digest if before else "",
        "verdict": verdict,
        "comparison_id": keep(call, report) if report else "",
    }
    asked = _asked(before, release, report, verdict)
    about = f"Later builds are then judged against it. Reason given: {in_line(reason, LONG)!r}"
    return Question(f"Move the baseline {in_line(channel, 80)!r} {asked} {about}" if asked else "", facts)


def _standing(store: OpenStore, release: Release, channel: str) -> Release | None:
    line = release.line
    moves = (move for move in store.baselines(line.library) if (move.line, move.channel) == (line, channel))
    version = next((move.version for move in moves), None)
    releases = store.releases(line.library, target=line.target, profile=line.profile)
    return next((one for one in releases if one.version == version and not one.candidate), None)


def _judged(store: OpenStore, before: Release | None, release: Release) -> tuple[Report | None, str]:
    if before is None or before.digest == release.digest:
        return None, ""
    line = release.line
    try:
        report = store.verdict(
            release.reference,
            against=before.version,
            target=line.target,
            profile=line.profile,
            require=requirement("none"),
        ).report
    except Incomparable:
        return None, "INCOMPARABLE"
    return report, report.verdict


def _asked(before: Release | None, release: Release, report: Report | None, verdict: str) -> str:
    """What a person is asked about a move; nothing where none has to decide."""
    unseen = report.evidence_gap if report else ""
    if before is None or not (verdict in BREAKS or unseen):
        return ""
    found = f": {counts(report.summary)}" if report else ""
    not_checked = f" NOT CHECKED: {brief(unseen)}." if unseen else ""
    return (
        f"from {named(before)} to {named(release)}? The new one is {verdict} against the old one{found}.{not_checked}"
    )


@tool(writes=True, destroys=True, asks=_question)
def abi_baseline(
    call: Call,
    *,
    library: Library,
    version: Version,
    reason: Annotated[str, described("Why, for the history", min_length=1)],
    channel: Annotated[str, described("Which baseline")] = DEFAULT_CHANNEL,
    expected_current: Annotated[
        str | None, described("Version at which it stands, or none; else STALE_BASELINE")
    ] = None,
    line: Line = None,
) -> BaselineAnswer:
    """Point a baseline, against which builds are judged, at another stored release. Moves stay in its history.

    The user is asked where the release breaks the one at which it stands, or could not be compared in full.
    """
    question = call.decided or _question(call, **call.arguments)
    facts = question.facts
    stands = None if facts["stands"] == UNSET else facts["stands"]
    plan = BaselinePlan(
        channel,
        reason,
        call.actor,
        facts["target"],
        facts["profile"],
        expect=facts["stands"],
        expect_digest=facts["standing_digest"] or None,
        digest=facts["digest"],
    )
    with call.writing() as store:
        move = moved(f"{library}@{facts['version']}", plan, database=store)
    return BaselineAnswer(
        headline=_headline(move.version or "", stands, channel, facts["verdict"]),
        moved=move.version != stands,
        library=library,
        line=f"{facts['target']}/{facts['profile']}",
        channel=channel,
        version=facts["version"],
        previous=stands,
        verdict=facts["verdict"] or None,
        comparison_id=facts["comparison_id"] or None,
        decided_by="user" if question.text and call.decided else "caller",
        next=(asking("abi_history", library=library),),
    )


def _headline(version: str, before: str | None, channel: str, verdict: str) -> str:
    if version == before:
        return f"UNCHANGED: baseline {channel} stands at {version}"
    judged = f"; {verdict} against that" if verdict else ""
    return f"MOVED: baseline {channel} from {before or 'nothing'} to {version}{judged}"
