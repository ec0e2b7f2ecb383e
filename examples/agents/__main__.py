"""Ask agents' tasks of a store: ``python -m examples.agents [FOLDER]`` writes what each took to ``docs/agents.md``."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from examples.agents.follow import Follower, Solved, Task
from examples.agents.speaking import Speaking
from examples.agents.store import make
from examples.obtain import CACHE, PROJECT

TASKS = Path(__file__).with_name("tasks.toml")
SERVER = Path(sys.executable).with_name("abistore-mcp")


def tasks(folder: Path) -> list[Task]:
    """All tasks about the store in a folder."""
    every = tomllib.loads(TASKS.read_text())["task"]
    return [Task(**{**each, "given": _placed(each["given"], folder)}) for each in every]


def _placed(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    return {name: value.format(folder=folder) if isinstance(value, str) else value for name, value in given.items()}


@contextmanager
def agent(folder: Path) -> Iterator[Follower]:
    """An agent that asks a server of the store in a folder, which is made where it is not there."""
    with Speaking([SERVER, "--db", make(folder)], stderr=subprocess.DEVNULL) as server:
        yield Follower(server)


def line(task: Task, solved: Solved) -> str:
    """A task as a line of the table."""
    path = " → ".join(f"`{step.tool}`" for step in solved.calls)
    return f"| {task.question} | {len(solved.calls)} | {solved.bytes:,} | {path} | {_told(solved.found)} |"


def _told(found: tuple[Any, ...]) -> str:
    text = ", ".join(str(each) for each in found)
    return text.partition("\n")[0][:LONGEST].replace("|", "\\|")


LONGEST = 110
"""How many characters of an answer the table has."""


PAGE = PROJECT / "docs" / "agents.md"
INTRODUCTION = """# What agents' tasks take

An agent without a model solves these tasks over standard input and output. It knows no tool and no id: it starts with a
tool that takes what the person said, and whose description has a word of the task; then it follows the calls that
answers name in `next`. Its rules are in `examples/agents/follow.py`, the tasks with their words in
`examples/agents/tasks.toml`; real commands make the store (`examples/agents/store.py`). It shows how few calls are
needed where an agent reads what it is told; a model may make more.

`tools/list` is read once, {listed:,} bytes. Bytes are those of all answers' texts. To make this page again:

```text
python -m examples.agents
```

| task | calls | bytes | calls made | answer |
|---|---|---|---|---|
"""


def main() -> None:
    """Write the page."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else CACHE / "agents"
    with agent(folder.absolute()) as follower:
        solved = [(task, follower.solve(task)) for task in tasks(folder.absolute())]
    lines = "".join(f"{line(task, done)}\n" for task, done in solved)
    calls = sum(len(done.calls) for _, done in solved)
    size = sum(done.bytes for _, done in solved)
    told = f"\n{len(solved)} tasks, {calls} calls, {size:,} bytes.\n"
    PAGE.write_text(INTRODUCTION.format(listed=follower.listed_bytes) + lines + told)


if __name__ == "__main__":
    main()
