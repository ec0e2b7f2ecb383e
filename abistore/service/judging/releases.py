"""Comparing releases of several libraries: packages, and folders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec

from abistore.errors import EvidenceMissing, Incomparable
from abistore.limits import limits_for
from abistore.model.digest import snapshot_digest
from abistore.model.findings import NEEDED_NOT_GIVEN, Comparison, FailOn
from abistore.model.judging.bump import AllowPlan
from abistore.model.judging.identity import identity
from abistore.model.labels.sonames import library_name
from abistore.model.snapshot import Snapshot
from abistore.report.model import ReleaseLibrary, Report
from abistore.report.outline import outline
from abistore.report.releases.joining import joined
from abistore.service.judging.allowing import assessed, passes
from abistore.service.judging.evidence import EvidenceRequirement, lacking
from abistore.service.judging.judging import accepted, judge
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
    members = [_member(before, after, by_name) for before, after in pairs]
    own = outline(_between(old, new, by), kinds=kinds().values())
    if said is not None:
        own, reports = said.between(own), list(map(said.member, reports))
    whole = joined(own, members, reports)
    whole = msgspec.structs.replace(whole, notes=(*whole.notes, *_said(old, new, pairs)))
    report, code = accepted(assessed(whole, allow), fail_on)
    if passes(report):
        report, code = msgspec.structs.replace(report, passed_by=""), 0
    lacks = () if code else [lack for each in reports if (lack := lacking(each, require))]
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


def _said(old: ReadRelease, new: ReadRelease, pairs: Iterable[_Pair]) -> Iterator[str]:
    """Remarks about the packages of both sides."""
    for release in (old, new):
        label = f"{release.name} {release.version or ''}".strip()
        yield from in_doubt(label, [each.provenance for each in release.libraries])
    for before, after in pairs:
        if before and after:
            yield from moved(after.library, before.provenance, after.provenance)


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


def _member(old: Snapshot | None, new: Snapshot | None, reports: dict[tuple[str, str], Report]) -> ReleaseLibrary:
    """The row of a library."""
    one = new or old
    assert one is not None
    report = reports.get((one.library, str(one.target)))
    return ReleaseLibrary(
        name=one.library,
        target=str(one.target),
        state="compared" if old and new else "added" if new else "removed",
        old_soname=old.facts.name if old and old.facts else None,
        new_soname=new.facts.name if new and new.facts else None,
        old_exports=old.exports if old else None,
        new_exports=new.exports if new else None,
        verdict=report.verdict if report else None,
        summary=report.summary if report else None,
        evidence_gap=report.evidence_gap if report else "",
    )
