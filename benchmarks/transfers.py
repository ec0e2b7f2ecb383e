"""What it costs to bring a store of many libraries into another one, and to import a bundle or a folder of snapshots.

``python -m benchmarks.transfers [--libraries N] [--releases N] [--declarations N] [--files N]`` prints a Markdown
table. Needs nothing but abistore.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from abistore.service.snapshots import written
from benchmarks.history import command, measured
from benchmarks.measure import machine
from benchmarks.releases import made
from benchmarks.site import ingested
from benchmarks.store import table

HEAD = ("what", "releases", "CPU s", "peak MB")
IN_A_LIBRARY = 25
"""So many snapshots of the folder are of one library."""


def lines(folder: Path, asked: argparse.Namespace) -> Iterator[Sequence[str]]:
    """The lines of the table."""
    source = folder / "source.db"
    ingested(source, asked.libraries, range(1, asked.releases + 1), asked.declarations)
    count = f"{asked.libraries * asked.releases:,}"
    merge = [*command(folder / "merged.db"), "db", "merge", source]
    yield _line("merge into a new store", count, merge)
    yield _line("the same again: nothing is new", count, merge)
    bundle = folder / "source.abibundle"
    yield _line("bundle of the store", count, [*command(source), "export", "--bundle", "-o", bundle])
    yield _line("import of the bundle", count, [*command(folder / "bundled.db"), "import", bundle])
    written_to(folder / "snapshots", asked.files)
    imported = [*command(folder / "imported.db"), "import", folder / "snapshots"]
    yield _line("import of a folder of snapshots, 1,000 declarations each", f"{asked.files:,}", imported)


def _line(what: str, count: str, words: Sequence[str | Path]) -> Sequence[str]:
    cost = measured(words)
    return what, count, f"{cost.seconds:.1f}", f"{cost.peak / 1e6:.0f}"


def written_to(folder: Path, files: int) -> None:
    """Write so many JSON snapshots of libraries of 1,000 declarations."""
    folder.mkdir()
    for number in range(files):
        library, version = f"lib{number // IN_A_LIBRARY:03}", f"1.{number % IN_A_LIBRARY + 1}"
        snapshot = made(number % IN_A_LIBRARY + 1, 1000, joined=True)
        named = msgspec.structs.replace(snapshot, library=library, version=version)
        (folder / f"{library}-{version}.json").write_bytes(written(named))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", type=int, default=2000)
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--declarations", type=int, default=30)
    parser.add_argument("--files", type=int, default=500)
    asked = parser.parse_args()
    print(
        f"{machine()}; {asked.libraries:,} libraries x {asked.releases} releases x {asked.declarations} declarations.\n"
    )
    with TemporaryDirectory() as folder:
        print(table(HEAD, lines(Path(folder), asked)), flush=True)


if __name__ == "__main__":
    main()
