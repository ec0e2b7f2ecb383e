"""``ingest``, ``import``, ``export`` and ``site``: what is stored, and files and pages made from it."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

import click
import msgspec

from abistore.arguments import (
    Actor,
    AdmittedAgainst,
    Channel,
    Described,
    DryRun,
    ExpectedDigest,
    KeepFailed,
    Output,
    Tags,
)
from abistore.cli.commands.db import MergingOptions, show_merged
from abistore.cli.main import WORDS
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, is_file, note, progress, say_error, write_file, write_snapshot
from abistore.cli.reading_options import BuildOptions, FactOptions, JudgingOptions, LineOptions, ReadingOptions
from abistore.cli.rendering import AllowingOptions, Rendering, error_of, show_together, style_as, style_of
from abistore.cli.verbs import Options, verb
from abistore.errors import UsageError
from abistore.files import exists
from abistore.model.envelope import concluded
from abistore.model.versions import MOST_LETTERS
from abistore.model.words import counted
from abistore.report import draft
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.model.decision import Decision
    from abistore.model.snapshot import Evidence
    from abistore.report.model import Report, Style
    from abistore.service.generate import GeneratedFormat
    from abistore.service.ingest_gates import Gate, Ingested, IngestPlan
    from abistore.service.site import SiteBuilt
    from abistore.service.snapshots import ExtractOptions

LOOKS_LIKE_FILE = re.compile(r"\.(?:so|json)(?:\.|$)")


def _channel(value: str) -> str:
    """Refuse a file as a channel: in ``--set-baseline lib.so`` the file would become the option's value."""
    words = set(click.get_current_context().meta.get(WORDS, ()))
    if words & {f"{name}={value}" for name in ("--set-baseline", "--set-baseline-if-none")}:
        return value
    if "/" in value or LOOKS_LIKE_FILE.search(value) or exists(Path(value)):
        hint = "write --set-baseline=CHANNEL, or the files first"
        raise click.BadParameter(f"{value[:MOST_LETTERS]} looks like a file; {hint}")
    return value


class ReplacingOptions(Options, frozen=True):
    """What becomes of another binary under the same version."""

    title: ClassVar[str] = "Replacing"
    replace: Annotated[bool, Described("Replace the binary that is stored under this version.")] = False
    replace_baseline: Annotated[
        str,
        Described(
            "With --replace: replace a baseline's release too. REASON is recorded in the baseline's history.",
            metavar="REASON",
        ),
    ] = ""


class AdmissionOptions(Options, frozen=True):
    """What a file is judged against before it is stored, and which baseline moves."""

    title: ClassVar[str] = "Gate and baseline"
    against: AdmittedAgainst = None
    keep_failed: KeepFailed = False
    set_baseline: Annotated[
        str | None,
        Described(
            "Move this baseline channel to the new release if the release passes against the current baseline; "
            "without a value the channel `release`.",
            metavar="[CHANNEL]",
            complete="channel",
            bare="release",
            check=_channel,
            main=True,
        ),
    ] = None
    set_baseline_if_none: Annotated[
        str | None,
        Described(
            "Like --set-baseline, but only if the channel is not set yet.",
            metavar="[CHANNEL]",
            complete="channel",
            bare="release",
            check=_channel,
        ),
    ] = None

    def check(self) -> None:
        """Raise :class:`UsageError` for both ways to set a baseline."""
        if self.set_baseline is not None and self.set_baseline_if_none is not None:
            raise UsageError("--set-baseline and --set-baseline-if-none contradict each other", "pass one of them")

    def gate(self, gating: AllowingOptions, judging: JudgingOptions) -> Gate:
        """The gate that the options describe."""
        from abistore.service.ingest_gates import Gate

        first = self.set_baseline_if_none
        channel = self.set_baseline if first is None else first
        return Gate(
            against=self.against,
            fail_on=gating.fail_on,
            allow=gating.allow,
            deprecation=gating.deprecation,
            consumers=gating.consumers,
            require=gating.required(),
            by=judging.ruling(gate=bool(self.against or channel)),
            keep_failed=self.keep_failed,
            channel=channel,
            if_unset=first is not None,
        )


class StoringOptions(Options, frozen=True):
    """What is said with a release that is stored, and what refuses its file."""

    title: ClassVar[str] = "Storing"
    tag: Tags = ()
    suite: Annotated[str, Described("The suite of the distribution that packages come from, e.g. bookworm.")] = ""
    expected_digest: ExpectedDigest = None
    actor: Actor = ""


def ingest_plan(
    build: BuildOptions, storing: StoringOptions, replacing: ReplacingOptions, gate: Gate, reading: ReadingOptions
) -> IngestPlan:
    """What the options say for every file."""
    from abistore.service.ingest_gates import IngestPlan

    return IngestPlan(
        **build.words(),
        **msgspec.structs.asdict(replacing),
        tags=storing.tag,
        expected_digest=storing.expected_digest,
        actor=storing.actor,
        gate=gate,
        options=build.options(reading, suite=storing.suite),
    )


Files: TypeAlias = Annotated[tuple[Path, ...], Described(metavar="FILE...")]


@verb("ingest", gives={"files": "service.ingest:ingest"})
def ingest_command(
    settings: SharedSettings,
    paths: Files,
    *,
    dry_run: DryRun = False,
    build: BuildOptions,
    storing: StoringOptions,
    admission: AdmissionOptions,
    said: FactOptions,
    replacing: ReplacingOptions,
    rendering: Rendering,
    gating: AllowingOptions,
    judging: JudgingOptions,
    reading: ReadingOptions,
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

    \b
    abistore ingest build/libfoo.so --version 1.2.0 --header include --set-baseline
    abistore ingest build/libfoo.so --version 1.3.0 --header include --against baseline
    """
    from abistore.service.ingest import ingest

    with progress(settings) as advance:
        plan = ingest_plan(build, storing, replacing, admission.gate(gating, judging), reading)
        plan = msgspec.structs.replace(plan, dry_run=dry_run, **msgspec.structs.asdict(said))
        results = ingest(paths, plan, database=settings.database, progress=advance)
    return show_ingested(settings, tuple(_filtered(each, rendering) for each in results), rendering)


def _filtered(result: Ingested, rendering: Rendering) -> Ingested:
    verdict, other = (each and rendering.shown(each) for each in (result.verdict, result.other_verdict))
    return msgspec.structs.replace(result, verdict=verdict, other_verdict=other)


def show_ingested(settings: SharedSettings, results: tuple[Ingested, ...], rendering: Rendering | None = None) -> int:
    """Print what became of each file, and return the exit code of the call.

    Where a format or a file is asked for, the reports of all files are written as one document.
    """
    code = max(result.exit_code for result in results)
    errors = [result for result in results if result.code]
    files = [msgspec.structs.replace(result, path=masked(result.path)) for result in results]
    reports = [each for result in results for each in (result.verdict, result.other_verdict) if each is not None]
    alone = rendering is not None and rendering.format != "text" and rendering.file is None
    if settings.json or not (alone and reports):
        style = style_of(settings, full=False) if rendering is None else style_as(settings, rendering)
        answer(
            settings,
            {"files": files},
            lambda: "\n".join(line for each in results for line in _lines(settings, each, style)),
            conclusion=concluded(_decisions(results), code),
            error=error_of(results, code),
            file=rendering.json_file if rendering is not None else None,
        )
    if rendering is not None and rendering.json_file is None and (alone or rendering.file is not None):
        _show_reports(settings, reports, rendering, bool(errors))
    if not settings.json:
        for result in errors:
            say_error(result.error, result.hint)
    for hint in dict.fromkeys(_hints(results)):
        note(settings, hint, "hint")
    return code


def _decisions(results: Iterable[Ingested]) -> Iterator[Decision | None]:
    for each in results:
        yield each.decision
        yield each.other_verdict.decision if each.other_verdict is not None else None
        yield from _decisions(each.members)


def _show_reports(settings: SharedSettings, reports: list[Report], rendering: Rendering, failed: bool) -> None:
    """The reports of all files as one document, where a format or a file is asked for."""
    if rendering.file is None and settings.json:
        return
    if reports:
        show_together(settings, reports, rendering)
    elif not failed:
        note(settings, "no report was written: nothing was judged (--against)", "note")


def _hints(results: Iterable[Ingested]) -> Iterator[str]:
    for result in results:
        yield from _hints(result.members)
        if result.release is not None:
            yield from (lack.hint for lack in _lacks(result.release.evidence) if lack.hint)
        if result.hint and not result.code:
            yield result.hint
        if result.status == "refused":
            yield (
                "nothing was stored: fix the break and ingest again, or keep the build as a candidate with "
                "--keep-failed"
            )


def _lines(settings: SharedSettings, result: Ingested, style: Style) -> Iterator[str]:
    if settings.verbosity < 0:
        if result.verdict is not None:
            from abistore.report.reasons import stat

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
    mended = (f"metadata corrected: {', '.join(result.mended)}",) if result.mended else ()
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


FORMATS: TypeAlias = Literal[
    "json", "surface",
    "debian-symbols", "version-script", "abigail-suppressions", "abicc-skip-symbols", "abicc-skip-types",
    "conda-pin",
]  # fmt: skip
DIGEST = re.compile(r"[0-9a-f]{6,64}")
WRITTEN = {"output": "builtins:str", "bytes": "builtins:int"}
"""What an answer says of a file that was written."""


@verb(
    "export",
    gives=(
        WRITTEN | {"release": "model.history:Release"},
        WRITTEN | {"library": "builtins:str", "evidence": "model.snapshot:Snapshot.evidence"},
        WRITTEN | {each: f"service.imports:Bundle.{each}" for each in ("whole", "libraries", "releases")},
        {"generated": "service.generate:generate"},
        {"surface": "service.surface:surface"},
    ),
)
def export_command(
    settings: SharedSettings,
    what: Annotated[tuple[str, ...], Described(metavar="OPERAND...", complete="operand")] = (),
    *,
    output: Output = None,
    form: Annotated[
        FORMATS,
        Described("The output: the snapshot, or a file for another tool.", ("--format", "form"), main=True),
    ] = "json",
    bundle: Annotated[bool, Described("Write one complete file for `import` and `db merge`.")] = False,
    channel: Annotated[
        str | None, Described("With --bundle: only the releases of this baseline.", complete="channel")
    ] = None,
    library: Annotated[str | None, Described("For a file: the library's name; by default its SONAME's stem.")] = None,
    version: Annotated[str | None, Described("For a file: the release's version, stored in the snapshot.")] = None,
    line: LineOptions,
    reading: ReadingOptions,
) -> None:
    """Write the snapshot of OPERAND, a file or a stored release, as JSON; or a file for another tool.

    The same library gives the same bytes. The snapshot can be compared, ingested and imported wherever abistore runs.
    A file needs no database.

    With --bundle, writes a whole database as one file: all releases, candidates, baselines, verdicts, approvals,
    notes and the audit, or only those of the given libraries and releases.

    \b
    surface               the public surface in C or C++, for review in git (`gate --surface` compares it)
    debian-symbols        each symbol with the version that added it (deb-symbols)
    version-script        for the linker: a version for the symbols of each release
    abigail-suppressions  exports that no public header declares, and accepted breaks
    abicc-skip-symbols    the same for abi-compliance-checker: symbols
    abicc-skip-types      and types
    conda-pin             run_exports of a conda recipe, with the pin that the history supports

    \b
    abistore export build/libfoo.so -o libfoo.json
    abistore export libfoo@1.2.0 --format version-script
    abistore export libfoo --format debian-symbols -o debian/libfoo1.symbols
    abistore export build/libfoo.so --header include --format surface -o abi/libfoo.h
    """
    if bundle:
        _export_bundle(settings, what, output, channel=channel, target=line.target, profile=line.profile)
        return
    if len(what) != 1 or channel is not None:
        raise UsageError("one snapshot is exported at a time", "name one OPERAND, or pass --bundle for several or all")
    if form == "surface":
        _surface(settings, what[0], output, line, reading.options(library, version))
    elif form != "json":
        _generate(settings, form, what[0], output, line)
    elif _is_stored(what[0]):
        _export(settings, what[0], output, line)
    else:
        _dump(settings, Path(what[0]), output, line.target, reading.options(library, version))


def _is_stored(operand: str) -> bool:
    """Whether an operand names a stored release: it has a mark or is a digest, and no file is called so."""
    return (
        ("@" in operand or DIGEST.fullmatch(operand) is not None) and "/" not in operand and not exists(Path(operand))
    )


def _export(settings: SharedSettings, reference: str, output: Path | None, line: LineOptions) -> None:
    from abistore.service.imports import export

    exported = export(reference, target=line.target, profile=line.profile, database=settings.database)
    release, data = exported.release, exported.json
    write_snapshot(settings, output, data, {"release": release})
    if is_file(output):
        note(settings, f"{output}: {release.line.library} {release.version}, {len(data) + 1:,} bytes")


def _dump(
    settings: SharedSettings, path: Path, output: Path | None, target: str | None, options: ExtractOptions
) -> None:
    """Write the snapshot of a file. No database is opened."""
    from abistore.model.layout import STRANGERS_HINT, strangers
    from abistore.service.snapshots import dump

    with progress(settings) as advance:
        dumped = dump(path, options=msgspec.structs.replace(options, progress=advance), target=target)
    snapshot, data = dumped.snapshot, dumped.json
    write_snapshot(settings, output, data, {"library": snapshot.library, "evidence": snapshot.evidence})
    if said := strangers(snapshot):
        note(settings, said, "note")
        note(settings, STRANGERS_HINT, "hint")
    if not is_file(output):
        return
    exports = len(snapshot.entries.get("symbol", ()))
    note(settings, f"{output}: {snapshot.library}, {counted(exports, 'name')} in its tables, {len(data) + 1:,} bytes")
    for evidence in snapshot.evidence:
        if not evidence.is_whole:
            note(settings, f"  {evidence.facet}: {evidence.state}: {evidence.detail or evidence.reason}")


def _surface(
    settings: SharedSettings, operand: str, output: Path | None, line: LineOptions, options: ExtractOptions
) -> None:
    from abistore.service.snapshots import Selection
    from abistore.service.surface import surface

    made = surface(operand, selection=Selection(line.target, line.profile, options), database=settings.database)
    if not is_file(output) or settings.json:
        answer(settings, {"surface": made}, lambda: made.text.removesuffix("\n"))
    if is_file(output):
        write_file(output, made.text.encode())
        note(settings, f"{output}: the public surface of {made.of}, {made.text.count(chr(10)):,} lines")


def _generate(
    settings: SharedSettings, form: GeneratedFormat, reference: str, output: Path | None, line: LineOptions
) -> None:
    from abistore.service.generate import generate

    made = generate(form, reference, target=line.target, profile=line.profile, database=settings.database)
    if not is_file(output) or settings.json:
        answer(settings, {"generated": made}, lambda: made.text.removesuffix("\n"))
    if not is_file(output):
        return
    write_file(output, made.text.encode())
    note(settings, f"{output}: {made.format} of {made.release}, counted from {made.counted_from}")


def _export_bundle(settings: SharedSettings, what: tuple[str, ...], output: Path | None, **words: Any) -> None:
    from abistore.service.imports import export_bundle

    if not is_file(output):
        raise UsageError("a bundle is a binary file", "name a file with -o")
    made = export_bundle(what, database=settings.database, **words)
    write_file(output, made.data)
    told = {"output": str(output), "bytes": len(made.data), "whole": made.whole}
    chosen = {"libraries": made.libraries, "releases": made.releases}
    answer(settings, {**told, **chosen}, lambda: f"{output}: {len(made.data):,} bytes")


@verb("import", gives=({"files": "service.imports:import_"}, {"merged": "service.imports:import_bundles"}))
def import_command(
    settings: SharedSettings,
    paths: Annotated[tuple[Path, ...], Described(metavar="PATH...")],
    *,
    library: Annotated[
        str | None, Described("The library's name; by default the snapshot's own.", complete="library")
    ] = None,
    version: Annotated[str | None, Described("The release's version; by default the snapshot's own.")] = None,
    versions: Annotated[
        Path | None,
        Described('A list of versions: CSV with FILE,VERSION in each line, or TOML with "FILE" = "VERSION".'),
    ] = None,
    target: Annotated[str | None, Described("The platform of dumps that do not record their own, e.g. x86_64.")] = None,
    profile: Annotated[
        str | None, Described("The build profile; by default the one that the snapshot was exported from.")
    ] = None,
    approvals: Annotated[
        bool,
        Described("Import approvals from the snapshots too. Without it they are skipped with a note."),
    ] = False,
    replacing: ReplacingOptions,
    preference: MergingOptions,
) -> int:
    """Store each JSON snapshot PATH (from `export`) as a release; - is standard input.

    A PATH may also be another tool's dump (ABIXML, an ABICC dump, a Debian symbols file), or a folder of dumps. Their
    versions are those of --versions, of the dump itself or of its name (libfoo-1.2.3.abi); they are stored oldest
    first.
    If one file fails, the others are stored.

    A PATH that is a bundle (`export --bundle`) is merged like `db merge`, with its baselines, verdicts, approvals and
    audit. Import only bundles of people who may write to this database.
    """
    from abistore.service.imports import MergePlan, import_bundles, is_bundle

    if any(map(is_bundle, paths)):
        merging = MergePlan(prefer=preference.prefer, dry_run=preference.dry_run)
        return show_merged(settings, import_bundles(paths, merging, database=settings.database))
    if preference.prefer or preference.dry_run:
        raise UsageError("--prefer and --dry-run apply to bundles only", "leave them out, or import a bundle")
    from abistore.service.imports import import_
    from abistore.service.ingest_gates import IngestPlan
    from abistore.service.snapshots import ExtractOptions

    plan = IngestPlan(
        library=library,
        version=version,
        target=target,
        profile=profile,
        approvals=approvals,
        **msgspec.structs.asdict(replacing),
        options=ExtractOptions(library=library, version=version),
    )
    with progress(settings) as advance:
        results = import_(paths, plan, versions=versions, database=settings.database, progress=advance)
    return show_ingested(settings, results)


class PublishingOptions(Options, frozen=True):
    """Where a site is published, and what its pages lead to."""

    title: ClassVar[str] = "Publishing"
    site_url: Annotated[str, Described("The URL of the published site, for links in feeds.")] = ""
    project_url: Annotated[str, Described("The URL of the project; every page links to it.")] = ""
    commit_url: Annotated[
        str,
        Described(
            "The URL of a commit, with {revision}: https://github.com/ORG/PROJECT/commit/{revision}",
            metavar="TEMPLATE",
        ),
    ] = ""
    repository: Annotated[
        Path | None,
        Described(
            "A git checkout of the sources: show author, date and subject of the commit of each release.",
            metavar="FOLDER",
        ),
    ] = None
    built: Annotated[
        datetime | None, Described("The build time, which its pages show.", default="SOURCE_DATE_EPOCH")
    ] = None


@verb("site", gives={"site": "service.site:build_site"})
def site_command(
    settings: SharedSettings,
    *,
    out: Annotated[Path, Described("The folder to write to.", ("-o", "--output", "out"), metavar="FOLDER")],
    title: Annotated[str, Described("The title of the site.")] = "ABI history",
    channel: Channel = "release",
    no_judge: Annotated[bool, Described("Show only stored verdicts, and judge nothing now.")] = False,
    publishing: PublishingOptions,
    judging: JudgingOptions,
) -> None:
    """Write the history as static HTML pages: libraries, releases, findings with drawings, and kinds of change.

    The pages need no server and no network: open index.html. The folder is new, empty, or contains an earlier build.
    Only changed pages are written, and obsolete pages of the earlier build are removed; other files are not touched.

    \b
    abistore site -o public
    """
    from abistore.service.site import SitePlan, build_site

    plan = SitePlan(
        title,
        channel,
        judge=not no_judge,
        site_url=publishing.site_url,
        project_url=publishing.project_url,
        commit_url=publishing.commit_url,
        repository=publishing.repository,
        built=publishing.built or _source_date(),
    )
    with progress(settings) as advance:
        done = build_site(out, plan, database=settings.database, progress=advance, by=judging.ruling())
    answer(settings, {"site": done}, lambda: "\n".join(_built(done)))


def _source_date() -> datetime | None:
    """The moment that builds which can be repeated say: seconds since 1970. ``None`` where none is given."""
    said = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not said:
        return None
    if not said.isdecimal() or len(said) > 11:
        raise UsageError(f"SOURCE_DATE_EPOCH={said}: not a number of seconds", "use the output of `date +%s`")
    return datetime.fromtimestamp(int(said), UTC)


def _built(built: SiteBuilt) -> Iterator[str]:
    libraries = counted(built.libraries, "library", "libraries")
    yield f"{built.index}: {libraries}, {counted(built.releases, 'release')}"
    yield f"{counted(built.written, 'file')} written, {built.unchanged} unchanged, {built.removed} removed"
