"""``export`` and ``import``: stored snapshots out as JSON, and back in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from abistore.cli.commands.ingest import replace_options, show_ingested
from abistore.cli.commands.keeping.merging import merge_options, show_merged
from abistore.cli.options.shared import FILE, SharedSettings, line_options, store_command
from abistore.cli.output import answer, is_file, note, write_file, write_snapshot
from abistore.cli.words import library_words, reference_words
from abistore.errors import UsageError

if TYPE_CHECKING:
    from abistore.model.stores.merging import Side


@click.command("export")
@click.argument("what", metavar="[REFERENCE]...", nargs=-1, shell_complete=reference_words)
@click.option("-o", "--output", type=FILE, help="Write to this file instead of standard output.")
@click.option("--bundle", is_flag=True, help="Write one file that `import` and `db merge` read, with nothing left out.")
@click.option("--channel", help="With --bundle: the releases at which this baseline stands.")
@line_options
@store_command
def export_command(
    settings: SharedSettings,
    /,
    *,
    what: tuple[str, ...],
    output: Path | None,
    bundle: bool,
    channel: str | None,
    **words: Any,
) -> None:
    """Write the stored snapshot that REFERENCE names as JSON, or with --bundle a whole database as one file.

    A bundle has all releases, candidates, baselines, verdicts, approvals, reviews and the audit; of the libraries and
    releases that are named, what belongs to them. The same database gives the same bytes.
    """
    if bundle:
        _export_bundle(settings, what, output, channel=channel, **words)
        return
    if len(what) != 1 or channel is not None:
        hint = "name one REFERENCE, or pass --bundle for several, or for all"
        raise UsageError("one snapshot is exported as JSON", hint)
    from abistore.service.ingest.transfer import export

    exported = export(what[0], database=settings.database, **words)
    release, data = exported.release, exported.json
    write_snapshot(settings, output, data, {"release": release})
    if is_file(output):
        note(settings, f"{output}: {release.line.library} {release.version}, {len(data) + 1:,} bytes")


def _export_bundle(settings: SharedSettings, what: tuple[str, ...], output: Path | None, **words: Any) -> None:
    from abistore.service.transferring.bundles import export_bundle

    if not is_file(output):
        raise UsageError("a bundle is no text", "name a file with -o")
    made = export_bundle(what, database=settings.database, **words)
    write_file(output, made.data)
    told = {"output": str(output), "bytes": len(made.data), "whole": made.whole}
    chosen = {"libraries": made.libraries, "releases": made.releases}
    answer(settings, {**told, **chosen}, lambda: f"{output}: {len(made.data):,} bytes")


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
@merge_options
@store_command
def import_command(
    settings: SharedSettings,
    /,
    *,
    paths: tuple[Path, ...],
    versions: Path | None,
    prefer: Side | None,
    dry_run: bool,
    **words: Any,
) -> int:
    """Store each JSON snapshot PATH (from `dump` or `export`) as a release; - is standard input.

    A PATH may also be another tool's dump (ABIXML, an ABICC dump, a Debian symbols file), or a folder of dumps. Their
    versions are those of --versions, of the dump itself or of its name (libfoo-1.2.3.abi); they are stored oldest
    first.
    If one file fails, the others are stored.

    A PATH that is a bundle (`export --bundle`) is brought in as `db merge` does, with its baselines, verdicts,
    approvals and audit. Take only bundles of people who may write to this database.
    """
    from abistore.service.transferring.bundles import MergePlan, import_bundles, is_bundle

    if any(map(is_bundle, paths)):
        return show_merged(
            settings, import_bundles(paths, MergePlan(prefer=prefer, dry_run=dry_run), database=settings.database)
        )
    if prefer or dry_run:
        raise UsageError("--prefer and --dry-run are for bundles", "leave them out, or import a bundle")
    from abistore.cli.progress import progress
    from abistore.service.ingest.results import IngestPlan
    from abistore.service.ingest.transfer import import_
    from abistore.service.snapshots import ExtractOptions

    plan = IngestPlan(**words, options=ExtractOptions(library=words["library"], version=words["version"]))
    with progress(settings) as advance:
        results = import_(paths, plan, versions=versions, database=settings.database, progress=advance)
    return show_ingested(settings, results)
