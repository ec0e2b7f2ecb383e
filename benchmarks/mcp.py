"""What agents wait for, and how much they are told: every tool and resource of a store of 30 libraries x 30 releases.

``python -m benchmarks.mcp [--store DATABASE]`` prints Markdown. The store is made where it is not there
(:mod:`benchmarks.thirty`, two minutes). Every question is asked of one running server, over standard input and output,
about a small library, one of median size, and one of 5,000 declarations.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from mcp.shared.uri_template import UriTemplate

from abistore.interface import OpenStore, capture, export, lines, open_store, releases
from abistore.mcp.resources import RESOURCES
from abistore.mcp.tools.all import TOOLS
from benchmarks.measure import machine, pace
from benchmarks.processes import family, seconds
from benchmarks.store import table
from benchmarks.thirty import HUGE, fill
from examples.agents.speaking import Speaking, Told
from examples.more_recipes import ALL
from examples.obtain import CACHE
from tests.mcp.test_budgets import BUDGETS

SERVER = Path(sys.executable).with_name("abistore-mcp")
AGAIN = 5
COLD_SECONDS, READ_SECONDS = 2.5, 0.05
"""The targets: of the first answer after the start, and of a later one. :mod:`benchmarks.soak` measures memory."""

MOST_RESOURCE = 1 << 20
SIZES = ("small", "median", "huge")
KIND = "func_removed"


class Library(NamedTuple):
    """A library of the store: its first and last versions, a name to ask for, and its last snapshot as a file."""

    name: str
    first: str
    last: str
    symbol: str
    file: Path


class Measured(NamedTuple):
    """One question: the bytes of its answer, and the processor seconds for it when new, and when asked again."""

    bytes: int | None
    first: float
    again: float


class Server:
    """A running server, and the processor seconds of it and of all processes that work for it."""

    def __init__(self, database: Path) -> None:
        self.speaking = Speaking([SERVER, "--db", database], stderr=subprocess.DEVNULL).__enter__()
        self.speaking.call("abi_list")
        self.cold = self._seconds()

    def _seconds(self) -> float:
        return seconds(family(self.speaking.process.pid))

    def measured(self, ask: Callable[[], Told]) -> Measured:
        """The cost of a question, and of the same question again."""
        costs = []
        for _ in range(1 + AGAIN):
            before = self._seconds()
            told = ask()
            costs.append(self._seconds() - before)
        answered = "error" not in told.message and not told.result.get("isError")
        return Measured(told.bytes if answered else None, costs[0], median(costs[1:]))


def chosen(store: OpenStore, folder: Path) -> dict[str, Library]:
    """The smallest real library, the one of median size, and the largest synthetic one, by exports."""
    last = {line.line.library: releases(line.line.library, database=store)[-1] for line in lines(database=store)}
    names = sorted(ALL.keys() & last.keys(), key=lambda name: last[name].exports)
    return {
        size: _library(store, name, folder)
        for size, name in zip(SIZES, (names[0], names[len(names) // 2], HUGE), strict=True)
    }


def _library(store: OpenStore, name: str, folder: Path) -> Library:
    stored = releases(name, database=store)
    file = folder / f"{name}.json"
    file.write_bytes(export(f"{name}@latest", database=store).json)
    symbol = min(name.spelling for name in capture(file).entries["symbol"] if name.kind == "function")
    return Library(name, stored[0].version, stored[-1].version, symbol, file)


def calls(library: Library, comparison: str, finding: str) -> Mapping[str, Mapping[str, Any]]:
    """The question to each tool about a library; ``comparison`` is one of its first release with its last."""
    return {
        "abi_list": {"library": library.name},
        "abi_summary": {"library": library.name},
        "abi_history": {"library": library.name},
        "abi_compare": {"old_input": f"{library.name}@{library.first}", "new_input": f"{library.name}@{library.last}"},
        "abi_findings": {"comparison_id": comparison},
        "abi_finding": {"comparison_id": comparison, "finding_id": finding},
        "abi_symbol_history": {"library": library.name, "symbol": library.symbol},
        "abi_gate": {"library": library.name},
        "abi_whatif": {"library": f"{library.name}@{library.first}", "declaration": "int abistore_asked(void);"},
        "abi_pr_summary": {"comparison_id": comparison},
        "abi_review_build": {"new_input": str(library.file), "old_input": f"{library.name}@{library.first}"},
        "abi_consumers": {"new_input": str(library.file), "old_input": f"{library.name}@{library.first}"},
        "abi_show": {"reference": f"{library.name}@{library.first}", "name": library.symbol},
        "abi_list_changes": {"impact": "breaking"},
        "abi_explain_change": {"change_kind": KIND},
        "abi_dump": {"library_path": str(library.file)},
        "abi_help": {},
        "abi_store_stats": {},
    }


def tools(server: Server, libraries: Mapping[str, Library]) -> Iterator[Sequence[str]]:
    """A line a tool."""
    asked = {size: _calls_of(server, library) for size, library in libraries.items()}
    for tool in (name for name, each in TOOLS.items() if not each.writes):
        budget = BUDGETS[tool] // 2  # of the text, which is sent as structured content, too
        cells = []
        for size in SIZES:
            cost = server.measured(partial(server.speaking.call, tool, **asked[size][tool]))
            cells += _cells(cost, budget)
        yield (f"`{tool}`", f"{budget:,}", *cells)


SERVED: Mapping[str, Sequence[str]] = {
    "all that read": (),
    "`--toolsets review`": ("--toolsets", "review"),
    "`--toolsets history`": ("--toolsets", "history"),
    "all, `--allow-write`": ("--allow-write",),
    "`--toolsets admin --allow-write`": ("--toolsets", "admin", "--allow-write"),
}
"""Which tools a server has, by how it is started."""


def listings(database: Path) -> Iterator[Sequence[str]]:
    """The tools of each set, and the bytes in which `tools/list` describes them."""
    for served, options in SERVED.items():
        with Speaking([SERVER, "--db", database, *options], stderr=subprocess.DEVNULL) as speaking:
            listed = speaking.ask("tools/list").result["tools"]
        size = len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False).encode())
        yield served, str(len(listed)), f"{size:,}"


def _calls_of(server: Server, library: Library) -> Mapping[str, Mapping[str, Any]]:
    sides = {"old_input": f"{library.name}@{library.first}", "new_input": f"{library.name}@{library.last}"}
    made = server.speaking.call("abi_compare", policy="sdk_vendor", **sides).document
    return calls(library, made["comparison_id"], made["changes"][0]["id"])


def resources(server: Server, libraries: Mapping[str, Library]) -> Iterator[Sequence[str]]:
    """A line a resource."""
    for each in RESOURCES.values():
        cells = []
        for size in SIZES:
            questions = _calls_of(server, libraries[size])
            dumped = server.speaking.call("abi_dump", **questions["abi_dump"]).document
            asked = {**questions["abi_finding"], "digest": dumped["digest"]}
            named = _named(libraries[size])
            uri = UriTemplate.parse(each.uri).expand({**named, **asked})
            cells += _cells(
                server.measured(partial(server.speaking.ask, "resources/read", {"uri": uri})), MOST_RESOURCE
            )
        yield (f"`{each.uri}`", *cells)


def _named(library: Library) -> dict[str, str]:
    """What addresses name, but for handles of comparisons and dumps. Nobody has stored a consumer."""
    types = (name.spelling for name in capture(library.file).entries.get("layout", ()) if name.kind == "record")
    return {
        "library": library.name,
        "version": library.last,
        "symbol": library.symbol,
        "type": min(types, default=""),
        "policy": "sdk_vendor",
        "window": "2 minor",
        "page": "cli",
        "kind": KIND,
    }


def _cells(cost: Measured, most: int) -> tuple[str, str, str]:
    size = "refused" if cost.bytes is None else f"{cost.bytes:,}{'' if cost.bytes <= most else ' (too long)'}"
    slow = "" if cost.again <= READ_SECONDS else " (too slow)"
    return size, f"{1000 * cost.first:.0f}", f"{1000 * cost.again:.0f}{slow}"


def _met(is_met: bool) -> str:
    return "met" if is_met else "missed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, default=CACHE / "thirty.db", help="where the store is, or is made")
    asked = parser.parse_args()
    made = fill(asked.store)
    print(f"{machine()}; {made.libraries} of 30 libraries are real, with {made.releases} real releases.\n")
    with TemporaryDirectory() as folder, open_store(asked.store, read_only=True) as store:
        libraries = chosen(store, Path(folder))
        told = ", ".join(f"{size} is `{library.name}`" for size, library in libraries.items())
        print(f"{told}. CPU milliseconds of all processes: of a new question, and of the same again.\n")
        head = [f"{size}: {what}" for size in SIZES for what in ("bytes", "new, ms", "again, ms")]
        print(table(["served", "tools", "bytes of `tools/list`"], listings(asked.store)), flush=True)
        server = Server(asked.store)
        print(table(["tool", "budget, bytes", *head], tools(server, libraries)), flush=True)
        print(table(["resource", *head], resources(server, libraries)), flush=True)
        cold = median([server.cold, *(Server(asked.store).cold for _ in range(2))])
        kept = _met(cold <= COLD_SECONDS)
        told = f"{cold:.2f} s of CPU, a million additions: {pace():.3f} s"
        print(f"First answer after the start: {told}; at most {COLD_SECONDS:g}: {kept}.\n")


if __name__ == "__main__":
    main()
