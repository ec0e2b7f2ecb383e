"""What gates make of approvals: which findings are accepted where the gate applies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from abistore.errors import Incomparable
from abistore.model.approvals import (
    Approval,
    GatePlace,
    called_by_facts,
    in_force,
    in_words,
    never_undone,
    no_later,
    state_at,
    values,
)
from abistore.model.findings import PLACE_SIZE, canonical, identity, parts_of, with_consequences
from abistore.model.history import DEFAULT_PROFILE, FindingReview, LineKey, Release
from abistore.model.kind_names import first_name
from abistore.model.labels import check_not_blank
from abistore.model.versions import EVERY_PROFILE, channel_in
from abistore.report.model import Report, ReportedApproval, ReportedFinding, ReportedReview
from abistore.report.outline import parts_of_report
from abistore.service.database import Database, using
from abistore.service.declarations import with_deprecation_dates
from abistore.service.judging import concluded

if TYPE_CHECKING:
    from abistore.store.store import Store

MOST_SEEN = 20
"""So many stored judgements are looked at for what was reported with a finding."""


def stood_at(store: Store, library: str, target: str, profile: str) -> str:
    """The version that the lines of a library end with now, on one target and in one profile or in all."""
    last = ""
    lines = (key for key in store.lines() if key.library == library and target in {"", key.target})
    for line in sorted(key for key in lines if profile in {EVERY_PROFILE, key.profile}):
        latest = store.foremost(store.releases(library, line.target, line.profile))[-1].version
        if not last or no_later(last, latest, store.scheme(library)):
            last = latest
    return last


def undone_before(store: Store, old: Release | None) -> Callable[[Approval], bool]:
    """Tells of an approval whether its finding happened since it was given, and is undone in ``old``.

    A release has a finding where ``old``, judged as if that release came after it, shows it. Only releases beside
    which the declaration changed are judged.
    """
    if old is None or old.candidate:
        return never_undone

    @cache
    def found(earlier: Release) -> frozenset[str]:
        try:
            after, before = store.load_many([old, earlier])
            comparison, _ = concluded(after, before)
        except Incomparable:
            return frozenset()
        return frozenset(
            called
            for each in with_consequences((*comparison.findings, *comparison.suppressed))
            for called in (identity(each).hex(), *parts_of(each))
        )

    def undone(one: Approval) -> bool:
        wanted = {one.identity.partition("-")[0], *_alone(one)}
        return any(not wanted.isdisjoint(found(each)) for each in _since(store, one, old))

    return undone


def _alone(one: Approval) -> Iterator[str]:
    """The identity of what was approved without what it covers, which may have happened by itself."""
    if one.facts is not None and one.facts.covers:
        yield called_by_facts(one.facts, ())


def seen_with(store: Store) -> Callable[[Approval], frozenset[str]]:
    """Tells what was reported with a finding when it was approved, for approvals whose identity covers none of that.

    That is what stored judgements of before then have as its consequences.
    """

    @cache
    def seen(identity: str, until: datetime) -> frozenset[str]:
        found, _ = store.findings(identity, MOST_SEEN)
        told = [each.finding for each in found if each.identity == identity and each.judged <= until]
        return frozenset(called for each in with_consequences(told) for called in parts_of(each))

    return lambda one: frozenset() if one.facts and one.facts.covers is not None else seen(one.identity, one.approved)


def _since(store: Store, one: Approval, old: Release) -> Iterator[Release]:
    """The releases from where the line stood when something was approved up to ``old``, where it may have happened."""
    line, scheme = old.line, store.scheme(old.line.library)
    if not one.stood_at or one.stood_at == old.version:
        return
    ordered = store.releases(line.library, line.target, line.profile)
    versions = [each.version for each in ordered]
    if one.stood_at in versions:
        between = ordered[versions.index(one.stood_at) : versions.index(old.version)]
    else:
        before = ordered[: versions.index(old.version)]
        between = tuple(each for each in before if no_later(one.stood_at, each.version, scheme))
    changed = _changed(store, one, line)
    yield from (
        each for number, each in enumerate(between) if number == 0 or changed is None or each.version in changed
    )


def _changed(store: Store, one: Approval, line: LineKey) -> frozenset[str] | None:
    """The versions in which a declaration changed; ``None`` where the line has none of this name."""
    if one.facts is None:
        return None
    events = store.logs([one.facts.symbol], line.library).get(line, ())
    return frozenset(event.release.version for event in events) or None


Said = TypeVar("Said", Approval, FindingReview)

_DIGITS = 2 * PLACE_SIZE
_LISTED = 3


def day(today: date | None) -> date:
    """The day by which approvals expire: the one given, or this one in UTC."""
    return today or datetime.now(UTC).date()


def channel_of(against: str | None) -> str | None:
    """The channel that ``--against baseline:main`` names; ``None`` for a version or ``prev``."""
    check_not_blank("--against", against)
    return channel_in((against or "").rpartition("@")[2])


def approved(report: Report, said: Iterable[Approval], at: GatePlace) -> Report:
    """The report with what is approved of each finding, and the approvals that meet none.

    ``said`` is the library's ledger. The verdict stays as it is: a gate asks what of it is approved.
    """
    standing = in_force(tuple(said))
    if not standing:
        return report
    by_place: dict[str, list[Approval]] = {}
    for one in standing:
        by_place.setdefault(one.identity[:_DIGITS], []).append(one)
    changes = tuple(_told(each, by_place.get(each.place, ()), at) for each in report.changes)
    earlier = [one for one in standing if _is_earlier(one)]
    if earlier and any(_is_open(each) for each in changes):
        changes = tuple(_carried(changes, by_place, earlier, at))
    used = {finding.id for finding in changes if finding.approved}
    return replace(report, changes=changes, unmet_approvals=tuple(_unmet(standing, used, changes, at)))


def _carried(
    changes: Iterable[ReportedFinding],
    by_place: Mapping[str, Sequence[Approval]],
    earlier: Iterable[Approval],
    at: GatePlace,
) -> Iterator[ReportedFinding]:
    """The findings with approvals that were given for them as consequences of others."""
    by_part: dict[str, list[Approval]] = {}
    for one in earlier:
        for called in at.seen(one):
            by_part.setdefault(called, []).append(one)
    for finding in changes:
        own = by_place.get(finding.place, ())
        wider = (
            [one for called in parts_of_report(finding) for one in by_part.get(called, ())] if _is_open(finding) else []
        )
        meant = [one for one in dict.fromkeys(wider) if one not in own and _means(one, finding, at)]
        yield _told(finding, [*own, *meant], at) if meant else finding


def _is_open(finding: ReportedFinding) -> bool:
    return finding.approved is None and finding.impact in ("breaking", "api_break")


def approved_between(report: Report, said: Iterable[Approval], places: Callable[[str], Iterable[GatePlace]]) -> Report:
    """The same for what stands between the libraries of a release: the library that a finding is about has it.

    ``places`` tells where the gate stands for that library: what does not hold in one of them does not hold.
    """
    by_library: dict[str, list[Approval]] = {}
    for one in in_force(tuple(said)):
        by_library.setdefault(one.library, []).append(one)

    def told(finding: ReportedFinding) -> ReportedFinding:
        meant = [one for one in by_library.get(finding.symbol, ()) if one.identity[:_DIGITS] == finding.place]
        answers = [_told(finding, meant, at) for at in places(finding.symbol)] if meant else []
        return next((each for each in answers if not each.approved), answers[0] if answers else finding)

    return replace(report, changes=tuple(map(told, report.changes)))


def _told(finding: ReportedFinding, said: Sequence[Approval], at: GatePlace) -> ReportedFinding:
    meant = [one for one in said if _means(one, finding, at)]
    holding = next((one for one in meant if state_at(one, at) == "holds" and not at.undone(one)), None)
    if holding is not None:
        return replace(finding, approved=reported(holding), unapproved="", lapse="")
    told = next(_lapses(finding, meant, said, at), "")
    is_over = any(state_at(one, at) == "expired" for one in meant)
    return replace(finding, unapproved=told, lapse="" if not told else "expired" if is_over else "void")


def reported(one: Approval) -> ReportedApproval:
    """An approval as reports have it."""
    return ReportedApproval(
        one.approver, one.reason, one.ticket, one.scope, one.until, f"{one.approved:%Y-%m-%d}", one.origin
    )


def _means(one: Approval, finding: ReportedFinding, at: GatePlace) -> bool:
    """Whether an approval is for this finding: by its identity, or by all that was reported with it at the time."""
    if one.identity == finding.id:
        return _same_facts(one, finding)
    return "-" not in finding.id and _is_earlier(one) and parts_of_report(finding) <= at.seen(one)


def _is_earlier(one: Approval) -> bool:
    """Whether it may have been given before identities covered consequences."""
    return one.facts is None or one.facts.covers is None


def _same_facts(one: Approval, finding: ReportedFinding) -> bool:
    """Whether what was approved is what was found, by more than the digits of an identity."""
    facts = one.facts
    return facts is None or (
        first_name(facts.kind) == first_name(finding.kind)
        and (facts.subject, facts.symbol, facts.part) == (finding.subject, finding.symbol, finding.part)
        and canonical(facts.old_value) == canonical(finding.old_value)
        and canonical(facts.new_value) == canonical(finding.new_value)
        and facts.covers in (None, finding.covers)
    )


def _lapses(
    finding: ReportedFinding, meant: Sequence[Approval], said: Sequence[Approval], at: GatePlace
) -> Iterator[str]:
    """Why a finding about which something was approved is not."""
    for one in meant:
        if state_at(one, at) == "expired":
            yield _ended(one, at)
    for one in meant:
        if state_at(one, at) == "elsewhere":
            profile = f", in profile {DEFAULT_PROFILE}" if one.profile == DEFAULT_PROFILE != at.profile else ""
            yield f"not approved here: {in_words(one)}{profile} only"
    for one in meant:
        if state_at(one, at) == "holds":
            given = f"approved on {one.approved:%Y-%m-%d} by {one.approver}"
            yield f"{given}, was restored after {one.stood_at} and removed again: approve again"
    for one in said:
        if one not in meant and state_at(one, at) == "holds":
            was = f" as `{one.facts.values}`" if one.facts and one.facts.values else ""
            yield f"approved on {one.approved:%Y-%m-%d}{was} by {one.approver}; {_now(one, finding)}: approve again"


def _now(one: Approval, finding: ReportedFinding) -> str:
    """What is different from what was approved: the values, or what the finding covers."""
    is_now = values(finding.old_value, finding.new_value)
    if one.facts is None or one.facts.values != is_now:
        return f"it is `{is_now}` now" if is_now else "its facts changed"
    new = frozenset(finding.covers).difference(one.facts.covers or ())
    more = [each for each in finding.consequences if parts_of_report(each) <= new]
    if not more:
        return "it has fewer consequences now"
    shown = ", ".join(_in_words(each) for each in more[:_LISTED])
    return f"now also {shown}{f' and {len(more) - _LISTED} more' if len(more) > _LISTED else ''}"


def _in_words(finding: ReportedFinding) -> str:
    part = f": {finding.part}" if finding.part else ""
    said = values(finding.old_value, finding.new_value)
    return f"{finding.kind} of {finding.display}{part}{f' `{said}`' if said else ''}"


def _ended(one: Approval, at: GatePlace) -> str:
    """Why an approval does not hold any more, or is not known to: of a file without a version, say."""
    until, _, last = one.until.partition(":")
    if until == "version" and at.version is None:
        return f"not approved here: {in_words(one)}, and this version is unknown"
    if until == "version" and not no_later(last, at.version or "", at.scheme):
        return f"not approved here: {in_words(one)}, and the scheme {at.scheme} cannot order {at.version} before that"
    return f"no longer approved: {in_words(one)}, which has expired"


def _unmet(
    standing: Sequence[Approval], used: set[str], changes: Sequence[ReportedFinding], at: GatePlace
) -> Iterator[str]:
    """Approvals that hold here and meet no finding: what they accepted is mended, or the baseline has moved on."""
    places = {finding.place for finding in changes}
    holding = (one.identity for one in standing if state_at(one, at) == "holds")
    yield from (each for each in dict.fromkeys(holding) if each not in used and each[:_DIGITS] not in places)


def reviewed(report: Report, said: Iterable[FindingReview]) -> Report:
    """The report with what people say of each finding; no verdict and no gate depends on it."""
    last = {one.identity: one for one in said}
    if not last:
        return report
    changes, suppressed = (
        tuple(_reviewed(finding, last.get(finding.id)) for finding in each)
        for each in (report.changes, report.suppressed)
    )
    return replace(report, changes=changes, suppressed=suppressed)


def _reviewed(finding: ReportedFinding, said: FindingReview | None) -> ReportedFinding:
    if said is None or said.state == "open":
        return finding
    return replace(finding, review=ReportedReview(said.state, said.note, said.actor, f"{said.reviewed:%Y-%m-%d}"))


def place_between(store: Store, sides: tuple[Release, Release], today: date, channel: str | None) -> GatePlace:
    """Where a gate stands that judges a stored release beside another one."""
    old, new = sides
    known = today, new.version, new.soname, channel, store.scheme(new.line.library)
    return GatePlace(*known, new.line.target, new.line.profile, undone_before(store, old), seen_with(store))


def finding_with_said(store: Store, finding: ReportedFinding, old: Release, new: Release) -> ReportedFinding:
    """A finding of a stored release with what people said of it, by today's date."""
    library = new.line.library
    at = place_between(store, (old, new), day(None), None)
    said = [one for one in of_library(store.approvals(), library) if one.identity[:_DIGITS] == finding.place]
    reviews = [one for one in of_library(store.reviews(), library) if one.identity == finding.id]
    return _reviewed(_told(finding, in_force(tuple(said)), at), reviews[-1] if reviews else None)


def with_said(
    store: Store,
    report: Report,
    library: str,
    *,
    old: Release | None,
    profile: str,
    against: str | None = None,
    today: date | None = None,
) -> Report:
    """A report about a release of a stored library with all that people, and earlier releases, say of its findings.

    ``old`` is what it is judged against, ``None`` where that is not stored, ``profile`` the build profile that it is
    of, and ``against`` says the first in the words of ``--against``.
    """
    side = report.new
    known = day(today), side.version, side.soname, channel_of(against), store.scheme(library)
    at = GatePlace(*known, side.target, profile, undone_before(store, old), seen_with(store))
    if old is not None:
        report = with_deprecation_dates(store, report, old)
    return reviewed(approved(report, of_library(store.approvals(), library), at), of_library(store.reviews(), library))


def of_library(said: Iterable[Said], library: str) -> tuple[Said, ...]:
    """What was said of findings of one library."""
    return tuple(one for one in said if one.library == library)


def with_approvals(
    report: Report, *, against: str | None = None, today: date | None = None, database: Database = None
) -> Report:
    """A report that was made before, with what people say of its findings by now.

    The ledger is that of the stored release on either side; a comparison of two files that nobody stored has none.
    :func:`abistore.service.decision.decided` tells what becomes of a gate then.
    """
    bare = without_said(report)
    with using(database) as store, store.reading():
        before, after = (store.of_digest(side.digest) for side in (report.old, report.new))
        names = {one.line.library for one in (*before, *after)}
        wanted = names & {report.new.library} or names
        if len(wanted) != 1:
            return bare
        library = wanted.pop()
        old, new = (
            next((one for one in stored if (one.line.library, one.version) == (library, side.version)), None)
            for stored, side in ((before, report.old), (after, report.new))
        )
        profile = next((one.line.profile for one in (new, old) if one is not None), DEFAULT_PROFILE)
        return with_said(store, bare, library, old=old, profile=profile, against=against, today=today)


def without_said(report: Report) -> Report:
    """The report as it was judged, without what people said of its findings."""
    silent = {"approved": None, "unapproved": "", "lapse": "", "review": None}
    return replace(
        report,
        changes=tuple(replace(each, **silent) for each in report.changes),
        suppressed=tuple(replace(each, **silent) for each in report.suppressed),
        unmet_approvals=(),
        decision=None,
    )
