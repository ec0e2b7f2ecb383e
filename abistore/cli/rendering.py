"""Showing a report in the format asked for, and the options for it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

import click
from msgspec.structs import replace

from abistore.arguments import MODE, WINDOW, Allow, ConsumersToo, Described, FailOn, Require, ShowOnly
from abistore.cli.options import SharedSettings
from abistore.cli.output import colour_wanted, is_file, say, say_error, width, write_file
from abistore.cli.verbs import Options
from abistore.errors import UsageError
from abistore.report import render, weight
from abistore.report.model import Mode, Style, format_named, format_of_file, formats

if TYPE_CHECKING:
    from abistore.model.envelope import AnswerError
    from abistore.model.versions import DeprecationWindow
    from abistore.report.model import Report
    from abistore.service.ingest_gates import Ingested
    from abistore.service.judging import EvidenceRequirement, Filter

TEXT_ENDINGS = frozenset({"", ".txt", ".log", ".out"})
"""The endings of files that get a report as text."""


class Rendering(Options, frozen=True):
    """How to show a report. ``output`` is a file; ``None`` means standard output."""

    title: ClassVar[str] = "Report"
    chosen: Annotated[
        str | None,
        Described("The format of the report.", ("--format", "chosen"), default="text", choices=formats, main=True),
    ] = None
    output: Annotated[
        Path | None,
        Described(
            "Write to this file. Without --format, its suffix selects the format.", ("-o", "--output"), main=True
        ),
    ] = None
    mode: Annotated[Mode, MODE] = "full"
    full: Annotated[bool, Described("Show all changes, without a limit.")] = False
    show_only: ShowOnly = None
    source_root: Annotated[
        str,
        Described(
            "The source folder of the build: file names are shown relative to it.",
            metavar="FOLDER",
            default="the common folder of absolute paths",
        ),
    ] = ""
    docs_base: Annotated[
        str,
        Described(
            "The URL of the documentation, for links in SARIF: a folder, or a URL with {kind}.",
            metavar="URL",
            variable="ABISTORE_DOCS_BASE",
        ),
    ] = ""

    @property
    def file(self) -> Path | None:
        """The file to write."""
        return self.output if is_file(self.output) else None

    @property
    def json_file(self) -> Path | None:
        """The file, if it gets JSON: the whole answer, as ``--json`` prints it."""
        return self.file if self.format == "json" else None

    @property
    def format(self) -> str:
        """The format asked for, or that of the file's ending. Raises :class:`UsageError` for an unknown one."""
        if self.chosen or not self.file:
            return self.chosen or "text"
        ending = self.file.suffix.lower()
        found = format_of_file(ending)
        if found == "text" and ending not in TEXT_ENDINGS:
            known = ", ".join(sorted(suffix for each in formats() if (suffix := format_named(each).suffix)))
            raise UsageError(
                f"{self.file}: no report format has the suffix {ending}", f"one of {known}; or pass --format"
            )
        return found

    def check(self) -> None:
        """Raise :class:`UsageError` for an ending that no format has, and an address that is none."""
        _ = self.format
        if self.show_only is not None:
            self.shown_by()
        if self.docs_base:
            from abistore.report.plain import check_docs

            check_docs(self.docs_base)

    def shown_by(self) -> Filter:
        """The filter that ``--show-only`` asks for. Raises :class:`UsageError`."""
        from abistore.service.judging import show_only

        return show_only(self.show_only)

    def shown(self, report: Report) -> Report:
        """The report with the changes that are asked for."""
        return self.shown_by()(report)


def _window(value: str) -> DeprecationWindow:
    from abistore.model.versions import window

    return window(value)


Window: TypeAlias = Annotated[Any, WINDOW._replace(check=_window)]


class FailingOptions(Options, frozen=True):
    """What makes a verdict fail."""

    title: ClassVar[str] = "What fails"
    fail_on: FailOn = "api_break"
    require: Require = None
    consumers: ConsumersToo = False

    def required(self) -> EvidenceRequirement | None:
        """The evidence that both sides must have. Raises :class:`UsageError`."""
        from abistore.service.judging import requirement

        return requirement(self.require)


class AllowingOptions(FailingOptions, frozen=True):
    """What makes a verdict about a release of a line fail."""

    allow: Allow = "scheme"
    deprecation: Window = None


def style_of(settings: SharedSettings, full: bool) -> Style:
    """How reports look on this output."""
    detail = settings.verbosity > 0
    style = Style(colour=colour_wanted(settings), width=width(), detail=detail)
    return replace(style, limit=None) if full else style


def style_as(settings: SharedSettings, rendering: Rendering) -> Style:
    """How reports look on this output, as the options of a call say."""
    style = style_of(settings, rendering.full)
    return replace(style, mode=rendering.mode, docs=rendering.docs_base, source_root=rendering.source_root)


def show_report(settings: SharedSettings, report: Report, rendering: Rendering) -> int:
    """Print the report, or write it to a file and print one line about it; return its exit code."""
    _show(settings, report, rendering)
    if report.error and not settings.json:
        say_error(report.error, report.hint)
    return report.exit_code


def hold_report(settings: SharedSettings, report: Report, rendering: Rendering, *, printed: bool) -> None:
    """Keep the report as the answer, for standard output and for a file that gets JSON."""
    from abistore.model.envelope import AnswerError, HeldAnswer, concluded
    from abistore.report.outline import with_short_paths

    settings.answer = HeldAnswer(
        with_short_paths(report, rendering.source_root),
        concluded([report.decision], report.exit_code),
        AnswerError(report.code, report.error, report.hint) if report.error else None,
        (rendering.json_file,) if rendering.json_file is not None else (),
        printed,
        weight(report),
    )


def _show(settings: SharedSettings, report: Report, rendering: Rendering) -> None:
    style = style_as(settings, rendering)
    if rendering.file is None:
        _print(settings, report, rendering, style)
        return
    if rendering.json_file is None:
        text = render(report, rendering.format, replace(style, colour=False, width=100))
        write_file(rendering.file, text.encode(errors="backslashreplace") + b"\n")
    if settings.json or rendering.json_file is not None:
        hold_report(settings, report, rendering, printed=settings.json)
    if not settings.json and settings.verbosity >= 0:
        from abistore.report.reasons import stat

        say(stat(report))


def show_together(settings: SharedSettings, reports: Sequence[Report], rendering: Rendering) -> None:
    """Print the reports of all files of a call as one document, or write it to a file."""
    from abistore.report.releases import together

    style = style_as(settings, rendering)
    if rendering.file is None:
        click.echo(render(together(reports), rendering.format, style), color=style.colour or None)
        return
    text = render(together(reports), rendering.format, replace(style, colour=False, width=100))
    write_file(rendering.file, text.encode(errors="backslashreplace") + b"\n")


def error_of(files: Iterable[Ingested], exit_code: int) -> AnswerError | None:
    """The error that gives a call about several files its exit code, if one does."""
    from abistore.model.envelope import AnswerError

    failed = (each for each in files if each.code and each.exit_code == exit_code)
    return next((AnswerError(each.code, each.error, each.hint) for each in failed), None)


def tells_notes(rendering: Rendering) -> bool:
    """Whether the report shows its notes on this terminal itself."""
    return rendering.file is None and sys.stdout.isatty() and rendering.mode != "stat"


def _print(settings: SharedSettings, report: Report, rendering: Rendering, style: Style) -> None:
    if settings.json:
        hold_report(settings, report, rendering, printed=True)
    elif settings.verbosity < 0 and rendering.format == "text":
        from abistore.report.formats.text import headline

        gaps = f"; {len(report.not_checked)} not checked" if report.not_checked else ""
        say(f"{headline(report, style)}{gaps}", color=style.colour)
    else:
        click.echo(render(report, rendering.format, style), color=style.colour or None)
