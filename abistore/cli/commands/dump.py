"""``dump``: a library's snapshot as JSON, without a database."""

from __future__ import annotations

from pathlib import Path

import click

from abistore.cli.options.extracting import ExtractingOptions, extract_options
from abistore.cli.options.shared import FILE, SharedSettings, output_options, pass_settings
from abistore.cli.output import is_file, note, write_snapshot
from abistore.model.words.counting import counted


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
    from abistore.cli.progress import progress
    from abistore.model.layout.agreement import STRANGERS_HINT, strangers
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
