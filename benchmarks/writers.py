"""What several writers at once cost that store in one PostgreSQL database: reading their files is counted apart.

``python -m benchmarks.writers [--files N] [--writers N ...] [--folder DIR]`` prints a Markdown table. Libraries of the
folder, in equal shares, are stored by processes that begin together. Needs a PostgreSQL server's programs, which it
starts in a temporary folder, as the tests do. ``--sqlite`` stores in a file instead, ``--batch`` so many files in one
transaction.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psycopg

from abistore.errors import AbistoreError
from abistore.extract.files import InputFile
from abistore.model.history import IngestRequest
from abistore.model.snapshot import Snapshot
from abistore.service.snapshots import captured
from abistore.store.store import Store
from benchmarks.measure import machine
from benchmarks.store import table
from tests.store import postgres

FOLDER, MOST_BYTES = Path("/usr/lib/x86_64-linux-gnu"), 3 << 20
HEAD = ("writers", "files", "CPU s of the writers", "files a CPU s", "wall s", "files a s", "kB a file in the database")


class Share(NamedTuple):
    """What one writer did: processor seconds and seconds of storing."""

    cpu: float
    wall: float


def libraries(folder: Path, most: int) -> list[tuple[Snapshot, float]]:
    """Stripped libraries of a folder, each read once, and the processor seconds of that."""
    paths = sorted({path.resolve() for path in folder.glob("*.so.*") if path.stat().st_size < MOST_BYTES})
    found: list[tuple[Snapshot, float]] = []
    for path in paths:
        began = time.process_time()
        try:
            with InputFile(path) as file:
                found.append((captured(file), time.process_time() - began))
        except AbistoreError:
            continue
        if len(found) == most:
            break
    return found


def stored(url: str, snapshots: Sequence[Snapshot], batch: int, gate: Barrier) -> Share:
    """Store snapshots, so many in a transaction, once all writers have opened the store."""
    with Store.open(url, write=True) as store:
        gate.wait()
        wall, cpu = time.perf_counter(), time.process_time()
        for start in range(0, len(snapshots), batch):
            with store.batch() if batch > 1 else nullcontext():
                for snapshot in snapshots[start : start + batch]:
                    store.ingest(snapshot, IngestRequest("1"))
        return Share(time.process_time() - cpu, time.perf_counter() - wall)


def line(url: str, writers: int, snapshots: Sequence[Snapshot], batch: int) -> Sequence[str]:
    """A line of the table: so many writers share the snapshots, and store them in an empty database."""
    Store.open(url, write=True).close()
    context = get_context("fork")
    gate = context.Barrier(writers)
    results = context.SimpleQueue()

    def write(number: int) -> None:
        results.put(stored(url, snapshots[number::writers], batch, gate))

    processes = [context.Process(target=write, args=(number,)) for number in range(writers)]
    for process in processes:
        process.start()
    shares = [results.get() for _ in processes]
    for process in processes:
        process.join()
    cpu, wall, files = sum(share.cpu for share in shares), max(share.wall for share in shares), len(snapshots)
    with Store.open(url, write=False) as store:
        counted = store.stats()
    if counted.releases != files:
        raise SystemExit(f"error: {counted.releases} of {files} files are stored")
    figures = (f"{cpu:.2f}", f"{files / cpu:.1f}", f"{wall:.1f}", f"{files / wall:.1f}")
    return (str(writers), str(files), *figures, f"{counted.size / files / 1e3:.0f}")


@contextmanager
def databases(sqlite: bool) -> Iterator[Iterator[str]]:
    """Where to store: URLs of empty databases on a server of its own, or paths of files that do not exist."""
    if sqlite:
        with TemporaryDirectory() as folder:
            yield (f"{folder}/{number}.db" for number in range(100))
        return
    with postgres.server() as url:
        yield (_empty(url, f"writers{number}") for number in range(100))


def _empty(url: str, name: str) -> str:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return url.replace("/postgres?", f"/{name}?")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--batch", type=int, default=1, help="files in one transaction")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--sqlite", action="store_true", help="store in a file, not on a server")
    asked = parser.parse_args()
    read = libraries(asked.folder, asked.files)
    snapshots = [snapshot for snapshot, _ in read]
    print(f"{machine()}; {len(read)} files, read in {sum(cpu for _, cpu in read):.1f} CPU s apart.\n")
    with databases(asked.sqlite) as urls:
        print(
            table(
                HEAD,
                (line(url, writers, snapshots, asked.batch) for writers, url in zip(asked.writers, urls, strict=False)),
            )
        )


if __name__ == "__main__":
    main()
