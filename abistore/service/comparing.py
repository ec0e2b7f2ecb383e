"""Comparing two operands: files, stored releases, packages and folders.

Both sides are judged, and the report goes through a list of steps, each from a report to a report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.structs import replace

from abistore.model.decision import AllowPlan, AllowRule, OldAndNew
from abistore.model.findings import FailOn, Side
from abistore.model.labels import AUTO
from abistore.model.snapshot import Snapshot, distributed, loaded_as
from abistore.report.model import Report
from abistore.service.decision import DecisionRequest, check_options, compared_as, decided
from abistore.service.judging import NOTHING, EvidenceRequirement, judge, told_apart
from abistore.service.snapshots import OperandPair, ReleasePair, Selection, is_reference, operands

if TYPE_CHECKING:
    from abistore.model.history import Release
    from abistore.model.rules import BoundRule
    from abistore.service.consumers import BuiltProgram, DllNumber
    from abistore.service.database import Database
    from abistore.service.ruling import Ruling
    from abistore.store.store import Store

Step: TypeAlias = Callable[[Report], Report]

VERSION = r"(?<=[^\d.\-_])[-_.]?\d+([-_.]\d+)*$"
"""A version behind a name: ``libpng12`` and ``libpng16`` are one library, and ``libglib-1.2`` and ``libglib-2.0``."""


def strangers(report: Report) -> str:
    """The warning that the sides seem to be different libraries; empty if they may be the same.

    A file without a SONAME and without a version has only its file name, which tells nothing.
    """
    old, new = report.old, report.new
    if not (_is_named(old) and _is_named(new)) or _names(old) & _names(new):
        return ""
    return f"these libraries have different names: {_name(old)} and {_name(new)}"


def _is_named(side: Side) -> bool:
    return side.soname is not None or side.version is not None


def _name(side: Side) -> str:
    return side.soname or side.library


def _names(side: Side) -> set[str]:
    return {re.sub(VERSION, "", name.partition(".so")[0]) for name in (side.library, _name(side))}


class _Question(NamedTuple):
    """What is asked about two operands, named as ``old`` and ``new``: by which ruling, for whom, and when it fails."""

    old: str | Path
    new: str | Path
    by: Ruling | None
    programs: Sequence[BuiltProgram]
    consumers: bool
    today: date | None
    fail_on: FailOn
    require: EvidenceRequirement
    allow: AllowRule | None
    witnesses: Selection | None
    bound: BoundRule | None = None


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
    witness: bool = False,
) -> Report:
    """The judged difference of two operands; of two packages or folders, and of files with a library
    for each architecture, one report about all of their libraries.

    With ``programs``, files of what was linked with the old side, only what these meet is judged.

    With ``consumers``, each break has the stored programs that it hurts, and with ``witness`` a program that shows it.

    The exit code is the verdict's, unless ``allow`` says which releases may break.

    If a side is a stored release, its library's approvals apply, as far as they do ``today``. Raises
    :class:`Incomparable` for libraries of two platforms.
    """
    built = _read_programs(programs)
    asked = _unidentified(selection or Selection())
    wanted = asked if witness else None
    question = _Question(old, new, by, built, consumers, today, fail_on, require or NOTHING, allow, wanted)
    with operands(database, asked) as reader:
        found = reader.pair(old, new)
        if isinstance(found, ReleasePair):
            report, steps = _of_releases(question, found, reader.store if consumers else None)
        else:
            stored = found.old.release or found.new.release
            if stored is not None:
                question = _bound(question, reader.store, stored)
            report, steps = _of_libraries(question, found, reader.store if consumers or stored else None)
        for step in steps:
            report = step(report)
    return report


def _bound(question: _Question, store: Store, release: Release) -> _Question:
    """The question as what the store binds to a library makes it. Raises :class:`RuleBound` for a looser one."""
    from abistore.service.binding import names_for, rule_for, ruled  # comparisons of files need none

    rule = rule_for(store, names_for(release.line.library, release.soname))
    check_options(rule, question.fail_on, question.allow)
    return question._replace(bound=rule, by=ruled(rule, question.by, question.today))


def _of_libraries(question: _Question, found: OperandPair, store: Store | None) -> tuple[Report, Iterator[Step]]:
    sides = found.old.snapshot, found.new.snapshot
    return _judged(question, sides, store), _steps_of_libraries(question, found, sides, store)


def _steps_of_libraries(
    question: _Question, found: OperandPair, sides: tuple[Snapshot, Snapshot], store: Store | None
) -> Iterator[Step]:
    released = found.old.release or found.new.release
    if any(side.provenance.package for side in sides):
        yield partial(_with_packages, sides=sides)
    yield partial(_with_files, old=question.old, new=question.new)
    if question.programs:
        yield partial(_for_programs, programs=question.programs, old=sides[:1])
    if store is not None and released is not None:
        yield partial(_with_said, store=store, found=found, against=str(question.old), today=question.today)
    if store is not None and question.consumers:
        yield partial(_with_consumers, store=store, sides=sides)
    yield _with_strangers
    if question.witnesses is not None:
        from abistore.service.witnesses import both_sources, with_witnesses  # few ask for programs

        files = both_sources(found, (question.old, question.new), question.witnesses)
        yield partial(with_witnesses, sides=files)
    plan = None
    if question.allow:
        scheme = store.scheme(released.line.library) if store is not None and released is not None else AUTO
        plan = AllowPlan(question.allow, scheme, packages=_packages(*sides))
    asked = DecisionRequest(fail_on=question.fail_on, require=question.require, allow=plan)
    if released is not None:
        why, channel = compared_as(question.old) if is_reference(question.old) else ("release", "")
        asked = replace(asked, why=why, channel=channel, profile=released.line.profile, bound=question.bound)
    yield partial(decided, asked=asked)


def _of_releases(question: _Question, found: ReleasePair, store: Store | None) -> tuple[Report, Iterator[Step]]:
    """Two releases of several libraries, judged, and the steps that add what else is asked."""
    from abistore.service.package_comparing import judge_releases, report_of_release  # few comparisons are of packages

    if question.witnesses is not None:
        from abistore.service.witnesses import several

        raise several()
    judged = judge_releases(*found, question.by, _asked(question, store))
    libraries = judged.libraries
    if store is not None:
        both = {(new.library, str(new.target)): (old, new) for old, new in judged.pairs if old and new}
        libraries = tuple(_with_consumers(each, store, both[each.new.library, each.new.target]) for each in libraries)
    report = report_of_release(judged._replace(libraries=libraries))
    return report, _steps_of_releases(question, found, libraries)


def _steps_of_releases(question: _Question, found: ReleasePair, libraries: Sequence[Report]) -> Iterator[Step]:
    from abistore.service.package_comparing import decided_release

    yield partial(_with_files, old=question.old, new=question.new)
    if question.programs:
        yield partial(_for_programs, programs=question.programs, old=found.old.libraries)
    plan = _plan_of_release(found, question.allow) if question.allow else None
    asked = DecisionRequest(fail_on=question.fail_on, require=question.require, allow=plan)
    yield partial(decided_release, libraries=libraries, asked=asked)


def _read_programs(programs: Sequence[str | Path]) -> Sequence[BuiltProgram]:
    if not programs:
        return ()
    from abistore.service.consumers import read_program

    return [read_program(each) for each in programs]


def _asked(question: _Question, store: Store | None) -> frozenset[DllNumber]:
    """What programs ask DLLs for by number: those that were given, and those that are stored."""
    asked = {number for each in question.programs for number in each.numbers}
    if store is not None and question.consumers:
        from abistore.service.consumers import asked_numbers

        asked |= asked_numbers(store)
    return frozenset(asked)


def _judged(question: _Question, sides: tuple[Snapshot, Snapshot], store: Store | None) -> Report:
    asked = _asked(question, store)
    if not asked:
        return judge(*sides, question.by)
    from abistore.service.consumers import judge_asked  # few programs ask for numbers

    return judge_asked(*sides, question.by, asked)


def _with_packages(report: Report, *, sides: tuple[Snapshot, Snapshot]) -> Report:
    from abistore.service.judging import stated
    from abistore.service.package_comparing import said_of

    old, new = (each.provenance for each in sides)
    said = (*said_of(sides[1].library, sides[1].version or "", old, new), *stated(report, old, new))
    return replace(report, notes=(*report.notes, *said)) if said else report


def _with_files(report: Report, *, old: str | Path, new: str | Path) -> Report:
    files = told_apart(*("" if is_reference(each) else str(each) for each in (old, new)))
    first, second = (
        replace(side, file="" if side.version else file)
        for side, file in zip((report.old, report.new), files, strict=True)
    )
    return replace(report, old=first, new=second)


def _for_programs(report: Report, *, programs: Sequence[BuiltProgram], old: Sequence[Snapshot]) -> Report:
    from abistore.service.consumers import for_programs

    return for_programs(report, programs, old)


def _with_said(report: Report, *, store: Store, found: OperandPair, against: str, today: date | None) -> Report:
    """The report with what people said of findings of this library; nothing where two libraries are compared."""
    from abistore.service.approved_gates import with_said  # comparisons of files need no ledger

    old, new = found.old.release, found.new.release
    lines = [each.line for each in (new, old) if each is not None]
    if len({line.library for line in lines}) != 1:
        return report
    named = against if old is not None else None
    library, profile = lines[0].library, lines[0].profile
    return with_said(store, report, library, old=old, profile=profile, against=named, today=today)


def _with_consumers(report: Report, store: Store, sides: tuple[Snapshot, Snapshot]) -> Report:
    from abistore.service.consumers import with_consumers  # few comparisons ask for them

    return with_consumers(store, report, sides)


def _with_strangers(report: Report) -> Report:
    said = strangers(report)
    return replace(report, notes=(*report.notes, said)) if said else report


def _plan_of_release(found: ReleasePair, allow: AllowRule) -> AllowPlan:
    names = {name for each in found.new.libraries for name in loaded_as(each.provenance)}
    packages = _packages(found.old.libraries[0], found.new.libraries[0])
    return AllowPlan(allow, loaded_as=tuple(sorted(names)), packages=packages)


def _packages(old: Snapshot, new: Snapshot) -> OldAndNew:
    return OldAndNew(distributed(old.provenance), distributed(new.provenance))


def _unidentified(selection: Selection) -> Selection:
    """The selection without the digests of files: nothing that is compared here is kept."""
    return replace(selection, options=replace(selection.options, identify=False))
