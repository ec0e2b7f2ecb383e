"""One comment of a pipeline on a pull request: written, updated and removed, whatever the platform does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import abistore as python
from tests.forge import BOT, READER, STRANGER, Forge, forge

assert forge  # a fixture
MARKER = "<!-- abistore comment abi -->"
QUICK = python.CommentPlan(pause=0.0)


@pytest.fixture(params=["github", "gitlab"])
def job(request: pytest.FixtureRequest, forge: Forge, tmp_path: Path) -> dict[str, str]:
    return forge.github(tmp_path) if request.param == "github" else forge.gitlab()


def post(text: str, job: dict[str, str], **plan: Any) -> str:
    return python.post_comment(text, job, python.CommentPlan(**{"pause": 0.0, **plan})).done


def test_a_comment_is_created_updated_and_removed(forge: Forge, job: dict[str, str]) -> None:
    forge.add("Looks good to me", STRANGER)
    assert post("one", job) == "created"
    assert post("two", job) == "updated"
    assert forge.own() == [f"{MARKER}\ntwo\n"]
    assert post("two", job) == "unchanged"
    assert post("", job) == "removed"
    assert post("", job) == "nothing"
    assert [each["body"] for each in forge.comments] == ["Looks good to me"]
    assert [each[0] for each in forge.writes()] == ["P", "P", "D"]


def test_a_comment_behind_other_pages_is_found(forge: Forge, job: dict[str, str]) -> None:
    for number in range(230):
        forge.add(f"{number}", STRANGER)
    forge.add(f"{MARKER}\nold\n")
    assert post("new", job) == "updated"
    assert forge.own() == [f"{MARKER}\nnew\n"]


def test_a_strangers_comment_with_the_marker_is_left_alone(forge: Forge, job: dict[str, str]) -> None:
    """Who wrote it could change it back: all is well."""
    forge.add(f"{MARKER}\nall is well\n", STRANGER)
    assert post("broken", job) == "created"
    assert post("", job) == "removed"
    assert [each["user"]["login"] for each in forge.comments] == [STRANGER]


def test_comments_of_other_names_are_left_alone(forge: Forge, job: dict[str, str]) -> None:
    assert post("one", job, name="libone") == "created"
    assert post("two", job, name="libtwo") == "created"
    assert post("", job, name="libone") == "removed"
    assert len(forge.own()) == 1 and "two" in forge.own()[0]


def test_of_two_comments_that_two_jobs_wrote_at_once_one_is_left(forge: Forge, job: dict[str, str]) -> None:
    for text in ("one", "two"):
        forge.add(f"{MARKER}\n{text}\n")
    assert post("three", job) == "updated"
    assert forge.own() == [f"{MARKER}\nthree\n"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_platform_that_is_busy_is_asked_again(forge: Forge, job: dict[str, str], status: int) -> None:
    forge.refusals = [(status, {"Retry-After": "0"}), (status, {})]
    assert post("one", job) == "created"
    assert len(forge.own()) == 1


def test_a_comment_whose_answer_was_lost_is_not_written_twice(forge: Forge, job: dict[str, str]) -> None:
    forge.lost = 1
    assert post("one", job) == "unchanged"
    assert len(forge.own()) == 1


def test_a_platform_that_stays_down_is_an_error_of_output(forge: Forge, job: dict[str, str]) -> None:
    forge.refusals = [(503, {})] * 9
    with pytest.raises(python.OutputError, match="HTTP 503"):
        post("one", job, attempts=3)
    assert len(forge.asked) == 3
    job = {key: value.replace(forge.url, "http://127.0.0.1:9") for key, value in job.items()}
    with pytest.raises(python.OutputError, match="no answer"):
        post("one", job, attempts=2)


def test_a_forks_token_is_not_tried_twice(forge: Forge, job: dict[str, str]) -> None:
    job |= {key: READER for key in job if key.endswith("_TOKEN")}
    with pytest.raises(python.OutputError, match="HTTP 403") as raised:
        post("one", job)
    assert "fork" in raised.value.hint
    assert forge.writes() == ["POST"]


def test_the_token_is_never_sent_to_another_address(forge: Forge, job: dict[str, str]) -> None:
    forge.refusals = [(302, {"Location": f"{forge.url}/elsewhere"})]
    with pytest.raises(python.OutputError, match="HTTP 302"):
        post("one", job)
    assert not any("elsewhere" in path for _, path in forge.asked)


@pytest.mark.parametrize("missing", ["GITHUB_TOKEN", "GITHUB_EVENT_PATH", "GITHUB_API_URL", "GITHUB_REPOSITORY"])
def test_what_a_job_lacks_is_named(forge: Forge, tmp_path: Path, missing: str) -> None:
    with pytest.raises(python.UsageError, match=f"{missing} is not set"):
        python.post_comment("one", forge.github(tmp_path) | {missing: ""}, QUICK)
    assert forge.asked == []


def test_a_job_for_no_request_is_an_error_of_use(forge: Forge, tmp_path: Path) -> None:
    (tmp_path / "push.json").write_text('{"ref": "refs/heads/main"}')
    pushed = forge.github(tmp_path) | {"GITHUB_EVENT_PATH": str(tmp_path / "push.json")}
    branch = forge.gitlab() | {"CI_MERGE_REQUEST_IID": ""}
    for environment in ({}, pushed, branch, forge.gitlab() | {"CI_API_V4_URL": "file:///etc"}):
        with pytest.raises(python.UsageError):
            python.post_comment("one", environment, QUICK)
    for plan in (python.CommentPlan("a --> b"), python.CommentPlan(attempts=0), python.CommentPlan(timeout=0)):
        with pytest.raises(python.UsageError):
            python.post_comment("one", forge.gitlab(), plan)
    assert forge.asked == []


def test_the_command_posts_a_file(forge: Forge, abistore: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    page = tmp_path / "abi.md"
    page.write_text("## broken")
    assert abistore("comment", page).code == 64
    for key, value in forge.github(tmp_path).items():
        monkeypatch.setenv(key, value)
    done = abistore("comment", page)
    assert (done.code, done.out) == (0, "comment created: org/foo#7, https://git.example.org/org/foo/7#1\n")
    page.write_text("")
    assert abistore("comment", page, "--json").json == {"done": "removed", "request": "org/foo#7", "url": ""}
    assert abistore("comment", tmp_path / "missing.md").code == 64
    assert forge.comments == [] and BOT not in done.out
