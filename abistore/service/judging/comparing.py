"""Comparing two operands: files, stored releases, packages and folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.report.model import Report
from abistore.service.database import Database
from abistore.service.judging.evidence import NOTHING, EvidenceRequirement
from abistore.service.judging.judging import FailOn, gated, judge, told_apart
from abistore.service.judging.kinship import strangers
from abistore.service.operands import Selection, is_reference, operands

if TYPE_CHECKING:
    from abistore.service.judging.ruling import Ruling


def compare(
    old: str | Path,
    new: str | Path,
    *,
    database: Database = None,
    selection: Selection | None = None,
    fail_on: FailOn = "api_break",
    require: EvidenceRequirement | None = None,
    by: Ruling | None = None,
) -> Report:
    """The judged difference of two operands; of two packages or folders, one report about all of their libraries.

    Raises :class:`Incomparable` for libraries of two platforms.
    """
    with operands(database, selection) as reader:
        releases = reader.packages(old, new)
        if releases is None:
            first, second = reader.pair(old, new)
    if releases is not None:
        from abistore.service.judging.releases import judge_releases  # few comparisons are of packages

        return _named(judge_releases(*releases, by, fail_on=fail_on, require=require or NOTHING), old, new)
    report = _named(judge(first.snapshot, second.snapshot, by), old, new)
    if said := strangers(report):
        report = msgspec.structs.replace(report, notes=(*report.notes, said))
    return gated(report, fail_on, require or NOTHING)


def _named(report: Report, old: str | Path, new: str | Path) -> Report:
    """The report with the names of files on the sides that have no version."""
    files = told_apart(*("" if is_reference(each) else str(each) for each in (old, new)))
    sides = (
        msgspec.structs.replace(side, file="" if side.version else file)
        for side, file in zip((report.old, report.new), files, strict=True)
    )
    return msgspec.structs.replace(report, **dict(zip(("old", "new"), sides, strict=True)))
