"""What a long history costs: judging every release for the first time, showing it again, and with a baseline.

``python -m benchmarks.history [--releases N ...] [--rounds N] [--joined]`` prints a Markdown table. Needs no more.
``--questions`` measures what the history is asked instead: since when, until when, which release can replace which.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
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


def line(folder: Path, releases: int, asked: argparse.Namespace) -> Sequence[str]:
    """One line of the table: medians of processor time, and the largest peaks."""
    database = folder / f"{releases}.db"
    ingested(database, releases, asked.declarations, asked.joined)
    stored = _megabytes(database)
    rounds = [judged(database, folder / "judged.db") for _ in range(asked.rounds)]
    costs = (text for series in zip(*rounds, strict=True) for text in _told(*series))
    found = (str(releases), f"{stored:.1f}", *costs, f"{_megabytes(folder / 'judged.db'):.1f}")
    for path in folder.glob("*.db*"):
        path.unlink()
    return found


def judged(database: Path, copy: Path) -> tuple[Cost, ...]:
    """What a history costs first and again, then the same with a baseline: in ``copy``, which is made anew for each."""
    costs: list[Cost] = []
    for baseline in (False, True):
        for path in copy.parent.glob(f"{copy.name}*"):
            path.unlink()
        shutil.copyfile(database, copy)
        if baseline:
            measured([*command(copy), "db", "baseline", "set", "growing@1.1"])
        costs += history(copy), history(copy)
    return tuple(costs)


QUESTIONS = (
    ("log", "call_77"),
    ("show", "--exports", "growing"),
    ("show", "--types", "growing"),
    ("blame", "call_77"),
    ("blame", "growing"),
    ("list", "--provides", "call_77"),
    ("show", "growing", "--users", "record_77"),
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


def _told(*costs: Cost) -> tuple[str, str]:
    return f"{median(cost.seconds for cost in costs):.2f}", f"{max(cost.peak for cost in costs) / 1e6:.0f}"


def _megabytes(database: Path) -> float:
    return sum(file.stat().st_size for file in database.parent.glob(f"{database.name}*")) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, nargs="+", default=[50, 200, 500, 1000])
    parser.add_argument("--declarations", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=1, help="runs of each command, without --questions")
    parser.add_argument("--joined", action="store_true", help="declarations that have to do with each other")
    parser.add_argument("--questions", action="store_true", help="what questions to the longest history cost")
    asked = parser.parse_args()
    print(f"{machine()}; {asked.declarations:,} declarations, one in a hundred differs from release to release.\n")

    def lines() -> Iterator[Sequence[str]]:
        with TemporaryDirectory() as folder:
            for releases in asked.releases:
                yield line(Path(folder), releases, asked)

    if asked.questions:
        with TemporaryDirectory() as folder:
            print(table(ASKED, questions(Path(folder), max(asked.releases), asked.declarations, asked.joined)))
        return
    print(table(HEAD, lines()), flush=True)


if __name__ == "__main__":
    main()
