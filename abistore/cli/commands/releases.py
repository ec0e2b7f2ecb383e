"""``release``, ``review`` and ``baseline``: facts about stored releases, and baselines."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.main import SuggestingGroup
from abistore.cli.options import (
    SharedSettings,
    channel_words,
    finding_words,
    library_words,
    line_options,
    reference_words,
    said_options,
    store_command,
)
from abistore.cli.output import answer, table
from abistore.errors import UsageError

if TYPE_CHECKING:
    from abistore.model.history import Amendment, BaselineMove
    from abistore.service.log import Reviewed

HEADS = ("library", "finding", "state", "by", "when", "note")


@click.group("release", cls=SuggestingGroup)
def release_command() -> None:
    """Correct the day, revision or CI job of a stored release, and tag it."""


@release_command.command("edit")
@click.argument("reference", shell_complete=reference_words)
@said_options
@click.option(
    "--clear",
    multiple=True,
    type=click.Choice(("released", "revision", "url")),
    help="Clear this fact. May be repeated.",
)
@click.option("--reason", default="", help="Why, for the audit.")
@click.option("--actor", default="", help="Who, for the audit; by default the user's name.")
@line_options
@store_command
def edit_command(
    settings: SharedSettings,
    /,
    *,
    reference: str,
    released: datetime | None,
    revision: str | None,
    url: str | None,
    **words: Any,
) -> None:
    """Correct what is recorded about the stored release REFERENCE (libfoo@1.2.0).

    Day, source revision and CI job can be corrected. The snapshot stays as it is; the audit keeps the former values.
    """
    from abistore.model.history import ReleaseFacts
    from abistore.service.administration import EditPlan, release_edit

    plan = EditPlan(ReleaseFacts(released, revision, url), **words)
    done = release_edit(reference, plan, database=settings.database)
    answer(settings, {"amendment": done}, lambda: "\n".join(_lines(done)))


@release_command.command("tag")
@click.argument("reference", shell_complete=reference_words)
@click.argument("tag")
@click.option("--note", default="", help="What to know about it.")
@click.option("--remove", is_flag=True, help="Take the tag away.")
@click.option("--actor", default="", help="Who, for the audit; by default the user's name.")
@line_options
@store_command
def tag_command(settings: SharedSettings, /, *, reference: str, tag: str, **words: Any) -> None:
    """Put the word TAG, such as lts, on the stored release REFERENCE (libfoo@1.2.0).

    Four words mean something: no release is compared with the one before it where that is `withdrawn` or `yanked`, but
    with the one before that; and what breaks of a release that is tagged so, or `eol` or `unsupported`, counts in no
    ledger and no statement. Gates ask their baseline's channel, whatever its release is tagged. A tag that is there
    stays as it is, with its note.

    \b
    abistore release tag libfoo@1.2.0 withdrawn --note "lost data"
    """
    from abistore.service.administration import TagPlan, release_tag

    done = release_tag(reference, tag, TagPlan(**words), database=settings.database)
    tags = ", ".join(one.name for one in done.release.tags) or "no tags"
    said = "" if done.changed else ", as before"
    answer(settings, {"tagged": done}, lambda: f"{done.release.line.library} {done.release.version}: {tags}{said}")


def _lines(done: Amendment) -> list[str]:
    release = done.release
    changes = [
        f"  {fact}: {_shown(getattr(release, fact))} (was {_shown(getattr(done.before, fact))})"
        for fact in done.changed
    ]
    return [
        f"{release.line.library} {release.version}: {'metadata mended' if changes else 'nothing changed'}",
        *changes,
    ]


def _shown(value: datetime | str | None) -> str:
    return f"{value:%Y-%m-%d}" if isinstance(value, datetime) else value or "-"


@click.group("review", cls=SuggestingGroup)
def review_command() -> None:
    """Say what people think of findings. No verdict depends on it."""


@review_command.command("set")
@click.argument("finding", shell_complete=finding_words)
@click.option(
    "--state",
    type=click.Choice(("open", "seen", "intended", "defect")),
    default="seen",
    show_default=True,
    help="Looked at, deliberate, or to be mended; `open` takes that back.",
)
@click.option("--note", default="", help="What to know about it.")
@click.option("--library", shell_complete=library_words, help="The library, if several have such a finding.")
@click.option("--actor", default="", help="Who, for the audit; by default the user's name.")
@store_command
def set_command(settings: SharedSettings, /, *, finding: str, **words: Any) -> None:
    """Say something of FINDING: an identity, or its first digits, as `abistore verdict REFERENCE -v` shows it.

    It holds wherever the library has this finding, in later releases too, until the finding's facts change.
    """
    from abistore.service.log import ReviewPlan, review

    done = review(finding, ReviewPlan(**words), database=settings.database)
    answer(settings, {"reviewed": done}, lambda: _line(done))


@review_command.command("list")
@click.argument("library", required=False, shell_complete=library_words)
@click.option("--past", is_flag=True, help="All that was ever said, oldest first.")
@store_command
def list_command(settings: SharedSettings, /, *, library: str | None, past: bool) -> None:
    """List the findings of one LIBRARY, or of all, of which something was said."""
    from abistore.service.log import reviews

    found = reviews(library, past=past, database=settings.database)
    rows = [
        (one.library, one.identity, one.state, one.actor, f"{one.reviewed:%Y-%m-%d %H:%M}", one.note) for one in found
    ]
    answer(settings, {"reviews": found}, lambda: table(HEADS, rows) if rows else "nothing was reviewed")


def _line(done: Reviewed) -> str:
    said = done.review
    return f"{said.library} {said.identity}: {said.state}{'' if done.changed else ', as before'}"


BASELINE_HEADS = ("library", "target", "profile", "channel", "version", "digest", "moved", "by", "reason")


@click.group("baseline", cls=SuggestingGroup)
def baseline_command() -> None:
    """Set and list the releases that others are judged against."""


channel_option = click.option(
    "--channel",
    default="release",
    show_default=True,
    shell_complete=channel_words,
    help="The baseline channel.",
)


@baseline_command.command("set")
@click.argument("reference", shell_complete=reference_words)
@channel_option
@click.option("--clear", is_flag=True, help="Clear the channel. REFERENCE is then the library's name.")
@click.option("--expect", metavar="VERSION", help="Move it only if it stands there; `none`: only if it is not set.")
@click.option(
    "--all-lines",
    is_flag=True,
    help="Move it in all targets and profiles of this version, and in the libraries of its package: all or none.",
)
@click.option("--reason", default="", help="Why, for the history.")
@click.option("--actor", default="", help="Who, for the history; by default the user's name.")
@line_options
@store_command
def baseline_set_command(
    settings: SharedSettings, /, *, reference: str, clear: bool, all_lines: bool, **words: Any
) -> None:
    """Point a baseline at the stored release REFERENCE (libfoo@1.2.0)."""
    from abistore.service.administration import BaselinePlan, clear_baseline, set_baseline, set_release_baseline

    if clear and words["expect"] is not None:
        raise UsageError("--clear and --expect contradict each other", "pass one of them")
    move = BaselinePlan(**words)
    if clear:
        moved = clear_baseline(reference, move, database=settings.database)
    elif all_lines:
        moved = set_release_baseline(reference, move, database=settings.database)
    else:
        moved = (set_baseline(reference, move, database=settings.database),)
    answer(
        settings,
        {"baselines": moved},
        lambda: "\n".join(f"{one.line}: baseline {one.channel} is {one.version or 'cleared'}" for one in moved),
    )


@baseline_command.command("promote")
@click.argument("library", shell_complete=library_words)
@click.argument("source", metavar="FROM", shell_complete=channel_words)
@click.argument("channel", metavar="TO", shell_complete=channel_words)
@click.option("--reason", required=True, help="Why, for the history.")
@click.option("--actor", default="", help="Who, for the history; by default the user's name.")
@click.option("--expect", metavar="VERSION", help="Only if TO stands there; `none`: only if it is not set.")
@line_options
@store_command
def promote_command(settings: SharedSettings, /, *, library: str, source: str, **words: Any) -> None:
    """Move the channel TO of LIBRARY to the release at which the channel FROM stands.

    abistore baseline promote libfoo candidate release --reason "the tests passed" --expect 1.2.0
    """
    from abistore.service.administration import BaselinePlan, set_baseline

    moved = set_baseline(f"{library}@baseline:{source}", BaselinePlan(**words), database=settings.database)
    answer(
        settings,
        {"baselines": (moved,)},
        lambda: f"{moved.line}: baseline {moved.channel} is {moved.version}, as {source} is",
    )


@baseline_command.command("list")
@click.argument("library", required=False, shell_complete=library_words)
@store_command
def baseline_list_command(settings: SharedSettings, /, *, library: str | None) -> None:
    """List the baselines of one LIBRARY, or of all, with the release each points at."""
    from abistore.service.administration import baselines

    _show(settings, baselines(library, database=settings.database), "no baselines are set")


@baseline_command.command("history")
@click.argument("library", shell_complete=library_words)
@click.option("--channel", shell_complete=channel_words, help="Only this baseline.")
@store_command
def history_command(settings: SharedSettings, /, *, library: str, channel: str | None) -> None:
    """List every move of a LIBRARY's baselines: when, by whom, why."""
    from abistore.service.administration import baseline_history

    moves = baseline_history(library, channel=channel, database=settings.database)
    _show(settings, moves, "no baseline of this library was ever set")


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
