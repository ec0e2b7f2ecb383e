"""Showing a report in the format asked for, and the options for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import replace

from abistore.cli.options import FILE, Decorated, SharedSettings
from abistore.cli.output import colour_wanted, say, say_error, width, write_file
from abistore.report import render
from abistore.report.model import MODES, Mode, Style, format_of_file, formats

if TYPE_CHECKING:
    from abistore.model.versions import DeprecationWindow
    from abistore.report.model import Report

GATES = ("breaking", "api_break", "risk", "never")


class Rendering(msgspec.Struct, frozen=True):
    """How to show a report. ``output`` is a file; ``None`` means standard output."""

    format: str
    mode: Mode
    full: bool
    output: Path | None
    docs: str = ""
    source_root: str = ""


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--format``, ``--mode``, ``--full`` and ``--output``, and pass their values as ``rendering``."""

    @wraps(command)
    def wrapped(*positional: Any, **named: Any) -> Any:
        output = named.pop("output")
        output = None if output is None or str(output) == "-" else output
        format = named.pop("format") or (format_of_file(output.suffix) if output else "text")
        rendering = Rendering(
            format, named.pop("mode"), named.pop("full"), output, named.pop("docs_base"), named.pop("source_root")
        )
        if rendering.docs:
            from abistore.report.plain import check_docs

            check_docs(rendering.docs)
        return command(*positional, **named, rendering=rendering)

    for option in (
        click.option(
            "--docs-base",
            metavar="URL",
            default="",
            envvar="ABISTORE_DOCS_BASE",
            show_envvar=True,
            help="Where the documentation is published, for links in SARIF: a folder, or an address with {kind}.",
        ),
        click.option(
            "--source-root",
            metavar="FOLDER",
            default="",
            help="The folder of the sources in the build: names of files are relative to it.  [default: what "
            "absolute paths share]",
        ),
        click.option("--full", is_flag=True, help="Show all changes, however many."),
        click.option(
            "--mode",
            type=click.Choice(MODES),
            default="full",
            show_default=True,
            help="For text and markdown: full lists all changes, leaf groups them by declaration, impact shows who is "
            "affected, stat is one line.",
        ),
        click.option(
            "-o", "--output", type=FILE, help="Write to this file. Without --format, its suffix decides the format."
        ),
        click.option("--format", type=click.Choice(formats()), help="How to write the report.  [default: text]"),
    ):
        wrapped = option(wrapped)
    return wrapped


fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(GATES),
    default="api_break",
    show_default=True,
    help="The mildest verdict that gives an exit code other than 0 (4 for a binary break, else 2).",
)


ALLOWED = ("scheme", "breaking-on-soname-bump", "package", "major", "never")
"""What ``--allow`` may say: the model's rules, which are not imported to parse words."""


def allow_option(default: str | None) -> Callable[[Decorated], Decorated]:
    """``--allow``, which says which releases may break."""
    return click.option(
        "--allow",
        type=click.Choice(ALLOWED),
        default=default,
        show_default=default or "the verdict alone decides",
        help="Which releases may break and pass: `scheme` what the line promises (a bumped SONAME; a major label too "
        "where semver is declared), `breaking-on-soname-bump` the SONAME alone, `package` the SONAME together with the "
        "package's name, `major` the label alone, `never` none.",
    )


def _window(ctx: click.Context, parameter: click.Parameter, value: str | None) -> DeprecationWindow | str | None:
    if value is None or ctx.resilient_parsing:
        return value
    from abistore.model.versions import window

    return window(value)


deprecation_option = click.option(
    "--deprecation",
    metavar="WINDOW",
    callback=_window,
    help="How long a declaration must have been deprecated before a release may remove it, as headers tell: '2 minor', "
    "'1 major', '3 releases' or '180 days'.",
)


consumers_option = click.option(
    "--consumers", is_flag=True, help="Name the stored programs that each break hurts (`abistore consumers add`)."
)


require_option = click.option(
    "--require",
    metavar="FACETS",
    help="The facets that both sides must have seen in full, else exit with 72: some of symbol,layout,source. "
    "`old` requires no less than the old side has seen, `none` nothing.",
)


def style_of(settings: SharedSettings, full: bool) -> Style:
    """How reports look on this output."""
    detail = settings.verbosity > 0
    style = Style(colour=colour_wanted(settings), width=width(), detail=detail)
    return replace(style, limit=None) if full else style


def style_as(settings: SharedSettings, rendering: Rendering) -> Style:
    """How reports look on this output, as the options of a call say."""
    style = style_of(settings, rendering.full)
    return replace(style, mode=rendering.mode, docs=rendering.docs, source_root=rendering.source_root)


def show_report(settings: SharedSettings, report: Report, rendering: Rendering) -> int:
    """Print the report, or write it to a file and print one line about it; return its exit code."""
    _show(settings, report, rendering)
    if report.error and not settings.json:
        say_error(report.error, report.hint)
    return report.exit_code


def _show(settings: SharedSettings, report: Report, rendering: Rendering) -> None:
    style = style_as(settings, rendering)
    if rendering.output is None:
        _print(settings, report, rendering, style)
        return
    text = render(report, rendering.format, replace(style, colour=False, width=100))
    write_file(rendering.output, text.encode(errors="backslashreplace") + b"\n")
    if settings.json:
        click.echo(render(report, "json", Style(source_root=rendering.source_root)))
    elif settings.verbosity >= 0:
        from abistore.report.outline import stat

        say(stat(report))


def show_together(settings: SharedSettings, reports: Sequence[Report], rendering: Rendering) -> None:
    """Print the reports of all files of a call as one document, or write it to a file."""
    from abistore.report.releases import together

    style = style_as(settings, rendering)
    if rendering.output is None:
        click.echo(render(together(reports), rendering.format, style), color=style.colour or None)
        return
    text = render(together(reports), rendering.format, replace(style, colour=False, width=100))
    write_file(rendering.output, text.encode(errors="backslashreplace") + b"\n")


def tells_notes(rendering: Rendering) -> bool:
    """Whether the report shows its notes on this terminal itself."""
    return rendering.output is None and sys.stdout.isatty() and rendering.mode != "stat"


def _print(settings: SharedSettings, report: Report, rendering: Rendering, style: Style) -> None:
    if settings.verbosity < 0 and not settings.json and rendering.format == "text":
        from abistore.report.formats.text import headline

        gaps = f"; {len(report.not_checked)} not checked" if report.not_checked else ""
        say(f"{headline(report, style)}{gaps}", color=style.colour)
    else:
        text = render(report, "json" if settings.json else rendering.format, style)
        click.echo(text, color=style.colour or None)
