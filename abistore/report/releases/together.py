"""The reports of all files of a run in one, for formats that are one document."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from abistore.model.findings import Churn
from abistore.report.model import ReleaseLibrary, Report, Summary
from abistore.report.releases.joining import joined

NOTHING = Summary(breaking=0, api_breaks=0, risk_changes=0, compatible=0, total_changes=0)


def together(reports: Sequence[Report]) -> Report:
    """One report of several, as of a release of several libraries: its verdict and its exit code are the worst."""
    if len(reports) == 1:
        return reports[0]
    own = msgspec.structs.replace(
        max(reports, key=lambda each: each.exit_code),
        verdict="NO_CHANGE",
        changes=(),
        suppressed=(),
        not_checked=(),
        notes=(),
        declarations=(),
        advice=(),
        summary=NOTHING,
        churn=Churn(0, 0, 0),
        bump=None,
    )
    code = max(each.exit_code for each in reports)
    return msgspec.structs.replace(joined(own, [_row(each) for each in reports], reports), exit_code=code)


def _row(report: Report) -> ReleaseLibrary:
    old, new = report.old, report.new
    return ReleaseLibrary(
        new.library,
        new.target,
        "compared",
        old.soname,
        new.soname,
        old.exports,
        new.exports,
        report.verdict,
        report.summary,
        report.evidence_gap,
    )
