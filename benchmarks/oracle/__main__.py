"""Judges random edits of random pieces, and counts what is wrong.

::

    python -m benchmarks.oracle --seeds 0:20                  # C++, twelve pieces a seed
    python -m benchmarks.oracle --seeds 0:20 --language c

A line is printed for each wrong answer, and at the end how many pieces and breaks there were, and for each way of
asking how many breaks were missed, how many of which it is said that something was not checked, and how many told that
are none. The same seeds give the same pieces.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.oracle.asking import WAYS, breaks, wrong
from benchmarks.oracle.building import STANDARD, built
from examples.obtain import Missing


def main() -> None:
    """Print the wrong answers, and a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=_seeds, default=range(20), metavar="FIRST:END", help="which seeds (0:20)")
    parser.add_argument("--pieces", type=int, default=12, metavar="N", help="pieces for each seed")
    parser.add_argument("--language", choices=sorted(STANDARD), default="c++")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="build there, in a folder for each seed")
    asked = parser.parse_args()
    pieces, known, counts = 0, 0, Counter[tuple[str, str]]()
    try:
        for seed, folder in _folders(asked.seeds, asked.keep):
            library = built(seed, asked.pieces, asked.language, folder)
            pieces += len(library.pieces)
            known += sum(bool(breaks(library, each)) for each in library.pieces)
            for each in wrong(library):
                print(each, flush=True)
                counts[each.way, each.word] += 1
    except Missing as problem:
        sys.exit(f"error: {problem}")
    print(f"{pieces} pieces, {known} of them broken")
    for way in WAYS:
        print(f"{way:24}", *(f"{word} {counts[way, word]:3} " for word in ("missed", "unchecked", "false")))


def _seeds(text: str) -> range:
    first, colon, end = text.partition(":")
    return range(int(first), int(end) if colon else int(first) + 1)


def _folders(seeds: range, keep: Path | None) -> Iterator[tuple[int, Path]]:
    """An empty folder for each seed."""
    for seed in seeds:
        if keep is None:
            with TemporaryDirectory(prefix="abistore-oracle-") as folder:
                yield seed, Path(folder)
        else:
            shutil.rmtree(keep / str(seed), ignore_errors=True)
            (keep / str(seed)).mkdir(parents=True)
            yield seed, keep / str(seed)


if __name__ == "__main__":
    main()
