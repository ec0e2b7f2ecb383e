"""Dylibs that one side re-exports and the other does not, as far as they are at hand in the release."""

from __future__ import annotations

from collections.abc import Container, Sequence

import msgspec

from abistore.compare.releases.lending import joined, lent_as
from abistore.compare.releases.release import MemberLibrary, ReleaseLibraries, asked_for
from abistore.model.labels.sonames import library_name
from abistore.model.names import EXPORTS, SELF, Name
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.symbol_versions import symbols_of
from abistore.model.tables import Library


def without_read(after: Snapshot, before: Snapshot, release: Sequence[Snapshot]) -> Snapshot:
    """``after`` without the further re-exports that are at hand: what programs find in them is known."""
    if _exports(before) <= _exports(after):
        return after
    found, left = _further(after, before, release)
    return _with_reexports(after, found, left) if found else after


def merged_back(before: Snapshot, after: Snapshot, release: Sequence[Snapshot]) -> Snapshot:
    """``before`` with all that programs found through libraries that ``after`` re-exports no longer, symbol by symbol.

    This is so where ``after`` has some of it itself. Otherwise the re-export is gone as a whole.
    """
    found, left = _further(before, after, release)
    won = _exports(after) - _exports(before)
    lent = {name: one for library in reversed(found.values()) for name, one in _all_of(library).items()}
    lent = {name: one for name, one in lent.items() if name.spelling not in _exports(before)}
    if not any(name.spelling in won for name in lent):
        return before
    return _with_reexports(joined(before, lent), found, left)


def _all_of(library: MemberLibrary) -> dict[Name, tuple[MemberLibrary, Variants]]:
    entries = library.snapshot.entries.get("symbol", {})
    return {
        name: (library, lent_as(library, name, symbols_of(shapes)))
        for name, shapes in entries.items()
        if name.kind in EXPORTS
    }


def _exports(snapshot: Snapshot) -> frozenset[str]:
    return frozenset(name.spelling for name in snapshot.entries.get("symbol", {}) if name.kind in EXPORTS)


def _reexports(snapshot: Snapshot) -> tuple[str, ...]:
    return snapshot.facts.on_macho.reexports if snapshot.facts else ()


def _further(
    side: Snapshot, other: Snapshot, release: Sequence[Snapshot]
) -> tuple[dict[str, MemberLibrary], list[str]]:
    """The libraries at hand, by path, that one side alone re-exports, itself or through others; and the others."""
    known = {library_name(each) for each in _reexports(other)}
    libraries = ReleaseLibraries([each for each in release if str(each.target) == str(side.target)])
    found: dict[str, MemberLibrary] = {}
    left: list[str] = []
    pending = [each for each in _reexports(side) if library_name(each) not in known]
    while pending:
        path = pending.pop(0)
        library = libraries.by_soname.get(asked_for(path))
        if library is None:
            left.append(path)
        elif path not in found and library.name != side.library:
            found[path] = library
            pending += _reexports(library.snapshot)
    return found, left


def _with_reexports(side: Snapshot, read: Container[str], left: Sequence[str]) -> Snapshot:
    """The side that re-exports what was not ``read``, and what is ``left`` of that."""
    facts = side.facts
    assert facts is not None
    kept = tuple(sorted({*(each for each in _reexports(side) if each not in read), *left}))
    library: Library = msgspec.structs.replace(facts, macho=msgspec.structs.replace(facts.on_macho, reexports=kept))
    entries = {**side.entries, "symbol": {**side.entries["symbol"], SELF: (library,)}}
    return msgspec.structs.replace(side, entries=entries)
