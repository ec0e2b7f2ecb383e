"""Laws of a history: each verdict that it stores is that of the two releases, loaded and judged by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import msgspec
import pytest

from abistore.compare.comparison import compare
from abistore.model.history import IngestRequest, Release
from abistore.model.judging.engine import ENGINE
from abistore.model.snapshot import Snapshot
from abistore.service.administration.baselines import set_baseline
from abistore.service.history.history import history
from abistore.service.judging.judging import churn
from abistore.service.judging.ruling import key_of
from abistore.store.store import Store
from tests.laws import chained, histories


def stored(address: str, releases: Sequence[Snapshot], order: Sequence[int]) -> None:
    """A database of the releases, which came in some ``order``."""
    with Store.open(address, write=True) as store:
        for number in order:
            provenance = msgspec.structs.replace(releases[number].provenance, sha256=f"{number:064x}")
            one = msgspec.structs.replace(releases[number], library="lib", version=None, provenance=provenance)
            store.ingest(one, IngestRequest(f"1.{number}"))


def assert_judged_as_alone(store: Store, old: Release, new: Release) -> None:
    before, after = store.load_many([old, new])
    found = store.find_verdict(old, new, key_of(None, old, new), str(ENGINE))
    assert found is not None
    assert found.comparison == compare(before, after)
    assert found.churn == churn(before, after)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("maker", ["random", "of all rules"])
def test_every_verdict_of_a_history_is_that_of_its_two_releases(maker: str, seed: int, address: str) -> None:
    random = Random(seed)
    leading = chained.parts(silent=False)[random.randrange(200)]
    releases = histories.history(seed, 10) if maker == "random" else chained.history(leading, seed, 10)
    stored(address, releases, random.sample(range(10), 10))
    set_baseline("lib@1.2", database=address)
    history("lib", database=address)
    with Store.open(address, write=False) as store:
        found = sorted(store.releases("lib"), key=lambda each: int(each.version[2:]))
        for old, new in (*pairwise(found), *((found[2], each) for each in found[3:])):
            assert_judged_as_alone(store, old, new)
