"""Tools that write: ``abi_ingest``, ``abi_baseline``, ``abi_tag``, ``abi_review``, ``abi_delete`` and ``abi_dump``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal, TypeAlias

import msgspec
from pydantic import Field

from abistore.arguments import (
    AdmittedAgainst,
    Allow,
    BuildProfile,
    Channel,
    DryRun,
    ExpectedDigest,
    ExpectedVersion,
    FailOn,
    FindingIdentity,
    KeepFailed,
    Note,
    Reason,
    Released,
    Require,
    ReviewWord,
    StoredDigest,
    Tag,
    Tags,
)
from abistore.interface import (
    BaselinePlan,
    ExtractOptions,
    Gate,
    Incomparable,
    Ingested,
    IngestPlan,
    OpenStore,
    Release,
    Report,
    ReviewPlan,
    Summary,
    TagPlan,
    Verdict,
    VersionTaken,
    baselines,
    db_forget,
    ingest,
    release_tag,
    releases,
    requirement,
    review,
    verdict,
)
from abistore.interface import set_baseline as moved
from abistore.mcp.answers import (
    Answer,
    ChangeItem,
    ComparedSide,
    Gap,
    NextCall,
    asking,
    brief,
    change_item,
    counts,
    fitting,
    gaps,
    next_calls,
    side,
    spelled,
)
from abistore.mcp.operands import (
    Call,
    ChosenLine,
    Question,
    check_export,
    check_include_dirs,
    findings_of,
    headers_of,
    keep,
    line_of,
    one_finding,
    report_of,
    ruling_of,
    write_new,
)
from abistore.mcp.operands import library as library_at
from abistore.mcp.settings import Refusal, refusal_for
from abistore.mcp.tools.declaration import (
    Folders,
    FoundIn,
    Headers,
    Inline,
    Language,
    Library,
    LibraryPath,
    Line,
    Only,
    Policy,
    PolicyFile,
    SuppressionFile,
    Version,
    described,
    like,
    tool,
)
from abistore.mcp.tools.stored import DumpAnswer, dump_answer, read_library
from abistore.model.history import DEFAULT_CHANNEL, ReviewState
from abistore.model.words import did_you_mean, in_line, near
from abistore.report.model import VerdictName


def release_of(store: OpenStore, line: ChosenLine, version: str) -> Release:
    """The release of a line that has this label; ``latest`` is one. Raises :class:`Refusal`."""
    wanted = line.latest if version == "latest" else version
    of_line = releases(line.library, target=line.target, profile=line.profile, database=store)
    for release in of_line:
        if release.version == wanted and not release.candidate:
            return release
    hint = did_you_mean(near(wanted, [one.version for one in of_line]), "abi_list(library) has the versions")
    raise Refusal("NOT_FOUND", f"{line.library} has no release {brief(version, 80)}", hint)


def named(release: Release) -> str:
    """A release as a person is asked about it: ``libfoo 1.2 (elf-x86_64-64-little, default; digest 1a2b3c4d5e6f)``."""
    line = release.line
    return f"{line.library} {release.version} ({line.target}, {line.profile}; digest {release.digest[:12]})"


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
    next: tuple[NextCall, ...] = ()


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
            message = f"baseline {brief(channel, 80)} of {library} is at {stands}, not at {expected}"
            raise Refusal("STALE_BASELINE", message, "check where it is now, and decide again")
        report, verdict = _judged_baseline(store, before, release)
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
    moves = (move for move in baselines(line.library, database=store) if (move.line, move.channel) == (line, channel))
    version = next((move.version for move in moves), None)
    of_line = releases(line.library, target=line.target, profile=line.profile, database=store)
    return next((one for one in of_line if one.version == version and not one.candidate), None)


def _judged_baseline(store: OpenStore, before: Release | None, release: Release) -> tuple[Report | None, str]:
    if before is None or before.digest == release.digest:
        return None, ""
    line = release.line
    try:
        report = verdict(
            release.reference,
            against=before.version,
            target=line.target,
            profile=line.profile,
            require=requirement("none"),
            database=store,
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


@tool("Move a baseline", writes=True, destroys=True, asks=_question)
def abi_baseline(
    call: Call,
    *,
    library: Library,
    version: Version,
    reason: Annotated[Reason, Field(min_length=1)],
    channel: Channel = DEFAULT_CHANNEL,
    expected_current: ExpectedVersion = None,
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
        next=(asking("abi_history", "See all releases against the new baseline.", library=library),),
    )


def _headline(version: str, before: str | None, channel: str, verdict: str) -> str:
    if version == before:
        return f"UNCHANGED: baseline {channel} is at {version}"
    judged = f"; {verdict} against that" if verdict else ""
    return f"MOVED: baseline {channel} from {before or 'nothing'} to {version}{judged}"


class TagItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A word on a release, and what people say about it."""

    name: str
    note: str = ""


class TagAnswer(Answer, frozen=True, kw_only=True):
    """The tags that a release has now; ``created`` where the one that was asked for is new."""

    created: bool
    library: str
    version: str
    tags: tuple[TagItem, ...]
    warnings: tuple[str, ...] = ()
    next: tuple[NextCall, ...] = ()


@tool("Tag a release", writes=True)
def abi_tag(
    call: Call,
    *,
    library: Library,
    version: Version,
    tag: Tag,
    note: Note = "",
    line: Line = None,
) -> TagAnswer:
    """Put a word on a stored release, such as lts or shipped, with a note. A tag that is there stays as it is."""
    with call.store() as store:
        found = release_of(store, line_of(store, library, line), version)
    plan = TagPlan(note, actor=call.actor, digest=found.digest, target=found.line.target, profile=found.line.profile)
    with call.writing() as store:
        done = release_tag(found.reference, tag, plan, database=store)
    other = [one.note for one in done.release.tags if one.name == tag and one.note != note]
    warning = f"{tag} was there before, with another note, which stays: {other[0]!r}" if other and note else ""
    return TagAnswer(
        headline=f"{'TAGGED' if done.changed else 'UNCHANGED'}: {library} {found.version}: {tag}",
        created=done.changed,
        library=library,
        version=found.version,
        tags=tuple(TagItem(one.name, brief(one.note)) for one in done.release.tags),
        warnings=(brief(warning),) if warning else (),
        next=(asking("abi_list", "List the releases.", library=library),),
    )


class ReviewAnswer(Answer, frozen=True, kw_only=True):
    """What holds of a finding now; ``created`` where something else did before."""

    created: bool
    library: str
    finding_id: str
    state: ReviewState
    note: str
    next: tuple[NextCall, ...] = ()


@tool("Note a review", writes=True)
def abi_review(
    call: Call,
    *,
    finding_id: FindingIdentity,
    state: ReviewWord,
    note: Note = "",
    comparison_id: FoundIn = None,
) -> ReviewAnswer:
    """Say that people have seen a finding, mean it (intended), or will mend it (defect). It changes no verdict.

    It holds wherever the library has this finding, until its facts change. abi_findings(state='reviewed') lists them.
    """
    library, identity = (None, finding_id) if comparison_id is None else _found(call, comparison_id, finding_id)
    plan = ReviewPlan(state, note, call.actor, library)
    with call.writing() as store:
        done = review(identity, plan, database=store)
    said = done.review
    return ReviewAnswer(
        headline=f"{'REVIEWED' if done.changed else 'UNCHANGED'}: {said.library} {said.identity}: {said.state}",
        created=done.changed,
        library=said.library,
        finding_id=said.identity,
        state=said.state,
        note=brief(said.note),
        next=(asking("abi_finding", "Read the finding.", finding_id=said.identity, comparison_id=comparison_id),),
    )


def _found(call: Call, comparison_id: str, digits: str) -> tuple[str, str]:
    """The library and the whole identity of the one finding of a comparison that begins so."""
    report = report_of(call, comparison_id)
    return report.new.library, one_finding(findings_of(report), digits).id


LEAST_DIGITS = 12


class DeleteAnswer(Answer, frozen=True, kw_only=True):
    """The release that was taken back; ``digest`` still finds what was stored of it."""

    library: str
    version: str
    line: str
    digest: str
    decided_by: str
    next: tuple[NextCall, ...] = ()


def _deleting_question(
    call: Call,
    *,
    library: str,
    version: str,
    confirm_digest: str,
    reason: str = "",
    line: str | None = None,
) -> Question:
    """A deletion is always asked about."""
    with call.store() as store:
        release = release_of(store, line_of(store, library, line), version)
        _check(store, release, confirm_digest)
    text = (
        f"Delete the release {named(release)}, stored on {release.ingested:%Y-%m-%d}? Its file can be stored again. "
        f"Reason given: {in_line(reason, LONG)!r}"
    )
    facts = {
        "target": release.line.target,
        "profile": release.line.profile,
        "version": release.version,
        "digest": release.digest,
    }
    return Question(text, facts)


def _check(store: OpenStore, release: Release, digest: str) -> None:
    """Raises :class:`Refusal` for what would be refused after the user was asked."""
    if len(digest) < LEAST_DIGITS or not release.digest.startswith(digest.lower()):
        message = f"{release.reference} has another digest than confirm_digest"
        hint = f"give {LEAST_DIGITS} or more digits of the release that is meant: abi_list(library) has them"
        raise Refusal("INVALID_ARGUMENT", message, hint)
    moves = [move for move in baselines(release.line.library, database=store) if move.line == release.line]
    channels = [move.channel for move in moves if move.version == release.version]
    if channels:
        hint = spelled("abi_baseline", library=release.line.library, version="...", channel=channels[0], reason="...")
        raise Refusal(
            "INVALID_ARGUMENT", f"{release.reference}: baseline {channels[0]} points at it", f"move it: {hint}"
        )


@tool("Delete a release", writes=True, destroys=True, asks=_deleting_question)
def abi_delete(
    call: Call,
    *,
    library: Library,
    version: Version,
    confirm_digest: Annotated[str, like(StoredDigest)],
    reason: Reason = "",
    line: Line = None,
) -> DeleteAnswer:
    """Take back a release that was stored wrongly. The user is asked. A release at which a baseline stands stays.

    What was stored of it stays for the audit, and its digest still finds it.
    """
    question = call.decided or _deleting_question(call, **call.arguments)
    facts = question.facts
    with call.writing() as store:
        gone = db_forget(
            f"{library}@{facts['version']}",
            actor=call.actor,
            reason=reason,
            digest=facts["digest"],
            database=store,
            target=facts["target"],
            profile=facts["profile"],
        )
    return DeleteAnswer(
        headline=f"DELETED: {gone.line.library} {gone.version}, digest {gone.digest[:LEAST_DIGITS]}",
        library=gone.line.library,
        version=gone.version,
        line=f"{gone.line.target}/{gone.line.profile}",
        digest=gone.digest,
        decided_by="user" if call.decided else "caller",
        next=(asking("abi_list", "List the releases.", library=library),),
    )


@tool("Read one library", writes=True)
def abi_dump(
    call: Call,
    *,
    library_path: LibraryPath,
    headers: Headers = None,
    include_dirs: Folders = None,
    version: Version = "unknown",
    language: Language = None,
    inline: Inline = False,
    only: Only = "",
    output_path: Annotated[str | None, described("Write it to this new .json file, below the export root")] = None,
) -> DumpAnswer:
    """Read one library and tell what its ABI has: functions, variables, types, and how much could be seen.

    Nothing is stored. With output_path the snapshot is written to a new file; a file that is there stays as it is.
    """
    if output_path is not None:
        check_export(call.settings, output_path)  # before the work
    read = read_library(call, library_path, headers, include_dirs, (version, language, only))
    answer = dump_answer(call, read, inline=inline and output_path is None)
    if output_path is None:
        return answer
    write_new(call.settings, output_path, read.made.json)
    name = output_path.rpartition("/")[2]
    return msgspec.structs.replace(answer, output_path=name, headline=f"WRITTEN: {name}: {answer.headline}")


TOP, BUDGET = 5, 250

State: TypeAlias = Literal["stored", "known", "candidate", "refused"]
"""``known``: it was stored already. ``candidate``: it failed its gate and was kept. ``refused``: and was not stored."""

HEADS: dict[State, str] = {
    "stored": "STORED",
    "known": "KNOWN, nothing to store",
    "candidate": "KEPT AS A CANDIDATE, not a release",
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
    next: tuple[NextCall, ...] = ()


@tool("Store a build", writes=True)
def abi_ingest(
    call: Call,
    *,
    library: Library,
    version: Version,
    library_path: LibraryPath,
    headers: Headers = None,
    include_dirs: Folders = None,
    language: Language = None,
    profile: BuildProfile = None,
    released_at: Annotated[str | None, like(Released)] = None,
    tags: Annotated[list[str] | None, like(Tags)] = None,
    expected_digest: ExpectedDigest = None,
    dry_run: DryRun = False,
    against: AdmittedAgainst = None,
    fail_on: FailOn = "api_break",
    require_evidence: Require = None,
    keep_failed: KeepFailed = False,
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
    by = ruling_of(call.settings, policy, policy_file, suppression_file, gate=against is not None)
    gate = Gate(against, fail_on, requirement(require_evidence), by, keep_failed, allow=allow)
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
        (done,) = ingest(path, plan, progress=call.progress, database=store)
    if done.status == "failed":
        raise _refusal(done, library, version)
    return _answer(call, done, plan)


def _day(text: str | None) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) if text else None
    except ValueError:
        raise Refusal(
            "INVALID_ARGUMENT", f"released_at is not a date: {brief(text or '', 40)}", "give YYYY-MM-DD"
        ) from None


def _refusal(done: Ingested, library: str, version: str) -> Refusal:
    hint = done.hint
    if done.code == VersionTaken.code:
        other = spelled("abi_delete", library=library, version=version, confirm_digest="...")
        hint = f"pass another version; if the stored one is wrong, delete it first: {other}"
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
        next=(asking("abi_summary", "Read the verdict about it.", library=plan.library, version=plan.version),),
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
