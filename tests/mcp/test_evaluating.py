"""What a person gives to a model, and how its answers are scored."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from examples.agents import __main__ as agents
from examples.agents.evaluating import facts_of, prompts, scores
from examples.agents.follow import Task

TASK = Task("one", "May it ship?", {"library": "libgeo"}, [], "outcome", ["fail"], {"exit_code": [4]})


def test_a_prompt_has_the_question_and_what_is_given_but_no_answer(tmp_path: Path) -> None:
    (said,) = map(json.loads, prompts([TASK]))
    assert said["task"] == "one"
    assert said["prompt"].startswith("May it ship?\nWhat you are given:\n- library: libgeo\n")
    assert "fail" not in said["prompt"]
    tasks = agents.REAL.tasks(tmp_path)
    assert [json.loads(line)["task"] for line in prompts(tasks)] == [task.name for task in tasks]


def test_an_answer_is_scored_by_its_facts() -> None:
    assert [each.lacking for each in scores([TASK], ['{"task": "one", "answer": "It **FAILs**? `fail`, exit 4"}'])] == [
        ()
    ]
    assert [each.lacking for each in scores([TASK], ['{"task": "one", "answer": "fail, exit 14"}'])] == [("4",)]
    assert [each.lacking for each in scores([TASK], [])] == [("fail", "4")]
    with pytest.raises(ValueError, match=r"not .*NAME"):
        list(scores([TASK], ['{"task": "one"}']))


@pytest.mark.parametrize("right", [True, False])
def test_a_file_of_answers_is_scored(
    right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = agents.REAL.tasks(tmp_path)
    answers = {task.name: "; ".join(facts_of(task)) for task in tasks}
    if not right:
        answers["review-c"] = "pass"
    lines = [json.dumps({"task": name, "answer": answer}) for name, answer in answers.items()]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    monkeypatch.setattr(sys, "argv", ["agents", "score", str(tmp_path / "answers.jsonl")])
    with pytest.raises(SystemExit) as ended:
        agents.main()
    assert ended.value.code == (0 if right else 1)
    told = capsys.readouterr().out.splitlines()
    assert told[-1] == f"{len(tasks) - (not right)} of {len(tasks)} tasks"
    assert any("review-c: 0 of" in line for line in told) is not right
