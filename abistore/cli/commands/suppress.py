"""``suppress``: suggest, check and list suppressions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.groups import SuggestingGroup
from abistore.cli.options.extracting import ExtractingOptions, extract_options
from abistore.cli.options.ruling import ruling_options, strict_option
from abistore.cli.options.shared import FILE, SharedSettings, line_options, output_options, pass_settings, store_command
from abistore.cli.output import answer, is_file, note, write_file
from abistore.cli.tables import table
from abistore.cli.words import operand_words
from abistore.model.words.counting import counted

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling

HEADS = ("state", "selects", "expires", "where", "label", "reason")


@click.group("suppress", cls=SuggestingGroup)
def suppress_command() -> None:
    """Suggest, check and list suppressions."""


@suppress_command.command("suggest")
@click.argument("old", shell_complete=operand_words)
@click.argument("new", shell_complete=operand_words)
@click.option("-o", "--output", type=FILE, help="Write to this file instead of standard output.")
@click.option(
    "--least",
    type=click.Choice(("compatible", "risk", "api_break", "breaking")),
    default="api_break",
    show_default=True,
    help="The mildest impact for which a suppression is written.",
)
@ruling_options
@line_options
@extract_options
@store_command
def suggest_command(
    settings: SharedSettings,
    /,
    *,
    output: Path | None,
    least: str,
    target: str | None,
    profile: str | None,
    extracting: ExtractingOptions,
    by: Ruling | None,
    **operands: Any,
) -> None:
    """Compare OLD with NEW and write a suppression for each finding, for a person to review.

    The reasons are empty: the file is refused until somebody has written them.
    """
    from abistore.cli.progress import progress
    from abistore.model.findings import Impact
    from abistore.service.judging.comparing import compare
    from abistore.service.judging.suppressing import suggest

    with progress(settings) as advance:
        selection = extracting.selection(target, profile, advance)
        report = compare(operands["old"], operands["new"], database=settings.database, selection=selection, by=by)
    made = suggest(report, least=Impact[least.upper()])
    if is_file(output):
        write_file(output, made.yaml.encode())
        next_step = "review each, and write its reason" if made.count else f"no change is {least} or worse"
        note(settings, f"{output}: {counted(made.count, 'candidate')}; {next_step}")
        if settings.json:
            answer(settings, {"output": str(output), "candidates": made.count}, str)
        return
    answer(settings, {"candidates": made.count, "suppressions": made.yaml}, made.yaml.rstrip)


@suppress_command.command("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(readable=False))
@strict_option
@output_options
@pass_settings
def check_command(settings: SharedSettings, /, *, files: tuple[str, ...], strict_suppressions: bool) -> None:
    """Check suppression files. Exits with 64 and names the first error, if there is one."""
    from abistore.service.judging.suppressing import suppressions

    found = suppressions(files, strict=strict_suppressions)
    counts = {state: sum(one.state == state for one in found) for state in ("holds", "expired", "unexplained")}
    answer(
        settings,
        {"suppressions": len(found), **counts},
        lambda: (
            f"sound: {counted(len(found), 'suppression')}, {counts['expired']} expired,"
            f" {counts['unexplained']} without a reason"
        ),
    )


@suppress_command.command("list")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(readable=False))
@output_options
@pass_settings
def list_command(settings: SharedSettings, /, *, files: tuple[str, ...]) -> None:
    """List the suppressions in files: what each selects, why, and whether it holds today."""
    from abistore.service.judging.suppressing import suppressions

    found = suppressions(files)
    rows = [(one.state, one.selects, str(one.expires or ""), one.where, one.label, one.reason) for one in found]
    answer(settings, {"suppressions": found}, lambda: table(HEADS, rows) if rows else "no suppressions")
