"""An answer is of one moment: what others store between two of its statements does not look like damage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import pytest

from abistore.model.findings import Finding, Impact
from abistore.model.history import IngestRequest
from abistore.store.database import Row
from abistore.store.store import Store
from tests.store.builders import EXPORTED, function, record, snapshot, struct
from tests.store.test_verdicts import given

pytestmark = pytest.mark.full

Question = Callable[[Store], object]

QUESTIONS: dict[str, Question] = {
    "a log": lambda store: [event.release.version for events in store.logs(["S"]).values() for event in events],
    "findings": lambda store: [one.identity for one in store.findings("", 5)[0]],
    "releases": lambda store: [release.version for release in store.releases("libgeo")],
    "the latest": lambda store: store.resolve("libgeo@latest").version,
    "a digest": lambda store: store.resolve(store.resolve("libgeo@1").digest).version,
    "a snapshot": lambda store: store.load(store.resolve("libgeo@1")).version,
    "the release before": lambda store: store.preceding(store.lines()[0], "9999"),
    "the order": lambda store: store.orders("libgeo"),
    "a baseline": lambda store: [move.version for move in store.baselines()],
    "judgements": lambda store: len(store.verdict_summaries(store.lines()[0], "e1")),
    "spellings": lambda store: store.spellings("libgeo"),
    "a check": lambda store: store.check(),
}


class Interrupted:
    """Lets ``act`` happen before one of the statements that a store executes, which are counted."""

    def __init__(self, store: Store, act: Callable[[], object], place: int = 0) -> None:
        self.executed = 0
        self._act, self._place = act, place
        self._rows = store.database.rows
        vars(store.database)["rows"] = self.rows

    def rows(self, *words: Any) -> Sequence[Row]:
        self.executed += 1
        if self.executed == self._place:
            self._act()
        return self._rows(*words)


@pytest.fixture
def ingest(address: str) -> Callable[[], None]:
    """Stores one more release, with a judgement of it and a baseline, every time that it is called."""
    numbers = count(1)

    def more() -> None:
        number = next(numbers)
        layout = {record("S"): struct(*(f"a{index}" for index in range(number)))}
        with Store.open(address, write=True) as store:
            read = snapshot(symbols={function("f"): EXPORTED}, layout=layout)
            release = store.ingest(read, IngestRequest(str(number))).release
            if number > 1:
                found = Finding("type_size_changed", record(f"S{number}"), "", "grew", Impact.BREAKING, "layout")
                store.save_verdicts([given(store, found, sides=(str(number - 1), str(number)))])
            store.set_baseline(release.line, "release", release.version)

    more()
    more()
    return more


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_an_answer_is_of_one_moment(question: Question, address: str, ingest: Callable[[], None]) -> None:
    with Store.open(address, write=False) as store:
        statements = Interrupted(store, ingest)
        before = question(store)
    for place in range(2, statements.executed + 1, statements.executed // 8 + 1):
        with Store.open(address, write=False) as store:
            Interrupted(store, ingest, place)
            found = question(store)
        with Store.open(address, write=False) as store:
            after = question(store)
        assert found in (before, after)
        before = after
