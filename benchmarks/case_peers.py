"""What abidiff and ABICC say of each release of a case study and the one before it, beside abistore.

Run ``python -m benchmarks.case_peers CASE`` after the case study was built and stored. Rows are of its first library
on its first line. Each tool is used as for the pairs of :mod:`benchmarks.accuracy`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.accuracy.asking import abicc, abidiff
from benchmarks.accuracy.release import Release
from examples.case_studies.building import built, headers, include
from examples.case_studies.case import Case, case
from examples.case_studies.case import Release as Stored
from examples.case_studies.storing import database
from examples.histories import abistore


def table(study: Case) -> Iterator[str]:
    """The rows of a Markdown table, one for each release but the first."""
    yield "| release | abistore | abidiff | ABICC |"
    yield "|---|---|---|---|"
    line = next(iter(study.lines))
    for old, new in pairwise(study.releases):
        pair = _release(study, old, line), _release(study, new, line)
        with TemporaryDirectory() as one, TemporaryDirectory() as other:
            words = abidiff(*pair, True, Path(one)).word, abicc(*pair, True, Path(other)).word
        yield f"| {new.version} | {_stored(study, new, line)} | {' | '.join(words)} |"


def _release(study: Case, release: Stored, line: str) -> Release:
    folder = built(study, release, line)
    public = tuple(Path(path) for path in headers(study, release, folder) if "=" not in path)
    return Release(
        library=study.name,
        version=release.version,
        language="c",
        folder=Path(public[0].root),
        binary=folder / study.libraries[0].name,
        headers=public,
        umbrella=(),
        include=tuple(include(study, release)),
        defines=(),
        options=(),
    )


def _stored(study: Case, release: Stored, line: str) -> str:
    stem = study.libraries[0].name.removesuffix(".so")
    told = abistore("--db", database(study), "--json", "verdict", f"{stem}@{release.version}", "--target", line)
    return str(json.loads(told)["verdict"])


if __name__ == "__main__":
    for row in table(case(sys.argv[1])):
        print(row, flush=True)
