"""Which C exports of the old side have another version at the end of their names on the new side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from abistore.compare.differing import Differing
from abistore.compare.scopes.moves import FEWEST, SHARE, Move
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import EXPORTS, Name
from abistore.model.snapshot import Snapshot
from abistore.patterns import pattern

VERSIONED = pattern(r"(\w+?)(_[vV]?\d+(?:_\d+)*)", 0)
"""A C name with a version: ``u_init_70``, which sources get from ``u_init`` by a macro."""

Versions = Mapping[str, Mapping[str, Name]]
"""By what comes before it, the exports with each version."""


def moved_suffixes(old: Snapshot, new: Snapshot, differing: Differing) -> Iterator[Move]:
    """The versions that became others, those of most names first."""
    names = [name for name in differing["symbol"] if name.kind in EXPORTS and not is_mangled(name.spelling)]
    before, after = (side.entries.get("symbol", {}) for side in (old, new))
    gone = [name for name in names if name not in after]
    come = _versioned(name for name in names if name not in before)
    found: dict[tuple[str, str], list[tuple[Name, Name]]] = {}
    for stem, versions in _versioned(gone).items():
        others = come.get(stem, {})
        if len(versions) == len(others) == 1:
            (first, one), (second, other) = *versions.items(), *others.items()
            found.setdefault((first, second), []).append((one, other))
    for (first, second), pairs in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(pairs) >= max(FEWEST, int(SHARE * len(gone))):
            yield Move("suffix", first, second, tuple(sorted(pairs)), versioned=True)


def _versioned(names: Iterable[Name]) -> Versions:
    found: dict[str, dict[str, Name]] = {}
    for name in names:
        match = VERSIONED.fullmatch(name.spelling)
        if match is not None:
            found.setdefault(match[1], {})[match[2]] = name
    return found
