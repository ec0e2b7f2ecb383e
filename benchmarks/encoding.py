"""What the encoding of snapshots costs here and in another tree: files, ingest, loading and comparing.

``python -m benchmarks.encoding CHECKOUT [NAME ...] [--rounds N]`` prints a Markdown table: the medians of processor
seconds and bytes in ``CHECKOUT`` and here, and the median ratio of paired runs. Needs the corpus.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

ROOT = Path(__file__).parents[1]
REPEATS = 3
"""The best of so many runs in one process counts."""

Costs = dict[str, float]


def costs(old: Path, new: Path) -> Costs:
    """What a pair of libraries costs in the tree that is imported."""
    from abistore.diffing.judge.judged import compare
    from abistore.extract.capture import read_snapshot
    from abistore.extract.reader import ExtractOptions
    from abistore.model.history import IngestRequest
    from abistore.model.snapshot import Snapshot
    from abistore.model.snapshot_files import from_json, to_json
    from abistore.store.store import Store

    options = ExtractOptions(library="libpair")
    first, second = read_snapshot(old, options), read_snapshot(new, options)
    written = to_json(first)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"

        def ingest() -> None:
            store.unlink(missing_ok=True)
            with Store.open(store, write=True) as opened:
                opened.ingest(first, IngestRequest("1.0"))

        def load(*versions: str) -> list[Snapshot]:
            with Store.open(store, write=False) as opened:
                return [opened.load(opened.resolve(f"libpair@{version}")) for version in versions]

        def load_and_compare() -> object:
            old, new = load("1.0", "1.1")
            return compare(old, new)

        found = {
            "write a file": _best(lambda: to_json(first)),
            "read a file": _best(lambda: from_json(written)),
            "ingest into a new store": _best(ingest),
        }
        with Store.open(store, write=True) as opened:
            begun = process_time()
            opened.ingest(second, IngestRequest("1.1"))
            found["ingest the next release"] = process_time() - begun
        found["load"] = _best(lambda: load("1.0"))
        found["load two and compare"] = _best(load_and_compare)
        found["bytes of the store"] = store.stat().st_size
    return found | {"bytes of the file": len(written), "bytes of it, deflated": len(zlib.compress(written))}


def _best(run: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPEATS):
        gc.collect()
        begun = process_time()
        run()
        taken.append(process_time() - begun)
    return min(taken)


def measured(tree: Path, old: Path, new: Path) -> Costs:
    """The costs in a tree, in a process of its own."""
    program = f"import sys; __file__ = {__file__!r}; exec(open(__file__).read())"
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, "-c", program, "--pair", str(old), str(new)]
    done = subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True, text=True)
    found: Costs = json.loads(done.stdout)
    return found


def main() -> None:
    """Print the table, or what one pair costs."""
    if sys.argv[1:2] == ["--pair"]:
        print(json.dumps(costs(*map(Path, sys.argv[2:4]))))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("names", nargs="*", default=["libzstd", "libstdc++"])
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    from benchmarks.corpus import pairs

    print("| library | what | there | here | ratio |\n|---|---|---|---|---|")
    for pair in pairs(asked.names):
        runs = [
            (measured(asked.checkout.resolve(), pair.old, pair.new), measured(ROOT, pair.old, pair.new))
            for _ in range(asked.rounds)
        ]
        for what in runs[0][0]:
            there, here = median(run[0][what] for run in runs), median(run[1][what] for run in runs)
            ratio = median(run[1][what] / run[0][what] for run in runs)
            print(f"| {pair.name} | {what} | {there:,.4g} | {here:,.4g} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
