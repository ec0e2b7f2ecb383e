"""What commands cost here and in another version of abistore, in paired runs.

``python -m benchmarks.against_before PROGRAM [--rounds N]``: ``PROGRAM`` is the other version's ``abistore``. It prints
a Markdown table: median processor seconds of both, and the median ratios of paired runs, of which every other begins
with this version: those of processor time, and those of the time that a user waits. Builds the last two releases of
four libraries: needs gcc, g++ and npm.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.measure import Cost, machine, measure
from benchmarks.store import ABISTORE, LIMIT, VERDICTS, release, table
from examples.recipes import RECIPES, build

Words = Sequence[str | Path]
Work = tuple[str, str, Words]
"""What is done, the store in which (empty: in a new one), and the words of the command."""


class Versions:
    """Both versions, each with stores of its own: a store of one need not be readable for the other."""

    def __init__(self, folder: Path, before: Path) -> None:
        self._folder = folder
        self._programs = {"before": before, "now": ABISTORE}

    def seed(self, store: str, *calls: Words) -> None:
        """Fill a store, in each version."""
        for version, program in self._programs.items():
            for words in calls:
                _ran(program, self._folder / f"{store}-{version}.db", words)

    def paired(self, store: str, words: Words, rounds: int) -> dict[str, list[Cost]]:
        """The costs of a command in each version, round by round; a first round is not counted."""
        costs: dict[str, list[Cost]] = {version: [] for version in self._programs}
        for turn in range(rounds + 1):
            for version in sorted(self._programs, reverse=bool(turn % 2)):
                cost = _ran(self._programs[version], self._copy(store, version), words)
                if turn:
                    costs[version].append(cost)
        return costs

    def _copy(self, store: str, version: str) -> Path:
        used = self._folder / f"used-{version}.db"
        for path in self._folder.glob(f"{used.name}*"):
            path.unlink()
        if store:
            shutil.copyfile(self._folder / f"{store}-{version}.db", used)
        return used


def _ran(program: Path, database: Path, words: Words) -> Cost:
    cost = measure([program, "--db", database, *words], LIMIT)
    if cost.status not in VERDICTS:
        sys.exit(f"error: {program} {' '.join(map(str, words))} ended with {cost.status}")
    return cost


def works(versions: Versions, folder: Path) -> Iterator[Work]:
    """What is measured; the stores that it needs are made on the way."""
    for library, recipe in RECIPES.items():
        old, new = (build(recipe, version) for version in recipe.version_numbers()[-2:])
        versions.seed(library, ["ingest", old, "--version", "1"])
        yield f"{library}: dump", "", ["export", new, "-o", folder / "snapshot.json"]
        yield f"{library}: compare", "", ["compare", old, new]
        yield f"{library}: ingest, new database", "", ["ingest", new, "--version", "2"]
        yield f"{library}: ingest, after the release before", library, ["ingest", new, "--version", "2"]
        yield f"{library}: ingest of a known file", library, ["ingest", old, "--version", "1"]
    first, second = (release(folder, number, 5000) for number in (0, 1))
    versions.seed("growing", ["ingest", first, "--version", "1"], ["ingest", second, "--version", "2"])
    yield "compare two stored versions, 5,000 declarations", "growing", ["compare", "libgrowing@1", "libgrowing@2"]
    yield "`list`", "growing", ["list"]


def rows(before: Path, folder: Path, rounds: int) -> Iterator[Sequence[str]]:
    """A line of the table for each work."""
    versions = Versions(folder, before)
    for what, store, words in works(versions, folder):
        costs = versions.paired(store, words, rounds)
        then, now = ([cost.seconds for cost in costs[version]] for version in ("before", "now"))
        waited = ([cost.elapsed for cost in costs[version]] for version in ("before", "now"))
        yield what, f"{median(then):.2f}", f"{median(now):.2f}", _ratio(then, now), _ratio(*waited)


def _ratio(then: Sequence[float], now: Sequence[float]) -> str:
    return f"{median(after / before for before, after in zip(then, now, strict=True)):.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, metavar="PROGRAM")
    parser.add_argument("--rounds", type=int, default=5, help="paired runs of each command")
    asked = parser.parse_args()
    print(f"{machine()}; CPU seconds of the whole process, medians of {asked.rounds} paired runs.\n")
    with TemporaryDirectory() as name:
        print(
            table(
                ["work", "before", "now", "ratio", "ratio of wall time"], rows(asked.before, Path(name), asked.rounds)
            )
        )


if __name__ == "__main__":
    main()
