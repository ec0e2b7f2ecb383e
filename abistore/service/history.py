"""Reading history back: what is stored, how each release relates to others, and what became of one declaration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.cycles import with_cycle_collection
from abistore.model.findings import Churn, RulingFile, Verdict
from abistore.model.history import DEFAULT_CHANNEL, LineKey, LogEvent, Release, StoredVerdict, VerdictSummary
from abistore.model.names import Facet, Name
from abistore.model.shapes import Alias, AnyShape, Named, Qualified
from abistore.model.spelling import declaration
from abistore.report.heading import evidence_gap
from abistore.report.wording import lengthened
from abistore.service.consecutive import Consecutive
from abistore.service.database import open_store
from abistore.service.listing import channels_of, lines_of, releases_of
from abistore.service.ruling import DEFAULT, Ruling, key_of
from abistore.service.spelled import declarations_near, display
from abistore.service.verdicts import Keeper

if TYPE_CHECKING:
    from abistore.store.store import Store

Progress: TypeAlias = Callable[[str, float], None]

LISTED = 8


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One release beside the one before it, and beside the baseline.

    ``churn``, ``verdict`` and ``notices``, the findings that no verdict counts, are against ``previous``, which the
    first release has not. ``against_baseline`` is ``None`` for releases before the baseline, and where there is none.
    ``unjudged`` and ``unjudged_baseline`` say why there is no verdict where one was sought. ``evidence_gap`` and
    ``evidence_gap_baseline`` tell what a verdict does not cover because one side shows less than the other.
    """

    release: Release
    previous: str | None
    churn: Churn | None
    verdict: Verdict | None
    against_baseline: Verdict | None
    notices: int = 0
    unjudged: str = ""
    unjudged_baseline: str = ""
    evidence_gap: str = ""
    evidence_gap_baseline: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """One line's releases in release order, oldest first; ``baseline`` is the version in the channel asked for.

    ``candidates`` failed their gate and were kept; no release is judged against them. The verdicts are by ``policy``
    and the suppressions of the files.
    """

    line: LineKey
    channel: str
    baseline: str | None
    rows: tuple[HistoryRow, ...]
    candidates: tuple[Release, ...] = ()
    policy: str = DEFAULT
    policy_file: RulingFile | None = None
    suppression_files: tuple[RulingFile, ...] = ()


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One release in which a declaration appeared, changed, vanished or could not be observed.

    ``before`` and ``after`` are its declarations in C or C++ with offsets, one text a variant. ``first_stored``: the
    release is the line's oldest, so that nobody knows what was before. ``alias_of`` is the type that an alias is
    another name of; it has a log of its own.
    """

    line: LineKey
    version: str
    date: datetime
    name: Name
    display: str
    facet: Facet
    action: Literal["appeared", "changed", "vanished", "not-observed"]
    before: tuple[str, ...]
    after: tuple[str, ...]
    first_stored: bool = False
    alias_of: str | None = None


def history(
    library: str,
    *,
    channel: str = DEFAULT_CHANNEL,
    database: str | Path | None = None,
    target: str | None = None,
    profile: str | None = None,
    progress: Progress | None = None,
    by: Ruling | None = None,
) -> tuple[History, ...]:
    """Every line of a library with its verdicts; those that were never given are given now and stored."""
    with open_store(database) as store, Keeper(database) as keeper, with_cycle_collection():
        keys = lines_of(store, library, target, profile)
        return tuple(_history(store, key, channel, Judging(store, by, keeper, progress)) for key in keys)


def log(
    name: str,
    *,
    library: str | None = None,
    database: str | Path | None = None,
    target: str | None = None,
    profile: str | None = None,
) -> tuple[LogEntry, ...]:
    """Every release in which a declaration appeared, changed or vanished, line by line, oldest first.

    ``name`` is a linker name or a qualified source name. Raises :class:`SnapshotNotFound` where no library has it.
    """
    with open_store(database) as store, limits_for(len(store.lines()) << 20, f"looking for {_brief(name)}"):
        libraries = [library] if library else sorted({key.library for key in store.lines()})
        keys = [key for each in libraries for key in _lines_searched(store, each, target, profile, wanted=library)]
        events = [event for key in keys for event in _events(store, key, name)]
        if not events:
            raise _unseen(store, name, library, keys)
        oldest = {key: releases_of(store, key)[0].sequence for key in {event.release.line for event in events}}
        return tuple(_log_entry(event, oldest[event.release.line]) for event in events)


def _brief(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:77]}..."


def _lines_searched(
    store: Store, library: str, target: str | None, profile: str | None, *, wanted: str | None
) -> tuple[LineKey, ...]:
    """The lines of a library that are meant: none is an error only where the library was asked for."""
    try:
        return lines_of(store, library, target, profile)
    except SnapshotNotFound:
        if wanted:
            raise
        return ()


def _events(store: Store, key: LineKey, name: str) -> tuple[LogEvent, ...]:
    for spelling in lengthened(name):
        try:
            return store.log(key.library, spelling, target=key.target, profile=key.profile)
        except SnapshotNotFound:
            continue
    return ()


def _unseen(store: Store, name: str, library: str | None, keys: Sequence[LineKey]) -> SnapshotNotFound:
    """Why nothing is told of ``name`` in the lines ``keys``: a line of another target or profile has it, or none."""
    others = sorted(key for key in set(store.lines()) - set(keys) if library in {None, key.library})
    if having := [str(key) for key in others if _events(store, key, name)]:
        message = f"{name}: no release of this target and profile has a declaration of this name"
        return SnapshotNotFound(message, f"stored in {'; '.join(having[:LISTED])}")
    return _no_declaration(store, name, library, keys)


def _no_declaration(store: Store, name: str, library: str | None, keys: Sequence[LineKey]) -> SnapshotNotFound:
    seen = {key.library for key in keys if any(map(_has_types, releases_of(store, key)))}
    blind = sorted({key.library for key in keys} - seen)
    if library:
        unseen = "; its types are not known, for want of debug information" if blind else ""
        message = f"{name}: no release of {library} has a declaration of this name{unseen}"
    else:
        unseen = f"; the types of {', '.join(blind)} are not known, for want of debug information" if blind else ""
        message = f"no stored library has {name}{unseen}"
    return SnapshotNotFound(message, declarations_near(name, store.spellings(library)))


def _has_types(release: Release) -> bool:
    return any(seen.facet == "layout" and seen.state != "missing" for seen in release.evidence)


def _log_entry(event: LogEvent, oldest: int) -> LogEntry:
    languages = event.release.provenance.languages
    return LogEntry(
        line=event.release.line,
        version=event.release.version,
        date=event.release.released or event.release.ingested,
        name=event.name,
        display=display(event.name, event.after or event.before),
        facet=event.facet,
        action=event.action,
        before=tuple(declaration(event.name, shape, languages=languages) for shape in event.before),
        after=tuple(declaration(event.name, shape, languages=languages) for shape in event.after),
        first_stored=event.release.sequence == oldest,
        alias_of=next((stood for shape in event.after or event.before if (stood := _stood_for(shape))), None),
    )


def _stood_for(shape: AnyShape) -> str | None:
    """The named type that an alias is another name of."""
    if not isinstance(shape, Alias):
        return None
    target = shape.target.target if isinstance(shape.target, Qualified) else shape.target
    return target.name.spelling if isinstance(target, Named) else None


class Judging(NamedTuple):
    """How a history is judged: by what, who keeps the verdicts, and who is told how far it is."""

    store: Store
    by: Ruling | None
    keeper: Keeper
    progress: Progress | None


def _history(store: Store, key: LineKey, channel: str, judging: Judging) -> History:
    stored = releases_of(store, key)
    baseline_version = channels_of(store, key).get(channel)
    baseline = next((one for one in stored if one.version == baseline_version), None)
    start = stored.index(baseline) if baseline else len(stored)
    verdicts = _Verdicts(key, judging)
    rows = []
    for number, release in enumerate(stored):
        if judging.progress:
            judging.progress(f"{key.library} {release.version}", number / len(stored))
        previous = stored[number - 1] if number else None
        beside = verdicts.beside(previous, release) if previous else None
        against = verdicts.against(baseline, release) if baseline and number > start else None
        rows.append(_row(release, (previous, beside), (baseline, against)))
    kept = store.candidates(key.library, key.target, key.profile)
    return History(key, channel, baseline.version if baseline else None, tuple(rows), kept, *_ruled(judging.by))


def _ruled(by: Ruling | None) -> tuple[str, RulingFile | None, tuple[RulingFile, ...]]:
    return (by.policy.name, by.policy.file, by.suppressions.files) if by else (DEFAULT, None, ())


class _Verdicts:
    """The verdicts about a line: those that were given before, and others as they are asked for.

    Why there is none is told in its place: one release that cannot be judged leaves the others theirs.
    """

    def __init__(self, key: LineKey, judging: Judging) -> None:
        from abistore.compare.comparison import engine_digest

        self._judging = judging
        self._known = judging.store.verdict_summaries(key, engine_digest())
        self._judge = Consecutive(judging.store, judging.by)

    def beside(self, previous: Release, release: Release) -> VerdictSummary | str:
        """The verdict about a release and the one before it."""
        return self._remembered(previous, release) or self._kept(self._judge.beside(previous, release))

    def against(self, baseline: Release, release: Release) -> VerdictSummary | str:
        """The verdict about a release and the baseline."""
        return self._remembered(baseline, release) or self._kept(self._judge.against(baseline, release))

    def _remembered(self, old: Release, new: Release) -> VerdictSummary | None:
        return self._known.get((old.sequence, new.sequence, key_of(self._judging.by, old, new)))

    def _kept(self, given: StoredVerdict | str) -> VerdictSummary | str:
        if isinstance(given, str):
            return given
        self._judging.keeper.keep(given)
        return self._judging.store.summary_of(given)


Told: TypeAlias = tuple[Release | None, VerdictSummary | str | None]
"""Another release, and the verdict against it, why there is none, or nothing where none was sought."""


def _row(release: Release, beside: Told, against: Told) -> HistoryRow:
    previous, found = beside
    verdict = found if isinstance(found, VerdictSummary) else None
    baseline = against[1] if isinstance(against[1], VerdictSummary) else None
    return HistoryRow(
        release=release,
        previous=previous.version if previous else None,
        churn=verdict.churn if verdict else None,
        verdict=verdict.verdict if verdict else None,
        against_baseline=baseline.verdict if baseline else None,
        notices=verdict.notices if verdict else 0,
        unjudged=found if isinstance(found, str) else "",
        unjudged_baseline=against[1] if isinstance(against[1], str) else "",
        evidence_gap=_gap(release, beside),
        evidence_gap_baseline=_gap(release, against),
    )


def _gap(release: Release, told: Told) -> str:
    other, verdict = told
    return evidence_gap(other.evidence, release.evidence) if other and isinstance(verdict, VerdictSummary) else ""
