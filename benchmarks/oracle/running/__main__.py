"""Draws edits, runs programs, asks abistore and abidiff, and keeps what each says.

::

    python -m benchmarks.oracle.running --seeds 0:2000 --results edits.jsonl    # goes on where it was interrupted
    python -m benchmarks.oracle.running --results edits.jsonl --document        # docs/lab/accuracy-edits.md
    python -m benchmarks.oracle.running --results edits.jsonl --snapshots       # tests/edits, a hundred of them
    python -m benchmarks.oracle.running --seeds 17 --keep FOLDER                # one edit, to look at

The results have a line for each seed: the edit with its digest, the truth with what shows it, and each answer. The same
seed draws the same edit, and the same compilers make the same bytes of it. What was said by another engine is asked
again, and what programs did is kept.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from abistore.model.findings import ENGINE
from abistore.model.snapshot import Snapshot
from benchmarks.oracle.running import keeping
from benchmarks.oracle.running.asking import MODES, Asker, abidiff
from benchmarks.oracle.running.drawing import Edit, drawn
from benchmarks.oracle.running.page import PAGE, page
from benchmarks.oracle.running.results import Result, read, unlike
from benchmarks.oracle.running.truth import Built, Clients, DoesNotBuild, build, clients, emptied
from examples.obtain import Missing


class Runner:
    """Builds and asks in a folder; the old side of each library is built once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asker = Asker()
        self.known: dict[str, Clients] = {}

    def result(self, seed: int) -> Result:
        """What a seed's edit does, and what is said of it."""
        begun = sum(os.times()[:4])
        edit, new, refused = self._built(seed)
        users = self.known[edit.library]
        truth, shown = users.truth(new, self.folder / "new")
        return Result(
            seed=seed,
            digest=edit.digest,
            refused=refused,
            engine=str(ENGINE),
            library=edit.library,
            operators=[each.name for each in edit.operators],
            subjects=[each.subject for each in edit.operators],
            title=edit.title,
            truth=str(truth),
            shown=shown[:300],
            answers=self.asker.answers(users.old, new),
            abidiff=dict(abidiff(users.old, new)),
            seconds=round(sum(os.times()[:4]) - begun, 3),
        )

    def asked_again(self, before: Result) -> Result:
        """A result with what is said now; programs and abidiff are not asked again."""
        edit, new, _ = self._built(before.seed)
        answers = self.asker.answers(self.known[edit.library].old, new)
        return msgspec.structs.replace(before, engine=str(ENGINE), answers=answers)

    def sides(self, seed: int) -> list[Snapshot]:
        """The snapshots of an edit in each mode: the old side's, then the new one's."""
        edit, new, _ = self._built(seed)
        old = self.known[edit.library].old
        return [shown[mode] for shown in map(self.asker.snapshots, (old, new)) for mode in MODES]

    def _built(self, seed: int) -> tuple[Edit, Built, list[str]]:
        refused: list[str] = []
        for edit in drawn(seed):
            if edit.library not in self.known:
                folder = emptied(self.folder / edit.library)
                self.known[edit.library] = clients(edit.library, build(edit.old, folder), folder)
            try:
                return edit, build(edit.new, emptied(self.folder / "new")), refused
            except DoesNotBuild:
                refused.append(edit.digest)
        raise AssertionError("a seed draws edits without end")


def main() -> None:
    """Run what is asked for."""
    asked = _asked()
    if asked.document:
        PAGE.write_text(page(read(asked.results)))
        return
    done = {each.seed: each for each in read(asked.results)} if asked.results and asked.results.exists() else {}
    try:
        with TemporaryDirectory(prefix="abistore-edits-") as temporary:
            runner = Runner(asked.keep or Path(temporary))
            if asked.snapshots:
                keeping.write([(each, runner.sides(each.seed)) for each in keeping.chosen(read(asked.results))])
                return
            for seed in asked.seeds:
                before = done.get(seed)
                if before is None or not _is_of_now(before):
                    _tell(runner.result(seed), asked.results)
                elif before.engine != str(ENGINE):
                    _tell(runner.asked_again(before), asked.results)
    except Missing as problem:
        sys.exit(f"error: {problem}")


def _is_of_now(result: Result) -> bool:
    """Whether its seed still draws the same edit."""
    expected = [*result.refused, result.digest]
    return [edit.digest for edit, _ in zip(drawn(result.seed), expected, strict=False)] == expected


def _tell(result: Result, results: Path | None) -> None:
    if results:
        with results.open("ab") as file:
            file.write(msgspec.json.encode(result) + b"\n")
    for line in unlike(result):
        print(line, flush=True)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=_seeds, default=range(20), metavar="FIRST:END", help="which seeds (0:20)")
    parser.add_argument("--results", type=Path, metavar="FILE", help="a line for each seed is appended there")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="build there; the last edit stays in new/")
    parser.add_argument("--document", action="store_true", help="write docs/lab/accuracy-edits.md from the results")
    parser.add_argument("--snapshots", action="store_true", help="keep a hundred of the results in tests/edits")
    asked = parser.parse_args()
    if (asked.document or asked.snapshots) and not asked.results:
        parser.error("--document and --snapshots need --results")
    return asked


def _seeds(text: str) -> range:
    first, colon, end = text.partition(":")
    return range(int(first), int(end) if colon else int(first) + 1)


if __name__ == "__main__":
    main()
