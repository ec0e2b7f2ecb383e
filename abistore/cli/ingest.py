"""``ingest``: many files in, one release each."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.extracting import Extracting, extract_options
from abistore.cli.options import FILE, Settings, output_options, pass_settings, said_options, store_option
from abistore.cli.output import answer, note, say_error
from abistore.cli.rendering import fail_on_option, style_of
from abistore.cli.ruling import ruling_options, show_only_option
from abistore.cli.words import against_words, channel_words, library_words
from abistore.model.counting import counted
from abistore.report import draft
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.model.history import Release
    from abistore.model.snapshot import Evidence
    from abistore.service.filtering import Filter
    from abistore.service.ingesting import Ingested

LOOKS_LIKE_FILE = re.compile(r"\.(?:so|json)(?:\.|$)")
SOURCES = ("filename", "folder", "soname")


def _channel(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse a channel that is a file: ``--set-baseline lib.so`` takes its value from the files."""
    if value and ("/" in value or LOOKS_LIKE_FILE.search(value) or Path(value).exists()):
        raise click.BadParameter(f"{value} looks like a file; write --set-baseline=CHANNEL, or the files first")
    return value


@click.command("ingest")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option("--library", shell_complete=library_words, help="The library's name; by default its SONAME's stem.")
@click.option("--version", help="The release's version, for all files given.")
@click.option(
    "--version-from",
    type=click.Choice(SOURCES),
    help="Take each version from the file's name (libz.so.1.3.1), its folder's (1.3.1/libz.so) or the SONAME; "
    "files whose paths tell their versions are taken oldest first.",
)
@click.option("--target", help="Refuse files for another platform: elf-x86_64-64-little, or just x86_64.")
@click.option("--profile", help="The build profile, e.g. debug or musl; default unless given.")
@click.option("--replace", is_flag=True, help="Replace another binary stored under this version.")
@said_options
@click.option("--actor", default="", help="Who ingests, for the audit; by default the user's name.")
@click.option(
    "--set-baseline",
    "channel",
    is_flag=False,
    flag_value="release",
    metavar="[CHANNEL]",
    callback=_channel,
    shell_complete=channel_words,
    help="Move this baseline channel (release unless named: --set-baseline=main) to what was stored, "
    "where --against lets it pass.",
)
@click.option(
    "--against",
    metavar="WHAT",
    shell_complete=against_words,
    help="Judge each release against baseline, baseline:CHANNEL, prev or a version.",
)
@fail_on_option
@show_only_option
@ruling_options
@extract_options
@store_option
@output_options
@pass_settings
def ingest_command(
    settings: Settings, /, *, paths: tuple[Path, ...], extracting: Extracting, shown: Filter, **words: Any
) -> int:
    """Store the snapshot of each library (or JSON snapshot) FILE as a release.

    The same file again changes nothing and is not read again. A file that fails leaves the others stored.

    Exits with 0, or with the worst verdict's code (2, 4) where --against is given, or with the highest code of
    the files that failed (64 and above).
    """
    from abistore.cli.progress import progress
    from abistore.service.ingesting import IngestPlan, ingest

    plan = IngestPlan(**words, options=extracting.options(words["library"], words["version"]))
    with progress(settings) as advance:
        results = ingest(paths, plan, database=settings.database, progress=advance)
    results = tuple(replace(each, verdict=shown(each.verdict)) if each.verdict else each for each in results)
    return show_ingested(settings, results)


def show_ingested(settings: Settings, results: tuple[Ingested, ...]) -> int:
    """Print what became of each file, and return the exit code of the call."""
    code = max(result.exit_code for result in results)
    failed = [result for result in results if result.status == "failed"]
    files = [replace(result, path=masked(result.path)) for result in results]
    document = {"exit_code": code, "failed": len(failed), "files": files}
    if settings.json and failed:
        document = {
            "status": "error",
            "code": failed[0].code,
            "error": failed[0].error,
            "hint": failed[0].hint,
        } | document
    answer(settings, document, lambda: "\n".join(_lines(settings, results)))
    if not settings.json:
        for result in failed:
            say_error(result.error, result.hint)
    releases = [result.release for result in results if result.release is not None]
    for hint in dict.fromkeys(lack.hint for release in releases for lack in _lacks(release) if lack.hint):
        note(settings, f"hint: {hint}")
    return code


def _lines(settings: Settings, results: tuple[Ingested, ...]) -> list[str]:
    lines = []
    for result in results:
        release = result.release
        if release is not None and settings.verbosity >= 0:
            status = "stored" if result.status == "failed" else result.status
            baseline = f", now baseline {result.baseline}" if result.baseline else ""
            mended = (f"metadata mended: {', '.join(result.mended)}",) if result.mended else ()
            notes = "".join(f", {note}" for note in (*mended, *result.notes))
            unjudged = f", not judged: {result.unjudged}" if result.unjudged else ""
            lines.append(
                f"{status:8}  {release.line.library} {release.version}  {release.digest[:12]}  "
                f"{counted(release.exports, 'export')}{notes}{_unseen(release)}{baseline}{unjudged}"
            )
        if result.verdict is not None:
            lines += ["", draft(result.verdict, "text", style_of(settings, full=False)), ""]
    return lines


def _unseen(release: Release) -> str:
    return "".join(f", {lack.facet} {lack.state}: {lack.detail or lack.reason}" for lack in _lacks(release))


def _lacks(release: Release) -> tuple[Evidence, ...]:
    """What was looked for and not seen in whole, so that nobody finds out at the next comparison."""
    return tuple(seen for seen in release.evidence if seen.state != "full" and seen.reason != "not-requested")
