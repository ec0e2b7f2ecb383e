"""Builds judged pairs, asks the tools about them, and writes ``docs/lab/accuracy-unseen.md``.

::

    python -m benchmarks.accuracy.unseen --build [LIBRARY...]    # obtain and build releases
    python -m benchmarks.accuracy.unseen [LIBRARY...]            # ask the tools (--tool: some of them)
    python -m benchmarks.accuracy.unseen --document              # write the page from pairs.csv

Each answer is printed beside the one in ``pairs.csv``, which stays: it was given when the part was judged. An answer
to a question that was not asked then is added to the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.accuracy.asking import TOOLS, ask, has_debug, is_break, soname
from benchmarks.accuracy.unseen import TABLE, UnseenPair, libraries, pairs, write
from benchmarks.accuracy.unseen.building import release
from benchmarks.accuracy.unseen.totals import PAGE, page
from examples.obtain import Missing

Tools = Sequence[tuple[str, str]]

NAMES: Final = tuple(dict.fromkeys([tool for tool, _ in TOOLS] + ["+".join(tool) for tool in TOOLS]))
"""What ``--tool`` takes: ``abidiff`` for both evidences, ``abidiff+headers`` for one."""


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


def ask_all(chosen: Sequence[UnseenPair], tools: Tools, jobs: int, path: Path = TABLE) -> None:
    """Ask the tools about all these pairs, print every answer, and add those to the table that it lacks."""
    known = list(pairs(path))
    places = {(pair.library, pair.old, pair.new): place for place, pair in enumerate(known)}
    with ThreadPoolExecutor(jobs) as pool:
        for kept, now in zip(chosen, pool.map(partial(asked, tools=tools), chosen), strict=True):
            for line in compared(kept, now):
                print(line, flush=True)
            known[places[kept.library, kept.old, kept.new]] = replace(now, words={**now.words, **kept.words})
            write(known, path)


def asked(pair: UnseenPair, tools: Tools) -> UnseenPair:
    """The pair with what these tools say of it now, and nothing else; without answers if it cannot be built."""
    try:
        old, new = (release(pair.library, version) for version in (pair.old, pair.new))
    except Missing as problem:
        print(f"{pair}: left out: {problem}", file=sys.stderr, flush=True)
        return replace(pair, words={})
    words = {(tool, evidence): ask(tool, evidence, old, new).word for tool, evidence in tools}
    same = soname(old.binary) == soname(new.binary)
    return replace(pair, words=words, same_soname=same, stripped=not has_debug(old.binary))


def compared(kept: UnseenPair, now: UnseenPair) -> Iterator[str]:
    """A line for each answer: ``!`` before a wrong one, and the word in the table where it was another."""
    for tool, word in now.words.items():
        mark = "" if is_break(tool[0], word) == kept.breaks else "!"
        before = kept.words.get(tool, word)
        change = "" if before == word else f" (when judged: {before})"
        yield f"{kept}: {'break' if kept.breaks else '-'} {' '.join(tool)}: {mark}{word}{change}"


def named(asked: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The tools and evidences with these ``NAMES``; all if there is none."""
    for tool, evidence in TOOLS:
        if not asked or tool in asked or f"{tool}+{evidence}" in asked:
            yield tool, evidence


def main() -> None:
    """Do what the options ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="*", metavar="LIBRARY")
    parser.add_argument("--build", action="store_true", help="obtain and build only")
    parser.add_argument("--tool", action="append", default=[], choices=NAMES, metavar="TOOL", help="only this one")
    parser.add_argument("--jobs", type=int, default=1, help="pairs at a time")
    parser.add_argument("--document", action="store_true", help="write docs/lab/accuracy-unseen.md and ask nothing")
    options = parser.parse_args()
    if unknown := set(options.library) - set(libraries()):
        parser.error(f"no such library: {', '.join(sorted(unknown))}")
    chosen = [pair for pair in pairs() if not options.library or pair.library in options.library]
    if options.document:
        PAGE.write_text(page(list(pairs())))
    elif options.build:
        sys.exit(not build(chosen))
    else:
        ask_all(chosen, list(named(options.tool)), options.jobs)


if __name__ == "__main__":
    main()
