"""What it would cost to say risk, and not break, where exports go from a library without debug information."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.accuracy.asking import Said
from benchmarks.accuracy.unseen import UnseenPair
from benchmarks.accuracy.unseen.answers import Binaries, Key, key

GONE = frozenset({"func_removed", "var_removed", "type_symbols_removed", "symbol_renamed_batch"})
"""The changes that say no more than that a symbol went."""


def spared(
    pairs: Sequence[UnseenPair], known: Mapping[tuple[str, str, str], Binaries], found: Mapping[Key, Said]
) -> tuple[int, int]:
    """How many true and how many false alarms rest on symbols alone that went from libraries without debug information.

    An answer keeps its first few causes only: one with another cause behind them counts as resting on symbols alone.
    """
    resting = [
        pair.breaks
        for pair in pairs
        if known[pair.library, pair.old, pair.new].stripped and _only_gone(found.get(key(pair, "abistore", "files")))
    ]
    return resting.count(True), resting.count(False)


def _only_gone(said: Said | None) -> bool:
    return bool(said and said.breaks) and {cause.split()[0] for cause in said.causes} <= GONE


def told(
    pairs: Sequence[UnseenPair], known: Mapping[tuple[str, str, str], Binaries], found: Mapping[Key, Said]
) -> Iterator[str]:
    """The count as a paragraph."""
    true, false = spared(pairs, known, found)
    yield "### What a milder verdict would cost\n"
    yield "Where a library without debug information loses exports, and headers are not given, nothing tells whether"
    yield "a header declared them. abistore says BREAKING. A risk instead (`COMPATIBLE_WITH_RISK`) would spare"
    yield f"{false} false alarms of this part and miss {true} more breaks, of {sum(pair.breaks for pair in pairs)}:"
    yield "a break that is missed costs more than one that is told in vain.\n"
