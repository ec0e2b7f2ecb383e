"""Makes the kept pairs, or asks abistore about them.

::

    python -m benchmarks.accuracy.kept [LIBRARY...]    # make what is missing, cheapest first, or these again
    python -m benchmarks.accuracy.kept --answers       # compare all, write answers.csv and docs/lab/accuracy-kept.md

What is obtained and built lies below ``ABISTORE_EXAMPLES``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from benchmarks.accuracy import kept
from benchmarks.accuracy.kept import answers, archives
from benchmarks.accuracy.kept.making import Made, cheapest_first, make
from benchmarks.accuracy.kept.page import PAGE, page, read_left_out, totals, write_left_out
from examples.obtain import CACHE, alone


def make_all(libraries: Sequence[str], jobs: int) -> None:
    """Make archives, several at a time; what is left out of each is written down as it is known."""
    with ProcessPoolExecutor(jobs, max_tasks_per_child=1) as pool:
        for done in as_completed([pool.submit(make, library) for library in libraries]):
            note(done.result())


def note(made: Made) -> None:
    """Say what was made of a library, and write down what is left out of it."""
    with alone(CACHE / "locks" / "left-out"):  # other runs write it too
        write_left_out([each for each in read_left_out() if each.library != made.library] + list(made.left_out))
    print(f"{made.library}: {made.kept} releases, {made.size:,} bytes", flush=True)
    for each in made.left_out:
        print(f"  left out: {each.version or 'all'}: {each.why}", flush=True)


def missing() -> list[str]:
    """The libraries of which nothing is kept and nothing was tried, cheapest first."""
    tried = {each.library for each in read_left_out()}
    return [each for each in cheapest_first() if each not in tried and not archives.path_of(each).exists()]


def ask() -> None:
    """Compare all kept pairs, say what is new, write the answers and the page."""
    then, found = answers.read(), dict(answers.answers(kept.pairs()))
    for line in answers.differences(then, found) if then else ():
        print(line)
    answers.write(found)
    PAGE.write_text(page(found))
    print(*totals(found), sep="\n")


def main() -> None:
    """Do what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="*", metavar="LIBRARY")
    parser.add_argument("--answers", action="store_true", help="compare all kept pairs, and build nothing")
    parser.add_argument("--jobs", type=int, default=1, help="libraries at a time")
    asked = parser.parse_args()
    if asked.answers:
        ask()
    else:
        make_all(asked.library or missing(), asked.jobs)


if __name__ == "__main__":
    main()
