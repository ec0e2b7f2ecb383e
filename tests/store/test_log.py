"""The history of one declaration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from abistore.model.declarations import Name
from abistore.model.history import IngestRequest, LogEvent
from abistore.model.shapes import Function, Variable
from abistore.model.snapshot import Snapshot
from abistore.store.store import Store
from tests.store.builders import ARM, EXPORTED, INT, function, record, snapshot, struct

POINT = record("geo::Point")
NORM = function("_ZN3geo4normERKNS_5PointE")
NORM_INT = function("_ZN3geo4normEi")


def layout(*fields: str) -> Snapshot:
    return snapshot("".join(fields), symbols={}, layout={POINT: struct(*fields)} if fields else {})


def log(store: Store, *spellings: str, library: str | None = "libgeo") -> list[LogEvent]:
    return [event for events in store.logs(spellings, library).values() for event in events]


def told(events: Sequence[LogEvent]) -> list[tuple[str, str]]:
    return [(event.release.version, event.action) for event in events]


def test_the_log_tells_when_a_type_appeared_changed_and_vanished(address: str) -> None:
    history = [layout(), layout("x"), layout("x"), layout("x", "y"), layout(), layout("x")]
    with Store.open(address, write=True) as store:
        for number, release in enumerate(history):
            store.ingest(release, IngestRequest(f"1.{number}"))
        events = log(store, "geo::Point")
    assert told(events) == [("1.1", "appeared"), ("1.3", "changed"), ("1.4", "vanished"), ("1.5", "appeared")]
    assert (events[1].before, events[1].after) == ((struct("x"),), (struct("x", "y"),))
    assert (events[2].before, events[2].after) == ((struct("x", "y"),), ())


def test_the_log_is_in_release_order_whatever_the_order_of_ingestion(address: str) -> None:
    with Store.open(address, write=True) as store:
        for version, release in (("1.2", layout("x", "y")), ("1.0", layout()), ("1.1", layout("x"))):
            store.ingest(release, IngestRequest(version))
        assert told(log(store, "geo::Point")) == [("1.1", "appeared"), ("1.2", "changed")]


def test_a_stripped_release_makes_nothing_vanish(address: str) -> None:
    with Store.open(address, write=True) as store:
        for number, release in enumerate([layout("x"), snapshot(symbols={}), layout("x", "y"), layout("x", "y")]):
            store.ingest(release, IngestRequest(f"1.{number}"))
        events = log(store, "geo::Point")
    assert told(events) == [("1.0", "appeared"), ("1.1", "not-observed"), ("1.2", "changed")]
    assert events[1].before == events[2].before == (struct("x"),)


def test_a_release_with_partial_debug_information_makes_nothing_vanish(address: str) -> None:
    partial = snapshot(symbols={}, layout={record("geo::Other"): struct("x")}, states={"layout": "partial"})
    with Store.open(address, write=True) as store:
        for number, release in enumerate([layout("x"), partial, layout("x")]):
            store.ingest(release, IngestRequest(f"1.{number}"))
        assert told(log(store, "geo::Point")) == [("1.0", "appeared"), ("1.1", "not-observed")]


def test_a_replaced_release_is_not_in_the_log(path: Path) -> None:
    with Store.open(path, write=True) as store:
        store.ingest(layout("x"), IngestRequest("1.0"))
        store.ingest(layout("x", "y"), IngestRequest("1.0", replace=True))
        (event,) = log(store, "geo::Point")
    assert event.after == (struct("x", "y"),)


@pytest.fixture
def functions(path: Path) -> Path:
    """Two overloads of geo::norm, one of them without debug information, a variable and a C function."""
    known = Function("geo::norm", INT)
    content = snapshot(
        symbols={NORM: EXPORTED, NORM_INT: EXPORTED, function("geo_area"): EXPORTED},
        layout={NORM: known, Name("variable", "_ZN3geo6originE"): Variable("geo::origin", INT), POINT: struct("x")},
    )
    with Store.open(path, write=True) as store:
        store.ingest(content, IngestRequest("1.0"))
        store.ingest(snapshot(symbols={NORM_INT: EXPORTED}, target=ARM), IngestRequest("1.0"))
    return path


@pytest.mark.parametrize(
    ("spelling", "found"),
    [
        ("geo_area", {"geo_area"}),
        (NORM.spelling, {NORM.spelling}),
        ("geo::norm", {NORM.spelling, NORM_INT.spelling}),
        ("geo::norm(int)", {NORM_INT.spelling}),
        ("geo::norm(geo::Point const&)", {NORM.spelling}),
        ("geo::norm(const geo::Point &)", {NORM.spelling}),
        ("geo::origin", {"_ZN3geo6originE"}),
        ("geo::Point", {"geo::Point"}),
        ("struct  geo::Point", {"geo::Point"}),
    ],
)
def test_a_name_is_found_as_it_is_written_in_c_in_cpp_and_by_the_linker(
    functions: Path, spelling: str, found: set[str]
) -> None:
    with Store.open(functions, write=False) as store:
        events = log(store, spelling)
    assert {event.name.spelling for event in events} == found


def test_every_line_has_its_log(functions: Path) -> None:
    with Store.open(functions, write=False) as store:
        events = log(store, NORM_INT.spelling)
    assert [event.release.line.target for event in events] == ["elf-aarch64-64-little", "elf-x86_64-64-little"]


def test_a_name_that_no_release_had_has_no_log(functions: Path) -> None:
    with Store.open(functions, write=False) as store:
        assert log(store, "geo::nothing") == log(store, "geo::Point", library="libother") == []


def test_the_names_of_a_library_are_told_as_a_programmer_calls_them(address: str) -> None:
    with Store.open(address, write=True) as store:
        store.ingest(
            snapshot(symbols={NORM_INT: EXPORTED}, layout={record("geo::Point"): struct("x")}), IngestRequest("1")
        )
        store.ingest(snapshot(library="libother", symbols={function("other"): EXPORTED}), IngestRequest("1"))
        assert store.spellings("libother") == ("other",)
        assert store.spellings("libgeo") == ("geo::Point", "geo::norm(int)")
        assert store.spellings() == ("geo::Point", "geo::norm(int)", "other")
