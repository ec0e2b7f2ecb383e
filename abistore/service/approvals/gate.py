"""What gates make of approvals: which findings are accepted where the gate stands, and which were once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from abistore.model.history import DEFAULT_PROFILE, FindingReview, Release
from abistore.model.judging.approvals import Approval, GatePlace, in_force, in_words, no_later, state_at, values
from abistore.model.judging.identity import PLACE_SIZE, canonical
from abistore.model.judging.kinds import first_name
from abistore.model.labels.blanks import check_not_blank
from abistore.model.labels.naming import channel_in
from abistore.report.model import Report, ReportedApproval, ReportedFinding, ReportedReview
from abistore.report.outline import parts_of
from abistore.service.approvals.undone import seen_with, undone_before
from abistore.service.database import Database, using

if TYPE_CHECKING:
    from abistore.store.store import Store

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
        wider = [one for called in parts_of(finding) for one in by_part.get(called, ())] if _is_open(finding) else []
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
        return replace(finding, approved=reported(holding), unapproved="")
    return replace(finding, unapproved=next(_lapses(finding, meant, said, at), ""))


def reported(one: Approval) -> ReportedApproval:
    """An approval as reports have it."""
    return ReportedApproval(
        one.approver, one.reason, one.ticket, one.scope, one.until, f"{one.approved:%Y-%m-%d}", one.origin
    )


def _means(one: Approval, finding: ReportedFinding, at: GatePlace) -> bool:
    """Whether an approval is for this finding: by its identity, or by all that was reported with it at the time."""
    if one.identity == finding.id:
        return _same_facts(one, finding)
    return "-" not in finding.id and _is_earlier(one) and parts_of(finding) <= at.seen(one)


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
            yield f"{given}, came back since {one.stood_at}, and goes again: approve again"
    for one in said:
        if one not in meant and state_at(one, at) == "holds":
            was = f" as `{one.facts.values}`" if one.facts and one.facts.values else ""
            yield f"approved on {one.approved:%Y-%m-%d}{was} by {one.approver}; {_now(one, finding)}: approve again"


def _now(one: Approval, finding: ReportedFinding) -> str:
    """What is different from what was approved: the values, or what the finding covers."""
    is_now = values(finding.old_value, finding.new_value)
    if one.facts is None or one.facts.values != is_now:
        return f"it is `{is_now}` now" if is_now else "its facts are others now"
    new = frozenset(finding.covers).difference(one.facts.covers or ())
    more = [each for each in finding.consequences if parts_of(each) <= new]
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
        return f"not approved here: {in_words(one)}, and nothing says which version this is"
    if until == "version" and not no_later(last, at.version or "", at.scheme):
        return f"not approved here: {in_words(one)}, and the scheme {at.scheme} cannot order {at.version} before that"
    return f"no longer approved: {in_words(one)}, which is over"


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
    """A report about a release of a stored library with everything that people said of its findings.

    ``old`` is what it is judged against, ``None`` where that is not stored, ``profile`` the build profile that it is
    of, and ``against`` says the first in the words of ``--against``.
    """
    side = report.new
    known = day(today), side.version, side.soname, channel_of(against), store.scheme(library)
    at = GatePlace(*known, side.target, profile, undone_before(store, old), seen_with(store))
    return reviewed(approved(report, of_library(store.approvals(), library), at), of_library(store.reviews(), library))


def of_library(said: Iterable[Said], library: str) -> tuple[Said, ...]:
    """What was said of findings of one library."""
    return tuple(one for one in said if one.library == library)


def with_approvals(
    report: Report, *, against: str | None = None, today: date | None = None, database: Database = None
) -> Report:
    """A report that was made before, with what people say of its findings by now.

    The ledger is that of the stored release on either side; a comparison of two files that nobody stored has none.
    :func:`gated` tells what becomes of a gate then.
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
    silent = {"approved": None, "unapproved": "", "review": None}
    return replace(
        report,
        changes=tuple(replace(each, **silent) for each in report.changes),
        suppressed=tuple(replace(each, **silent) for each in report.suppressed),
        unmet_approvals=(),
        approved_count=0,
        passed_by="",
    )
