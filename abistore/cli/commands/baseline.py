"""``baseline``: the releases that others are judged against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from abistore.cli.groups import SuggestingGroup
from abistore.cli.options.shared import SharedSettings, line_options, store_command
from abistore.cli.output import answer
from abistore.cli.tables import table
from abistore.cli.words import channel_words, library_words, reference_words
from abistore.errors import UsageError

if TYPE_CHECKING:
    from abistore.model.history import BaselineMove

HEADS = ("library", "target", "profile", "channel", "version", "digest", "moved", "by", "reason")


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
def set_command(settings: SharedSettings, /, *, reference: str, clear: bool, all_lines: bool, **words: Any) -> None:
    """Point a baseline at the stored release REFERENCE (libfoo@1.2.0)."""
    from abistore.service.administration.baselines import (
        BaselinePlan,
        clear_baseline,
        set_baseline,
        set_release_baseline,
    )

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
    from abistore.service.administration.baselines import BaselinePlan, set_baseline

    moved = set_baseline(f"{library}@baseline:{source}", BaselinePlan(**words), database=settings.database)
    answer(
        settings,
        {"baselines": (moved,)},
        lambda: f"{moved.line}: baseline {moved.channel} is {moved.version}, as {source} is",
    )


@baseline_command.command("list")
@click.argument("library", required=False, shell_complete=library_words)
@store_command
def list_command(settings: SharedSettings, /, *, library: str | None) -> None:
    """List the baselines of one LIBRARY, or of all, with the release each points at."""
    from abistore.service.administration.baselines import baselines

    _show(settings, baselines(library, database=settings.database), "no baselines are set")


@baseline_command.command("history")
@click.argument("library", shell_complete=library_words)
@click.option("--channel", shell_complete=channel_words, help="Only this baseline.")
@store_command
def history_command(settings: SharedSettings, /, *, library: str, channel: str | None) -> None:
    """List every move of a LIBRARY's baselines: when, by whom, why."""
    from abistore.service.administration.baselines import baseline_history

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
    answer(settings, {"baselines": moves}, lambda: table(HEADS, rows) if rows else nothing)
