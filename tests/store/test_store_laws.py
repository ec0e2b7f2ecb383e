"""What holds for every history of snapshots, whatever they contain and in whatever order they come."""

from __future__ import annotations

import tempfile
from itertools import chain
from pathlib import Path
from random import Random
from typing import get_args

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abistore.model.declarations import FACETS, Facet, Name
from abistore.model.history import IngestRequest
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Snapshot, digest, encode, snapshot_digest
from abistore.store.ingest import SnapshotRows
from abistore.store.store import Store
from tests.draws import draws
from tests.laws.strategies import snapshots
from tests.store.builders import EXPORTED, State, function, record, snapshot, struct

NAMES = [record("a"), record("b"), function("f")]
SHAPES: list[AnyShape] = [struct("x"), struct("x", "y"), struct("y")]
STATES: st.SearchStrategy[State] = st.sampled_from(get_args(State))

layouts = st.dictionaries(
    st.sampled_from(NAMES), st.lists(st.sampled_from(SHAPES), min_size=1, max_size=2, unique=True).map(tuple)
)
symbols = st.sets(st.sampled_from(NAMES)).map(lambda names: dict.fromkeys(sorted(names), EXPORTED))


@st.composite
def related(draw: st.DrawFn) -> Snapshot:
    """One of few names and shapes, so that histories of them meet again and again."""
    return snapshot(
        draw(st.text("ab", max_size=1)),
        symbols=draw(st.none() | symbols),
        layout=draw(st.none() | layouts),
        states={"layout": draw(STATES), "symbol": draw(STATES)},
    )


def labelled(snapshot: Snapshot, library: str, version: str) -> Snapshot:
    """What a store gives back of a snapshot; what it was exported with is said of the release."""
    return msgspec.structs.replace(snapshot, library=library, version=version, exported=None)


@given(snapshots())
def test_a_digest_is_that_of_the_target_and_of_every_facet_as_json(snapshot: Snapshot) -> None:
    whole = encode(snapshot.target)
    for facet in FACETS:
        if facet in snapshot.entries:
            whole += encode([facet, sorted(snapshot.entries[facet].items())])
    content = SnapshotRows.of(snapshot)
    assert content.digest == snapshot_digest(snapshot) == digest(whole)
    assert {digest(body): body for body in content.bodies.values()} == content.bodies
    assert list(content.members) == sorted(content.members)
    assert {key for _, _, key in content.members} == content.bodies.keys()


@settings(max_examples=draws(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(snapshots(), min_size=1, max_size=3))
def test_any_snapshot_loads_as_it_was_ingested(history: list[Snapshot]) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store.db", write=True) as store:
        releases = [
            store.ingest(snapshot, IngestRequest(f"{number}", library="lib")).release
            for number, snapshot in enumerate(history)
        ]
        loaded = store.load_many(releases)
        assert loaded == tuple(labelled(snapshot, "lib", f"{number}") for number, snapshot in enumerate(history))
        assert store.check() == ()


@settings(max_examples=draws(60), deadline=None)
@given(st.lists(related(), min_size=1, max_size=8))
def test_every_release_of_a_history_loads_as_it_was_ingested(history: list[Snapshot]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        with Store.open(path, write=True) as store:
            releases = [store.ingest(s, IngestRequest(f"1.{number}")).release for number, s in enumerate(history)]
        with Store.open(path, write=False) as store:
            expected = [labelled(snapshot, "libgeo", f"1.{number}") for number, snapshot in enumerate(history)]
            assert [store.load(release) for release in releases] == expected
            assert list(store.load_many(releases)) == expected
            assert store.check() == ()


@settings(max_examples=draws(60), deadline=None)
@given(st.lists(related(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_log_of_a_name_does_not_depend_on_the_order_of_ingestion(history: list[Snapshot], random: Random) -> None:
    order = list(range(len(history)))
    random.shuffle(order)
    assert _logs(history, range(len(history))) == _logs(history, order)


@settings(max_examples=draws(60), deadline=None)
@given(st.lists(related(), min_size=1, max_size=6))
def test_the_log_tells_what_each_release_holds_and_never_that_something_unseen_vanished(
    history: list[Snapshot],
) -> None:
    logs = _logs(history, range(len(history)))
    for (name, facet), events in logs.items():
        held: tuple[AnyShape, ...] = ()
        for number, release in enumerate(history):
            action, before, after = events.get(f"1.{number}", ("", held, held))
            seen = release.variants(facet, name)
            if action == "not-observed":
                assert not seen
                assert release.evidence_of(facet).state != "full" or facet not in release.entries
                continue
            assert (before, after) == (held, seen)
            assert action == ("" if held == seen else "appeared" if not held else "changed" if seen else "vanished")
            assert action != "vanished" or release.evidence_of(facet).state == "full"
            held = seen


Events = dict[str, tuple[str, tuple[AnyShape, ...], tuple[AnyShape, ...]]]


def _logs(history: list[Snapshot], order: range | list[int]) -> dict[tuple[Name, Facet], Events]:
    """For each name and facet that any release has: its events by version."""
    ever = {(name, facet) for release in history for facet, names in release.entries.items() for name in names}
    logs: dict[tuple[Name, Facet], Events] = {key: {} for key in ever if key[0] in NAMES}
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store.db", write=True) as store:
        for number in order:
            store.ingest(history[number], IngestRequest(f"1.{number}"))
        for spelling in sorted({name.spelling for name, _ in logs}):
            for event in chain.from_iterable(store.logs([spelling]).values()):
                change = (event.action, event.before, event.after)
                logs[event.name, event.facet][event.release.version] = change
    return logs
