"""What a commit costs with each journal of SQLite, and whether a copy of the file alone has it.

``python -m benchmarks.journals FOLDER``
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

JOURNALS = (("WAL", ""), ("WAL", "PRAGMA wal_checkpoint(TRUNCATE)"), ("DELETE", ""), ("TRUNCATE", ""), ("PERSIST", ""))
ROUNDS, COMMITS, ROWS = 3, 100, 30


def measured(folder: Path, journal: str, after: str) -> tuple[float, int]:
    """Milliseconds of a commit beside an idle reader, and the rows that a copy of the file alone has."""
    path = folder / "a.db"
    writer = sqlite3.connect(path, isolation_level=None)
    for pragma in (f"journal_mode = {journal}", "synchronous = FULL"):
        writer.execute(f"PRAGMA {pragma}")
    writer.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)")
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("SELECT count(*) FROM t").fetchone()
    cost = median(_round(writer, after) for _ in range(ROUNDS))
    copy = sqlite3.connect(shutil.copy(path, folder / "copy.db"))
    return cost, int(copy.execute("SELECT count(*) FROM t").fetchone()[0])


def _round(writer: sqlite3.Connection, after: str) -> float:
    began = perf_counter()
    for _ in range(COMMITS):
        writer.execute("BEGIN IMMEDIATE")
        writer.executemany("INSERT INTO t (b) VALUES (?)", [(os.urandom(2_000),) for _ in range(ROWS)])
        writer.execute("COMMIT")
        if after:
            writer.execute(after).fetchall()
    return (perf_counter() - began) / COMMITS * 1_000


if __name__ == "__main__":
    for journal, after in JOURNALS:
        with tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
            cost, rows = measured(Path(folder), journal, after)
        print(f"{journal} {after}: {cost:.1f} ms a commit, {rows} of {ROUNDS * COMMITS * ROWS} rows in the copy")
