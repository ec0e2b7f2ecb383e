"""The statement of a release: one sentence, and everything that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.approvals import Deprecation
from abistore.model.decision import Decision, worst_decision
from abistore.model.declarations import EXPORTS, FACETS, Name
from abistore.model.findings import ENGINE, RulingKey
from abistore.model.history import LineKey, Release, StoredVerdict
from abistore.model.shapes import Foreign
from abistore.model.snapshot import Snapshot, evidence_of
from abistore.model.statements import (
    FoldedRelease,
    Ledger,
    ReleaseStatement,
    Standing,
    StatedApproval,
    StatedExport,
    StatedGap,
    StatedLine,
)
from abistore.model.structure import with_cycle_collection
from abistore.model.words import of_all
from abistore.report.model import ReportedFinding, every
from abistore.report.outline import LACKS, UNASKED, outline
from abistore.report.reasons import OUTCOMES
from abistore.service.approved_gates import approved, day, of_library, place_between
from abistore.service.binding import names_for, rule_for, ruled
from abistore.service.database import Database, line_target, using
from abistore.service.declarations import display
from abistore.service.ledger import folded, lines_at
from abistore.service.log import removals_of
from abistore.service.verdicts import VerdictKeeper, key_of

if TYPE_CHECKING:
    from abistore.model.versions import DeprecationWindow
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store


def previous_of(ledger: Ledger) -> Standing | None:
    """The standing beside the previous release; ``None`` for the first."""
    return next((each for each in ledger.standings if each.role == "previous"), None)


def sentence(found: FoldedRelease) -> str:
    """``FAIL: 1.9.1 removes 3 functions under the same SONAME: ...``; ``PASS: 1.9.2 does not break 1.9.1``."""
    ledgers = [row.ledger for row in found.rows if row.ledger]
    chosen = worst_decision(each.decision for each in ledgers)
    deciding = next(each for each in ledgers if each.decision == chosen)
    several = len({(each.decision.outcome, each.decision.verdict) for each in ledgers}) > 1
    where = f", on {_line(deciding.release.line, ledgers)}" if several else ""
    told = f"{OUTCOMES[found.outcome]}: {chosen.reasons[0].sentence}"
    said = chosen.headline if found.outcome == chosen.outcome else told
    return "; ".join((f"{said}{where}", *_last_step(chosen, ledgers), *_holes(found)))


def _last_step(chosen: Decision, ledgers: Sequence[Ledger]) -> Iterator[str]:
    """That no line fails beside the previous release, where it does beside an older baseline."""
    steps = [each.decision for ledger in ledgers if (each := previous_of(ledger))]
    if chosen.outcome == "pass" or not steps or chosen in steps:
        return
    worst = worst_decision(steps)
    if worst.outcome == "pass":
        yield f"compared with {worst.against.version}, the previous release: {worst.headline}"


def _line(line: LineKey, ledgers: Sequence[Ledger]) -> str:
    words = [line.target]
    if len({each.release.line.library for each in ledgers}) > 1:
        words.insert(0, line.library)
    if len({each.release.line.profile for each in ledgers}) > 1:
        words.append(line.profile)
    return " ".join(words)


def _holes(found: FoldedRelease) -> Iterator[str]:
    if found.holes:
        missing = sorted(f"{row.line.target} {row.line.profile}" for row in found.rows if row.ledger is None)
        yield f"{of_all(found.holes, len(found.rows), 'line')} missing ({', '.join(missing)})"


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
    return StatedLine(
        release.line,
        previous.against.version if previous else None,
        ledger.decision,
        previous.decision if previous else None,
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


def statement(
    reference: str,
    *,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
    by: Ruling | None = None,
    today: date | None = None,
    deprecation: DeprecationWindow | None = None,
) -> ReleaseStatement:
    """What is stated of a version of a library, by default the latest: one sentence, and everything that it rests on.

    It says the same on every day and machine, unless somebody approved something: ``today`` decides what holds.
    ``deprecation`` says for how long what a release removes must have been deprecated. Raises
    :class:`SnapshotNotFound`.
    """
    with using(database) as store, VerdictKeeper(database) as keeper, with_cycle_collection():
        meant = lines_at(store, reference, line_target(store, target), profile)
        if not any(meant.releases):
            raise SnapshotNotFound(f"{reference} is not a release of a line", f"`abistore list {meant.library}`")
        names = {name for each in meant.releases if each for name in names_for(each.line.library, each.soname)}
        when, by = day(today), ruled(rule_for(store, names), by, today)
        release = folded(store, meant, by, keep=keeper.keep, today=when, deprecation=deprecation)
        facts = StatedFacts(store, keeper, by, when, deprecation)
        lines = tuple(stated_line(facts, row.ledger) for row in release.rows if row.ledger is not None)
        return ReleaseStatement(
            meant.library,
            meant.version,
            sentence(release),
            release.verdict,
            release.outcome,
            release.exit_code,
            by.policy.name if by else RulingKey().policy,
            by.policy.file if by else None,
            by.suppressions.files if by else (),
            when if any(of_library(store.approvals(), name) for name in release.libraries) else None,
            lines,
            release,
            str(deprecation) if deprecation else "",
            str(ENGINE),
            *(by.key if by else RulingKey())[1:],
        )
