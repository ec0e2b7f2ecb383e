"""What a thousand calls leave behind, a tenth of which are killed: memory, processes and temporary files.

``python -m benchmarks.soak`` prints Markdown, about a server over standard input and output and one over HTTP. Each
tenth call extracts a build with its headers, and the processes that work for the server are killed meanwhile. In the
end the server itself is killed. Every call has to be answered.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.measure import machine
from benchmarks.processes import family, resident
from benchmarks.store import table
from examples.agents.speaking import Speaking, text_of
from tests.mcp import histories
from tests.mcp.over_http import result, served

CALLS, EACH = 1_000, 10
FEW = 100
"""Memory is looked at before so many calls, and before the last: each of these two kills processes."""

PATIENCE = 10
"""How many seconds processes have to end after their server."""

SERVER = Path(sys.executable).with_name("abistore-mcp")
Heard = Callable[[], Mapping[str, Any]]


class Serving(NamedTuple):
    """A server that runs: its process, and how a call begins, whose answer is heard later."""

    process: int
    begin: Callable[[str, Mapping[str, Any]], Heard]


class Soaked(NamedTuple):
    """What became of the calls, the memory of the server and of its processes, and what is left of both."""

    answered: Counter[str]
    few: tuple[int, int]
    many: tuple[int, int]
    processes: int
    files: int


@contextmanager
def over_stdio(folder: Path, database: Path, scratch: Path) -> Iterator[Serving]:
    """A server over standard input and output, which is killed in the end."""
    environment = {**os.environ, "TMPDIR": str(scratch)}
    speaking = Speaking([SERVER, "--db", database], stderr=subprocess.DEVNULL, env=environment).__enter__()
    numbers = iter(range(10_000, 100_000))

    def begin(tool: str, arguments: Mapping[str, Any]) -> Heard:
        number = next(numbers)
        speaking.say({"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        return lambda: speaking.heard(number).message

    try:
        yield Serving(speaking.process.pid, begin)
    finally:
        speaking.process.kill()
        speaking.process.wait()


@contextmanager
def over_http(folder: Path, database: Path, scratch: Path) -> Iterator[Serving]:
    """A server over HTTP, which is killed in the end."""
    options = ("--read-root", str(folder))
    with ThreadPoolExecutor(2) as pool, served(folder, database, *options, TMPDIR=str(scratch)) as server:
        session = server.session()

        def begin(tool: str, arguments: Mapping[str, Any]) -> Heard:
            asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
            body = {**asked, "params": {"name": tool, "arguments": arguments}}
            told = pool.submit(server.post, body, mcp_session_id=session)
            return lambda: result(told.result())

        yield Serving(server.process.pid, begin)


TRANSPORTS = {"standard input and output": over_stdio, "HTTP": over_http}


def questions(library: Path, header: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """Nine quick questions about a history, and a slow one about a build."""
    first, last = (f"{histories.LIBRARY}@{each}" for each in (histories.VERSIONS[0], histories.VERSIONS[-1]))
    return [
        ("abi_list", {}),
        ("abi_summary", {"library": histories.LIBRARY}),
        ("abi_history", {"library": histories.LIBRARY}),
        ("abi_compare", {"old_input": first, "new_input": last}),
        ("abi_symbol_history", {"symbol": "wide_loop"}),
        ("abi_show", {"reference": last, "name": "wide_loop", "against": first}),
        ("abi_gate", {"library": histories.LIBRARY}),
        ("abi_dump", {"library_path": str(library)}),
        ("abi_help", {}),
        ("abi_review_build", {"new_input": str(library), "new_headers": [str(header)]}),
    ]


def soak(serving: Serving, asked: list[tuple[str, Mapping[str, Any]]]) -> tuple[Counter[str], list[tuple[int, int]]]:
    """What became of all calls; and the memory after a hundred, and in the end."""
    answered: Counter[str] = Counter()
    memory = []
    for number, (tool, arguments) in enumerate(islice(cycle(asked), CALLS), 1):
        heard = serving.begin(tool, arguments)
        if not number % EACH:
            time.sleep(0.1)
            _kill(list(family(serving.process))[1:])
        answered[_became(heard())] += 1
        if number + 1 in {FEW, CALLS}:
            own, *others = family(serving.process)
            memory.append((resident(own), sum(map(resident, others))))
    return answered, memory


def _kill(processes: list[int]) -> None:
    for each in processes:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def _became(message: Mapping[str, Any]) -> str:
    """``answered``, or the code of the error that a tool or the protocol answered with."""
    if "error" in message:
        return str(message["error"]["code"])
    if not message["result"].get("isError"):
        return "answered"
    return "killed" if '"code":"INTERNAL"' in text_of(message["result"]) else text_of(message["result"])[:80]


def soaked(transport: str, folder: Path, database: Path, asked: list[tuple[str, Mapping[str, Any]]]) -> Soaked:
    """All calls by one transport; then the server is killed, and what is left is counted."""
    with TemporaryDirectory() as scratch:
        with TRANSPORTS[transport](folder, database, Path(scratch)) as serving:
            answered, (few, many) = soak(serving, asked)
            processes = list(family(serving.process))
        return Soaked(answered, few, many, _left(processes), len(list(Path(scratch).iterdir())))


def _left(processes: list[int]) -> int:
    """How many processes are still there when they have had time to end."""
    until = time.monotonic() + PATIENCE
    while (left := sum(Path(f"/proc/{each}").exists() for each in processes)) and time.monotonic() < until:
        time.sleep(0.1)
    return left


def _rows(folder: Path) -> Iterator[tuple[str, ...]]:
    database = histories.store(folder)
    asked = questions(*histories.build(len(histories.VERSIONS), folder))
    for transport in TRANSPORTS:
        found = soaked(transport, folder, database, asked)
        became = ", ".join(f"{count:,} {what}" for what, count in found.answered.most_common())
        grown = [
            f"{few / 1e6:.0f} → {many / 1e6:.0f} MB ({many / few:.2f} x)"
            for few, many in zip(found.few, found.many, strict=True)
        ]
        yield transport, became, *grown, str(found.processes), str(found.files)


def main() -> None:
    print(f"{machine()}.\n", flush=True)
    head = ["transport", f"of {CALLS:,} calls", "server", "its processes", "processes left", "temporary files left"]
    with TemporaryDirectory() as folder:
        print(table(head, _rows(Path(folder))))


if __name__ == "__main__":
    main()
