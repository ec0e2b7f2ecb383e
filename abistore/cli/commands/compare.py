"""``compare``: two operands in, a verdict out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from abistore.cli.options.extracting import ExtractingOptions, extract_options, side_package_options
from abistore.cli.options.headers import side_header_options
from abistore.cli.options.ruling import ruling_options, show_only_option
from abistore.cli.options.shared import SharedSettings, bisect_option, line_options, store_command
from abistore.cli.output import note
from abistore.cli.rendering import (
    Rendering,
    allow_option,
    consumers_option,
    fail_on_option,
    report_options,
    require_option,
    show_report,
    tells_notes,
)
from abistore.cli.words import operand_words

if TYPE_CHECKING:
    from abistore.model.findings import FailOn
    from abistore.model.judging.bump import AllowRule
    from abistore.service.judging.filtering import Filter
    from abistore.service.judging.ruling import Ruling


@click.command("compare")
@click.argument("old", shell_complete=operand_words)
@click.argument("new", shell_complete=operand_words)
@report_options
@show_only_option
@ruling_options
@fail_on_option
@allow_option(None)
@require_option
@click.option(
    "--for",
    "programs",
    multiple=True,
    metavar="PROGRAM",
    type=click.Path(),
    help="A built program: judge only what it meets of what it imports. Repeatable.",
)
@consumers_option
@line_options
@side_header_options
@side_package_options
@extract_options
@bisect_option
@store_command
def compare_command(
    settings: SharedSettings,
    /,
    *,
    old: str,
    new: str,
    rendering: Rendering,
    shown: Filter,
    by: Ruling | None,
    fail_on: FailOn,
    allow: AllowRule | None,
    require: str | None,
    programs: tuple[str, ...],
    consumers: bool,
    target: str | None,
    profile: str | None,
    extracting: ExtractingOptions,
) -> int:
    """Compare OLD with NEW and judge the difference.

    Each is a library, a JSON snapshot, a stored release (libfoo@1.2.0, libfoo@latest, libfoo@prev, libfoo@baseline,
    libfoo@baseline:CHANNEL) or the first digits of a snapshot's digest. ./NAME is a file, whatever it is called.

    Two packages (.deb, .rpm, .whl, .conda, .zip, tar) or folders are compared as releases of all libraries in them:
    one table, one verdict; so are universal files, of all their architectures. Beside anything else, a package stands
    for its library of the other side's name.

    Exits with 0 (no break, or one that --allow allows), 2 (source break), 4 (binary break), 72 if --require is not met,
    or another code of 64 and above if there is no verdict.
    """
    from abistore.cli.progress import progress
    from abistore.service.judging.comparing import compare
    from abistore.service.judging.evidence import requirement
    from abistore.service.judging.kinship import strangers

    with progress(settings) as advance:
        selection = extracting.selection(target, profile, advance)
        required = requirement(require)
        report = compare(
            old,
            new,
            database=settings.database,
            selection=selection,
            fail_on=fail_on,
            require=required,
            by=by,
            programs=programs,
            allow=allow,
            consumers=consumers,
        )
    if (said := strangers(report)) and not tells_notes(rendering):
        note(settings, f"note: {said}")
    return show_report(settings, shown(report), rendering)
