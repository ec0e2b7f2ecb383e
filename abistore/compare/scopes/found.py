"""Everything that is called otherwise as a whole on the new side."""

from __future__ import annotations

from abistore.compare.differing import Differing
from abistore.compare.scopes.moves import Move, moved_scopes
from abistore.compare.scopes.suffixes import moved_suffixes
from abistore.model.snapshot import Snapshot


def moves_between(old: Snapshot, new: Snapshot, differing: Differing) -> tuple[Move, ...]:
    """The moves from one side to the other. Each name is in one at most.

    ``differing`` are the names that the two sides show in different ways.
    """
    return (*moved_scopes(old, new, differing), *moved_suffixes(old, new, differing))
