"""Two releases judged as a whole, what only moved to another scope under one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abistore.compare.context import Context
from abistore.compare.diff.unseen import not_checked
from abistore.compare.judge.concluding import card, concluded, refuse_strangers
from abistore.compare.judge.consequences import fold
from abistore.compare.judge.findings import worst_of
from abistore.compare.judge.judged import DeclarationJudge, joined, judge_library, library_deltas
from abistore.compare.judge.modes import judge_modes
from abistore.compare.policies.applied import AppliedRuling
from abistore.compare.rule import RULES
from abistore.compare.scopes.found import aligned
from abistore.compare.side import SideFacts
from abistore.model.findings import Comparison

if TYPE_CHECKING:
    from abistore.compare.policies.ruling import Ruling
    from abistore.compare.scopes.moves import Move


def compared(context: Context, by: Ruling | None) -> Comparison:
    """What changed between two releases, of which something is known already, and what that means for consumers.

    Raises :class:`abistore.errors.Incomparable` for releases of two targets.
    """
    old, new = context.old.snapshot, context.new.snapshot
    refuse_strangers(old, new)
    context = aligned_context(context)
    ruling = AppliedRuling(context, by and by.between(old.version, new.version))
    deltas, declared = library_deltas(context), DeclarationJudge(context)
    names = {*deltas.exports, *(name for facet in declared.facets for name in context.differing[facet])}
    judged = {name: declared.judge(name, deltas.exports.get(name, ())) for name in sorted(names)}
    found = joined([judge_library(context, deltas.own), judge_modes(context), *judged.values()])
    marked = ((name, each.marks) for name, each in judged.items())
    folded = fold(ruling.judge(found), RULES, context)
    return concluded(context, ruling, folded, worst_of(found), not_checked(context, declared.facets, marked))


def aligned_context(context: Context, moves: tuple[Move, ...] | None = None) -> Context:
    """The context with the new release under the old names; the same one where no scope moved.

    What a comparison says of its sides is of what was read. ``moves`` are what moved, if that was found out already.
    """
    if context.moves:
        return context
    old, new = context.old.snapshot, context.new.snapshot
    sides = aligned(old, new, context.differing, moves)
    if not sides.moves:
        return context
    cards = context.cards or (card(old), card(new))
    later = SideFacts(sides.new)
    return Context(context.old, later, differing=sides.differing, cards=cards, moves=sides.moves)
