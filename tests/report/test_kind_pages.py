"""The list of kinds of change, and the page of each that a site has: none missing, none left over, with its case."""

from __future__ import annotations

import re

import pytest

from abistore.diffing.context import load
from abistore.model.kind_names import FORMER_NAMES, kind_of, name_now, variant_of
from abistore.report.plain import labelled, page
from docs.kinds import FOLDER, kind_pages

LINK = re.compile(r"\]\(([\w-]+\.md)\)")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {place.removeprefix(f"{FOLDER}/"): text for place, text in kind_pages().items()}


def test_each_kind_is_in_the_list_once_and_on_the_page_of_a_subject(pages: dict[str, str]) -> None:
    kinds = sorted({*map(kind_of, load())})
    assert sorted(re.findall(r"\[`(\w+)`\]", pages["all-kinds.md"])) == kinds
    subjects = "".join(text for place, text in pages.items() if place.startswith("about-"))
    assert {*re.findall(r"\[`(\w+)`\]", subjects)} == {*kinds}


def test_the_list_has_the_facts_of_each_kind(pages: dict[str, str]) -> None:
    for name, rule in load().items():
        if not variant_of(name):
            row = f"| [`{name}`]({name}.md) | {rule.impact.label} | {rule.evidence} | {rule.title} |"
            assert row in pages["all-kinds.md"]


def test_the_page_of_a_kind_has_each_variant_below_an_anchor_of_its_name(pages: dict[str, str]) -> None:
    for name, rule in load().items():
        text = pages[f"{kind_of(name)}.md"]
        assert f"**{rule.title}**" in text
        assert not variant_of(name) or f"{{ #{name} }}" in text


def test_the_list_tells_what_kinds_were_called_before(pages: dict[str, str]) -> None:
    rows = [(before, name_now(before)) for before in FORMER_NAMES]
    assert all(f"| `{before}` | [`{now}`]({kind_of(now)}.md) |" in pages["kind-names.md"] for before, now in rows)


def test_links_between_the_pages_lead_somewhere(pages: dict[str, str]) -> None:
    linked = {aim for text in pages.values() for aim in LINK.findall(text)}
    assert linked - pages.keys() == set()
    assert pages.keys() - linked == set()


def test_reports_link_to_the_page_of_a_kind(pages: dict[str, str]) -> None:
    address = page("type_size_changed.handle", "https://example.org/1.2.0")
    assert address == f"https://example.org/1.2.0/{FOLDER}/type_size_changed.html"
    assert "type_size_changed.md" in pages


def test_a_page_tells_what_happens_and_how_to_mend_it(pages: dict[str, str]) -> None:
    for part in (
        "# func_removed",
        "breaking · evidence: symbol",
        "**Fix:** ",
        "## Example",
        "Before:",
        "## Stays silent",
    ):
        assert part in pages["func_removed.md"]


def test_blocks_of_a_case_are_labelled() -> None:
    text = '```cpp old flags="-g -O2" soname=x\nint a;\n```\n\n```map new\nV1 { };\n```\n\n```findings\nnone\n```'
    assert labelled(text) == (
        "Before (`-g -O2`):\n\n```cpp\nint a;\n```\n\nAfter (the version script):\n\n```text\nV1 { };\n```\n\n"
        "What abistore finds:\n\n```text\nnone\n```"
    )


def test_findings_are_wrapped_and_long_lists_of_them_cut() -> None:
    long = "notice  kind  " + ", ".join(f"name{number}" for number in range(200))
    source = "int " + "a" * 200 + ";"
    shown = labelled(f"```c old\n{source}\n```\n\n```findings\nnone\n{long}\n```", 80).splitlines()
    assert source in shown
    findings = shown[shown.index("```text") + 1 : -1]
    assert findings[0] == "none"
    assert len(findings) == 4
    assert max(map(len, findings)) <= 80
    assert findings[-1].endswith(", ...")
