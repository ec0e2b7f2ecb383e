"""``blame``, ``first-broken``, ``last-good`` and ``deprecations``: since when, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.options import SharedSettings, library_words, line_options, since_words, store_command
from abistore.cli.output import answer, table
from abistore.cli.reading_options import commit_options, project_option, ruling_options
from abistore.report.since import blame_text, first_broken_text, release_text
from abistore.report.wording import shortened

if TYPE_CHECKING:
    from abistore.model.approvals import Deprecation, LineDeprecations

since_option = click.option(
    "--since",
    metavar="VERSION|baseline[:CHANNEL]",
    shell_complete=since_words,
    help="The release that programs were built against.",
)


@click.command("blame")
@click.argument("library", shell_complete=library_words)
@since_option
@click.option("--restored", is_flag=True, help="Judge every release between, and list all breaks that were taken back.")
@commit_options
@ruling_options
@line_options
@store_command
def blame_command(settings: SharedSettings, /, *, library: str, **words: Any) -> None:
    """Show each break of the latest release of LIBRARY, or of LIBRARY@VERSION, with the build that introduced it.

    Breaks are those of programs built against the first release with the same SONAME, or against --since. Builds that
    failed their gate and were kept count: their commit is named. Exports that were removed for a while are listed as
    restored. Exports that were added later and removed break programs built against a release between.

    \b
    abistore blame libfoo
    abistore blame libfoo@1.2.0
    abistore blame libfoo --since baseline --restored
    """
    from abistore.service.blame import blame

    found = blame(library, database=settings.database, **words)
    answer(settings, {"blames": found}, lambda: "\n\n".join(map(blame_text, found)))


@click.command("first-broken")
@click.argument("name")
@click.option("--library", shell_complete=library_words, help="Look in this library only, instead of all.")
@since_option
@commit_options
@ruling_options
@line_options
@store_command
def first_broken_command(settings: SharedSettings, /, *, name: str, **words: Any) -> None:
    """Show the first release that breaks NAME, and the last good one before it.

    NAME is a symbol, a function, variable or type as the source calls it, or the identity of a finding that `verdict`
    or `history` stored. Programs are those built against the first release that has NAME, or against --since. Only a
    few of the stored releases are judged, as in a bisection: nothing is built.

    \b
    abistore first-broken geo::Point
    abistore first-broken 413dac85 --library libgeo
    """
    from abistore.service.bisect import first_broken

    found = first_broken(name, database=settings.database, **words)
    answer(settings, {"found": found}, lambda: "\n\n".join(map(first_broken_text, found)))


@click.command("last-good")
@click.argument("name")
@click.option("--library", shell_complete=library_words, help="Look in this library only, instead of all.")
@since_option
@ruling_options
@line_options
@store_command
def last_good_command(settings: SharedSettings, /, *, name: str, **words: Any) -> None:
    """Show the last release before one that breaks NAME: one line for each line of a library.

    NAME and --since are as for `first-broken`, which tells more.

    \b
    abistore last-good geo::Point --library libgeo
    """
    from abistore.service.bisect import first_broken

    found = first_broken(name, database=settings.database, **words)
    answer(
        settings, {"found": found}, lambda: "\n".join(f"{each.line}: {release_text(each.last_good)}" for each in found)
    )


HEADS = ("state", "kind", "name", "deprecated since", "may go in", "removed in")
FIRST = "<="
LISTED = 5


@click.command("deprecations")
@click.argument("library", shell_complete=library_words)
@click.option(
    "--deprecation",
    "within",
    metavar="WINDOW",
    help="How long a declaration stays after it was deprecated: '2 minor', '1 major', '3 releases' or '180 days'.",
)
@project_option
@line_options
@store_command
def deprecations_command(settings: SharedSettings, /, *, library: str, **words: Any) -> None:
    """List what the headers of LIBRARY deprecate, since when, and what was removed.

    With --deprecation, each says when a removal is allowed, and what went before that is told as too early. Headers
    tell what is deprecated (`ingest --header`); a release that was read without any says nothing.

    \b
    abistore deprecations libfoo
    abistore deprecations libfoo --deprecation '2 minor'
    """
    from abistore.service.log import deprecations

    found = deprecations(library, database=settings.database, **words)
    answer(settings, {"deprecations": found}, lambda: "\n\n".join("\n".join(_lines(each)) for each in found))


def _lines(found: LineDeprecations) -> Iterator[str]:
    rule = f"removal after {found.window}" if found.window else "no window given"
    yield f"{found.line}: as of {found.latest}; {rule}"
    if found.items:
        yield table(HEADS, [_row(each) for each in found.items])
    else:
        yield "nothing is deprecated, and no public declaration went"
    if found.unread:
        more = f" and {len(found.unread) - LISTED} more" if len(found.unread) > LISTED else ""
        yield f"not checked: {', '.join(found.unread[:LISTED])}{more}, read without headers"


def _row(one: Deprecation) -> tuple[str, ...]:
    since = f"{FIRST if one.first_stored else ''} {one.since}  {one.since_day}".strip() if one.since else "never"
    name = shortened(one.display) or one.display
    return one.state, one.name.kind, name, since, one.removable, one.removed
