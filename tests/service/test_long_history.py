"""Judging one more release costs what differs in it, whatever the library is and however many releases came before."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

from abistore.model.history import IngestRequest, Release
from abistore.service.verdicts import ConsecutiveJudge
from abistore.store.store import Store
from tests.effort import steps
from tests.store.builders import large


def filled(store: Store, releases: int, names: int) -> Sequence[Release]:
    """So many releases, of which each differs in four functions and four classes."""
    for number in range(releases):
        store.ingest(large(4, names=names, step=number), IngestRequest(f"1.{number}"))
    return store.releases("liblarge")


def judge(judging: ConsecutiveJudge, releases: Sequence[Release], number: int) -> None:
    """Judge a release against the one before and against the first."""
    for given in (
        judging.beside(releases[number - 1], releases[number]),
        judging.against(releases[0], releases[number]),
    ):
        assert not isinstance(given, str)


def test_judging_one_more_release_costs_what_differs_and_not_the_library(tmp_path: Path) -> None:
    def cost(names: int) -> int:
        with Store.open(tmp_path / f"{names}.db", write=True) as store:
            releases, judging = filled(store, 6, names), ConsecutiveJudge(store, None)
            for number in range(1, 5):
                judge(judging, releases, number)
            return steps(lambda: judge(judging, releases, 5))

    assert cost(1600) < cost(200) * 1.2


def test_the_last_of_many_releases_costs_no_more_than_one_of_the_first(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db", write=True) as store:
        releases, judging = filled(store, 60, 100), ConsecutiveJudge(store, None)
        costs = [steps(lambda number=number: judge(judging, releases, number)) for number in range(1, 60)]
    assert sum(costs[-14:]) < sum(costs[3:17]) * 1.1


def test_judging_holds_one_pair_at_a_time(tmp_path: Path) -> None:
    def held(releases: int) -> int:
        with Store.open(tmp_path / f"{releases}.db", write=True) as store:
            found, judging = filled(store, releases, 100), ConsecutiveJudge(store, None)
            judge(judging, found, 1)
            gc.collect()
            tracemalloc.start()
            for number in range(2, releases):
                judge(judging, found, number)
            gc.collect()
            current, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            return current

    assert held(50) < held(15) * 1.5
