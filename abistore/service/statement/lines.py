"""What is stated of a release in one line: its bump, its exports, what was accepted, and what nobody checked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from abistore.limits import limits_for
from abistore.model.history import Release, StoredVerdict
from abistore.model.judging.deprecations import Deprecation
from abistore.model.judging.engine import ENGINE
from abistore.model.judging.standing import Ledger, Standing
from abistore.model.judging.statement import StatedApproval, StatedExport, StatedGap, StatedLine
from abistore.model.names import EXPORTS, FACETS, Name
from abistore.model.shapes import Foreign
from abistore.model.snapshot import Snapshot, evidence_of
from abistore.report.heading import LACKS, UNASKED
from abistore.report.model import ReportedFinding, every
from abistore.report.outline import outline
from abistore.service.approvals.gate import approved, of_library, place_between
from abistore.service.deprecations.deprecations import removals_of
from abistore.service.history.verdicts import VerdictKeeper, key_of
from abistore.service.spelled import display
from abistore.service.statement.sentence import decisive, previous_of

if TYPE_CHECKING:
    from abistore.model.labels.windows import DeprecationWindow
    from abistore.service.judging.ruling import Ruling
    from abistore.store.store import Store

ANY = "any"
"""Stands for every baseline."""

Exports = dict[Name, StatedExport]


class StatedFacts(NamedTuple):
    """Where the facts of a statement come from, and the day that decides which approvals hold."""

    store: Store
    keeper: VerdictKeeper
    by: Ruling | None
    today: date
    deprecation: DeprecationWindow | None = None

    def given(self, old: Release, new: Release) -> StoredVerdict | None:
        """The verdict about two releases that their ledger gave or found."""
        key = key_of(self.by, old, new)
        return self.keeper.pending(old, new) or self.store.find_verdict(old, new, key, str(ENGINE))


def stated_line(facts: StatedFacts, ledger: Ledger) -> StatedLine:
    """What is stated of the release of a ledger."""
    release = ledger.release
    previous = previous_of(ledger)
    before = _exports(facts.store, previous.against) if previous else {}
    after = _exports(facts.store, release)
    added = after.keys() - before.keys() if previous else set[Name]()
    most = decisive(ledger)
    return StatedLine(
        release.line,
        previous.against.version if previous else None,
        previous.bump if previous else None,
        most.against.version if most else None,
        most.passed_by if most else "",
        release.evidence,
        len(after),
        tuple(after[name] for name in sorted(added)),
        tuple(before[name] for name in sorted(before.keys() - after.keys())),
        tuple(each for standing in ledger.standings for each in _approvals(facts, standing, release)),
        (*_unseen(release), *(each for standing in ledger.standings for each in _gaps(facts, standing, release))),
        _removals(facts, previous, release),
    )


def _removals(facts: StatedFacts, previous: Standing | None, release: Release) -> tuple[Deprecation, ...]:
    given = facts.given(previous.against, release) if previous else None
    return removals_of(facts.store, release, outline(given.comparison), facts.deprecation) if given else ()


def _exports(store: Store, release: Release) -> Exports:
    """The exports of a release that are its own."""
    with limits_for(release.declarations << 10, f"reading the exports of {release.reference}"):
        snapshot = store.load(release)
        names = (each for each in snapshot.entries.get("symbol", {}) if each.kind in EXPORTS)
        return {name: _export(snapshot, name) for name in names if not _is_foreign(snapshot, name)}


def _export(snapshot: Snapshot, name: Name) -> StatedExport:
    shapes = (*snapshot.variants("layout", name), *snapshot.variants("source", name))
    return StatedExport(name.kind, name.spelling, display(name, shapes))


def _is_foreign(snapshot: Snapshot, name: Name) -> bool:
    return any(isinstance(shape, Foreign) for shape in snapshot.described(name))


def _approvals(facts: StatedFacts, standing: Standing, release: Release) -> Iterator[StatedApproval]:
    library, old = release.line.library, standing.against
    said = of_library(facts.store.approvals(), library)
    given = facts.given(old, release) if said else None
    if given is None:
        return
    told = list[list[StatedApproval]]()
    for channel in standing.channels:
        at = place_between(facts.store, (old, release), facts.today, channel)
        report = approved(outline(given.comparison), said, at)
        told.append([each for finding in every(report.changes) if (each := _approval(old.version, finding))])
    yield from max(told, key=lambda found: sum(each.state == "approved" for each in found))


def _approval(against: str, finding: ReportedFinding) -> StatedApproval | None:
    about = (against, finding.id, finding.kind, finding.display, finding.part)
    one = finding.approved
    if one is not None:
        until = "" if one.until is None else str(one.until)
        return StatedApproval(
            *about, "approved", one.approver, one.reason, one.ticket, one.scope, until, str(one.approved)
        )
    return StatedApproval(*about, "lapsed", said=finding.unapproved) if finding.unapproved else None


def _unseen(release: Release) -> Iterator[StatedGap]:
    """The facets that the release does not show at all: against no baseline anything of these is checked."""
    for facet in FACETS:
        seen = evidence_of(release.evidence, facet)
        if seen.state == "missing":
            why = seen.detail or LACKS.get(seen.reason) or UNASKED[facet]
            yield StatedGap(ANY, facet, "new", seen.reason or "not-requested", why, seen.hint, (), 0)


def _gaps(facts: StatedFacts, standing: Standing, release: Release) -> Iterator[StatedGap]:
    given = facts.given(standing.against, release)
    for each in outline(given.comparison).not_checked if given else ():
        yield StatedGap(
            standing.against.version,
            each.facet,
            each.side,
            each.reason,
            each.detail,
            each.hint,
            each.names,
            len(each.names),
        )
