"""All history under another policy: judged from what is stored, and told where a verdict moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from abistore.errors import UsageError
from abistore.model.cycles import with_cycle_collection
from abistore.model.findings import Comparison, Finding
from abistore.model.history import LineKey, Release, StoredVerdict
from abistore.model.judging.identity import identified
from abistore.model.judging.standing import BaselineRole, Evaluation, MovedFinding, MovedVerdict
from abistore.service.database import Database, using
from abistore.service.history.verdicts import VerdictKeeper
from abistore.service.ledger.measures import Measure, measures_of
from abistore.service.ledger.standings import MOST_JUDGED, PairJudge
from abistore.service.listing import lines_of, releases_of
from abistore.service.since.departed import AskedRelease, DepartureFinder, last_with
from abistore.service.since.stepping import StepJudge, steps_at_once

if TYPE_CHECKING:
    from abistore.model.history import Progress
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store


def evaluate(
    library: str,
    by: Ruling,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    progress: Progress | None = None,
) -> tuple[Evaluation, ...]:
    """Each line of a library, judged by a ruling beside the strict policy: the verdicts that move, and why.

    No binary is read. The verdicts by the ruling are stored in rows of their own. Raises :class:`SnapshotNotFound`.
    """
    if by is None:
        raise UsageError("nothing to evaluate by", "give a policy or suppressions")
    with using(database) as store, VerdictKeeper(database) as keeper, with_cycle_collection():
        judges = PairJudge(store, None, keeper.keep), PairJudge(store, by, keeper.keep)
        keys = lines_of(store, library, target, profile)
        return tuple(_evaluated(store, key, judges, progress) for key in keys)


Judges: TypeAlias = tuple[PairJudge, PairJudge]
"""What judges by the strict policy, and by the other one."""


def _evaluated(store: Store, key: LineKey, judges: Judges, progress: Progress | None) -> Evaluation:
    pairs, unjudged = 0, list[str]()
    moved = list[MovedVerdict]()
    releases = releases_of(store, key)
    moves = [move for move in store.baseline_history(key.library) if move.line == key]
    steps = StepJudge(store, key, None, most=steps_at_once(max(each.declarations for each in releases), MOST_JUDGED))
    finder = DepartureFinder(store.walk(), releases, steps)
    for place, release in enumerate(releases):
        if progress:
            progress(f"{key.library} {release.version}", place / len(releases))
        for measure in _measures(finder, release, measures_of(release, releases[:place], moves), judges[0]):
            pairs += 1
            found = _beside(judges, measure.against, release)
            if isinstance(found, str):
                unjudged.append(f"{release.version} against {measure.against.version}: {found}")
            elif found.before is not found.after or found.findings:
                moved.append(msgspec.structs.replace(found, roles=measure.roles))
    by = judges[1].by
    assert by is not None
    return Evaluation(key, by.policy.name, pairs, tuple(moved), by.suppressions.files, tuple(unjudged))


def _measures(
    finder: DepartureFinder, release: Release, measures: Sequence[Measure], strict: PairJudge
) -> Iterator[Measure]:
    """The measures of a release, and the last releases before breaks that these do not show."""
    yield from measures
    covered = [each.against for each in measures]
    gone = finder.before(AskedRelease(release, covered, partial(strict.broken, release, measures))).found
    yield from (Measure(each, (BaselineRole("last_with"),)) for each in last_with(gone))


def _beside(judges: Judges, old: Release, new: Release) -> MovedVerdict | str:
    before, after = (judge(old, new) for judge in judges)
    for judge in judges:
        judge.forget()
    if isinstance(before, str) or isinstance(after, str):
        return before if isinstance(before, str) else str(after)
    return MovedVerdict(
        (),
        old.version,
        new.version,
        before.comparison.verdict,
        after.comparison.verdict,
        tuple(_moved(before, after)),
    )


def _moved(before: StoredVerdict, after: StoredVerdict) -> Iterator[MovedFinding]:
    """The findings that count otherwise, or no more, or only now."""
    first, last = (_counted(each.comparison) for each in (before, after))
    for called in sorted(first.keys() | last.keys()):
        was, now = first.get(called), last.get(called)
        finding, impacts = (now or was), (_impact(was), _impact(now))
        if finding is not None and impacts[0] != impacts[1]:
            reason = (now.reason or now.suppressed_by) if now is not None else ""
            yield MovedFinding(called, finding.kind, finding.name.spelling, finding.part, *impacts, reason or "")


def _counted(comparison: Comparison) -> dict[str, Finding]:
    """All findings by their identity; suppressed ones too, which say by what."""
    return dict(identified((*comparison.findings, *comparison.suppressed)))


def _impact(finding: Finding | None) -> str:
    if finding is None:
        return ""
    return "suppressed" if finding.suppressed_by else finding.impact.name.lower()
