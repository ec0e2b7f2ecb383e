"""Markdown, modes and differences: what people read line by line."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from abistore.errors import UsageError
from abistore.model.findings import Verdict
from abistore.report import drawing as html
from abistore.report import render
from abistore.report.document import impacts, roots
from abistore.report.formats.markdown import cell, code, plain, prose
from abistore.report.model import ComparedDeclaration, Mode, Style, formats
from abistore.report.outline import outline
from abistore.report.wording import difference
from tests.report.comparisons import ADDED, AREA, MOVED, NORM, REMOVED, SIZE, comparison, many
from tests.report.golden import report


def declared(before: str | None, after: str | None) -> ComparedDeclaration:
    return ComparedDeclaration("s", "record", before, after)


def test_a_difference_shows_what_changed_with_a_line_around_it() -> None:
    before = "struct s {\n a\n b\n c\n d\n e\n};"
    assert difference(declared(before, before.replace(" d", " D"))) == [
        (" ", "struct s {"),
        ("…", ""),
        (" ", " c"),
        ("-", " d"),
        ("+", " D"),
        (" ", " e"),
        ("…", ""),
    ]


def test_what_only_moved_is_one_line_with_both_places() -> None:
    before, after = "struct s {\n    int a;    // 0\n};  // 4 bytes", "struct s {\n    int a;    // 8\n};  // 12 bytes"
    assert difference(declared(before, after)) == [
        (" ", "struct s {"),
        ("!", "    int a;    // 0 -> 8"),
        ("!", "};  // 4 bytes -> 12 bytes"),
    ]


def test_padding_stays_with_the_field_behind_it() -> None:
    before = "struct s {\n    char a;    // 0\n    /* 3 bytes hole */\n    int b;    // 4\n};"
    after = before.replace("    /* 3", "    char c;    // 1\n    /* 3").replace("3 bytes", "2 bytes")
    assert [line for line in difference(declared(before, after)) if line[0] in "+-!"] == [
        ("-", "    /* 3 bytes hole */"),
        ("+", "    char c;    // 1"),
        ("+", "    /* 2 bytes hole */"),
    ]


def test_thousands_of_equal_lines_are_matched() -> None:
    before = "\n".join(f"/* 4 bytes hole */\nint a{number};  // {number}" for number in range(900))
    after = "\n".join(f"/* 4 bytes hole */\nint {'a' if number % 3 else 'b'}{number};  // 0" for number in range(900))
    signs = Counter(sign for sign, _ in difference(declared(before, after)))
    assert (signs["!"], signs["-"], signs["+"]) == (600, 599, 599)  # the first line is the same


def test_a_declaration_that_one_side_lacks_is_all_new_or_all_gone() -> None:
    assert difference(declared(None, "int a;\nint b;")) == [("+", "int a;"), ("+", "int b;")]
    assert difference(declared("int a;", None)) == [("-", "int a;")]


def test_a_difference_keeps_every_line_that_changed() -> None:
    before = "\n".join(f"line {number}" for number in range(5_000))
    after = "\n".join(f"other {number}" if number % 2 else f"line {number} " for number in range(5_000))
    lines = difference(declared(before, after))
    assert [text for sign, text in lines if sign in "- "] == before.splitlines()
    assert [text for sign, text in lines if sign in "+ "] == after.splitlines()


def test_every_declaration_is_shown_once_beside_its_first_change() -> None:
    text = render(report(), "text", Style(detail=True))
    assert text.count("!     char kind;") == 1
    assert text.index("stamp") < text.index("!     char kind;") < text.index("type_field_removed")


def test_declarations_are_bounded_without_detail_and_whole_with_it() -> None:
    assert "… (-v shows all)" in render(report(), "text", Style())
    detailed = render(report(), "text", Style(detail=True))
    assert "… (-v shows all)" not in detailed
    assert "!     char label<raw>[56];                        // 32 -> 48" in detailed


def test_identities_are_shown_with_detail() -> None:
    first = report().changes[0].id
    assert f"[{first}]" in render(report(), "text", Style(detail=True))
    assert first not in render(report(), "text", Style())


def test_changes_of_one_declaration_have_one_root_worst_first() -> None:
    later = replace(MOVED, part="z", affected=(AREA,))
    found = roots(outline(comparison(ADDED, later, REMOVED, MOVED, SIZE)))
    assert [(root.symbol, len(root.findings)) for root in found] == [
        ("geo::Shape", 3),
        ("norm", 1),
        (AREA.spelling, 1),
    ]
    assert found[0].affected == tuple(sorted((AREA.spelling, NORM.spelling)))
    assert found[0].location == "geo.h:7"


def test_the_impact_table_has_who_is_affected_most_first() -> None:
    found = impacts(outline(comparison(ADDED, replace(REMOVED, affected=(NORM,)), MOVED)))
    assert [(root.symbol, len(root.affected)) for root in found] == [("geo::Shape", 2), ("norm", 1)]


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_a_stat_is_one_line(format: str) -> None:
    line = render(report(), format, Style(mode="stat"))
    assert "\n" not in line
    assert "3 breaking" in line
    assert "1 not checked" in line


@pytest.mark.parametrize("format", [format for format in formats() if format not in {"text", "markdown"}])
def test_formats_for_machines_have_one_mode(format: str) -> None:
    with pytest.raises(UsageError, match="mode leaf is not for"):
        render(report(), format, Style(mode="leaf"))


@pytest.mark.parametrize("format", ["text", "markdown"])
@pytest.mark.parametrize("mode", ["full", "leaf"])
def test_long_reports_are_bounded_and_whole_when_asked(format: str, mode: Mode) -> None:
    made = outline(many(3_000))
    bounded = render(made, format, Style(mode=mode))
    assert len(bounded.splitlines()) < 80
    assert "and 2990 more" in bounded
    assert "function_02999" in render(made, format, Style(mode=mode, limit=None))


def test_what_was_not_checked_is_in_every_mode_but_the_one_line() -> None:
    quiet = outline(comparison(verdict=Verdict.NO_CHANGE))
    modes: tuple[Mode, ...] = ("full", "leaf", "impact")
    for format in ("text", "markdown"):
        for mode in modes:
            assert "build it with -g" in render(quiet, format, Style(mode=mode))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a|b", "`a|b`"),
        ("`a`", "`` `a` ``"),
        ("a``b", "```a``b```"),
        ("a\nb", "`a b`"),
        ("", "` `"),
    ],
)
def test_code_spans_hold_anything(text: str, expected: str) -> None:
    assert code(text) == expected


def test_a_bar_does_not_end_a_cell() -> None:
    assert cell("a|b") == "`a\\|b`"


def test_markup_in_text_is_shown_as_it_is() -> None:
    assert plain("*a* <b> [c](d) `e` _f_ | g") == r"\*a\* \<b\> \[c\](d) \`e\` \_f\_ \| g"


def test_code_within_prose_is_code() -> None:
    assert prose("became `= delete` or <b>") == r"became `= delete` or \<b\>"
    assert html.prose("became `a<b>` & more") == "became <code>a&lt;b&gt;</code> &amp; more"
