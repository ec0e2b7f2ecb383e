"""Findings as answers list them: the same keys in every tool, and more of them by level of detail."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from abistore.interface import ChangeKind, ReportedFinding
from abistore.mcp.answers.answer import brief
from abistore.report.wording import approval

Level: TypeAlias = Literal["summary", "normal", "full"]
AFFECTED = {"summary": 0, "normal": 5, "full": 50}
"""How many affected exports are named."""


class ReviewItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What people said of a finding. It has no effect on the verdict."""

    state: str
    note: str
    by: str


class ChangeItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finding. ``affected`` names some of the exports through which consumers meet it, ``fix`` how to avoid it."""

    id: str
    kind: str
    symbol: str
    description: str
    impact: str
    old_value: str | None
    new_value: str | None
    source_location: str | None
    display: str = ""
    part: str = ""
    evidence: str = ""
    affected_count: int = 0
    affected: tuple[str, ...] = ()
    consequences: int = 0
    default_impact: str = ""
    reason: str = ""
    suppressed_by: str = ""
    suppression_reason: str = ""
    why: str = ""
    fix: str = ""
    review: ReviewItem | None = None
    approved: str = ""
    unapproved: str = ""


def change_item(change: ReportedFinding, level: Level, card: ChangeKind | None = None) -> ChangeItem:
    """A finding at a level of detail; ``card`` is what is known of its kind."""
    base = ChangeItem(
        id=change.id,
        kind=change.kind,
        symbol=brief(change.symbol),
        description=brief(change.description),
        impact=change.impact,
        old_value=_value(change.old_value),
        new_value=_value(change.new_value),
        source_location=_place(change.source_location),
        display=brief(change.display) if change.display != change.symbol else "",
        part=brief(change.part),
        suppressed_by=brief(change.suppressed_by),
        suppression_reason=brief(change.suppression_reason),
        approved=brief(approval(change.approved)) if change.approved else "",
        unapproved=brief(change.unapproved),
    )
    if level == "summary":
        return base
    return msgspec.structs.replace(
        base,
        evidence=change.facet,
        affected_count=change.affected_count,
        affected=tuple(map(brief, change.affected[: AFFECTED[level]])),
        consequences=len(change.consequences),
        default_impact=change.default_impact or "",
        reason=brief(change.reason),
        why=card.why if card and level == "full" else "",
        fix=card.fix if card else "",
    )


def _place(location: str | None) -> str | None:
    """Where a declaration stands: compilers may have recorded folders of the machine that built it, and no line."""
    place = location.removesuffix(":0") if location else location
    return place.rpartition("/")[2] if place and place.startswith("/") else place


def _value(value: str | None) -> str | None:
    return None if value is None else brief(value)
