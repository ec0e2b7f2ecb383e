"""A store with thirty libraries of thirty releases: real ones, continued by synthetic ones, all of them judged.

``python -m benchmarks.thirty DATABASE`` makes it. A real library's releases are those that ``examples/`` builds; after
them its last one goes on, and loses and regains a function from release to release. Libraries for which nothing is
built are synthetic. A database that is there is left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from abistore.interface import BaselinePlan, ExtractOptions, capture, history, set_baseline
from abistore.model.declarations import Name
from abistore.model.history import IngestRequest
from abistore.model.snapshot import Evidence, Snapshot
from abistore.store.store import Store
from benchmarks.libraries import library
from benchmarks.releases import made
from examples.more_recipes import ALL
from examples.obtain import CACHE
from examples.recipes import Recipe

LIBRARIES, RELEASES = 30, 30
HUGE, HUGE_DECLARATIONS = "growing", 5_000
"""One synthetic library is larger than all others: a C library of so many declarations."""


class Thirty(NamedTuple):
    """How many libraries and releases of the store are real."""

    libraries: int
    releases: int


def fill(database: Path) -> Thirty:
    """Make the store, and tell how much of it is real; what is built already is taken, nothing is obtained."""
    real = {recipe: files for recipe in ALL.values() if (files := _built(recipe))}
    told = Thirty(len(real), sum(map(len, real.values())))
    if database.exists():
        return told
    partial = database.with_suffix(".partial")
    with Store.open(partial, write=True) as store:
        for name, snapshots in _every(real):
            print(f"{name}: {RELEASES} releases", file=sys.stderr, flush=True)
            for number, snapshot in enumerate(islice(snapshots, RELEASES)):
                request = IngestRequest(snapshot.version or f"1.{number}", library=name)
                store.ingest(snapshot, request)
        for name in sorted({line.library for line in store.lines()}):
            first = store.releases(name)[0].version
            set_baseline(f"{name}@{first}", BaselinePlan(reason="the first release that is stored"), database=partial)
            history(name, database=partial)
    partial.rename(database)
    return told


def _every(real: Mapping[Recipe, Mapping[str, Path]]) -> Iterator[tuple[str, Iterator[Snapshot]]]:
    for recipe, files in real.items():
        yield recipe.library, continued([_captured(recipe, *each) for each in files.items()])
    yield HUGE, (made(number, HUGE_DECLARATIONS, joined=True) for number in range(RELEASES))
    for number in range(LIBRARIES - 1 - len(real)):
        only = library(number)
        yield only.library, continued([replace(only, version="1.0")])


def _built(recipe: Recipe) -> dict[str, Path]:
    """The releases of a recipe that were built before, by version."""
    folder = CACHE / "built" / recipe.library
    files = {version: folder / version / recipe.soname for version in recipe.version_numbers()}
    return {version: file for version, file in files.items() if file.exists()}


def _captured(recipe: Recipe, version: str, file: Path) -> Snapshot:
    return capture(file, options=ExtractOptions(library=recipe.library, version=version))


def continued(snapshots: Sequence[Snapshot]) -> Iterator[Snapshot]:
    """The snapshots, and after them the last one without one of its functions, another one each time."""
    yield from snapshots
    last = snapshots[-1]
    functions = sorted(name for name in last.entries["symbol"] if name.kind == "function")
    for number in range(1, RELEASES):
        yield _without(last, functions[number % len(functions)], f"{last.version}.{number}")


def _without(snapshot: Snapshot, gone: Name, version: str) -> Snapshot:
    entries = {
        facet: {name: shapes for name, shapes in shown.items() if name != gone}
        for facet, shown in snapshot.entries.items()
    }
    file = sha256(f"{snapshot.provenance.sha256} {version}".encode()).hexdigest()
    provenance = replace(snapshot.provenance, sha256=file, build_id=file[:40])
    evidence = tuple(_one_less(each, gone in snapshot.entries.get(each.facet, ())) for each in snapshot.evidence)
    return replace(snapshot, version=version, entries=entries, evidence=evidence, provenance=provenance)


def _one_less(evidence: Evidence, was_described: bool) -> Evidence:
    """Evidence of what has one export less."""
    described = max(0, evidence.described - was_described)
    return replace(evidence, described=described, expected=max(0, evidence.expected - 1))


def main() -> None:
    """Make the store at the path that is given."""
    told = fill(Path(sys.argv[1]))
    print(f"{told.libraries} real libraries with {told.releases} real releases")


if __name__ == "__main__":
    main()
