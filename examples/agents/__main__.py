"""Agents' tasks, asked of a server: ``python -m examples.agents`` writes what each took to ``docs/agents.md``."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from examples.agents import real, store
from examples.agents.follow import Follower, Solved, Task
from examples.agents.speaking import Speaking
from examples.obtain import CACHE, PROJECT

HERE = Path(__file__).parent
SERVER = Path(sys.executable).with_name("abistore-mcp")


class Asked(NamedTuple):
    """Tasks of a file about a store that can be made."""

    file: Path
    make: Callable[[Path], Path]

    def tasks(self, folder: Path) -> list[Task]:
        """All tasks, about the store in a folder."""
        every = tomllib.loads(self.file.read_text())["task"]
        return [Task(**{**each, "given": _placed(each["given"], folder)}) for each in every]

    @contextmanager
    def agent(self, folder: Path) -> Iterator[Follower]:
        """An agent that asks a server of the store in a folder, which is made where it is not there."""
        with Speaking([SERVER, "--db", self.make(folder)], stderr=subprocess.DEVNULL) as server:
            yield Follower(server)


SMALL = Asked(HERE / "tasks.toml", store.make)
REAL = Asked(HERE / "jobs.toml", real.make)


def _placed(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    return {name: value.format(folder=folder) if isinstance(value, str) else value for name, value in given.items()}


def line(task: Task, solved: Solved) -> str:
    """A task as a line of the table."""
    path = " → ".join(f"`{step.tool}`" for step in solved.calls)
    return f"| {task.question} | {len(solved.calls)} | {solved.bytes:,} | {path} | {_told(solved.found(task))} |"


def _told(found: tuple[Any, ...]) -> str:
    text = ", ".join(str(each) for each in found)
    return text.partition("\n")[0][:LONGEST].replace("|", "\\|")


LONGEST = 110
"""How many characters of an answer the table has."""


PAGE = PROJECT / "docs" / "agents.md"
INTRODUCTION = """# What agents' tasks take

An agent without a model solves these tasks over standard input and output. It knows no tool and no id: it starts with a
tool that takes what the person said, and whose description has a word of the task; then it follows the calls that
answers name in `next`. Its rules are in `examples/agents/follow.py`. It shows how few calls are needed where an agent
reads what it is told; a model may make more.

Each task names the facts that its answers must tell, and how many calls and bytes it may take: two calls, three for the
review of a build, and more only to read all of a long comparison. A comment that ends within code fails, too. What
waits for a person, as moving a baseline or accepting a break, is not asked here. To ask all of them, fail where one is
missed, and make this page again:

```text
python -m examples.agents
```

`tools/list` is read once, {listed:,} bytes. Bytes are those of all answers' texts.
"""
SECTIONS = {
    """## Real histories

16 releases of htslib, 16 of wcslib for two processors and 10 of OpenEXR, as the case studies keep them, three programs
that were linked with htslib, and three builds (`examples/agents/real.py`). The tasks: `examples/agents/jobs.toml`.
""": REAL,
    """## A small store

Two libraries of a few functions, made by real commands (`examples/agents/store.py`). The tasks:
`examples/agents/tasks.toml`.
""": SMALL,
}
TABLE = "| task | calls | bytes | calls made | answer |\n|---|---|---|---|---|\n"


def main() -> None:
    """Write the page, unless a task is missed."""
    parser = argparse.ArgumentParser(prog="python -m examples.agents", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=CACHE / "agents", help="where the stores are made")
    folder = parser.parse_args().folder.absolute()
    sections, missed, listed = [], [], 0
    for introduction, asked in SECTIONS.items():
        with asked.agent(folder) as follower:
            solved = [(task, follower.solve(task)) for task in asked.tasks(folder)]
            listed = follower.listed_bytes
        missed += [f"{task.name}: {said}" for task, done in solved for said in task.missed(done)]
        sections.append(f"\n{introduction}\n{TABLE}{_lines(solved)}")
    if missed:
        sys.exit("\n".join(missed))
    PAGE.write_text(INTRODUCTION.format(listed=listed) + "".join(sections))


def _lines(solved: Sequence[tuple[Task, Solved]]) -> str:
    calls = sum(len(done.calls) for _, done in solved)
    size = sum(done.bytes for _, done in solved)
    return "".join(f"{line(*each)}\n" for each in solved) + f"\n{len(solved)} tasks, {calls} calls, {size:,} bytes.\n"


if __name__ == "__main__":
    main()
