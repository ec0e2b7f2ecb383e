"""What the pages say of the code's files is true: each file exists, and each room is named."""

from __future__ import annotations

import re
from pathlib import Path

from tests.subjects import assert_each

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMED = re.compile(r"`((?:abistore|tests|benchmarks|docs|examples|migrations|\.ci)/[a-z0-9_./-]*)`")
"""A file or folder of the project as a page names it: without wildcards and words to fill in."""

LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")

HISTORY = {"docs/lab/decisions/0010-statements-to-the-driver.md"}
"""Pages about what was, which say so."""


def test_a_page_names_only_files_that_exist() -> None:
    def law(page: Path) -> None:
        text = page.read_text()
        named = set(NAMED.findall(text)) if title(page) not in HISTORY else set()
        missing = {path for path in named if not (ROOT / path).exists()}
        missing |= {link for link in LINK.findall(text) if not (page.parent / link).exists()}
        assert not missing

    assert_each(PAGES, law, named=title)


def title(page: Path) -> str:
    """What a page is called: its place in the project."""
    return page.relative_to(ROOT).as_posix()
