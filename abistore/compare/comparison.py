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
    cards = None
    if unlike(old.evidence, new.evidence):
        from abistore.model.recorded.common_ground import common_ground  # most inputs record the same

        cards = card(old), card(new)
        old, new = common_ground(old, new)
    return compared(Context(SideFacts(old), SideFacts(new), differing=differing, cards=cards), by)
