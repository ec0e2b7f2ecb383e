"""Types that mention others many times cost what their number costs, not what the paths between them do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from abistore.diffing.judge.judged import compare
from abistore.model.declarations import Name
from abistore.model.findings import Verdict
from abistore.model.shapes import AnyShape, Base, Field, Inline, Named, Record, TypeRef, VirtualMethod
from abistore.model.snapshot import Snapshot
from abistore.report import render
from abistore.report.model import Style, formats
from abistore.service.judging import judge
from tests.diffing.model import CODE, INT, LONG, VOID, function, record, snapshot, struct, to, uses
from tests.effort import steps

pytestmark = pytest.mark.full

Make = Callable[[int, int], Snapshot]
LEVELS = 40
"""A walk that follows every path of a fan takes 2**40 steps."""


def inheritance(levels: int, size: int, *, virtual: bool = False, method: bool = False) -> Snapshot:
    """Each class derives from two that derive from the next one."""
    run = (VirtualMethod("run", "", 0, VOID),) if method else ()
    layout: dict[Name, AnyShape] = {function("use"): uses(to(record("A0")), result=Named(record("A0")))}
    for level in range(levels):
        lower = Base(Named(record(f"A{level + 1}")), None if virtual else 0, virtual)
        for side in "LR":
            layout[record(f"{side}{level}")] = Record("class", 1, (), (lower,), run)
        sides = tuple(Base(Named(record(f"{side}{level}")), offset) for side, offset in (("L", 0), ("R", 8 * size)))
        layout[record(f"A{level}")] = Record("class", 1, (), sides, run)
    layout[record(f"A{levels}")] = Record("class", size, (), (), run, has_vptr=method)
    return snapshot(layout)


def members(levels: int, size: int, *, empty: bool = False) -> Snapshot:
    """Each struct holds two of the next one, passed by value and no larger than a register.

    The last one holds a number, or nothing that a register could hold.
    """
    layout: dict[Name, AnyShape] = {function("use"): uses(Named(record("A0")))}
    for level in range(levels):
        inner = Named(record(f"A{level + 1}"))
        layout[record(f"A{level}")] = Record("struct", size, (Field("l", inner, 0), Field("r", inner, 0)))
    fields = () if empty else (Field("x", INT if size == 8 else LONG, 0),)
    layout[record(f"A{levels}")] = Record("struct", size, fields)
    return snapshot(layout)


FANS: dict[str, Make] = {
    "bases": inheritance,
    "virtual bases": partial(inheritance, virtual=True),
    "bases with a vtable": partial(inheritance, method=True),
    "members": members,
    "empty members": partial(members, empty=True),
}


def compared(make: Make, levels: int) -> Callable[[], object]:
    old, new = make(levels, 8), make(levels, 16)
    return lambda: compare(old, new)


@pytest.mark.parametrize("fan", FANS)
def test_twice_the_levels_of_a_fan_are_compared_in_a_few_times_the_steps(fan: str) -> None:
    compared(FANS[fan], 3)()  # what is imported and cached counts for neither
    few, many = steps(compared(FANS[fan], 10)), steps(compared(FANS[fan], 20))
    assert many < 6 * few


@pytest.mark.parametrize("fan", FANS)
def test_a_fan_has_a_report_in_every_format(fan: str) -> None:
    report = judge(FANS[fan](LEVELS, 8), FANS[fan](LEVELS, 16))
    assert all(render(report, format, Style(limit=None)) for format in formats())


def nested(levels: int, size: int) -> Snapshot:
    """A chain of records, each in the one before, all of which grow with the last."""
    layout: dict[Name, AnyShape] = {record(f"N{levels}"): struct(*(LONG,) * (size // 8))}
    for level in range(levels):
        behind = size + 8 * (levels - level - 1)
        fields = (Field("inner", Named(record(f"N{level + 1}")), 0), Field("own", LONG, 8 * behind))
        layout[record(f"N{level}")] = Record("struct", behind + 8, fields)
    layout[function("use")] = uses(to(record("N0")))
    return snapshot(layout)


def test_a_chain_of_nested_records_folds_under_its_innermost_in_linear_work() -> None:
    compared(nested, 10)()
    few, many = steps(compared(nested, 100)), steps(compared(nested, 400))
    assert many < 5 * few
    found = compare(nested(400, 8), nested(400, 16)).findings
    assert [finding.name for finding in found] == [record("N400")]
    assert {each.name for each in found[0].consequences} >= {record(f"N{level}") for level in range(400)}


def versioned(count: int, space: str) -> Snapshot:
    """Methods of as many classes, whose names look like version namespaces."""
    names = (f"{space}{1000 + index}" for index in range(count))
    symbols = {function(f"_ZN{len(name)}{name}3runEi"): CODE for name in names}
    return snapshot({}, symbols=symbols, state="missing")


def test_renamed_classes_are_paired_in_time_that_grows_with_their_number() -> None:
    def pair(count: int) -> Callable[[], object]:
        old, new = versioned(count, "Old"), versioned(count, "New")
        return lambda: compare(old, new)

    pair(10)()
    few, many = steps(pair(100)), steps(pair(400))
    assert many < 6 * few


def anonymous(levels: int, innermost: TypeRef) -> Snapshot:
    type = innermost
    for _ in range(levels):
        type = Inline(Record("struct", 16, (Field("l", type, 0), Field("r", type, 64))))
    whole = Record("struct", 16, (Field("a", type, 0),))
    return snapshot({function("use"): uses(to(record("T"))), record("T"): whole})


def test_the_alignment_of_a_type_within_anonymous_ones_is_worked_out_once() -> None:
    def pair(levels: int) -> Callable[[], object]:
        old, new = anonymous(levels, INT), anonymous(levels, LONG)
        return lambda: compare(old, new)

    pair(2)()
    few, many = steps(pair(4)), steps(pair(8))  # sixteen times as many types
    assert many < 40 * few


def test_a_bit_field_of_absurd_size_is_drawn_in_a_few_rows() -> None:
    huge = Record("struct", 1 << 60, (Field("flags", INT, 0, 1 << 60), Field("behind", INT, 1 << 62)))
    larger = Record("struct", 1 << 60, (Field("flags", INT, 0, (1 << 60) + 1), Field("behind", INT, 1 << 62)))
    sides = [snapshot({record("S"): shape, function("use"): uses(to(record("S")))}) for shape in (huge, larger)]
    report = judge(sides[0], sides[1])
    assert report.verdict == Verdict.BREAKING.name
    assert len(render(report, "html", Style())) < 100_000


def doubled(prefix: str, levels: int, *, back: bool = False) -> Snapshot:
    """Each record holds two of the next one, and maybe a pointer back to the first one."""
    layout: dict[Name, AnyShape] = {function("use"): uses(to(record(f"{prefix}0")))}
    for level in range(levels):
        size, lower = 8 * 2 ** (levels - level), Named(record(f"{prefix}{level + 1}"))
        up = (Field("up", to(record(f"{prefix}0")), 8 * size),) if back else ()
        layout[record(f"{prefix}{level}")] = Record(
            "struct", size, (Field("a", lower, 0), Field("b", lower, 4 * size), *up)
        )
    layout[record(f"{prefix}{levels}")] = struct(LONG)
    return snapshot(layout)


@pytest.mark.parametrize("back", [False, True])
def test_records_that_hold_each_other_twice_are_compared_once_when_all_are_renamed(back: bool) -> None:
    def work(levels: int) -> int:
        return steps(lambda: compare(doubled("old", levels, back=back), doubled("new", levels, back=back)))

    assert work(LEVELS // 2) < 4 * work(LEVELS // 4)


def test_a_new_class_that_is_its_own_base_is_judged() -> None:
    """No compiler writes it, and a damaged file may."""
    odd = record("Odd")
    run = VirtualMethod("run", "", 0, VOID)
    shape = Record("class", 64, bases=(Base(Named(odd), 0),), virtuals=(run,), has_vptr=True)
    old = snapshot({function("use"): uses(INT)})
    new = snapshot({function("use"): uses(INT), function("take"): uses(to(odd)), odd: shape})
    assert compare(old, new).verdict is Verdict.COMPATIBLE_WITH_RISK
