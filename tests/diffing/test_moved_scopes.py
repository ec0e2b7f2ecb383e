"""Scopes that have another name on the new side are found once, and everything is compared under the old names."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from abistore.diffing.judge.judged import Ruling, compare
from abistore.diffing.judge.successive import Replacing
from abistore.diffing.policy_documents import read_policy
from abistore.diffing.reuse import differing
from abistore.diffing.scopes import aligned, moves_between
from abistore.diffing.side import SideFacts
from abistore.model.declarations import Name
from abistore.model.findings import Verdict
from abistore.model.shapes import AnyShape, Function, Named, Primitive, Record, Symbol
from abistore.model.snapshot import Snapshot
from tests.diffing.model import function, record, snapshot, struct, to, uses
from tests.diffing.test_patterns import VERBS, mangled

INT = Primitive("int", 4)


def exporting(*symbols: str) -> Snapshot:
    return snapshot({}, symbols={function(each): Symbol("function") for each in symbols})


def moves(old: Snapshot, new: Snapshot) -> list[tuple[str, str, bool, int]]:
    found = moves_between(old, new, differing(old, new))
    return [(each.before, each.after, each.versioned, len(each.pairs)) for each in found]


def members(*scope: str) -> list[str]:
    return [mangled(*scope, each) for each in VERBS]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (members("icu_70"), members("icu_71"), [("icu_70", "icu_71", True, 4)]),
        (members("lib"), members("lib", "v2"), [("lib", "lib::v2", True, 4)]),
        (members("lib", "v1"), members("lib"), [("lib::v1", "lib", True, 4)]),
        (members("lib", "v1", "net"), members("lib", "v2", "net"), [("lib::v1", "lib::v2", True, 4)]),
        (members("alpha"), members("beta"), [("alpha", "beta", False, 4)]),
        (
            members("lib", "v1") + members("lib", "v1", "net", "abi1")[:3],
            members("lib", "v2") + members("lib", "v2", "net", "abi2")[:3],
            [("lib::v1", "lib::v2", True, 4), ("lib::v1::net::abi1", "lib::v2::net::abi2", True, 3)],
        ),
        (members("lib", "v1")[:1], members("lib", "v2")[:1], [("lib::v1", "lib::v2", True, 1)]),
    ],
)
def test_a_scope_is_known_by_the_names_that_moved_with_it(
    before: list[str], after: list[str], expected: list[tuple[str, str, bool, int]]
) -> None:
    assert moves(exporting(*before), exporting(*after)) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (members("lib", "v1"), []),
        (members("lib", "v1"), [each.upper() for each in members("lib", "v2")]),
        (members("alpha")[:2], members("beta")[:2]),
        (members("lib", "v1"), members("lib", "v1") + members("lib", "v2")),
        (["_ZNSt3fooIiE4openEi"], ["_ZNSt3barIiE4openEi"]),
        ([f"lib_{each}" for each in VERBS], [f"new_{each}" for each in VERBS]),
        # two of four in scopes that both stay are coincidences
        (members("lib", "v1") + members("lib", "v2")[2:], members("lib", "v1")[2:] + members("lib", "v2")),
    ],
)
def test_what_did_not_move_is_no_move(before: list[str], after: list[str]) -> None:
    assert moves(exporting(*before), exporting(*after)) == []


def shapes(scope: str, **more: AnyShape) -> dict[Name, AnyShape]:
    """A namespace with a class, and functions that take and return it."""
    item = record(f"{scope}::Item")
    length = f"{len(scope)}{scope}"
    found: dict[Name, AnyShape] = {
        item: struct(INT, to(record(f"{scope}::Item"))),
        function(f"_ZN{length}4openERNS_4ItemE"): uses(to(item)),
        function(f"_ZN{length}4readERNS_4ItemE"): uses(to(item), result=Named(item)),
        function(f"_ZN{length}5closeERNS_4ItemE"): uses(to(item)),
    }
    return found | {record(f"{scope}::{name}"): shape for name, shape in more.items()}


def grown(layout: dict[Name, AnyShape]) -> dict[Name, AnyShape]:
    """The same, with a field more in the class."""
    name = next(each for each in layout if each.kind == "record")
    return {**layout, name: struct(INT, to(name), INT)}


def test_what_only_moved_is_the_same_under_the_old_names() -> None:
    old, new = snapshot(shapes("lib_1")), snapshot(shapes("lib_2"))
    both = aligned(old, new)
    assert both.new.entries == old.entries
    assert not any(both.differing.values())


def test_what_the_old_side_lacks_keeps_its_name() -> None:
    old, new = snapshot(shapes("lib_1")), snapshot(shapes("lib_2", Extra=struct(to(record("lib_2::Item")))))
    both = aligned(old, new)
    extra = both.new.entries["layout"][record("lib_2::Extra")][0]
    assert isinstance(extra, Record)
    assert extra.fields[0].type == to(record("lib_1::Item"))


def test_sides_of_which_no_scope_moved_are_the_same_objects() -> None:
    old, new = snapshot(shapes("lib_1")), snapshot(grown(shapes("lib_1")))
    both = aligned(old, new)
    assert both.old is old
    assert both.new is new
    assert both.moves == ()


def test_a_comparison_tells_of_the_snapshots_that_it_was_given() -> None:
    old, new = snapshot(shapes("lib_1")), snapshot(shapes("lib_2"))
    found = compare(old, new)
    assert found.new == compare(new, new).new


def kinds(old: Snapshot, new: Snapshot) -> list[str]:
    return [each.kind for each in compare(old, new).findings]


def test_a_field_that_is_added_to_what_moved_is_told() -> None:
    assert kinds(snapshot(shapes("lib_1")), snapshot(shapes("lib_2"))) == ["inline_namespace_moved"]
    found = compare(snapshot(shapes("lib_1")), snapshot(grown(shapes("lib_2"))))
    told = {(each.kind, each.name.spelling) for each in found.findings}
    assert told >= {("inline_namespace_moved", ""), ("type_field_added", "lib_1::Item")}


def test_releases_judged_one_after_the_other_are_judged_as_each_pair_is() -> None:
    base = snapshot(shapes("lib_1"))
    later = [
        snapshot(shapes("lib_1")),
        snapshot(grown(shapes("lib_1"))),
        snapshot(shapes("lib_2")),
        snapshot(grown(shapes("lib_2"))),
    ]
    replacing, known = Replacing(SideFacts(base)), base
    for new in later:
        replacing.note({name for each in differing(known, new).values() for name in each})
        assert replacing.verdict(SideFacts(new)) is compare(base, new).verdict
        known = new


def test_a_function_that_moved_and_returns_something_else_is_told() -> None:
    new = shapes("lib_2")
    name = function("_ZN5lib_24openERNS_4ItemE")
    new[name] = Function("", INT, uses(to(record("lib_2::Item"))).parameters)
    assert "func_return_changed.value_added" in kinds(snapshot(shapes("lib_1")), snapshot(new))


def versioned(version: str, *fields: Primitive) -> dict[Name, AnyShape]:
    item = record("item")
    names = (function(f"u_{each}_{version}") for each in VERBS)
    return {item: struct(*fields), **{name: uses(to(item)) for name in names}}


def test_functions_of_which_the_version_in_the_name_went_up_are_compared() -> None:
    assert kinds(snapshot(versioned("70", INT)), snapshot(versioned("71", INT))) == ["symbol_renamed_batch"]
    grown_too = kinds(snapshot(versioned("70", INT)), snapshot(versioned("71", INT, INT)))
    assert {"symbol_renamed_batch", "type_field_added"} <= set(grown_too)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["u_open_70", "u_close_70"], ["u_open_71", "u_close_71"]),
        ([f"u_{each}_70" for each in VERBS], [f"u_{each}_70" for each in VERBS] + [f"u_{each}_71" for each in VERBS]),
        ([f"u_{each}_70" for each in VERBS], [f"{each}_71" for each in VERBS]),
        # which of two versions became the next is not known
        ([f"{each}_{number}" for each in VERBS for number in (1, 2)], [f"{each}_3" for each in VERBS]),
    ],
)
def test_what_has_no_other_version_in_its_name_is_no_move(before: list[str], after: list[str]) -> None:
    old, new = exporting(*before), exporting(*after)
    assert moves_between(old, new, differing(old, new)) == ()


def test_a_policy_that_takes_the_move_for_a_risk_leaves_the_rest_to_be_judged(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("kinds: {inline_namespace_moved: {impact: risk, reason: planned}}\n")
    ruling = Ruling(read_policy(path, date(2026, 6, 1)))
    base, moved, other = (snapshot(each) for each in (shapes("lib_1"), shapes("lib_2"), grown(shapes("lib_2"))))
    verdicts = [Replacing(SideFacts(base), ruling).verdict(SideFacts(new)) for new in (moved, other)]
    assert verdicts == [compare(base, new, ruling).verdict for new in (moved, other)]
    assert verdicts == [Verdict.COMPATIBLE_WITH_RISK, Verdict.BREAKING]
