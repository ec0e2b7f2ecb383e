"""``matrix``, and what ``verdict`` tells of all baselines, of all targets, and as a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import click

from abistore.arguments import Described, Output, RunningProgram
from abistore.cli.commands.consumers import ranged
from abistore.cli.options import SharedSettings
from abistore.cli.output import answer, is_file, progress, say, write_file, write_snapshot
from abistore.cli.reading_options import JudgingOptions, LineOptions
from abistore.cli.rendering import Rendering
from abistore.cli.verbs import Options, verb
from abistore.errors import EvidenceMissing, UsageError
from abistore.model.decision import Outcome, outcome_over
from abistore.model.envelope import AnswerError, Conclusion
from abistore.model.findings import Verdict
from abistore.model.statements import worst_of
from abistore.report.history import as_html
from abistore.report.history import as_text as matrix_text
from abistore.report.ledgers import as_markdown, as_text, ledger_tables, lines_table, statement_tables

if TYPE_CHECKING:
    from abistore.model.statements import VerifiedStatement
    from abistore.report.history import Matrix
    from abistore.report.ledgers import LedgerTable
    from abistore.service.matrix import CompatibleRange, RunsOn


def all_baselines(settings: SharedSettings, reference: str, *, rendering: Rendering, **options: Any) -> int:
    """Tell the verdict about a release against every baseline that it is measured by.

    These are the previous release, the first release with the same SONAME, each channel, and the last releases before
    a break that none of these shows. Missing verdicts are given now and stored.
    """
    from abistore.service.ledger import ledger

    found = ledger(
        reference, deprecation=options["gating"].deprecation, **_common(settings, options["judging"], options["line"])
    )
    told = partial(_show_tables, settings, {"ledgers": found}, lambda: ledger_tables(found), rendering)
    return _concluded(told, worst_of(each.worst for each in found), outcome_over((each.decision for each in found), 0))


def all_targets(settings: SharedSettings, reference: str, *, rendering: Rendering, **options: Any) -> int:
    """Tell of all targets and profiles of a version, with one verdict over all of them: the worst."""
    from abistore.service.ledger import lines_of_release

    found = lines_of_release(reference, **_common(settings, options["judging"], options["line"]))
    told = partial(_show_tables, settings, {"lines": found}, lambda: [lines_table(found)], rendering)
    return _concluded(told, found.verdict, (found.outcome, found.exit_code))


def _concluded(show: Callable[..., None], verdict: Verdict | None, decided: tuple[Outcome, int]) -> int:
    """Show an answer with what it concludes; the exit code."""
    outcome, code = decided
    sentence = "evidence or a verdict that the decision needs is missing"
    missing = AnswerError(EvidenceMissing.code, sentence, EvidenceMissing.usual_hint)
    show(conclusion=Conclusion(verdict, outcome), error=missing if outcome == "undecided" else None)
    return code


def stated(settings: SharedSettings, reference: str, *, rendering: Rendering, **options: Any) -> int:
    """State whether a release may ship, and everything that this rests on."""
    from abistore.service.statements import statement

    found = statement(
        reference, deprecation=options["gating"].deprecation, **_common(settings, options["judging"], options["line"])
    )
    undecided = AnswerError(EvidenceMissing.code, found.sentence, EvidenceMissing.usual_hint)
    _show_tables(
        settings,
        {"statement": found},
        lambda: statement_tables(found),
        rendering,
        conclusion=Conclusion(found.verdict, found.outcome),
        error=undecided if found.outcome == "undecided" else None,
    )
    return found.exit_code


def signed(settings: SharedSettings, reference: str, *, key: Path, rendering: Rendering, **options: Any) -> int:
    """State whether a release may ship, and sign that: a DSSE envelope, to a file or to standard output."""
    from abistore.service.attesting import sign_statement

    found = sign_statement(
        reference,
        key,
        deprecation=options["gating"].deprecation,
        **_common(settings, options["judging"], options["line"]),
    )
    stated = found.statement
    write_snapshot(settings, rendering.output, found.document.encode(), {"statement": stated})
    if is_file(rendering.output) and not settings.json:
        say(stated.sentence)
    return stated.exit_code


def verified(
    settings: SharedSettings, reference: str | None, *, document: Path, libraries: tuple[Path, ...], **options: Any
) -> int:
    """Verify a signed statement, and tell what it says."""
    from abistore.service.attesting import verify_statement

    found = verify_statement(
        document,
        options["trusting"].trust(),
        libraries=libraries,
        reference=reference,
        deprecation=options["gating"].deprecation,
        **_common(settings, options["judging"], options["line"]),
    )
    verdict = Verdict[found.verdict] if found.verdict else None
    undecided = AnswerError(EvidenceMissing.code, found.sentence, EvidenceMissing.usual_hint)
    answer(
        settings,
        {"verified": found},
        lambda: "\n".join(_verified(found)),
        conclusion=Conclusion(verdict, found.outcome),
        error=undecided if found.outcome == "undecided" else None,
    )
    return found.exit_code


def _verified(found: VerifiedStatement) -> Iterator[str]:
    yield found.sentence
    yield f"{found.library} {found.version}: signed {found.signed:%Y-%m-%dT%H:%M:%SZ} by {', '.join(found.principals)}"
    yield f"  key       {found.key}"
    for each in found.subjects:
        yield f"  file      {each.name}: {f'is {each.file}' if each.file else 'not compared (--library)'}"
    again = "reached again" if found.decided_again else "not repeated (name the release)"
    yield f"  decision  {'; changed since: '.join((again, *filter(None, [', '.join(found.changed)])))}"


def _common(settings: SharedSettings, judging: JudgingOptions, line: LineOptions) -> dict[str, Any]:
    return {
        "by": judging.ruling(),
        "target": line.target,
        "profile": line.profile,
        "database": settings.database,
    }


def _show_tables(
    settings: SharedSettings,
    value: dict[str, Any],
    tables: Callable[[], list[LedgerTable]],
    rendering: Rendering,
    **concluded: Any,
) -> None:
    """Print an answer, or write it to a file. What is ``concluded`` is for the envelope of JSON."""
    form = "json" if settings.json else rendering.format
    if form not in {"text", "json", "markdown"}:
        raise UsageError(f"{form} is not available for this output", "ask for text, json or markdown")
    if rendering.file and form == "json":
        answer(settings, value, str, file=rendering.file, **concluded)
    elif form in {"text", "json"} and not rendering.file:
        answer(settings, value, lambda: as_text(tables()), **concluded)
    else:
        write_text(rendering.file, (as_markdown if form == "markdown" else as_text)(tables()))


def write_text(output: Path | None, text: str) -> None:
    """Print a text, or write it to a file."""
    if is_file(output):
        write_file(output, f"{text}\n".encode(errors="backslashreplace"))
    else:
        click.echo(text)


class RangeOptions(Options, frozen=True):
    """Which releases and pairs are judged."""

    title: ClassVar[str] = "Releases"
    first: Annotated[
        str | None, Described("The oldest release.", ("--from", "first"), metavar="VERSION", default="the first")
    ] = None
    final: Annotated[
        str | None, Described("The newest release.", ("--to", "final"), metavar="VERSION", default="the latest")
    ] = None
    last: Annotated[int | None, Described("The last N releases of these only.", metavar="N", least=1)] = None
    downgrades: Annotated[bool, Described("Judge older releases as replacements for newer ones too.")] = False


@verb(
    "matrix",
    gives=(
        {"matrices": "service.matrix:matrix"},
        {"range": "service.matrix:compatible_range"},
        {"ranges": "service.consumer_verdicts:program_range"},
    ),
)
def matrix_command(
    settings: SharedSettings,
    reference: Annotated[str | None, Described(complete="reference", metavar="LIBRARY[@VERSION]")] = None,
    *,
    program: RunningProgram = None,
    debug_dirs: Annotated[
        tuple[Path, ...],
        Described(
            "A folder with the program's separate debug information. May be repeated.", ("--debug-dir", "debug_dirs")
        ),
    ] = (),
    form: Annotated[Literal["text", "json", "html"], Described("The output format.", ("--format", "form"))] = "text",
    output: Output = None,
    among: RangeOptions,
    judging: JudgingOptions,
    line: LineOptions,
) -> None:
    """Show which release of a library can replace which, for all pairs.

    A row is the release that programs were built against, a column the one that they run on. A cell is the verdict
    that `compare` gives: = no change, + compatible, ? with risk, s sources break, X programs break.

    With LIBRARY@VERSION, shows the releases that a program built against this one can run on: it may use all that the
    release exports. With --program, shows the stored releases that satisfy a program: that have the name, the symbols
    and the symbol versions that it asks for, and the types as it was built with them.

    \b
    abistore matrix libfoo --last 20
    abistore matrix libfoo --from 1.0 --to 2.0 --format html -o matrix.html
    abistore matrix libfoo@1.4.0
    abistore matrix libfoo --program ./app
    """
    if program is not None:
        ranged(settings, program, reference, debug_dirs, line)
        return
    if reference is None:
        raise UsageError("no library is named", "abistore matrix LIBRARY, or --program FILE")
    if "@" in reference:
        _show_range(settings, reference, judging, line)
        return
    shown = "json" if settings.json else form
    found = _matrix(settings, reference, among, judging, line)
    if shown == "json" or (output is None and shown == "text"):
        file = output if is_file(output) else None
        answer(settings, {"matrices": found}, lambda: "" if file else matrix_text(found), file=file)
    else:
        write_text(output, (as_html if shown == "html" else matrix_text)(found))


def _matrix(
    settings: SharedSettings, library: str, among: RangeOptions, judging: JudgingOptions, line: LineOptions
) -> tuple[Matrix, ...]:
    from abistore.service.matrix import ReleaseRange, matrix

    within = ReleaseRange(among.first, among.final, among.last)
    with progress(settings) as advance:
        return matrix(
            library,
            within=within,
            downgrades=among.downgrades,
            progress=advance,
            **_common(settings, judging, line),
        )


def _show_range(settings: SharedSettings, reference: str, judging: JudgingOptions, line: LineOptions) -> None:
    from abistore.service.matrix import compatible_range

    found = compatible_range(reference, **_common(settings, judging, line))
    answer(settings, {"range": found}, lambda: _range(found))


def _range(found: CompatibleRange) -> str:
    head = f"{found.line}: a program built against {found.version}"
    told = [f"  needs at least  {found.needs_at_least}", f"  runs up to      {found.runs_up_to}"]
    if broken := [each for each in found.releases if each.verdict is Verdict.BREAKING]:
        told.append(f"  not on          {', '.join(each.version for each in broken)}")
    if again := _beyond(found):
        told.append(f"  also on         {', '.join(again)}")
    told += [f"  not judged      {each.version}: {each.reason}" for each in found.releases if each.verdict is None]
    if partly := [each for each in found.releases if each.partial and each.verdict is not Verdict.BREAKING]:
        versions = ", ".join(each.version for each in partly)
        told.append(f"  checked in part {versions}: one side shows less than the other")
    return "\n".join((head, *told))


def _beyond(found: CompatibleRange) -> list[str]:
    """The releases that the program runs on beyond its range: one between breaks it, or was not judged."""
    runs = [list(group) for fits, group in groupby(found.releases, _fits) if fits]
    ends = {found.needs_at_least, found.runs_up_to}
    return [each.version for run in runs if ends.isdisjoint(one.version for one in run) for each in run]


def _fits(each: RunsOn) -> bool:
    return each.verdict is not None and each.verdict is not Verdict.BREAKING
