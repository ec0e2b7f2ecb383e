"""What is stated of a release: whether it may ship, what it is compatible with, and what nobody checked."""

from __future__ import annotations

from datetime import date
from typing import Literal, TypeAlias

import msgspec

from abistore.model.findings import RulingFile, Verdict
from abistore.model.history import LineKey
from abistore.model.judging.bump import Bump
from abistore.model.judging.deprecations import Deprecation
from abistore.model.judging.standing import FoldedRelease
from abistore.model.names import Facet, Kind
from abistore.model.snapshot import Evidence

ApprovalState: TypeAlias = Literal["approved", "lapsed"]


class StatedApproval(msgspec.Struct, frozen=True):
    """A finding about a release that somebody accepted, beside one of its baselines.

    Of a ``lapsed`` one, ``said`` is why the approval does not hold for this release.
    """

    against: str
    id: str
    kind: str
    name: str
    part: str
    state: ApprovalState
    approver: str = ""
    reason: str = ""
    ticket: str = ""
    scope: str = ""
    until: str = ""
    approved: str = ""
    said: str = ""


class StatedGap(msgspec.Struct, frozen=True):
    """A facet that was not compared with a baseline: which side lacks it, why, and how to provide it.

    ``count`` is of ``names``; it is 0 where all of the facet is meant. ``against`` is ``any`` where the release
    does not show the facet, so that no baseline can be compared in it.
    """

    against: str
    facet: Facet
    side: Literal["old", "new", "both"]
    reason: str
    detail: str
    hint: str
    names: tuple[str, ...]
    count: int


class StatedExport(msgspec.Struct, frozen=True):
    """A function or a variable that only one of two releases exports."""

    kind: Kind
    symbol: str
    display: str


class StatedLine(msgspec.Struct, frozen=True):
    """A release in one line. Exports are told against ``previous``; none is new in the first release.

    ``bump`` is the step that the changes since ``previous`` require, and the one that the label declares.
    ``removals`` are the declarations that headers had, with since when they were deprecated and whether that was long
    enough. ``decided_by`` is the baseline that asks most of this line, and ``passed_by`` says who accepted what it
    breaks.
    """

    line: LineKey
    previous: str | None
    bump: Bump | None
    decided_by: str | None
    passed_by: str
    evidence: tuple[Evidence, ...]
    exports: int
    new_exports: tuple[StatedExport, ...]
    removed_exports: tuple[StatedExport, ...]
    approvals: tuple[StatedApproval, ...]
    not_checked: tuple[StatedGap, ...]
    removals: tuple[Deprecation, ...] = ()


class ReleaseStatement(msgspec.Struct, frozen=True):
    """What is stated of a version of a library, over all its lines. ``sentence`` comes first and says the answer.

    ``allowed``: every line may ship as what it says it is, or what it breaks is approved; ``None`` where a line is
    missing or was not judged, and none is refused. ``verdict`` stays what was found. ``release`` has the verdicts
    against every baseline, the holes, and what only some lines export. ``today`` decided which approvals hold; it is
    ``None`` where there are none. ``deprecation`` is the window before which nothing may be removed.
    """

    library: str
    version: str
    sentence: str
    verdict: Verdict | None
    allowed: bool | None
    policy: str
    policy_file: RulingFile | None
    suppression_files: tuple[RulingFile, ...]
    today: date | None
    lines: tuple[StatedLine, ...]
    release: FoldedRelease
    deprecation: str = ""
