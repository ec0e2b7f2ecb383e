"""Real releases, built from the sources that package registries carry, stored and compared in several ways.

::

    python -m examples.histories build            # obtain and compile (LIBRARY ... for some only)
    python -m examples.histories ingest           # into .cache/examples/history.db
    python -m examples.histories check            # history = comparing stored versions = comparing the binaries
    python -m examples.histories matrix           # each cell of a matrix = comparing its two releases
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from examples.obtain import CACHE, Missing
from examples.recipes import RECIPES, Recipe, build

ABISTORE = Path(sys.executable).with_name("abistore")
DATABASE = CACHE / "history.db"
VERDICTS = (0, 2, 4)
ANSWERS = ("status", "verdict", "exit_code", "summary", "changes", "suppressed_count", "not_checked")
"""The parts of a comparison's JSON that must not depend on where its operands come from."""


def abistore(*words: str | Path) -> str:
    """What the command prints; raises Missing where it gives no answer."""
    as_pages = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run([ABISTORE, *map(str, words)], env=as_pages, capture_output=True, text=True)
    if done.returncode not in VERDICTS:
        raise Missing(f"abistore {' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def build_all(recipe: Recipe) -> None:
    """Every release of the library; those that are there cost nothing."""
    versions = recipe.version_numbers()
    for number, version in enumerate(versions, 1):
        print(f"{recipe.library} {version} ({number} of {len(versions)}): ", end="", flush=True)
        started = time.monotonic()
        build(recipe, version)
        print(f"built in {time.monotonic() - started:.0f} s", flush=True)


def ingest(recipe: Recipe) -> None:
    """Every release into the database, oldest first; the folder that a library lies in names its version."""
    first, *_ = recipe.version_numbers()
    days = dict(recipe.released)
    for version in recipe.version_numbers():
        words = ["--db", DATABASE, "ingest", build(recipe, version), "--version-from", "folder"]
        words += ["--released", days[version]] if version in days else []
        words += ["--set-baseline"] if version == first else []
        print(abistore(*words), end="", flush=True)


def check(recipe: Recipe) -> None:
    """A history's verdicts, stored and fresh comparisons say the same; raises Missing where one does not.

    These are the verdicts about each release against the one before and against the first, which is the baseline.
    """
    abistore("--db", DATABASE, "history", recipe.library)
    first, *others = recipe.version_numbers()
    for old, new in dict.fromkeys([*pairwise((first, *others)), *((first, each) for each in others)]):
        words = f"{recipe.library}@{new}", "--against", old
        remembered = comparison("--db", DATABASE, "verdict", *words)
        stored = comparison("--db", DATABASE, "compare", f"{recipe.library}@{old}", f"{recipe.library}@{new}")
        fresh = comparison("compare", build(recipe, old), build(recipe, new))
        if not remembered == stored == fresh:
            told = (
                f"{name} {each['summary']}" for name, each in zip(SOURCES, (remembered, stored, fresh), strict=True)
            )
            raise Missing(f"{recipe.library} {old} and {new}: {', '.join(told)}")
        counts = {key: count for key, count in stored["summary"].items() if count}
        print(f"{recipe.library} {old} -> {new}: equal, {stored['verdict']} {counts}", flush=True)


def matrix(recipe: Recipe) -> None:
    """Every cell of a matrix, older releases as replacements too, is what comparing says; raises Missing if not."""
    words = "--db", DATABASE, "matrix", recipe.library, "--downgrades", "--json"
    (found,) = json.loads(abistore(*words))["data"]["matrices"]
    versions = [each["version"] for each in found["releases"]]
    for old, row in zip(versions, found["verdicts"], strict=True):
        for new, verdict in zip(versions, row, strict=True):
            if old != new:
                alone = comparison("--db", DATABASE, "compare", f"{recipe.library}@{old}", f"{recipe.library}@{new}")
                if verdict != alone["verdict"]:
                    raise Missing(f"{recipe.library} {old} and {new}: {verdict}, alone {alone['verdict']}")
    print(f"{recipe.library}: {len(versions) * (len(versions) - 1)} pairs equal", flush=True)


SOURCES = ("history", "stored", "binaries")
"""What a comparison is made of."""


def comparison(*words: str | Path) -> dict[str, Any]:
    """A comparison's answer, without what tells its operands apart."""
    document = json.loads(abistore(*words, "--json"))["data"]
    return {key: document[key] for key in ANSWERS}


STEPS: dict[str, Callable[[Recipe], None]] = {
    "build": build_all,
    "ingest": ingest,
    "check": check,
    "matrix": matrix,
}


def main() -> None:
    """One step for all libraries, or for those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("library", nargs="*", metavar="LIBRARY", help=f"of {', '.join(RECIPES)}")
    asked = parser.parse_args()
    try:
        for recipe in RECIPES.values():
            if not asked.library or recipe.library in asked.library:
                STEPS[asked.step](recipe)
    except Missing as problem:
        sys.exit(f"error: {problem}")


if __name__ == "__main__":
    main()
