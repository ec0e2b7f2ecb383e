"""``export`` and ``import``: stored snapshots out as JSON, and back in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from abistore.cli.commands.ingest import replace_options, show_ingested
from abistore.cli.options import FILE, SharedSettings, line_options, store_command
from abistore.cli.output import is_file, note, write_snapshot
from abistore.cli.words import library_words, reference_words


@click.command("export")
@click.argument("reference", shell_complete=reference_words)
@click.option("-o", "--output", type=FILE, help="Write to this file instead of standard output.")
@line_options
@store_command
def export_command(settings: SharedSettings, /, *, reference: str, output: Path | None, **words: Any) -> None:
    """Write the stored snapshot that REFERENCE names as JSON."""
    from abistore.service.ingest.transfer import export

    exported = export(reference, database=settings.database, **words)
    release, data = exported.release, exported.json
    write_snapshot(settings, output, data, {"release": release})
    if is_file(output):
        note(settings, f"{output}: {release.line.library} {release.version}, {len(data) + 1:,} bytes")


@click.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=FILE)
@click.option("--library", shell_complete=library_words, help="The library's name; by default the snapshot's own.")
@click.option("--version", help="The release's version; by default the snapshot's own.")
@click.option(
    "--versions",
    type=FILE,
    help='A list of versions: CSV with FILE,VERSION in each line, or TOML with "FILE" = "VERSION".',
)
@click.option("--target", help="The platform of dumps that do not tell their own, such as x86_64.")
@click.option("--profile", help="The build profile; by default the one that the snapshot was exported from.")
@click.option(
    "--approvals",
    is_flag=True,
    help="Take over what the snapshots say is approved. Without it such approvals are left out, and told.",
)
@replace_options
@store_command
def import_command(settings: SharedSettings, /, *, paths: tuple[Path, ...], versions: Path | None, **words: Any) -> int:
    """Store each JSON snapshot PATH (from `dump` or `export`) as a release; - is standard input.

    A PATH may also be another tool's dump (ABIXML, an ABICC dump, a Debian symbols file), or a folder of dumps. Their
    versions are those of --versions, of the dump itself or of its name (libfoo-1.2.3.abi); they are stored oldest
    first.
    If one file fails, the others are stored.
    """
    from abistore.cli.progress import progress
    from abistore.service.ingest.results import IngestPlan
    from abistore.service.ingest.transfer import import_
    from abistore.service.snapshots import ExtractOptions

    plan = IngestPlan(**words, options=ExtractOptions(library=words["library"], version=words["version"]))
    with progress(settings) as advance:
        results = import_(paths, plan, versions=versions, database=settings.database, progress=advance)
    return show_ingested(settings, results)
