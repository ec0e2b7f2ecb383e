"""``generate``: files for other tools, from the history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from abistore.cli.options.shared import SharedSettings, line_options, store_command
from abistore.cli.output import answer, is_file, note, write_file
from abistore.cli.words import reference_words
from abistore.service.generate.formats import FORMATS, GeneratedFormat


@click.command("generate")
@click.argument("format", type=click.Choice(FORMATS), metavar="FORMAT")
@click.argument("reference", shell_complete=reference_words)
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write to this file.")
@line_options
@store_command
def generate_command(
    settings: SharedSettings, /, *, format: GeneratedFormat, reference: str, output: Path | None, **words: Any
) -> None:
    """Write a file for another tool, about REFERENCE: a release, or a library's latest.

    \b
    debian-symbols        each symbol with the version that brought it (deb-symbols)
    version-script        for the linker: a version for the symbols of each release
    abigail-suppressions  exports that no public header declares, and accepted breaks
    abicc-skip-symbols    the same for abi-compliance-checker: symbols
    abicc-skip-types      and types

    \b
    abistore generate debian-symbols libfoo -o debian/libfoo1.symbols
    abistore generate version-script libfoo@1.2.0
    """
    from abistore.service.generate.generating import generate

    made = generate(format, reference, database=settings.database, **words)
    if not is_file(output):
        answer(settings, {"generated": made}, lambda: made.text.removesuffix("\n"))
        return
    write_file(output, made.text.encode())
    note(settings, f"{output}: {made.format} of {made.release}, counted from {made.counted_from}")
