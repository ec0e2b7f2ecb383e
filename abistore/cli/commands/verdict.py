"""``verdict``: what is judged about a stored release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from abistore.cli.options import SharedSettings, line_options, output_options, pass_settings, store_option
from abistore.cli.rendering import Rendering, fail_on_option, report_options, require_option, show_report
from abistore.cli.ruling import ruling_options, show_only_option
from abistore.cli.words import against_words, reference_words

if TYPE_CHECKING:
    from abistore.service.judging.filtering import Filter
    from abistore.service.judging.judging import FailOn
    from abistore.service.judging.ruling import Ruling


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
@store_option
@output_options
@pass_settings
def verdict_command(
    settings: SharedSettings,
    /,
    *,
    reference: str,
    against: str | None,
    rendering: Rendering,
    shown: Filter,
    by: Ruling | None,
    fail_on: FailOn,
    require: str | None,
    target: str | None,
    profile: str | None,
) -> int:
    """Show the verdict about the stored release REFERENCE (libfoo@1.2.0).

    A verdict that today's rules gave before is read back; otherwise the release is judged now and the verdict stored.

    With --against, the evidence of the release must show no less than that of the other side, unless --require says
    otherwise; the exit code is 72 where it shows less.
    """
    from abistore.service.history.verdicts import verdict
    from abistore.service.judging.evidence import requirement

    judgement = verdict(
        reference,
        against=against,
        database=settings.database,
        target=target,
        profile=profile,
        fail_on=fail_on,
        require=requirement(require),
        by=by,
    )
    return show_report(settings, shown(judgement.report), rendering)
