"""``statement``: what is stated of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from abistore.cli.commands.asking.ledger import format_option, output_option, show_tables
from abistore.cli.options.ruling import ruling_options
from abistore.cli.options.shared import SharedSettings, line_options, store_command
from abistore.cli.rendering import deprecation_option
from abistore.cli.words import reference_words
from abistore.report.releases.statements import statement_tables


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
) -> None:
    """State what a release is: whether it may ship, and everything that this rests on.

    One sentence comes first. Then follow the required and the declared bump, the releases it is compatible with on each
    target, lines that are missing, what was accepted by whom and until when, new and removed exports, what was not
    checked and why, and the policy.

    It is no gate: the exit code is 0 whatever it says. `abistore verdict` and `abistore gate` decide.

    \b
    abistore statement libfoo@1.4.0
    abistore statement libfoo@1.4.0 --format markdown -o RELEASE.md
    """
    from abistore.service.statement.statement import statement

    found = statement(reference, database=settings.database, **words)
    show_tables(settings, {"statement": found}, lambda: statement_tables(found), (form, output))
