"""``db``: create, upgrade, check, merge and clean the database; facts about stored releases, and baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from abistore.arguments import (
    Actor,
    Channel,
    Described,
    DryRun,
    ExpectedVersion,
    LibraryName,
    Note,
    OptionalLibrary,
    Output,
    Reason,
    ReleaseName,
    SearchedLibrary,
    StoredDigest,
    Tag,
)
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, is_file, note, progress, say, table, write_snapshot
from abistore.cli.reading_options import FactOptions, LineOptions, TrustOptions
from abistore.cli.verbs import Options, group, verb
from abistore.errors import AbistoreError, BundleError, StoreError, UsageError, VersionTaken
from abistore.model.words import counted

if TYPE_CHECKING:
    from abistore.model.history import Amendment, BaselineMove, Merged, VerifiedAudit
    from abistore.service.administration import PrunedStore, SchemeCard, VacuumedStore

COUNTS = {
    "earlier": "replaced and removed snapshots",
    "baseline_moves": "moves of baselines",
    "verdicts": "verdicts",
    "findings": "findings",
    "reviews": "reviews",
    "approvals": "approvals",
    "consumers": "consumers",
    "environments": "changes of environments",
    "rules": "bound rules",
    "audit_records": "records of the audit",
}

RENAME_HINT = (
    "in the source store, ingest its file under another name, or move the baseline to another channel; "
    "then remove it there by its digest: abistore db forget DIGEST --reason WHY"
)

db_command = group("db", "Create, upgrade, check and back up the database; baselines and facts of releases.")


class MergingOptions(Options, frozen=True):
    """How a bundle or another store is brought in."""

    title: ClassVar[str] = "Bringing in"
    prefer: Annotated[
        Literal["here", "there"] | None,
        Described("The side that wins a conflict. Without it, a conflict aborts the merge."),
    ] = None
    dry_run: Annotated[bool, Described("Show what a merge would add, and change nothing.")] = False


@verb("merge", inside=db_command, gives={"merged": "service.imports:import_bundles"})
def merge_command(
    settings: SharedSettings,
    other: Annotated[str, Described(complete="file")],
    *,
    actor: Actor = "",
    preference: MergingOptions,
) -> int:
    """Merge the database OTHER into this one: a path, a URL, or a bundle of `export --bundle`.

    Releases with the same content in both are known. Other content under the same version is a conflict, and so is a
    baseline that both moved: then nothing is merged, unless --prefer selects a side. Moves of baselines, verdicts,
    approvals, reviews, consumers, environments and the audit are merged once: merging again changes nothing.
    Of rules that both bind to a library, the stricter holds.
    """
    from abistore.service.imports import MergePlan, db_merge

    plan = MergePlan(prefer=preference.prefer, dry_run=preference.dry_run, actor=actor)
    return show_merged(settings, [db_merge(other, plan, database=settings.database)])


def show_merged(settings: SharedSettings, done: Sequence[Merged]) -> int:
    """Tell what was brought in; the exit code is that of what was not: a conflict of a dry run, or a name."""
    worst = max(filter(None, map(_error, done)), key=lambda each: each.exit_code, default=None)
    text = "\n".join(line for one in done for line in _lines(one))
    answer(settings, {"merged": done}, lambda: text, error=worst)
    return worst.exit_code if worst else 0


def _error(done: Merged) -> AbistoreError | None:
    if done.conflicts and done.dry_run:
        found = counted(len(done.conflicts), "conflict")
        return VersionTaken(f"{done.source}: {found}", "say which side wins with --prefer")
    if done.left_out:
        return BundleError(f"{done.source}: {len(done.left_out)} left out", RENAME_HINT)
    return None


def _lines(done: Merged) -> Iterator[str]:
    if done.changed or done.conflicts:
        yield f"{done.source}: {'would add' if done.dry_run else 'added'}"
        yield from _brought(done)
    else:
        yield f"{done.source}: nothing new"
    for conflict in done.conflicts:
        yield f"conflict: {conflict}"
    for remark in done.notes:
        yield f"note: {remark}"
    yield from _refused(done)


def _brought(done: Merged) -> Iterator[str]:
    statuses = Counter(one.status for one in done.releases)
    for status in ("added", "replaced", "kept", "known"):
        if statuses[status]:
            yield f"  {statuses[status]:>7,}  releases {status}"
    for one in done.releases:
        if one.status in {"added", "replaced", "kept"}:
            yield f"           {one.status:8} {one.line} {one.version}"
    for count, what in COUNTS.items():
        if number := getattr(done, count):
            yield f"  {number:>7,}  {what}"


def _refused(done: Merged) -> Iterator[str]:
    """What was left out, and how to have it: only where it came from can it be called otherwise."""
    for each in done.left_out:
        yield f"left out: {each}"
    if done.left_out:
        yield f"hint: {RENAME_HINT}"


def _moment(value: str) -> datetime:
    from abistore.service.administration import older_than

    return older_than(value)


@verb("prune", inside=db_command, gives={"pruned": "service.administration:db_prune"})
def prune_command(
    settings: SharedSettings,
    *,
    library: SearchedLibrary = None,
    keep_last: Annotated[int | None, Described("Keep the last N snapshots of each line.", metavar="N")] = None,
    before: Annotated[
        str | None,
        Described(
            "Remove only snapshots stored before this: 30d, '8 weeks' or 2026-01-31.",
            ("--older-than", "before"),
            metavar="AGE|DAY",
        ),
    ] = None,
    dry_run: DryRun = False,
    reason: Reason = "",
    actor: Actor = "",
) -> None:
    """Remove builds other than releases: candidates, replaced snapshots, and builds between releases.

    A build between releases has a label like those of git describe (1.4.0-12-gabc1234). Kept are releases, present and
    former baselines, builds with an approved or reviewed finding, and the newest snapshot of each line. Answers about
    kept builds do not change. The audit records everything that is removed.

    \b
    abistore db prune --keep-last 20 --older-than 30d --dry-run
    """
    from abistore.service.administration import RetentionPlan, db_prune

    plan = RetentionPlan(
        keep_last=keep_last,
        before=_moment(before) if before is not None else None,
        library=library,
        dry_run=dry_run,
        actor=actor,
        reason=reason,
    )
    done = db_prune(plan, database=settings.database)
    answer(settings, {"pruned": done}, lambda: "\n".join(_pruned_lines(done)))


def _pruned_lines(done: PrunedStore) -> Iterator[str]:
    word = "would go" if done.dry_run else "gone"
    for each in done.snapshots:
        yield f"{word}  {each.line} {each.version}  {each.reason}  {each.digest[:12]}  {each.ingested:%Y-%m-%d}"
    size = "" if done.dry_run else f"; {done.before:,} bytes before, {done.after:,} after"
    yield f"{counted(len(done.snapshots), 'snapshot')} {word}{size}"


@verb("init", inside=db_command, gives={"store": "service.administration:db_init"})
def init_command(settings: SharedSettings) -> None:
    """Create the database if there is none, as the first `ingest` does."""
    from abistore.service.administration import db_init

    done = db_init(database=settings.database)
    where = f", in the new folder {done.folder}" if done.folder else ""
    answer(settings, {"store": done}, lambda: f"{done.database}: {'created' if done.created else 'exists'}{where}")


@verb("upgrade", inside=db_command, gives={"upgrade": "service.administration:db_upgrade"})
def upgrade_command(settings: SharedSettings) -> None:
    """Upgrade the database to the newest schema. A backup of an SQLite file is kept next to it."""
    from abistore.service.administration import db_upgrade

    done = db_upgrade(database=settings.database)
    told = f"upgraded from schema {done.before} to {done.after}" if done.before != done.after else "up to date"
    kept = f"; backup: {done.backup}" if done.backup else ""
    answer(settings, {"upgrade": done}, lambda: f"{told}{kept}")


@verb("check", inside=db_command, gives={"problems": "service.administration:db_check"})
def check_command(
    settings: SharedSettings,
    *,
    quick: Annotated[
        bool, Described("Check only the structure, the indexes, the checksums of rows and the audit.")
    ] = False,
) -> int:
    """Verify the database's structure, every row and every digest. Exits with 74 if something is wrong.

    Every command verifies what it reads. This one finds damage in what nobody has read yet.
    """
    from abistore.service.administration import db_check

    with progress(settings) as advance:
        problems = db_check(quick=quick, database=settings.database, progress=advance)
    error = StoreError(f"{counted(len(problems), 'problem')} found", "restore a backup") if problems else None
    text = "\n".join(problems) if problems else "sound"
    answer(settings, {"problems": problems}, lambda: text, error=error)
    return error.exit_code if error else 0


@verb("stats", inside=db_command, gives={"stats": "service.administration:db_stats"})
def stats_command(settings: SharedSettings) -> None:
    """Show how much the database holds."""
    from abistore.report.plain import plain
    from abistore.service.administration import db_stats

    stats = plain(db_stats(database=settings.database))
    rows = [
        (
            "size in bytes" if name == "size" else name.replace("_", " "),
            f"{value:,}" if isinstance(value, int) else value,
        )
        for name, value in stats.items()
    ]
    answer(settings, {"stats": stats}, lambda: "\n".join(f"{name:14}{value:>16}" for name, value in rows))


@verb("backup", inside=db_command, gives={"backup": "service.administration:db_backup"})
def backup_command(settings: SharedSettings, destination: Path) -> None:
    """Write a consistent copy of the database to the new file DESTINATION.

    Other processes may use the database meanwhile.
    """
    from abistore.service.administration import db_backup

    written = db_backup(destination, database=settings.database)
    answer(settings, {"backup": written}, lambda: f"{written}: written")


@verb("forget", inside=db_command, gives={"forgotten": "service.administration:db_forget"})
def forget_command(
    settings: SharedSettings,
    reference: ReleaseName,
    *,
    digest: StoredDigest = None,
    reason: Reason = "",
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Remove the stored release REFERENCE, such as one that was stored under a wrong version.

    The other releases of its line stay, and its file can be stored again. A baseline that points at it must be moved
    first. The audit keeps a record of it, and its digest still finds it.
    """
    from abistore.service.administration import db_forget

    gone = db_forget(
        reference,
        digest=digest,
        reason=reason,
        actor=actor,
        target=line.target,
        profile=line.profile,
        database=settings.database,
    )
    answer(
        settings,
        {"forgotten": gone},
        lambda: f"forgotten  {gone.line.library} {gone.version}  {gone.digest[:12]}  (number {gone.sequence})",
    )


@verb("vacuum", inside=db_command, gives={"vacuum": "service.administration:db_vacuum"})
def vacuum_command(settings: SharedSettings) -> None:
    """Give the database's free space back to the disk.

    A PostgreSQL server keeps free space in its tables for later rows, and gives little back.
    """
    from abistore.service.administration import db_vacuum

    done = db_vacuum(database=settings.database)
    answer(settings, {"vacuum": done}, lambda: freed(done))


def freed(done: VacuumedStore) -> str:
    """How much a vacuum gave back."""
    if done.freed:
        return f"{done.freed:,} bytes freed: {done.before:,} before, {done.after:,} after"
    grown = f" ({done.before:,} before)" if done.after > done.before else ""
    return f"nothing to free: {done.after:,} bytes{grown}"


@verb(
    "audit",
    inside=db_command,
    gives=(
        {"audit": "service.administration:db_audit"},
        {"head": "model.history:AuditHead"},
        {"verified": "service.attesting:verify_audit"},
    ),
)
def audit_command(
    settings: SharedSettings,
    *,
    limit: Annotated[int, Described("The maximum number of entries.", least=1)] = 50,
    skip: Annotated[int, Described("Skip this many of the newest entries.", least=0)] = 0,
    library: Annotated[str, Described("Show only entries of this library.", complete="library")] = "",
    actor: Annotated[str, Described("Show only entries of this person.")] = "",
    action: Annotated[str, Described("Show only entries of this kind, e.g. ingest, baseline, approve or merge.")] = "",
    since: Annotated[datetime | None, Described("Show only entries from this date on.")] = None,
    until: Annotated[datetime | None, Described("Show only entries before this date.")] = None,
    sign: Annotated[
        Path | None,
        Described("Sign the head of the audit with this Ed25519 key.", metavar="KEY", complete="file"),
    ] = None,
    verify: Annotated[
        Path | None,
        Described("Verify that the audit continues the signed one.", metavar="FILE", complete="file"),
    ] = None,
    output: Output = None,
    trusting: TrustOptions,
) -> None:
    """Show who changed what in the database, newest first.

    A record from a bundle or `db merge` has the time and the person of its source store.

    Each record has a digest of all before it. Who can write to the database can compute them again: --sign keeps the
    last one in a document elsewhere, and --verify exits with 76 if the audit is not its continuation.
    """
    if sign is not None and verify is not None:
        raise UsageError("--sign and --verify exclude each other", "use one of them")
    if sign is not None:
        _sign_audit(settings, sign, output)
        return
    if verify is not None:
        _verify_audit(settings, verify, trusting)
        return
    if output is not None:
        raise UsageError("--output is for --sign", "--json prints the entries for programs")
    from abistore.service.administration import AuditQuery, db_audit

    query = AuditQuery(library=library, actor=actor, action=action, since=since, until=until, skip=skip)
    records = db_audit(limit=limit, query=query, database=settings.database)
    rows = [(f"{one.at:%Y-%m-%d %H:%M:%S}", one.actor, one.action, one.subject, one.detail) for one in records]
    answer(settings, {"audit": records}, lambda: table(("when", "who", "what", "subject", "detail"), rows))
    if len(records) == limit:
        note(settings, f"there may be more: --skip {query.skip + limit} shows the next")


def _sign_audit(settings: SharedSettings, key: Path, output: Path | None) -> None:
    from abistore.service.attesting import sign_audit

    done = sign_audit(key, database=settings.database)
    write_snapshot(settings, output, done.document.encode(), {"head": done.head})
    if is_file(output) and not settings.json:
        say(f"record {done.head.number:,} of the audit signed: {done.head.digest}")


def _verify_audit(settings: SharedSettings, document: Path, trusting: TrustOptions) -> None:
    from abistore.service.attesting import verify_audit

    found = verify_audit(document, trusting.trust(), database=settings.database)
    answer(settings, {"verified": found}, lambda: _verified(found))


def _verified(found: VerifiedAudit) -> str:
    who = f"{', '.join(found.principals)} ({found.key})"
    return (
        f"the audit is unchanged up to record {found.head.number:,}, "
        f"signed {found.signed:%Y-%m-%dT%H:%M:%SZ} by {who}; {counted(found.added, 'record')} added since"
    )


@verb("scheme", inside=db_command, gives="service.administration:db_scheme")
def scheme_command(
    settings: SharedSettings,
    library: LibraryName,
    scheme: Literal["auto", "pep440", "semver", "debian", "plain"] | None = None,
) -> None:
    """Show how the versions of LIBRARY are ordered, or declare a SCHEME.

    `auto` reads the version labels of all conventions. A declared scheme refuses labels that it cannot read.
    """
    from abistore.service.administration import db_scheme

    found = db_scheme(library, scheme, database=settings.database)
    answer(settings, found, lambda: "\n".join((f"{library}: {found.scheme}", *_orders(found))))


def _orders(found: SchemeCard) -> Iterator[str]:
    for one in found.lines:
        if one.scheme != found.scheme:
            yield f"  {one.line}: {one.scheme}, as before the database was upgraded"
        if one.moved:
            latest = f"latest is {one.latest}" + (f", was {one.latest_before}" * (one.latest != one.latest_before))
            yield f"  {one.line}: {counted(len(one.moved), 'release')} moved; {latest}"
        if one.unordered:
            yield f"  {one.line}: in the order of ingestion, after all versions: {', '.join(one.unordered)}"


release_group = group("release", "Correct the date, revision or CI job of a stored release, and tag it.", db_command)


@verb("edit", inside=release_group, gives={"amendment": "service.administration:release_edit"})
def edit_command(
    settings: SharedSettings,
    reference: ReleaseName,
    *,
    clear: Annotated[
        tuple[Literal["released", "revision", "url"], ...], Described("Clear this fact. May be repeated.")
    ] = (),
    reason: Reason = "",
    actor: Actor = "",
    said: FactOptions,
    line: LineOptions,
) -> None:
    """Correct what is recorded about the stored release REFERENCE (libfoo@1.2.0).

    Day, source revision and CI job can be corrected. The snapshot stays as it is; the audit keeps the former values.
    """
    from abistore.model.history import ReleaseFacts
    from abistore.service.administration import EditPlan, release_edit

    facts = ReleaseFacts(said.released, said.revision, said.url)
    plan = EditPlan(facts, clear, reason, actor, line.target, line.profile)
    done = release_edit(reference, plan, database=settings.database)
    answer(settings, {"amendment": done}, lambda: "\n".join(_amended_lines(done)))


@verb("tag", inside=release_group, gives={"tagged": "service.administration:release_tag"})
def tag_command(
    settings: SharedSettings,
    reference: ReleaseName,
    tag: Tag,
    *,
    note: Note = "",
    remove: Annotated[bool, Described("Remove the tag.")] = False,
    sign: Annotated[
        Path | None,
        Described("Sign the tag with this Ed25519 key: gates can require it.", metavar="KEY", complete="file"),
    ] = None,
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Put the word TAG, such as lts, on the stored release REFERENCE (libfoo@1.2.0).

    Four tags have a meaning. Comparisons with the previous release skip releases tagged `withdrawn` or `yanked`. Breaks
    of these, and of releases tagged `eol` or `unsupported`, count in no ledger and no statement. Gates use their
    channel's baseline, whatever its tags. An existing tag and its note do not change,
    except that --sign signs it.

    \b
    abistore db release tag libfoo@1.2.0 withdrawn --note "lost data"
    """
    from abistore.service.administration import TagPlan, release_tag

    plan = TagPlan(note, remove, actor, sign=sign, target=line.target, profile=line.profile)
    done = release_tag(reference, tag, plan, database=settings.database)
    tags = ", ".join(one.name for one in done.release.tags) or "no tags"
    said = "" if done.changed else ", as before"
    answer(settings, {"tagged": done}, lambda: f"{done.release.line.library} {done.release.version}: {tags}{said}")


def _amended_lines(done: Amendment) -> list[str]:
    release = done.release
    changes = [
        f"  {fact}: {_shown(getattr(release, fact))} (was {_shown(getattr(done.before, fact))})"
        for fact in done.changed
    ]
    return [
        f"{release.line.library} {release.version}: {'metadata corrected' if changes else 'nothing changed'}",
        *changes,
    ]


def _shown(value: datetime | str | None) -> str:
    return f"{value:%Y-%m-%d}" if isinstance(value, datetime) else value or "-"


BASELINE_HEADS = ("library", "target", "profile", "channel", "version", "digest", "moved", "by", "reason")

baseline_group = group("baseline", "Set and list baselines.", db_command)


@verb("set", inside=baseline_group, gives={"baselines": "service.administration:set_release_baseline"})
def baseline_set_command(
    settings: SharedSettings,
    reference: ReleaseName,
    *,
    channel: Channel = "release",
    expect: ExpectedVersion = None,
    all_lines: Annotated[
        bool,
        Described(
            "Move it for all targets and profiles of this version, and for all libraries of its package, or for none."
        ),
    ] = False,
    reason: Reason = "",
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Point a baseline at the stored release REFERENCE (libfoo@1.2.0)."""
    from abistore.service.administration import BaselinePlan, set_baseline, set_release_baseline

    move = BaselinePlan(channel, reason, actor, line.target, line.profile, expect=expect)
    if all_lines:
        moved = set_release_baseline(reference, move, database=settings.database)
    else:
        moved = (set_baseline(reference, move, database=settings.database),)
    _answer_moved(settings, moved)


@verb("clear", inside=baseline_group, gives={"baselines": "service.administration:clear_baseline"})
def baseline_clear_command(
    settings: SharedSettings,
    library: LibraryName,
    *,
    channel: Channel = "release",
    reason: Reason = "",
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Clear a baseline of LIBRARY: nothing is judged against it until it is set again."""
    from abistore.service.administration import BaselinePlan, clear_baseline

    move = BaselinePlan(channel, reason, actor, line.target, line.profile)
    _answer_moved(settings, clear_baseline(library, move, database=settings.database))


def _answer_moved(settings: SharedSettings, moved: tuple[BaselineMove, ...]) -> None:
    answer(
        settings,
        {"baselines": moved},
        lambda: "\n".join(f"{one.line}: baseline {one.channel} is {one.version or 'cleared'}" for one in moved),
    )


@verb("promote", inside=baseline_group, gives={"baselines": "service.administration:set_release_baseline"})
def promote_command(
    settings: SharedSettings,
    library: LibraryName,
    source: Annotated[str, Described(metavar="FROM", complete="channel")],
    channel: Annotated[str, Described(metavar="TO", complete="channel")],
    *,
    reason: Annotated[str, Described("The reason, for the history.")],
    expect: Annotated[
        str | None, Described("Only if the channel is at TO; `none`: only if it is not set.", metavar="VERSION")
    ] = None,
    actor: Actor = "",
    line: LineOptions,
) -> None:
    """Move the channel TO of LIBRARY to the release of the channel FROM.

    abistore db baseline promote libfoo candidate release --reason "the tests passed" --expect 1.2.0
    """
    from abistore.service.administration import BaselinePlan, set_baseline

    move = BaselinePlan(channel, reason, actor, line.target, line.profile, expect=expect)
    moved = set_baseline(f"{library}@baseline:{source}", move, database=settings.database)
    answer(
        settings,
        {"baselines": (moved,)},
        lambda: f"{moved.line}: baseline {moved.channel} is {moved.version}, like {source}",
    )


@verb("list", inside=baseline_group, gives={"baselines": "service.administration:baselines"})
def baseline_list_command(settings: SharedSettings, library: OptionalLibrary = None) -> None:
    """List the baselines of one LIBRARY, or of all, with the release each points at."""
    from abistore.service.administration import baselines

    _show(settings, baselines(library, database=settings.database), "no baselines are set")


@verb("history", inside=baseline_group, gives={"baselines": "service.administration:baseline_history"})
def history_command(
    settings: SharedSettings,
    library: LibraryName,
    *,
    channel: Annotated[str | None, Described("Show only this baseline.", complete="channel")] = None,
) -> None:
    """List every move of a LIBRARY's baselines: when, by whom, why."""
    from abistore.service.administration import baseline_history

    moves = baseline_history(library, channel=channel, database=settings.database)
    _show(settings, moves, "this library never had a baseline")


def _show(settings: SharedSettings, moves: tuple[BaselineMove, ...], nothing: str) -> None:
    rows = [
        (
            move.line.library,
            move.line.target,
            move.line.profile,
            move.channel,
            move.version or "(cleared)",
            (move.digest or "")[:12],
            f"{move.moved:%Y-%m-%d %H:%M}",
            move.actor,
            move.reason,
        )
        for move in moves
    ]
    answer(settings, {"baselines": moves}, lambda: table(BASELINE_HEADS, rows) if rows else nothing)
