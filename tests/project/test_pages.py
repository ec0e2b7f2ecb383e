"""Files that the pages name exist, and links lead to headings."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.subjects import assert_each

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMED = re.compile(r"`((?:abistore|tests|benchmarks|docs|examples|migrations|\.ci)/(?![a-z-]+/\d+`)[a-z0-9_./-]*)`")
"""A file or folder of the project as a page names it: no wildcards, no words to fill in, no schema (`compare/1`)."""

LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)
ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)"')

FIRST_PAGES = ("README.md", "docs/start/quickstart.md", "docs/questions/release-manager.md", "docs/start/outcome.md")
COMMAND = re.compile(r"\babistore (?:-q )?(approve|policy)\b(?! (?:show|check))")
"""A command as a page shows it that changes what a release is judged by."""

HISTORY = {"docs/lab/decisions/0010-statements-to-the-driver.md"}
"""Pages about what was, which say so."""


def test_a_page_names_only_files_that_exist() -> None:
    def law(page: Path) -> None:
        text = page.read_text()
        named = set(NAMED.findall(text)) if title(page) not in HISTORY else set()
        missing = {path for path in named if not (ROOT / path).exists()}
        missing |= {link for link, _ in LINK.findall(text) if not (page.parent / link).exists()}
        assert not missing

    assert_each(PAGES, law, named=title)


def test_a_link_into_a_page_leads_to_a_heading() -> None:
    def law(page: Path) -> None:
        links = {(page.parent / link if link else page, anchor) for link, anchor in LINK.findall(page.read_text())}
        assert not {anchor for aim, anchor in links if anchor and aim.suffix == ".md" and anchor not in anchors(aim)}

    assert_each(PAGES, law, named=title)


def test_the_first_pages_teach_one_way_to_accept_a_break() -> None:
    """Suppressions and policies say what is no ABI, and how grave a kind is; a break is accepted with ``approve``."""
    taught = {page: COMMAND.findall((ROOT / page).read_text()) for page in FIRST_PAGES}
    assert "approve" in {verb for verbs in taught.values() for verb in verbs}
    assert not {page for page, verbs in taught.items() if "policy" in verbs}


@cache
def anchors(page: Path) -> frozenset[str]:
    """What links into a page may name: its headings, spelled as GitHub spells them, and anchors of its own."""
    text = page.read_text()
    spelled = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}
    return frozenset(spelled | set(ANCHOR.findall(text)))


def title(page: Path) -> str:
    """What a page is called: its place in the project."""
    return page.relative_to(ROOT).as_posix()
