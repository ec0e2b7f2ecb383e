"""Two snapshots in, a judged comparison out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abistore.compare.context import Context
from abistore.compare.diff.unseen import not_checked
from abistore.compare.judge.concluding import card, concluded, refuse_strangers
from abistore.compare.judge.consequences import fold
from abistore.compare.judge.findings import worst_of
from abistore.compare.judge.judged import DeclarationJudge, joined, judge_library, library_deltas
from abistore.compare.policies.applied import AppliedRuling
from abistore.compare.rule import RULES
from abistore.compare.side import SideFacts
from abistore.model.findings import Comparison
from abistore.model.recorded.unrecorded import common_ground
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
    first, second = common_ground(old, new)
    cards = (card(old), card(new)) if first is not old or second is not new else None
    return compared(Context(SideFacts(first), SideFacts(second), differing=differing, cards=cards), by)


def compared(context: Context, by: Ruling | None) -> Comparison:
    """:func:`compare` for releases of which something is known already."""
    old, new = context.old.snapshot, context.new.snapshot
    refuse_strangers(old, new)
    ruling = AppliedRuling(context, by and by.between(old.version, new.version))
    deltas, declared = library_deltas(context), DeclarationJudge(context)
    names = {*deltas.exports, *(name for facet in declared.facets for name in context.differing[facet])}
    judged = {name: declared.judge(name, deltas.exports.get(name, ())) for name in sorted(names)}
    found = joined([judge_library(context, deltas.own), *judged.values()])
    marked = ((name, each.marks) for name, each in judged.items())
    folded = fold(ruling.judge(found), RULES, context)
    return concluded(context, ruling, folded, worst_of(found), not_checked(context, declared.facets, marked))
