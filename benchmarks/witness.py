"""Measure which breaks a program shows: ``python -m benchmarks.witness [KIND...]``.

Each case of the rules gets the witnesses of its breaks, and so do kept pairs of releases that break. The results go to
``tests/witness/shown.csv`` and ``docs/lab/witness.md``. Named kinds are measured and printed only.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from abistore.report.model import ReportedFinding, Witness
from abistore.service.judging import judge
from abistore.service.witnesses import BREAKS
from abistore.witness.making import Maker
from abistore.witness.query import ReleaseSources
from benchmarks.accuracy import kept
from benchmarks.accuracy.kept import KeptPair
from examples.obtain import Missing
from tests.cases import RULES, Case, cases, sides_of, snapshot_of

ROOT: Final = Path(__file__).parents[1]
SHOWN: Final = ROOT / "tests" / "witness" / "shown.csv"
PAGE: Final = ROOT / "docs" / "lab" / "witness.md"

PAIRS: Final = 60
"""So many kept pairs that break are asked, spread over all of them."""

FINDINGS: Final = 8
"""So many breaks of one pair get a witness, spread over all of them."""

PROCESSES: Final = 2

STATES: Final = ("shown", "refuted", "none")
WIDEST: Final = 160


class Row(NamedTuple):
    """The witness of one finding of a case."""

    kind: str
    case: int
    finding: str
    impact: str
    state: str
    sort: str
    reason: str


# cases


def of_cases(paths: Iterable[Path]) -> Iterator[Row]:
    """The witnesses of the findings that cases of their kind have, for ELF files."""
    for path in paths:
        for case in cases(path):
            if not (case.silent or case.is_release or case.is_drawn):
                yield from of_case(case)


def of_case(case: Case) -> list[Row]:
    """The witnesses of the breaks of its kind that a case has; none where a compiler is not installed."""
    try:
        with TemporaryDirectory() as folder:
            return [_row(case, finding, made) for finding, made in _made(case, Path(folder))]
    except Missing:
        return []


def _made(case: Case, folder: Path) -> Iterator[tuple[ReportedFinding, Witness]]:
    old, new = (sources(case, side, folder) for side in ("old", "new"))
    if old.snapshot.target.format != "elf":
        return
    maker = Maker(old, new, folder)
    for finding in judge(old.snapshot, new.snapshot, None).changes:
        if finding.impact in BREAKS and finding.kind == case.path.stem:
            yield finding, maker.witness(finding)


def sources(case: Case, side: str, folder: Path) -> ReleaseSources:
    """One side of a case, with its headers in a folder and the library that is built of it."""
    made = sides_of(case, side)[0]
    include = folder / f"{side}.include"
    for name, text in (*made.public, *made.included):
        path = include / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    standard = (f"-std={made.standard}",) if made.standard else ()
    flags = (f"-I{include}", *standard) if made.public else ()
    library = made.source.build() if made.source else None
    return ReleaseSources(snapshot_of(case, side), library, dict(made.public), flags)


def _row(case: Case, finding: ReportedFinding, witness: Witness) -> Row:
    about = f"{finding.symbol} {finding.part}".strip()
    return Row(case.path.stem, case.number, about, finding.impact, witness.state, witness.sort or "", witness.reason)


def kind_state(rows: Iterable[Row]) -> str:
    """What the cases of one kind show: one that is shown suffices."""
    found = {each.state for each in rows}
    return next((each for each in STATES if each in found), "none")


def read(path: Path = SHOWN) -> list[Row]:
    """The witnesses as they were measured last."""
    with path.open(newline="") as file:
        return [Row(**{**each, "case": int(each["case"])}) for each in csv.DictReader(file)]


def write(rows: Iterable[Row], path: Path = SHOWN) -> None:
    """Keep what was measured."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Row._fields)
        table.writerows(rows)


# kept pairs


class PairRow(NamedTuple):
    """The witness of one break between two real releases, which are kept without their files and headers."""

    pair: str
    kind: str
    finding: str
    state: str
    sort: str
    reason: str


def breaking_pairs(most: int = PAIRS) -> Iterator[KeptPair]:
    """Kept pairs that break, spread over all libraries: every tenth or so, oldest first."""
    found = [each.pair for each in kept.pairs() if each.pair.breaks]
    step = max(1, len(found) // most)
    chosen = {(each.library, each.old, each.new) for each in found[::step][:most]}
    for each in kept.pairs({library for library, _, _ in chosen}):
        if (each.pair.library, each.pair.old, each.pair.new) in chosen:
            yield each


def of_pairs(pairs: Iterable[KeptPair]) -> Iterator[PairRow]:
    """The witnesses of the breaks of each pair."""
    for each in pairs:
        breaks = [finding for finding in judge(each.old, each.new, None).changes if finding.impact in BREAKS]
        step = -(-len(breaks) // FINDINGS) or 1
        with TemporaryDirectory() as folder:
            maker = Maker(ReleaseSources(each.old), ReleaseSources(each.new), Path(folder))
            for finding in breaks[::step]:
                made = maker.witness(finding)
                name = f"{each.pair.library} {each.pair.old} {each.pair.new}"
                about = f"{finding.symbol} {finding.part}".strip()
                yield PairRow(name, finding.kind, about, made.state, made.sort or "", made.reason)


# page


def page(rows: Sequence[Row], pairs: Sequence[PairRow]) -> str:
    """The page with both tables."""
    kinds = {kind: [each for each in rows if each.kind == kind] for kind in sorted({each.kind for each in rows})}
    states = Counter(map(kind_state, kinds.values()))
    lines = [
        "# Which breaks a program shows",
        "",
        "Measured by `python -m benchmarks.witness` (GCC 12, GNU ld 2.40). `abistore witness` writes a program for a",
        "break and compiles it with both releases ([witnesses](../questions/witness.md)).",
        "",
        f"Of {len(kinds)} kinds that break ELF libraries and have a case, {states['shown']} are shown by a program"
        f" ({states['shown'] * 100 // len(kinds)} %), {states['refuted']} are refuted, {states['none']} have none.",
        "",
        *_pairs(pairs),
        "",
        "## By kind",
        "",
        "| kind | impact | findings | shown by | no program, because |",
        "|---|---|--:|---|---|",
        *(_line(kind, found) for kind, found in kinds.items()),
    ]
    return "".join(f"{line}\n" for line in lines)


def _line(kind: str, rows: Sequence[Row]) -> str:
    sorts = Counter(each.sort for each in rows if each.state == "shown")
    shown = ", ".join(f"{sort} {number}" for sort, number in sorted(sorts.items()))
    others = [each for each in rows if each.state != "shown"]
    reason = others[0].reason.partition(";")[0].replace("|", "\\|")[:WIDEST] if others else ""
    refuted = ", ".join(["refuted"] * any(each.state == "refuted" for each in rows))
    return f"| `{kind}` | {rows[0].impact} | {len(rows)} | {shown} | {refuted or reason} |"


def _pairs(pairs: Sequence[PairRow]) -> Iterator[str]:
    states = Counter(each.state for each in pairs)
    names = {each.pair for each in pairs}
    yield "## Kept pairs"
    yield ""
    share = states["shown"] * 100 // max(1, len(pairs))
    yield f"Of {len(pairs)} breaks in {len(names)} pairs of releases, kept as snapshots without files and headers,"
    yield f"{states['shown']} are shown ({share} %), {states['refuted']} are refuted, {states['none']} have no program."
    reasons = Counter(_plain(each.reason) for each in pairs if each.state == "none")
    yield ""
    yield from ("| no program, because | breaks |", "|---|--:|")
    yield from (f"| {reason} | {number} |" for reason, number in reasons.most_common(8))


def _plain(reason: str) -> str:
    """The sort of a reason, without names."""
    first = reason.partition(";")[0]
    return "nothing describes it" if first.startswith("nothing describes") else first.partition(": ")[0]


def main(arguments: Sequence[str]) -> None:
    """Measure and write, or print."""
    if arguments:
        for row in of_cases(RULES / f"{kind}.md" for kind in arguments):
            print(*row, sep="\t")
        return
    with ProcessPoolExecutor(PROCESSES) as pool:
        shown, pairs = pool.submit(all_cases), pool.submit(all_pairs)
        write(shown.result())
        PAGE.write_text(page(shown.result(), pairs.result()))


def all_cases() -> list[Row]:
    """What the cases of all kinds show."""
    return list(of_cases(sorted(RULES.glob("*.md"))))


def all_pairs() -> list[PairRow]:
    """What the kept pairs show."""
    return list(of_pairs(breaking_pairs()))


if __name__ == "__main__":
    main(sys.argv[1:])
