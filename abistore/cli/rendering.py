"""Showing a report in the format asked for, and the options for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.options import Settings
from abistore.cli.output import colour_wanted, width
from abistore.report import formats, render
from abistore.report.style import Style

if TYPE_CHECKING:
    from abistore.report.outline import Report

GATES = ("breaking", "api_break", "risk", "never")


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--format`` and ``--full``."""
    command = click.option("--full", is_flag=True, help="Show all changes, however many.")(command)
    return click.option(
        "--format", type=click.Choice(formats()), default="text", show_default=True, help="How to write the report."
    )(command)


fail_on_option = click.option(
    "--fail-on",
    type=click.Choice(GATES),
    default="api_break",
    show_default=True,
    help="The mildest verdict that gives an exit code other than 0 (4 for a binary break, else 2).",
)


def style_of(settings: Settings, full: bool) -> Style:
    """How reports look on this output."""
    detail = settings.verbosity > 0
    style = Style(colour=colour_wanted(), width=width(), detail=detail)
    return replace(style, limit=None) if full else style


def show_report(settings: Settings, report: Report, format: str, full: bool) -> int:
    """Print the report and return its exit code."""
    if settings.verbosity < 0 and not settings.json and format == "text":
        from abistore.report.text import headline

        click.echo(headline(report, style_of(settings, full)))
    else:
        click.echo(render(report, "json" if settings.json else format, style_of(settings, full)))
    return report.exit_code
