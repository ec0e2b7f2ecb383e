"""Builds the unseen pairs, asks every tool about them, and writes ``docs/accuracy-unseen.md``.

::

    python -m benchmarks.accuracy.unseen --build [LIBRARY...]    # obtain and build the open part
    python -m benchmarks.accuracy.unseen [LIBRARY...]            # ask the tools, fill answers.csv (--tool: some only)
    python -m benchmarks.accuracy.unseen --document              # write the page from answers.csv
    python -m benchmarks.accuracy.unseen --again [--here]        # has a later engine lost a break? fills again.csv

The other parts are judged once each, when no rule will change any more: only ``--part`` (``kept``, ``later``, ``last``,
``fresh``, ``sixth``, ``seventh``, ``eighth``, ``ninth``, ``tenth``, ``eleventh``, ``twelfth``, ``thirteenth``,
``fourteenth``, ``fifteenth``, ``sixteenth``) takes them, one at a time.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fcntl import LOCK_EX, flock
from pathlib import Path
from threading import Lock

from benchmarks.accuracy.asking import TOOLS, Said, ask, has_debug, soname
from benchmarks.accuracy.release import Release
from benchmarks.accuracy.unseen import Part, UnseenPair, again, pairs
from benchmarks.accuracy.unseen.answers import ANSWERS, Binaries, Key, answers, binaries, keep, keep_binaries, key
from benchmarks.accuracy.unseen.building import is_here, release
from benchmarks.against_peers import install_abicheck
from examples.obtain import CACHE, PROJECT, Missing, run


def pairs_of(part: Part, libraries: Sequence[str]) -> Iterator[UnseenPair]:
    """The pairs of one part, of all libraries or of those named."""
    for pair in pairs():
        if pair.part == part and (not libraries or pair.library in libraries):
            yield pair


def build(chosen: Sequence[UnseenPair]) -> bool:
    """Obtain and build all releases of these pairs; whether all could be."""
    wanted = dict.fromkeys((pair.library, version) for pair in chosen for version in (pair.old, pair.new))
    good = True
    for library, version in wanted:
        try:
            built = release(library, version)
            print(f"{library} {version}: {built.binary.name}, {len(built.headers)} headers", flush=True)
        except Missing as problem:
            print(f"{library} {version}: not built: {problem}", file=sys.stderr, flush=True)
            good = False
    return good


class Asking:
    """Asks tools about pairs and keeps every answer as it comes."""

    def __init__(self, path: Path, tools: Sequence[tuple[str, str]], known: Collection[Key]) -> None:
        self.path, self.tools, self.known, self.lock = path, tools, known, Lock()

    def judge(self, pair: UnseenPair) -> None:
        """Ask all tools about a pair whose answer is not known, and print a line for each answer."""
        tools = [tool for tool in self.tools if key(pair, *tool) not in self.known]
        if not tools:
            return
        try:
            old, new = (release(pair.library, version) for version in (pair.old, pair.new))
        except Missing as problem:
            print(f"{pair.library} {pair.old} -> {pair.new}: left out: {problem}", file=sys.stderr, flush=True)
            return
        for tool, evidence in tools:
            self._keep(pair, key(pair, tool, evidence), ask(tool, evidence, old, new), _binaries(old, new))

    def _keep(self, pair: UnseenPair, place: Key, said: Said, told: Binaries) -> None:
        with self.lock, (CACHE / "unseen.lock").open("w") as other_runs:
            flock(other_runs, LOCK_EX)
            keep(answers(self.path) | {place: said}, pairs(), self.path)
            keep_binaries(binaries() | {(pair.library, pair.old, pair.new): told}, pairs())
        mark = "" if said.breaks == pair.breaks else "!"
        truth = "break" if pair.breaks else "-"
        print(f"{' '.join(place[:3])}: {truth} {place[3]} {place[4]}: {mark}{said.word}", flush=True)


def _binaries(old: Release, new: Release) -> Binaries:
    return Binaries(soname(old.binary) == soname(new.binary), not has_debug(old.binary))


def ask_again(libraries: Sequence[str], known: Collection[Key], *, only_here: bool, jobs: int) -> int:
    """Ask abistore, with headers, what is not ``known``; 1 where a break is lost that was told once."""
    then = answers()
    chosen = [pair for pair in again.worth_asking(pairs(), then) if not libraries or pair.library in libraries]
    if only_here:
        chosen = [pair for pair in chosen if all(is_here(pair.library, each) for each in (pair.old, pair.new))]
    asking = Asking(again.AGAIN, [again.PLACE], known)
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(asking.judge, chosen))
    missing = list(again.lost(chosen, then, answers(again.AGAIN)))
    for pair in missing:
        print(f"lost: {pair.library} {pair.old} -> {pair.new}", file=sys.stderr)
    return int(bool(missing))


def chosen_tools(asked: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The tools and their evidence that ``--tool`` names: ``abidiff`` for both, ``abidiff+headers`` for one."""
    for tool, evidence in TOOLS:
        if not asked or tool in asked or f"{tool}+{evidence}" in asked:
            yield tool, evidence


def versions() -> Iterator[str]:
    """What the others are, in words."""
    said = {
        "libabigail": ["abidiff", "--version"],
        "ABI Dumper": ["abi-dumper", "-dumpversion"],
        "ABICC": ["abi-compliance-checker", "-dumpversion"],
        "abicheck": [str(install_abicheck()), "--version"],
    }
    for name, words in said.items():
        numbers = re.findall(r"\d+\.\d[\d.]*", run(words, PROJECT))
        yield f"{name} {numbers[0]}"


def main() -> None:
    """Do what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="*", metavar="LIBRARY")
    parser.add_argument("--build", action="store_true", help="obtain and build only")
    parser.add_argument("--part", choices=list(Part), default=Part.OPEN, help="all but the open one are judged once")
    parser.add_argument("--tool", action="append", default=[], metavar="TOOL[+files|+headers]", help="only this one")
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="keep the answers in this file")
    parser.add_argument("--missing", action="store_true", help="ask only what has no answer yet")
    parser.add_argument("--jobs", type=int, default=1, help="pairs at a time")
    parser.add_argument("--again", action="store_true", help="ask about judged pairs that break, or that were stopped")
    parser.add_argument("--here", action="store_true", help="of these, only releases that were built here before")
    parser.add_argument("--document", action="store_true", help="write docs/accuracy-unseen.md and ask nothing")
    asked = parser.parse_args()
    if asked.document:
        from benchmarks.accuracy.unseen.page import PAGE, page

        PAGE.write_text(page(", ".join(versions())))
        return
    if asked.again:
        known = answers(again.AGAIN) if asked.missing else {}
        if not asked.missing and not asked.library:
            again.AGAIN.unlink(missing_ok=True)  # the answers of an older engine
        sys.exit(ask_again(asked.library, known, only_here=asked.here, jobs=asked.jobs))
    chosen = list(pairs_of(Part(asked.part), asked.library))
    if asked.build:
        sys.exit(not build(chosen))
    known = answers(asked.answers) if asked.missing else {}
    asking = Asking(asked.answers, list(chosen_tools(asked.tool)), known)
    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(asking.judge, chosen))


if __name__ == "__main__":
    main()
