"""Showing only some findings of a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from abistore.model.words.counting import counted
from abistore.report.model import Report

Filter: TypeAlias = Callable[[Report], Report]


def show_only(text: str | None) -> Filter:
    """A filter that keeps the findings which comma-separated tokens select, e.g. ``breaking,risk,functions``.

    Tokens are impacts, elements and actions. A finding must match one token of each sort that is given. Verdict, counts
    and exit code stay; a note says how many findings are hidden. Raises :class:`UsageError`.
    """
    if text is None:
        return lambda report: report
    from abistore.compare.policies.show_only import parse_show_only

    wanted = parse_show_only(text)

    def shown(report: Report) -> Report:
        findings = tuple(finding for finding in report.changes if wanted.shows(finding.kind, finding.impact))
        hidden = len(report.changes) - len(findings)
        changed = counted(len(report.changes), "change")
        remark = f"{hidden} of {changed} {'is' if hidden == 1 else 'are'} not shown: --show-only {text}"
        notes = (*report.notes, remark) if hidden else report.notes
        return msgspec.structs.replace(report, changes=findings, notes=notes)

    return shown
