"""Who uses a type: the exports that mention it, and those that reach it through other types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import msgspec

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.history import LineKey, Release
from abistore.model.names import EXPORTS, TYPES, Name
from abistore.model.reach.graph import Reach
from abistore.model.snapshot import Snapshot
from abistore.report.wording import lengthened
from abistore.service.database import Database, line_target, using
from abistore.service.declarations import find
from abistore.service.inventory.inventory import released
from abistore.service.listing import releases_of
from abistore.service.spelled import declarations_near, display

if TYPE_CHECKING:
    from abistore.store.store import Store


class TypeUser(msgspec.Struct, frozen=True):
    """An export that uses a type.

    ``how``: ``by_value`` where code outside the library depends on its layout, else ``by_pointer``. ``directly`` where
    its own declaration mentions the type, else through others.
    """

    name: Name
    display: str
    how: Literal["by_value", "by_pointer"]
    directly: bool


class UsedType(msgspec.Struct, frozen=True):
    """A type in a release, with the exports that use it, those that depend on its layout first."""

    line: LineKey
    version: str
    type: Name
    users: tuple[TypeUser, ...]


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
            return tuple(_used(release, snapshot, _types(snapshot, find(snapshot, type))))
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
            yield from _used(release, snapshot, _types(snapshot, names))


def _types(snapshot: Snapshot, names: tuple[Name, ...]) -> tuple[Name, ...]:
    return tuple(name for name in names if name.kind in TYPES)


def _used(release: Release, snapshot: Snapshot, types: tuple[Name, ...]) -> Iterator[UsedType]:
    with limits_for(snapshot.weight, f"looking for users in {release.reference}"):
        reach = Reach(snapshot)
        for type in types:
            users = sorted(_users(snapshot, reach, type), key=lambda each: (each.how != "by_value", each.display))
            yield UsedType(release.line, release.version, type, tuple(users))


def _users(snapshot: Snapshot, reach: Reach, type: Name) -> Iterator[TypeUser]:
    by_value = set(reach.exports_reaching(type, by_value=True))
    own = {name for name in reach.users(type) if name.kind in EXPORTS}
    for name in reach.exports_reaching(type):
        if snapshot.variants("symbol", name):
            how: Literal["by_value", "by_pointer"] = "by_value" if name in by_value else "by_pointer"
            yield TypeUser(name, display(name, snapshot.described(name)), how, name in own)
