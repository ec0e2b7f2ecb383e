"""Scopes that are called otherwise on the new side, and that side under the old names."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import msgspec

from abistore.compare.differing import Differing, differing
from abistore.compare.scopes.numbers import named_numbers
from abistore.compare.scopes.suffixes import is_versioned, moved_suffixes
from abistore.model.mangling.symbols import may_be_nested
from abistore.model.names import Name, is_number
from abistore.model.snapshot import Snapshot

if TYPE_CHECKING:
    from abistore.compare.scopes.moves import Move


class Aligned(msgspec.Struct, frozen=True):
    """Two sides whose names can be compared, the scopes that moved between them, and the names that differ then."""

    old: Snapshot
    new: Snapshot
    moves: tuple[Move, ...]
    differing: Differing


def may_move(name: Name) -> bool:
    """Whether a name is of those that moves are looked for among."""
    return may_be_nested(name.spelling) or is_versioned(name) or is_number(name)


def moves_between(old: Snapshot, new: Snapshot, differing: Differing) -> tuple[Move, ...]:
    """The moves from one side to the other. Each name is in one at most.

    ``differing`` are the names that the two sides show in different ways.
    """
    names = {name for each in differing.values() for name in each if may_move(name)}
    return moves_of(
        old, new, {each for each in names if not new.has(each)}, {each for each in names if not old.has(each)}
    )


def moves_of(old: Snapshot, new: Snapshot, gone: Collection[Name], come: Collection[Name]) -> tuple[Move, ...]:
    """The same, where it is known which names that may move the old side alone has, and which the new one alone."""
    named = tuple(named_numbers(old, new, gone))
    if not gone or not come:
        return named
    from abistore.compare.scopes.moves import moved_scopes  # few names that may move come and go

    return (*moved_scopes(old, new, gone, come), *moved_suffixes(old, new, gone, come), *named)


def aligned(
    old: Snapshot, new: Snapshot, known: Differing | None = None, moves: tuple[Move, ...] | None = None
) -> Aligned:
    """Both sides, the new one with the old names of all that only moved; as they are where no scope did.

    ``known`` are the names that differ, and ``moves`` what moved, if that was found out already.
    """
    names = known or differing(old, new)
    moves = moves_between(old, new, names) if moves is None else moves
    if not moves:
        return Aligned(old, new, (), names)
    from abistore.compare.scopes.renaming import under_old_names  # few scopes move

    renamed = under_old_names(old, new, moves)
    return Aligned(old, renamed, moves, differing(old, renamed))
