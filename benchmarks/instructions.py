"""How many instructions ``dump`` and ``compare`` take here and in another version of abistore, counted by Valgrind.

``python -m benchmarks.instructions TREE [LIBRARY...]``: ``TREE`` is a checkout of the other version. Instructions do
not depend on what else the machine does, so that 1 % can be told. Nothing but the package differs between both: the
interpreter, its packages and the files are the same. Needs ``valgrind``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.store import VERDICTS, table
from examples.obtain import PROJECT, require
from examples.recipes import RECIPES, build


def counted(tree: Path, words: Sequence[str | Path], folder: Path) -> int:
    """Instructions of ``abistore WORDS`` with the package in ``tree``, whose bytecode is there already."""
    variables = {**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
    tool = [require("valgrind", "valgrind"), "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command = [*tool, sys.executable, "-m", "abistore", *map(str, words)]
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode not in VERDICTS or not found:
        sys.exit(f"error: {' '.join(command)} ended with {done.returncode}\n{done.stderr[-800:]}")
    return int(found[1].replace(",", ""))


def rows(other: Path, libraries: Sequence[str], folder: Path) -> Iterator[Sequence[str]]:
    """A line for each library and command."""
    for library in libraries:
        old, new = (build(RECIPES[library], version) for version in RECIPES[library].version_numbers()[-2:])
        for name, words in (("dump", ["export", new, "-o", folder / "out.json"]), ("compare", ["compare", old, new])):
            before, now = (counted(tree, words, folder) for tree in (other, PROJECT))
            yield f"{library}: {name}", f"{before / 1e6:.0f}", f"{now / 1e6:.0f}", f"{100 * (now / before - 1):+.1f} %"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("library", nargs="*", metavar="LIBRARY", default=sorted(RECIPES))
    asked = parser.parse_args()
    for tree in (asked.tree, PROJECT):
        subprocess.run([sys.executable, "-m", "compileall", "-q", tree / "abistore"], check=True)
    print("Millions of instructions.\n")
    with TemporaryDirectory() as name:
        print(table(["work", "before", "now", "more"], rows(asked.tree.resolve(), asked.library, Path(name))))


if __name__ == "__main__":
    main()
