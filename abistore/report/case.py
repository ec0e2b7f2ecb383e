"""A case as `explain` shows it: its Markdown, with a label on each code block."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator

LINES_SHOWN = 3
"""How many lines of one finding are shown."""

OPTIONS = re.compile(r"\b(?:compiler|flags)=(?:\"([^\"]*)\"|(\S+))")
FENCE = re.compile(r"^```(?P<info>[^\n`]+)$", re.MULTILINE)
FINDINGS = re.compile(r"^```findings\n.*?^```$", re.MULTILINE | re.DOTALL)
SIDES = {"old": "Before", "new": "After"}
LANGUAGES = {"findings": "text", "header": "c", "map": "text"}
FILES = {"header": "the header `case.h`", "map": "the version script"}


def labelled(markdown: str, width: int | None = None) -> str:
    """A case with a line above each block that says what it is: before, after, or the findings.

    Findings that have more than ``width`` columns are wrapped, and cut after a few lines.
    """
    if width is not None:
        markdown = FINDINGS.sub(lambda match: "\n".join(_wrapped(match[0].split("\n"), width)), markdown)
    return FENCE.sub(_labelled, markdown)


def _wrapped(lines: Iterable[str], width: int) -> Iterator[str]:
    for line in lines:
        yield textwrap.fill(
            line,
            width,
            subsequent_indent=" " * 12,
            max_lines=LINES_SHOWN,
            placeholder=" ...",
            break_long_words=False,
            break_on_hyphens=False,
        )


def _labelled(match: re.Match[str]) -> str:
    language, *words = match["info"].split()
    if language == "findings":
        return "What abistore finds:\n\n```text"
    side = next((SIDES[word] for word in words if word in SIDES), "Before and after")
    named = re.search(r"\bfile=\"?([^\s\"]+)", match["info"])
    what = f"`{named[1]}`" if named else "a snapshot" if "snapshot" in words else FILES.get(language, "")
    compiled = " ".join(quoted or bare for quoted, bare in OPTIONS.findall(match["info"]))
    notes = ", ".join(filter(None, (what, f"`{compiled}`" if compiled else "")))
    return f"{side}{f' ({notes})' if notes else ''}:\n\n```{LANGUAGES.get(language, language)}"
