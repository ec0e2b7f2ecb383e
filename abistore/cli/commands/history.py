"""``history``, ``log`` and ``blame``: releases, those in which a declaration changed, and since when one breaks."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import unified_diff
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar

import click

from abistore.arguments import Channel, Described, EveryLibrary, LibraryNames, LoggedName, SearchedLibraries
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, beside_failed, is_file, progress, screen, table, with_failed, write_file
from abistore.cli.reading_options import CommitOptions, JudgingOptions, LineOptions
from abistore.cli.rendering import TEXT_ENDINGS, Window, style_of
from abistore.cli.verbs import verb
from abistore.errors import DamagedStore, UsageError
from abistore.model.findings import Verdict
from abistore.model.labels import word_on
from abistore.model.statements import is_withdrawn
from abistore.model.words import counted
from abistore.report.history import history_document
from abistore.report.outline import CHECKED, ruling
from abistore.report.reasons import notable_outcome, outcome_words
from abistore.report.since import blame_text, built_text, first_broken_text
from abistore.report.wording import package_of, short_package, shortened

if TYPE_CHECKING:
    from abistore.model.approvals import Deprecation, LineDeprecations
    from abistore.model.decision import Decision
    from abistore.model.history import LineKey, Release
    from abistore.model.snapshot import Evidence
    from abistore.model.statements import Evaluation
    from abistore.report.history import FoldedRow
    from abistore.report.since import Blame, FirstBroken
    from abistore.service.commits import CommitSource
    from abistore.service.database import Database
    from abistore.service.history import History, HistoryRow
    from abistore.service.listing import FailedLibrary, OfEach
    from abistore.service.log import LogEntry
    from abistore.service.ruling import Ruling

PARTIAL = "*"
"""Marks a verdict from unequal evidence: one release shows less than the other."""

REFUSED = "!"
"""Marks a release that its line does not allow: it breaks, and neither SONAME nor label say so."""

HEADS = ("exports", "+", "-", "~", "previous", "outcome", "baseline", "evidence")
"""Behind the version, the date, and what programs load the library by."""

BRIEF = {Verdict.COMPATIBLE_WITH_RISK: "RISK"}
"""Verdicts with a shorter name in a table, which has two of them in 80 columns."""

T = TypeVar("T")

LISTED = 8
NUMBERS = frozenset({"exports", "+", "-", "~"})
SUFFIXES = {".html": "html", ".md": "markdown", ".json": "json"}
TONES = {"appeared": "compatible", "changed": "api_break", "vanished": "breaking", "not-observed": "dim"}
SIGNS = {"appeared": "+", "changed": "~", "vanished": "-", "not-observed": "?"}


Form: TypeAlias = Literal["text", "json", "markdown", "html"]


@verb(
    "history",
    gives=(
        {"histories": "service.history:history"},
        {"histories": "service.history:history", "folded": "report.history:fold"},
        {"histories": "service.history:history", "failed": "service.listing:FailedLibrary[]"},
        {"evaluations": "service.ledger:evaluate"},
        {"evaluations": "service.ledger:evaluate", "failed": "service.listing:FailedLibrary[]"},
    ),
)
def history_command(
    settings: SharedSettings,
    libraries: LibraryNames = (),
    *,
    every: EveryLibrary = False,
    channel: Channel = "release",
    plot: Annotated[bool, Described("Draw the exports of each release as a bar, with verdicts and changes.")] = False,
    compare_with_strict: Annotated[
        bool,
        Described(
            "Show the verdicts that --policy and --suppress change, compared with the strict policy, for every "
            "baseline."
        ),
    ] = False,
    deprecation: Window = None,
    form: Annotated[
        Form | None,
        Described("The output format; html is one page with a chart.", ("--format", "form"), default="text"),
    ] = None,
    output: Annotated[
        Path | None,
        Described(
            "Write to this file. Without --format, its suffix selects the format: .html, .md or .json.",
            ("-o", "--output"),
            complete="file",
        ),
    ] = None,
    judging: JudgingOptions,
    line: LineOptions,
) -> int:
    """Show the releases of LIBRARY in release order, each with its verdicts; of several libraries, a line for each.

    The columns + and - count exports that were added and removed since the previous release, and ~ declarations that
    changed. They include copies of other libraries' templates, which are notices and do not count in the verdict.

    The column previous has the verdict compared with the previous release, and outcome says whether the release may
    ship after it: pass, fail or undecided. The column baseline has the verdict compared with the baseline, and the
    outcome where that is not plainly pass.

    A release that cannot be judged is listed with the reason; the others are judged. The exit code is 74 if the stored
    data of a release are damaged.

    \b
    abistore history libfoo
    abistore history 'lib*'
    abistore history --all
    """
    from abistore.service.listing import matching

    shown, by = _format(settings, form, plot, output), judging.ruling()
    names = matching(libraries, every=every, database=settings.database)
    if compare_with_strict:
        return _evaluate(settings, names, by, line)
    found = _histories(settings, names, line, channel=channel, deprecation=deprecation, by=by)
    histories = tuple(each for result in found.results for each in result)
    _show(settings, _Shown(histories, found.failed, len(names) > 1), shown, output)
    damaged = DamagedStore.exit_code if any(history.damaged for history in histories) else 0
    return max(damaged, found.exit_code)


def _histories(
    settings: SharedSettings, names: Sequence[str], line: LineOptions, **asked: Any
) -> OfEach[tuple[History, ...]]:
    from abistore.service.history import history
    from abistore.service.listing import of_each

    with progress(settings) as advance:
        return of_each(
            names,
            lambda name, store: history(
                name, target=line.target, profile=line.profile, database=store, progress=advance, **asked
            ),
            database=settings.database,
        )


class _Shown(NamedTuple):
    """Timelines, the libraries that have none, and whether several libraries were asked for."""

    histories: tuple[History, ...]
    failed: tuple[FailedLibrary, ...]
    several: bool

    @property
    def document(self) -> dict[str, Any]:
        """The answer."""
        return with_failed(history_document(self.histories), self.failed, self.several)


def _damage(histories: tuple[History, ...]) -> DamagedStore | None:
    damaged = [str(each.line) for each in histories if each.damaged]
    if not damaged:
        return None
    return DamagedStore(f"the stored data of {', '.join(damaged)} are damaged", "see `abistore db check`")


def _evaluate(settings: SharedSettings, names: Sequence[str], by: Ruling | None, line: LineOptions) -> int:
    """Judge all releases by another policy, from what is stored, and show which verdicts change."""
    from abistore.report.ledgers import as_text, evaluation_tables
    from abistore.service.ledger import evaluate
    from abistore.service.listing import of_each

    if by is None:
        raise UsageError("--compare-with-strict needs another policy or suppressions", "pass --policy or --suppress")
    with progress(settings) as advance:

        def ask(name: str, store: Database) -> tuple[Evaluation, ...]:
            return evaluate(name, by, target=line.target, profile=line.profile, database=store, progress=advance)

        found = of_each(names, ask, database=settings.database)
    evaluations = tuple(each for result in found.results for each in result)
    told = with_failed({"evaluations": evaluations}, found.failed, len(names) > 1)
    answer(settings, told, lambda: beside_failed(as_text(evaluation_tables(evaluations)), found.failed))
    return found.exit_code


def _format(settings: SharedSettings, form: str | None, plot: bool, output: Path | None) -> str:
    """The format asked for. Raises :class:`UsageError` for two of them, and an ending that none has."""
    if plot and (form not in {None, "text"} or settings.json):
        raise UsageError("--plot writes text only", "use either --plot or another --format")
    if plot:
        return "plot"
    if settings.json or form or not is_file(output):
        return "json" if settings.json else form or "text"
    if output.suffix.lower() not in {*SUFFIXES, *TEXT_ENDINGS}:
        raise UsageError(f"{output}: no format has the suffix {output.suffix}", f"one of {', '.join(SUFFIXES)}")
    return SUFFIXES.get(output.suffix.lower(), "text")


def _show(settings: SharedSettings, found: _Shown, shown: str, output: Path | None) -> None:
    """Print the timelines, or write them to a file."""
    damage = _damage(found.histories)
    if is_file(output) and shown == "json":
        answer(settings, found.document, str, error=damage, file=output)
        return
    if not is_file(output) and shown in {"text", "plot", "json"}:
        answer(settings, found.document, partial(_rendered, settings, found, shown), error=damage)
        return
    text = _rendered(settings, found, shown)
    if is_file(output):
        write_file(output, f"{text}\n".encode(errors="backslashreplace"))
    else:
        click.echo(text)


def _rendered(settings: SharedSettings, found: _Shown, shown: str) -> str:
    histories = found.histories
    match shown:
        case "html":
            from abistore.report.site import history_page

            return history_page(histories)
        case "markdown":
            from abistore.report.history import markdown

            return markdown(histories)
        case "plot":
            from abistore.report.history import plot

            return "\n\n".join(plot(each, style_of(settings, full=True)) for each in histories)
    if found.several:
        return beside_failed(_compact(histories), found.failed)
    return "\n\n".join((*map(_timeline, histories), *_fold(histories)))


COMPACT = ("library", "target", "profile", "releases", "latest", "date", "previous", "outcome", "baseline", "failing")


def _compact(histories: Sequence[History]) -> str:
    """A row for each line: its latest release, and the releases that its versioning does not allow."""
    return table(COMPACT, [_compact_row(each) for each in histories if each.rows], right=frozenset({3}))


def _compact_row(history: History) -> tuple[str, ...]:
    last, line = history.rows[-1], history.line
    version, date, *_, previous, outcome, baseline, _ = _row(last, history.baseline)
    failing = [row.release for row in history.rows if _is_refused(row, history.baseline)]
    count = str(len(history.rows))
    return line.library, line.target, line.profile, count, version, date, previous, outcome, baseline, _some(failing)


def _fold(histories: tuple[History, ...]) -> Iterator[str]:
    from abistore.report.history import fold

    if folded := fold(histories):
        head = "all lines: the worst verdict compared with the previous release, and the outcome"
        yield "\n".join((head, *map(_folded, folded)))


def _folded(row: FoldedRow) -> str:
    verdict = "not known" if row.verdict is None else row.verdict.name
    where = f" on {', '.join(map(_place, row.worst_in))}" if row.worst_in and row.verdict else ""
    holes = f"; hole: {', '.join(map(_place, row.holes))}" if row.holes else ""
    return f"{row.version}  {verdict}{where}; outcome {row.outcome}{holes}"


def _place(line: LineKey) -> str:
    return f"{line.target} {line.profile}"


def _timeline(history: History) -> str:
    baseline = f"baseline {history.channel}: {history.baseline}" if history.baseline else "no baseline"
    rows = [_row(row, history.baseline) for row in history.rows]
    kept = [
        f"candidate {one.version}, kept {one.ingested:%Y-%m-%d}: `abistore verdict {one.reference}`"
        for one in history.candidates
    ]
    by = ruling(history.policy, history.policy_file, history.suppression_files)
    head = f"{history.line}, {baseline}; {by}"
    heads = ("version", "date", word_on(history.line.target), *HEADS)
    constant, whole = _without_constants(heads, rows)
    shown = _fitting(whole, screen())
    right = frozenset(at for at, name in enumerate(shown[0]) if name in NUMBERS)
    told = (
        *constant,
        *_legend(*shown),
        *history.said,
        *_packages(history),
        *_tagged(history),
        *_accepted(history),
        *_unjudged(history),
        *kept,
    )
    lines = (line for text in (head, *_problems(history)) for line in _on_screen(text))
    behind = (line for text in told for line in _on_screen(text))
    return "\n".join((*lines, table(shown[0], shown[1:], right=right), *behind))


SPARED = (("exports",), ("date",), ("+", "-", "~"))
"""The columns that a narrow screen does without, the least important first."""


def _fitting(rows: list[tuple[str, ...]], most: int | None) -> list[tuple[str, ...]]:
    """A table without so many columns that a screen of ``most`` characters shows each row in one line."""
    for names in SPARED:
        if most is not None and _wide(rows) > most:
            kept = [at for at, name in enumerate(rows[0]) if name not in names]
            rows = [tuple(row[at] for at in kept) for row in rows]
    return rows


def _wide(rows: Sequence[tuple[str, ...]]) -> int:
    return sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True)) - 2


def _on_screen(text: str) -> list[str]:
    """A sentence in lines as long as the screen; nothing is cut, and commands stay in one piece of text."""
    most = screen()
    if most is None or len(text) <= most:
        return [text]
    return textwrap.wrap(text, most, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _problems(history: History) -> Iterator[str]:
    if refused := [row.release for row in history.rows if _is_refused(row, history.baseline)]:
        yield f"{REFUSED} incompatible, and not allowed by this line's versioning: {_some(refused)}"
        yield f"  details: `abistore verdict {refused[-1].reference}`"


def _without_constants(
    heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]
) -> tuple[list[str], list[tuple[str, ...]]]:
    """What the SONAME and the evidence of all releases are, if they are the same, and the table without such columns.

    Columns without any value are left out.
    """
    columns = list(zip(heads, *rows, strict=True))
    same = [len(rows) > 1 and len({*column[1:]}) == 1 for column in columns]
    said = [
        f"{name}: {values[0]} in all releases"
        for (name, *values), alike in zip(columns, same, strict=True)
        if alike and values[0] and name in {heads[2], "evidence"}
    ]
    hidden = {heads[2], "evidence"}
    kept = [
        column
        for column, alike in zip(columns, same, strict=True)
        if not (alike and column[0] in hidden) and (any(column[1:]) or not rows)
    ]
    return said, list(zip(*kept, strict=True))


def _legend(heads: tuple[str, ...], *rows: tuple[str, ...]) -> Iterator[str]:
    """What the signs of a table mean that occur in it."""
    cells = [cell for row in rows for cell in row]
    if len(rows) > 1:
        if "~" in heads:
            yield "+ added, - removed (exports, with headers public declarations); ~ changed"
        if any(cell.startswith(BRIEF[Verdict.COMPATIBLE_WITH_RISK]) for cell in cells):
            yield "RISK: compatible with risk"
    if any(cell.partition(",")[0].endswith(PARTIAL) for cell in cells):
        yield f"{PARTIAL} {CHECKED}: one of the two releases has less evidence than the other"


def _tagged(history: History) -> Iterator[str]:
    tagged = [row.release for row in history.rows if row.release.tags]
    if tagged:
        told = [f"{each.version} ({', '.join(tag.name for tag in each.tags)})" for each in tagged[-LISTED:]]
        more = f" and {len(tagged) - LISTED} more" if len(tagged) > LISTED else ""
        yield f"tagged: {', '.join(told)}{more}"


def _packages(history: History) -> Iterator[str]:
    found: dict[str, list[Release]] = {}
    for row in history.rows:
        if package := package_of(row.release.provenance):
            found.setdefault(short_package(package), []).append(row.release)
    yield from (f"package {name}: {_some(releases)}" for name, releases in found.items())


def _some(releases: list[Release]) -> str:
    more = f" and {len(releases) - LISTED} more" if len(releases) > LISTED else ""
    return ", ".join(each.version for each in releases[-LISTED:]) + more


def _accepted(history: History) -> Iterator[str]:
    """Why a release passes that breaks something and is no allowed one, or how much of it is waived."""
    for row in history.rows:
        for decision in dict.fromkeys(filter(None, (row.decision, row.baseline_decision))):
            if decision.waived:
                yield f"{row.release.version} compared with {decision.against.version}: {_waived(decision)}"


def _waived(decision: Decision) -> str:
    if decision.code == "waived":
        return decision.headline
    return f"{decision.outcome}, {counted(len(decision.waived), 'finding')} approved"


def _is_refused(row: HistoryRow, baseline: str | None) -> bool:
    """Whether a release fails beside the one before; one that passes at its channel is no problem."""
    failing = row.decision is not None and row.decision.outcome == "fail"
    passes = row.previous == baseline and row.baseline_decision is not None and row.baseline_decision.outcome == "pass"
    return failing and not passes and not is_withdrawn(row.release)


def _unjudged(history: History) -> Iterator[str]:
    for row in history.rows:
        for other, reason in ((row.previous, row.unjudged), (history.baseline, row.unjudged_baseline)):
            if reason:
                yield f"{row.release.version} was not judged against {other}: {reason}"


def _row(row: HistoryRow, baseline: str | None) -> tuple[str, ...]:
    release, churn = row.release, row.churn
    against_baseline = _verdict(row.against_baseline, row.unjudged_baseline, 0, row.evidence_gap_baseline)
    if row.baseline_decision is not None and (told := notable_outcome(row.baseline_decision)):
        against_baseline += f", {told}"
    return (
        release.version,
        f"{release.released or release.ingested:%Y-%m-%d}",
        release.soname or "",
        str(release.exports),
        *((str(churn.added), str(churn.removed), str(churn.changed)) if churn else ("", "", "")),
        _verdict(row.verdict, row.unjudged, row.notices, row.evidence_gap),
        outcome_words(row.decision) if row.decision is not None else "",
        "(baseline)" if release.version == baseline else against_baseline,
        ", ".join(_evidence(release.evidence)),
    )


def _verdict(verdict: Verdict | None, unjudged: str, notices: int, gap: str) -> str:
    """A verdict, marked where the evidence is unequal; notices are counted where they are all that was found."""
    if verdict is None:
        return "not judged" if unjudged else ""
    noticed = f", {counted(notices, 'notice')}" if notices and verdict is Verdict.NO_CHANGE else ""
    return f"{BRIEF.get(verdict, verdict.name)}{PARTIAL if gap else ''}{noticed}"


def _evidence(seen: tuple[Evidence, ...]) -> Iterator[str]:
    for evidence in seen:
        yield evidence.facet if evidence.state == "full" else f"{evidence.facet} {evidence.state}"
    if "layout" not in {evidence.facet for evidence in seen}:
        yield "layout missing"


@verb(
    "log",
    gives=({"events": "service.log:log"}, {"events": "service.log:log", "failed": "service.listing:FailedLibrary[]"}),
)
def log_command(
    settings: SharedSettings,
    name: LoggedName,
    *,
    libraries: SearchedLibraries = (),
    commits: CommitOptions,
    line: LineOptions,
) -> int:
    """Show every release in which NAME appeared, changed or vanished, with its declaration before and after.

    NAME is a symbol as the linker spells it, or a function, variable or type as the source does (geo::Point).

    \b
    abistore log geo::Point
    abistore log foo_open --library 'lib*'
    """
    from abistore.service.log import log

    def ask(library: str | None, store: Database) -> tuple[LogEntry, ...]:
        source = commits.source()
        return log(name, library=library, commits=source, target=line.target, profile=line.profile, database=store)

    found, several = _in_libraries(settings, libraries, ask)
    events = found.results
    told = with_failed({"events": events}, found.failed, several)
    answer(settings, told, lambda: beside_failed("\n".join(_events(settings, events)), found.failed))
    return found.exit_code


def _in_libraries(
    settings: SharedSettings, words: Sequence[str], ask: Callable[[str | None, Database], tuple[T, ...]]
) -> tuple[OfEach[T], bool]:
    """What is found in each library that words mean, or in all at once without any; and whether several were meant."""
    from abistore.service.listing import OfEach, matching, of_each

    if not words:
        return OfEach(ask(None, settings.database)), False
    names = matching(words, database=settings.database)
    found = of_each(names, ask, searching=True, database=settings.database)
    return OfEach(tuple(each for result in found.results for each in result), found.failed), len(names) > 1


def _events(settings: SharedSettings, entries: tuple[LogEntry, ...]) -> Iterator[str]:
    style = style_of(settings, full=True)
    for line, in_line in groupby(entries, key=lambda entry: entry.line):
        yield style.paint(str(line), "bold")
        group = tuple(in_line)
        for entry in group:
            first = entry.first_stored and entry.action == "appeared"
            action = style.paint("first stored" if first else entry.action, TONES[entry.action])
            when = f"{SIGNS[entry.action]} {entry.version}  {entry.date:%Y-%m-%d}"
            yield f"{when}  {action}  {shortened(entry.display)}  ({entry.facet})"
            yield from (f"    {text}" for text in (*built_text(entry.built, entry.version), *_difference(entry)))
        for name, stands_for in {entry.display: entry.alias_of for entry in group}.items():
            if stands_for:
                wanted = shlex.join(("abistore", "log", stands_for, "--library", line.library))
                yield f"{shortened(name)} is an alias of {shortened(stands_for)}: see `{wanted}`"


def _difference(entry: LogEntry) -> Iterator[str]:
    before, after = (text.splitlines() for text in ("\n".join(entry.before), "\n".join(entry.after)))
    if entry.action == "changed":
        lines = list(unified_diff(before, after, lineterm="", n=1000))
        yield from (line[:1] + (shortened(line[1:]) or "") for line in lines[3:])
    elif entry.action != "not-observed":
        yield from (shortened(text) or "" for text in after or before)


@verb(
    "blame",
    gives=(
        {"blames": "service.blame:blame"},
        {"blames": "service.blame:blame", "failed": "service.listing:FailedLibrary[]"},
        {"found": "service.bisect:first_broken"},
        {"found": "service.bisect:first_broken", "failed": "service.listing:FailedLibrary[]"},
    ),
)
def blame_command(
    settings: SharedSettings,
    what: Annotated[tuple[str, ...], Described(metavar="[LIBRARY|PATTERN...|NAME]", complete="library")] = (),
    *,
    every: EveryLibrary = False,
    libraries: SearchedLibraries = (),
    since: Annotated[
        str | None,
        Described(
            "The release that the programs were built against.", metavar="VERSION|baseline[:CHANNEL]", complete="since"
        ),
    ] = None,
    restored: Annotated[
        bool, Described("For a library: judge every release in between, and list all breaks that were fixed again.")
    ] = False,
    commits: CommitOptions,
    judging: JudgingOptions,
    line: LineOptions,
) -> int:
    """Show since when LIBRARY breaks programs, in its latest release or LIBRARY@VERSION, or which build broke NAME.

    Of a library, each break is listed with the build that introduced it. Breaks are those of programs built against
    the first release with the same SONAME, or against --since. Builds that failed their gate and were kept count: their
    commit is named. Exports that were removed for a while are listed as restored. Exports that were added later and
    removed break programs built against a release between.

    NAME is a symbol, a function, variable or type as the source calls it, or the identity of a finding that `verdict`
    or `history` stored. Programs are those built against the first release that has NAME, or against --since. Only a
    few of the stored releases are judged, as in a bisection: nothing is built.

    \b
    abistore blame libfoo
    abistore blame libfoo@1.2.0
    abistore blame libfoo --since baseline --restored
    abistore blame 'lib*'
    abistore blame geo::Point
    abistore blame 413dac85 --library libgeo
    """
    common = _Common(since, commits.source(), judging.ruling(), line.target, line.profile)._asdict()
    if (names := _blamed(settings, what, every, libraries)) is not None:
        return _blame(settings, names, {**common, "restored": restored})
    if restored:
        raise UsageError("--restored needs a library", f"{what[0]} is not stored: see `abistore list`")
    return _first_broken(settings, what[0], libraries, common)


def _blamed(
    settings: SharedSettings, what: Sequence[str], every: bool, searched: Sequence[str]
) -> tuple[str, ...] | None:
    """The libraries that are asked about; ``None`` where a declaration is."""
    from abistore.service.listing import libraries, matching, stored_as

    if searched and not every and len(what) == 1:
        return None
    if searched:
        raise UsageError("--library goes with one NAME", "name libraries without it, or a declaration")
    if len(what) == 1 and not every and not stored_as(what[0], libraries(database=settings.database)):
        return None
    return matching(what, every=every, database=settings.database)


def _blame(settings: SharedSettings, names: Sequence[str], asked: Mapping[str, Any]) -> int:
    from abistore.service.blame import blame
    from abistore.service.listing import of_each

    found = of_each(names, lambda name, store: blame(name, database=store, **asked), database=settings.database)
    blames = tuple(each for result in found.results for each in result)
    several = len(names) > 1

    def text() -> str:
        return beside_failed(_blame_rows(blames) if several else "\n\n".join(map(blame_text, blames)), found.failed)

    answer(settings, with_failed({"blames": blames}, found.failed, several), text)
    return found.exit_code


BLAME_HEADS = ("library", "target", "profile", "latest", "against", "verdict", "breaks", "since")


def _blame_rows(blames: Sequence[Blame]) -> str:
    """A row for each line: what its latest release breaks, and the build that broke most lately."""
    rows = [
        (
            *(one.line.library, one.line.target, one.line.profile, one.latest.version, one.base.version),
            BRIEF.get(one.verdict, one.verdict.name),
            str(len(one.breaks)),
            ", ".join(dict.fromkeys(each.introduced.version for each in one.breaks)),
        )
        for one in blames
    ]
    return table(BLAME_HEADS, rows, right=frozenset({6}))


def _first_broken(settings: SharedSettings, name: str, searched: Sequence[str], common: Mapping[str, Any]) -> int:
    from abistore.service.bisect import first_broken

    def ask(library: str | None, store: Database) -> tuple[FirstBroken, ...]:
        return first_broken(name, library=library, database=store, **common)

    found, several = _in_libraries(settings, searched, ask)
    told = with_failed({"found": found.results}, found.failed, several)
    answer(settings, told, lambda: beside_failed("\n\n".join(map(first_broken_text, found.results)), found.failed))
    return found.exit_code


class _Common(NamedTuple):
    """What both questions take."""

    since: str | None
    commits: CommitSource
    by: Ruling | None
    target: str | None
    profile: str | None


DEPRECATION_HEADS = ("state", "kind", "name", "deprecated since", "removable from", "removed in")
FIRST = "<="
UNREAD_LISTED = 5


def deprecations_text(found: Sequence[LineDeprecations]) -> str:
    """What the headers of a library deprecate, since when, and what was removed."""
    return "\n\n".join("\n".join(_lines(each)) for each in found)


def _lines(found: LineDeprecations) -> Iterator[str]:
    rule = f"removal after {found.window}" if found.window else "no window given"
    yield f"{found.line}: as of {found.latest}; {rule}"
    if found.items:
        yield table(DEPRECATION_HEADS, [_deprecation_row(each) for each in found.items])
    else:
        yield "nothing is deprecated, and no public declaration was removed"
    if found.unread:
        more = f" and {len(found.unread) - UNREAD_LISTED} more" if len(found.unread) > UNREAD_LISTED else ""
        yield f"not checked: {', '.join(found.unread[:UNREAD_LISTED])}{more}, read without headers"


def _deprecation_row(one: Deprecation) -> tuple[str, ...]:
    since = f"{FIRST if one.first_stored else ''} {one.since}  {one.since_day}".strip() if one.since else "never"
    name = shortened(one.display) or one.display
    return one.state, one.name.kind, name, since, one.removable, one.removed
