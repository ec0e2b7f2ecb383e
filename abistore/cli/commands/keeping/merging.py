"""``db merge``, and what both it and the import of bundles say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from abistore.cli.options.shared import SharedSettings, file_words, store_command
from abistore.cli.output import answer
from abistore.errors import BundleError, VersionTaken

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
    for note in done.notes:
        yield f"note: {note}"
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
