"""The timeline of a line: its releases with their verdicts, as every rendering of a history has it."""

from __future__ import annotations

import msgspec

from abistore.model.findings import Churn, RulingFile, RulingKey, Verdict
from abistore.model.history import LineKey, Release
from abistore.model.judging.bump import Bump


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
    and the suppressions of the files. ``damaged``: the stored data of a release are damaged.
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
