"""What is guessed of a library without its headers, in sentences: what programs can name, call and look into."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from abistore.model.findings import Comparison, Finding, Impact, Verdict
from abistore.model.names import SELF
from abistore.model.snapshot import Evidence, evidence_of
from abistore.model.words.files import is_source
from abistore.report.wording import names

NAMED = 3
WIDTH = 60
"""So many names of each guess are shown, in so many columns each."""

WHAT_BREAKS: Final = "without --header, whether programs can name what breaks is guessed from"
"""Begins the sentence of a break that rests on a guess."""

PRIVATE_TYPES: Final = frozenset({"type_private_changed"})
PRIVATE_EXPORTS: Final = frozenset(
    {
        "declaration_changed.internal",
        "declaration_changed.private",
        "symbols_removed.internal",
        "symbols_removed.private",
    }
)
"""The kinds of what no public file is known to declare."""


def guessed(comparison: Comparison) -> str:
    """What rests on a guess, as no header tells which declarations programs can name; else empty.

    It is that a verdict of ``BREAKING`` counts, and that types and exports are taken for private.
    """
    seen = comparison.old.evidence
    if evidence_of(seen, "source").state != "missing":
        return ""
    breaks = _breaks(comparison, seen)
    private = "; ".join(_private(comparison.findings))
    hint = f"{private}; give --header to know" if private else ""
    return "; ".join(filter(None, (breaks, hint)))


def _breaks(comparison: Comparison, seen: tuple[Evidence, ...]) -> str:
    """What the library says of itself, such as its SONAME, needs no header, and neither does a library that is gone."""
    if comparison.verdict is not Verdict.BREAKING:
        return ""
    breaking = (each for each in comparison.findings if each.impact is Impact.BREAKING)
    if not any(each.name.kind != SELF.kind or each.affected for each in breaking):
        return ""
    source = "the export table" if evidence_of(seen, "layout").state == "missing" else "debug information"
    return f"{WHAT_BREAKS} {source}"


def _private(findings: Iterable[Finding]) -> Iterator[str]:
    types = [each for each in findings if each.kind in PRIVATE_TYPES]
    from_sources = {each.name.spelling for each in types if each.location and is_source(each.location.file)}
    others = {each.name.spelling for each in types} - from_sources
    by_value = "no function that programs can call takes or returns {} by value"
    yield from _guess(from_sources, "opaque", f"only a source file defines {{}}, and {by_value}")
    yield from _guess(others, "opaque", f"nothing shows that programs look into {{}}, and {by_value}")
    private = (each for each in findings if each.kind in PRIVATE_EXPORTS)
    exports = {name.spelling for each in private for name in (each.affected or (each.name,))}
    yield from _guess(exports, "private", "no public header is known to declare {}")


def _guess(spellings: Collection[str], guess: str, why: str) -> Iterator[str]:
    if spellings:
        one = len(spellings) == 1
        reason = why.replace("{}", "it" if one else "them")
        told = names(sorted(spellings), NAMED, WIDTH)
        yield f"{told} {'is' if one else 'are'} guessed to be {guess}: {reason}"
