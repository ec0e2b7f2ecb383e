"""Snapshots that another process packed are stored as those that were read here."""

from __future__ import annotations

import msgspec
import pytest

from abistore.errors import SnapshotError
from abistore.model.declarations import Name
from abistore.model.packing import packed, unpacked
from abistore.model.snapshot import Location, snapshot_digest
from abistore.model.snapshot_files import to_json
from abistore.store.ingest import SnapshotRows
from tests.laws.histories import history
from tests.store.builders import EXPORTED, function, snapshot

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("seed", range(12))
def test_a_packed_snapshot_is_what_it_was_and_gives_the_same_rows(seed: int) -> None:
    for each in history(seed, 4):
        found = unpacked(packed(each))
        rows, expected = SnapshotRows.of(found), SnapshotRows.of(each)
        assert found == each
        assert to_json(found) == to_json(each)
        assert snapshot_digest(found) == expected.digest
        assert list(rows.members) == list(expected.members)
        for field in ("digest", "counts", "held", "located", "sum"):
            assert getattr(rows, field) == getattr(expected, field)
        assert {key: rows.bodies[key] for key in expected.bodies} == expected.bodies
        assert {name: rows.names[name] for name in expected.names} == expected.names


def test_places_of_names_that_nothing_else_has_are_kept() -> None:
    each = snapshot(symbols={function("f"): EXPORTED})
    places = {Name("record", "only"): Location("a.h", 3), function("f"): Location("a.h", 9)}
    found = unpacked(packed(msgspec.structs.replace(each, locations=places)))
    assert found.locations == places
    assert SnapshotRows.of(found).located == dict.fromkeys(places)


def test_a_relabelled_snapshot_keeps_its_rows_and_another_one_gets_its_own() -> None:
    found = unpacked(packed(snapshot(symbols={function("f"): EXPORTED})))
    assert SnapshotRows.of(msgspec.structs.replace(found, library="libother")).digest == SnapshotRows.of(found).digest
    changed = msgspec.structs.replace(found, entries={"symbol": {function("g"): (EXPORTED,)}})
    assert SnapshotRows.of(changed).digest == snapshot_digest(changed) != SnapshotRows.of(found).digest


@pytest.mark.parametrize("cut", [0, 1, 40])
def test_what_was_cut_off_is_an_error(cut: int) -> None:
    with pytest.raises(SnapshotError):
        unpacked(packed(snapshot(symbols={function("f"): EXPORTED}))[:cut])
