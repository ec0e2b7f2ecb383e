"""Programs built against an old release and run with the new one: ``python -m benchmarks.accuracy.clients``.

Those that show a source break are built against the new one instead, and must not compile.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.accuracy.installed import included
from examples.more_recipes import ALL
from examples.obtain import require
from examples.recipes import build

CLIENTS = Path(__file__).parent.parent / "clients"
TITLE = re.compile(
    r"/\* (?P<library>\S+) (?P<old>\S+) -> (?P<new>\S+): (?P<expected>breaks|works|compiles no more)\. (?P<why>.*) \*/"
)
SECONDS = 20


@dataclass(frozen=True)
class Client:
    """A program, its pair of releases, and what is expected of it with the new one."""

    path: Path
    library: str
    old: str
    new: str
    expected: str
    why: str

    @property
    def is_source(self) -> bool:
        """Whether it shows a source break, and not what becomes of a program that was built before."""
        return self.expected == "compiles no more"


def clients() -> list[Client]:
    """All programs in ``benchmarks/clients``, by name; their first lines say what they show, each of one pair."""
    found = []
    for path in sorted(CLIENTS.glob("*.c*")):
        titles = [*takewhile(bool, map(TITLE.fullmatch, path.read_text().splitlines()))]
        if not titles:
            raise ValueError(f"{path.name}: the first line must be {TITLE.pattern}")
        found += [
            Client(path, each["library"], each["old"], each["new"], each["expected"], each["why"])
            for each in titles
            if each
        ]
    return found


def outcomes(client: Client) -> tuple[str, str]:
    """How the program ends with the release that it was built against, and with the new one."""
    old, new = (build(ALL[client.library], version) for version in (client.old, client.new))
    with TemporaryDirectory() as folder:
        program = Path(folder) / "client"
        if _compile(client, client.old, old, program).returncode:
            return "does not compile", ""
        before = _ends(program, old.parent)
        if client.is_source:
            failed = _compile(client, client.new, new, program).returncode
            return before, "does not compile" if failed else "ok"
        return before, _ends(program, new.parent)


def _compile(client: Client, version: str, library: Path, program: Path) -> subprocess.CompletedProcess[str]:
    """Builds ``program`` with the headers of ``version``."""
    flags = ["-g", "-O1", "-w", "-Wl,-z,now", "-D_GNU_SOURCE", *included(client.library, version)]
    compiler = require("gcc", "gcc") if client.path.suffix == ".c" else require("g++", "g++")
    words = [compiler, *flags, client.path, library, "-o", program]
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


def _ends(program: Path, libraries: Path) -> str:
    environment = os.environ | {"LD_LIBRARY_PATH": str(libraries)}
    try:
        done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no end within {SECONDS} s"
    if done.returncode < 0:
        return f"signal {-done.returncode}"
    lost = re.search(r"undefined symbol: (\w+)|symbol lookup error", done.stderr)
    return "ok" if done.returncode == 0 else lost[0] if lost else f"exit {done.returncode}"


def main() -> None:
    """A line a program; fails where one does not do what its first line says."""
    wrong = 0
    for client in [each for each in clients() if each.library in sys.argv[1:] or not sys.argv[1:]]:
        before, after = outcomes(client)
        as_told = before == "ok" and (after == "ok") == (client.expected == "works")
        wrong += not as_told
        mark = "  " if as_told else "! "
        print(f"{mark}{client.path.name}: {client.old}: {before}; {client.new}: {after}", flush=True)
    sys.exit(wrong and 1)


if __name__ == "__main__":
    main()
