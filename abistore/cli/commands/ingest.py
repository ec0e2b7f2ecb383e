"""``ingest``: store files, one release each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from abistore.cli.groups import WORDS
from abistore.cli.options.extracting import ExtractingOptions, extract_options
from abistore.cli.options.ruling import ruling_options, show_only_option
from abistore.cli.options.shared import FILE, SharedSettings, said_options, store_command, version_from_option
from abistore.cli.output import answer, note, say_error
from abistore.cli.rendering import (
    Rendering,
    allow_option,
    deprecation_option,
    fail_on_option,
    report_options,
    require_option,
    show_together,
    style_as,
    style_of,
)
from abistore.cli.words import against_words, channel_words, library_words
from abistore.confinement import exists
from abistore.errors import UsageError
from abistore.model.labels.naming import MOST_LETTERS
from abistore.model.words.counting import counted
from abistore.report import draft
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.model.snapshot import Evidence
    from abistore.report.model import Report
    from abistore.report.style import Style
    from abistore.service.ingest.gates import Gate
    from abistore.service.ingest.results import Ingested
    from abistore.service.judging.filtering import Filter

LOOKS_LIKE_FILE = re.compile(r"\.(?:so|json)(?:\.|$)")


def _channel(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse a file as a channel: in ``--set-baseline lib.so`` the file would become the option's value."""
    if value is None or {f"{name}={value}" for name in parameter.opts} & set(ctx.meta.get(WORDS, ())):
        return value
    if "/" in value or LOOKS_LIKE_FILE.search(value) or exists(Path(value)):
        hint = f"write {parameter.opts[0]}=CHANNEL, or the files first"
        raise click.BadParameter(f"{value[:MOST_LETTERS]} looks like a file; {hint}")
    return value


_replace = click.option("--replace", is_flag=True, help="Replace another binary that is stored under this version.")
_replace_baseline = click.option(
    "--replace-baseline",
    metavar="REASON",
    default="",
    help="With --replace: replace a baseline's release too. REASON goes into the baseline's history.",
)


def replace_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--replace`` and ``--replace-baseline``."""
    return _replace(_replace_baseline(command))


@click.command("ingest")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option("--library", shell_complete=library_words, help="The library's name; by default its SONAME's stem.")
@click.option("--version", help="The release's version, for all files given.")
@version_from_option
@click.option(
    "--target",
    "--arch",
    help="Refuse files for another platform: elf-x86_64-64-little, or just x86_64. Of a universal file take this one.",
)
@click.option("--profile", help="The build profile, e.g. debug or musl.  [default: default]")
@replace_options
@said_options
@click.option("--suite", default="", help="The part of the distribution that packages are from, e.g. bookworm.")
@click.option("--tag", "tags", multiple=True, help="Put this word on the release, such as lts. May be repeated.")
@click.option("--expected-digest", help="Refuse a file whose digest does not begin with these digits.")
@click.option("--dry-run", is_flag=True, help="Say what would become of each file, and write nothing.")
@click.option("--actor", default="", help="Who ingests, for the audit; by default the user's name.")
@click.option(
    "--set-baseline",
    "channel",
    is_flag=False,
    flag_value="release",
    metavar="[CHANNEL]",
    callback=_channel,
    shell_complete=channel_words,
    help="Move this baseline channel to the new release if that passes beside the one at which it stands; without a "
    "value the channel `release`.",
)
@click.option(
    "--set-baseline-if-none",
    "first_channel",
    is_flag=False,
    flag_value="release",
    metavar="[CHANNEL]",
    callback=_channel,
    shell_complete=channel_words,
    help="Like --set-baseline, but only if the channel is not set yet.",
)
@click.option(
    "--against",
    metavar="WHAT",
    shell_complete=against_words,
    help="Judge each file against baseline, baseline:CHANNEL, prev, latest or a version. "
    "A file that fails is not stored.",
)
@click.option("--keep-failed", is_flag=True, help="Keep a file that fails as a candidate: libfoo@candidate:VERSION.")
@report_options
@fail_on_option
@allow_option("scheme")
@deprecation_option
@require_option
@show_only_option
@ruling_options
@extract_options
@store_command
def ingest_command(
    settings: SharedSettings,
    /,
    *,
    paths: tuple[Path, ...],
    extracting: ExtractingOptions,
    shown: Filter,
    rendering: Rendering,
    **words: Any,
) -> int:
    """Store the snapshot of each library (or JSON snapshot) FILE as a release.

    A file that is stored already is not read again and changes nothing. If one file fails, the others are stored.

    A package (.deb, .rpm, .whl, .conda, .zip, tar) or a folder is one release of all libraries in it, each in its own
    line, under the package's version: all are stored or none, and one verdict, the worst, decides.

    With --against, each file is judged before it is stored; with --replace, also against the release that it replaces.
    Its evidence must show no less than the other side's, unless --require says otherwise or --fail-on is never. A file
    that fails is not stored: repair it and run the command again. A release that may break (--allow) passes. With
    --format or -o the reports of all files are one document.

    Exits with 0, with the worst verdict's code (2, 4) if --against is given, or with the highest code of the files that
    failed (64 and above; 72 for missing evidence).
    """
    from abistore.cli.progress import progress
    from abistore.service.ingest.ingesting import ingest
    from abistore.service.ingest.results import IngestPlan

    gate = _gate(words)
    plan = IngestPlan(**words, gate=gate, options=extracting.options(words["library"], words["version"]))
    with progress(settings) as advance:
        results = ingest(paths, plan, database=settings.database, progress=advance)
    return show_ingested(settings, tuple(_filtered(each, shown) for each in results), rendering)


def _gate(words: dict[str, Any]) -> Gate:
    """The gate that the options describe; they are taken out of ``words``."""
    from abistore.service.ingest.gates import Gate
    from abistore.service.judging.evidence import requirement

    channel, first = words.pop("channel"), words.pop("first_channel")
    if channel is not None and first is not None:
        raise UsageError("--set-baseline and --set-baseline-if-none contradict each other", "pass one of them")
    return Gate(
        against=words.pop("against"),
        fail_on=words.pop("fail_on"),
        allow=words.pop("allow"),
        deprecation=words.pop("deprecation"),
        require=requirement(words.pop("require")),
        by=words.pop("by"),
        keep_failed=words.pop("keep_failed"),
        channel=channel if first is None else first,
        if_unset=first is not None,
    )


def _filtered(result: Ingested, shown: Filter) -> Ingested:
    verdict, other = (shown(each) if each else None for each in (result.verdict, result.other_verdict))
    return msgspec.structs.replace(result, verdict=verdict, other_verdict=other)


def show_ingested(settings: SharedSettings, results: tuple[Ingested, ...], rendering: Rendering | None = None) -> int:
    """Print what became of each file, and return the exit code of the call.

    Where a format or a file is asked for, the reports of all files are written as one document.
    """
    code = max(result.exit_code for result in results)
    errors = [result for result in results if result.code]
    failed = sum(result.status == "failed" for result in results)
    files = [msgspec.structs.replace(result, path=masked(result.path)) for result in results]
    document = {"exit_code": code, "failed": failed, "files": files}
    if settings.json and errors:
        first = errors[0]
        document = {"status": "error", "code": first.code, "error": first.error, "hint": first.hint} | document
    reports = [each for result in results for each in (result.verdict, result.other_verdict) if each is not None]
    alone = rendering is not None and rendering.format != "text" and rendering.output is None
    if settings.json or not (alone and reports):
        style = style_of(settings, full=False) if rendering is None else style_as(settings, rendering)
        answer(
            settings, document, lambda: "\n".join(line for each in results for line in _lines(settings, each, style))
        )
    if rendering is not None and (alone or rendering.output is not None) and (reports or not errors):
        _show_reports(settings, reports, rendering)
    if not settings.json:
        for result in errors:
            say_error(result.error, result.hint)
    for hint in dict.fromkeys(_hints(results)):
        note(settings, f"hint: {hint}")
    return code


def _show_reports(settings: SharedSettings, reports: list[Report], rendering: Rendering) -> None:
    """The reports of all files as one document, where a format or a file is asked for."""
    if not reports:
        note(settings, "note: no report was written: nothing was judged (--against)")
    elif rendering.output is not None or not settings.json:
        show_together(settings, reports, rendering)


def _hints(results: Iterable[Ingested]) -> Iterator[str]:
    for result in results:
        yield from _hints(result.members)
        if result.release is not None:
            yield from (lack.hint for lack in _lacks(result.release.evidence) if lack.hint)
        if result.hint and not result.code:
            yield result.hint
        if result.status == "refused":
            yield "nothing was stored: repair it and ingest it again, or keep it as a candidate with --keep-failed"


def _lines(settings: SharedSettings, result: Ingested, style: Style) -> Iterator[str]:
    if settings.verbosity < 0:
        if result.verdict is not None:
            from abistore.report.heading import stat

            yield f"{stat(result.verdict)}{_not_stored(result)}"
        return
    yield from _members(result)
    named = result.dry_run and result.status != "failed" and masked(result.path)
    label = "" if result.members else _label(result) or named
    if label:
        yield f"{'would be ' if result.dry_run else ''}{result.status:8}  {label}"
    for report in (result.verdict, result.other_verdict):
        if report is not None:
            yield from ("", draft(report, "text", style), "")


def _members(result: Ingested) -> Iterator[str]:
    """A line for each library of a package; their verdict is one, and follows."""
    names = Counter(member.release.line.library for member in result.members if member.release)
    for member in result.members:
        several = member.release is not None and names[member.release.line.library] > 1
        label = _label(member, with_target=several) or masked(member.path.removeprefix(f"{result.path}/"))
        yield f"{'would be ' if member.dry_run else ''}{member.status:8}  {label}"
    if result.members:
        package = f"{len(result.members)} libraries of {masked(Path(result.path).name)}"
        yield ", ".join(filter(None, (package, result.unjudged and f"not judged: {result.unjudged}", *result.notes)))


def _not_stored(result: Ingested) -> str:
    return {"refused": "; not stored", "candidate": "; kept as a candidate"}.get(result.status, "")


def _label(result: Ingested, *, with_target: bool = False) -> str:
    """What a file is stored as, or would be."""
    stored, judged = result.release, result.verdict
    if stored is not None:
        target = f" ({stored.line.target})" if with_target else ""
        name, seen = f"{stored.line.library} {stored.version}{target}", (stored.digest, stored.exports, stored.evidence)
    elif judged is not None:
        name, seen = str(judged.new), (judged.new.digest, judged.new.exports, judged.new.evidence)
    else:
        return ""
    digest, exports, evidence = seen
    mended = (f"metadata mended: {', '.join(result.mended)}",) if result.mended else ()
    notes = "".join(f", {note}" for note in (*mended, *result.notes))
    baseline = f", now baseline {result.baseline}" if result.baseline else ""
    unjudged = f", not judged: {result.unjudged}" if result.unjudged else ""
    said = f"{counted(exports, 'export')}{notes}{_unseen(evidence)}{baseline}{unjudged}"
    return f"{name}  {digest[:12]}  {said}"


def _unseen(evidence: tuple[Evidence, ...]) -> str:
    return "".join(f", {lack.facet} {lack.state}: {lack.detail or lack.reason}" for lack in _lacks(evidence))


def _lacks(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """The facets that were read and not seen in full, or without some classes. Told before a comparison needs them."""
    return tuple(seen for seen in evidence if not seen.is_whole and seen.reason != "not-requested")
