"""Comparing releases of several libraries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

from abistore.errors import EvidenceMissing, Incomparable
from abistore.limits import limits_for
from abistore.model.findings import (
    LIBRARY_NOT_GIVEN,
    NEEDED_NOT_GIVEN,
    Comparison,
    identity,
)
from abistore.model.labels import library_name
from abistore.model.snapshot import PackageRead, Provenance, Snapshot, snapshot_digest
from abistore.report.model import (
    ReleaseLibrary,
    Report,
    ReportedNotChecked,
)
from abistore.report.outline import outline
from abistore.report.releases import joined
from abistore.service.consumers import DllNumber, judge_asked
from abistore.service.decision import DecisionRequest, decided, undecided
from abistore.service.judging import EvidenceRequirement, stated
from abistore.service.kinds import kinds
from abistore.service.snapshots import ReadRelease

if TYPE_CHECKING:
    from abistore.diffing.judge.bundles import ComparedRelease
    from abistore.service.ruling import Ruling

_VERSION = re.compile(r"\d+(?:\.\d+)+[^/]*")


def said_of(library: str, version: str, old: Provenance, new: Provenance) -> tuple[str, ...]:
    """Remarks about the packages of two snapshots of a library; ``version`` is that of the new one."""
    doubts = in_doubt(f"{library} {version}".strip(), [new])
    return (*doubts, *shipping_suppressions((old, new)), *moved(library, old, new))


def shipping_suppressions(members: Iterable[Provenance]) -> Iterator[str]:
    """The remarks that packages ship suppressions, which nobody approved here: they apply where they are asked for."""
    packages = [each for each in map(_package, members) if each is not None and each.suppressions]
    for file, paths in sorted({(each.file, each.suppressions) for each in packages}):
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        yield f"{file} ships suppressions, which apply only with --suppress {file}: {paths[0]}{more}"


def in_doubt(release: str, members: Iterable[Provenance]) -> Iterator[str]:
    """Libraries of a release that nothing was compared of, as another one has their name, and what is in doubt."""
    packages = [each for each in map(_package, members) if each is not None]
    if twins := _twins(packages):
        yield f"not compared of {release}: {', '.join(twins)}; pick one with --only"
    yield from sorted({doubt for each in packages for doubt in each.doubts})


def unjudged_twins(package: str, members: Iterable[Provenance]) -> EvidenceMissing | None:
    """The error that a package holds further builds of its libraries, of which a gate judges one each."""
    twins = _twins(each for each in map(_package, members) if each is not None)
    if not twins:
        return None
    hint = "judge each: pick it with --only PATTERN; or judge without them: --require none"
    return EvidenceMissing(f"{package}: not judged: {', '.join(twins)}", hint)


def _twins(packages: Iterable[PackageRead]) -> list[str]:
    return sorted({twin for each in packages for twin in each.twins})


def moved(library: str, old: Provenance, new: Provenance) -> Iterator[str]:
    """The remark that a library moved to another folder, or to a file of another name.

    A folder that differs in a version only is the same one: ``foo-1.0/lib`` and ``foo-1.1/lib``.
    """
    before, after = _package(old), _package(new)
    if before is None or after is None or not (before.member and after.member):
        return
    places = f"{after.member}, before {before.member}; see that what asks for it finds it"
    if _folder(before) != _folder(after):
        yield f"{library} lies elsewhere: {places}"
    elif _is_called_so(before, library) and not _is_called_so(after, library):
        yield f"{library} is in a file of another name: {places}"


def _package(provenance: Provenance) -> PackageRead | None:
    return provenance.package if isinstance(provenance.package, PackageRead) else None


def _folder(package: PackageRead) -> str:
    folder = package.member.rpartition("/")[0]
    return _VERSION.sub("#", folder.replace(package.version, "#") if package.version else folder)


def _is_called_so(package: PackageRead, library: str) -> bool:
    return library_name(package.member.rpartition("/")[2]) == library


_Pair: TypeAlias = tuple[Snapshot | None, Snapshot | None]


class JudgedRelease(NamedTuple):
    """Two releases of several libraries, judged: what changed between these, and in each that both sides have."""

    old: ReadRelease
    new: ReadRelease
    pairs: tuple[_Pair, ...]
    between: Report
    libraries: tuple[Report, ...]


def judge_releases(
    old: ReadRelease, new: ReadRelease, by: Ruling | None = None, asked: Collection[DllNumber] = ()
) -> JudgedRelease:
    """Two releases, judged. Programs ask for the exports of DLLs that are ``asked`` by number.

    Raises :class:`Incomparable` for two platforms.
    """
    pairs = tuple(_pairs(old.libraries, new.libraries))
    if not any(before and after and str(before.target) == str(after.target) for before, after in pairs):
        _refuse_strangers(old, new)
    reports = (_judged((before, after), old, new, by, asked) for before, after in pairs if before and after)
    libraries = tuple(reports)
    return JudgedRelease(old, new, pairs, outline(_between(old, new, by), kinds=kinds().values()), libraries)


def report_of_release(judged: JudgedRelease) -> Report:
    """One report and one verdict about two releases."""
    old, new, pairs = judged.old, judged.new, judged.pairs
    by_name = {(each.new.library, each.new.target): each for each in judged.libraries}
    whole = joined(judged.between, [_member(*pair, new, by_name) for pair in pairs], judged.libraries)
    elsewhere = (_elsewhere(before, new) for before, after in pairs if before and not after)
    return msgspec.structs.replace(
        whole,
        not_checked=(*whole.not_checked, *(each for each in elsewhere if each is not None)),
        notes=(*whole.notes, *_said(old, new, pairs), *_stated(pairs, by_name)),
    )


def decided_release(report: Report, libraries: Sequence[Report], asked: DecisionRequest) -> Report:
    """The decision about a release: each of its ``libraries`` needs the evidence that is required."""
    report = decided(report, asked, libraries)
    lack = library_not_given(report, asked.require)
    return undecided(report, lack) if lack is not None and not report.exit_code else report


def _judged(
    sides: tuple[Snapshot, Snapshot],
    old: ReadRelease,
    new: ReadRelease,
    by: Ruling | None,
    asked: Collection[DllNumber],
) -> Report:
    """The report of one library, whose exports may have moved to another one of the release that it brings along."""
    from abistore.diffing.judge.bundles import completed
    from abistore.diffing.surface.export_table import OWNERS

    before, after = sides
    whole = completed(before, after, new.libraries)
    if before.target.format == "macho":
        from abistore.diffing.judge.bundles import merged_back, without_read

        before, whole = merged_back(before, after, old.libraries), without_read(whole, before, new.libraries)
    report = judge_asked(before, whole, by, asked)
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
    from abistore.diffing.judge.bundles import moved_to

    package = moved_to(library, new.libraries)
    if package is None:
        return None
    detail = f"{library.library} moved to {package}, which was not given: what it exports is not compared"
    hint = f"compare {library.library} with that of {package}: pick it with --only {library.library}"
    return ReportedNotChecked("symbol", "new", LIBRARY_NOT_GIVEN, detail, hint, ())


def _said(old: ReadRelease, new: ReadRelease, pairs: Iterable[_Pair]) -> Iterator[str]:
    for release in (old, new):
        label = f"{release.name} {release.version or ''}".strip()
        provenances = [each.provenance for each in release.libraries]
        yield from in_doubt(label, provenances)
        yield from shipping_suppressions(provenances)
    for before, after in pairs:
        if before and after:
            yield from moved(after.library, before.provenance, after.provenance)


def _stated(pairs: Iterable[_Pair], reports: Mapping[tuple[str, str], Report]) -> tuple[str, ...]:
    both = [(before, after) for before, after in pairs if before and after]
    told = (
        stated(reports[after.library, str(after.target)], before.provenance, after.provenance) for before, after in both
    )
    return tuple(dict.fromkeys(note for each in told for note in each))


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
    from abistore.diffing.judge.bundles import compare_releases

    weight = sum(each.weight for each in (*old.libraries, *new.libraries))
    with limits_for(weight, f"judging {new.name} against {old.name}"):
        return compare_releases(_compared(old), _compared(new), by)


def identities_between(old: Sequence[Snapshot], new: Sequence[Snapshot]) -> frozenset[str]:
    """The identities of what differs between the libraries of two releases."""
    from abistore.diffing.judge.bundles import ComparedRelease, compare_releases

    if not old or not new:
        return frozenset()
    found = compare_releases(ComparedRelease("", None, old), ComparedRelease("", None, new))
    return frozenset(identity(each).hex() for each in (*found.findings, *found.suppressed))


def _compared(release: ReadRelease) -> ComparedRelease:
    from abistore.diffing.judge.bundles import ComparedRelease

    return ComparedRelease(release.name, release.version, release.libraries)


def _member(
    old: Snapshot | None, new: Snapshot | None, release: ReadRelease, reports: Mapping[tuple[str, str], Report]
) -> ReleaseLibrary:
    """The row of a library."""
    from abistore.diffing.judge.bundles import moved_to

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
