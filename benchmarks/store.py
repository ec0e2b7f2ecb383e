"""What the store adds: ingest against dump, stored comparisons, known files, a hundred releases.

``python -m benchmarks.store [--rounds N]`` prints Markdown tables. Needs gcc, and the corpus for the first table.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.corpus import pairs
from benchmarks.measure import Cost, interleaved, machine, measure
from examples.obtain import require, run

ABISTORE = Path(sys.executable).with_name("abistore")
LIMIT = 600
RELEASES = 100
VERDICTS = frozenset({0, 2, 4})


def release(folder: Path, number: int, declarations: int) -> Path:
    """A C library of as many declarations, half of them functions; one in a hundred differs from the release before.

    All of it stands some lines lower than before, as in real releases.
    """
    built = folder / f"{declarations}-{number}" / "libgrowing.so.1"
    built.parent.mkdir(parents=True)
    text = built.with_name("growing.c")
    text.write_text("\n" * 3 * number + "".join(_declarations(number, declarations // 2)))
    command = [require("gcc", "gcc"), "-shared", "-fPIC", "-g", "-O0", "-Wl,-soname,libgrowing.so.1"]
    run([*command, text.name, "-o", built.name], built.parent)
    return built


def _declarations(number: int, count: int) -> Iterator[str]:
    for index in range(count):
        changes = (number + index) // 100
        width = "long" if changes % 2 else "int"
        yield f"struct record_{index} {{ struct record_{index} *next; unsigned long key_{index}; {width} value; }};\n"
        yield f"{width} call_{index}(struct record_{index} *subject) {{ return subject != 0; }}\n"


def timed(database: Path, *words: str | Path) -> Cost:
    """The cost of one abistore command that must give an answer."""
    cost = measure([ABISTORE, "--db", database, *words], LIMIT)
    if cost.status not in VERDICTS:
        sys.exit(f"error: abistore {' '.join(map(str, words))} ended with {cost.status}")
    return cost


def ingest_against_dump(folder: Path, names: Sequence[str], rounds: int) -> Iterator[Sequence[str]]:
    """A line a library: dump, ingest into a new database, ingest into one that holds the release before."""
    for pair in pairs(names):
        seeded, new, used = folder / "seeded.db", folder / "new.db", folder / "used.db"
        seeded.unlink(missing_ok=True)
        timed(seeded, "ingest", pair.old, "--library", pair.name, "--version", "1")
        found: dict[str, list[float]] = {"dump": [], "new": [], "used": []}
        for _ in range(rounds):
            for path in folder.glob("new.db*"):
                path.unlink()
            shutil.copyfile(seeded, used)
            found["dump"].append(timed(used, "export", pair.new, "-o", folder / "snapshot.json").seconds)
            for name, database in (("new", new), ("used", used)):
                cost = timed(database, "ingest", pair.new, "--library", pair.name, "--version", "2")
                found[name].append(cost.seconds)
        more = [median(b - a for a, b in zip(found["dump"], found[name], strict=True)) for name in ("new", "used")]
        yield (
            *(pair.name, f"{pair.debug_bytes / 1e6:.1f}", *(f"{median(found[name]):.2f}" for name in found)),
            *(f"{extra:+.2f} {'met' if extra <= 0.45 else 'missed'}" for extra in more),
        )


def stored(folder: Path, rounds: int) -> Iterator[Sequence[str]]:
    """Comparing two stored versions of a library of 5,000 declarations, and ingesting a known file."""
    database, (old, new) = folder / "five.db", [release(folder, number, 5000) for number in (0, 1)]
    for version, path in (("1", old), ("2", new)):
        timed(database, "ingest", path, "--library", "growing", "--version", version)
    own = [ABISTORE, "--db", database]
    comparisons = {
        "compare two stored versions, 5,000 declarations": [*own, "compare", "growing@1", "growing@2"],
        "the same, as JSON": [*own, "compare", "growing@1", "growing@2", "--json"],
    }
    runs = interleaved(
        {
            **comparisons,
            "ingest of a known file": [*own, "ingest", new, "--library", "growing", "--version", "2"],
            "`abistore --version`": [ABISTORE, "--version"],
        },
        rounds,
        LIMIT,
        dict.fromkeys(comparisons, VERDICTS),
    )
    for (name, series), target in zip(runs.items(), (0.5, 0.5, 0.4, 0.09), strict=True):
        kept = "failed" if series.failed else "met" if series.seconds <= target else "missed"
        yield name, f"{series.seconds:.3f}", f"≤ {target:g} s", kept


def growth(folder: Path, declarations: int) -> Iterator[Sequence[str]]:
    """A hundred releases of a library that changes one declaration in a hundred: what each ingest costs."""
    database = folder / "hundred.db"
    sizes, seconds = [0], [0.0]
    for number in range(1, RELEASES + 1):
        path = release(folder, number, declarations)
        seconds.append(timed(database, "ingest", path, "--library", "growing", "--version", f"1.{number}").seconds)
        sizes.append(sum(file.stat().st_size for file in folder.glob("hundred.db*")))
        shutil.rmtree(path.parent)
    grown = [after - before for before, after in pairwise(sizes)]
    last = sum(grown[-10:]) / 10
    for label, number in (("first", 1), ("second", 2), ("hundredth", RELEASES)):
        yield label, f"{grown[number - 1]:,}", f"{seconds[number]:.2f}", ""
    share = last / grown[0]
    yield "mean of the last ten", f"{last:,.0f}", f"{median(seconds[-10:]):.2f}", ""
    yield "the same, of the first", f"{100 * share:.1f} %", "", f"≤ 5 %: {'met' if share <= 0.05 else 'missed'}"
    second, final = median(seconds[2:7]), median(seconds[-5:])
    kept = "met" if final <= second * 1.05 else "missed"
    yield "releases 96-100 to 2-6", "", f"{final / second:.2f} x", f"no more time (5 % of noise allowed): {kept}"


def table(head: Sequence[str], lines: Iterator[Sequence[str]]) -> str:
    """A Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="interleaved runs of each command")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this library of the corpus")
    asked = parser.parse_args()
    print(f"{machine()}; CPU seconds, median of {asked.rounds} interleaved runs.\n")
    with TemporaryDirectory() as name:
        folder = Path(name)
        new, used = "ingest, new database", "ingest, after the release before"
        head = [
            "library",
            ".debug_info MB",
            "dump",
            new,
            used,
            "new: over dump (≤ 0.45 s)",
            "used: over dump (≤ 0.45 s)",
        ]
        print(table(head, ingest_against_dump(folder, asked.only, asked.rounds)), flush=True)
        print(table(["work", "CPU s", "target", ""], stored(folder, asked.rounds)), flush=True)
        print(table(["release", "bytes", "CPU s", "target"], growth(folder, 2000)), flush=True)


if __name__ == "__main__":
    main()
