"""The cases that show each kind of change: two releases, and what comparing them finds."""

from __future__ import annotations

from pathlib import Path

CASES = Path(__file__).parents[1] / "compare" / "rules" / "cases"
"""Beside the rules, which need not be loaded to show them."""

SILENT = "## Stays silent"
FINDINGS = "```findings"


def case(kind: str) -> tuple[str, str]:
    """A kind's case as Markdown, without its title, and its near-misses; both empty where it has none."""
    path = CASES / f"{kind}.md"
    if not path.is_file():
        return "", ""
    _, _, body = path.read_text(encoding="utf-8").partition("\n")
    fires, _, silent = body.partition(SILENT)
    return fires.strip(), silent.strip()


def counts(kind: str) -> tuple[int, int]:
    """How many pairs of releases show ``kind``, and how many near-misses do not."""
    fires, silent = case(kind)
    return fires.count(FINDINGS), silent.count(FINDINGS)
