"""The ledger of one release: its verdict against each baseline that it is measured by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from abistore.errors import DamagedStore, Incomparable, InputError
from abistore.model.findings import Impact
from abistore.model.history import Release, StoredVerdict
from abistore.model.judging.engine import ENGINE
from abistore.model.judging.standing import BaselineRole, Ledger, Standing, channels_of_roles, worst_of
from abistore.model.names import Name
from abistore.model.words.counting import counted
from abistore.report.heading import evidence_gap
from abistore.report.outline import outline
from abistore.service.approvals.gate import day, of_library, place_between
from abistore.service.consumers.planning import allow_plan
from abistore.service.deprecations.deprecations import early_removals, moment
from abistore.service.history.history import accepted_of, bump_beside
from abistore.service.history.verdicts import given_now, key_of
from abistore.service.judging.judging import concluded
from abistore.service.judging.predecessors import before
from abistore.service.ledger.measures import Measure, measures_of, standing_here
from abistore.service.ledger.remarks import remarks
from abistore.service.since.departed import AskedRelease, DepartureFinder, Departures, last_with, needed
from abistore.service.since.stepping import Broken, StepJudge, broken_by, steps_at_once

if TYPE_CHECKING:
    from abistore.model.labels.windows import DeprecationWindow
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store

MOST_JUDGED = 500_000
"""Releases of so many declarations are judged for what they broke of the one before, where no verdict is stored."""

Keep: TypeAlias = Callable[[StoredVerdict], None]
"""What stores a verdict that was given now."""


def ledger_of(
    store: Store,
    release: Release,
    by: Ruling | None = None,
    *,
    keep: Keep | None = None,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
) -> Ledger:
    """Where a release stands: beside the previous one, the first with its SONAME, and each channel's release.

    So it does beside the releases that were the last before a break that none of these shows. Verdicts that the store
    has are not given again; others are handed to ``keep``. ``today`` decides what is approved, and ``deprecation`` for
    how long what goes must have been deprecated.
    """
    asked = PairJudge(store, by, keep)
    earlier = before(store, release)
    moves = [move for move in store.baseline_history(release.line.library) if move.line == release.line]
    most = steps_at_once(release.declarations, MOST_JUDGED)
    steps = StepJudge(store, release.line, by, most=most, keep=keep)
    measures = measures_of(release, earlier, moves)
    sought = AskedRelease(release, [each.against for each in measures], cache(partial(asked.broken, release, measures)))
    departures = DepartureFinder(store.walk(), (*earlier, release), steps).before(sought)
    left = (each for each in last_with(departures.found) if _is_needed(departures, asked(each, release), each, sought))
    found = [*measures, *(Measure(each, (BaselineRole("last_with"),)) for each in left)]
    standings = tuple(_standing(asked, each, (release, day(today)), deprecation) for each in found)
    return Ledger(
        release,
        standings,
        worst_of(each.verdict for each in standings if each.supported),
        (*remarks(store, sought, measures, departures, asked), *_unjudged(release, steps)),
        standing_here(release, moves),
    )


class PairJudge:
    """Verdicts about pairs of stored releases: remembered ones, or given now and kept. Each is looked for once."""

    def __init__(self, store: Store, by: Ruling | None, keep: Keep | None = None) -> None:
        self.store = store
        self.by = by
        self._keep = keep
        self._given: dict[tuple[Release, Release], StoredVerdict | str] = {}

    def __call__(self, old: Release, new: Release) -> StoredVerdict | str:
        """The verdict, or why there is none."""
        pair = old, new
        if pair not in self._given:
            found = self.store.find_verdict(old, new, key_of(self.by, old, new), str(ENGINE))
            self._given[pair] = found or self._judged(old, new)
        return self._given[pair]

    def broken(self, release: Release, measures: Sequence[Measure]) -> Broken:
        """What a release breaks of those that are supported, each name with the worst impact."""
        found: dict[Name, Impact] = {}
        for each in measures:
            given = self(each.against, release) if each.supported else ""
            for name, impact in broken_by(given.comparison).items() if not isinstance(given, str) else ():
                found[name] = max(impact, found.get(name, impact))
        return found

    def forget(self) -> None:
        """Let go of what was given: a long history has more than memory holds."""
        self._given.clear()

    def _judged(self, old: Release, new: Release) -> StoredVerdict | str:
        try:
            before, after = self.store.load_many([old, new])
            given = given_now(old, new, *concluded(before, after, self.by))
        except (InputError, Incomparable, DamagedStore) as error:
            return error.message
        if self._keep:
            self._keep(given)
        return given


def _is_needed(departures: Departures, given: StoredVerdict | str, last: Release, sought: AskedRelease) -> bool:
    """Whether the asked release breaks what departed with ``last``, as far as anybody can tell."""
    return isinstance(given, str) or bool(needed(departures.found, last, given.comparison, sought.known()))


def _unjudged(release: Release, steps: StepJudge) -> Iterator[str]:
    if steps.left:
        judges = f"`abistore history {release.line.library}` judges them"
        yield f"{counted(len(steps.left), 'step')} between earlier releases not judged: {judges}"


def _standing(
    asked: PairJudge, measure: Measure, at: tuple[Release, date], deprecation: DeprecationWindow | None
) -> Standing:
    (release, today), old, store = at, measure.against, asked.store
    given = asked(old, release)
    if isinstance(given, str):
        return Standing(measure.roles, old, None, given, measure.supported)
    summary = store.summary_of(given)
    count, said = 0, ""
    if summary.verdict.exit_code:
        ledger = of_library(store.approvals(), release.line.library)
        places = (place_between(store, (old, release), today, each) for each in channels_of_roles(measure.roles))
        count, said = max(
            (accepted_of(given, ledger, place) for place in places), key=lambda told: (told[1] > "", told)
        )
    plan = allow_plan(store, old, release.soname, release.provenance)
    if deprecation is not None:
        plan = replace(plan, early=early_removals(store, outline(given.comparison), old, moment(release), deprecation))
    return Standing(
        measure.roles,
        old,
        summary,
        supported=measure.supported,
        evidence_gap=evidence_gap(old.evidence, release.evidence),
        approved=count,
        passed_by=said,
        bump=bump_beside(old, release, summary, plan),
    )
