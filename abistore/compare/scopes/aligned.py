"""The new side under the old side's names: a declaration that only moved is the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from abistore.compare.differing import Differing, differing
from abistore.compare.scopes.found import moves_between
from abistore.model.snapshot import Snapshot

if TYPE_CHECKING:
    from abistore.compare.scopes.moves import Move


class Aligned(msgspec.Struct, frozen=True):
    """Two sides whose names can be compared, the scopes that moved between them, and the names that differ then."""

    old: Snapshot
    new: Snapshot
    moves: tuple[Move, ...]
    differing: Differing


def aligned(old: Snapshot, new: Snapshot, known: Differing | None = None) -> Aligned:
    """Both sides, the new one with the old names of all that only moved; as they are where no scope did.

    ``known`` are the names that differ, if that was found out already.
    """
    names = known or differing(old, new)
    moves = moves_between(old, new, names)
    if not moves:
        return Aligned(old, new, (), names)
    from abistore.compare.scopes.renaming import under_old_names  # few scopes move

    renamed = under_old_names(old, new, moves)
    return Aligned(old, renamed, moves, differing(old, renamed))
