"""Every line in short: how many releases it has, which is the first, and which the latest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from abistore.model.history import LineKey, Release
from abistore.model.labels.versions import position
from abistore.model.snapshot import Provenance
from abistore.store.database.database import Database
from abistore.store.releases import cards, lines, releases


class LineSpan(NamedTuple):
    """A line in short. ``latest`` is what ``libfoo@latest`` means; both are empty where a line has candidates only.

    ``provenance`` is that of the latest release, or of the latest candidate.
    """

    key: LineKey
    releases: int
    first: str
    latest: str
    candidates: int
    provenance: Provenance


def overview(database: Database, library: str | None) -> tuple[LineSpan, ...]:
    """All lines of a library (``None``: of all) that have a release or a candidate, sorted.

    Raises :class:`StoreError` where a card or the row of a line is damaged or missing.
    """
    stored, kept = (_cards(database, condition, library) for condition in (cards.RELEASES, cards.CANDIDATES))
    schemes = lines.schemes(database) if library is None else releases.schemes_of(database, library)
    return tuple(_spans(stored, kept, schemes))


def _cards(database: Database, condition: cards.Condition, library: str | None) -> dict[LineKey, list[Release]]:
    if library is None:
        return cards.of_every_line(database, condition)
    found: dict[LineKey, list[Release]] = {}
    for release in cards.of_library(database, condition, (library, None, None)):
        found.setdefault(release.line, []).append(release)
    return found


def _spans(
    stored: Mapping[LineKey, Sequence[Release]],
    kept: Mapping[LineKey, Sequence[Release]],
    schemes: Mapping[LineKey, str],
) -> Iterator[LineSpan]:
    for key in sorted(stored.keys() | kept.keys()):
        ranked = ((position(one.version, one.sequence, schemes[key]), one) for one in stored.get(key, ()))
        placed = sorted(ranked, key=lambda each: each[0])
        best = [one for place, one in placed if place.standing == placed[0][0].standing]
        first, latest = (placed[0][1].version, best[-1].version) if placed else ("", "")
        newest = (best or kept[key])[-1]
        yield LineSpan(key, len(placed), first, latest, len(kept.get(key, ())), newest.provenance)
