"""Replaces each predicate and kind of the judging by a constant, and counts the right answers gained and lost.

::

    python -m benchmarks.accuracy.worth                  # try what is not tried yet, write the tables, print a page
    python -m benchmarks.accuracy.worth --show NAME      # the pairs whose verdict a predicate or a kind decides

A library is tried again when its snapshots or the engine changed; a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from itertools import groupby
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

import msgspec

from abistore.model.snapshot import snapshot_digest
from benchmarks.accuracy import kept
from benchmarks.accuracy.kept import KeptPair
from benchmarks.accuracy.kept.answers import EVIDENCE, seen
from benchmarks.accuracy.worth.page import page
from benchmarks.accuracy.worth.subjects import Subject, import_engine, kinds, predicates
from benchmarks.accuracy.worth.tables import (
    STEPS,
    Together,
    Worth,
    chosen,
    half,
    together,
    worths,
    write,
)
from benchmarks.accuracy.worth.trials import FORK, Answer, Asked, LibraryTrial, PairTrial, replaced, trial
from examples.obtain import CACHE, PROJECT

TRIALS: Final = CACHE / "worth"
"""Finished trials: a folder for each state of the code, a file for each library."""

OUTER: Final = frozenset({"cli", "extract", "mcp", "report", "service", "store"})
"""The packages of abistore that no comparison runs."""


def libraries() -> Iterator[tuple[str, list[Asked]]]:
    """The kept pairs of one library after the other, by each evidence."""
    for library, found in groupby(kept.pairs(), lambda each: each.pair.library):
        yield library, [by_evidence(each, evidence) for each in found for evidence in EVIDENCE]


def by_evidence(pair: KeptPair, evidence: str) -> Asked:
    """A pair as this evidence shows it."""
    return Asked(KeptPair(pair.pair, seen(pair.old, evidence), seen(pair.new, evidence)), evidence)


@cache
def folder() -> Path:
    """Where trials are kept that were made by this code: all that a comparison may run, and how it is tried."""
    told = blake2b(digest_size=8)
    accuracy = Path(kept.__file__).parents[1]
    trying = [accuracy / each for each in ("kept/answers.py", "worth/subjects.py", "worth/trials.py")]
    judging = [path for path in sorted((PROJECT / "abistore").rglob("*")) if path.suffix in (".py", ".json")]
    for path in [*trying, *judging]:
        place = path.relative_to(PROJECT)
        if place.parts[1] not in OUTER:
            told.update(place.as_posix().encode() + path.read_bytes())
    return TRIALS / told.hexdigest()


def inputs_of(asked: Sequence[Asked]) -> str:
    """A digest of the snapshots of a library and of the truth about them."""
    told = blake2b(digest_size=16)
    for each in asked:
        truth = each.kept.pair
        told.update(repr((truth.old, truth.new, truth.breaks, truth.breaks_source)).encode())
        told.update(snapshot_digest(each.kept.old) + snapshot_digest(each.kept.new))
    return told.hexdigest()


def known(library: str, inputs: str) -> LibraryTrial | None:
    """A trial that was made of the same inputs."""
    path = folder() / f"{library}.json"
    if not path.exists():
        return None
    found = msgspec.json.decode(path.read_bytes(), type=LibraryTrial)
    return found if found.inputs == inputs else None


def keep(made: LibraryTrial) -> None:
    """Store a trial, whole or not at all."""
    path = folder() / f"{made.library}.json"
    path.with_suffix(".new").write_bytes(msgspec.json.encode(made))
    path.with_suffix(".new").replace(path)
    print(f"{made.library}: {len(made.pairs)} comparisons, {made.seconds:.0f} s", flush=True)


def attempt(subjects: Sequence[Subject], jobs: int) -> Iterator[LibraryTrial]:
    """The trials of all libraries; what is not known is tried first, in processes of its own."""
    folder().mkdir(parents=True, exist_ok=True)
    inputs, running = dict[str, str](), list[BaseProcess]()
    for library, asked in libraries():
        inputs[library] = inputs_of(asked)
        if known(library, inputs[library]):
            continue
        while len(running) >= jobs:
            wait([each.sentinel for each in running])
            running = [each for each in running if each.is_alive()]
        running.append(FORK.Process(target=_try, args=(asked, subjects, inputs[library])))
        running[-1].start()
    for each in running:
        each.join()
    for library, told in inputs.items():
        if made := known(library, told):
            yield made
        else:
            sys.exit(f"error: {library} could not be tried")


def _try(asked: Sequence[Asked], subjects: Sequence[Subject], inputs: str) -> None:
    keep(trial(asked, subjects, inputs))


def at_once(trials: Sequence[LibraryTrial], subjects: Sequence[Subject]) -> Iterator[Together]:
    """For each step and half, the pairs of that half with all predicates replaced that the other half allows."""
    sets = {
        (step, side): chosen([each for each in trials if half(each.library) != side], subjects, step)
        for step in STEPS
        for side in (0, 1)
    }
    made = {each.library: each.pairs for each in trials}
    answers = {place: list[tuple[PairTrial, Answer]]() for place in sets}
    for library, asked in libraries():
        pairs = [each.kept for each in asked]
        for place, by in sets.items():
            if place[1] == half(library):
                answers[place] += zip(made[library], replaced(pairs, by), strict=True)
    for (step, side), by in sets.items():
        yield from together(step, side, by, answers[step, side])


def show(name: str) -> None:
    """A line for each pair whose verdict ``name`` decides, of the trials that are stored."""
    for path in sorted(folder().glob("*.json")):
        made = msgspec.json.decode(path.read_bytes(), type=LibraryTrial)
        for pair in made.pairs:
            for key, answer in pair.changed.items():
                if key.rpartition(" ")[0].endswith(name) and answer.verdict != pair.answer.verdict:
                    print(f"{key}: {made.library} {told(pair, answer)}")


def told(pair: PairTrial, answer: Answer) -> str:
    """A pair, its truth, and its answer before and after."""
    truth = "breaks" if pair.breaks else "breaks sources" if pair.breaks_source else "harmless"
    said = f"{pair.answer.verdict} -> {answer.verdict or 'fails'}"
    return f"{pair.old} -> {pair.new}, {pair.evidence} ({truth}): {said}"


def main() -> None:
    """Do what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", metavar="NAME", help="a predicate (its last words suffice) or a kind")
    parser.add_argument("--jobs", type=int, default=1, help="libraries at a time")
    asked = parser.parse_args()
    if asked.show is not None:
        show(asked.show)
    else:
        measure(asked.jobs)


def measure(jobs: int) -> None:
    """Write both tables beside the trials, and print what they add up to."""
    import_engine()
    special = list(predicates())
    subjects = [*special, *kinds()]
    trials = list(attempt(subjects, jobs))
    rows = worths(trials, subjects)
    at_once_rows = list(at_once(trials, special))
    write(folder() / "worth.csv", Worth._fields, rows)
    write(folder() / "together.csv", Together._fields, at_once_rows)
    print(*page(rows, at_once_rows), sep="\n")
    count, seconds = sum(len(each.pairs) for each in trials), sum(each.seconds for each in trials)
    print(f"{count} comparisons and all their replacements: {seconds:.0f} s of CPU")


if __name__ == "__main__":
    main()
