"""One cause is one finding in every format: moved namespaces, variants of constructors, instances of templates."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from xml.etree import ElementTree

import pytest

from abistore.diffing.context import load
from abistore.diffing.judge.judged import compare
from abistore.extract.capture import read_snapshot
from abistore.extract.reader import ExtractOptions
from abistore.model.declarations import Name
from abistore.model.findings import VERDICT_OF, Comparison, Finding, Impact
from abistore.model.names.qualified import template_behind
from abistore.report import render
from abistore.report.model import Style, formats
from abistore.report.outline import outline
from tests.build import build_library
from tests.cases import RULES, cases

MOVED = """
namespace geo {{ namespace {space} {{
struct Shape {{ Shape(); Shape(int); virtual ~Shape(); virtual int area() const; int a; }};
struct Point {{ Point(); ~Point(); int x; }};
Shape::Shape() {{}} Shape::Shape(int) {{}} Shape::~Shape() {{}} int Shape::area() const {{ return a; }}
Point::Point() {{}} Point::~Point() {{}}
int run(const Shape &s) {{ return s.area(); }}
}} }}
"""

CONSTRUCTED = """
struct Plain {{ int n; Plain(); ~Plain(); {gone} }};
Plain::Plain() {{}} Plain::~Plain() {{}}
struct Virtual : virtual Plain {{ Virtual(); virtual ~Virtual(); {others} }};
Virtual::Virtual() {{}} Virtual::~Virtual() {{}}
{definitions}
"""

TEMPLATES = """
template <class T> struct Vec {{ T *p; {field} int n; int size() const {{ return n; }} {method} }};
struct Holder {{ Vec<int> items; int z; }};
int hold(Holder *h) {{ return h->z + h->items.n; }}
int first(Vec<char> *a, Vec<double> *b) {{ return a->n + b->n; }}
template struct Vec<int>; template struct Vec<char>; template struct Vec<double>;
"""


def built(old: str, new: str) -> Comparison:
    flags = ("-g", "-O0")
    before, after = (build_library(each, language="c++", flags=flags) for each in (old, new))
    return compare(read_snapshot(before, ExtractOptions()), read_snapshot(after, ExtractOptions()))


@cache
def moved() -> Comparison:
    return built(MOVED.format(space="v1"), MOVED.format(space="v2"))


@cache
def constructed() -> Comparison:
    gone = {
        "gone": "Plain(int); template <class T> Plain(T *, T *);",
        "others": "Virtual(long);",
        "definitions": "Plain::Plain(int) {} Virtual::Virtual(long) {} "
        "template <class T> Plain::Plain(T *, T *) {} template Plain::Plain(char *, char *);",
    }
    return built(CONSTRUCTED.format(**gone), CONSTRUCTED.format(gone="", others="", definitions=""))


@cache
def templates() -> Comparison:
    old = TEMPLATES.format(field="", method="int gone(T, T) const { return 1; }")
    return built(old, TEMPLATES.format(field="long cap;", method=""))


def counted_in(format: str, text: str) -> int:
    """How many findings of weight a report has."""
    match format:
        case "json":
            return len(json.loads(text)["changes"])
        case "sarif":
            return len(json.loads(text)["runs"][0]["results"])
        case "junit":
            return sum(
                "abistore" not in (case.get("classname") or "")
                for case in ElementTree.fromstring(text).iter("testcase")
            )
        case "github":
            return sum(
                "title=Advice" not in line and "%3A " in line for line in text.splitlines() if line.startswith("::")
            )
        case _:
            return -1


COUNTS: list[tuple[Callable[[], Comparison], int]] = [(moved, 1), (constructed, 3), (templates, 2)]


@pytest.mark.parametrize(("made", "count"), COUNTS, ids=[made.__name__ for made, _ in COUNTS])
@pytest.mark.parametrize("format", ["json", "sarif", "junit", "github"])
def test_one_cause_is_one_finding_for_programs(made: Callable[[], Comparison], count: int, format: str) -> None:
    assert counted_in(format, render(outline(made()), format, Style(limit=None))) == count


@pytest.mark.parametrize("format", sorted({*formats()} - {"json", "sarif", "junit", "github"}))
def test_one_cause_is_one_finding_for_people(format: str) -> None:
    texts = [render(outline(made()), format, Style(limit=None)) for made in (moved, constructed, templates)]
    assert "16 exports moved from namespace v1 to v2" in texts[0] and "func_removed" not in texts[0]
    assert "type_added" not in texts[0]
    assert "Breaking (3)" in texts[1] or "3 breaking" in texts[1]
    assert "the same in other instances of the template:" in texts[2]


def test_what_consumers_hold_stands_for_the_instances_of_a_template() -> None:
    found = {each.kind: each for each in templates().findings}
    assert found["type_field_added"].name.spelling == "Vec<int>"
    told = {(each.kind, each.name.spelling) for each in found["type_field_added"].consequences}
    assert told >= {
        ("type_field_added", "Vec<char>"),
        ("type_field_added", "Vec<double>"),
        ("type_size_changed", "Holder"),
    }


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("_ZN3VecIiE3putEi", "_ZN3VecIcE3putEc", True),
        ("_ZN3VecIiE3putEi", "_ZN3VecIcE3putEcc", False),
        ("_ZN3VecIiE3putEi", "_ZNK3VecIcE3putEc", False),
        ("_ZN3VecIiEC1Ev", "_ZN3VecIcEC1Ev", True),
        ("_ZN3VecIiEC1Ev", "_ZN3VecIcEC2Ev", False),
    ],
)
def test_overloads_of_a_template_are_no_instances_of_each_other(first: str, second: str, alike: bool) -> None:
    found = [template_behind(Name("function", symbol)) for symbol in (first, second)]
    assert all(found) and (found[0] == found[1]) is alike


def heaviest(found: Finding) -> Impact:
    return max((found.impact, *map(heaviest, found.consequences)))


@pytest.mark.parametrize("made", [moved, constructed, templates])
def test_the_worst_that_is_folded_is_the_verdict(made: Callable[[], Comparison]) -> None:
    comparison = made()
    assert all(heaviest(each) is each.impact for each in comparison.findings)
    assert comparison.verdict is VERDICT_OF[max(map(heaviest, comparison.findings))]


def test_in_no_case_does_a_consequence_outweigh_its_cause() -> None:
    weights = {impact.label: impact for impact in Impact}
    load()
    for case in (case for path in RULES.glob("*.md") for case in cases(path)):
        above: list[Impact] = []
        for line in (line for line in case.expected.splitlines() if line.split()[0] in weights):
            depth, impact = (len(line) - len(line.lstrip())) // 2, weights[line.split()[0]]
            del above[depth:]
            assert all(impact <= cause for cause in above), case.label
            above.append(impact)
