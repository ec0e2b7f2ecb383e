"""Agents' tasks, asked of a server: ``python -m examples.agents`` writes what each took to ``questions/agents.md``."""

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
from examples.agents.evaluating import prompts, scores
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


PAGE = PROJECT / "docs" / "questions" / "agents.md"
INTRODUCTION = """# What agents' tasks take

An agent without a model solves these tasks over standard input and output. It knows no tool and no id: it starts with a
tool that takes what the person said, and whose description has a word of the task; then it follows the calls that
answers name in `next`. Its rules are in `examples/agents/follow.py`. It shows how few calls are needed where an agent
reads the answers; a model may make more.

Each task names the facts that its answers must have, and how many calls and bytes it may take: two calls, three for the
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


EVALUATION = """
## With a model

A model is asked by a person, with any client of MCP; nothing here starts one. `evaluation` makes the store of real
histories and prints one line of JSON a task, `{{"task": …, "prompt": …}}`. The client's server is `abistore-mcp --db`
with that store, `real.db` in the folder. `score` reads lines as `{{"task": …, "answer": …}}` and prints of each task
how many facts its answer has, and which it lacks; it ends with 1 where one is lacking. A fact counts where the answer
has its words, whatever the case and the marks of Markdown; a wrong claim beside it is not seen.

```text
python -m examples.agents evaluation > prompts.jsonl
python -m examples.agents score answers.jsonl
```
"""


def main() -> None:
    """Write the page, print the prompts, or score answers."""
    parser = argparse.ArgumentParser(prog="python -m examples.agents", description=__doc__)
    parser.add_argument("--folder", type=Path, default=CACHE / "agents", help="where the stores are made")
    steps = parser.add_subparsers(dest="step")
    steps.add_parser("evaluation", help="print the tasks for a model")
    steps.add_parser("score", help="score a model's answers").add_argument("answers", type=Path)
    asked = parser.parse_args()
    folder = asked.folder.absolute()
    if asked.step == "evaluation":
        REAL.make(folder)
        print("\n".join(prompts(REAL.tasks(folder))))
    elif asked.step == "score":
        sys.exit(_score(asked.answers.read_text().splitlines(), folder))
    else:
        _write(folder)


def _score(answers: Sequence[str], folder: Path) -> int:
    every = list(scores(REAL.tasks(folder), answers))
    for each in every:
        lacking = "".join(f"; lacks {fact!r}" for fact in each.lacking)
        print(f"{each.task}: {each.wanted - len(each.lacking)} of {each.wanted}{lacking}")
    whole = sum(not each.lacking for each in every)
    print(f"{whole} of {len(every)} tasks")
    return int(whole < len(every))


def _write(folder: Path) -> None:
    """Write the page, unless a task is missed."""
    sections, missed, listed = [], [], 0
    for introduction, asked in SECTIONS.items():
        with asked.agent(folder) as follower:
            solved = [(task, follower.solve(task)) for task in asked.tasks(folder)]
            listed = follower.listed_bytes
        missed += [f"{task.name}: {said}" for task, done in solved for said in task.missed(done)]
        sections.append(f"\n{introduction}\n{TABLE}{_lines(solved)}")
    if missed:
        sys.exit("\n".join(missed))
    PAGE.write_text(INTRODUCTION.format(listed=listed) + "".join(sections) + EVALUATION.format())


def _lines(solved: Sequence[tuple[Task, Solved]]) -> str:
    calls = sum(len(done.calls) for _, done in solved)
    size = sum(done.bytes for _, done in solved)
    return "".join(f"{line(*each)}\n" for each in solved) + f"\n{len(solved)} tasks, {calls} calls, {size:,} bytes.\n"


if __name__ == "__main__":
    main()
