"""Which C exports of the old side have another version at the end of their names on the new side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import EXPORTS, Name
from abistore.model.snapshot import Snapshot
from abistore.patterns import pattern

if TYPE_CHECKING:
    from abistore.compare.scopes.moves import Move

VERSIONED = pattern(r"(\w+?)(_[vV]?\d+(?:_\d+)*)", 0)
"""A C name with a version: ``u_init_70``, which sources get from ``u_init`` by a macro."""

Versions = Mapping[str, Mapping[str, Name]]
"""By what comes before it, the exports with each version."""


def moved_suffixes(old: Snapshot, new: Snapshot, gone: Iterable[Name], come: Iterable[Name]) -> Iterator[Move]:
    """The versions that became others, those of most names first.

    ``gone`` are names that the old side alone has, ``come`` such that the new side alone has.
    """
    from abistore.compare.scopes.moves import FEWEST, SHARE, Move  # few names come and go

    left, arrived = (
        [name for name in names if is_versioned(name) and name in side.entries.get("symbol", {})]
        for side, names in ((old, gone), (new, come))
    )
    before, after = _versioned(left), _versioned(arrived)
    found: dict[tuple[str, str], list[tuple[Name, Name]]] = {}
    for stem in before.keys() & after.keys():
        versions, others = before[stem], after[stem]
        if len(versions) == len(others) == 1:
            (first, one), (second, other) = *versions.items(), *others.items()
            found.setdefault((first, second), []).append((one, other))
    for (first, second), pairs in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(pairs) >= max(FEWEST, int(SHARE * len(left))):
            yield Move("suffix", first, second, tuple(sorted(pairs)), versioned=True)


def is_versioned(name: Name) -> bool:
    """Whether the name of a C export ends with a version."""
    return name.kind in EXPORTS and name.spelling[-1:].isdigit() and not is_mangled(name.spelling)


def _versioned(names: Iterable[Name]) -> Versions:
    found: dict[str, dict[str, Name]] = {}
    for name in names:
        match = VERSIONED.fullmatch(name.spelling)
        if match is not None:
            found.setdefault(match[1], {})[match[2]] = name
    return found
