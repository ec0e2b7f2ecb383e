"""Laws of taking on: what is known of a release's side from the one before equals what is worked out of it alone."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abistore.diffing.context import Context
from abistore.diffing.judge.judged import compare, compared
from abistore.diffing.reuse import Differing, differing
from abistore.diffing.side import SideFacts
from abistore.model.declarations import Name
from tests.draws import draws
from tests.laws.histories import history

relaxed = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=draws(40))


def changed(names: Differing) -> set[Name]:
    return set().union(*names.values())


@relaxed
@given(st.integers(0, 1 << 32))
def test_neighbours_are_judged_the_same_by_what_is_taken_on(seed: int) -> None:
    releases = history(seed, 8)
    side = SideFacts(releases[0])
    for old, new in pairwise(releases):
        names = differing(old, new)
        later = side.after(new, changed(names))
        assert compared(Context(side, later, differing=names), None) == compare(old, new)
        side = later


@relaxed
@given(st.integers(0, 1 << 32))
def test_renames_that_are_known_beforehand_change_nothing(seed: int) -> None:
    old, *_, new = map(SideFacts, history(seed, 4))
    renames = Context(old, new).renames
    assert compared(Context(old, new, renames=renames), None) == compare(old.snapshot, new.snapshot)


@relaxed
@given(st.integers(0, 1 << 32))
def test_what_is_taken_on_answers_every_question_as_what_is_worked_out(seed: int) -> None:
    releases = history(seed, 6)
    side = SideFacts(releases[0])
    for old, new in pairwise(releases):
        assert answers(side) == answers(SideFacts(old))
        side = side.after(new, changed(differing(old, new)))
    assert answers(side) == answers(SideFacts(releases[-1]))


def answers(side: SideFacts) -> object:
    names = sorted({name for held in side.snapshot.entries.values() for name in held})
    consumers = side.consumers
    return (
        [(side.reach.exports_reaching(name), side.reach.exports_reaching(name, by_value=True)) for name in names],
        [(side.reach.reaches(name), sorted(side.reach.users(name))) for name in names],
        [(consumers.library_allocates(name), consumers.gets_arrays(name)) for name in names],
        [(consumers.can_see(name), consumers.hold(name), consumers.offers(name)) for name in names],
        [consumers.passed_with(name, lambda name: len(name.spelling) % 2 == 0) for name in names],
        [(consumers.can_name(name), consumers.private_header(name), consumers.concealment(name)) for name in names],
        [sorted(map(str, side.tables.methods(name))) for name in names],
        (side.undescribed, side.exports.names, side.exports.versioned, side.exports.chosen_at_load_time),
        (side.exports.own_scopes, side.exports.templates, side.exports.instantiations),
    )
