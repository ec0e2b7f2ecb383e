"""``blame``, and what ``show`` tells of deprecations: since when, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, NamedTuple

from abistore.arguments import Described, SearchedLibrary
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, table
from abistore.cli.reading_options import CommitOptions, JudgingOptions, LineOptions
from abistore.cli.verbs import verb
from abistore.errors import UsageError
from abistore.report.since import blame_text, first_broken_text
from abistore.report.wording import shortened

if TYPE_CHECKING:
    from abistore.model.approvals import Deprecation, LineDeprecations
    from abistore.service.commits import CommitSource
    from abistore.service.ruling import Ruling


@verb("blame", gives=({"blames": "service.blame:blame"}, {"found": "service.bisect:first_broken"}))
def blame_command(
    settings: SharedSettings,
    what: Annotated[str, Described(metavar="LIBRARY|NAME", complete="library")],
    *,
    library: SearchedLibrary = None,
    since: Annotated[
        str | None,
        Described(
            "The release that programs were built against.", metavar="VERSION|baseline[:CHANNEL]", complete="since"
        ),
    ] = None,
    restored: Annotated[
        bool, Described("Of a library: judge every release between, and tell all breaks that were taken back.")
    ] = False,
    commits: CommitOptions,
    judging: JudgingOptions,
    line: LineOptions,
) -> None:
    """Show since when LIBRARY breaks programs, in its latest release or LIBRARY@VERSION, or which build broke NAME.

    Of a library, each break is listed with the build that introduced it. Breaks are those of programs built against
    the first release with the same SONAME, or against --since. Builds that failed their gate and were kept count: their
    commit is named. Exports that were removed for a while are listed as restored. Exports that were added later and
    removed break programs built against a release between.

    NAME is a symbol, a function, variable or type as the source calls it, or the identity of a finding that `verdict`
    or `history` stored. Programs are those built against the first release that has NAME, or against --since. Only a
    few of the stored releases are judged, as in a bisection: nothing is built.

    \b
    abistore blame libfoo
    abistore blame libfoo@1.2.0
    abistore blame libfoo --since baseline --restored
    abistore blame geo::Point
    abistore blame 413dac85 --library libgeo
    """
    from abistore.service.listing import libraries

    common = _Common(since, commits.source(), judging.ruling(), line.target, line.profile, settings.database)
    if library is None and what.partition("@")[0] in libraries(database=settings.database):
        from abistore.service.blame import blame

        found = blame(what, restored=restored, **common._asdict())
        answer(settings, {"blames": found}, lambda: "\n\n".join(map(blame_text, found)))
        return
    if restored:
        raise UsageError("--restored is about a library", f"{what} is none that is stored: see `abistore list`")
    from abistore.service.bisect import first_broken

    broken = first_broken(what, library=library, **common._asdict())
    answer(settings, {"found": broken}, lambda: "\n\n".join(map(first_broken_text, broken)))


class _Common(NamedTuple):
    """What both questions take."""

    since: str | None
    commits: CommitSource
    by: Ruling | None
    target: str | None
    profile: str | None
    database: str | None


HEADS = ("state", "kind", "name", "deprecated since", "removable from", "removed in")
FIRST = "<="
LISTED = 5


def deprecated(settings: SharedSettings, library: str, within: str | None, line: LineOptions) -> None:
    """Tell what the headers of a library deprecate, since when, and what was removed."""
    from abistore.service.log import deprecations

    found = deprecations(library, within=within, target=line.target, profile=line.profile, database=settings.database)
    answer(settings, {"deprecations": found}, lambda: "\n\n".join("\n".join(_lines(each)) for each in found))


def _lines(found: LineDeprecations) -> Iterator[str]:
    rule = f"removal after {found.window}" if found.window else "no window given"
    yield f"{found.line}: as of {found.latest}; {rule}"
    if found.items:
        yield table(HEADS, [_row(each) for each in found.items])
    else:
        yield "nothing is deprecated, and no public declaration was removed"
    if found.unread:
        more = f" and {len(found.unread) - LISTED} more" if len(found.unread) > LISTED else ""
        yield f"not checked: {', '.join(found.unread[:LISTED])}{more}, read without headers"


def _row(one: Deprecation) -> tuple[str, ...]:
    since = f"{FIRST if one.first_stored else ''} {one.since}  {one.since_day}".strip() if one.since else "never"
    name = shortened(one.display) or one.display
    return one.state, one.name.kind, name, since, one.removable, one.removed
