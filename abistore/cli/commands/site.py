"""``site``: the whole store as static HTML pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from abistore.cli.groups import SuggestingGroup
from abistore.cli.options.ruling import ruling_options
from abistore.cli.options.shared import FILE, SharedSettings, store_command
from abistore.cli.output import answer
from abistore.cli.words import channel_words
from abistore.model.words.counting import counted

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling
    from abistore.service.site.building import SiteBuilt


@click.group("site", cls=SuggestingGroup)
def site_command() -> None:
    """Write the history as static HTML pages, for people who read and do not type."""


@site_command.command("build")
@click.argument("out", type=FILE)
@click.option("--title", default="ABI history", show_default=True, help="What the site is called.")
@click.option(
    "--channel",
    default="release",
    show_default=True,
    shell_complete=channel_words,
    help="The baseline that each release is judged against, beside the one before it.",
)
@click.option("--no-judge", is_flag=True, help="Show stored verdicts only, and judge nothing now.")
@ruling_options
@store_command
def build_command(
    settings: SharedSettings, /, *, out: Path, title: str, channel: str, no_judge: bool, by: Ruling | None
) -> None:
    """Write a site to the folder OUT: libraries, releases, findings with drawings, and kinds of change.

    The pages need no server and no network: open OUT/index.html. OUT is new, empty, or has an earlier build, of which
    only what changed is written. What the earlier build wrote and is over is removed; files of others are left alone.
    """
    from abistore.cli.progress import progress
    from abistore.service.site.building import build_site
    from abistore.service.site.plan import SitePlan

    plan = SitePlan(title, channel, judge=not no_judge)
    with progress(settings) as advance:
        built = build_site(out, plan, database=settings.database, progress=advance, by=by)
    answer(settings, {"site": built}, lambda: "\n".join(_built(built)))


def _built(built: SiteBuilt) -> Iterator[str]:
    libraries = counted(built.libraries, "library", "libraries")
    yield f"{built.index}: {libraries}, {counted(built.releases, 'release')}"
    yield f"{counted(built.written, 'file')} written, {built.unchanged} unchanged, {built.removed} removed"
