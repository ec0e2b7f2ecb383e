"""Tasks for a person to give to a model, and the score of what it answered: the facts that each answer must have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from examples.agents.follow import Task


class Score(NamedTuple):
    """A task, how many facts it wants, and those that its answer lacks."""

    task: str
    wanted: int
    lacking: tuple[str, ...]


def prompts(tasks: Iterable[Task]) -> Iterator[str]:
    """Each task as one line of JSON: its name, and what to say to a model. The facts are not among it."""
    for task in tasks:
        given = "".join(f"\n- {name}: {value}" for name, value in task.given.items())
        about = f"\nWhat you are given:{given}" if given else ""
        quoted = f"Use the tools of abistore only, and quote what they say of: {', '.join(task.wanted)}"
        said = f"{task.question}{about}\n{quoted}"
        yield json.dumps({"task": task.name, "prompt": said}, ensure_ascii=False)


def scores(tasks: Iterable[Task], answers: Sequence[str]) -> Iterator[Score]:
    """The score of each task; ``answers`` are lines as ``{"task": NAME, "answer": TEXT}``, and none is an empty one.

    Raises ValueError where a line is not of this form.
    """
    told = dict(_answer(line) for line in answers if line.strip())
    for task in tasks:
        facts = tuple(facts_of(task))
        text = _plain(told.get(task.name, ""))
        yield Score(task.name, len(facts), tuple(fact for fact in facts if not _has(text, fact)))


def facts_of(task: Task) -> Iterator[str]:
    """The words that an answer must have: what the task wants, once each."""
    yield from dict.fromkeys(str(value) for wanted in task.wanted.values() for value in wanted)


def _answer(line: str) -> tuple[str, str]:
    found: Any = json.loads(line)
    match found:
        case {"task": str(task), "answer": str(answer)}:
            return task, answer
    raise ValueError(f'{line[:80]}: not {{"task": NAME, "answer": TEXT}}')


def _has(text: str, fact: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(_plain(fact))}(?!\w)", text) is not None


def _plain(text: str) -> str:
    """Without what Markdown, capitals and spaces make of the same words."""
    return " ".join(text.replace("`", "").replace("\\", "").replace("*", "").casefold().split())
