"""The exports and types of releases, who uses a type, and which libraries provide a symbol."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

import msgspec

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.declarations import EXPORTS, TYPES, Facet, Name
from abistore.model.history import LineKey, LogEvent, Release
from abistore.model.labels import check_not_blank
from abistore.model.names.symbols import is_of_standard_library
from abistore.model.reach import Reach
from abistore.model.shapes import AnyShape, Foreign, Opaque, Record, Symbol
from abistore.model.snapshot import Snapshot
from abistore.model.structure import without_cycle_collection
from abistore.report.wording import lengthened
from abistore.service.database import Database, line_target, using
from abistore.service.declarations import declarations_near, display, find
from abistore.service.listing import in_line, place_of, released, releases_of

if TYPE_CHECKING:
    from abistore.store.store import Store
    from abistore.store.walking import Lifetime


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


def declared(store: Store, ordered: Sequence[Release]) -> tuple[InventoryItem, ...]:
    """The exports and types of the latest of a line's releases, which are ``ordered``."""
    meant = ordered[-1], ordered
    kinds: tuple[Kinds, ...] = ((EXPORTS, ("symbol",)), (TYPES, ("layout", "source")))
    every = (_inventory(store, meant, each, _matcher(None, False), None) for each in kinds)
    return tuple(item for inventory in every for item in inventory.items)


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
        from abistore.diffing.policy import Expression

        return Expression(pattern, whole=False).matches
    return lambda text: fnmatchcase(text, pattern)


class ProvidedSymbol(msgspec.Struct, frozen=True):
    """A symbol that a line's releases export from ``since`` on.

    ``until`` is the first release without it; ``None`` where the latest one has it. ``symbol_versions`` are those that
    it has there.
    """

    line: LineKey
    name: Name
    display: str
    since: str
    until: str | None
    symbol_versions: tuple[str, ...] = ()
    first_stored: bool = False


def provides(
    symbol: str, *, database: Database = None, target: str | None = None, profile: str | None = None
) -> tuple[ProvidedSymbol, ...]:
    """The libraries that export a symbol or once did, line by line. ``symbol`` may be spelled as in the source.

    Raises :class:`SnapshotNotFound` where none does.
    """
    with using(database) as store, limits_for(len(store.lines()) << 20, "looking for the symbol"):
        platform = line_target(store, target)
        found = [
            each
            for key, events in store.logs(lengthened(symbol)).items()
            if platform in {None, key.target} and profile in {None, key.profile}
            for name in sorted({event.name for event in events if event.name.kind in EXPORTS})
            for each in _spans([event for event in events if event.name == name])
        ]
        if not found:
            hint = declarations_near(symbol, store.spellings_near(symbol))
            raise SnapshotNotFound(f"{symbol}: no stored library exports it", hint)
        return tuple(found)


def _spans(events: Iterable[LogEvent]) -> Iterator[ProvidedSymbol]:
    """From when to when a name is exported, as its log has it."""
    every = list(events)
    shapes = [shape for event in every if event.facet != "symbol" for shape in event.after]
    begun: LogEvent | None = None
    last: LogEvent | None = None
    for event in every:
        if event.facet != "symbol" or event.action == "not-observed":
            continue
        if event.action == "vanished" and begun is not None and last is not None:
            yield _provided(begun, last, shapes, event.release.version)
            begun = None
        elif event.after:
            begun, last = begun or event, event
    if begun is not None and last is not None:
        yield _provided(begun, last, shapes, None)


def _provided(begun: LogEvent, last: LogEvent, shapes: Iterable[AnyShape], until: str | None) -> ProvidedSymbol:
    symbols = [shape for shape in last.after if isinstance(shape, Symbol)]
    return ProvidedSymbol(
        begun.release.line,
        begun.name,
        display(begun.name, shapes),
        begun.release.version,
        until,
        tuple(sorted(each.version for each in symbols if each.version)),
        begun.first_stored,
    )


class TypeUser(msgspec.Struct, frozen=True):
    """An export that uses a type; of the variants of a constructor or destructor the first.

    ``how``: ``by_value`` where code outside the library depends on its layout, else ``by_pointer``. ``directly`` where
    its own declaration mentions the type, else ``through`` others: the shortest way, from the export to the type.
    """

    name: Name
    display: str
    how: Literal["by_value", "by_pointer"]
    directly: bool
    through: tuple[str, ...] = ()


class UsedType(msgspec.Struct, frozen=True):
    """A type in a release, with the exports that use it, those that depend on its layout first.

    ``called`` is the type with its keyword: ``struct point``. ``instances`` counts exported functions of the standard
    library's templates, which are left out.
    """

    line: LineKey
    version: str
    type: Name
    users: tuple[TypeUser, ...]
    called: str = ""
    instances: int = 0


def who_uses(
    type: str,
    *,
    reference: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> tuple[UsedType, ...]:
    """The exports that use a type: in a release (of a library: its latest), or in the latest one of every line.

    Raises :class:`SnapshotNotFound` where no such release has the type.
    """
    with using(database) as store, store.reading():
        if reference is not None:
            release = released(store, reference, target, profile)
            snapshot = store.load(release)
            return tuple(_used(release, snapshot, _types(find(snapshot, type))))
        found = tuple(_everywhere(store, type, (line_target(store, target), profile)))
        if not found:
            hint = declarations_near(type, store.spellings_near(type))
            raise SnapshotNotFound(f"{type}: no stored library has such a type in its latest release", hint)
        return found


def _everywhere(store: Store, type: str, of: tuple[str | None, str | None]) -> Iterator[UsedType]:
    target, profile = of
    for key, events in store.logs(lengthened(type)).items():
        if target in {None, key.target} and profile in {None, key.profile}:
            release = releases_of(store, key)[-1]
            snapshot = store.load(release)
            names = tuple(sorted({each.name for each in events if snapshot.described(each.name)}))
            yield from _used(release, snapshot, _types(names))


def _types(names: tuple[Name, ...]) -> tuple[Name, ...]:
    return tuple(name for name in names if name.kind in TYPES)


def _used(release: Release, snapshot: Snapshot, types: tuple[Name, ...]) -> Iterator[UsedType]:
    with limits_for(snapshot.weight, f"looking for users in {release.reference}"):
        reach = Reach(snapshot)
        for type in types:
            users, instances = _folded(_users(snapshot, reach, type))
            ordered = sorted(users, key=lambda each: (each.how != "by_value", each.display))
            called = f"{_keyword(snapshot, type)}{type.spelling}"
            yield UsedType(release.line, release.version, type, tuple(ordered), called, instances)


OF_GNU = "__gnu_cxx::"
"""The namespace of parts of the GNU standard library that are not in ``std``."""


def _folded(users: Iterable[TypeUser]) -> tuple[Iterable[TypeUser], int]:
    """One user for each function, however many symbols it has, and how many are of the standard library's templates."""
    found: dict[str, TypeUser] = {}
    instances = 0
    for each in users:
        if is_of_standard_library(each.name.spelling) or each.display.startswith(OF_GNU):
            instances += 1
        elif each.display not in found or each.how == "by_value":
            found[each.display] = each
    return found.values(), instances


def _keyword(snapshot: Snapshot, type: Name) -> str:
    """The word before the name of a type: ``struct``, ``class``, ``union``, ``enum``; none before a typedef's."""
    if type.kind == "enum":
        return "enum "
    sorts = (each.sort for each in snapshot.described(type) if isinstance(each, Record | Opaque | Foreign))
    return next((f"{sort} " for sort in sorts), "")


def _users(snapshot: Snapshot, reach: Reach, type: Name) -> Iterator[TypeUser]:
    by_value = set(reach.exports_reaching(type, by_value=True))
    own, ways = {name for name in reach.users(type) if name.kind in EXPORTS}, _ways(reach, type)
    for name in reach.exports_reaching(type):
        if snapshot.variants("symbol", name):
            how: Literal["by_value", "by_pointer"] = "by_value" if name in by_value else "by_pointer"
            through = tuple(each.spelling for each in _way(ways, name))
            yield TypeUser(name, display(name, snapshot.described(name)), how, name in own, through)


def _ways(reach: Reach, type: Name) -> Mapping[Name, Name]:
    """The next name on the shortest way from each user, and each user of a user, to the type."""
    found, pending = {type: type}, deque((type,))
    while pending:
        name = pending.popleft()
        for user in sorted(reach.users(name)):
            if user not in found:
                found[user] = name
                if user.kind not in EXPORTS:
                    pending.append(user)
    return found


def _way(ways: Mapping[Name, Name], name: Name) -> Iterator[Name]:
    step = ways.get(name, name)
    while (following := ways.get(step, step)) != step:
        yield step
        step = following
