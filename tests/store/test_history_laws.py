"""Laws of a history: each verdict that it stores is that of the two releases, loaded and judged by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.policy import Expression, LocatedIn, TypeMatches, profile
from abistore.diffing.reuse import differing
from abistore.diffing.suppression import Suppression, Suppressions, VersionRange
from abistore.model.findings import ENGINE
from abistore.model.history import IngestRequest, Release
from abistore.model.snapshot import Snapshot
from abistore.service.administration import set_baseline
from abistore.service.history import history
from abistore.service.judging import churn
from abistore.service.verdicts import key_of
from abistore.store.store import Store
from tests.laws import chained, histories
from tests.laws.test_against_laws import unlocated

pytestmark = pytest.mark.full


def stored(address: str, releases: Sequence[Snapshot], order: Sequence[int]) -> None:
    """A database of the releases, which came in some ``order``."""
    with Store.open(address, write=True) as store:
        for number in order:
            provenance = msgspec.structs.replace(releases[number].provenance, sha256=f"{number:064x}")
            one = msgspec.structs.replace(releases[number], library="lib", version=None, provenance=provenance)
            store.ingest(one, IngestRequest(f"1.{number}"))


def assert_judged_as_alone(store: Store, old: Release, new: Release, by: Ruling | None = None) -> None:
    before, after = store.load_many([old, new])
    found = store.find_verdict(old, new, key_of(by, old, new), str(ENGINE))
    assert found is not None
    assert unlocated(found.comparison) == unlocated(compare(before, after, by))
    assert found.churn == churn(before, after, differing(before, after))


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


RULING = Ruling(
    profile("sdk_vendor"),
    Suppressions(
        (
            Suppression("names", (TypeMatches((Expression("P|lib.*"),)),)),
            Suppression("files", (LocatedIn((Expression("src/.*"),)),), new_versions=VersionRange(((">=", "1.5"),))),
        )
    ),
)
"""Types of some names are accepted everywhere, what source files declare from 1.5 on."""


def seeing(random: Random, snapshot: Snapshot) -> Snapshot:
    """The release with as much evidence as before, or less."""
    states = (each if random.random() < 0.8 else replace(each, state="partial") for each in snapshot.evidence)
    return replace(snapshot, evidence=tuple(states))


@pytest.mark.parametrize("seed", range(4))
def test_a_history_by_a_ruling_and_of_uneven_evidence_is_that_of_its_releases(seed: int, address: str) -> None:
    random = Random(seed)
    stored(address, [seeing(random, each) for each in histories.history(seed, 9)], random.sample(range(9), 9))
    set_baseline("lib@1.1", database=address)
    history("lib", database=address, by=RULING)
    with Store.open(address, write=False) as store:
        found = sorted(store.releases("lib"), key=lambda each: int(each.version[2:]))
        for old, new in (*pairwise(found), *((found[1], each) for each in found[2:])):
            assert_judged_as_alone(store, old, new, RULING)
