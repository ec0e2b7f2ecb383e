"""What ``archive report`` costs in CPU time: ``python -m benchmarks.archive_report [--libraries 2000] [--releases 5]``.

It makes a store of libraries that import each other, of which each tenth drops an export in its last release, judges
all steps, and then reports in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import abistore
from abistore.model.declarations import Name
from abistore.model.history import IngestRequest
from abistore.model.snapshot import Snapshot
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, snapshot, struct

EXPORTS, STRUCTS = 41, 20


def release(library: str, step: int, last: int) -> Snapshot:
    """A release; the last one of each tenth library lacks an export, others have a new one."""
    number = int(library.removeprefix("lib"))
    lost = step == last and number % 10 == 0
    symbols = {function(f"{library}_{each}"): EXPORTED for each in range(1 if lost else 0, EXPORTS + step)}
    layout = {Name("record", f"{library}_s{each}"): struct(*"abcdef"[: 1 + each % 5]) for each in range(STRUCTS)}
    return snapshot(library=library, symbols=symbols, layout=layout)


def fill(path: Path, libraries: int, releases: int) -> None:
    """Store and judge all releases."""
    with Store.open(str(path), write=True, create=True) as store:
        for number in range(libraries):
            with store.transaction():
                for step in range(releases):
                    found = release(f"lib{number}", step, releases - 1)
                    store.ingest(found, IngestRequest(f"1.{step}"))
            for line in store.lines():
                if line.library == f"lib{number}":
                    store.set_baseline(line, "release", "1.0")
    for number in range(libraries):
        abistore.history(f"lib{number}", database=path)


def main() -> None:
    """Make the store, or take one, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", type=int, default=2000)
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--store", type=Path, help="keep the store here, and use the one that is there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.store or Path(folder) / "archive.db"
        if not path.exists():
            fill(path, given.libraries, given.releases)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [sys.executable, "-m", "abistore", "archive", "report", "--since", "2000-01-01", "--json"]
        done = subprocess.run(words, capture_output=True, env={**os.environ, "ABISTORE_DB": str(path)}, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(done.stdout)["data"]["report"]
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told = (
        f"{report['lines']} lines, {report['releases']} releases, {len(report['broken'])} broken, "
        f"{report['unjudged']} unjudged"
    )
    print(f"{told}: {seconds:.2f} s CPU, {after.ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
