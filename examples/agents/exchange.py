"""One exchange of an agent with a real history, as README shows it.

``python -m examples.agents.exchange`` prints it; it asks about the releases of liblz4 that ``examples/demo`` ingests.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from examples.agents.follow import Follower, Step, Task
from examples.agents.speaking import Speaking
from examples.histories import DATABASE

SERVER = Path(sys.executable).with_name("abistore-mcp")
ASKED = Task(
    name="exchange",
    question="Since when is liblz4 broken, by what, and what is to be done?",
    given={"library": "liblz4"},
    words=["broke first"],
    find="advice[]",
    answer=["soname_bump_recommended"],
)


def exchange(database: Path) -> Iterator[str]:
    """The question, each call that was made for it, and what the server said to it."""
    yield f"person  {ASKED.question}"
    with Speaking([SERVER, "--db", database], stderr=subprocess.DEVNULL) as server:
        for step in Follower(server).solve(ASKED).calls:
            yield f"agent   {_spelled(step)}"
            document = server.call(step.tool, **step.arguments).document
            yield f"server  {document['headline']}"
            for change in document.get("top", ()):
                yield f"        {change['impact']}: {change['kind']}: {change['symbol']}"
            yield from (f"        advice: {said}" for said in document.get("advice", ()))
            following = document["next"][0]
            yield f"        next: {_spelled(Step(following['tool'], following['arguments']))}"


def _spelled(step: Step) -> str:
    return f"{step.tool}({', '.join(f'{name}={value!r}' for name, value in step.arguments.items())})"


if __name__ == "__main__":
    print("\n".join(exchange(DATABASE)))
