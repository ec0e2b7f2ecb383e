"""Agents that only follow what the server says of itself do their tasks, in few calls and bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from examples.agents.__main__ import REAL, SMALL, Asked, line
from examples.agents.follow import Solved, Task, extract

PAGE = Path(__file__).parents[2] / "docs" / "questions" / "agents.md"


class Done(NamedTuple):
    """Tasks by name, and what each took."""

    tasks: dict[str, Task]
    solved: dict[str, Solved]


def _done(asked: Asked, folder: Path) -> Done:
    tasks = {task.name: task for task in asked.tasks(folder)}
    with asked.agent(folder) as follower:
        return Done(tasks, {name: follower.solve(task) for name, task in tasks.items()})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    yield _done(SMALL, tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    yield _done(REAL, tmp_path_factory.mktemp("real"))


def _names(asked: Asked) -> list[str]:
    return [task.name for task in asked.tasks(Path())]


def test_there_are_forty_tasks() -> None:
    assert len(set(_names(SMALL))) >= 25
    assert len(set(_names(REAL))) >= 15


@pytest.mark.parametrize("name", _names(SMALL))
def test_a_task_is_done_by_following_what_the_server_says(name: str, small: Done) -> None:
    assert small.tasks[name].missed(small.solved[name]) == []


@pytest.mark.full
@pytest.mark.parametrize("name", _names(REAL))
def test_a_job_about_a_real_history_is_done_within_its_bounds(name: str, real: Done) -> None:
    assert real.tasks[name].missed(real.solved[name]) == []


@pytest.mark.parametrize("asked", [SMALL, REAL], ids=["small", "real"])
def test_two_calls_do_but_for_reviews_and_long_comparisons(asked: Asked) -> None:
    reviews = {"review-c", "review-cpp", "review-one-line", "fix", "why-it-matters", "life-of-what-breaks"}
    longer = {task.name: task.most_calls for task in asked.tasks(Path()) if task.most_calls > 2}
    assert longer.items() <= {**dict.fromkeys(reviews, 3), "all": 5}.items()


def test_the_page_tells_what_each_task_took(small: Done) -> None:
    _compare(small)


@pytest.mark.full
def test_the_page_tells_what_each_job_took(real: Done) -> None:
    _compare(real)


def _compare(done: Done) -> None:
    told = {cells[0]: cells for cells in map(_cells, PAGE.read_text().splitlines()) if len(cells) == 5}
    again = "run `python -m examples.agents` again"
    for name, task in done.tasks.items():
        question, calls, size, path, _ = _cells(line(task, done.solved[name]))
        assert (calls, path) == (told[question][1], told[question][3]), again
        assert 0.9 < _number(size) / _number(told[question][2]) < 1.1, again


def _cells(line: str) -> list[str]:
    return line.strip("| ").split(" | ")


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def test_what_a_task_misses_is_said() -> None:
    task = Task("one", "?", {}, [], "a", [1], {"b[]": ["word"]}, most_calls=0, most_bytes=1)
    good = Solved({"a": (1,), "b[]": ("a word",)}, (), 1, ("```diff\n```",))
    assert task.missed(good) == []
    assert task.missed(good._replace(bytes=2)) == ["2 bytes, at most 1"]
    assert task.missed(good._replace(facts={"a": (1,)})) == ["b[]: (), not ['word']"]
    assert task.missed(good._replace(facts={**good.facts, "a": (1, 2)})) == ["a: (1, 2), not [1]"]
    assert task.missed(good._replace(comments=("```diff",))) == ["a comment ends within code: …```diff"]


def test_a_path_chooses_members_of_lists() -> None:
    document = {"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y.1"}], "one": {"two": ["z"]}, "none": []}
    assert list(extract(document, "rows[a=2].b")) == ["y.1"]
    assert list(extract(document, "rows[b=y.1].a")) == [2]
    assert list(extract(document, "rows[].a")) == [1, 2]
    assert list(extract(document, "rows[-1].a")) == [2]
    assert list(extract(document, "one.two[]")) == ["z"]
    assert list(extract(document, "none[].a")) == list(extract(document, "absent.a")) == []
