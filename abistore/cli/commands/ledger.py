"""``ledger``, ``lines``, ``evaluate``, ``statement``, ``matrix`` and ``compatible-range``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.options import (
    FILE,
    SharedSettings,
    file_words,
    library_words,
    line_options,
    reference_words,
    store_command,
)
from abistore.cli.output import answer, is_file, write_file
from abistore.cli.reading_options import ruling_options
from abistore.cli.rendering import deprecation_option
from abistore.errors import UsageError
from abistore.model.findings import Verdict
from abistore.model.words import json_text
from abistore.report.history import as_html
from abistore.report.history import as_text as matrix_text
from abistore.report.ledgers import as_markdown, as_text, ledger_tables, lines_table, statement_tables

if TYPE_CHECKING:
    from abistore.report.history import Matrix
    from abistore.report.ledgers import LedgerTable
    from abistore.service.matrix import CompatibleRange, RunsOn

format_option = click.option(
    "--format", "form", type=click.Choice(("text", "json", "markdown")), default="text", show_default=True
)
output_option = click.option("-o", "--output", type=FILE, shell_complete=file_words, help="Write to this file.")


@click.command("ledger")
@click.argument("reference", metavar="LIBRARY[@VERSION]", shell_complete=reference_words)
@format_option
@output_option
@deprecation_option
@ruling_options
@line_options
@store_command
def ledger_command(
    settings: SharedSettings, /, *, reference: str, form: str, output: Path | None, **words: Any
) -> None:
    """Show the verdict about a release against every baseline that it is measured by.

    These are the previous release, the first release with the same SONAME, each channel, and the last releases before
    a break that none of these shows, such as of exports that came and went. The worst of them is the release's verdict;
    baselines that are tagged eol, unsupported, withdrawn or yanked are shown and do not count. Lines that lack this
    version are named.

    Sentences say what no single verdict shows: two compatible steps that break together, and what a release restores.
    Missing verdicts are given now and stored, with who asked for them.

    \b
    abistore ledger libfoo@1.4.0
    """
    from abistore.service.ledger import ledger

    found = ledger(reference, database=settings.database, **words)
    show_tables(settings, {"ledgers": found}, lambda: ledger_tables(found), (form, output))


@click.command("lines")
@click.argument("reference", metavar="LIBRARY[@VERSION]", shell_complete=reference_words)
@format_option
@output_option
@ruling_options
@line_options
@store_command
def lines_command(settings: SharedSettings, /, *, reference: str, form: str, output: Path | None, **words: Any) -> None:
    """Show all targets and profiles of a version, with one verdict over all of them: the worst.

    The libraries that came in one package or folder with the release belong to it. A line without this version is a
    hole, and beside a hole nothing is called compatible. Exports that only some lines have are listed.

    \b
    abistore lines libfoo@1.4.0
    """
    from abistore.service.ledger import lines_of_release

    found = lines_of_release(reference, database=settings.database, **words)
    show_tables(settings, {"lines": found}, lambda: [lines_table(found)], (form, output))


@click.command("evaluate")
@click.argument("library", shell_complete=library_words)
@ruling_options
@line_options
@store_command
def evaluate_command(settings: SharedSettings, /, *, library: str, **words: Any) -> None:
    """Judge all releases of LIBRARY by another policy, and show which verdicts move.

    Each release is judged against the baselines that `abistore ledger` shows, from what is stored: no binary is read.
    The verdicts by the policy are stored beside those of the strict policy, which stay.

    \b
    abistore evaluate libfoo --policy sdk_vendor
    abistore evaluate libfoo --suppress accepted.yaml
    """
    from abistore.cli.output import progress
    from abistore.report.ledgers import evaluation_tables
    from abistore.service.ledger import evaluate

    if words["by"] is None:
        raise UsageError("evaluate needs another policy or suppressions", "pass --policy or --suppress")
    with progress(settings) as advance:
        found = evaluate(library, words.pop("by"), database=settings.database, progress=advance, **words)
    answer(settings, {"evaluations": found}, lambda: as_text(evaluation_tables(found)))


def show_tables(
    settings: SharedSettings,
    value: dict[str, Any],
    tables: Callable[[], list[LedgerTable]],
    asked: tuple[str, Path | None],
) -> None:
    """Print an answer, or write it to a file."""
    form, output = ("json", asked[1]) if settings.json else asked
    if not is_file(output) and form in {"text", "json"}:
        settings.json = form == "json"
        answer(settings, value, lambda: as_text(tables()))
        return
    text = _document(value) if form == "json" else (as_markdown if form == "markdown" else as_text)(tables())
    if is_file(output):
        write_file(output, f"{text}\n".encode(errors="backslashreplace"))
    else:
        click.echo(text)


def _document(value: dict[str, Any]) -> str:
    import json

    from abistore.report.plain import plain

    return json_text(json.dumps({"status": "ok", **plain(value)}, indent=2))


@click.command("matrix")
@click.argument("library", shell_complete=library_words)
@click.option("--from", "first", metavar="VERSION", help="The oldest release.  [default: the first]")
@click.option("--to", "final", metavar="VERSION", help="The newest release.  [default: the latest]")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="The last N releases of these only.")
@click.option("--downgrades", is_flag=True, help="Judge older releases as replacements of newer ones too.")
@click.option("--format", "form", type=click.Choice(("text", "json", "html")), default="text", show_default=True)
@click.option("-o", "--output", type=FILE, shell_complete=file_words, help="Write to this file.")
@ruling_options
@line_options
@store_command
def matrix_command(
    settings: SharedSettings,
    /,
    *,
    library: str,
    first: str | None,
    final: str | None,
    last: int | None,
    form: str,
    output: Path | None,
    **words: Any,
) -> None:
    """Show which release of LIBRARY can replace which, for all pairs.

    A row is the release that programs were built against, a column the one that they run on. A cell is the verdict
    that `compare` gives: = no change, + compatible, ? with risk, s sources break, X programs break.

    \b
    abistore matrix libfoo --last 20
    abistore matrix libfoo --from 1.0 --to 2.0 --format html -o matrix.html
    """
    from abistore.cli.output import progress
    from abistore.service.matrix import ReleaseRange, matrix

    with progress(settings) as advance:
        within = ReleaseRange(first, final, last)
        found = matrix(library, within=within, database=settings.database, progress=advance, **words)
    if output is None and form == "text":
        answer(settings, {"matrices": found}, lambda: matrix_text(found))
        return
    text = {"text": matrix_text, "json": _matrix_document, "html": as_html}["json" if settings.json else form](found)
    if output is None:
        click.echo(text)
    else:
        write_file(output, f"{text}\n".encode())


def _matrix_document(found: Sequence[Matrix]) -> str:
    import json

    from abistore.report.plain import plain

    return json_text(json.dumps({"status": "ok", **plain({"matrices": tuple(found)})}, indent=2))


@click.command("compatible-range")
@click.argument("reference", shell_complete=reference_words)
@ruling_options
@line_options
@store_command
def compatible_range_command(settings: SharedSettings, /, *, reference: str, **words: Any) -> None:
    """Show the releases that a program can run on which was built against REFERENCE.

    Such a program may use all that the release exports. It runs up to the last release before one that breaks it, and
    needs at least the first one that has all of that.

    \b
    abistore compatible-range libfoo@1.4.0
    """
    from abistore.service.matrix import compatible_range

    found = compatible_range(reference, database=settings.database, **words)
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


@click.command("statement")
@click.argument("reference", metavar="LIBRARY[@VERSION]", shell_complete=reference_words)
@format_option
@output_option
@deprecation_option
@ruling_options
@line_options
@store_command
def statement_command(
    settings: SharedSettings, /, *, reference: str, form: str, output: Path | None, **words: Any
) -> int:
    """State what a release is: whether it may ship, and everything that this rests on.

    One sentence comes first. Then follow the required and the declared bump, the releases it is compatible with on each
    target, lines that are missing, what was accepted by whom and until when, new and removed exports, what was not
    checked and why, and the policy.

    Exits with the worst outcome of all lines: 0 (pass), 2 or 4 (fail), 72 (undecided).

    \b
    abistore statement libfoo@1.4.0
    abistore statement libfoo@1.4.0 --format markdown -o RELEASE.md
    """
    from abistore.service.statements import statement

    found = statement(reference, database=settings.database, **words)
    show_tables(settings, {"statement": found}, lambda: statement_tables(found), (form, output))
    return found.exit_code
