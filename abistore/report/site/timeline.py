"""The timeline of a line: its releases with their verdicts, as every rendering of a history has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from abistore.model.findings import Churn, RulingFile, RulingKey, Verdict
from abistore.model.history import LineKey, Release
from abistore.model.judging.bump import Bump
from abistore.model.judging.standing import worst_of


class HistoryRow(msgspec.Struct, frozen=True):
    """One release, compared with the one before it and with the baseline.

    ``churn``, ``verdict`` and ``notices`` (how many findings count in no verdict) are against ``previous``; the first
    release has none. ``against_baseline`` is ``None`` for releases before the baseline, and without a baseline.
    ``unjudged`` and ``unjudged_baseline`` say why a verdict is missing. ``evidence_gap`` and ``evidence_gap_baseline``
    say what a verdict does not cover because one side shows less than the other. ``approved`` and ``approved_baseline``
    count the findings that would fail a gate and are approved; ``passed_by`` and ``passed_by_baseline`` say by whom,
    why and until when, if a gate would pass for that. The verdict stays. ``bump`` says whether the release is allowed
    beside ``previous``, by what the line's scheme promises; ``None`` without a verdict.
    """

    release: Release
    previous: str | None
    churn: Churn | None
    verdict: Verdict | None
    against_baseline: Verdict | None
    notices: int = 0
    unjudged: str = ""
    unjudged_baseline: str = ""
    evidence_gap: str = ""
    evidence_gap_baseline: str = ""
    approved: int = 0
    passed_by: str = ""
    approved_baseline: int = 0
    passed_by_baseline: str = ""
    bump: Bump | None = None


class History(msgspec.Struct, frozen=True):
    """One line's releases in release order, oldest first; ``baseline`` is the version in the channel asked for.

    ``candidates`` failed their gate and were kept; no release is judged against them. The verdicts are by ``policy``
    and the suppressions of the files. ``damaged``: the stored data of a release are damaged. ``remarks`` are sentences
    about several releases: a break that no single step shows, and what a release restores. ``pending`` says what the
    builds that stand after the last release ask of the next one.
    """

    line: LineKey
    channel: str
    baseline: str | None
    rows: tuple[HistoryRow, ...]
    candidates: tuple[Release, ...] = ()
    policy: str = RulingKey().policy
    policy_file: RulingFile | None = None
    suppression_files: tuple[RulingFile, ...] = ()
    damaged: bool = False
    remarks: tuple[str, ...] = ()
    pending: str = ""

    @property
    def said(self) -> tuple[str, ...]:
        """The sentences about several releases."""
        return (*self.remarks, *([f"pending: {self.pending}"] if self.pending else []))


class FoldedRow(msgspec.Struct, frozen=True):
    """A version over all lines of a library: the worst verdict against the previous releases.

    ``None`` where no line has one, and where a line that is missing (a hole) or not judged may break.
    """

    version: str
    verdict: Verdict | None
    worst_in: tuple[LineKey, ...] = ()
    holes: tuple[LineKey, ...] = ()


def fold(histories: Sequence[History]) -> tuple[FoldedRow, ...]:
    """The versions of all lines of a library, in release order; empty for a library with one line."""
    if len(histories) < 2:
        return ()
    known: dict[str, dict[LineKey, HistoryRow]] = {}
    for history in histories:
        for row in history.rows:
            known.setdefault(row.release.version, {})[history.line] = row
    judged = {version for version, rows in known.items() if any(row.previous is not None for row in rows.values())}
    every = (_folded(version, known[version], histories) for version in _in_order(histories))
    return tuple(row for row in every if row.holes or row.version in judged)


def _in_order(histories: Sequence[History]) -> list[str]:
    """All versions, so that each line's own order holds; where lines do not tell, the earlier ingested comes first."""
    left = [[row.release for row in history.rows] for history in histories]
    found: list[str] = []
    while any(left):
        heads = [line[0] for line in left if line]
        free = [one for one in heads if not any(one.version in {each.version for each in line[1:]} for line in left)]
        version = min(free or heads, key=lambda one: (one.ingested, one.version)).version
        found.append(version)
        left = [[each for each in line if each.version != version] for line in left]
    return found


def _folded(version: str, rows: Mapping[LineKey, HistoryRow], histories: Sequence[History]) -> FoldedRow:
    holes = tuple(history.line for history in histories if history.line not in rows)
    begun = {line: row for line, row in rows.items() if row.previous is not None}
    verdict = worst_of([row.verdict for row in begun.values()] + [None] * len(holes))
    worst_in = tuple(line for line, row in begun.items() if verdict is not None and row.verdict is verdict)
    return FoldedRow(version, verdict, worst_in, holes)
