"""The options that commands share, and the words that a shell offers for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
from click.core import ParameterSource

from abistore.errors import AbistoreError, UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from abistore.model.envelope import HeldAnswer


class SharedSettings:
    """What the shared options say, and with ``--json`` what the call has to tell when its exit code is known.

    ``verbosity``: -1 quiet, 0 normal, 1 and more for detail. ``words`` call the verb, as ``("db", "check")``.
    ``bisect``: the exit code becomes what `git bisect run` reads.
    """

    def __init__(self, *, json: bool = False, verbosity: int = 0, bisect: bool = False) -> None:
        self.json = json
        self.bisect = bisect
        self.words: tuple[str, ...] = ()
        self.notes: list[str] = []
        self.answer: HeldAnswer | None = None
        self.database: str | None = None
        self.verbosity = verbosity
        self.color: Literal["auto", "always", "never"] = "auto"


FILE = click.Path(path_type=Path, readable=False)
"""A file's name. click checks nothing: the service says what is wrong with the file."""


def _set_json(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    ctx.ensure_object(SharedSettings).json |= value


def _set_database(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    settings = ctx.ensure_object(SharedSettings)
    written = parameter.name is not None and ctx.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    if value and (written or settings.database is None):
        settings.database = value


def _set_quiet(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    settings = ctx.ensure_object(SharedSettings)
    if value:
        _check_one_of(settings.verbosity > 0)
        settings.verbosity = -1


def _set_color(ctx: click.Context, parameter: click.Parameter, value: Literal["always", "never"] | None) -> None:
    if value:
        ctx.ensure_object(SharedSettings).color = value


def _set_verbose(ctx: click.Context, parameter: click.Parameter, value: int) -> None:
    settings = ctx.ensure_object(SharedSettings)
    if value:
        _check_one_of(settings.verbosity < 0)
        settings.verbosity += value


def _check_one_of(both: bool) -> None:
    """Raise :class:`UsageError` for a command that is to say less and more: their order would decide, unsaid."""
    if both:
        raise UsageError("-q and -v exclude each other", "use one of them")


def file_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Makes the shell offer files."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(start, type="file")]


BISECT = "--bisect"

BISECT_OPTION = click.Option(
    [BISECT],
    is_flag=True,
    expose_value=False,
    help="Exit as `git bisect run` reads it: 0 (good), 1 (bad: any break that fails), 125 (skip: no verdict).",
)

STORE_OPTION = click.Option(
    ["--db"],
    metavar="PATH|URL",
    envvar="ABISTORE_DB",
    show_envvar=True,
    expose_value=False,
    callback=_set_database,
    shell_complete=file_words,
    help="The database: a file or an SQLAlchemy URL. By default a file in the user's data folder.",
)

OUTPUT_OPTIONS = (
    click.Option(
        ["--json"],
        is_flag=True,
        expose_value=False,
        callback=_set_json,
        help="Print exactly one JSON object on standard output, for errors too.",
    ),
    click.Option(["-q", "--quiet"], is_flag=True, expose_value=False, callback=_set_quiet, help="Say less."),
    click.Option(["-v", "--verbose"], count=True, expose_value=False, callback=_set_verbose, help="Say more."),
    click.Option(
        ["--color"],
        type=click.Choice(("auto", "always", "never")),
        expose_value=False,
        callback=_set_color,
        help="Colour text: by default on terminals, subject to NO_COLOR, FORCE_COLOR and CLICOLOR.",
    ),
)


def library_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The stored libraries."""
    from abistore.service.listing import libraries

    return _items(_stored(lambda: libraries(database=_database(ctx))), start)


def reference_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The stored releases."""
    from abistore.service.listing import references

    return _items(_stored(lambda: references(start, database=_database(ctx))), start)


def operand_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The stored releases, else files: Bash takes one or the other."""
    found = [] if "/" in start else reference_words(ctx, parameter, start)
    return found or file_words(ctx, parameter, start)


def channel_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The baseline channels of the library in the command line."""
    from abistore.service.listing import channels

    return _items(_stored(lambda: channels(_library(ctx), database=_database(ctx))), start)


def against_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """What a release may be judged against."""
    from abistore.service.listing import counterparts

    return _items(_stored(lambda: counterparts(_library(ctx), database=_database(ctx))), start)


def since_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The releases that a question to the history may begin at."""
    return [item for item in against_words(ctx, parameter, start) if item.value != "prev"]


def policy_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The built-in policies, else files: Bash takes one or the other."""
    from abistore.service.listing import policies

    return _items(policies(), start) or file_words(ctx, parameter, start)


def kind_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The kinds of change."""
    from abistore.service.kinds import changes

    return _items((each.kind for each in changes()), start)


def explained_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The kinds of change, and the findings of stored verdicts once the first digit is there."""
    return [*kind_words(ctx, parameter, start), *(finding_words(ctx, parameter, start) if start else [])]


def finding_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The identities of findings in stored verdicts."""
    from abistore.service.listing import identities

    return _items(_stored(lambda: identities(start, database=_database(ctx))), start)


def declaration_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """The declarations of the release that an earlier argument names, by their names in the source and symbols."""
    from abistore.service.declarations import declared_names

    operand = ctx.params.get("operand") or next(iter(ctx.args), None)
    if not start or not operand:
        return []
    return _items(_stored(lambda: declared_names(operand, start, database=_database(ctx))), start)


def _items(words: Iterable[str], start: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    # a shell takes a line feed for the end of a word
    return [CompletionItem(word) for word in words if word.startswith(start) and word.isprintable()]


NAMING = ("library", "reference", "operand", "what")
"""The arguments that name a library, or a release of one."""


def _library(ctx: click.Context) -> str | None:
    named = next((found for each in NAMING if (found := ctx.params.get(each))), None)
    first = next((one.name for one in ctx.command.params if isinstance(one, click.Argument)), None)
    if not named and first in NAMING:
        named = next(iter(ctx.args), None)  # click leaves arguments there while an option has no value yet
    return named.partition("@")[0] if named else None


def _database(ctx: click.Context) -> str | None:
    settings = ctx.find_object(SharedSettings)
    return settings.database if settings is not None else None


def _stored(ask: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    """What the store answers; nothing if it cannot, as a message would land in the line being typed."""
    try:
        return ask()
    except AbistoreError:
        return ()
