"""Which release can replace which: the verdicts about all pairs of a line's releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import Incomparable, InputError, UsageError
from abistore.limits import limits_for
from abistore.model.cycles import without_cycle_collection
from abistore.model.findings import RulingKey, Verdict, unequal_evidence
from abistore.model.history import LineKey, Release
from abistore.model.names import Name
from abistore.report.history.model import Matrix, MatrixRelease, UnjudgedPair
from abistore.service.database import Database, using
from abistore.service.history.sides import SideWalk
from abistore.service.listing import lines_of, place_of, releases_of

if TYPE_CHECKING:
    from abistore.compare.replacing import Replacing
    from abistore.compare.side import SideFacts
    from abistore.model.history import Progress
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store

MOST_HELD = 1_000_000
"""So many declarations of releases are kept at a time, some 200 bytes each; longer matrices are made in bands."""


GUESSES = 8
"""So many names that differ are asked first whether they break a pair."""


class ReleaseRange(msgspec.Struct, frozen=True):
    """A part of a line, in release order: from ``first`` to ``final``, both included, and of these the ``last`` few."""

    first: str | None = None
    final: str | None = None
    last: int | None = None


def matrix(
    library: str,
    *,
    within: ReleaseRange | None = None,
    downgrades: bool = False,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    progress: Progress | None = None,
    by: Ruling | None = None,
) -> tuple[Matrix, ...]:
    """Which release can replace which, for all pairs of each line of a library.

    With ``downgrades``, older releases are judged as replacements of later ones too. Nothing is stored. Raises
    :class:`SnapshotNotFound`, and :class:`UsageError` for a range that is none.
    """
    with using(database) as store, store.reading():
        keys = lines_of(store, library, target, profile)
        return tuple(_matrix(store, key, _Asked(within or ReleaseRange(), downgrades, progress, by)) for key in keys)


class _Asked(msgspec.Struct, frozen=True):
    """What a matrix is asked for."""

    within: ReleaseRange
    downgrades: bool
    progress: Progress | None
    by: Ruling | None


def _matrix(store: Store, key: LineKey, asked: _Asked) -> Matrix:
    chosen = ranged(releases_of(store, key), asked.within)
    cells = _Cells(chosen)
    for first, bases in _bands(chosen):
        _fill(cells, store, (first, bases), asked)
    return Matrix(
        key,
        tuple(MatrixRelease(each.version, each.released or each.ingested, each.soname) for each in chosen),
        tuple(tuple(row) for row in cells.verdicts),
        tuple(tuple(bool(unequal_evidence(old.evidence, new.evidence)) for new in chosen) for old in chosen),
        asked.downgrades,
        asked.by.policy.name if asked.by else RulingKey().policy,
        tuple(cells.unjudged),
    )


def ranged(releases: Sequence[Release], within: ReleaseRange) -> Sequence[Release]:
    """The releases of a range. Raises :class:`UsageError` for a version that is none of them, or where none is left."""
    start = place_of(releases, within.first) if within.first is not None else 0
    end = place_of(releases, within.final) + 1 if within.final is not None else len(releases)
    found = releases[start:end][-within.last if within.last else 0 :]
    if not found:
        raise UsageError(f"no release is between {within.first} and {within.final}", "give the older one first")
    return found


def _bands(releases: Sequence[Release]) -> Iterator[tuple[int, Sequence[Release]]]:
    """The releases in parts that can be kept at a time, each with its first place."""
    widest = max(each.declarations + each.exports for each in releases)
    height = max(2, MOST_HELD // max(widest, 1))
    for first in range(0, len(releases), height):
        yield first, releases[first : first + height]


class _Cells:
    """A matrix that is being filled."""

    def __init__(self, releases: Sequence[Release]) -> None:
        self.releases = releases
        self.verdicts: list[list[Verdict | None]] = [[None] * len(releases) for _ in releases]
        self.unjudged: list[UnjudgedPair] = []

    def judge(self, row: Replacing, old: int, new: tuple[int, SideFacts], hints: Iterable[Name]) -> None:
        """Fill the cell of an old release and a new one."""
        column, side = new
        try:
            self.verdicts[old][column] = row.verdict(side, hints)
        except (InputError, Incomparable) as error:
            pair = self.releases[old].version, self.releases[column].version
            self.unjudged.append(UnjudgedPair(*pair, error.message))


def _fill(cells: _Cells, store: Store, band: tuple[int, Sequence[Release]], asked: _Asked) -> None:
    """Fill the rows of a band, and with downgrades its columns, on one way through the releases after its first."""
    from abistore.compare.replacing import Replacing

    first, bases = band
    walk, rows = SideWalk(store), list[Replacing]()
    held: list[tuple[SideFacts, frozenset[Name]]] = []
    for column in range(first, len(cells.releases)):
        release = cells.releases[column]
        if asked.progress:
            asked.progress(f"{release.line.library} {release.version}", column / len(cells.releases))
        side = walk.go(release)
        weight = side.snapshot.weight * (1 + len(rows))
        with limits_for(weight, f"judging {release.reference} against others"), without_cycle_collection():
            _column(cells, rows, (first, column), (side, walk.changed))
            if asked.downgrades:
                _backwards(cells, held, (first, column), (Replacing(side, asked.by), walk.changed))
        if column < first + len(bases):
            rows.append(Replacing(side, asked.by))
            held.append((side, walk.changed))


def _column(
    cells: _Cells, rows: Sequence[Replacing], at: tuple[int, int], new: tuple[SideFacts, frozenset[Name]]
) -> None:
    """Judge a release as the replacement of each older one of the band."""
    (first, column), (side, changed) = at, new
    hints: tuple[Name, ...] = _guessed(changed)
    for number, row in enumerate(rows):
        row.note(changed)
        cells.judge(row, first + number, (column, side), hints)
        hints = (*row.witnesses, *hints)[:GUESSES]


def _guessed(changed: Iterable[Name]) -> tuple[Name, ...]:
    """Names that may break a pair: some types and some exports."""
    names = sorted(changed)
    types = [name for name in names if name.kind in ("record", "enum")]
    others = [name for name in names if name.kind not in ("record", "enum")]
    return (*types[: GUESSES // 2], *others[: GUESSES // 2])


def _backwards(
    cells: _Cells,
    held: Sequence[tuple[SideFacts, frozenset[Name]]],
    at: tuple[int, int],
    old: tuple[Replacing, frozenset[Name]],
) -> None:
    """Judge each older release of the band as the replacement of one, the nearest first."""
    (first, column), (row, changed) = at, old
    for number in range(len(held) - 1, -1, -1):
        side, differs = held[number]
        row.note(changed)
        cells.judge(row, column, (first + number, side), _guessed(changed))
        changed = differs
