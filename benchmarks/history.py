"""What a long history costs: judging every release for the first time, showing it again, and with a baseline.

``python -m benchmarks.history [--releases N ...] [--joined]`` prints a Markdown table. Needs nothing but abistore.
``--questions`` measures what the history is asked instead: since when, until when, which release can replace which.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from abistore.model.history import IngestRequest
from abistore.store.store import Store
from benchmarks.measure import Cost, machine, measure
from benchmarks.releases import made
from benchmarks.store import table

ABISTORE = Path(sys.executable).with_name("abistore")
LIMIT = 3600
HEAD = (
    *("releases", "ingested, MB", "first time, CPU s", "peak MB", "again, CPU s", "peak MB"),
    *("with a baseline, CPU s", "peak MB", "again, CPU s", "peak MB", "database, MB"),
)


def ingested(path: Path, releases: int, declarations: int, joined: bool) -> None:
    """Store so many releases in a new database."""
    with Store.open(path, write=True) as store:
        for number in range(1, releases + 1):
            store.ingest(made(number, declarations, joined=joined), IngestRequest(f"1.{number}"))


def line(folder: Path, releases: int, declarations: int, joined: bool) -> Sequence[str]:
    """One line of the table."""
    database = folder / f"{releases}.db"
    ingested(database, releases, declarations, joined)
    stored = _megabytes(database)
    judged, anew = folder / "judged.db", folder / "anew.db"
    shutil.copyfile(database, judged)
    shutil.copyfile(database, anew)
    first, again = history(judged), history(judged)
    measured([*command(anew), "baseline", "set", "growing@1.1"])
    against, against_again = history(anew), history(anew)
    costs = (text for cost in (first, again, against, against_again) for text in _told(cost))
    found = (str(releases), f"{stored:.1f}", *costs, f"{_megabytes(anew):.1f}")
    for path in folder.glob("*.db*"):
        path.unlink()
    return found


QUESTIONS = (
    ("log", "call_77"),
    ("exports", "growing"),
    ("types", "growing"),
    ("first-broken", "call_77"),
    ("blame", "growing"),
    ("provides", "call_77"),
    ("who-uses", "record_77"),
    ("matrix", "growing", "--last", "100"),
    ("matrix", "growing", "--last", "200"),
)
ASKED = ("question", "CPU s", "peak MB")


def questions(folder: Path, releases: int, declarations: int, joined: bool) -> Iterator[Sequence[str]]:
    """A line for each question to a history, of which no release was judged before."""
    database = folder / "asked.db"
    ingested(database, releases, declarations, joined)
    for words in QUESTIONS:
        yield f"`{' '.join(words)}`", *_told(measured([*command(database), *words]))
    yield f"the database: {_megabytes(database):.1f} MB", "", ""


def history(database: Path) -> Cost:
    """The cost of ``abistore history``."""
    return measured([*command(database), "history", "growing"])


def command(database: Path) -> list[str | Path]:
    """An ``abistore`` command on ``database``."""
    return [ABISTORE, "--db", database]


def measured(words: Sequence[str | Path]) -> Cost:
    """The cost of a command that must give an answer."""
    cost = measure(words, LIMIT)
    if cost.status != 0:
        sys.exit(f"error: {' '.join(map(str, words))} ended with {cost.status}")
    return cost


def _told(cost: Cost) -> tuple[str, str]:
    return f"{cost.seconds:.2f}", f"{cost.peak / 1e6:.0f}"


def _megabytes(database: Path) -> float:
    return sum(file.stat().st_size for file in database.parent.glob(f"{database.name}*")) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, nargs="+", default=[50, 200, 500, 1000])
    parser.add_argument("--declarations", type=int, default=5000)
    parser.add_argument("--joined", action="store_true", help="declarations that have to do with each other")
    parser.add_argument("--questions", action="store_true", help="what questions to the longest history cost")
    asked = parser.parse_args()
    print(f"{machine()}; {asked.declarations:,} declarations, one in a hundred differs from release to release.\n")

    def lines() -> Iterator[Sequence[str]]:
        with TemporaryDirectory() as folder:
            for releases in asked.releases:
                yield line(Path(folder), releases, asked.declarations, asked.joined)

    if asked.questions:
        with TemporaryDirectory() as folder:
            print(table(ASKED, questions(Path(folder), max(asked.releases), asked.declarations, asked.joined)))
        return
    print(table(HEAD, lines()), flush=True)


if __name__ == "__main__":
    main()
