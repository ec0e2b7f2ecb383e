"""``matrix`` and ``compatible-range``: which release can replace which."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.options.ruling import ruling_options
from abistore.cli.options.shared import FILE, SharedSettings, file_words, line_options, store_command
from abistore.cli.output import answer, write_file
from abistore.cli.words import library_words, reference_words
from abistore.model.findings import Verdict
from abistore.model.words.characters import json_text
from abistore.report.history.matrix import as_html, as_text

if TYPE_CHECKING:
    from abistore.report.history.model import Matrix
    from abistore.service.since.range import CompatibleRange, RunsOn


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
    from abistore.cli.progress import progress
    from abistore.service.history.matrix import ReleaseRange, matrix

    with progress(settings) as advance:
        within = ReleaseRange(first, final, last)
        found = matrix(library, within=within, database=settings.database, progress=advance, **words)
    if output is None and form == "text":
        answer(settings, {"matrices": found}, lambda: as_text(found))
        return
    text = {"text": as_text, "json": _document, "html": as_html}["json" if settings.json else form](found)
    if output is None:
        click.echo(text)
    else:
        write_file(output, f"{text}\n".encode())


def _document(found: Sequence[Matrix]) -> str:
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
    from abistore.service.since.range import compatible_range

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
