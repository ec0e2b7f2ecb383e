"""What the commands of a case study's page print, written below them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from examples.case_studies.case import Case
from examples.case_studies.picturing import picture
from examples.case_studies.storing import database
from examples.histories import abistore
from examples.obtain import PROJECT

PAGES = PROJECT / "docs" / "lab" / "case-studies"
BLOCK = re.compile(r"^```console\n\$ abistore (?P<words>.*?)(?P<cut>  # first \d+ lines)?\n.*?^```$", re.M | re.S)
SHOWN = "history", "verdict", "matrix", "blame"
"""The commands that every page shows: `history` and `verdict` advise which version and SONAME a release needs."""


def document(case: Case) -> None:
    """The page, with what each of its commands prints now; a page that is not there begins with the commands alone."""
    page = PAGES / f"{case.name}.md"
    text = page.read_text() if page.exists() else skeleton(case)
    page.write_text(filled(text, database(case)))


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


def asked(page: str) -> set[str]:
    """The commands that a page shows."""
    return {block["words"].split()[0] for block in BLOCK.finditer(page)}


def skeleton(case: Case) -> str:
    """A page with the commands that every case shows, for each library; the words between them are still to be written.

    Of several lines, each command that answers for one of them is asked of each.
    """
    parts = [f"# {case.name}", ""]
    newest = case.releases[-1].version
    for library in case.libraries:
        stem = library.name.removesuffix(".so")
        told = (f"verdict {option}{stem}@{newest}" for option in ("", "--all-baselines "))
        for words in (*(f"{verb} {stem}" for verb in ("history", "matrix", "blame")), *told):
            parts += [_block(words, target) for target in (case.lines if len(case.lines) > 1 else ("",))]
        parts.append(_block(f"verdict --statement {stem}@{newest}", ""))
    parts += [f"![The timeline of {case.name}](../../images/{picture(case).name})", "", "## Checked by hand", ""]
    return "\n".join(
        [*parts, "| release | what abistore says | what the project says | who is right |", "|---|---|---|---|", ""]
    )


def _block(words: str, target: str) -> str:
    wanted = f" --target {target}" if target else ""
    return f"```console\n$ abistore {words}{wanted}  # first 40 lines\n```\n"
