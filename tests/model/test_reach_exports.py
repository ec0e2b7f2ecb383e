"""The exports that reach all names at once are those that a walk from each finds."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import pairwise

import pytest

from abistore.model.declarations import Name
from abistore.model.reach import ExportsReaching
from tests.subjects import assert_each

RECORDS = [Name("record", f"r{number}") for number in range(12)]
FUNCTIONS = [Name("function", f"f{number}") for number in range(5)]


def walked(users: Mapping[Name, Mapping[Name, bool]], name: Name, by_value_only: bool) -> tuple[Name, ...]:
    """The exports that a walk from ``name`` to its users meets."""
    seen, pending = {name}, [name]
    while pending:
        for user, by_value in users.get(pending.pop(), {}).items():
            if user not in seen and (by_value or not by_value_only):
                seen.add(user)
                pending.append(user)
    return tuple(sorted(seen.intersection(FUNCTIONS)))


@pytest.mark.parametrize("by_value_only", [False, True])
def test_they_are_those_that_a_walk_from_each_name_finds(by_value_only: bool) -> None:
    """Of records that mention each other, in cycles and chains, some of them mentioned by functions."""

    def law(seed: int) -> None:
        users = drawn(random.Random(seed))
        found = ExportsReaching(users, FUNCTIONS, by_value_only)
        for name in (*RECORDS, *FUNCTIONS):
            assert found.of(name) == walked(users, name, by_value_only), name

    assert_each(range(50), law, named="seed {}".format)


def drawn(draw: random.Random) -> dict[Name, dict[Name, bool]]:
    """Who mentions each name, and whether by value."""
    users: dict[Name, dict[Name, bool]] = {
        name: {draw.choice(RECORDS): draw.random() < 0.6 for _ in range(draw.randrange(3))}
        for name in draw.sample(RECORDS, 9)
    }
    for function in FUNCTIONS:
        users.setdefault(draw.choice(RECORDS), {})[function] = draw.random() < 0.6
    return users


def test_names_that_the_same_exports_reach_share_one_answer() -> None:
    first, second, third = RECORDS[:3]
    users = {first: {second: True}, second: {first: False, FUNCTIONS[1]: True}, third: {FUNCTIONS[1]: False}}
    found = ExportsReaching(users, FUNCTIONS, by_value_only=False)
    assert found.of(first) is found.of(second) is found.of(third) == (FUNCTIONS[1],)
    assert found.of(FUNCTIONS[0]) == (FUNCTIONS[0],)
    assert found.of(RECORDS[3]) == ()


def test_a_chain_of_sixty_thousand_names_is_followed() -> None:
    chain = [Name("record", f"c{number}") for number in range(60_000)]
    users = {below: {above: True} for above, below in pairwise(chain)}
    users[chain[0]] = {FUNCTIONS[0]: True}
    found = ExportsReaching(users, FUNCTIONS, by_value_only=True)
    assert found.of(chain[-1]) == (FUNCTIONS[0],)
