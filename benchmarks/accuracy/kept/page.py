"""``docs/lab/accuracy-kept.md``: how many kept pairs there are, and how often abistore is right about them."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping

from benchmarks.accuracy.asking import STOPPING
from benchmarks.accuracy.kept import archives
from benchmarks.accuracy.kept.answers import EVIDENCE, Answer, Place, answered
from benchmarks.accuracy.kept.making import LeftOut, is_harmful
from benchmarks.accuracy.unseen import pairs as judged_pairs
from benchmarks.accuracy.unseen.totals import counts
from examples.obtain import PROJECT

PAGE = PROJECT / "docs" / "lab" / "accuracy-kept.md"
LEFT_OUT = archives.FOLDER / "left-out.csv"

PROGRAMS = "BREAKING: built programs break"
GATE = "BREAKING or API_BREAK: programs or sources break"

HEAD = """| | right | false alarms | missed | rightly silent | no answer | precision | recall |
|---|---:|---:|---:|---:|---:|---:|---:|"""

INTRODUCTION = """# Pairs kept as snapshots

{pairs} of the {judged} judged release pairs, of {libraries} libraries, are in the repository as snapshots: the tests
compare them without obtaining or building anything. {harmful} of them break programs or sources, of {known} judged.

```console
$ python -m benchmarks.accuracy.kept              # obtains, builds, reads and keeps what is missing, cheapest first
$ python -m benchmarks.accuracy.kept libfoo       # makes one library's again
$ python -m benchmarks.accuracy.kept --answers    # compares all, and writes answers.csv and this page
```

`tests/pairs/LIBRARY.tar.xz` has a JSON snapshot of each release, as `abistore compare` reads it with its public
headers: {size:.1f} MB together. Kept are the pairs that break programs or sources, the pairs next to these, and two of
a library that never breaks. The truth (`benchmarks/accuracy/unseen`) and the cost of building choose, never an answer.
{left_out} releases could not be obtained, built or read; {large} libraries are too large (`tests/pairs/left-out.csv`).

`tests/test_pairs.py` fails where a verdict, a finding or a figure changes. The first tier compares all but the largest
libraries. Most rules were made with these pairs in view, so the figures show what a change of the engine does. How
right abistore is on releases that it never saw is in [accuracy-unseen.md](accuracy-unseen.md). *Files* are the same
snapshots without what headers tell.
"""


def page(found: Mapping[Place, Answer]) -> str:
    """The page about these answers."""
    left_out, judged, pairs = read_left_out(), list(judged_pairs()), answered(found)
    libraries = {pair.library for pair in pairs}
    introduction = INTRODUCTION.format(
        pairs=len(pairs),
        judged=len(judged),
        libraries=len(libraries),
        harmful=sum(map(is_harmful, pairs)),
        known=sum(map(is_harmful, judged)),
        size=sum(archives.path_of(library).stat().st_size for library in libraries) / 1e6,
        left_out=sum(bool(each.version) for each in left_out),
        large=sum(not each.version for each in left_out),
    )
    return "\n".join([introduction, *totals(found)]) + "\n"


def totals(found: Mapping[Place, Answer]) -> Iterator[str]:
    """The table: how often a break is told rightly, of programs and at a gate, for each evidence."""
    yield HEAD
    for evidence in EVIDENCE:
        said = [(pair, found[Place(pair.library, pair.old, pair.new, evidence)].verdict) for pair in answered(found)]
        programs = [(pair.breaks, verdict == "BREAKING") for pair, verdict in said]
        gate = [(is_harmful(pair), verdict in STOPPING) for pair, verdict in said]
        for name, answers in ((PROGRAMS, programs), (GATE, gate)):
            yield f"| {evidence}, {name} | {' | '.join(map(str, counts(answers).cells))} |"


def read_left_out() -> list[LeftOut]:
    """What is not kept, and why."""
    if not LEFT_OUT.exists():
        return []
    with LEFT_OUT.open(newline="") as table:
        return [LeftOut(row["library"], row["version"], row["why"]) for row in csv.DictReader(table)]


def write_left_out(left_out: Collection[LeftOut]) -> None:
    """Keep what is not kept, sorted."""
    with LEFT_OUT.open("w", newline="") as table:
        written = csv.writer(table, lineterminator="\n")
        written.writerow(LeftOut._fields)
        written.writerows(sorted(left_out))
