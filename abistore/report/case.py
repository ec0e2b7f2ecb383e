"""A case's Markdown with its code blocks labelled for readers."""

from __future__ import annotations

import re

OPTIONS = re.compile(r"\b(?:compiler|flags)=(?:\"([^\"]*)\"|(\S+))")
FENCE = re.compile(r"^```(?P<info>[^\n`]+)$", re.MULTILINE)
SIDES = {"old": "Before", "new": "After"}
LANGUAGES = {"findings": "text", "header": "c", "map": "text"}
FILES = {"header": "the header `case.h`", "map": "the version script", "json": "the snapshot"}


def labelled(markdown: str) -> str:
    """Each block of a case behind a line that says what it is: before, after, or what is found."""
    return FENCE.sub(_labelled, markdown)


def _labelled(match: re.Match[str]) -> str:
    language, *words = match["info"].split()
    if language == "findings":
        return "What abistore finds:\n\n```text"
    side = next((SIDES[word] for word in words if word in SIDES), "Before and after")
    named = re.search(r"\bfile=\"?([^\s\"]+)", match["info"])
    what = f"`{named[1]}`" if named else FILES.get(language, "")
    compiled = " ".join(quoted or bare for quoted, bare in OPTIONS.findall(match["info"]))
    notes = ", ".join(filter(None, (what, f"`{compiled}`" if compiled else "")))
    return f"{side}{f' ({notes})' if notes else ''}:\n\n```{LANGUAGES.get(language, language)}"
