"""Ten times the fields, enumerators, aliases or classes cost ten times as much to compare, and not a hundred times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import Name
from abistore.model.shapes import Alias, AnyShape, ElfLibrary, Enum, Enumerator, Field, Library, Named, Record, Symbol
from abistore.model.snapshot import Snapshot
from tests.diffing.model import DOUBLE, INT, LONG, alias, function, record, snapshot, to, uses
from tests.effort import steps

pytestmark = pytest.mark.full

USE, BIG, CODES = function("use"), record("Big"), Name("enum", "codes")

Pair = tuple[Snapshot, Snapshot]


def used(name: Name, old: AnyShape, new: AnyShape) -> Pair:
    return snapshot({USE: uses(Named(name)), name: old}), snapshot({USE: uses(Named(name)), name: new})


def fields(count: int, *, name: str = "f", type: AnyShape = LONG, step: int = 64) -> Record:
    return Record("struct", count * 16, tuple(Field(f"{name}{index}", type, index * step) for index in range(count)))


def enumerators(count: int, *, name: str = "E", first: int = 0) -> Enum:
    return Enum(4, tuple(Enumerator(f"{name}{index}", first + index) for index in range(count)))


def moved_fields(count: int) -> Pair:
    return used(BIG, fields(count), fields(count, step=128))


def replaced_fields(count: int) -> Pair:
    return used(BIG, fields(count), fields(count, name="g", type=DOUBLE))


def used_rooms(count: int) -> Pair:
    return used(BIG, fields(count, name="reserved"), fields(count, name="g", type=DOUBLE))


def moved_enumerators(count: int) -> Pair:
    return used(CODES, enumerators(count), enumerators(count, first=1))


def replaced_enumerators(count: int) -> Pair:
    return used(CODES, enumerators(count), enumerators(count, name="G", first=1_000_000))


def redefined_aliases(count: int) -> Pair:
    names = [alias(f"a{index}") for index in range(count)]
    users = {function(f"f{index}"): uses(Named(name)) for index, name in enumerate(names)}
    return snapshot({**users, **dict.fromkeys(names, Alias(INT))}), snapshot(
        {**users, **dict.fromkeys(names, Alias(DOUBLE))}
    )


def passed_classes(count: int) -> Pair:
    names = [record(f"r{index}") for index in range(count)]
    users: Mapping[Name, AnyShape] = {function(f"f{index}"): uses(Named(name)) for index, name in enumerate(names)}
    old, new = Record("class", 8, passing="value"), Record("class", 8, passing="reference")
    return snapshot({**users, **dict.fromkeys(names, old)}), snapshot({**users, **dict.fromkeys(names, new)})


def renamed_types(count: int) -> Pair:
    return pointed_at("old", count), pointed_at("new", count)


def pointed_at(prefix: str, count: int) -> Snapshot:
    names = [record(f"{prefix}{index}") for index in range(count)]
    users = {function(f"f{index}"): uses(to(name)) for index, name in enumerate(names)}
    return snapshot({**users, **dict.fromkeys(names, fields(2))})


def renamed_nodes(count: int) -> Pair:
    return versioned(count, "A"), versioned(count, "B")


def versioned(count: int, family: str) -> Snapshot:
    nodes = {function(f"f{index}"): f"{family}_{index}" for index in range(count)}
    symbols = {name: Symbol("function", version=node) for name, node in nodes.items()}
    library = Library("shared", elf=ElfLibrary(version_definitions=tuple(sorted(nodes.values()))))
    return snapshot({name: uses(INT) for name in nodes}, symbols=symbols, library=library)


@pytest.mark.parametrize(
    "make",
    [
        moved_fields,
        replaced_fields,
        used_rooms,
        moved_enumerators,
        replaced_enumerators,
        redefined_aliases,
        passed_classes,
        renamed_types,
        renamed_nodes,
    ],
)
def test_the_cost_grows_with_the_parts_that_differ_and_no_faster(make: Callable[[int], Pair]) -> None:
    compare(*make(3))
    few, many = make(40), make(400)
    assert compare(*many).findings
    assert steps(partial(compare, *many)) <= 15 * steps(partial(compare, *few))
