"""Which release can replace which, and the releases that a program can run on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from abistore.errors import Incomparable, InputError, UsageError
from abistore.limits import limits_for
from abistore.model.decision import Outcome
from abistore.model.declarations import Name
from abistore.model.findings import RulingKey, Verdict, unequal_evidence
from abistore.model.history import LineKey, Release
from abistore.model.structure import without_cycle_collection
from abistore.report.history import History, Matrix, MatrixRelease, UnjudgedPair
from abistore.service.binding import ruling_of_line
from abistore.service.database import Database, using
from abistore.service.history import history
from abistore.service.listing import lines_of, place_of, released, releases_of
from abistore.service.verdicts import SideWalk

if TYPE_CHECKING:
    from abistore.diffing.judge.successive import Replacing
    from abistore.diffing.side import SideFacts
    from abistore.model.history import Progress
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store


class RunsOn(msgspec.Struct, frozen=True):
    """A release that a program may meet: the verdict that decides, or the ``reason`` why there is none.

    ``partial``: one of the two releases shows less than the other.
    """

    version: str
    verdict: Verdict | None
    partial: bool = False
    reason: str = ""


class CompatibleRange(msgspec.Struct, frozen=True):
    """The releases that a program runs on which was built against ``version``.

    It ``runs_up_to`` the last release before one that breaks it, and ``needs_at_least`` the first after one that lacks
    something which it may use. ``releases`` are all others of the line, in release order, each judged as the
    replacement of ``version``; some beyond the range may fit again.
    """

    line: LineKey
    version: str
    needs_at_least: str
    runs_up_to: str
    releases: tuple[RunsOn, ...]


def compatible_range(
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
) -> CompatibleRange:
    """The releases that a program can run on which was built against a release, or the latest one of a library.

    Such a program may use all that the release exports. Nothing is stored. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store, store.reading():
        release = released(store, reference, target, profile)
        ordered = releases_of(store, release.line)
        by = ruling_of_line(store, release.line, ordered, by)
        place = next(number for number, each in enumerate(ordered) if each.sequence == release.sequence)
        later = tuple(replacing(store, release, ordered[place + 1 :], by))
        earlier = tuple(replacing(store, release, ordered[:place][::-1], by))
        return CompatibleRange(
            release.line,
            release.version,
            _last_fit(release.version, earlier),
            _last_fit(release.version, later),
            (*earlier[::-1], *later),
        )


def replacing(store: Store, base: Release, others: Sequence[Release], by: Ruling | None) -> Iterator[RunsOn]:
    """The others, each judged as the replacement of ``base``, in their order: the nearest first."""
    from abistore.diffing.judge.successive import Replacing

    walk = SideWalk(store)
    row = Replacing(walk.go(base), by)
    for other in others:
        side = walk.go(other)
        row.note(walk.changed)
        with limits_for(side.snapshot.weight * 2, f"judging {other.reference}"), without_cycle_collection():
            partial = bool(unequal_evidence(base.evidence, other.evidence))
            try:
                yield RunsOn(other.version, row.verdict(side), partial)
            except (InputError, Incomparable) as error:
                yield RunsOn(other.version, None, partial, error.message)


def _last_fit(version: str, others: Iterable[RunsOn]) -> str:
    """The last release before one that does not fit, or is not known to."""
    for other in others:
        if other.verdict is None or other.verdict is Verdict.BREAKING:
            break
        version = other.version
    return version


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
    today: date | None = None,
    histories: Sequence[History] | None = None,
) -> tuple[Matrix, ...]:
    """Which release can replace which, for all pairs of each line of a library.

    With ``downgrades``, older releases are judged as replacements of later ones too. Nothing is stored. Where a release
    was judged against the previous one or the baseline before, the pair has an outcome, too, with what is approved
    ``today``; ``histories`` have these decisions, if the caller made them. Raises :class:`SnapshotNotFound`, and
    :class:`UsageError` for a range that is none.
    """
    if histories is None:
        histories = history(library, database=database, target=target, profile=profile, by=by, today=today, judge=False)
    told = {one.line: one for one in histories}
    with using(database) as store, store.reading():
        keys = lines_of(store, library, target, profile)
        asked = _Asked(within or ReleaseRange(), downgrades, progress, by)
        return tuple(_matrix(store, key, asked, told[key]) for key in keys if key in told)


class _Asked(msgspec.Struct, frozen=True):
    """What a matrix is asked for."""

    within: ReleaseRange
    downgrades: bool
    progress: Progress | None
    by: Ruling | None


def _matrix(store: Store, key: LineKey, asked: _Asked, told: History) -> Matrix:
    stored = releases_of(store, key)
    chosen = ranged(stored, asked.within)
    asked = replace(asked, by=ruling_of_line(store, key, stored, asked.by))
    cells = _Cells(chosen)
    for first, bases in _bands(chosen):
        _fill(cells, store, (first, bases), asked)
    return Matrix(
        key,
        tuple(MatrixRelease(each.version, each.released or each.ingested, each.soname) for each in chosen),
        tuple(tuple(row) for row in cells.verdicts),
        tuple(tuple(bool(unequal_evidence(old.evidence, new.evidence)) for new in chosen) for old in chosen),
        _outcomes(told, chosen),
        asked.downgrades,
        asked.by.policy.name if asked.by else RulingKey().policy,
        tuple(cells.unjudged),
    )


def _outcomes(told: History, releases: Sequence[Release]) -> tuple[tuple[Outcome | None, ...], ...]:
    """What is decided about each release: compared with the previous one and the baseline, or by a bound rule."""
    known: dict[tuple[str, str], Outcome] = {}
    for row in told.rows:
        version = row.release.version
        if told.baseline is not None and row.baseline_decision is not None and not row.unjudged_baseline:
            known[row.baseline_decision.against.version or told.baseline, version] = row.baseline_decision.outcome
        if row.previous is not None and row.decision is not None and not row.unjudged:
            known[row.decision.against.version or row.previous, version] = row.decision.outcome
    return tuple(tuple(known.get((old.version, new.version)) for new in releases) for old in releases)


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
        column, side = new
        try:
            self.verdicts[old][column] = row.verdict(side, hints)
        except (InputError, Incomparable) as error:
            pair = self.releases[old].version, self.releases[column].version
            self.unjudged.append(UnjudgedPair(*pair, error.message))


def _fill(cells: _Cells, store: Store, band: tuple[int, Sequence[Release]], asked: _Asked) -> None:
    """Fill the rows of a band, and with downgrades its columns, on one way through the releases after its first."""
    from abistore.diffing.judge.successive import Replacing

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
