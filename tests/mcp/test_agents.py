"""Agents that only follow what the server says of itself solve their tasks, in few calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.agents.__main__ import agent, line, tasks
from examples.agents.follow import Follower, Solved, extract

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
NAMES = [task.name for task in tasks(Path())]
MOST_CALLS, MOST_BYTES = 4, 8_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("agents")


@pytest.fixture(scope="module")
def follower(folder: Path) -> Iterator[Follower]:
    with agent(folder) as made:
        yield made


@pytest.fixture(scope="module")
def solved(follower: Follower, folder: Path) -> dict[str, Solved]:
    return {task.name: follower.solve(task) for task in tasks(folder)}


def test_there_are_twenty_tasks() -> None:
    assert len(set(NAMES)) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_solved_by_following_what_the_server_says(name: str, solved: dict[str, Solved], folder: Path) -> None:
    (task,) = (each for each in tasks(folder) if each.name == name)
    done = solved[name]
    assert task.is_answered(done.found), (done.found, done.calls)
    assert len(done.calls) <= MOST_CALLS
    assert done.bytes <= MOST_BYTES


def test_the_page_tells_what_each_task_took(solved: dict[str, Solved], folder: Path) -> None:
    told = {cells[0]: cells for cells in map(_cells, PAGE.read_text().splitlines()) if len(cells) == 5}
    again = "run `python -m examples.agents` again"
    for task in tasks(folder):
        question, calls, size, path, _ = _cells(line(task, solved[task.name]))
        assert (calls, path) == (told[question][1], told[question][3]), again
        assert 0.9 < _number(size) / _number(told[question][2]) < 1.1, again


def _cells(line: str) -> list[str]:
    return line.strip("| ").split(" | ")


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def test_a_path_chooses_members_of_lists() -> None:
    document = {"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], "one": {"two": ["z"]}, "none": []}
    assert list(extract(document, "rows[a=2].b")) == ["y"]
    assert list(extract(document, "rows[].a")) == [1, 2]
    assert list(extract(document, "rows[-1].a")) == [2]
    assert list(extract(document, "one.two[]")) == ["z"]
    assert list(extract(document, "none[].a")) == list(extract(document, "absent.a")) == []
