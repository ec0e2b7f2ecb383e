"""``release``: correct the facts of a stored release that its binary does not tell."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from abistore.cli.groups import SuggestingGroup
from abistore.cli.options import SharedSettings, line_options, said_options, store_command
from abistore.cli.output import answer
from abistore.cli.words import reference_words

if TYPE_CHECKING:
    from abistore.model.history import Amendment


@click.group("release", cls=SuggestingGroup)
def release_command() -> None:
    """Correct the day, revision or CI job of a stored release."""


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
    clear: tuple[str, ...],
    reason: str,
    actor: str,
    target: str | None,
    profile: str | None,
) -> None:
    """Correct what is recorded about the stored release REFERENCE (libfoo@1.2.0).

    Day, source revision and CI job can be corrected. The snapshot stays as it is; the audit keeps the former values.
    """
    from abistore.model.history import ReleaseFacts
    from abistore.service.administration.amending import EditPlan, release_edit

    plan = EditPlan(ReleaseFacts(released, revision, url), clear, reason, actor, target, profile)
    done = release_edit(reference, plan, database=settings.database)
    answer(settings, {"amendment": done}, lambda: "\n".join(_lines(done)))


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
