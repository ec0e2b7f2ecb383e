"""The kinds of change that are detected, what each means, and the cases that show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import msgspec

from abistore.errors import UsageError
from abistore.model.findings import Impact
from abistore.model.kind_names import kind_of
from abistore.model.words import did_you_mean, near
from abistore.report.model import ChangeKind

FILE = Path(__file__).with_name("kinds.json")
"""Written from the rules by ``python docs/generate.py``."""


@cache
def kinds() -> Mapping[str, ChangeKind]:
    """Every kind by its name, in the order of names."""
    return {one.kind: one for one in msgspec.json.decode(FILE.read_bytes(), type=tuple[ChangeKind, ...])}


CASES = Path(__file__).parents[1] / "diffing" / "rules" / "cases"
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


class ExplainedKind(ChangeKind, frozen=True):
    """One kind of change with its case in Markdown: releases that show it, and near-misses that do not.

    ``variants`` are the other variants of the kind, the plain one too.
    """

    example: str = ""
    near_misses: str = ""
    variants: tuple[ChangeKind, ...] = ()


def changes(
    *,
    impact: str | None = None,
    element: str | None = None,
    evidence: str | None = None,
) -> tuple[ChangeKind, ...]:
    """All kinds and variants that match, worst impact first, then by name."""
    chosen = (
        kind
        for kind in kinds().values()
        if impact in {None, kind.impact} and element in {None, kind.element} and evidence in {None, kind.evidence}
    )
    return tuple(sorted(chosen, key=lambda kind: (-Impact[kind.impact.upper()], kind.kind)))


def by_kind(cards: Iterable[ChangeKind]) -> dict[str, tuple[ChangeKind, ...]]:
    """Cards by kind: the plain one first, then its variants as they come."""
    found: dict[str, list[ChangeKind]] = {}
    for card in cards:
        found.setdefault(kind_of(card.kind), []).append(card)
    return {kind: tuple(sorted(every, key=lambda card: bool(card.variant))) for kind, every in found.items()}


class EstablishedName(msgspec.Struct, frozen=True):
    """A name that other tools use, and the kinds that report the same fact, with how many cases and near-misses.

    ``reason`` says why there is no kind.
    """

    name: str
    kinds: tuple[str, ...]
    cases: int
    near_misses: int
    reason: str


def established() -> tuple[EstablishedName, ...]:
    """The names of kinds of change that other tools use, each with the kinds that cover it."""
    from abistore.diffing.established import established as names

    return tuple(_established(*each) for each in names())


def _established(name: str, kinds: tuple[str, ...], reason: str) -> EstablishedName:
    found = [counts(kind) for kind in kinds]
    cases, near_misses = (sum(each[side] for each in found) for side in (0, 1))
    return EstablishedName(name, kinds, cases, near_misses, reason)


def explain(kind: str) -> ExplainedKind:
    """One kind with its case, by its name or an alias. Raises :class:`UsageError` with the nearest names.

    A kind that has variants only is explained by the one with the worst impact.
    """
    wanted = kind.replace("-", "_")
    every = changes()
    named = (one for one in every if wanted == one.kind or wanted in one.aliases)
    one = next(named, None) or next(iter(by_kind(every).get(wanted, ())), None)
    if one is None:
        hint = did_you_mean(near(wanted, [one.kind for one in every]), "see `abistore changes`")
        raise UsageError(f"no kind of change is called {kind}", hint)
    example, near_misses = case(one.kind)
    others = tuple(each for each in by_kind(every)[kind_of(one.kind)] if each != one)
    return ExplainedKind(**msgspec.structs.asdict(one), example=example, near_misses=near_misses, variants=others)
