"""The kinds of change that are detected, and what each means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from abistore.errors import UsageError
from abistore.model.findings import Impact
from abistore.model.judging.kinds import kind_of
from abistore.model.words.nearness import did_you_mean, near
from abistore.report.model import ChangeKind
from abistore.service.examples import case, counts
from abistore.service.kinds import kinds


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


def established() -> Iterator[EstablishedName]:
    """The names of kinds of change that other tools use, each with the kinds that cover it."""
    from abistore.compare.established import established as names

    for name, telling, reason in names():
        found = [counts(kind) for kind in telling]
        cases, near_misses = (sum(each[side] for each in found) for side in (0, 1))
        yield EstablishedName(name, telling, cases, near_misses, reason)


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
