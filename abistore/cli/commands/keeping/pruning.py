"""``prune``, which is ``db prune`` too: retention."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from abistore.cli.options.shared import SharedSettings, store_command
from abistore.cli.output import answer
from abistore.cli.words import library_words
from abistore.model.words.counting import counted

if TYPE_CHECKING:
    from datetime import datetime

    from abistore.service.administration.pruning import PrunedStore


def _moment(ctx: click.Context, parameter: click.Parameter, value: str | None) -> datetime | None:
    if value is None or ctx.resilient_parsing:
        return None
    from abistore.service.administration.pruning import older_than

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
    from abistore.service.administration.pruning import RetentionPlan, db_prune

    plan = RetentionPlan(
        keep_last=keep_last, before=before, library=library, dry_run=dry_run, actor=actor, reason=reason
    )
    done = db_prune(plan, database=settings.database)
    answer(settings, {"pruned": done}, lambda: "\n".join(_lines(done)))


def _lines(done: PrunedStore) -> Iterator[str]:
    word = "would go" if done.dry_run else "gone"
    for each in done.snapshots:
        yield f"{word}  {each.line} {each.version}  {each.reason}  {each.digest[:12]}  {each.ingested:%Y-%m-%d}"
    size = "" if done.dry_run else f"; {done.before:,} bytes before, {done.after:,} after"
    yield f"{counted(len(done.snapshots), 'snapshot')} {word}{size}"
