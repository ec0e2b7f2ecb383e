"""The same question about an unchanged store is answered from memory, and never about one that has changed."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from abistore.interface import IngestPlan, ingest, open_store
from abistore.mcp import jobs
from abistore.mcp.jobs import Answers, Done, Request, decode_done
from abistore.mcp.settings import Settings
from abistore.process import Answered
from tests.build import build_library
from tests.mcp.conftest import NEW

pytestmark = pytest.mark.fast


class Asking:
    """A process that answers, and how often it had to work for that."""

    def __init__(self, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.settings = Settings(database=str(database))
        self.worked = 0
        work = jobs._answer

        def counted(*given: Any) -> str:
            self.worked += 1
            return work(*given)

        monkeypatch.setattr(jobs, "_answer", counted)
        monkeypatch.setattr(jobs, "ANSWERS", Answers())

    def __call__(self, tool: str, **arguments: Any) -> Done:
        answered = jobs.reply(Request(tool, arguments, self.settings), _say)
        assert isinstance(answered, Answered), answered
        return decode_done(answered.data)


def _say(said: object) -> None:
    """Progress is nobody's business here."""


@pytest.fixture
def database(stored: Path, tmp_path: Path) -> Path:
    return shutil.copyfile(stored, tmp_path / "abi.db")


@pytest.fixture
def asking(database: Path, monkeypatch: pytest.MonkeyPatch) -> Asking:
    return Asking(database, monkeypatch)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("abi_summary", {"library": "libgeo"}),
        ("abi_compare", {"old_input": "libgeo@1.0", "new_input": "libgeo@2.0"}),
        ("abi_history", {"library": "libgeo"}),
    ],
)
def test_a_question_is_worked_on_once(asking: Asking, tool: str, arguments: dict[str, Any]) -> None:
    first, again = asking(tool, **arguments), asking(tool, **arguments)
    assert asking.worked == 1
    assert (again.answer, again.keep) == (first.answer, first.keep)


def test_an_answer_that_is_too_long_is_worked_on_once_too(asking: Asking) -> None:
    asking.settings = Settings(database=asking.settings.database, max_response_units=20)
    refused = [jobs.reply(Request("abi_summary", {"library": "libgeo"}, asking.settings), _say) for _ in range(2)]
    assert [getattr(each, "kind", "") for each in refused] == ["LIMIT", "LIMIT"]
    assert asking.worked == 1


def test_other_arguments_are_another_question(asking: Asking) -> None:
    assert asking("abi_list", limit=1).answer != asking("abi_list", library="libgeo").answer
    assert asking.worked == 2


def test_what_was_stored_since_is_told(asking: Asking, database: Path, libraries: dict[str, Path]) -> None:
    before = asking("abi_summary", library="libgeo").answer
    with open_store(database) as store:
        ingest(libraries["1.1"], IngestPlan(version="3.0"), database=store)
    assert '"version":"3.0"' in asking("abi_summary", library="libgeo").answer
    assert '"version":"3.0"' not in before


def test_another_store_in_the_place_of_this_one_is_asked(asking: Asking, database: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    library = build_library(NEW, soname="libother.so.1", name="libother.so")
    with open_store(other, create=True) as store:
        ingest(library, IngestPlan(version="1.0"), database=store)
    assert "libgeo" in asking("abi_list").answer
    other.replace(database)
    assert "libother" in asking("abi_list").answer


def test_a_file_is_read_each_time(asking: Asking, libraries: dict[str, Path], tmp_path: Path) -> None:
    build = shutil.copyfile(libraries["1.0"], tmp_path / "libgeo.so")
    first = asking("abi_compare", old_input="libgeo@1.0", new_input=str(build)).answer
    shutil.copyfile(libraries["2.0"], build)
    second = asking("abi_compare", old_input="libgeo@1.0", new_input=str(build)).answer
    assert '"verdict":"NO_CHANGE"' in first
    assert '"verdict":"BREAKING"' in second


def test_headers_of_a_library_by_its_name_are_read_each_time(asking: Asking, tmp_path: Path) -> None:
    for headers in ([str(tmp_path)], [f"libgeo={tmp_path}"]):
        request = Request("abi_whatif", {"library": "libgeo", "headers": headers}, asking.settings)
        assert jobs.question_of(request) is None


def test_the_next_day_is_asked_anew(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in (3, 3, 4):
        monkeypatch.setattr(jobs, "today", lambda day=day: date(2026, 6, day))
        asking("abi_gate", library="libgeo", against="prev")
    assert asking.worked == 2  # an approval may have ended


def test_the_oldest_answers_go() -> None:
    from abistore.mcp.jobs import MOST_BYTES, StoreQuestion

    answers = Answers()
    long = Answered(b"x" * (MOST_BYTES // 4))
    for number in range(6):
        answers.keep(StoreQuestion(bytes([number]), ()), long)
    kept = [number for number in range(6) if answers.find(StoreQuestion(bytes([number]), ()))]
    assert kept == [2, 3, 4, 5]
    answers.keep(StoreQuestion(b"too long", ()), Answered(b"x" * MOST_BYTES))
    assert answers.find(StoreQuestion(b"too long", ())) is None
