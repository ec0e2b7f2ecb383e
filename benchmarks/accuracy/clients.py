"""Programs built against an old release and run with the new one: ``python -m benchmarks.accuracy.clients``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.accuracy.declared import included
from examples.more_recipes import ALL
from examples.obtain import require, run
from examples.recipes import build

CLIENTS = Path(__file__).parent.parent / "clients"
TITLE = re.compile(r"/\* (?P<library>\S+) (?P<old>\S+) -> (?P<new>\S+): (?P<expected>breaks|works)\. (?P<why>.*) \*/")
SECONDS = 20


@dataclass(frozen=True)
class Client:
    """A program, its pair of releases, and whether it is expected to break."""

    path: Path
    library: str
    old: str
    new: str
    breaks: bool
    why: str


def clients() -> list[Client]:
    """All programs in ``benchmarks/clients``, by name; their first line says what they show."""
    found = []
    for path in sorted(CLIENTS.glob("*.c*")):
        title = TITLE.match(path.read_text())
        if title is None:
            raise ValueError(f"{path.name}: the first line must be {TITLE.pattern}")
        expected = title["expected"] == "breaks"
        found.append(Client(path, title["library"], title["old"], title["new"], expected, title["why"]))
    return found


def outcomes(client: Client) -> tuple[str, str]:
    """How the program ends with the release that it was built against, and with the new one."""
    recipe = ALL[client.library]
    old, new = build(recipe, client.old), build(recipe, client.new)
    with TemporaryDirectory() as folder:
        program = Path(folder) / "client"
        flags = ["-g", "-O1", "-w", "-Wl,-z,now", "-D_GNU_SOURCE", *included(client.library, client.old)]
        compiler = require("gcc", "gcc") if client.path.suffix == ".c" else require("g++", "g++")
        run([compiler, *flags, client.path, old, "-o", program], Path(folder))
        return _ends(program, old.parent), _ends(program, new.parent)


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
        as_told = before == "ok" and (after != "ok") == client.breaks
        wrong += not as_told
        mark = "  " if as_told else "! "
        print(f"{mark}{client.path.name}: {client.old}: {before}; {client.new}: {after}", flush=True)
    sys.exit(wrong and 1)


if __name__ == "__main__":
    main()
