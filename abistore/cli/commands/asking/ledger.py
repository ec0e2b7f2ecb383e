"""``ledger``, ``lines`` and ``evaluate``: releases against all baselines, over all lines, and by another policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.options.ruling import ruling_options
from abistore.cli.options.shared import FILE, SharedSettings, file_words, line_options, store_command
from abistore.cli.output import answer, is_file, write_file
from abistore.cli.rendering import deprecation_option
from abistore.cli.words import library_words, reference_words
from abistore.errors import UsageError
from abistore.model.words.characters import json_text
from abistore.report.releases.ledgers import as_markdown, as_text, ledger_tables, lines_table

if TYPE_CHECKING:
    from abistore.report.releases.ledgers import LedgerTable

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
    from abistore.service.ledger.ledger import ledger

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
    from abistore.service.ledger.ledger import lines_of_release

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
    from abistore.cli.progress import progress
    from abistore.report.releases.evaluations import evaluation_tables
    from abistore.service.ledger.evaluating import evaluate

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
