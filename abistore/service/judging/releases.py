"""Comparing releases of several libraries: packages, and folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.errors import EvidenceMissing, Incomparable
from abistore.limits import limits_for
from abistore.model.digest import snapshot_digest
from abistore.model.findings import LIBRARY_NOT_GIVEN, NEEDED_NOT_GIVEN, Comparison, FailOn
from abistore.model.judging.bump import AllowPlan
from abistore.model.judging.identity import identity
from abistore.model.labels.sonames import library_name
from abistore.model.snapshot import Snapshot
from abistore.report.model import ReleaseLibrary, Report, ReportedNotChecked
from abistore.report.outline import outline
from abistore.report.releases.joining import joined
from abistore.service.judging.allowing import assessed, passes
from abistore.service.judging.evidence import EvidenceRequirement, lacking
from abistore.service.judging.judging import accepted, judge
from abistore.service.judging.maintainers import stated
from abistore.service.judging.places import in_doubt, moved
from abistore.service.kinds import kinds
from abistore.service.snapshots import ReadRelease

if TYPE_CHECKING:
    from abistore.compare.releases.comparison import ComparedRelease
    from abistore.service.judging.ruling import Ruling


_Pair: TypeAlias = tuple[Snapshot | None, Snapshot | None]


class SaidOfRelease(NamedTuple):
    """What people said of findings: ``member`` adds it to the report of a library, ``between`` to that of what stands
    between libraries."""

    member: Callable[[Report], Report]
    between: Callable[[Report], Report]


def judge_releases(
    old: ReadRelease,
    new: ReadRelease,
    by: Ruling | None = None,
    *,
    fail_on: FailOn = "api_break",
    require: EvidenceRequirement,
    said: SaidOfRelease | None = None,
    allow: AllowPlan | None = None,
    judging: Callable[[tuple[Snapshot, Snapshot]], Report] | None = None,
) -> Report:
    """One report and one verdict about two releases. Raises :class:`Incomparable` for two platforms.

    ``said`` tells what people said of findings, and ``judging`` judges one library, in place of :func:`judge`.
    """
    judging = judging or (lambda sides: judge(*sides, by))
    pairs = tuple(_pairs(old.libraries, new.libraries))
    if not any(before and after and str(before.target) == str(after.target) for before, after in pairs):
        _refuse_strangers(old, new)
    reports = [_judged((before, after), old, new, judging) for before, after in pairs if before and after]
    by_name = {(each.new.library, each.new.target): each for each in reports}
    members = [_member(before, after, new, by_name) for before, after in pairs]
    own = outline(_between(old, new, by), kinds=kinds().values())
    if said is not None:
        own, reports = said.between(own), list(map(said.member, reports))
    whole = joined(own, members, reports)
    elsewhere = tuple(_elsewhere(before, new) for before, after in pairs if before and not after)
    not_given = tuple(each for each in elsewhere if each is not None)
    whole = msgspec.structs.replace(
        whole,
        not_checked=(*whole.not_checked, *not_given),
        notes=(*whole.notes, *_said(old, new, pairs), *_stated(pairs, by_name)),
    )
    report, code = accepted(assessed(whole, allow), fail_on)
    if passes(report):
        report, code = msgspec.structs.replace(report, passed_by=""), 0
    lacks = [] if code else [lack for each in reports if (lack := lacking(each, require))]
    if not code and (elsewhere_lack := library_not_given(report, require)) is not None:
        lacks.append(elsewhere_lack)
    return _gated(msgspec.structs.replace(report, exit_code=code), lacks)


def _judged(
    sides: tuple[Snapshot, Snapshot],
    old: ReadRelease,
    new: ReadRelease,
    judging: Callable[[tuple[Snapshot, Snapshot]], Report],
) -> Report:
    """The report of one library, whose exports may have moved to another one of the release that it brings along."""
    from abistore.compare.consumers.runtime_names import OWNERS
    from abistore.compare.releases.lending import completed

    before, after = sides
    whole = completed(before, after, new.libraries)
    if before.target.format == "macho":
        from abistore.compare.releases.reexported import merged_back, without_read

        before, whole = merged_back(before, after, old.libraries), without_read(whole, before, new.libraries)
    report = judging((before, whole))
    if whole is not after:
        own = msgspec.structs.replace(report.new, digest=snapshot_digest(after).hex(), exports=after.exports)
        report = msgspec.structs.replace(report, new=own)
    needed = {library_name(each) for each in after.facts.needed} if after.facts else set()
    if needed <= OWNERS | {each.library for each in new.libraries}:
        known = tuple(each for each in report.not_checked if each.reason != NEEDED_NOT_GIVEN)
        report = msgspec.structs.replace(report, not_checked=known)
    return report


def library_not_given(report: Report, require: EvidenceRequirement) -> EvidenceMissing | None:
    """The error that a library moved to a package which was not given, where evidence is required."""
    told = [each for each in report.not_checked if each.reason == LIBRARY_NOT_GIVEN]
    if not told or not (require.no_less or require.facets):
        return None
    hint = f"{told[0].hint}; or judge without it: --require none"
    return EvidenceMissing(f"{report.new}: {told[0].detail}", hint)


def _elsewhere(library: Snapshot, new: ReadRelease) -> ReportedNotChecked | None:
    """That a library which moved to another package was not compared; ``None`` where it did not move."""
    from abistore.compare.releases.moving import moved_to

    package = moved_to(library, new.libraries)
    if package is None:
        return None
    detail = f"{library.library} moved to {package}, which was not given: what it exports is not compared"
    hint = f"compare {library.library} with that of {package}: pick it with --only {library.library}"
    return ReportedNotChecked("symbol", "new", LIBRARY_NOT_GIVEN, detail, hint, ())


def _said(old: ReadRelease, new: ReadRelease, pairs: Iterable[_Pair]) -> Iterator[str]:
    """Remarks about the packages of both sides."""
    for release in (old, new):
        label = f"{release.name} {release.version or ''}".strip()
        yield from in_doubt(label, [each.provenance for each in release.libraries])
    for before, after in pairs:
        if before and after:
            yield from moved(after.library, before.provenance, after.provenance)


def _stated(pairs: Iterable[_Pair], reports: Mapping[tuple[str, str], Report]) -> tuple[str, ...]:
    """What the maintainers state about each library, once for all of them."""
    both = [(before, after) for before, after in pairs if before and after]
    told = (
        stated(reports[after.library, str(after.target)], before.provenance, after.provenance) for before, after in both
    )
    return tuple(dict.fromkeys(note for each in told for note in each))


def _gated(report: Report, lacks: Sequence[EvidenceMissing]) -> Report:
    """The report, with the error of the libraries of which required evidence is missing."""
    if not lacks:
        return report
    more = f" (and of {len(lacks) - 1} more)" if len(lacks) > 1 else ""
    told = {"status": "error", "code": lacks[0].code, "error": f"{lacks[0].message}{more}", "hint": lacks[0].hint}
    return msgspec.structs.replace(report, exit_code=lacks[0].exit_code, **told)


def _pairs(old: Sequence[Snapshot], new: Sequence[Snapshot]) -> Iterator[_Pair]:
    """The libraries of both sides by name and platform, sorted; ``None`` where a side lacks one."""
    before, after = ({(each.library, str(each.target)): each for each in side} for side in (old, new))
    for key in sorted(before.keys() | after.keys()):
        yield before.get(key), after.get(key)


def _refuse_strangers(old: ReadRelease, new: ReadRelease) -> None:
    targets = [", ".join(sorted({str(each.target) for each in side.libraries})) for side in (old, new)]
    if not {str(each.target) for each in old.libraries} & {str(each.target) for each in new.libraries}:
        raise Incomparable(
            f"{old.path} is for {targets[0]} and {new.path} for {targets[1]}",
            "compare packages for the same platform",
        )


def _between(old: ReadRelease, new: ReadRelease, by: Ruling | None) -> Comparison:
    from abistore.compare.releases.comparison import compare_releases

    weight = sum(each.weight for each in (*old.libraries, *new.libraries))
    with limits_for(weight, f"judging {new.name} against {old.name}"):
        return compare_releases(_compared(old), _compared(new), by)


def identities_between(old: Sequence[Snapshot], new: Sequence[Snapshot]) -> frozenset[str]:
    """The identities of what differs between the libraries of two releases."""
    from abistore.compare.releases.comparison import ComparedRelease, compare_releases

    if not old or not new:
        return frozenset()
    found = compare_releases(ComparedRelease("", None, old), ComparedRelease("", None, new))
    return frozenset(identity(each).hex() for each in (*found.findings, *found.suppressed))


def _compared(release: ReadRelease) -> ComparedRelease:
    from abistore.compare.releases.comparison import ComparedRelease

    return ComparedRelease(release.name, release.version, release.libraries)


def _member(
    old: Snapshot | None, new: Snapshot | None, release: ReadRelease, reports: dict[tuple[str, str], Report]
) -> ReleaseLibrary:
    """The row of a library."""
    from abistore.compare.releases.moving import moved_to

    one = new or old
    assert one is not None
    report = reports.get((one.library, str(one.target)))
    state: Literal["compared", "added", "removed", "moved"] = "compared" if old and new else "added"
    if not new:
        state = "moved" if moved_to(one, release.libraries) else "removed"
    return ReleaseLibrary(
        name=one.library,
        target=str(one.target),
        state=state,
        old_soname=old.facts.name if old and old.facts else None,
        new_soname=new.facts.name if new and new.facts else None,
        old_exports=old.exports if old else None,
        new_exports=new.exports if new else None,
        verdict=report.verdict if report else None,
        summary=report.summary if report else None,
        evidence_gap=report.evidence_gap if report else "",
    )
