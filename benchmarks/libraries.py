"""What a question to a large store costs: by how many libraries it holds, and by how many releases of one.

``python -m benchmarks.libraries [--libraries N ...] [--releases N ...]`` prints Markdown tables. Needs nothing but
abistore. With ``--abistore PROGRAM --store FOLDER`` another version is asked, of stores that it made itself.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from abistore.model.declarations import SELF, Name
from abistore.model.history import IngestRequest
from abistore.model.shapes import AnyShape, Field, Function, Library, Named, Pointer, Primitive, Record, Symbol
from abistore.model.snapshot import Evidence, Provenance, Snapshot, Target
from abistore.store.store import Store
from benchmarks.history import ingested
from benchmarks.measure import machine, measure
from benchmarks.store import table

ABISTORE = Path(sys.executable).with_name("abistore")
LIMIT = 3600
FUNCTIONS = 300
"""So many functions has a library, and as many records."""

INT, CODE = Primitive("int", 4), Symbol("function")
SHARED = ("_ZNSt6vectorIiSaIiEE9push_backERKi", "_ZNSt6vectorIiSaIiEE5beginEv", "_ZStlsRSoi", "common_init")
"""What every library exports: instantiated templates, and a C function."""

LOGS = {
    "a function of one library, in C++": "ns7::call70",
    "the same as a symbol": "_ZN3ns76call70ERKNS_5Rec70E",
    "a record": "ns7::Rec70",
    "a function of all libraries": "common_init",
    "a name that none has, but one nearly": "ns7::cal70x",
}


def library(number: int) -> Snapshot:
    """A C++ library of functions that each take a record of their own, and of what all libraries have."""
    space = f"ns{number}"
    layout: dict[Name, tuple[AnyShape, ...]] = {Name("function", "common_init"): (Function("common_init", INT, ()),)}
    for index in range(FUNCTIONS):
        record = Name("record", f"{space}::Rec{index}")
        called, taken = f"call{index}", f"Rec{index}"
        symbol = f"_ZN{len(space)}{space}{len(called)}{called}ERKNS_{len(taken)}{taken}E"
        layout[record] = (Record("struct", 4 + 4 * (index % 7), (Field(f"field{number}_{index}", INT, 0),)),)
        layout[Name("function", symbol)] = (Function(f"{space}::{called}", INT, (Pointer(Named(record)),)),)
    exported = {name for name in layout if name.kind == "function"} | {Name("function", symbol) for symbol in SHARED}
    symbols: dict[Name, tuple[AnyShape, ...]] = dict.fromkeys(exported, (CODE,))
    file, soname = hashlib.sha256(space.encode()).hexdigest(), f"lib{number:03}.so.1"
    return Snapshot(
        f"lib{number:03}",
        None,
        Target("elf", "x86_64", 64, "little"),
        {"symbol": {**symbols, SELF: (Library("shared", soname),)}, "layout": layout},
        (Evidence("symbol", "full"), Evidence("layout", "full")),
        Provenance(soname, file, 4096, file[:40]),
    )


def by_libraries(folder: Path, libraries: int, asked: argparse.Namespace) -> Iterator[Sequence[str]]:
    """A line a name that is asked for."""
    database = folder / f"libraries-{libraries}.db"
    if not database.exists():
        with Store.open(database, write=True) as store:
            for number in range(libraries):
                store.ingest(library(number), IngestRequest("1.0"))
    for what, name in LOGS.items():
        yield str(libraries), what, f"`{name}`", *told(asked, database, "log", name)
    for name in ("_ZN3ns76call70ERKNS_5Rec70E", "common_init"):
        yield str(libraries), "`provides`", f"`{name}`", *told(asked, database, "list", "--provides", name)


def by_releases(folder: Path, releases: int, asked: argparse.Namespace) -> Iterator[Sequence[str]]:
    """A line a question about a line of which every release was judged, also against the first as the baseline."""
    database = folder / f"releases-{releases}.db"
    if not database.exists():
        ingested(database, releases, 5000, joined=False)
        for words in (("db", "baseline", "set", "growing@1.1"), ("history", "growing")):
            told(asked, database, *words, rounds=1)
    command = [asked.abistore, "--db", database, "compare", "growing@1.1", "growing@1.2", "--json"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    identity = re.findall(r'"id": ?"([0-9a-f]+)"', said)[0]
    size = f"{database.stat().st_size / 1e6:.1f}"
    for words in (("explain", identity), ("db", "check", "--quick"), ("db", "check")):
        what = " ".join(words).replace(identity, "FINDING")
        yield (
            str(releases),
            size,
            f"`{what}`",
            *told(asked, database, *words, rounds=1 if words[-1] == "check" else None),
        )


def told(asked: argparse.Namespace, database: Path, *words: str, rounds: int | None = None) -> tuple[str, str]:
    """Processor seconds (the median) and peak megabytes of a command; a name that nothing has is no failure."""
    command = [asked.abistore, "--db", database, *words]
    costs = [measure(command, LIMIT) for _ in range(rounds or asked.rounds)]
    if costs[0].status not in {0, 67}:
        sys.exit(f"error: abistore {' '.join(words)} ended with {costs[0].status}")
    return f"{median(cost.seconds for cost in costs):.2f}", f"{max(cost.peak for cost in costs) / 1e6:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", type=int, nargs="*", default=[100, 500, 900])
    parser.add_argument("--releases", type=int, nargs="*", default=[50, 1000])
    parser.add_argument("--rounds", type=int, default=3, help="runs of each command")
    parser.add_argument("--abistore", type=Path, default=ABISTORE, help="the program that is asked")
    parser.add_argument("--store", type=Path, help="a folder in which the stores are kept")
    asked = parser.parse_args()
    print(f"{machine()}; CPU seconds of the whole process, median of {asked.rounds} runs.\n")
    with TemporaryDirectory() as name:
        folder = asked.store or Path(name)
        for count in asked.libraries:
            head = ("libraries", "`log` of", "asked for", "CPU s", "peak MB")
            print(table(head, by_libraries(folder, count, asked)), flush=True)
        for count in asked.releases:
            head = ("releases", "database, MB", "command", "CPU s", "peak MB")
            print(table(head, by_releases(folder, count, asked)), flush=True)


if __name__ == "__main__":
    main()
