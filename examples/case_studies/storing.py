"""The releases of a case study in its database, oldest first, each line beside the other."""

from __future__ import annotations

from pathlib import Path

from examples.case_studies.building import built, headers, include
from examples.case_studies.case import FOLDER, Case, Release
from examples.histories import abistore
from examples.obtain import CACHE


def database(case: Case) -> Path:
    """The database of a case study."""
    return CACHE / "cases" / f"{case.name}.db"


def ingest(case: Case) -> None:
    """Every release of every line; the first one becomes the baseline."""
    for release in case.releases:
        for line in case.lines:
            print(_stored(case, release, line), end="", flush=True)


def bundle(case: Case) -> Path:
    """The file that the repository keeps of a case study's database."""
    return FOLDER / f"{case.name}.bundle"


def keep(case: Case) -> None:
    """The database as one file, so that others restore it."""
    print(abistore("--db", database(case), "export", "--bundle", "-o", bundle(case)), end="", flush=True)


def restore(case: Case) -> None:
    """The same releases from the file that the repository keeps; without a network and without a compiler."""
    print(abistore("--db", database(case), "import", bundle(case)), end="", flush=True)


def _stored(case: Case, release: Release, line: str) -> str:
    folder = built(case, release, line)
    shown: list[str | Path] = [word for each in headers(case, release, folder) for word in ("--header", each)]
    shown += [word for path in include(case, release) for word in ("--include-dir", path)]
    what = (folder / case.libraries[0].name,) if len(case.libraries) == 1 else (folder,)
    told = "--version", release.version, "--released", release.released, "--set-baseline-if-none"
    return abistore("--db", database(case), "ingest", *what, *shown, *told)
