"""Going through a line's releases gives each as loading it does, at the cost of what differs."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path
from random import Random

import msgspec
import pytest

from abistore.errors import SnapshotNotFound, StoreError
from abistore.model.declarations import Name
from abistore.model.history import IngestRequest, Release
from abistore.model.snapshot import Snapshot
from abistore.store.store import Store
from benchmarks.releases import made
from tests.effort import steps
from tests.laws.histories import history
from tests.store.builders import snapshot, struct
from tests.store.sql import sql


def stored(store: Store, releases: list[Snapshot], order: list[int] | None = None) -> list[Release]:
    for number in order or range(len(releases)):
        one = msgspec.structs.replace(releases[number], library="lib")
        sha = f"{number:064x}"
        provenance = msgspec.structs.replace(one.provenance, sha256=sha)
        store.ingest(msgspec.structs.replace(one, provenance=provenance), IngestRequest(f"1.{number}"))
    return list(store.releases(releases[0].library))


def differing(old: Snapshot | None, new: Snapshot) -> set[Name]:
    before = old.entries if old else {}
    facets = before.keys() | new.entries.keys()
    pairs = [(before.get(facet, {}), new.entries.get(facet, {})) for facet in facets]
    return {name for one, other in pairs for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def assert_walked_as_loaded(store: Store, releases: list[Release]) -> None:
    walk, last = store.walk(), None
    for release in releases:
        step, loaded = walk.step(release), store.load(release)
        assert msgspec.structs.replace(step.snapshot, locations=dict(step.snapshot.locations)) == loaded
        assert step.files == {name: place.file for name, place in loaded.locations.items()}
        assert step.changed == differing(last, loaded)
        last = loaded


@pytest.mark.parametrize("seed", range(6))
def test_every_release_is_walked_to_as_it_is_loaded(seed: int, address: str) -> None:
    random, releases = Random(seed), history(seed, 12)
    order = random.sample(range(12), 12) if seed % 2 else None
    with Store.open(address, write=True) as store:
        found = stored(store, releases, order)
        assert_walked_as_loaded(store, found)
        assert_walked_as_loaded(store, list(reversed(found)))
        assert_walked_as_loaded(store, random.choices(found, k=15))


def test_a_release_that_is_not_stored_is_not_walked_to(address: str) -> None:
    with Store.open(address, write=True) as store:
        (release,) = stored(store, history(1, 1))
        with pytest.raises(SnapshotNotFound):
            store.walk().step(msgspec.structs.replace(release, sequence=7))


def test_a_missing_entry_is_noticed_on_the_way(address: str) -> None:
    with Store.open(address, write=True) as store:
        releases = stored(store, history(3, 3))
        walk = store.walk()
        walk.step(releases[0])
        sql(store.database, "DELETE FROM entry WHERE name_id = (SELECT max(name_id) FROM entry)")
        with pytest.raises(StoreError, match="an entry is missing"):
            store.walk().step(releases[0])


def test_what_a_step_costs_grows_with_what_differs_and_not_with_the_library(tmp_path: Path) -> None:
    def cost(names: int) -> int:
        with Store.open(tmp_path / f"{names}.db", write=True) as store:
            for number in (1, 2):
                changed = struct(*(f"f{index}" for index in range(number)))
                layout = {Name("record", f"r{index}"): struct("x") for index in range(names)}
                one = snapshot(str(number), symbols={}, layout={**layout, Name("record", "own"): changed})
                store.ingest(one, IngestRequest(str(number)))
            first, second = store.releases("libgeo")
            walk = store.walk()
            walk.step(first)
            return steps(lambda: walk.step(second))

    assert cost(2000) < cost(200) * 1.2


def test_memory_does_not_grow_with_the_number_of_releases(tmp_path: Path) -> None:
    def held(releases: int) -> int:
        with Store.open(tmp_path / f"{releases}.db", write=True) as store:
            for number in range(releases):
                store.ingest(made(number, 400), IngestRequest(f"1.{number}"))
            found = store.releases("growing")
            walk = store.walk()
            gc.collect()
            tracemalloc.start()
            for release in found:
                walk.step(release)
            gc.collect()
            current, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            return current

    assert held(60) < held(15) * 1.2


def test_the_lives_of_some_names_are_those_that_the_whole_line_tells_and_read_no_more(tmp_path: Path) -> None:
    """A timeline that was judged before read every entry of the line for a handful of names."""
    with Store.open(tmp_path / "abi.db", write=True) as store:
        for number in range(1, 9):
            store.ingest(made(number, 400, joined=False), IngestRequest(f"1.{number}"))
        releases = list(store.releases("growing"))
        whole, some = store.walk(), store.walk()
        names = sorted(whole.step(releases[-1]).snapshot.entries["layout"])[:5]
        alike = some.lifetimes_of(names, releases).alike(names, 0)
        assert alike == whole.lifetimes(releases).alike(names, 0)
        assert len(alike) == 5
        read = [
            sum(1 for _ in each._spans.rows())
            for each in (some.lifetimes_of(names, releases), whole.lifetimes(releases))
        ]
        assert read[0] < read[1] / 10
