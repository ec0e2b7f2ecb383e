"""Downloads the libraries that two suites of Debian have under one name, and stores both releases of each.

::

    python -m examples.archive FOLDER --obtain              # a repository of the packages, in FOLDER
    python -m examples.archive FOLDER --ingest abi.db       # store it with a log, and print what that took
    python -m examples.archive FOLDER --count abi.db        # verdicts, and the releases that break
    python -m examples.archive FOLDER --obtain --broken abi.db    # only the libraries that break there

``FOLDER`` is outside of the project and holds an apt root of its own. A download that was ended is continued. The hosts
are those of the machine's own sources. Needs apt. A database may also be the URL of one in PostgreSQL.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from examples.archive.apt import NEW, OLD, Archive, dependencies
from examples.archive.choosing import chosen, development, write_index
from examples.obtain import Missing

ABISTORE: Final = Path(sys.executable).with_name("abistore")
MOST_BYTES: Final = 2_000_000_000
"""The limit of all downloads."""

BATCH: Final = 100
"""Packages of one download: a run that was ended goes on behind the last file."""


def obtain(archive: Archive, folder: Path, names: Sequence[str], devel_bytes: int, dependency_bytes: int = 0) -> None:
    """Download the packages and write an index of them; Missing where they are more than ``MOST_BYTES``.

    Packages that headers depend on come along where they have at most ``dependency_bytes`` each.
    """
    indexes = {suite: archive.index(suite) for suite in (OLD, NEW)}
    devel = {suite: development(index, names, devel_bytes) for suite, index in indexes.items()}
    for packages in devel.values() if dependency_bytes else ():
        packages += (each for each in dependencies(archive, packages) if each.size <= dependency_bytes)
    wanted = {suite: [*(index[name] for name in names), *devel[suite]] for suite, index in indexes.items()}
    size = sum(each.size for packages in wanted.values() for each in packages)
    if size > MOST_BYTES:
        raise Missing(f"the packages have {size:,} bytes, of at most {MOST_BYTES:,}")
    for suite, packages in wanted.items():
        for at in range(0, len(packages), BATCH):
            archive.download(packages[at : at + BATCH], folder)
        write_index(archive.text(suite), packages, folder)
        print(f"{suite} {archive.release(suite)}: {len(names)} libraries, {len(devel[suite])} packages of headers")
    print(f"{size:,} bytes")


def ingest(folder: Path, database: str) -> int:
    """Store the whole repository by one command, and print what that took; the command's exit code."""
    started = time.monotonic()
    command: list[str | Path] = [ABISTORE, "--db", database, "archive", "ingest", folder, "--log", folder / "run.jsonl"]
    ended = subprocess.run(command, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall, cpu, memory = time.monotonic() - started, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024
    print(f"exit {ended}; {wall:.0f} s, {cpu:.0f} s of CPU, {memory} MiB at most")
    return ended


def asked(database: str, *words: str) -> dict[str, Any]:
    """The data that abistore answers with."""
    command: list[str | Path] = [ABISTORE, "--db", database, "--json", *words]
    answer: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["data"]
    return answer


def broken(database: str) -> frozenset[str]:
    """The packages of libraries that have a release which breaks the previous one."""
    histories = asked(database, "history", "--all")["histories"]
    verdicts = {each["line"]["library"]: {row["verdict"] for row in each["rows"]} for each in histories}
    lines = (each for each in asked(database, "list")["lines"] if each["package"])
    return frozenset(each["package"]["name"] for each in lines if "BREAKING" in verdicts[each["line"]["library"]])


def count(database: str) -> None:
    """Print how many releases have which verdict compared with the previous one, and those that break it."""
    histories = asked(database, "history", "--all")["histories"]
    rows = [(each["line"]["library"], row) for each in histories for row in each["rows"] if row["previous"]]
    for verdict, number in Counter(row["verdict"] for _, row in rows).most_common():
        print(f"{number:5,}  {verdict or 'not judged'}")
    for library, row in rows:
        if row["verdict"] == "BREAKING":
            print(f"{library} {row['previous']} -> {row['release']['version']}")


def main() -> int:
    """Do what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--obtain", action="store_true", help="download the packages, and write indexes of them")
    task.add_argument("--ingest", metavar="DATABASE", help="store the packages")
    task.add_argument("--count", metavar="DATABASE", help="print verdicts, and the releases that break")
    parser.add_argument("--most", type=int, default=620, help="libraries, smallest first (%(default)s)")
    text = "the most bytes of a library's packages with headers; 0 for none (%(default)s)"
    parser.add_argument("--devel-bytes", type=int, default=30_000, help=text)
    text = "the most bytes of each package that headers depend on; 0 for none (%(default)s)"
    parser.add_argument("--dependency-bytes", type=int, default=0, help=text)
    text = "with --obtain: only the libraries of which this database has a release that breaks"
    parser.add_argument("--broken", metavar="DATABASE", help=text)
    options = parser.parse_args()
    if options.obtain:
        archive = Archive(options.folder / "apt")
        archive.update()
        names = chosen(archive.index(OLD), archive.index(NEW), options.most)
        only = broken(options.broken) if options.broken else names
        wanted = [each for each in names if each in only]
        obtain(archive, options.folder, wanted, options.devel_bytes, options.dependency_bytes)
    elif options.ingest:
        return ingest(options.folder, options.ingest)
    else:
        count(options.count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
