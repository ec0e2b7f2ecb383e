"""What several formats say in the same words, and say once."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from abistore.model.declarations import SELF, Name
from abistore.report import render
from abistore.report.model import Style, formats
from abistore.report.outline import outline
from abistore.report.wording import (
    abbreviated,
    affects,
    consequences,
    distinct,
    lengthened,
    shortened,
    told,
    value_lines,
    values,
)
from tests.report.comparisons import ADDED, MOVED, REMOVED, comparison
from tests.subjects import assert_each

COMPLETE = Name("function", "_ZN3geo3BoxC1Ei")
BASE = Name("function", "_ZN3geo3BoxC2Ei")
DELETING = tuple(Name("function", f"_ZN3geo3BoxD{number}Ev") for number in (0, 1, 2))


@pytest.mark.parametrize("format", ["text", "markdown", "github", "html", "junit"])
def test_the_symbols_of_a_constructor_or_destructor_are_one_name(format: str) -> None:
    found = replace(MOVED, affected=(COMPLETE, BASE, *DELETING), consequences=())
    text = render(outline(comparison(found, not_checked=False)), format, Style())
    assert text.count("geo::Box::Box(int)") == 1
    assert text.count("geo::Box::~Box()") == 1
    assert "(2 symbols)" in text
    assert "(3 symbols)" in text


@pytest.mark.parametrize("format", [format for format in formats() if format not in {"json", "sarif"}])
def test_a_removed_constructor_is_told_once(format: str) -> None:
    twin = replace(REMOVED, name=BASE, old_value=None)
    found = replace(twin, name=COMPLETE, affected=(COMPLETE, BASE), consequences=(twin,))
    text = render(outline(comparison(found, not_checked=False)), format, Style())
    assert text.replace("%3A", ":").count("geo::Box::Box(int)") == 1


def test_no_report_says_none_as_python_does() -> None:
    gone = replace(REMOVED, name=Name("function", "other"), old_value="int other()")
    report = outline(comparison(replace(MOVED, consequences=(gone,)), not_checked=False))
    for format in formats():
        if format != "json":
            assert "None" not in render(report, format, Style())


def test_a_value_that_only_repeats_the_subject_is_not_told() -> None:
    report = outline(
        comparison(
            replace(ADDED, kind="type_added", name=Name("record", "geo::Box"), new_value="struct geo::Box"),
            replace(ADDED, name=SELF, part="requires GLIBC_2.34", new_value="GLIBC_2.34"),
            replace(ADDED, name=SELF, part="exports", new_value="geo::Box::Box(int), ...", affected=(COMPLETE, BASE)),
            replace(ADDED, name=SELF, part="imports", new_value="memcpy, ..."),
        )
    )
    assert [values(change) for change in report.changes] == [("struct",), (), (), ("(none)", "memcpy, ...")]


def test_declarations_of_several_lines_are_told_by_what_differs() -> None:
    old = "struct s {\n    int a; // 0\n    int b; // 4\n};"
    change = outline(comparison(replace(MOVED, old_value=old, new_value=old.replace("b", "c")))).changes[0]
    assert value_lines(change) == [
        "  struct s {",
        "      int a; // 0",
        "-     int b; // 4",
        "+     int c; // 4",
        "  };",
    ]
    assert "+     int c; // 4" in told(change)


def test_what_follows_twice_is_told_once() -> None:
    moved = replace(MOVED, consequences=())
    (change,) = outline(comparison(replace(MOVED, part="x", consequences=(moved, moved)))).changes
    assert len(consequences(change)) == 1


def test_who_is_affected_is_not_told_of_what_only_affects_itself() -> None:
    both = replace(REMOVED, name=COMPLETE, affected=(BASE, COMPLETE))
    other = replace(REMOVED, name=COMPLETE, affected=(COMPLETE, DELETING[0]))
    alone, shared = outline(comparison(both, other)).changes
    assert affects(alone) == ""
    assert affects(shared) == "affects 2 exports"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("std::vector<int>::size()", "std::vector<int>::size()"),
        ("a::list<a::pair<int, int>, a::allocator<int>>::get() const", "a::list<...>::get() const"),
        ("a::list<a::pair<int, int>>::operator<<(a::list<int>)", "a::list<...>::operator<<(a::list<...>)"),
        ("a::list<a::pair<int, int>>::operator->() const and so on", "a::list<...>::operator->() con..."),
        ("f(" + "int, " * 20 + ")", "f(int, int, int, int, int, i..."),
    ],
)
def test_a_long_name_loses_its_template_arguments_before_its_end(name: str, expected: str) -> None:
    width = 40 if "<<" in name else 33 if "->" in name else 31
    assert abbreviated(name, width) == expected
    assert abbreviated(name, None) == name


def test_instances_of_a_template_that_look_the_same_are_told_once() -> None:
    symbols = [f"_ZNK3one4listISt4pairI{each}{each}ESaI{each}EE4sizeEv" for each in "cwij"]
    assert distinct(symbols, 3, 30) == ({"one::list<...>::size() const": 4}, 0)
    assert len(distinct(symbols, None)[0]) == 4


def test_a_name_that_is_cut_ends_in_a_word_and_three_dots() -> None:
    def law(width: int) -> None:
        short = abbreviated("std::vector<int>::insert(std::vector<int>::iterator, const std::pair<int, int>&)", width)
        assert len(short) <= width
        assert not short.endswith("....")
        assert short.removesuffix("...")[-1].isalnum() or short.endswith((">...", ")..."))

    assert_each(range(20, 60), law, named="width {}".format)


def test_a_shortened_name_may_stand_for_either_string() -> None:
    found = lengthened("f(const std::string&, std::string_view)")
    assert found[0] == "f(const std::string&, std::string_view)"
    assert {shortened(one) for one in found} == {found[0]}
    assert len(found) == 3
    assert lengthened("geo::Point") == ("geo::Point",)
