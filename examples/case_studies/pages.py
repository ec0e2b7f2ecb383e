"""What the commands of a case study's page print, written below them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from examples.case_studies.case import Case
from examples.case_studies.storing import database
from examples.histories import abistore
from examples.obtain import PROJECT

PAGES = PROJECT / "docs" / "case-studies"
BLOCK = re.compile(r"^```console\n\$ abistore (?P<words>.*?)(?P<cut>  # first \d+ lines)?\n.*?^```$", re.M | re.S)


def document(case: Case) -> None:
    """The page, with what each of its commands prints now."""
    page = PAGES / f"{case.name}.md"
    page.write_text(filled(page.read_text(), database(case)))


def filled(text: str, database: Path) -> str:
    """A page with each ``$ abistore ...`` block's output as it is now; the text around stays.

    A remark ``# first N lines`` behind a command cuts what a page cannot show.
    """

    def printed(block: re.Match[str]) -> str:
        lines = abistore("--db", database, *shlex.split(block["words"])).rstrip().splitlines()
        limit = int(re.sub(r"\D", "", block["cut"])) if block["cut"] else len(lines)
        more = [f"[... {len(lines) - limit} more lines]"] if len(lines) > limit else []
        return "\n".join([f"```console\n$ abistore {block['words']}{block['cut'] or ''}", *lines[:limit], *more, "```"])

    return BLOCK.sub(printed, text)
