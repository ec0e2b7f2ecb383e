"""What a site costs: the first build, a second one, and one after one more release.

``python -m benchmarks.site [--libraries N] [--releases N] [--declarations N]`` prints a Markdown table. Needs nothing
but abistore. The verdicts are given by ``history`` before, and its cost stands beside: a pipeline has given them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from abistore.model.history import IngestRequest
from abistore.store.store import Store
from benchmarks.history import command, measured
from benchmarks.measure import Cost, machine
from benchmarks.releases import made
from benchmarks.store import table

HEAD = ("what", "CPU s", "peak MB", "files written", "MB of pages")


def ingested(database: Path, libraries: int, numbers: Sequence[int], declarations: int) -> None:
    """Store releases of so many libraries, which change alike."""
    with Store.open(database, write=True) as store:
        for library in range(libraries):
            for number in numbers:
                snapshot = msgspec.structs.replace(made(number, declarations, joined=True), library=f"lib{library:03}")
                store.ingest(snapshot, IngestRequest(f"1.{number}"))


def lines(folder: Path, libraries: int, releases: int, declarations: int) -> Iterator[Sequence[str]]:
    """The lines of the table."""
    database, out = folder / "site.db", folder / "site"
    ingested(database, libraries, range(1, releases + 1), declarations)
    yield _built("first build, nothing judged before", database, out)
    yield _built("first build, all judged before", database, folder / "again")
    yield _built("second build, nothing changed", database, out)
    ingested(database, 1, [releases + 1], declarations)
    yield _built("after one more release of one library", database, out)


def _built(what: str, database: Path, out: Path) -> Sequence[str]:
    before = _files(out)
    cost = _cost(database, out)
    after = _files(out)
    written = sum(1 for path, mark in after.items() if before.get(path) != mark)
    size = sum(size for size, _ in after.values())
    return what, f"{cost.seconds:.1f}", f"{cost.peak / 1e6:.0f}", f"{written:,}", f"{size / 1e6:.0f}"


def _cost(database: Path, out: Path) -> Cost:
    return measured([*command(database), "site", "-o", out])


def _files(out: Path) -> dict[str, tuple[int, int]]:
    """Each file with its size and when it was written."""
    found = (path for path in out.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", type=int, default=100)
    parser.add_argument("--releases", type=int, default=50)
    parser.add_argument("--declarations", type=int, default=200)
    asked = parser.parse_args()
    print(
        f"{machine()}; {asked.libraries} libraries x {asked.releases} releases x {asked.declarations} declarations.\n"
    )
    with TemporaryDirectory() as folder:
        print(table(HEAD, lines(Path(folder), asked.libraries, asked.releases, asked.declarations)), flush=True)


if __name__ == "__main__":
    main()
