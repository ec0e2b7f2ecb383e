"""The options that commands share, and their values during a call."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
from click.core import ParameterSource

from abistore.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class SharedSettings:
    """What the shared options say. ``verbosity``: -1 quiet, 0 normal, 1 and more for detail."""

    def __init__(self, *, json: bool = False, verbosity: int = 0) -> None:
        self.json = json
        self.database: str | None = None
        self.verbosity = verbosity
        self.color: Literal["auto", "always", "never"] = "auto"


FILE = click.Path(path_type=Path, readable=False)
"""A file's name. click checks nothing: the service says what is wrong with the file."""

pass_settings = click.make_pass_decorator(SharedSettings, ensure=True)


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
        raise UsageError("-q and -v contradict each other", "leave one out")


def file_words(ctx: click.Context, parameter: click.Parameter, start: str) -> list[CompletionItem]:
    """Makes the shell offer files."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(start, type="file")]


def output_options(command: Decorated) -> Decorated:
    """Add ``--json``, ``-q``, ``-v`` and ``--color``."""
    for option in (
        click.option(
            "--color",
            type=click.Choice(("auto", "always", "never")),
            expose_value=False,
            callback=_set_color,
            help="Colour text: by default on terminals, as NO_COLOR, FORCE_COLOR and CLICOLOR say.",
        ),
        click.option("-v", "--verbose", count=True, expose_value=False, callback=_set_verbose, help="Say more."),
        click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=_set_quiet, help="Say less."),
        click.option(
            "--json",
            is_flag=True,
            expose_value=False,
            callback=_set_json,
            help="Print exactly one JSON object on standard output, for errors too.",
        ),
    ):
        command = option(command)
    return command


BISECT = "--bisect"

bisect_option = click.option(
    BISECT,
    is_flag=True,
    expose_value=False,
    help="Exit as `git bisect run` reads it: 0 (good), 1 (bad: any break that fails), 125 (skip: no verdict).",
)

store_option = click.option(
    "--db",
    metavar="PATH|URL",
    envvar="ABISTORE_DB",
    show_envvar=True,
    expose_value=False,
    callback=_set_database,
    shell_complete=file_words,
    help="The database: a file, or an SQLAlchemy URL. By default a file in your data folder.",
)


def store_command(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--db``, ``--json``, ``-q``, ``-v`` and ``--color``, and pass the settings that they give."""
    return store_option(output_options(pass_settings(_asking(command))))


def _asking(command: Callable[..., Any]) -> Callable[..., Any]:
    """Say of the verdicts that a command gives who asked for them."""

    @wraps(command)
    def asked(*positional: Any, **named: Any) -> Any:
        from abistore.service.database import PROGRAM

        token = PROGRAM.set(click.get_current_context().command_path)
        try:
            return command(*positional, **named)
        finally:
            PROGRAM.reset(token)

    return asked


def in_utc(ctx: click.Context, parameter: click.Parameter, value: datetime | None) -> datetime | None:
    """A day without a time zone is one in UTC."""
    return value.replace(tzinfo=UTC) if value else None


def said_options(command: Decorated) -> Decorated:
    """Add ``--revision``, ``--url`` and ``--released``: the day, source revision and CI job of a release."""
    for option in (
        click.option(
            "--released",
            type=click.DateTime(("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S")),
            callback=in_utc,
            help="The day of the release.",
        ),
        click.option("--url", help="The URL of the CI job that built it."),
        click.option("--revision", help="The source revision that was built."),
    ):
        command = option(command)
    return command


VERSION_SOURCES = ("filename", "folder", "soname")

version_from_option = click.option(
    "--version-from",
    type=click.Choice(VERSION_SOURCES),
    help="Take each version from the file's name (libz.so.1.3.1), its folder's (1.3.1/libz.so) or the SONAME; "
    "files whose paths give their versions are taken oldest first.",
)

_profile = click.option("--profile", help="The build profile, if the library has several.")
_target = click.option(
    "--target", "--arch", help="The platform, if the library has several: elf-x86_64-64-little, or just x86_64."
)


def line_options(command: Decorated) -> Decorated:
    """Add ``--target`` and ``--profile``, which choose among the lines of a library."""
    return _target(_profile(command))
