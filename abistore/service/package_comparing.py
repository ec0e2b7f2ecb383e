"""Comparing releases of several libraries, and the part of a report that concerns given programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, cast

import msgspec

from abistore.diffing.scopes import asked_by_number, exports_by_number
from abistore.errors import EvidenceMissing, Incomparable, UsageError
from abistore.limits import limits_for
from abistore.model.bump import AllowPlan
from abistore.model.declarations import EXPORTS, Name, is_number
from abistore.model.findings import (
    LIBRARY_NOT_GIVEN,
    NEEDED_NOT_GIVEN,
    VERDICT_OF,
    Comparison,
    FailOn,
    Impact,
    Verdict,
    identity,
)
from abistore.model.labels import library_name
from abistore.model.shapes import Import, Library
from abistore.model.snapshot import PackageRead, Provenance, Snapshot, snapshot_digest
from abistore.report.model import (
    ReleaseLibrary,
    Report,
    ReportedFinding,
    ReportedNotChecked,
    Summary,
    VerdictName,
    every,
)
from abistore.report.outline import outline
from abistore.report.releases import joined
from abistore.service.judging import EvidenceRequirement, accepted, assessed, judge, lacking, passes, stated
from abistore.service.kinds import kinds
from abistore.service.snapshots import ExtractOptions, ReadRelease, capture

if TYPE_CHECKING:
    from abistore.diffing.judge.bundles import ComparedRelease
    from abistore.service.ruling import Ruling

_VERSION = re.compile(r"\d+(?:\.\d+)+[^/]*")


def said_of(library: str, version: str, old: Provenance, new: Provenance) -> tuple[str, ...]:
    """Remarks about the packages of two snapshots of a library; ``version`` is that of the new one."""
    return (*in_doubt(f"{library} {version}".strip(), [new]), *moved(library, old, new))


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
    """The folder in the package, without what only tells its version."""
    folder = package.member.rpartition("/")[0]
    return _VERSION.sub("#", folder.replace(package.version, "#") if package.version else folder)


def _is_called_so(package: PackageRead, library: str) -> bool:
    return library_name(package.member.rpartition("/")[2]) == library


DllNumber: TypeAlias = tuple[str, int]
"""The number of an export, with the name of its DLL in lower case."""

NONE: Final[Mapping[DllNumber, Collection[str]]] = {}


class BuiltProgram(msgspec.Struct, frozen=True):
    """A program or library as the dynamic linker meets it: the symbols and the libraries that it asks for.

    ``numbers`` are the exports of DLLs that it asks for by number, each with the DLL: ``("foo.dll", 7)``.
    """

    name: str
    imports: frozenset[str]
    needed: tuple[str, ...]
    numbers: frozenset[DllNumber] = frozenset()


def read_program(path: str | Path) -> BuiltProgram:
    """The program at ``path``. Raises :class:`InputError` and its kinds."""
    snapshot = capture(path, options=ExtractOptions(layout=False, programs=True))
    numbers = frozenset(_numbers(snapshot))
    return BuiltProgram(Path(path).name, frozenset(_imports(snapshot)), _needed(snapshot), numbers)


def _imports(snapshot: Snapshot) -> Iterable[str]:
    for name, shapes in snapshot.entries.get("symbol", {}).items():
        if any(isinstance(shape, Import) for shape in shapes) and not _is_number(name):
            yield name.spelling


def judge_asked(old: Snapshot, new: Snapshot, by: Ruling | None, asked: Collection[DllNumber]) -> Report:
    """:func:`judge` of two snapshots, with named exports compared by number as well, where programs ask for it."""
    first, second = (asked_by_number(each, _of_dll(each, asked)) for each in (old, new))
    report = judge(first, second, by)
    cards = (
        msgspec.structs.replace(card, digest=snapshot_digest(side).hex(), exports=side.exports)
        for card, side in ((report.old, old), (report.new, new))
    )
    return msgspec.structs.replace(report, **dict(zip(("old", "new"), cards, strict=True)))


def _of_dll(snapshot: Snapshot, asked: Collection[DllNumber]) -> frozenset[int]:
    name = (snapshot.facts.name if snapshot.facts else None) or ""
    is_dll = snapshot.target.format == "pe"
    return frozenset(number for dll, number in asked if is_dll and dll == name.lower())


def _numbers(snapshot: Snapshot) -> Iterable[DllNumber]:
    for name, shapes in snapshot.entries.get("symbol", {}).items():
        for shape in shapes:
            if isinstance(shape, Import) and shape.library and _is_number(name):
                yield shape.library.lower(), int(name.spelling[1:])


def _is_number(name: Name) -> bool:
    return name.kind == "import" and is_number(Name("function", name.spelling))


def numbered(old: Iterable[Snapshot]) -> Mapping[DllNumber, Collection[str]]:
    """What the exports of DLLs are called by the numbers that programs ask for: the number, and their name if any."""
    return {
        (snapshot.facts.name.lower(), number): {f"#{number}", name.spelling}
        for snapshot in old
        if snapshot.target.format == "pe" and snapshot.facts and snapshot.facts.name
        for number, name in exports_by_number(snapshot).items()
    }


def _needed(snapshot: Snapshot) -> tuple[str, ...]:
    facts = snapshot.facts
    return facts.needed if isinstance(facts, Library) else ()


def for_programs(
    report: Report,
    programs: Sequence[BuiltProgram],
    exports: Collection[str],
    numbers: Mapping[DllNumber, Collection[str]] = NONE,
) -> Report:
    """The report with the findings set aside that no program meets, and the verdict of the others.

    A program meets a finding through the exports that it imports: the changed one, or one of those that the finding
    affects. What concerns the library as a whole stays. What breaks sources does not concern what is built.
    ``exports`` are the old side's, and ``numbers`` those of DLLs by number. Raises :class:`UsageError` for a program
    that imports none of these.
    """
    if not programs:
        return report
    used = [_used(program, exports, numbers, report) for program in programs]
    imports = frozenset[str]().union(*used)
    names = ", ".join(program.name for program in programs)
    kept, aside = list[ReportedFinding](), list[ReportedFinding]()
    for each in report.changes:
        (kept if is_met(each, imports) else aside).append(each)
    worst = max((VERDICT_OF[_impact(each)] for each in kept), default=Verdict.NO_CHANGE)
    count = len(imports.intersection(exports))
    note = f"judged for {names}, which import{'s' * (len(programs) == 1)} {count:,} of {len(exports):,} exports"
    return msgspec.structs.replace(
        report,
        verdict=cast(VerdictName, worst.name),
        exit_code=worst.exit_code,
        summary=_summary(kept),
        changes=tuple(kept),
        suppressed=(*report.suppressed, *(_set_aside(each, names) for each in aside)),
        suppressed_count=report.suppressed_count + len(aside),
        advice=(),
        notes=(*report.notes, note),
    )


def _used(
    program: BuiltProgram, exports: Collection[str], numbers: Mapping[DllNumber, Collection[str]], report: Report
) -> frozenset[str]:
    used = program.imports.intersection(exports).union(*(numbers.get(each, ()) for each in program.numbers))
    if used:
        return used
    linked = f"; it needs {', '.join(program.needed[:3])}" if program.needed else "; it needs no shared library"
    raise UsageError(
        f"{program.name}: imports nothing that {report.old.library} exports{linked}",
        "name a program that was linked with the old side; what it loads with dlopen cannot be told from it",
    )


def is_met(finding: ReportedFinding, imports: frozenset[str]) -> bool:
    """Whether a built program meets a finding, or what follows from it."""
    return _impact(finding) is not Impact.API_BREAK and any(_is_own(each, imports) for each in every((finding,)))


def _is_own(finding: ReportedFinding, imports: frozenset[str]) -> bool:
    if finding.subject in EXPORTS and finding.symbol:
        return finding.symbol in imports or not imports.isdisjoint(finding.affected)
    return not finding.affected or not imports.isdisjoint(finding.affected)


def _impact(finding: ReportedFinding) -> Impact:
    return Impact[finding.impact.upper()]


def _set_aside(finding: ReportedFinding, names: str) -> ReportedFinding:
    source = _impact(finding) is Impact.API_BREAK
    why = "what is built already does not meet it" if source else "imports no export through which it is met"
    return msgspec.structs.replace(finding, suppressed_by=f"--for {names}", suppression_reason=why)


def _summary(found: Sequence[ReportedFinding]) -> Summary:
    def count(impact: Impact) -> int:
        return sum(_impact(each) is impact for each in found)

    return Summary(
        breaking=count(Impact.BREAKING),
        api_breaks=count(Impact.API_BREAK),
        risk_changes=count(Impact.RISK),
        compatible=count(Impact.COMPATIBLE),
        total_changes=len(found),
    )


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
    from abistore.diffing.judge.bundles import completed
    from abistore.diffing.surface.export_table import OWNERS

    before, after = sides
    whole = completed(before, after, new.libraries)
    if before.target.format == "macho":
        from abistore.diffing.judge.bundles import merged_back, without_read

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
    from abistore.diffing.judge.bundles import moved_to

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
    old: Snapshot | None, new: Snapshot | None, release: ReadRelease, reports: dict[tuple[str, str], Report]
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
