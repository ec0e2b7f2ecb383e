"""Files that the pages name exist, and links lead to headings."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from posixpath import normpath

from docs.site import generated
from tests.subjects import assert_each

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LAB = DOCS / "lab"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
MOST_WORDS = 60_000
NAMED = re.compile(r"`((?:abistore|tests|benchmarks|docs|examples|migrations|\.ci)/(?![a-z-]+/\d+`)[a-z0-9_./-]*)`")
"""A file or folder of the project as a page names it: no wildcards, no words to fill in, no schema (`compare/1`)."""

LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)
ANCHOR = re.compile(r'<a (?:id|name)="([^"]+)"|\{ #(\S+) \}')

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
        missing |= {link for link, _ in LINK.findall(text) if not leads_somewhere(page, link)}
        assert not missing

    assert_each(PAGES, law, named=title)


def test_a_link_into_a_page_leads_to_a_heading() -> None:
    def law(page: Path) -> None:
        links = {(link, anchor) for link, anchor in LINK.findall(page.read_text()) if anchor}
        assert not {anchor for link, anchor in links if anchor not in anchors(text_of(page, link))}

    assert_each(PAGES, law, named=title)


def test_what_is_generated_is_not_kept() -> None:
    assert {place for place in generated() if (DOCS / place).exists()} == set()


def test_every_page_has_a_place_in_the_navigation() -> None:
    """Decisions have an index of their own."""
    named = set(re.findall(r"[\w/-]+\.md$", (ROOT / "mkdocs.yml").read_text(), re.M))
    places = {page.relative_to(DOCS).as_posix() for page in PAGES if DOCS in page.parents}
    assert {place for place in places - named if not place.startswith("lab/decisions/")} == set()


def test_the_first_pages_teach_one_way_to_accept_a_break() -> None:
    """Suppressions and policies say what is no ABI, and how grave a kind is; a break is accepted with ``approve``."""
    taught = {page: COMMAND.findall((ROOT / page).read_text()) for page in FIRST_PAGES}
    assert "approve" in {verb for verbs in taught.values() for verb in verbs}
    assert not {page for page, verbs in taught.items() if "policy" in verbs}


def test_the_pages_for_readers_are_few_enough_to_be_read() -> None:
    """The lab has measurements, and generated references are looked up."""
    counted = {title(page): len(page.read_text().split()) for page in PAGES if LAB not in page.parents}
    assert sum(counted.values()) <= MOST_WORDS, counted


def leads_somewhere(page: Path, link: str) -> bool:
    """Whether a link names a file, or a page that the site generates."""
    return (page.parent / link).exists() or place(page, link) in generated()


def place(page: Path, link: str) -> str:
    """The place in the site of what a page links to; pages that are not in the site link to files alone."""
    return normpath(page.parent.relative_to(DOCS).joinpath(link)) if DOCS in page.parents else ""


def text_of(page: Path, link: str) -> str:
    aim = page.parent / link if link else page
    return aim.read_text() if aim.exists() else generated()[place(page, link)]


@cache
def anchors(text: str) -> frozenset[str]:
    """What links into a page may name: its headings, spelled as GitHub spells them, and anchors of its own."""
    spelled = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}
    return frozenset(spelled | {found for pair in ANCHOR.findall(text) for found in pair})


def title(page: Path) -> str:
    """What a page is called: its place in the project."""
    return page.relative_to(ROOT).as_posix()
