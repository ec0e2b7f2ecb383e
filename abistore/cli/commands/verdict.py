"""``verdict``: the verdict about a stored release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from abistore.cli.options import SharedSettings, line_options, store_command
from abistore.cli.rendering import Rendering, fail_on_option, report_options, require_option, show_report
from abistore.cli.ruling import ruling_options, show_only_option
from abistore.cli.words import against_words, reference_words

if TYPE_CHECKING:
    from abistore.service.judging.filtering import Filter


@click.command("verdict")
@click.argument("reference", shell_complete=reference_words)
@click.option(
    "--against",
    metavar="WHAT",
    shell_complete=against_words,
    help="What to judge against: prev, baseline, baseline:CHANNEL or a version.  [default: prev]",
)
@report_options
@show_only_option
@ruling_options
@fail_on_option
@require_option
@line_options
@store_command
def verdict_command(
    settings: SharedSettings,
    /,
    *,
    reference: str,
    rendering: Rendering,
    shown: Filter,
    require: str | None,
    **words: Any,
) -> int:
    """Show the verdict about the stored release REFERENCE (libfoo@1.2.0).

    A verdict that today's rules gave before is read from the database. Otherwise the release is judged now and the
    verdict is stored.

    With --against, the release's evidence must show no less than the other side's, unless --require says otherwise; the
    exit code is 72 if it shows less.
    """
    from abistore.service.history.verdicts import verdict
    from abistore.service.judging.evidence import requirement

    judgement = verdict(reference, database=settings.database, require=requirement(require), **words)
    return show_report(settings, shown(judgement.report), rendering)
