"""``db merge``, and what both it and the import of bundles say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from abistore.cli.options.shared import SharedSettings, file_words, store_command
from abistore.cli.output import answer
from abistore.errors import VersionTaken

if TYPE_CHECKING:
    from abistore.model.stores.merging import Merged, Side

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
    from abistore.service.transferring.bundles import MergePlan, db_merge

    plan = MergePlan(prefer=prefer, dry_run=dry_run, actor=actor)
    return show_merged(settings, [db_merge(other, plan, database=settings.database)])


def show_merged(settings: SharedSettings, done: Sequence[Merged]) -> int:
    """Tell what was brought in; the exit code is that of a refusal where a dry run met a conflict."""
    answer(settings, {"merged": done}, lambda: "\n".join(line for one in done for line in _lines(one)))
    return VersionTaken.exit_code if any(one.conflicts and one.dry_run for one in done) else 0


def _lines(done: Merged) -> Iterator[str]:
    if not done.changed and not done.conflicts:
        yield f"{done.source}: nothing that is not here"
        return
    yield f"{done.source}: {'would bring' if done.dry_run else 'brought'}"
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
    for conflict in done.conflicts:
        yield f"conflict: {conflict}"
    for note in done.notes:
        yield f"note: {note}"
