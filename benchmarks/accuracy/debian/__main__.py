"""Chooses a hundred pairs of Debian packages and obtains them.

::

    python -m benchmarks.accuracy.debian FOLDER --choose    # write pairs.csv from the indexes of today
    python -m benchmarks.accuracy.debian FOLDER --obtain    # download and unpack the pairs in pairs.csv

``FOLDER`` holds the packages and an apt root of its own; it is made where it is absent. Needs apt and dpkg.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.accuracy.debian import pairs, write
from benchmarks.accuracy.debian.archive import SUITES, Archive
from benchmarks.accuracy.debian.choosing import choose
from benchmarks.accuracy.debian.obtaining import obtain


def main() -> None:
    """Do what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--choose", action="store_true", help="choose pairs and write pairs.csv")
    task.add_argument("--obtain", action="store_true", help="download and unpack the pairs in pairs.csv")
    options = parser.parse_args()
    archive = Archive(options.folder / "apt")
    archive.update()
    for suite in SUITES:
        print(f"{suite} {archive.release(suite)}: {len(archive.index(suite))} packages", file=sys.stderr)
    if options.choose:
        write(choose(archive, options.folder))
    else:
        print(f"dependencies: {obtain(archive, pairs(), options.folder)} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
