"""Laws of the model: digests ignore order, a snapshot survives being written, variants have one order."""

from __future__ import annotations

import random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from abistore.model.snapshot import Snapshot, digest, encode, snapshot_digest, sort_variants
from abistore.model.snapshot_files import from_json, to_json
from tests.laws.strategies import shapes, snapshots


def shuffled(snapshot: Snapshot, seed: int) -> Snapshot:
    """The same snapshot, its entries and locations inserted in another order, and no object shared with it."""
    order = random.Random(seed)

    def mixed(items):
        pairs = list(items.items())
        order.shuffle(pairs)
        return dict(pairs)

    fresh = from_json(to_json(snapshot))
    entries = mixed({facet: mixed(entries) for facet, entries in fresh.entries.items()})
    return msgspec.structs.replace(fresh, entries=entries, locations=mixed(fresh.locations))


@given(snapshots())
def test_a_snapshot_that_is_written_and_read_is_the_same(snapshot):
    assert from_json(to_json(snapshot)) == snapshot


@given(snapshots(), st.integers())
def test_the_written_bytes_do_not_depend_on_the_order_of_entries(snapshot, seed):
    assert to_json(shuffled(snapshot, seed)) == to_json(snapshot)


@given(snapshots(), st.integers())
def test_the_digest_does_not_depend_on_the_order_of_entries(snapshot, seed):
    assert snapshot_digest(shuffled(snapshot, seed)) == snapshot_digest(snapshot)


@given(snapshots())
def test_the_digest_ignores_where_a_snapshot_came_from(snapshot):
    bare = Snapshot("other", None, snapshot.target, snapshot.entries)
    assert snapshot_digest(bare) == snapshot_digest(snapshot)


@given(st.lists(shapes, max_size=5))
def test_variants_are_a_set_in_one_order(found):
    assert sort_variants(found) == sort_variants(reversed(found * 2))
    assert set(sort_variants(found)) == set(found)


@given(shapes, shapes)
def test_shapes_are_equal_exactly_when_their_digests_are(one, other):
    assert (digest(encode(one)) == digest(encode(other))) == (one == other)
