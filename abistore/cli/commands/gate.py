"""``gate``: whether a build may be merged and released, and how platforms of pipelines show it."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import click
import msgspec
from msgspec.structs import asdict, replace

from abistore.arguments import Channel, Described, MergeBase
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, note, progress, say, say_error, write_file
from abistore.cli.reading_options import BuildOptions, JudgingOptions, ReadingOptions, TrustOptions
from abistore.cli.rendering import AllowingOptions, Rendering, error_of, show_together, style_as, style_of
from abistore.cli.verbs import Options, verb
from abistore.errors import OutputError, StoreError, SurfaceDiffers
from abistore.model.envelope import concluded
from abistore.model.words import counted, in_line, json_text
from abistore.report import draft, render
from abistore.report.comment import comment as comment_on
from abistore.report.comment import rest_of
from abistore.report.formats.markdown import plain
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.report.model import Report, ReportedFinding
    from abistore.service.gating import GateResult
    from abistore.service.ingest_gates import Gate

SEVERITIES = {"breaking": "blocker", "api_break": "critical", "risk": "minor"}
"""GitLab's words (docs.gitlab.com, Code Quality report format); what is milder is ``info``."""

PLACED = frozenset({"github", "sarif"})
"""Formats whose readers open the files of the checkout."""

LONGEST_LINE = 400
"""Of a difference between surfaces, in characters."""

BREAKS = frozenset({"breaking", "api_break"})

LONGEST_COMMENT = 60_000
"""GitHub takes comments of 65,536 characters."""


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


def write_comment(path: Path, results: Sequence[GateResult]) -> None:
    """Write a comment about all files, which a pull request takes whole; an empty file where nothing is to be reviewed.

    Raises :class:`OutputError`.
    """
    if not any(map(_to_review, results)):
        write_file(path, b"")
        return
    room = LONGEST_COMMENT // len(results)
    texts = [
        plain(each.sentence)
        if (report := each.judged.verdict) is None
        else comment_on(report, room=room, rest=rest_of(report, each.judged.path)).text
        for each in results
    ]
    write_file(path, ("\n\n".join(texts) + "\n").encode())


def _in_checkout(report: Report, headers: Sequence[str | Path]) -> Report:
    """The report with each header where the checkout has it: ``foo.h`` of ``--header include`` is ``include/foo.h``."""
    folders = [Path(os.path.relpath(each)) for each in headers]
    folders = [each if each.is_dir() else each.parent for each in folders]

    def placed(location: str) -> str:
        file, colon, line = location.partition(":")
        found = (each / file for each in folders if (each / file).is_file())
        return location if Path(file).is_file() else f"{next(found, file)}{colon}{line}"

    changes = (
        replace(each, source_location=each.source_location and placed(each.source_location)) for each in report.changes
    )
    return replace(report, changes=tuple(changes))


def _to_review(result: GateResult) -> bool:
    """Whether a file fails, or passes with a break that is approved, allowed or suppressed."""
    report = result.judged.verdict
    found = (*report.changes, *report.suppressed) if report is not None else ()
    return result.exit_code != 0 or any({each.impact, each.default_impact} & BREAKS for each in found)


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


class GateOptions(Options, frozen=True):
    """What a build is judged against."""

    title: ClassVar[str] = "Baseline"
    channel: Channel = "release"
    merge_base: MergeBase = None
    introduced_only: Annotated[
        bool, Described("Fail only for breaks that the change since --merge-base introduced.")
    ] = False
    bootstrap: Annotated[bool, Described("Pass if the line never had a baseline.", main=True)] = False
    surface: Annotated[
        Path | None,
        Described("Fail if the public surface is not that in this file (`export --format surface`).", complete="file"),
    ] = None
    require_signed: Annotated[
        bool, Described("Fail unless the baseline has a tag that a trusted key signed (--allowed-signers).")
    ] = False

    def words(self) -> dict[str, Any]:
        """The same for the service."""
        return {name: value for name, value in asdict(self).items() if name != "require_signed"}


@verb("gate", gives={"files": "service.gating:gate"}, bisect=True)
def gate_command(
    settings: SharedSettings,
    paths: Annotated[tuple[Path, ...], Described(metavar="FILE...")],
    *,
    github: Annotated[
        bool, Described("Print annotations for GitHub, and append a summary to GITHUB_STEP_SUMMARY.")
    ] = False,
    gitlab: Annotated[Path | None, Described("Write a report of GitLab's Code Quality to this file.")] = None,
    comment: Annotated[
        Path | None,
        Described(
            "Write a comment for the pull request to this file, in Markdown; nothing where nothing breaks.",
            complete="file",
        ),
    ] = None,
    asked: GateOptions,
    rendering: Rendering,
    gating: AllowingOptions,
    build: BuildOptions,
    judging: JudgingOptions,
    reading: ReadingOptions,
    trusting: TrustOptions,
) -> int:
    """Say whether the build FILE may be merged and released. Nothing is stored.

    It is judged like `ingest --against baseline`: compared with the channel's release, with that release's evidence,
    the line's versioning and the approvals. The first line shows the decision, the last ones the ways to pass.

    With --merge-base, each break is new (introduced by this change) or existing. Existing breaks fail the gate too,
    unless --introduced-only is given.

    Exits with 0 (it passes), 2 (source break), 4 (binary break), 69 (another surface than --surface), 72 (missing
    evidence), 76 (a baseline without the required signature), or another code of 64 and above.

    \b
    abistore gate build/libfoo.so --version 1.4.0 --merge-base "$(git merge-base HEAD origin/main)"
    """
    from abistore.service.gating import GatePlan, gate
    from abistore.service.ingest_gates import IngestPlan

    if not asked.bootstrap:
        _check_database(settings.database, paths)
    with progress(settings) as advance:
        judged = _judged_by(gating, judging)
        ingesting = IngestPlan(**build.words(), gate=judged, options=build.options(reading, advance))
        trust = trusting.trust() if asked.require_signed else None
        plan = GatePlan(ingesting, **asked.words(), trust=trust)
        results = gate(paths, plan, database=settings.database, progress=advance)
    results = tuple(_filtered(each, rendering) for each in results)
    reports = [each.judged.verdict for each in results if each.judged.verdict is not None]
    headers = ingesting.options.headers
    placed = [_in_checkout(each, headers.headers if headers else ()) for each in reports]
    _platforms(settings, placed, _unreported(results), github=github, gitlab=gitlab)
    if comment is not None:
        write_comment(comment, results)
    _show(settings, results, placed if rendering.format in PLACED else reports, rendering)
    return max(each.exit_code for each in results)


def _judged_by(gating: AllowingOptions, judging: JudgingOptions) -> Gate:
    from abistore.service.ingest_gates import Gate

    return Gate(
        fail_on=gating.fail_on,
        allow=gating.allow,
        deprecation=gating.deprecation,
        consumers=gating.consumers,
        require=gating.required(),
        by=judging.ruling(gate=True),
    )


def _check_database(database: str | None, paths: tuple[Path, ...]) -> None:
    """Raise :class:`StoreError` where no database is there yet, with what answers without one."""
    from abistore.service.database import locate

    where = locate(database)
    if "://" not in where and not Path(where).exists():
        build = paths[0]
        inside = build.name if build.is_absolute() else build
        command = shlex.join(["abistore", "compare", f"../TAG/{inside}", str(build)])
        raise StoreError(
            f"{where}: no such database",
            "store the last release with `abistore ingest --set-baseline`, or build its tag in another folder "
            f"(git worktree add ../TAG TAG) and run `{command}`",
        )


def _filtered(result: GateResult, rendering: Rendering) -> GateResult:
    judged = result.judged
    if judged.verdict is None:
        return result
    return replace(result, judged=replace(judged, verdict=rendering.shown(judged.verdict)))


def _unreported(results: tuple[GateResult, ...]) -> list[str]:
    """Lines about files without a report: first builds, and builds that could not be judged."""
    return [each.sentence for each in results if each.judged.verdict is None]


def _platforms(
    settings: SharedSettings, reports: list[Report], unreported: list[str], *, github: bool, gitlab: Path | None
) -> None:
    """What the platform of the pipeline shows: annotations, a summary, a quality report."""
    if not (github or gitlab):
        return

    if github:
        show_on_github(settings, reports, unreported)
    if gitlab is not None:
        write_for_gitlab(gitlab, reports)


def _show(
    settings: SharedSettings, results: tuple[GateResult, ...], reports: list[Report], rendering: Rendering
) -> None:
    if settings.json or rendering.json_file is not None:
        _hold(settings, results, rendering.json_file)
    if reports and rendering.file is not None and rendering.json_file is None:
        show_together(settings, reports, rendering)
    if not settings.json:
        _say(settings, results, reports, rendering)
    for each in results:
        if each.judged.code and not settings.json:
            say_error(each.judged.error, each.judged.hint)
        if each.untold:
            note(settings, f"new and existing breaks cannot be separated: {each.untold}", "note")


def _hold(settings: SharedSettings, results: tuple[GateResult, ...], file: Path | None) -> None:
    code = max(each.exit_code for each in results)
    judged = [each.judged for each in results]
    decisions = (each.verdict.decision if each.verdict is not None else each.decision for each in judged)
    answer(
        settings,
        {"files": [_hidden(each) for each in results]},
        str,
        conclusion=concluded(decisions, code),
        error=error_of(judged, code),
        file=file,
    )


def _hidden(result: GateResult) -> GateResult:
    return replace(result, judged=replace(result.judged, path=masked(result.judged.path)))


def _say(
    settings: SharedSettings, results: tuple[GateResult, ...], reports: list[Report], rendering: Rendering
) -> None:
    """Say on the terminal, or in the log of a job, what decides."""
    told = [each for each in results if each.judged.verdict or not each.judged.code]  # an error is said by itself
    if rendering.format == "text" and rendering.file is None:
        answer(settings, {}, lambda: "\n".join(line for each in told for line in _lines(settings, each, rendering)))
    elif not reports:  # no format has a document of first builds; errors follow
        for each in results:
            if not each.judged.code:
                say(each.sentence, err=rendering.format != "markdown" or rendering.file is not None)
    elif rendering.file is None:
        show_together(settings, reports, rendering)
    else:
        say("\n".join(line for each in told for line in (each.sentence, *_ways(each))))


def _lines(settings: SharedSettings, result: GateResult, rendering: Rendering) -> Iterator[str]:
    yield result.sentence
    report = result.judged.verdict
    if settings.verbosity < 0:
        return
    if report is not None and (report.changes or report.suppressed):
        shown = msgspec.structs.replace(report, decision=None)  # the first and the last lines say it
        yield from ("", draft(shown, "text", style_as(settings, rendering)), "")
    elif report is not None:
        yield from (f"note: {each}" for each in report.notes)
    if result.merge_base:
        introduced = counted(len(result.introduced), "new break")
        yield f"compared with merge base {result.merge_base}: {introduced}, {len(result.inherited)} existing"
    yield from _surface(result)
    yield from _ways(result)


def _surface(result: GateResult) -> Iterator[str]:
    found = result.surface
    if found is not None and found.state != "same":
        yield from (in_line(line, LONGEST_LINE) for line in found.difference)
        if result.judged.code != SurfaceDiffers.code:  # else the error is shown
            yield f"{found.file}: is not the public surface of this build; to accept it: {found.refresh}"


def _ways(result: GateResult) -> Iterator[str]:
    if result.ways:
        yield "to pass, do one of these:"
        yield from (f"  - {way}" for way in result.ways)
