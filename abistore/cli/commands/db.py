"""``db``, ``db merge`` and ``prune``: create, upgrade, check and clean the database, and merge stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from abistore.cli.main import SuggestingGroup
from abistore.cli.options import (
    FILE,
    SharedSettings,
    file_words,
    in_utc,
    library_words,
    line_options,
    reference_words,
    store_command,
)
from abistore.cli.output import answer, error_document, note, table
from abistore.errors import BundleError, StoreError, VersionTaken
from abistore.model.words import counted

if TYPE_CHECKING:
    from datetime import datetime

    from abistore.model.history import Merged, Side
    from abistore.service.administration import PrunedStore, SchemeCard, VacuumedStore

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

COUNTS = {
    "earlier": "snapshots that were replaced or taken back",
    "baseline_moves": "moves of baselines",
    "verdicts": "verdicts",
    "findings": "findings",
    "reviews": "reviews",
    "approvals": "approvals",
    "consumers": "consumers",
    "audit_records": "records of the audit",
}


def merge_options(command: Decorated) -> Decorated:
    """Add ``--prefer`` and ``--dry-run``."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Tell what a bundle or store brings, and change nothing."),
        click.option(
            "--prefer",
            type=click.Choice(("here", "there")),
            help="Which side wins where both say something else. Without it nothing is brought in.",
        ),
    ):
        command = option(command)
    return command


@click.command("merge")
@click.argument("other", shell_complete=file_words)
@merge_options
@click.option("--actor", default="", help="Who, for the audit; by default the user's name.")
@store_command
def merge_command(settings: SharedSettings, /, *, other: str, prefer: Side | None, dry_run: bool, actor: str) -> int:
    """Bring what the database OTHER holds into this one: a path, a URL, or a bundle of `export --bundle`.

    Releases that both have with the same content are known. Another content under the same version is a conflict, and
    so is a baseline that both moved: then nothing is brought in, unless --prefer says which side wins. Moves of
    baselines, verdicts, approvals, reviews, consumers and the audit come over, each once: merging again changes
    nothing.
    """
    from abistore.service.imports import MergePlan, db_merge

    plan = MergePlan(prefer=prefer, dry_run=dry_run, actor=actor)
    return show_merged(settings, [db_merge(other, plan, database=settings.database)])


def show_merged(settings: SharedSettings, done: Sequence[Merged]) -> int:
    """Tell what was brought in; the exit code is that of what was not: a conflict of a dry run, or a name."""
    code = max(map(_code, done), default=0)
    document = {"exit_code": code, "merged": done}
    answer(settings, document, lambda: "\n".join(line for one in done for line in _lines(one)))
    return code


def _code(done: Merged) -> int:
    if done.conflicts and done.dry_run:
        return VersionTaken.exit_code
    return BundleError.exit_code if done.left_out else 0


def _lines(done: Merged) -> Iterator[str]:
    if done.changed or done.conflicts:
        yield f"{done.source}: {'would bring' if done.dry_run else 'brought'}"
        yield from _brought(done)
    else:
        yield f"{done.source}: nothing that is not here"
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
        yield (
            "hint: where it came from, ingest its file under another name, or move the baseline to another channel; "
            "then take it out there by its digest: abistore db forget DIGEST --reason WHY"
        )


def _moment(ctx: click.Context, parameter: click.Parameter, value: str | None) -> datetime | None:
    if value is None or ctx.resilient_parsing:
        return None
    from abistore.service.administration import older_than

    return older_than(value)


@click.command("prune")
@click.option("--library", shell_complete=library_words, help="Look at this library only, instead of all.")
@click.option("--keep-last", type=int, metavar="N", help="Keep the last N snapshots of each line.")
@click.option(
    "--older-than",
    "before",
    metavar="AGE|DAY",
    callback=_moment,
    help="Remove only what was stored before: 30d, '8 weeks' or 2026-01-31.",
)
@click.option(
    "--keep-releases", is_flag=True, help="Say that releases stay, as they do without it: no option removes them."
)
@click.option("--dry-run", is_flag=True, help="Say what would go, and write nothing.")
@click.option("--reason", default="", help="Why, for the audit.")
@click.option("--actor", default="", help="Who, for the audit; by default the user's name.")
@store_command
def prune_command(
    settings: SharedSettings,
    /,
    *,
    library: str | None,
    keep_last: int | None,
    before: datetime | None,
    keep_releases: bool,
    dry_run: bool,
    reason: str,
    actor: str,
) -> None:
    """Remove builds that are no releases: candidates, replaced snapshots, and builds between releases.

    A build between releases has a label such as git describe gives it (1.4.0-12-gabc1234). Releases stay, and what a
    baseline stands or ever stood at, what somebody approved or reviewed a finding of, and the newest snapshot of each
    line. What stays answers as before. The audit keeps a record of all that goes.

    \b
    abistore prune --keep-last 20 --older-than 30d --dry-run
    """
    from abistore.service.administration import RetentionPlan, db_prune

    plan = RetentionPlan(
        keep_last=keep_last, before=before, library=library, dry_run=dry_run, actor=actor, reason=reason
    )
    done = db_prune(plan, database=settings.database)
    answer(settings, {"pruned": done}, lambda: "\n".join(_pruned_lines(done)))


def _pruned_lines(done: PrunedStore) -> Iterator[str]:
    word = "would go" if done.dry_run else "gone"
    for each in done.snapshots:
        yield f"{word}  {each.line} {each.version}  {each.reason}  {each.digest[:12]}  {each.ingested:%Y-%m-%d}"
    size = "" if done.dry_run else f"; {done.before:,} bytes before, {done.after:,} after"
    yield f"{counted(len(done.snapshots), 'snapshot')} {word}{size}"


@click.group("db", cls=SuggestingGroup)
def db_command() -> None:
    """Create, upgrade, check and back up the database."""


db_command.add_command(merge_command)
db_command.add_command(prune_command)


@db_command.command("init")
@store_command
def init_command(settings: SharedSettings, /) -> None:
    """Create the database if there is none, as the first `ingest` does."""
    from abistore.service.administration import db_init

    done = db_init(database=settings.database)
    where = f", in the new folder {done.folder}" if done.folder else ""
    answer(settings, {"store": done}, lambda: f"{done.database}: {'created' if done.created else 'exists'}{where}")


@db_command.command("upgrade")
@store_command
def upgrade_command(settings: SharedSettings, /) -> None:
    """Bring the database to the newest schema. A backup of an SQLite file is kept beside it."""
    from abistore.service.administration import db_upgrade

    done = db_upgrade(database=settings.database)
    told = f"upgraded from schema {done.before} to {done.after}" if done.before != done.after else "up to date"
    kept = f"; backup: {done.backup}" if done.backup else ""
    answer(settings, {"upgrade": done}, lambda: f"{told}{kept}")


@db_command.command("check")
@click.option("--quick", is_flag=True, help="Check only the structure, the indexes, the sums over rows and the audit.")
@store_command
def check_command(settings: SharedSettings, /, *, quick: bool) -> int:
    """Verify the database's structure, every row and every digest. Exits with 74 if something is wrong.

    Every command verifies what it reads. This one finds damage in what nobody has read yet.
    """
    from abistore.cli.output import progress
    from abistore.service.administration import db_check

    with progress(settings) as advance:
        problems = db_check(quick=quick, database=settings.database, progress=advance)
    error = StoreError(f"{counted(len(problems), 'problem')} found", "restore a backup") if problems else None
    status = error_document(error) if error else {}
    answer(settings, {**status, "problems": problems}, lambda: "\n".join(problems) if problems else "sound")
    return error.exit_code if error else 0


verify_command = copy(check_command)
verify_command.name = "verify"


@db_command.command("stats")
@store_command
def stats_command(settings: SharedSettings, /) -> None:
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


@db_command.command("backup")
@click.argument("destination", type=FILE)
@store_command
def backup_command(settings: SharedSettings, /, *, destination: Path) -> None:
    """Write a consistent copy of the database to the new file DESTINATION.

    Other processes may use the database meanwhile.
    """
    from abistore.service.administration import db_backup

    written = db_backup(destination, database=settings.database)
    answer(settings, {"backup": written}, lambda: f"{written}: written")


@db_command.command("forget")
@click.argument("reference", shell_complete=reference_words)
@click.option("--digest", help="Remove it only if its digest begins with these digits.")
@click.option("--reason", default="", help="Why, for the audit.")
@click.option("--actor", default="", help="Who, for the audit; by default the user's name.")
@line_options
@store_command
def forget_command(settings: SharedSettings, /, *, reference: str, **words: Any) -> None:
    """Remove the stored release REFERENCE, such as one that was stored under a wrong version.

    The other releases of its line stay, and its file can be stored again. A baseline that points at it must be moved
    first. The audit keeps a record of it, and its digest still finds it.
    """
    from abistore.service.administration import db_forget

    gone = db_forget(reference, database=settings.database, **words)
    answer(
        settings,
        {"forgotten": gone},
        lambda: f"forgotten  {gone.line.library} {gone.version}  {gone.digest[:12]}  (number {gone.sequence})",
    )


@db_command.command("vacuum")
@store_command
def vacuum_command(settings: SharedSettings, /) -> None:
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


_DAY = click.DateTime(("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"))


@db_command.command("audit")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many at most.")
@click.option("--skip", type=click.IntRange(min=0), default=0, help="Leave out so many of the newest: the next page.")
@click.option("--library", default="", shell_complete=library_words, help="Of this library and its releases.")
@click.option("--actor", default="", help="By this person.")
@click.option("--action", default="", help="Of this kind, such as ingest, baseline, approve or merge.")
@click.option("--since", type=_DAY, callback=in_utc, help="From this day on.")
@click.option("--until", type=_DAY, callback=in_utc, help="Before this day.")
@store_command
def audit_command(settings: SharedSettings, /, *, limit: int, **words: Any) -> None:
    """Show who changed what in the database, newest first.

    A record that came with a bundle or by `db merge` has the time and the person of where it was made.
    """
    from abistore.service.administration import AuditQuery, db_audit

    query = AuditQuery(**words)
    records = db_audit(limit=limit, query=query, database=settings.database)
    rows = [(f"{one.at:%Y-%m-%d %H:%M:%S}", one.actor, one.action, one.subject, one.detail) for one in records]
    answer(settings, {"audit": records}, lambda: table(("when", "who", "what", "subject", "detail"), rows))
    if len(records) == limit:
        note(settings, f"there may be more: --skip {query.skip + limit} shows the next")


@db_command.command("scheme")
@click.argument("library", shell_complete=library_words)
@click.argument("scheme", required=False, type=click.Choice(("auto", "pep440", "semver", "debian", "plain")))
@store_command
def scheme_command(settings: SharedSettings, /, *, library: str, scheme: str | None) -> None:
    """Show how the versions of LIBRARY are ordered, or declare a SCHEME.

    `auto` reads the version labels of all conventions. A declared scheme refuses labels that it cannot read.
    """
    from abistore.report.plain import plain
    from abistore.service.administration import db_scheme

    found = db_scheme(library, scheme, database=settings.database)
    answer(settings, plain(found), lambda: "\n".join((f"{library}: {found.scheme}", *_orders(found))))


def _orders(found: SchemeCard) -> Iterator[str]:
    """What is unusual about the order of a library's lines."""
    for one in found.lines:
        if one.scheme != found.scheme:
            yield f"  {one.line}: {one.scheme}, as before the database was upgraded"
        if one.moved:
            latest = f"latest is {one.latest}" + (f", was {one.latest_before}" * (one.latest != one.latest_before))
            yield f"  {one.line}: {counted(len(one.moved), 'release')} moved; {latest}"
        if one.unordered:
            yield f"  {one.line}: in the order of ingestion, after all versions: {', '.join(one.unordered)}"
