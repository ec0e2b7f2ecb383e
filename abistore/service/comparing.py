"""Comparing two operands: files, stored releases, packages and folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.model.bump import AllowPlan, AllowRule, OldAndNew
from abistore.model.declarations import EXPORTS
from abistore.model.findings import FailOn, Side
from abistore.model.labels import AUTO
from abistore.model.snapshot import Snapshot, distributed, loaded_as
from abistore.report.model import Report
from abistore.service.database import Database, using
from abistore.service.judging import NOTHING, EvidenceRequirement, gated, judge, told_apart
from abistore.service.operands import Operand, OperandPair, ReleasePair, Selection, is_reference, operands

if TYPE_CHECKING:
    from abistore.service.package_comparing import BuiltProgram, DllNumber, SaidOfRelease
    from abistore.service.ruling import Ruling
    from abistore.service.snapshots import ReadRelease
    from abistore.store.store import Store

VERSION = r"(?<=[^\d.\-_])[-_.]?\d+([-_.]\d+)*$"
"""A version behind a name: ``libpng12`` and ``libpng16`` are one library, and ``libglib-1.2`` and ``libglib-2.0``."""


def strangers(report: Report) -> str:
    """The warning that the sides seem to be different libraries; empty if they may be the same.

    A file without a SONAME and without a version has only its file name, which tells nothing.
    """
    old, new = report.old, report.new
    if not (_is_named(old) and _is_named(new)) or _names(old) & _names(new):
        return ""
    return f"by their names these are two different libraries, {_name(old)} and {_name(new)}"


def _is_named(side: Side) -> bool:
    return side.soname is not None or side.version is not None


def _name(side: Side) -> str:
    return side.soname or side.library


def _names(side: Side) -> set[str]:
    """The library's name and the SONAME's, without versions."""
    return {re.sub(VERSION, "", name.partition(".so")[0]) for name in (side.library, _name(side))}


def compare(
    old: str | Path,
    new: str | Path,
    *,
    database: Database = None,
    selection: Selection | None = None,
    fail_on: FailOn = "api_break",
    require: EvidenceRequirement | None = None,
    by: Ruling | None = None,
    today: date | None = None,
    programs: Sequence[str | Path] = (),
    allow: AllowRule | None = None,
    consumers: bool = False,
) -> Report:
    """The judged difference of two operands; of two packages or folders, and of files with a library
    for each architecture, one report about all of their libraries.

    With ``programs``, files of what was linked with the old side, only what these meet is judged.

    With ``consumers``, each break has the stored programs that it hurts.

    The exit code is the verdict's, unless ``allow`` says which releases may break.

    If a side is a stored release, its library's approvals hold, as far as they do ``today``. Raises
    :class:`Incomparable` for libraries of two platforms.
    """
    built = _read_programs(programs)
    with operands(database, _unidentified(selection or Selection())) as reader:
        found = reader.pair(old, new)
        if isinstance(found, OperandPair):
            first, second = found
            released = first.release or second.release
            sides = first.snapshot, second.snapshot
            scheme = reader.store.scheme(released.line.library) if released else AUTO
            plan = AllowPlan(allow or "scheme", scheme, packages=_packages(*sides))
            asked = _asked(built, reader.store if consumers else None)
            report = _named(_with_packages(_judged(sides, by, asked), sides), old, new)
            report = _for_programs(report, built, [first.snapshot])
            if first.release or second.release:
                report = _with_said(reader.store, report, (first, second), str(old) if first.release else None, today)
            if consumers:
                report = _with_consumers(reader.store, report, sides)
    if isinstance(found, ReleasePair):
        from abistore.service.package_comparing import judge_releases  # few comparisons are of packages

        plan = _plan_of_release(found, allow)
        given = plan if allow else None
        with using(database) if consumers else nullcontext() as store:
            known = _known_consumers(store, *found) if store else None
            judging = partial(_judged, by=by, asked=_asked(built, store))
            report = judge_releases(
                *found, by, fail_on=fail_on, require=require or NOTHING, said=known, allow=given, judging=judging
            )
        report = _named(report, old, new)
        if not built:
            return report
        return gated(_for_programs(report, built, found.old.libraries), fail_on, require or NOTHING, given)
    if said := strangers(report):
        report = msgspec.structs.replace(report, notes=(*report.notes, said))
    return gated(report, fail_on, require or NOTHING, plan if allow else None)


def _with_packages(report: Report, sides: tuple[Snapshot, Snapshot]) -> Report:
    old, new = (each.provenance for each in sides)
    if not (old.package or new.package):
        return report
    from abistore.service.judging import stated
    from abistore.service.package_comparing import said_of

    said = (*said_of(sides[1].library, sides[1].version or "", old, new), *stated(report, old, new))
    return msgspec.structs.replace(report, notes=(*report.notes, *said)) if said else report


def _read_programs(programs: Sequence[str | Path]) -> Sequence[BuiltProgram]:
    if not programs:
        return ()
    from abistore.service.package_comparing import read_program

    return [read_program(each) for each in programs]


def _asked(programs: Sequence[BuiltProgram], store: Store | None) -> frozenset[DllNumber]:
    """What programs ask DLLs for by number: those that were given, and those that are stored."""
    asked = {number for each in programs for number in each.numbers}
    if store is not None:
        from abistore.service.consumers import asked_numbers

        asked |= asked_numbers(store)
    return frozenset(asked)


def _judged(sides: tuple[Snapshot, Snapshot], by: Ruling | None, asked: frozenset[DllNumber]) -> Report:
    if not asked:
        return judge(*sides, by)
    from abistore.service.package_comparing import judge_asked  # few programs ask for numbers

    return judge_asked(*sides, by, asked)


def _for_programs(report: Report, programs: Sequence[BuiltProgram], old: Iterable[Snapshot]) -> Report:
    if not programs:
        return report
    from abistore.service.package_comparing import for_programs, numbered

    old = tuple(old)
    exports = {name.spelling for side in old for name in side.entries.get("symbol", {}) if name.kind in EXPORTS}
    return for_programs(report, programs, exports, numbered(old))


def _with_consumers(store: Store, report: Report, sides: tuple[Snapshot, Snapshot]) -> Report:
    from abistore.service.consumers import with_consumers  # few comparisons ask for them

    return with_consumers(store, report, sides)


def _plan_of_release(found: ReleasePair, allow: AllowRule | None) -> AllowPlan:
    names = {name for each in found.new.libraries for name in loaded_as(each.provenance)}
    packages = _packages(found.old.libraries[0], found.new.libraries[0])
    return AllowPlan(allow or "scheme", loaded_as=tuple(sorted(names)), packages=packages)


def _packages(old: Snapshot, new: Snapshot) -> OldAndNew:
    """The names of the packages of a distribution that two libraries are in."""
    return OldAndNew(distributed(old.provenance), distributed(new.provenance))


def _known_consumers(store: Store, old: ReadRelease, new: ReadRelease) -> SaidOfRelease:
    """Adds the stored consumers to the report of each library of two packages."""
    from abistore.service.package_comparing import SaidOfRelease

    before, after = ({(one.library, str(one.target)): one for one in side.libraries} for side in (old, new))

    def member(report: Report) -> Report:
        sides = before[report.old.library, report.old.target], after[report.new.library, report.new.target]
        return _with_consumers(store, report, sides)

    return SaidOfRelease(member, lambda between: between)


def _with_said(
    store: Store, report: Report, sides: tuple[Operand, Operand], against: str | None, today: date | None
) -> Report:
    """The report with what people said of findings of this library; nothing where two libraries are compared."""
    from abistore.service.approved_gates import with_said  # comparisons of files need no ledger

    names = {side.release.line.library for side in sides if side.release}
    if len(names) != 1:
        return report
    old, new = (side.release for side in sides)
    profile = next(one.line.profile for one in (new, old) if one)
    return with_said(store, report, names.pop(), old=old, profile=profile, against=against, today=today)


def _unidentified(selection: Selection) -> Selection:
    """The selection without the digests of files: nothing that is compared here is kept."""
    return msgspec.structs.replace(selection, options=msgspec.structs.replace(selection.options, identify=False))


def _named(report: Report, old: str | Path, new: str | Path) -> Report:
    """The report with the names of files on the sides that have no version."""
    files = told_apart(*("" if is_reference(each) else str(each) for each in (old, new)))
    sides = (
        msgspec.structs.replace(side, file="" if side.version else file)
        for side, file in zip((report.old, report.new), files, strict=True)
    )
    return msgspec.structs.replace(report, **dict(zip(("old", "new"), sides, strict=True)))
