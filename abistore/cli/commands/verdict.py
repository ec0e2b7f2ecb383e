"""``verdict`` and ``whatif``: the verdict about a stored release, and about an edit of its headers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from abistore.cli.options.extracting import ExtractingOptions, extract_options
from abistore.cli.options.ruling import ruling_options, show_only_option
from abistore.cli.options.shared import FILE, SharedSettings, bisect_option, line_options, store_command
from abistore.cli.output import answer
from abistore.cli.rendering import (
    Rendering,
    allow_option,
    consumers_option,
    deprecation_option,
    fail_on_option,
    report_options,
    require_option,
    show_report,
    style_of,
)
from abistore.cli.words import against_words, operand_words, reference_words

if TYPE_CHECKING:
    from abistore.model.findings import FailOn
    from abistore.service.judging.filtering import Filter
    from abistore.service.judging.ruling import Ruling
    from abistore.service.whatif.whatif import WhatIf, WhatIfBaseline


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
@allow_option("scheme")
@deprecation_option
@require_option
@consumers_option
@line_options
@bisect_option
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

    A release that may break passes with exit code 0, and the report says why (--allow): the verdict stays BREAKING.

    With --against, the release's evidence must show no less than the other side's, unless --require says otherwise; the
    exit code is 72 if it shows less.
    """
    from abistore.service.history.verdicts import verdict
    from abistore.service.judging.evidence import requirement

    judgement = verdict(reference, database=settings.database, require=requirement(require), **words)
    return show_report(settings, shown(judgement.report), rendering)


@click.command("whatif")
@click.argument("operand", shell_complete=operand_words)
@click.option("--header-patch", type=FILE, metavar="FILE", help="A unified diff of the headers that --header names.")
@click.option(
    "--declare",
    multiple=True,
    metavar="TEXT",
    help="A declaration that takes the place of the one of its name, e.g. 'struct point { int x, y, z; };'. "
    "May be repeated.",
)
@ruling_options
@fail_on_option
@line_options
@extract_options
@store_command
def whatif_command(
    settings: SharedSettings,
    /,
    *,
    operand: str,
    header_patch: Path | None,
    declare: tuple[str, ...],
    by: Ruling | None,
    fail_on: FailOn,
    target: str | None,
    profile: str | None,
    extracting: ExtractingOptions,
) -> int:
    """Judge an edit of headers before it is built.

    OPERAND is a library, of which every release is asked that a baseline stands at (libfoo), or one release
    (libfoo@1.2.0), or a file. The headers of before the edit are those that --header names. A declaration can be judged
    without headers, against what is stored.

    Tells whether programs built against the release would break, where a record has room, and other ways to make the
    change that break nobody: each was judged by the same rules. Nothing is stored. Exits as `compare` does, with the
    code of the worst verdict.
    """
    from abistore.service.operands import Selection
    from abistore.service.whatif.whatif import WhatIfPlan, whatif

    options = extracting.options()
    plan = WhatIfPlan(options.headers, header_patch or "", declare)
    selection = Selection(target, profile, msgspec.structs.replace(options, headers=None))
    found = whatif(operand, plan, database=settings.database, selection=selection, fail_on=fail_on, by=by)
    answer(settings, {"what_if": found}, lambda: "\n\n".join(_told(settings, found)))
    return found.exit_code


def _told(settings: SharedSettings, found: WhatIf) -> Iterator[str]:
    for each in found.judged:
        yield "\n".join(_judged(settings, each))
    if len(found.judged) > 1:
        yield f"{found.verdict} for the worst of {len(found.judged)} releases"


def _judged(settings: SharedSettings, each: WhatIfBaseline) -> Iterator[str]:
    from abistore.report import render

    channels = f"  baseline {', '.join(each.channels)}" if each.channels else ""
    yield f"{each.reference}  {each.target}{channels}"
    yield render(each.report, "text", style_of(settings, False))
    if each.unsettled:
        yield f"Not checked: the layout of {', '.join(each.unsettled)}, which embed what changes. Give the headers."
    for room in each.rooms:
        yield f"Room in {room.symbol}: {'; '.join(room.rooms)}"
    if each.ways:
        yield "Other ways, which break nobody:"
    for way in each.ways:
        yield f"  - {way.title}  ({way.verdict})"
        yield from (f"      {line}" for line in way.declaration.splitlines())
