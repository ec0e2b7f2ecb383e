"""The exports and the types of a release, each with the release since which it is there, and is as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import msgspec

from abistore.limits import limits_for
from abistore.model.cycles import without_cycle_collection
from abistore.model.history import Release
from abistore.model.labels.blanks import check_not_blank
from abistore.model.names import EXPORTS, TYPES, Facet, Name
from abistore.model.shapes import Foreign
from abistore.model.snapshot import Snapshot
from abistore.model.tables import Symbol
from abistore.service.database import Database, line_target, using
from abistore.service.listing import place_of, releases_of
from abistore.service.spelled import display

if TYPE_CHECKING:
    from abistore.store.history.lifetimes import Lifetime
    from abistore.store.store import Store


class InventoryItem(msgspec.Struct, frozen=True):
    """An export or a type of a release.

    ``since`` is the release from which on it is there without a gap, ``changed`` the last one in which anything of it
    differs from the release before. ``first_stored``: ``since`` is the oldest release of the line, so that nobody knows
    whether it was there before. ``symbol_version`` is what a new link of an export binds to.
    """

    name: Name
    display: str
    since: str
    changed: str
    first_stored: bool = False
    symbol_version: str | None = None


class Inventory(msgspec.Struct, frozen=True):
    """The exports or types of a release that a pattern allows, by name; ``of`` counts all of them."""

    release: Release
    items: tuple[InventoryItem, ...]
    of: int


def exports(
    reference: str,
    pattern: str | None = None,
    *,
    regex: bool = False,
    since: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> Inventory:
    """The exported functions and variables of a release, or of the latest one of a library.

    ``pattern`` is of the name in the source or of the symbol: a glob (``geo::*``), or a regular expression that is
    found anywhere in it. With ``since``, a version, only what came with that release or later. Raises
    :class:`SnapshotNotFound`, and :class:`UsageError` for a version that the line does not have.
    """
    with using(database) as store, store.reading():
        meant = in_line(store, reference, target, profile)
        return _inventory(store, meant, (EXPORTS, ("symbol",)), _matcher(pattern, regex), since)


def types(
    reference: str,
    pattern: str | None = None,
    *,
    regex: bool = False,
    since: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> Inventory:
    """The types that a release, or the latest one of a library, describes: those that exports or headers mention.

    Types of the standard library are left out. ``pattern``, ``since`` and errors are as for
    :func:`exports`.
    """
    with using(database) as store, store.reading():
        meant = in_line(store, reference, target, profile)
        return _inventory(store, meant, (TYPES, ("layout", "source")), _matcher(pattern, regex), since)


def in_line(store: Store, reference: str, target: str | None, profile: str | None) -> tuple[Release, Sequence[Release]]:
    """The release that a reference means, and all of its line in release order."""
    keys = [key for key in store.lines() if key.library == reference and profile in {None, key.profile}]
    platform = line_target(store, target)
    of_library = [key for key in keys if platform in {None, key.target}]
    if len(of_library) == 1:
        ordered = releases_of(store, of_library[0])
        return store.foremost(ordered)[-1], ordered
    release = released(store, reference, target, profile)
    return release, releases_of(store, release.line)


def released(store: Store, reference: str, target: str | None, profile: str | None) -> Release:
    """The release that a reference means; of a library that is the latest one."""
    library = any(key.library == reference for key in store.lines())
    wanted = f"{reference}@latest" if library or ("@" not in reference and not _is_digest(reference)) else reference
    return store.resolve(wanted, target=line_target(store, target), profile=profile)


def _is_digest(reference: str) -> bool:
    return len(reference) >= 6 and not set(reference) - set("0123456789abcdef")


Kinds = tuple[tuple[str, ...], tuple[Facet, ...]]
"""Kinds of names, and the facets that show that one of these is there."""


def _inventory(
    store: Store,
    meant: tuple[Release, Sequence[Release]],
    kinds: Kinds,
    matches: Callable[[str], bool],
    since: str | None,
) -> Inventory:
    release, ordered = meant
    first = place_of(ordered, since) if since is not None else 0
    with limits_for(release.declarations << 12, f"listing {release.reference}"), without_cycle_collection():
        walk = store.walk()
        snapshot = walk.step(release).snapshot
        lives = walk.lifetimes(ordered).of(release, kinds[1])
        every = [(name, life) for name, life in lives.items() if _is_own(snapshot, name, kinds[0])]
        items = (_item(snapshot, name, life, ordered) for name, life in every if life.since >= first)
        chosen = (one for one in items if matches(one.display) or matches(one.name.spelling))
        found = tuple(sorted(chosen, key=lambda one: (one.display, one.name)))
    return Inventory(release, found, len(every))


def _is_own(snapshot: Snapshot, name: Name, kinds: Sequence[str]) -> bool:
    return name.kind in kinds and not any(isinstance(shape, Foreign) for shape in snapshot.described(name))


def _item(snapshot: Snapshot, name: Name, life: Lifetime, ordered: Sequence[Release]) -> InventoryItem:
    return InventoryItem(
        name,
        display(name, (*snapshot.variants("layout", name), *snapshot.variants("source", name))),
        ordered[life.since].version,
        ordered[life.changed].version,
        life.since == 0,
        next(iter(_bound(snapshot, name)), None),
    )


def _bound(snapshot: Snapshot, name: Name) -> Iterator[str]:
    symbols = [shape for shape in snapshot.variants("symbol", name) if isinstance(shape, Symbol) and shape.version]
    yield from (str(each.version) for each in sorted(symbols, key=lambda each: (not each.default, each.version)))


def _matcher(pattern: str | None, regex: bool) -> Callable[[str], bool]:
    check_not_blank("the pattern", pattern)
    if pattern is None:
        return lambda text: True
    if regex:
        from abistore.compare.policies.expressions import Expression

        return Expression(pattern, whole=False).matches
    return lambda text: fnmatchcase(text, pattern)
