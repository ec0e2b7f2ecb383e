"""Judges written edits, and counts what is wrong.

::

    python -m benchmarks.oracle.written              # all of them
    python -m benchmarks.oracle.written "vtable"     # those whose titles have a word

A line is printed for each wrong answer, and for each edit of which the program shows something else than was written
down; at the end, how many edits and breaks there were, and how many answers of each way of asking were wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.oracle.asking import WAYS
from benchmarks.oracle.written.building import built
from benchmarks.oracle.written.edit import Edit, written
from benchmarks.oracle.written.judging import Wrong, wrong
from examples.obtain import Missing


def main() -> None:
    """Print the wrong answers, and a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help="judge only edits whose titles have one of these")
    asked = parser.parse_args()
    edits = [each for each in written() if not asked.words or any(word in each.title for word in asked.words)]
    counts = Counter[tuple[str, str]]()
    for each in edits:
        for found in _judged(each):
            print(found, flush=True)
            counts[found.way, found.word] += 1
    print(f"{len(edits)} edits, {sum(bool(each.breaks) for each in edits)} of them breaks")
    for way in ("truth", *WAYS):
        print(f"{way:24}", *(f"{word} {counts[way, word]:3} " for word in ("missed", "unchecked", "false", "known")))


def _judged(edit: Edit) -> list[Wrong]:
    try:
        with TemporaryDirectory(prefix="abistore-written-") as folder:
            return list(wrong(built(edit, Path(folder))))
    except Missing as problem:
        sys.exit(f"error: {edit.title}: {problem}")


if __name__ == "__main__":
    main()
