"""Judges every pair of ``truth.csv`` with both tools and writes ``docs/lab/accuracy.md``.

::

    python -m benchmarks.accuracy                 # obtain, build, judge all, print the table (LIBRARY ... for some)
    python -m benchmarks.accuracy --document      # and write the page

Each pair is judged twice: from the two files alone, and with the installed headers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date

from benchmarks.accuracy.judging import Judged, judge
from benchmarks.accuracy.page import write
from benchmarks.accuracy.truth import Pair, pairs
from examples.obtain import PROJECT, Missing, require, run


def judged(asked: Iterable[Pair], jobs: int) -> Iterator[Judged]:
    """What the tools say of each pair, in order."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(judge, asked)


def main() -> None:
    """Print a line a pair, and the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="*", metavar="LIBRARY")
    parser.add_argument("--document", action="store_true", help="write docs/lab/accuracy.md")
    parser.add_argument("--jobs", type=int, default=1, help="pairs at a time")
    asked = parser.parse_args()
    chosen = [pair for pair in pairs() if not asked.library or pair.library in asked.library]
    found = []
    try:
        for each in judged(chosen, asked.jobs):
            print(each.line(), flush=True)
            found.append(each)
    except Missing as problem:
        sys.exit(f"error: {problem}")
    if asked.document:
        tool = run([require("abidiff", "abigail-tools"), "--version"], PROJECT).split()[-1]
        write(found, date.today().isoformat(), tool)


if __name__ == "__main__":
    main()
