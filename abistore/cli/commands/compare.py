"""``compare``, ``dump``, ``verdict`` and ``whatif``: what differs, for two files, a stored release, and an edit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from abistore.cli.options import (
    FILE,
    SharedSettings,
    against_words,
    bisect_option,
    line_options,
    operand_words,
    output_options,
    pass_settings,
    reference_words,
    store_command,
)
from abistore.cli.output import answer, is_file, note, write_snapshot
from abistore.cli.reading_options import (
    ExtractingOptions,
    extract_options,
    ruling_options,
    show_only_option,
    side_header_options,
    side_package_options,
)
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
    tells_notes,
)
from abistore.model.words import counted

if TYPE_CHECKING:
    from abistore.model.bump import AllowRule
    from abistore.model.findings import FailOn
    from abistore.service.judging import Filter
    from abistore.service.ruling import Ruling
    from abistore.service.whatif import WhatIf, WhatIfBaseline


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
    from abistore.cli.output import progress
    from abistore.service.comparing import compare, strangers
    from abistore.service.judging import requirement

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


@click.command("dump")
@click.argument("path", metavar="FILE", type=FILE)
@click.option("-o", "--output", type=FILE, help="Write to this file instead of standard output.")
@click.option("--library", help="The library's name; by default its SONAME's stem.")
@click.option("--version", help="The release's version, kept in the snapshot.")
@click.option(
    "--target",
    "--arch",
    help="Refuse files for another platform (arm64, or in full); of a file for several platforms take this one.",
)
@extract_options
@output_options
@pass_settings
def dump_command(
    settings: SharedSettings,
    /,
    *,
    path: Path,
    output: Path | None,
    library: str | None,
    version: str | None,
    target: str | None,
    extracting: ExtractingOptions,
) -> None:
    """Write the snapshot of the library FILE as JSON.

    The same library gives the same bytes. The snapshot can be compared, ingested and imported wherever abistore runs.
    """
    from abistore.cli.output import progress
    from abistore.model.layout import STRANGERS_HINT, strangers
    from abistore.service.snapshots import dump

    with progress(settings) as advance:
        dumped = dump(path, options=extracting.options(library, version, advance), target=target)
    snapshot, data = dumped.snapshot, dumped.json
    notes = tuple(filter(None, [strangers(snapshot)]))
    write_snapshot(settings, output, data, {"library": snapshot.library, "evidence": snapshot.evidence, "notes": notes})
    for said in notes:
        note(settings, f"note: {said}\nhint: {STRANGERS_HINT}")
    if not is_file(output):
        return
    exports = len(snapshot.entries.get("symbol", ()))
    note(settings, f"{output}: {snapshot.library}, {counted(exports, 'name')} in its tables, {len(data) + 1:,} bytes")
    for evidence in snapshot.evidence:
        if not evidence.is_whole:
            note(settings, f"  {evidence.facet}: {evidence.state}: {evidence.detail or evidence.reason}")


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
    from abistore.service.judging import requirement
    from abistore.service.verdicts import verdict

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
    from abistore.service.whatif import WhatIfPlan, whatif

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
