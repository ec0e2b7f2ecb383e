"""The finding that the first digits of an identity mean."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.history import Sighting
from abistore.model.judging.identity import is_whole

if TYPE_CHECKING:
    from abistore.store.store import Store

SHOWN = 10
"""How many findings are shown: a declaration that changes in every release has one place and many findings."""


class MeantFinding(NamedTuple):
    """The finding that digits mean, in a library; ``sighting`` is ``None`` where no stored comparison has it."""

    library: str
    identity: str
    sighting: Sighting | None


def unknown(store: Store, digits: str, more: str = "") -> SnapshotNotFound:
    """The error for digits that mean no finding of this store's own comparisons."""
    if sides := store.found_elsewhere(digits):
        old, new = sides
        asked = f"`abistore verdict {quote(f'{new.line.library}@{new.version}')} --against {quote(old.version)}`"
        return SnapshotNotFound(
            f"no comparison of this store has a finding {digits}: a verdict that another store brought has",
            f"{asked} judges here{more}",
        )
    return SnapshotNotFound(
        f"no stored comparison has a finding {digits}", f"`abistore verdict REFERENCE -v` shows identities{more}"
    )


def meant(store: Store, digits: str, library: str | None) -> MeantFinding:
    """The one finding whose identity begins with ``digits``. A whole one of a named library need not be stored.

    Raises :class:`SnapshotNotFound`, :class:`UsageError`.
    """
    sightings, more = store.findings(digits, SHOWN)
    found = {(one.new.line.library, one.identity): one for one in reversed(sightings)}
    found = {key: one for key, one in found.items() if library in {None, key[0]}}
    if library is not None and is_whole(digits):
        return MeantFinding(library, digits, found.get((library, digits)))
    if len(found) == 1 and not more:
        ((where, whole),) = found
        return MeantFinding(where, whole, found[where, whole])
    if not found:
        raise unknown(store, digits, "; a whole one needs --library only")
    listed = ", ".join(f"{whole} of {where}" for where, whole in sorted(found)[:3])
    raise UsageError(f"{digits}: several findings begin so", f"give more digits, or --library: {listed}")
