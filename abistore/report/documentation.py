"""What is documented of a kind of change: the address of its page, and its cases."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from urllib.parse import urlsplit

from abistore.errors import UsageError
from abistore.model.judging.kinds import kind_of
from abistore.urls import masked

PLACE = "{kind}"
SCHEMES = frozenset({"file", "http", "https"})


def page(kind: str, docs: str = "") -> str:
    """The absolute URI of a kind's page, which has its variants: below ``docs``, else as the project's metadata say.

    ``docs`` has ``{kind}`` in place of the kind, or is the folder that holds ``kinds/KIND.md``. Without either address
    the URI is a name that opens nothing (``urn:abistore:kind:KIND``).
    """
    base, kind = docs or _documentation(), kind_of(kind)
    if not base:
        return f"urn:abistore:kind:{kind}"
    return base.replace(PLACE, kind) if PLACE in base else f"{base.rstrip('/')}/kinds/{kind}.md"


def check_docs(docs: str) -> None:
    """Raise :class:`UsageError` if ``docs`` is no absolute URL, or has a password, which every report would show."""
    try:
        parts = urlsplit(docs)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in SCHEMES or not (parts.netloc or parts.path.startswith("/")) or " " in docs:
        raise UsageError(f"not the address of documentation: {docs}", "e.g. https://example.org/abistore/kinds/{kind}")
    if masked(docs) != docs:
        raise UsageError(
            f"the address of documentation has a password or token: {docs}", "it would stand in every report"
        )


@cache
def _documentation() -> str:
    try:
        urls: list[str] = metadata("abistore").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return next((url.partition(", ")[2] for url in urls if url.startswith("Documentation, ")), "")


# --- cases --------------------------------------------------------------------------------------------------------

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
