"""Chooses a hundred pairs of Debian packages, obtains them, asks the tools, and writes ``docs/lab/accuracy-debian.md``.

::

    python -m benchmarks.accuracy.debian FOLDER --choose    # write pairs.csv from the indexes of today
    python -m benchmarks.accuracy.debian FOLDER --obtain    # download and unpack the pairs in pairs.csv
    python -m benchmarks.accuracy.debian FOLDER --ask       # ask the tools, once truth.csv has all pairs
    python -m benchmarks.accuracy.debian --document         # write the page from the tables

``FOLDER`` holds the packages and an apt root of its own; it is made where it is absent. Needs apt and dpkg, and abidiff
to ask. Answers of today's engines in ``answers.csv`` are not asked for again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from pathlib import Path

from benchmarks.accuracy.debian import pairs, write
from benchmarks.accuracy.debian.answers import add, answers
from benchmarks.accuracy.debian.asking import asked
from benchmarks.accuracy.debian.choosing import choose
from benchmarks.accuracy.debian.obtaining import obtain
from benchmarks.accuracy.debian.page import PAGE, judged, page
from benchmarks.accuracy.debian.truth import causes, truths
from examples.archive.apt import SUITES, Archive
from examples.obtain import Missing


def ask(only: Collection[str], folder: Path) -> None:
    """Ask about the pairs of these packages, or all; Missing while there is a pair without a truth."""
    judged, chosen = truths(), list(pairs())
    if unjudged := [pair.package for pair in chosen if pair.package not in judged]:
        raise Missing(f"no truth yet: {', '.join(unjudged)}; all pairs are judged before a tool is asked")
    for answer in asked((pair for pair in chosen if not only or pair.package in only), folder, list(answers())):
        add(answer)
        print(f"{answer.package} {answer.question}: {answer.word}, {answer.seconds} s", flush=True)


def opened(folder: Path) -> Archive:
    """The suites of today, of which each is named."""
    archive = Archive(folder / "apt")
    archive.update()
    for suite in SUITES:
        print(f"{suite} {archive.release(suite)}: {len(archive.index(suite))} packages", file=sys.stderr)
    return archive


def main() -> None:
    """Do what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER")
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--choose", action="store_true", help="choose pairs and write pairs.csv")
    task.add_argument("--obtain", action="store_true", help="download and unpack the pairs in pairs.csv")
    task.add_argument("--ask", action="store_true", help="ask about all pairs and add to answers.csv")
    task.add_argument("--document", action="store_true", help="write the page from the tables")
    parser.add_argument("--only", action="append", default=[], metavar="PACKAGE", help="ask about this package only")
    options = parser.parse_args()
    if options.document:
        PAGE.write_text(page(judged(pairs(), truths(), list(answers()), causes())))
    elif options.folder is None:
        parser.error("FOLDER is missing")
    elif options.choose:
        write(choose(opened(options.folder), options.folder))
    elif options.obtain:
        print(f"dependencies: {obtain(opened(options.folder), pairs(), options.folder)} bytes", file=sys.stderr)
    elif unknown := set(options.only) - {pair.package for pair in pairs()}:
        parser.error(f"no such package: {', '.join(sorted(unknown))}")
    else:
        ask(options.only, options.folder)


if __name__ == "__main__":
    main()
