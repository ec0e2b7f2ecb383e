"""What the platforms of pipelines show: GitHub's annotations and summaries, GitLab's quality reports."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from abistore.cli.options.shared import SharedSettings
from abistore.cli.output import write_file
from abistore.cli.rendering import style_of
from abistore.errors import OutputError
from abistore.model.words.characters import json_text
from abistore.report import render
from abistore.report.formats.markdown import plain

if TYPE_CHECKING:
    from abistore.report.model import Report, ReportedFinding

SEVERITIES = {"breaking": "blocker", "api_break": "critical", "risk": "minor"}
"""GitLab's words (docs.gitlab.com, Code Quality report format); what is milder is ``info``."""


def show_on_github(settings: SharedSettings, reports: Sequence[Report], unreported: Sequence[str] = ()) -> None:
    """Print the annotations of all reports, and append their Markdown to the job's summary where there is one.

    ``unreported`` are sentences about files that have no report.

    GitHub: workflow commands, "Setting an error message" and "Adding a job summary". Raises :class:`OutputError`.
    """
    style = replace(style_of(settings, full=False), colour=False, width=100)
    for each in reports:
        click.echo(render(each, "github", style), err=settings.json)
    where = os.environ.get("GITHUB_STEP_SUMMARY")
    if not where:
        return
    text = "\n\n".join((*map(plain, unreported), *(render(each, "markdown", style) for each in reports)))
    try:
        with Path(where).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise OutputError(f"{where}: cannot be written: {error.strerror}", "unset GITHUB_STEP_SUMMARY") from error


def write_for_gitlab(path: Path, reports: Sequence[Report]) -> None:
    """Write the findings of all reports as GitLab's Code Quality has them. Raises :class:`OutputError`."""
    issues = [_issue(report, finding) for report in reports for finding in report.changes]
    write_file(path, f"{json_text(json.dumps(issues, indent=2))}\n".encode())


def _issue(report: Report, finding: ReportedFinding) -> dict[str, Any]:
    place, _, line = (finding.source_location or "").partition(":")
    number = line.partition(":")[0]
    return {
        "description": f"{finding.display}: {finding.description}",
        "check_name": finding.kind,
        "fingerprint": finding.id,
        "severity": "info" if finding.approved else SEVERITIES.get(finding.impact, "info"),
        "location": {
            "path": place or report.new.library,
            "lines": {"begin": int(number) if number.isdigit() else 1},
        },
    }
