"""``ingest``, ``import``, ``export``, ``generate`` and ``site``: what is stored, and files and pages made from it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from abistore.cli.commands.db import merge_options, show_merged
from abistore.cli.main import WORDS, SuggestingGroup
from abistore.cli.options import (
    FILE,
    SharedSettings,
    against_words,
    channel_words,
    library_words,
    line_options,
    reference_words,
    said_options,
    store_command,
    version_from_option,
)
from abistore.cli.output import answer, is_file, note, say_error, write_file, write_snapshot
from abistore.cli.reading_options import ExtractingOptions, extract_options, ruling_options, show_only_option
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
from abistore.errors import UsageError
from abistore.files import exists
from abistore.model.versions import MOST_LETTERS
from abistore.model.words import counted
from abistore.report import draft
from abistore.service.generate import FORMATS, GeneratedFormat
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.model.history import Side
    from abistore.model.snapshot import Evidence
    from abistore.report.model import Report, Style
    from abistore.service.ingest_gates import Gate, Ingested
    from abistore.service.judging import Filter
    from abistore.service.ruling import Ruling
    from abistore.service.site import SiteBuilt

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
    from abistore.cli.output import progress
    from abistore.service.ingest import ingest
    from abistore.service.ingest_gates import IngestPlan

    gate = _gate(words)
    plan = IngestPlan(**words, gate=gate, options=extracting.options(words["library"], words["version"]))
    with progress(settings) as advance:
        results = ingest(paths, plan, database=settings.database, progress=advance)
    return show_ingested(settings, tuple(_filtered(each, shown) for each in results), rendering)


def _gate(words: dict[str, Any]) -> Gate:
    """The gate that the options describe; they are taken out of ``words``."""
    from abistore.service.ingest_gates import Gate
    from abistore.service.judging import requirement

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
            from abistore.report.outline import stat

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


@click.command("export")
@click.argument("what", metavar="[REFERENCE]...", nargs=-1, shell_complete=reference_words)
@click.option("-o", "--output", type=FILE, help="Write to this file instead of standard output.")
@click.option("--bundle", is_flag=True, help="Write one file that `import` and `db merge` read, with nothing left out.")
@click.option("--channel", help="With --bundle: the releases at which this baseline stands.")
@line_options
@store_command
def export_command(
    settings: SharedSettings,
    /,
    *,
    what: tuple[str, ...],
    output: Path | None,
    bundle: bool,
    channel: str | None,
    **words: Any,
) -> None:
    """Write the stored snapshot that REFERENCE names as JSON, or with --bundle a whole database as one file.

    A bundle has all releases, candidates, baselines, verdicts, approvals, reviews and the audit; of the libraries and
    releases that are named, what belongs to them. The same database gives the same bytes.
    """
    if bundle:
        _export_bundle(settings, what, output, channel=channel, **words)
        return
    if len(what) != 1 or channel is not None:
        hint = "name one REFERENCE, or pass --bundle for several, or for all"
        raise UsageError("one snapshot is exported as JSON", hint)
    from abistore.service.imports import export

    exported = export(what[0], database=settings.database, **words)
    release, data = exported.release, exported.json
    write_snapshot(settings, output, data, {"release": release})
    if is_file(output):
        note(settings, f"{output}: {release.line.library} {release.version}, {len(data) + 1:,} bytes")


def _export_bundle(settings: SharedSettings, what: tuple[str, ...], output: Path | None, **words: Any) -> None:
    from abistore.service.imports import export_bundle

    if not is_file(output):
        raise UsageError("a bundle is no text", "name a file with -o")
    made = export_bundle(what, database=settings.database, **words)
    write_file(output, made.data)
    told = {"output": str(output), "bytes": len(made.data), "whole": made.whole}
    chosen = {"libraries": made.libraries, "releases": made.releases}
    answer(settings, {**told, **chosen}, lambda: f"{output}: {len(made.data):,} bytes")


@click.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FILE)
@click.option("--library", shell_complete=library_words, help="The library's name; by default the snapshot's own.")
@click.option("--version", help="The release's version; by default the snapshot's own.")
@click.option(
    "--versions",
    type=FILE,
    help='A list of versions: CSV with FILE,VERSION in each line, or TOML with "FILE" = "VERSION".',
)
@click.option("--target", help="The platform of dumps that do not tell their own, such as x86_64.")
@click.option("--profile", help="The build profile; by default the one that the snapshot was exported from.")
@click.option(
    "--approvals",
    is_flag=True,
    help="Take over what the snapshots say is approved. Without it such approvals are left out, and told.",
)
@replace_options
@merge_options
@store_command
def import_command(
    settings: SharedSettings,
    /,
    *,
    paths: tuple[Path, ...],
    versions: Path | None,
    prefer: Side | None,
    dry_run: bool,
    **words: Any,
) -> int:
    """Store each JSON snapshot PATH (from `dump` or `export`) as a release; - is standard input.

    A PATH may also be another tool's dump (ABIXML, an ABICC dump, a Debian symbols file), or a folder of dumps. Their
    versions are those of --versions, of the dump itself or of its name (libfoo-1.2.3.abi); they are stored oldest
    first.
    If one file fails, the others are stored.

    A PATH that is a bundle (`export --bundle`) is brought in as `db merge` does, with its baselines, verdicts,
    approvals and audit. Take only bundles of people who may write to this database.
    """
    from abistore.service.imports import MergePlan, import_bundles, is_bundle

    if any(map(is_bundle, paths)):
        return show_merged(
            settings, import_bundles(paths, MergePlan(prefer=prefer, dry_run=dry_run), database=settings.database)
        )
    if prefer or dry_run:
        raise UsageError("--prefer and --dry-run are for bundles", "leave them out, or import a bundle")
    from abistore.cli.output import progress
    from abistore.service.imports import import_
    from abistore.service.ingest_gates import IngestPlan
    from abistore.service.snapshots import ExtractOptions

    plan = IngestPlan(**words, options=ExtractOptions(library=words["library"], version=words["version"]))
    with progress(settings) as advance:
        results = import_(paths, plan, versions=versions, database=settings.database, progress=advance)
    return show_ingested(settings, results)


@click.group("site", cls=SuggestingGroup)
def site_command() -> None:
    """Write the history as static HTML pages, for people who read and do not type."""


@site_command.command("build")
@click.argument("out", type=FILE)
@click.option("--title", default="ABI history", show_default=True, help="What the site is called.")
@click.option(
    "--channel",
    default="release",
    show_default=True,
    shell_complete=channel_words,
    help="The baseline that each release is judged against, beside the one before it.",
)
@click.option("--no-judge", is_flag=True, help="Show stored verdicts only, and judge nothing now.")
@ruling_options
@store_command
def build_command(
    settings: SharedSettings, /, *, out: Path, title: str, channel: str, no_judge: bool, by: Ruling | None
) -> None:
    """Write a site to the folder OUT: libraries, releases, findings with drawings, and kinds of change.

    The pages need no server and no network: open OUT/index.html. OUT is new, empty, or has an earlier build, of which
    only what changed is written. What the earlier build wrote and is over is removed; files of others are left alone.
    """
    from abistore.cli.output import progress
    from abistore.service.site import SitePlan, build_site

    plan = SitePlan(title, channel, judge=not no_judge)
    with progress(settings) as advance:
        built = build_site(out, plan, database=settings.database, progress=advance, by=by)
    answer(settings, {"site": built}, lambda: "\n".join(_built(built)))


def _built(built: SiteBuilt) -> Iterator[str]:
    libraries = counted(built.libraries, "library", "libraries")
    yield f"{built.index}: {libraries}, {counted(built.releases, 'release')}"
    yield f"{counted(built.written, 'file')} written, {built.unchanged} unchanged, {built.removed} removed"


@click.command("generate")
@click.argument("format", type=click.Choice(FORMATS), metavar="FORMAT")
@click.argument("reference", shell_complete=reference_words)
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write to this file.")
@line_options
@store_command
def generate_command(
    settings: SharedSettings, /, *, format: GeneratedFormat, reference: str, output: Path | None, **words: Any
) -> None:
    """Write a file for another tool, about REFERENCE: a release, or a library's latest.

    \b
    debian-symbols        each symbol with the version that brought it (deb-symbols)
    version-script        for the linker: a version for the symbols of each release
    abigail-suppressions  exports that no public header declares, and accepted breaks
    abicc-skip-symbols    the same for abi-compliance-checker: symbols
    abicc-skip-types      and types

    \b
    abistore generate debian-symbols libfoo -o debian/libfoo1.symbols
    abistore generate version-script libfoo@1.2.0
    """
    from abistore.service.generate import generate

    made = generate(format, reference, database=settings.database, **words)
    if not is_file(output):
        answer(settings, {"generated": made}, lambda: made.text.removesuffix("\n"))
        return
    write_file(output, made.text.encode())
    note(settings, f"{output}: {made.format} of {made.release}, counted from {made.counted_from}")
