"""``archive``: files by the thousand, stored by one command, on one machine or many."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import click
import msgspec

from abistore.arguments import Channel, Described, Output
from abistore.cli.commands.ingest import AdmissionOptions, ReplacingOptions, StoringOptions, ingest_plan
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, is_file, note, write_file
from abistore.cli.reading_options import BuildOptions, JudgingOptions, ReadingOptions
from abistore.cli.rendering import AllowingOptions
from abistore.cli.verbs import Options, group, verb
from abistore.model.words import counted, in_line, listed

if TYPE_CHECKING:
    from abistore.archive.log import ArchiveRun, FailureCount
    from abistore.archive.reporting import ArchiveReport, BrokenRelease, RedGate
    from abistore.archive.running import ArchiveProgress
    from abistore.report.ledgers import LedgerTable

archive_command = group(
    "archive", "Store whole archives: thousands of files, by many processes or machines; report on them."
)


class RunningOptions(Options, frozen=True):
    """Where files are read, what is logged, and which of them."""

    title: ClassVar[str] = "Running"
    jobs: Annotated[
        int, Described("Read files in this many processes; with 1, in the process that stores.", main=True, least=1)
    ] = 1
    log: Annotated[
        Path | None, Described("Append one JSON line for each file to this log.", metavar="FILE", main=True)
    ] = None
    resume: Annotated[
        Path | None,
        Described(
            "Continue an earlier run: files that its log has as stored, known or rejected by a gate are skipped, and "
            "those that failed are read again. Without --log, lines are appended to this log.",
            metavar="LOG",
            main=True,
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        Described("Have the workers of this Dask scheduler read the files: tcp://HOST:8786.", metavar="URL", main=True),
    ] = None
    shard: Annotated[
        str | None,
        Described("Run only this part of the files: 3/20 is the third of 20 parts.", metavar="PART/PARTS", main=True),
    ] = None
    out: Annotated[
        Path | None,
        Described(
            "Write snapshots to this folder instead of storing them; `abistore import` stores them.",
            metavar="FOLDER",
            main=True,
        ),
    ] = None


@verb("ingest", gives={"run": "archive.running:archive_ingest"}, inside=archive_command)
def archive_ingest_command(
    settings: SharedSettings,
    sources: Annotated[tuple[str, ...], Described(metavar="SOURCE...", complete="file")],
    *,
    running: RunningOptions,
    build: BuildOptions,
    storing: StoringOptions,
    admission: AdmissionOptions,
    replacing: ReplacingOptions,
    gating: AllowingOptions,
    judging: JudgingOptions,
    reading: ReadingOptions,
) -> int:
    """Store every library of each SOURCE as a release.

    SOURCE is a manifest, a folder, the folder or index of a package repository, or - for a manifest on standard input.

    A manifest has a line for each file: PATH VERSION, and then words like library=libfoo, profile=musl,
    headers=include/foo, debug=libfoo.debug, devel=libfoo-dev.deb, revision=4f2a91c, released=2026-02-01. Paths are
    relative to the manifest. A package needs no VERSION. A folder is searched for libraries, packages and JSON
    snapshots. In a Debian or RPM repository, each library package is paired with the packages of the same source that
    have its debug information and headers.

    Files are read by --jobs processes, and stored by one in batches. If one fails, the others are stored. A file that
    is stored already costs its digest alone. Whatever is killed, nothing is lost or stored twice: run the command again
    with --resume.

    Exits with 0, or with the highest code of all files.

    \b
    abistore archive ingest libraries.txt --jobs 4 --log run.jsonl
    abistore archive ingest libraries.txt --jobs 4 --resume run.jsonl
    abistore archive ingest mirror/dists/stable --scheduler tcp://head:8786 --log run.jsonl
    abistore archive ingest libraries.txt --shard 3/20 --out shard3
    """
    from abistore.archive.running import ArchivePlan, archive_ingest

    plan = ingest_plan(build, storing, replacing, admission.gate(gating, judging), reading)
    way = ArchivePlan(**msgspec.structs.asdict(running))
    shown = ProgressLine(settings)
    done = archive_ingest(sources, plan, way, database=settings.database, progress=shown.advance)
    shown.finish()
    answer(settings, {"run": done}, lambda: "\n".join(_lines(done)))
    for each in done.notes:
        note(settings, each, "note")
    return done.exit_code


@verb("report", gives={"report": "archive.reporting:archive_report"}, inside=archive_command)
def archive_report_command(
    settings: SharedSettings,
    *,
    since: Annotated[
        str,
        Described(
            "The first day (2026-11-29), or a stored release (libfoo@1.2): what was stored from then on is reported.",
            metavar="DATE|RELEASE",
            complete="reference",
        ),
    ],
    run: Annotated[
        Path | None,
        Described(
            "The log of an archive run: what could not be read is listed by cause.", metavar="LOG", complete="file"
        ),
    ] = None,
    channel: Channel = "release",
    form: Annotated[
        Literal["text", "json", "markdown", "html"] | None,
        Described("The output format.", ("--format", "form"), default="text"),
    ] = None,
    output: Output = None,
) -> None:
    """Report what happened in the whole archive: which releases broke, and which programs that affects.

    Programs are stored consumers, and libraries those whose latest release imports what breaks; behind `through these`
    are those that load such a library. A gate is red where the latest release of a line does not pass compared with its
    baseline, or a build was kept that failed its gate.

    Only stored verdicts are read, and nothing is judged: `abistore history --all` gives those that are missing.

    \b
    abistore archive report --since 2026-11-01
    abistore archive report --since libfoo@1.2 --run run.jsonl --format html -o report.html
    """
    from abistore.archive.reporting import archive_report
    from abistore.report.ledgers import as_html, as_markdown, as_text

    found = archive_report(since, run=run, channel=channel, database=settings.database)
    if form == "json" or settings.json:
        settings.json = settings.json or not is_file(output)
        answer(settings, {"report": found}, str, file=output if is_file(output) else None)
        return
    title, tables = f"Archive since {found.since:%Y-%m-%d %H:%M}", report_tables(found)
    text = as_html(title, tables) if form == "html" else as_markdown(tables) if form == "markdown" else as_text(tables)
    if is_file(output):
        write_file(output, f"{text}\n".encode(errors="backslashreplace"))
    elif form in {"html", "markdown"}:
        click.echo(text)
    else:
        answer(settings, {"report": found}, lambda: text)


BROKEN_HEADS = ("library", "target", "profile", "compared with", "release", "verdict", "outcome", "breaks", "affects")
RED_HEADS = ("library", "target", "profile", "baseline", "release", "outcome", "why")
UNREAD_HEADS = ("files", "code", "exit code", "first file", "error")
NAMED, NAME_WIDTH = 2, 40
"""How many declarations a row names, and the characters of each; the JSON has more of them, whole."""


def report_tables(found: ArchiveReport) -> list[LedgerTable]:
    """What broke, which gates are red, and what could not be read: a table each."""
    from abistore.report.ledgers import LedgerTable

    stored = f"{counted(found.releases, 'release')} of {counted(found.lines, 'line')} since {found.since:%Y-%m-%d}"
    missing = f"{counted(found.unjudged, 'release')} not judged yet: `abistore history --all`"
    below = (missing,) if found.unjudged else ()
    verb = "breaks" if len(found.broken) == 1 else "break"
    broken = f"{stored}: {counted(len(found.broken), 'release')} {verb} the previous one"
    causes = Counter(kind for each in found.broken for kind in each.kinds)
    named = tuple(f"{kind}: {counted(count, 'release')}" for kind, count in causes.most_common())
    rows = [_broken(each) for each in found.broken]
    red = [_red(each) for each in found.red]
    tables = [
        LedgerTable(broken, BROKEN_HEADS, rows, (*named, *below)),
        LedgerTable(f"{counted(len(red), 'red gate')}", RED_HEADS, red, ()),
    ]
    if found.unread:
        total = sum(each.count for each in found.unread)
        unread = [
            (f"{one.count:,}", one.code, str(one.exit_code), one.path, in_line(one.error)) for one in found.unread
        ]
        tables.append(LedgerTable(f"{counted(total, 'file')} not read", UNREAD_HEADS, unread, ()))
    return tables


def _broken(each: BrokenRelease) -> tuple[str, ...]:
    from abistore.report.wording import names

    line = each.line
    affected = listed((*each.programs, *each.libraries))
    through = f"; through these {listed(each.through)}" if each.through else ""
    moved = f"; moved to {listed(each.moved_to)}" if each.moved_to else ""
    verdict = (
        each.verdict.name,
        each.outcome,
        in_line(names(each.names, NAMED, NAME_WIDTH)) + moved,
        affected + through,
    )
    return line.library, line.target, line.profile, each.against, each.version, *verdict


def _red(each: RedGate) -> tuple[str, ...]:
    line = each.line
    version = f"{each.version} (candidate)" if each.candidate else each.version
    return line.library, line.target, line.profile, each.against, version, each.outcome, in_line(each.headline)


def _lines(run: ArchiveRun) -> Iterator[str]:
    """The summary: how many items became what, and why others did not."""
    from abistore.archive.log import STATUSES

    counts = ", ".join(f"{run.counts[each]:,} {each}" for each in STATUSES if each in run.counts)
    resumed = f" ({run.resumed:,} by an earlier run)" if run.resumed else ""
    rate = (run.items - run.resumed) / run.seconds if run.seconds else 0.0
    yield f"{counted(run.items, 'file')}: {counts}{resumed}; {_duration(run.seconds)}, {rate:,.1f} a second"
    if run.red:
        yield f"{counted(run.red, 'gate')} failed"
    yield from map(_failure, run.failures)


def _failure(each: FailureCount) -> str:
    first = "first: " if each.count > 1 else ""
    return f"{each.count:6,}  {each.code} ({each.exit_code})  {first}{in_line(each.error)}"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else str(timedelta(seconds=round(seconds)))


OFTEN, SELDOM = 0.2, 30.0
"""Seconds between two states of the line on a terminal, and between two lines elsewhere."""

WIDTH = 24
"""Characters of the bar."""


class ProgressLine:
    """How far a run is: a line that changes on a terminal, or now and then a line; none with ``-q`` or ``--json``."""

    def __init__(self, settings: SharedSettings) -> None:
        self._terminal = sys.stderr.isatty()
        self._next = time.monotonic() + (1.0 if self._terminal else SELDOM)
        self._shown = False
        self.advance: Callable[[ArchiveProgress], None] | None = self._advance
        if settings.json or settings.verbosity < 0:
            self.advance = None

    def _advance(self, state: ArchiveProgress) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (OFTEN if self._terminal else SELDOM)
        self._shown = True
        click.echo(f"\r\x1b[K{_state(state)}" if self._terminal else _state(state), err=True, nl=not self._terminal)

    def finish(self) -> None:
        """Take the line away: the summary follows."""
        if self._terminal and self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)


def _state(state: ArchiveProgress) -> str:
    full = WIDTH * state.done // max(state.total, 1)
    bar = "#" * full + "-" * (WIDTH - full)
    left = "" if state.left is None else f"  {_duration(state.left)} left"
    gates = f"  {counted(state.red, 'gate')} red" if state.red else ""
    return f"[{bar}] {state.done:,} of {state.total:,}  {state.failed:,} failed{gates}  {state.rate:,.1f}/s{left}"
