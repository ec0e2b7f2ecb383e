"""Built programs: what they ask a library for, and the part of a report that concerns them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import msgspec

from abistore.errors import UsageError
from abistore.model.declarations import EXPORTS, Name, is_number
from abistore.model.findings import VERDICT_OF, Impact, Verdict
from abistore.model.shapes import Import, Library
from abistore.model.snapshot import Snapshot, snapshot_digest
from abistore.report.model import Report, ReportedFinding, VerdictName, every
from abistore.report.releases import summary
from abistore.service.judging import judge
from abistore.service.snapshots import ExtractOptions, capture

if TYPE_CHECKING:
    from abistore.service.ruling import Ruling

DllNumber: TypeAlias = tuple[str, int]
"""The number of an export, with the name of its DLL in lower case."""


def judge_asked(old: Snapshot, new: Snapshot, by: Ruling | None, asked: Collection[DllNumber]) -> Report:
    """:func:`judge` of two snapshots, with named exports compared by number as well, where programs ask for it."""
    if not asked:
        return judge(old, new, by)
    from abistore.diffing.scopes import asked_by_number  # few programs ask for numbers

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


def _numbers(snapshot: Snapshot) -> Iterable[DllNumber]:
    for name, shapes in snapshot.entries.get("symbol", {}).items():
        for shape in shapes:
            if isinstance(shape, Import) and shape.library and _is_number(name):
                yield shape.library.lower(), int(name.spelling[1:])


def _is_number(name: Name) -> bool:
    return name.kind == "import" and is_number(Name("function", name.spelling))


def _numbered(old: Iterable[Snapshot]) -> Mapping[DllNumber, Collection[str]]:
    """What the exports of DLLs are called by the numbers that programs ask for: the number, and their name if any."""
    from abistore.diffing.scopes import exports_by_number

    return {
        (snapshot.facts.name.lower(), number): {f"#{number}", name.spelling}
        for snapshot in old
        if snapshot.target.format == "pe" and snapshot.facts and snapshot.facts.name
        for number, name in exports_by_number(snapshot).items()
    }


def _needed(snapshot: Snapshot) -> tuple[str, ...]:
    facts = snapshot.facts
    return facts.needed if isinstance(facts, Library) else ()


def for_programs(report: Report, programs: Sequence[BuiltProgram], old: Sequence[Snapshot]) -> Report:
    """The report with the findings set aside that no program meets, and the verdict of the others.

    A program meets a finding through the exports that it imports: the changed one, or one of those that the finding
    affects. What concerns the library as a whole stays. What breaks sources does not concern what is built.
    ``old`` are the old side's libraries. Raises :class:`UsageError` for a program that imports nothing of these.
    """
    exports = {name.spelling for side in old for name in side.entries.get("symbol", {}) if name.kind in EXPORTS}
    numbers = _numbered(old)
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
        summary=summary(kept),
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
