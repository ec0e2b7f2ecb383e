"""``whatif``: an edit of headers, judged against the baselines of a library before anything is built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import msgspec

from abistore.errors import SnapshotNotFound, UsageError
from abistore.extract.headers.options import HeaderOptions
from abistore.limits import limits_for
from abistore.model.cpp_names.spelling import declaration
from abistore.model.declared import Declared
from abistore.model.findings import FailOn, Verdict
from abistore.model.history import LineKey
from abistore.model.labels.blanks import Given
from abistore.model.snapshot import Snapshot, Target
from abistore.report.model import Report, VerdictName, verdict_of
from abistore.service.database import Database, line_target
from abistore.service.judging.judging import churn, exit_code, gated
from abistore.service.judging.judging import report as reported
from abistore.service.operands import Operands, Selection, is_reference, operands, os_path_exists
from abistore.service.whatif.edits import edit_of
from abistore.service.whatif.patching import read_patch

if TYPE_CHECKING:
    from abistore.compare.whatif.edited import HeaderEdit
    from abistore.compare.whatif.judging import JudgedEdit, OfferedWay
    from abistore.service.judging.ruling import Ruling


class WhatIfPlan(Given, frozen=True):
    """An edit: ``patch`` is a unified diff of the ``headers``, or a file with one; ``declarations`` are C or C++ text.

    A declaration takes the place of the one that has its name, in the headers where they are given, else in what is
    stored; a new name is added.
    """

    headers: HeaderOptions | None = None
    patch: str | Path = ""
    declarations: tuple[str, ...] = ()


class WhatIfWay(msgspec.Struct, frozen=True):
    """Another way to make the change of the declaration ``symbol``, and the verdict about it.

    ``declaration`` is what it would be then, in C or C++ with offsets.
    """

    symbol: str
    title: str
    verdict: VerdictName
    declaration: str


class WhatIfRoom(msgspec.Struct, frozen=True):
    """Where the record ``symbol`` has room; ``rooms`` are words such as ``4 bytes of padding at offset 12``."""

    symbol: str
    rooms: tuple[str, ...]


class WhatIfBaseline(msgspec.Struct, frozen=True):
    """What the edit means for programs built against one release, and for the ``channels`` that stand at it."""

    reference: str
    target: str
    profile: str
    channels: tuple[str, ...]
    report: Report
    rooms: tuple[WhatIfRoom, ...]
    ways: tuple[WhatIfWay, ...]
    unsettled: tuple[str, ...]


class WhatIf(msgspec.Struct, frozen=True):
    """An edit judged against each baseline: ``verdict`` is the worst, ``edited`` the declarations that it changes."""

    verdict: VerdictName
    exit_code: int
    edited: tuple[str, ...]
    judged: tuple[WhatIfBaseline, ...]


class _Against(msgspec.Struct, frozen=True):
    """A release, or a file, that the edit is judged against."""

    snapshot: Snapshot
    reference: str
    line: LineKey | None = None
    channels: tuple[str, ...] = ()


def whatif(
    operand: str | Path,
    plan: WhatIfPlan,
    *,
    database: Database = None,
    selection: Selection | None = None,
    fail_on: FailOn = "api_break",
    by: Ruling | None = None,
) -> WhatIf:
    """What an edit of headers would mean for programs built against a release.

    ``libfoo`` and ``libfoo@baseline`` stand for every release that a baseline of libfoo stands at, in all channels and
    lines; any other reference, and a file, for itself. Nothing is stored.

    Raises :class:`UsageError` where there is no edit, :class:`SnapshotNotFound` where no baseline is set,
    :class:`abistore.errors.PatchError` for a diff that does not apply, and what reading headers raises.
    """
    if not (plan.patch or plan.declarations):
        raise UsageError(
            "there is no edit to judge", "give --header-patch FILE.diff, or --declare 'struct foo { ... };'"
        )
    with operands(database, selection) as reader:
        against = tuple(_against(reader, operand, selection or Selection()))
    patch = read_patch(plan.patch) if isinstance(plan.patch, Path) else plan.patch
    edits: dict[Target, HeaderEdit] = {}
    judged = []
    names: set[str] = set()
    for each in against:
        target = each.snapshot.target
        headers = plan.headers.of(each.snapshot.library) if plan.headers else None
        if target not in edits or headers is None:
            edits[target] = edit_of(each.snapshot, headers, patch, plan.declarations)
        names |= {name.spelling for name in edits[target].names}
        judged.append(_judged(each, edits[target], fail_on, by))
    worst = max((verdict_of(each.report) for each in judged), default=Verdict.NO_CHANGE)
    return WhatIf(cast(VerdictName, worst.name), exit_code(worst, fail_on), tuple(sorted(names)), tuple(judged))


# --- against whom -------------------------------------------------------------------------------------------------


def _against(reader: Operands, operand: str | Path, selection: Selection) -> Iterator[_Against]:
    library = _library(operand)
    if library is None:
        found = reader.read(operand)
        release = found.release
        reference = release.reference if release else found.snapshot.label
        yield _Against(found.snapshot, reference, release.line if release else None)
        return
    wanted = line_target(reader.store, selection.target)
    standing: dict[tuple[LineKey, str], list[str]] = {}
    for move in reader.store.baselines(library):
        fits = wanted in (None, move.line.target) and selection.profile in (None, move.line.profile)
        if fits and move.version is not None:
            standing.setdefault((move.line, move.version), []).append(move.channel)
    if not standing:
        raise SnapshotNotFound(
            f"{library}: no baseline is set",
            f"set one with `abistore baseline set {library}@VERSION`, or name a release",
        )
    for (line, version), channels in sorted(standing.items()):
        release = reader.store.resolve(f"{library}@{version}", target=line.target, profile=line.profile)
        yield _Against(reader.store.load(release), release.reference, line, tuple(sorted(channels)))


def _library(operand: str | Path) -> str | None:
    """The library of which all baselines are meant; ``None`` where one release or a file is named."""
    if isinstance(operand, Path) or os_path_exists(operand):
        return None
    name, _, version = operand.partition("@")
    if version == "baseline" or not (version or is_reference(operand) or "/" in operand):
        return name
    return None


# --- judging ------------------------------------------------------------------------------------------------------


def _judged(each: _Against, edit: HeaderEdit, fail_on: FailOn, by: Ruling | None) -> WhatIfBaseline:
    from abistore.compare.whatif.judging import judge_edit

    with limits_for(4 * each.snapshot.weight, f"judging an edit against {each.reference}"):
        found = judge_edit(each.snapshot, edit, by)
        return _told(each, found, fail_on)


def _told(each: _Against, found: JudgedEdit, fail_on: FailOn) -> WhatIfBaseline:
    from abistore.compare.differing import differing

    old, new = found.sides
    report = reported(found.comparison, churn(old, new, differing(old, new)), found.sides)
    line = each.line
    return WhatIfBaseline(
        reference=each.reference,
        target=str(each.snapshot.target),
        profile=line.profile if line else "",
        channels=each.channels,
        report=gated(report, fail_on),
        rooms=tuple(WhatIfRoom(room.name.spelling, tuple(map(str, room.rooms))) for room in found.rooms),
        ways=tuple(map(_way, found.ways)),
        unsettled=tuple(name.spelling for name in found.unsettled),
    )


def _way(way: OfferedWay) -> WhatIfWay:
    after = way.sides[1]
    texts: Sequence[str] = [
        declaration(name, shape, after)
        for name in way.declared
        for shape in after.variants("source", name) or after.variants("layout", name)
        if not isinstance(shape, Declared)
    ]
    verdict = cast(VerdictName, way.comparison.verdict.name)
    return WhatIfWay(way.name.spelling, way.title, verdict, "\n".join(texts))
