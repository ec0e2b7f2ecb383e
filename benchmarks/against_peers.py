"""How abistore's ``dump`` and ``compare`` stand against abidw, abidiff, abi-dumper and abicheck, on real libraries.

``python -m benchmarks.against_peers [--rounds N] [--limit SECONDS] [--only NAME]... [--without TOOL]...`` prints
Markdown tables. Needs, on Debian: ``apt-get install abigail-tools abi-dumper elfutils binutils``, less what is left out
with ``--without``; abicheck gets an environment of its own here.
"""

from __future__ import annotations

import argparse
import json
import sys
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.corpus import CACHE, Pair, pairs
from benchmarks.measure import Cost, Series, interleaved, machine
from examples.obtain import require, run

MEGABYTE = 1_000_000
ABISTORE = Path(sys.executable).with_name("abistore")
GOOD = {"abistore": frozenset({0, 2, 4}), "abidiff": frozenset(code for code in range(16) if not code & 3)}
"""Exit codes that report a result. abidiff's is a set of bits: 1 and 2 are errors, 4 and 8 changes."""
PACKAGES = {"abidw": "abigail-tools", "abidiff": "abigail-tools", "abi-dumper": "abi-dumper"}
"""Which Debian package has each of the others' programs."""

RIVALS = {"dump": "abidw", "compare": "abidiff"}
"""Whose memory each work is held against."""


@dataclass(frozen=True)
class Target:
    """A promise: ``holds`` tells for one library and its runs whether it is kept, ``None`` where it does not apply."""

    text: str
    holds: Callable[[Pair, Mapping[str, Series]], bool | None]


def faster(rival: str, times: float, *, least: float = 0, language: str | None = None) -> Target:
    """At least ``times`` as fast as ``rival`` from ``least`` megabytes of ``.debug_info`` up."""

    def holds(pair: Pair, runs: Mapping[str, Series]) -> bool | None:
        if (
            pair.debug_bytes < least * MEGABYTE
            or (language and pair.language != language)
            or rival not in runs
            or runs[rival].failed
        ):
            return None
        return runs[rival].times_slower(runs["abistore"]) >= times

    scope = f"{language or 'any'} ≥ {least:g} MB" if least else (language or "any")
    return Target(f"{times:g}x {rival} ({scope})", holds)


def _small_is_quick(pair: Pair, runs: Mapping[str, Series]) -> bool | None:
    return runs["abistore"].seconds <= 0.25 if pair.debug_bytes < 0.5 * MEGABYTE else None


def _memory_is_bounded(pair: Pair, runs: Mapping[str, Series]) -> bool | None:
    return runs["abistore"].peak <= 80 * MEGABYTE + 4 * pair.debug_bytes


def _memory_is_below_abidw(pair: Pair, runs: Mapping[str, Series]) -> bool | None:
    large = pair.debug_bytes >= MEGABYTE and "abidw" in runs
    return runs["abistore"].peak < runs["abidw"].peak if large else None


DUMP_TARGETS = (
    faster("abidw", 10, least=4, language="C++"),
    faster("abidw", 2, least=1, language="C"),
    faster("abidw", 1, least=0.5),
    Target("≤ 0.25 s (< 0.5 MB)", _small_is_quick),
    faster("abicheck", 8, least=1),
    faster("abi-dumper", 10, least=1),
    Target("memory ≤ 80 MB + 4 x .debug_info", _memory_is_bounded),
    Target("memory < abidw (any ≥ 1 MB)", _memory_is_below_abidw),
)
COMPARE_TARGETS = (faster("abidiff", 5, language="C++"), faster("abidiff", 1.5, least=1, language="C"))


def dump_commands(pair: Pair, folder: Path, abicheck: Path) -> dict[str, Sequence[str | Path]]:
    """The same work by each tool: one library in, one file of its ABI out."""
    return {
        "abistore": [ABISTORE, "export", pair.old, "-o", folder / "abistore.json"],
        "abidw": ["abidw", "--out-file", folder / "abidw.xml", pair.old],
        "abi-dumper": ["abi-dumper", pair.old, "-lver", "1", "-o", folder / "abi.dump"],
        "abicheck": [abicheck, "dump", pair.old, "-o", folder / "abicheck.json"],
    }


def compare_commands(pair: Pair) -> dict[str, Sequence[str | Path]]:
    """Two binaries in, a report out."""
    return {
        "abistore": [ABISTORE, "compare", pair.old, pair.new],
        "abidiff": ["abidiff", pair.old, pair.new],
    }


def install_abicheck() -> Path:
    """The ``abicheck`` of PyPI, in an environment of its own."""
    folder = CACHE / "peers"
    program = folder / "bin" / "abicheck"
    if not program.exists():
        venv.create(folder, with_pip=True)
        run([folder / "bin" / "python", "-m", "pip", "install", "-q", "abicheck"], CACHE)
    return program


def row(work: str, pair: Pair, runs: Mapping[str, Series], tools: Sequence[str]) -> Iterator[str]:
    """A library's line of the table."""
    own, targets = runs["abistore"], DUMP_TARGETS if work == "dump" else COMPARE_TARGETS
    yield f"{pair.name}{'' if pair.releases or work == 'dump' else ' *'}"
    yield pair.language
    yield f"{pair.debug_bytes / MEGABYTE:.1f}"
    yield "failed" if own.failed else f"**{own.seconds:.2f}**"
    for tool in tools:
        yield _against(runs[tool], own) if tool in runs else "not run"
    yield f"{own.peak / MEGABYTE:.0f}"
    rival = runs.get(RIVALS[work])
    yield f"{rival.peak / MEGABYTE:.0f}" if rival else "not run"
    judged = [(target.text, target.holds(pair, runs)) for target in targets if not own.failed]
    missed = [text for text, kept in judged if kept is False]
    asked = sum(kept is not None for _, kept in judged)
    yield "misses " + "; ".join(missed) if missed else f"meets {asked} of {asked}" if asked else "none set"


def _against(rival: Series, own: Series) -> str:
    if rival.failed or own.failed:
        return f"failed ({rival.costs[0].status})" if rival.failed else f"{rival.seconds:.2f}"
    if rival.costs[0].exceeded:
        return f"stopped at {rival.seconds:.0f} s ({rival.times_slower(own):.0f}x)"
    once = " n=1" if len(rival.costs) == 1 else ""
    return f"{rival.seconds:.2f} ({rival.times_slower(own):.1f}x{once})"


def table(work: str, results: Sequence[tuple[Pair, Mapping[str, Series]]]) -> str:
    """One Markdown table: a library a line."""
    tools = list(dict.fromkeys(tool for _, runs in results for tool in runs if tool != "abistore"))
    head = [
        "library",
        "",
        ".debug_info MB",
        f"abistore {work}, CPU s",
        *tools,
        "peak MB",
        f"{RIVALS[work]} peak MB",
        "targets",
    ]
    lines = [head, ["---"] * len(head), *(list(row(work, pair, runs, tools)) for pair, runs in results)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


class Results:
    """What was measured so far, kept beside the corpus: a run of some libraries replaces theirs and keeps the rest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def keep(self, pair: Pair, work: str, runs: Mapping[str, Series]) -> None:
        """Remember the runs of one library, on disk."""
        costs = {
            tool: [[cost.seconds, cost.peak, cost.status] for cost in series.costs] for tool, series in runs.items()
        }
        self.found.setdefault(pair.name, {})[work] = costs
        self.path.write_text(json.dumps(self.found, indent=1))

    def of(self, work: str, known: Sequence[Pair]) -> list[tuple[Pair, dict[str, Series]]]:
        """What is known about one kind of work, in the order of ``known``."""
        return [
            (pair, {tool: _series(tool, costs) for tool, costs in self.found[pair.name][work].items()})
            for pair in known
            if work in self.found.get(pair.name, {})
        ]


def _series(tool: str, costs: Sequence[tuple[float, int, int]]) -> Series:
    return Series(tuple(Cost(*cost) for cost in costs), GOOD.get(tool, frozenset({0})))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved runs of each command")
    parser.add_argument("--limit", type=int, default=600, help="processor seconds after which a command is stopped")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this library")
    parser.add_argument("--without", action="append", default=[], metavar="TOOL", help="leave this tool out")
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    for tool in PACKAGES.keys() - asked.without:
        require(tool, PACKAGES[tool])
    abicheck = CACHE / "peers" / "bin" / "abicheck" if "abicheck" in asked.without else install_abicheck()
    results = Results(CACHE / "against_peers.json")
    with TemporaryDirectory() as name:
        for pair in pairs(asked.only):
            dump = dump_commands(pair, Path(name), abicheck)
            for work, commands in (("dump", dump), ("compare", compare_commands(pair))):
                kept = {tool: command for tool, command in commands.items() if tool not in asked.without}
                results.keep(pair, work, interleaved(kept, asked.rounds, asked.limit, GOOD))
                print(table(work, results.of(work, [pair])).splitlines()[-1], file=sys.stderr, flush=True)
    print(f"{machine()}; medians of {asked.rounds} interleaved runs.\n")
    known = pairs()
    print(table("dump", results.of("dump", known)), table("compare", results.of("compare", known)), sep="\n\n")
    version = interleaved({"abistore": [ABISTORE, "--version"]}, 11, 60)["abistore"]
    print(f"\n`abistore --version`: {1000 * version.seconds:.0f} ms (target 90)")


if __name__ == "__main__":
    main()
