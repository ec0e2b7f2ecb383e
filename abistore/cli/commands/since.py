"""``blame``, ``first-broken``, ``last-good`` and ``deprecations``: since when, and until when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.options import SharedSettings, library_words, line_options, since_words, store_command
from abistore.cli.output import answer, table
from abistore.cli.reading_options import project_option, ruling_options
from abistore.model.words import counted
from abistore.report.wording import shortened

if TYPE_CHECKING:
    from abistore.model.approvals import Deprecation, LineDeprecations
    from abistore.report.model import ReportedFinding
    from abistore.service.bisect import DatedRelease, FirstBroken
    from abistore.service.blame import Blame, BlamedBreak

since_option = click.option(
    "--since",
    metavar="VERSION|baseline[:CHANNEL]",
    shell_complete=since_words,
    help="The release that programs were built against.",
)


@click.command("blame")
@click.argument("library", shell_complete=library_words)
@since_option
@click.option("--restored", is_flag=True, help="Judge every release between, and tell all breaks that were taken back.")
@ruling_options
@line_options
@store_command
def blame_command(settings: SharedSettings, /, *, library: str, **words: Any) -> None:
    """Show each break of the latest release of LIBRARY, with the release that introduced it.

    Breaks are those of programs built against the first release with the SONAME of the latest one, or against --since.
    Exports that were gone for a while, and are back, are told as restored. Exports that came later and are gone, and
    types that were others for a while, break programs built against a release between.

    \b
    abistore blame libfoo
    abistore blame libfoo --since baseline --restored
    """
    from abistore.service.blame import blame

    found = blame(library, database=settings.database, **words)
    answer(settings, {"blames": found}, lambda: "\n\n".join("\n".join(_blame(each)) for each in found))


def _blame(found: Blame) -> Iterator[str]:
    soname = f" ({found.soname})" if found.soname else ""
    yield f"{found.line}: {found.latest.version} against {found.base.version}{soname}: {found.verdict.name}"
    if not found.breaks:
        yield f"nothing that programs built against {found.base.version} use is broken"
    releases: dict[DatedRelease, list[BlamedBreak]] = {}
    for each in found.breaks:
        releases.setdefault(each.introduced, []).append(each)
    for release, breaks in releases.items():
        yield f"since {_told(release)}, {counted(len(breaks), 'break')}"
        for each in breaks:
            yield f"  {_change(each.change)}"
            if each.as_now_since is not None:
                yield f"    as it is now since {_told(each.as_now_since)}"
            yield from _unseen(each.last_good, each.not_observed)
    yield from _short_lived(found)
    for gone in found.restored:
        yield f"restored in {_told(gone.restored)}: {_change(gone.change)}, broken since {_told(gone.introduced)}"
    if found.reverted and not found.all_restored:
        some = f"{counted(found.reverted, 'declaration')} differed between and {'is' if found.reverted == 1 else 'are'}"
        yield f"{some} as in {found.base.version} again; --restored judges what that broke"


def _short_lived(found: Blame) -> Iterator[str]:
    """Breaks that no program built against the base meets, and others do."""
    runs: dict[tuple[DatedRelease, DatedRelease, DatedRelease], list[ReportedFinding]] = {}
    for each in found.short_lived:
        runs.setdefault((each.introduced, each.first, each.last), []).append(each.change)
    for (introduced, first, last), changes in runs.items():
        built = first.version if first == last else f"{first.version} to {last.version}"
        yield f"since {_told(introduced)}, {counted(len(changes), 'break')} of programs built against {built}"
        yield from (f"  {_change(change)}" for change in changes)
    if found.unjudged:
        yield f"{counted(found.unjudged, 'step')} between not looked at; --restored judges what each broke"


@click.command("first-broken")
@click.argument("name")
@click.option("--library", shell_complete=library_words, help="Look in this library only, instead of all.")
@since_option
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
    answer(settings, {"found": found}, lambda: "\n\n".join("\n".join(_broken(each)) for each in found))


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
    answer(settings, {"found": found}, lambda: "\n".join(f"{each.line}: {_told(each.last_good)}" for each in found))


def _broken(found: FirstBroken) -> Iterator[str]:
    head = f"{found.line}: {shortened(found.name.spelling)}, for programs built against {found.base.version}"
    yield head
    if found.first_broken is None:
        yield f"  never broken; last good  {_told(found.last_good)}"
    else:
        yield f"  first broken  {_told(found.first_broken)}"
        yield f"  last good     {_told(found.last_good)}"
        yield from (f"    {_change(each)}" for each in found.changes)
        yield from _unseen(found.last_good, found.not_observed)
    yield f"  judged {found.judged} of {counted(found.releases, 'release')}"


def _unseen(last_good: DatedRelease, versions: Sequence[str]) -> Iterator[str]:
    if versions:
        yield f"    not observed after {last_good.version}: {', '.join(versions)}"


def _told(release: DatedRelease) -> str:
    return f"{release.version}  {release.date}" + (f"  revision {release.revision}" if release.revision else "")


def _change(change: ReportedFinding) -> str:
    values = [value for value in (change.old_value, change.new_value) if value not in {None, change.display}]
    told = f": {' -> '.join(shortened(value or '') or '' for value in values)}" if values else ""
    part = f" ({change.part})" if change.part else ""
    return f"{change.impact}  {change.kind}  {shortened(change.display)}{part}{told}  [{change.id[:12]}]"


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
