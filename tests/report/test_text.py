"""The text report: bounded, worst first, and silent about nothing that was not checked."""

from __future__ import annotations

import re
from textwrap import dedent

from msgspec.structs import replace

from abistore.model.findings import Verdict
from abistore.report import render as render_as
from abistore.report.document import worth_drawing
from abistore.report.formats.text import listed
from abistore.report.model import ComparedDeclaration, Report, Style
from abistore.report.outline import outline
from abistore.report.wording import shortened
from tests.report.comparisons import ADDED, GONE, MOVED, REMOVED, comparison, many

GOLDEN = """\
    libgeo 1.2.0 -> libgeo 1.3.0: BREAKING
      no public headers given (--header): some of these breaks may be in types that no program can use
      elf-x86_64-64-little, SONAME libgeo.so.1, 3 -> 4 exports
      policy strict_abi, no suppressions

    Breaking (3)
      struct_field_offset_changed: the field moved
          geo::Shape: y  (geo.h:7)
              offset 4 -> offset 8
              affects 2 exports: geo::area(const geo::Shape&), norm
              causes type_size_changed: geo::Shape 8 bytes -> 12 bytes
      func_removed (2): the function is no longer exported
          norm
          old_norm

    Compatible (1)
      func_added: the function is new
          geo::area(const geo::Shape&)
              (none) -> geo::area(geo::Shape const&)

    Not checked
      layout of the new side: libgeo.so has no debug information (no-debug-info)
          norm, geo::area(const geo::Shape&)
          hint: build it with -g

    3 breaking, 1 compatible; 1 not checked; exit code 4"""


def render(report: Report, style: Style) -> str:
    return render_as(report, "text", style)


def test_a_report_tells_everything_worst_first() -> None:
    assert render(outline(comparison(MOVED, REMOVED, GONE, ADDED)), Style()) == dedent(GOLDEN)


def test_no_change_is_said_in_a_few_lines() -> None:
    quiet = comparison(verdict=Verdict.NO_CHANGE, not_checked=False)
    lines = render(outline(quiet), Style()).splitlines()
    assert (lines[0], lines[-1]) == ("libgeo 1.2.0 -> libgeo 1.3.0: NO_CHANGE", "no changes; exit code 0")
    assert len(lines) == 5


def test_what_was_not_checked_is_shown_with_its_hint_even_when_nothing_changed() -> None:
    text = render(outline(comparison(verdict=Verdict.NO_CHANGE)), Style())
    assert "Not checked" in text
    assert "hint: build it with -g" in text


def test_a_long_report_is_bounded_and_says_how_much_is_left() -> None:
    report = outline(many(50_000))
    bounded = render(report, Style(limit=10))
    assert len(bounded.splitlines()) < 40
    assert "and 49990 more (--full shows all)" in bounded
    assert "50000 breaking" in bounded
    assert len(render(report, Style(limit=None)).splitlines()) > 50_000


def test_no_line_is_wider_than_asked_for_unless_one_word_is() -> None:
    report = outline(comparison(MOVED, REMOVED, ADDED))
    for width in (60, 80, 100):
        assert all(len(line) <= width for line in render(report, Style(width=width, detail=True)).splitlines())


def test_colour_is_nothing_but_colour() -> None:
    report = outline(comparison(MOVED, REMOVED, ADDED))
    for width in (30, 100):
        coloured = render(report, Style(colour=True, width=width))
        assert "\x1b[1;31mBREAKING\x1b[0m" in coloured
        assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render(report, Style(width=width))


def test_long_values_are_wrapped_and_bounded_and_strings_have_their_short_name() -> None:
    string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>"
    changed = replace(MOVED, old_value=f"f(const {string}&)", new_value=", ".join([string] * 200))
    bounded = render(outline(comparison(changed)), Style(width=80))
    assert "- f(const std::string&)" in bounded
    assert "basic_string" not in bounded
    assert "+ ... (-v shows all)" in bounded
    assert all(len(line) <= 80 for line in bounded.splitlines())
    assert render(outline(comparison(changed)), Style(width=80, detail=True)).count("std::string") == 201


def test_members_of_a_new_type_are_told_with_detail_only() -> None:
    added = ComparedDeclaration("fresh", "record", None, "struct fresh {\n    int a; // 0\n};", None, None)
    changed = ComparedDeclaration(
        "kept", "record", "struct kept {\n};", "struct kept {\n    int a; // 0\n};", None, None
    )
    assert not worth_drawing(added, Style())
    assert worth_drawing(added, Style(detail=True))
    assert worth_drawing(changed, Style())


def test_symbols_of_one_name_are_told_once() -> None:
    symbols = ("_ZN1AC1Ev", "_ZN1AC2Ev", "_ZN1AD1Ev", "f", "g", "h")
    assert listed(symbols, Style()) == "A::A() (2 symbols), A::~A(), f and 2 more"
    assert listed(symbols, Style(detail=True)) == "A::A() (2 symbols), A::~A(), f, g, h"


def test_a_shortened_member_keeps_its_offset_in_the_column() -> None:
    long = "    std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>> name; // 24"
    assert shortened(long) == f"{'    std::string name;'.ljust(47)} // 24"
