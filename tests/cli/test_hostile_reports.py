"""Hostile texts in every place of a report: each format shows them, and none does what they say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, get_type_hints
from xml.etree import ElementTree

import msgspec
import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from abistore.model.words import UNSEEN
from abistore.report import render
from abistore.report.model import MODES, Report, Style, formats, formats_with_modes
from tests.report import golden

pytestmark = pytest.mark.full

HOSTILE = (
    "a\x1b[31mb\x1b]0;t\x07\x00\x08\x7f\x9b1m\x85\u202e\u2066\u200b\u2028\ufeff\ufffe\U000e0041\r\n::error::owned"
    "\n \u2003::add-mask::owned ##[error]owned ##vso[task.x]owned `t` ``` ~~~ \\| | <script>owned()</script>"
    " <b onclick=owned()> ![i](http://evil/i.png) [l](http://evil/) http://evil/ www.evil @owner #12 GH-12 $x$ &amp;"
    " ]]> --> \" ' $(owned) \n```\n# owned\n- owned\n    owned"
)
TEXTS = {str, str | None, tuple[str, ...]}
"""The types of fields that others write into; the rest are words of ours."""

RUNNABLE = re.compile(r"^\s*::", re.MULTILINE)
OWN_COMMAND = re.compile(r"::(?:error|warning|notice) [^:\n]*::[^\n]*")
APART = 12
"""How many places from one hostile text to the next."""

REPORTS = {"full": golden.report, "unequal": golden.unequal}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every text within a report, found by the types of its fields: a new field is among them."""
    if isinstance(value, tuple):
        for number, each in enumerate(value):
            yield from places(each, (*path, number))
    elif isinstance(value, msgspec.Struct):
        hints = get_type_hints(type(value))
        for field in value.__struct_fields__:
            if hints[field] in TEXTS:
                yield (*path, field)
            else:
                yield from places(getattr(value, field), (*path, field))


def put(value: Any, path: tuple[Any, ...], text: str) -> Any:
    """``value`` with ``text`` at the end of ``path``."""
    first, *rest = path
    old = value[first] if isinstance(value, tuple) else getattr(value, first)
    if rest:
        new = put(old, tuple(rest), text)
    elif isinstance(old, tuple):
        new = (text, *old)
    else:
        new = f"{text}:7" if first == "source_location" else text
    if isinstance(value, tuple):
        return (*value[:first], new, *value[first + 1 :])
    return msgspec.structs.replace(value, **{first: new})


def everywhere(report: Report, text: str) -> Report:
    for path in places(report):
        report = put(report, path, text)
    return report


def renderings(report: Report, *styles: Style) -> Iterator[tuple[str, str]]:
    """The report in all formats and modes."""
    for format in formats():
        for mode in MODES if format in formats_with_modes() else MODES[:1]:
            for style in styles:
                yield format, render(report, format, replace(style, mode=mode))


def assert_shown_only(format: str, text: str) -> None:
    assert not re.search(f"[{UNSEEN}]", text), format
    assert not re.search(r"##\w*\[", text), format
    commands = RUNNABLE.findall(text)
    own = [line for line in text.split("\n") if OWN_COMMAND.fullmatch(line)] if format == "github" else []
    assert len(commands) == len(own), format


class Page(HTMLParser):
    """The elements of a page, with the names of their attributes, and the addresses that it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[tuple[str, tuple[str, ...]]] = set()
        self.links: set[str] = set()
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add((tag, tuple(sorted(name for name, _ in attrs))))
        self.links |= {value or "" for name, value in attrs if name in {"href", "src"}}
        self.scripts += tag == "script"


def assert_well_formed(format: str, text: str) -> None:
    match format:
        case "json" | "sarif":
            json.loads(text)
        case "junit":
            root = ElementTree.fromstring(text)
            known = {
                "testsuites",
                "testsuite",
                "testcase",
                "failure",
                "skipped",
                "system-out",
                "properties",
                "property",
            }
            assert {element.tag for element in root.iter()} <= known
        case "html":
            page = Page(text)
            assert page.scripts == ("<main>" in text)
            assert all(link.startswith("#") for link in page.links)
            assert not {name for _, names in page.elements for name in names if name.startswith("on")}
        case "markdown":
            assert_plain_markdown(text)


def assert_plain_markdown(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    for token in tokens:
        assert token.type not in {"html_block", "code_block"}, token
        assert token.type != "fence" or token.info == "diff", token
        for inner in token.children or ():
            assert inner.type not in {"html_inline", "image", "link_open", "s_open"}, inner
            if inner.type == "text":
                assert not re.search(r"@owner|#12|GH-12|://|www\.|\$", inner.content), inner
        assert token.content.strip() != "owned", token


def shape(text: str) -> list[str]:
    """The headings and table rows of Markdown."""
    kinds = {"heading_open", "tr_open", "th_open", "td_open"}
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return [f"{token.tag}{token.type}" for token in tokens if token.type in kinds]


@pytest.mark.parametrize("name", REPORTS)
def test_a_hostile_text_does_nothing_wherever_it_stands(name: str) -> None:
    """Far from the next one: a few places at a time, so that no text is what saves its neighbour."""
    plain = REPORTS[name]()
    found = list(places(plain))
    assert len(found) > 30
    for first in range(APART):
        hostile = plain
        for path in found[first::APART]:
            hostile = put(hostile, path, HOSTILE)
        for format, text in renderings(hostile, Style(limit=None, width=40)):
            assert_shown_only(format, text)
            assert_well_formed(format, text)


@pytest.mark.parametrize("name", REPORTS)
def test_hostile_texts_everywhere_do_nothing(name: str) -> None:
    hostile = everywhere(REPORTS[name](), HOSTILE)
    for format, text in renderings(hostile, Style(), Style(detail=True, limit=None, width=40)):
        assert_shown_only(format, text)
        assert_well_formed(format, text)
    assert msgspec.json.decode(render(hostile, "json", Style()), type=Report) == hostile


def test_hostile_texts_add_no_heading_and_no_cell_to_markdown() -> None:
    plain, hostile = (everywhere(golden.report(), text) for text in ("a", f"a {HOSTILE}"))
    for mode in MODES:
        style = Style(mode=mode, limit=None)
        assert shape(render(hostile, "markdown", style)) == shape(render(plain, "markdown", style))


def test_our_own_colours_stay_and_others_are_spelled() -> None:
    text = render(everywhere(golden.report(), "\x1b[32mgreen"), "text", Style(colour=True))
    assert "\x1b[1;31m" in text
    assert "\\x1b[32mgreen" in text
    assert "\x1b[32mgreen" not in text


def test_no_link_of_a_name_is_one_in_sarif() -> None:
    texts = re.findall(r'"text": "(.*)"', render(everywhere(golden.report(), "[x](http://evil)"), "sarif", Style()))
    assert texts
    assert not any(re.search(r"\[[^\[\]]+\]\(", text) for text in texts)


@pytest.mark.parametrize("format", formats())
def test_a_name_of_20_megabytes_is_shortened_for_people_and_whole_in_json(format: str) -> None:
    name = "n" * 20_000_000
    report = put(golden.report(), ("changes", 0, "display"), name)
    text = render(report, format, Style())
    if format == "json":
        assert name in text
    else:
        assert len(text) < 1_000_000
        assert "n" * 1000 in text
        assert "more characters" in text
