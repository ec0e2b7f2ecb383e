"""Replaces each predicate and kind of the judging by a constant, and counts the right answers gained and lost.

::

    python -m benchmarks.accuracy.worth                  # try what is not tried yet, write the tables and the page
    python -m benchmarks.accuracy.worth --show NAME      # the pairs whose answer a predicate or a kind decides
    python -m benchmarks.accuracy.worth --document       # write docs/accuracy-worth.md from the tables

A library is tried again when its snapshots or the engine changed; a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

import msgspec

from abistore.model.digest import snapshot_digest
from benchmarks.accuracy import kept
from benchmarks.accuracy.kept import KeptPair
from benchmarks.accuracy.worth.page import PAGE, page, steps, summary
from benchmarks.accuracy.worth.subjects import Subject, kinds, predicates
from benchmarks.accuracy.worth.tables import (
    STEPS,
    TOGETHER,
    WORTH,
    Together,
    Worth,
    chosen,
    classes,
    half,
    kept_together,
    kept_worths,
    together,
    worths,
    write,
)
from benchmarks.accuracy.worth.trials import FORK, Answer, LibraryTrial, PairTrial, replaced, trial
from examples.obtain import CACHE, PROJECT

FOLDER = CACHE / "worth"


def libraries() -> Iterator[tuple[str, list[KeptPair]]]:
    """The kept pairs of one library after the other."""
    for library, found in groupby(kept.pairs(), lambda each: each.pair.library):
        yield library, list(found)


def code() -> bytes:
    """A digest of everything that answers follow from beside the snapshots."""
    told = blake2b()
    folders = (PROJECT / "abistore", Path(__file__).parent)
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".json")):
        told.update(path.relative_to(PROJECT).as_posix().encode() + path.read_bytes())
    return told.digest()


def inputs_of(pairs: Sequence[KeptPair], code: bytes) -> str:
    """A digest of what the trial of a library follows from."""
    told = blake2b(code, digest_size=16)
    for each in pairs:
        truth = each.pair
        told.update(repr((truth.old, truth.new, truth.breaks, truth.breaks_source)).encode())
        told.update(snapshot_digest(each.old) + snapshot_digest(each.new))
    return told.hexdigest()


def known(library: str, inputs: str) -> LibraryTrial | None:
    """A trial that was made of the same inputs."""
    path = FOLDER / f"{library}.json"
    if not path.exists():
        return None
    found = msgspec.json.decode(path.read_bytes(), type=LibraryTrial)
    return found if found.inputs == inputs else None


def keep(made: LibraryTrial) -> None:
    """Store a trial, whole or not at all."""
    path = FOLDER / f"{made.library}.json"
    path.with_suffix(".new").write_bytes(msgspec.json.encode(made))
    path.with_suffix(".new").replace(path)
    print(f"{made.library}: {len(made.pairs)} pairs, {made.seconds:.0f} s", flush=True)


def attempt(subjects: Sequence[Subject], jobs: int) -> Iterator[LibraryTrial]:
    """The trials of all libraries; what is not known is tried first, in processes of its own."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    now, inputs, running = code(), dict[str, str](), list[BaseProcess]()
    for library, pairs in libraries():
        inputs[library] = inputs_of(pairs, now)
        if known(library, inputs[library]):
            continue
        while len(running) >= jobs:
            wait([each.sentinel for each in running])
            running = [each for each in running if each.is_alive()]
        running.append(FORK.Process(target=_try, args=(pairs, subjects, inputs[library])))
        running[-1].start()
    for each in running:
        each.join()
    for library, told in inputs.items():
        if made := known(library, told):
            yield made
        else:
            sys.exit(f"error: {library} could not be tried")


def _try(pairs: Sequence[KeptPair], subjects: Sequence[Subject], inputs: str) -> None:
    gc.freeze()  # the collector would copy the pages that forked processes share
    keep(trial(pairs, subjects, inputs))


def at_once(trials: Sequence[LibraryTrial], subjects: Sequence[Subject]) -> Iterator[Together]:
    """For each step and half, the pairs of that half with all predicates replaced that the other half allows."""
    sets = {
        (step, side): chosen([each for each in trials if half(each.library) != side], subjects, step)
        for step in STEPS
        for side in (0, 1)
    }
    made = {each.library: each.pairs for each in trials}
    answers = {place: list[tuple[PairTrial, Answer]]() for place in sets}
    for library, pairs in libraries():
        for place, by in sets.items():
            if place[1] == half(library):
                answers[place] += zip(made[library], replaced(pairs, by), strict=True)
    for (step, side), by in sets.items():
        yield together(step, side, by, answers[step, side])


def show(name: str) -> None:
    """A line for each pair whose answer ``name`` decides, of the trials that are stored."""
    for path in sorted(FOLDER.glob("*.json")):
        made = msgspec.json.decode(path.read_bytes(), type=LibraryTrial)
        for pair in made.pairs:
            for key, answer in pair.changed.items():
                told, _, constant = key.rpartition(" ")
                if told.endswith(name):
                    truth = "breaks" if pair.breaks else "breaks sources" if pair.breaks_source else "harmless"
                    said = f"{pair.answer.verdict} -> {answer.verdict or 'fails'}"
                    print(f"{told} {constant}: {made.library} {pair.old} -> {pair.new} ({truth}): {said}")


def main() -> None:
    """Do what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", metavar="NAME", help="a predicate (its last words suffice) or a kind")
    parser.add_argument("--document", action="store_true", help="write docs/accuracy-worth.md and try nothing")
    parser.add_argument("--jobs", type=int, default=1, help="libraries at a time")
    asked = parser.parse_args()
    if asked.show:
        show(asked.show)
        return
    if not asked.document:
        measure(asked.jobs)
    PAGE.write_text(page(kept_worths(), kept_together()))


def measure(jobs: int) -> None:
    """Fill both tables and print what they add up to."""
    special = list(predicates())
    subjects = [*special, *kinds()]
    trials = list(attempt(subjects, jobs))
    rows = worths(trials, subjects)
    write(WORTH, Worth._fields, rows)
    write(TOGETHER, Together._fields, at_once(trials, special))
    for line in (*summary(classes(rows)), *steps(kept_together())):
        print(line)
    print(f"{sum(each.seconds for each in trials):.0f} s of CPU for {sum(len(each.pairs) for each in trials)} pairs")


if __name__ == "__main__":
    main()
