"""Two snapshots in, a judged comparison out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abistore.compare.context import Context
from abistore.compare.judge.concluding import card
from abistore.compare.judge.whole import compared
from abistore.compare.side import SideFacts
from abistore.model.findings import Comparison
from abistore.model.recorded.unrecorded import unlike
from abistore.model.snapshot import Snapshot

if TYPE_CHECKING:
    from abistore.compare.differing import Differing
    from abistore.compare.policies.ruling import Ruling


def compare(old: Snapshot, new: Snapshot, by: Ruling | None = None, differing: Differing | None = None) -> Comparison:
    """What changed from ``old`` to ``new``, and what that means for consumers built against ``old``.

    Without a ruling each finding has the impact of its kind. Facts that one side's input never records are left out of
    both. Who knows which names are ``differing`` then can say so.

    Raises :class:`abistore.errors.Incomparable` for snapshots of two targets.
    """
    first, second = both_record(old, new)
    cards = (card(old), card(new)) if first is not old or second is not new else None
    return compared(Context(SideFacts(first), SideFacts(second), differing=differing, cards=cards), by)


def both_record(old: Snapshot, new: Snapshot) -> tuple[Snapshot, Snapshot]:
    """Both snapshots without the facts that either does not record: the same objects where there are none."""
    if not unlike(old.evidence, new.evidence):
        return old, new
    from abistore.model.recorded.common_ground import common_ground  # most inputs record the same

    return common_ground(old, new)
