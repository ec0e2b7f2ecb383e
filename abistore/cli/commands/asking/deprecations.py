"""``deprecations``: what a library deprecates, when it may go, and what went too early."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.options.project import project_option
from abistore.cli.options.shared import SharedSettings, line_options, store_command
from abistore.cli.output import answer
from abistore.cli.tables import table
from abistore.cli.words import library_words
from abistore.report.wording import shortened

if TYPE_CHECKING:
    from abistore.model.judging.deprecations import Deprecation, LineDeprecations

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
    from abistore.service.deprecations.deprecations import deprecations

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
