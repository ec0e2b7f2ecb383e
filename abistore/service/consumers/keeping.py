"""Adding, listing and removing consumers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from abistore.errors import SnapshotNotFound, UsageError
from abistore.extract.reader import ExtractOptions
from abistore.model.judging.consumers import ConsumedSymbol, Consumer, ConsumerDetails, StoredConsumer, asks_for
from abistore.model.labels.blanks import check_not_blank
from abistore.model.names import Name
from abistore.service.consumers.reading import ReadConsumers, read_consumers
from abistore.service.database import Database, line_target, user, using
from abistore.service.labels import check_label

if TYPE_CHECKING:
    from abistore.store.store import Store


class AddedConsumer(msgspec.Struct, frozen=True):
    """A consumer that was added. ``known``: it was stored with this content before."""

    details: ConsumerDetails
    imports: int
    types: int
    known: bool


class AddedConsumers(msgspec.Struct, frozen=True):
    """What an addition stored; ``left_out`` are binaries of packages that could not be read, each with a word."""

    added: tuple[AddedConsumer, ...]
    left_out: tuple[str, ...] = ()


class ShownConsumer(msgspec.Struct, frozen=True):
    """A consumer with everything that is stored of it: ``types`` are the names of those it was built with."""

    consumer: StoredConsumer
    symbols: tuple[ConsumedSymbol, ...]
    types: tuple[Name, ...]


def add_consumers(
    paths: Sequence[str | Path],
    *,
    name: str = "",
    options: ExtractOptions | None = None,
    actor: str = "",
    database: Database = None,
) -> AddedConsumers:
    """Store what programs and libraries import, and the types that they were built with.

    A path is a program, a library, or a package or folder of them. One of the same ``name`` and target takes the place
    of the one before. All are stored, or none. Raises :class:`InputError`.
    """
    if name:
        check_label("name", name)
        if len(paths) > 1:
            raise UsageError("--name is for one program", "leave it out: each is called by its file")
    read = [read_consumers(path, options or ExtractOptions(), name) for path in paths]
    consumers = list(_once(read))
    with using(database, write=True, create=True) as store:
        new = store.add_consumers(consumers, actor or user())
    added = tuple(
        AddedConsumer(each.details, len(each.imports), len(each.types), not is_new)
        for each, is_new in zip(consumers, new, strict=True)
    )
    return AddedConsumers(added, tuple(word for each in read for word in each.left_out))


def _once(read: Sequence[ReadConsumers]) -> Iterator[Consumer]:
    """All consumers. Raises :class:`UsageError` where two of one target have one name."""
    seen = set[tuple[str, str]]()
    for consumer in (one for each in read for one in each.consumers):
        if consumer.details.key in seen:
            raise UsageError(
                f"{consumer.details.name}: two programs of one name for {consumer.details.target}",
                "add them one by one, each with --name",
            )
        seen.add(consumer.details.key)
        yield consumer


def consumers(
    library: str | None = None, *, database: Database = None, target: str | None = None
) -> tuple[StoredConsumer, ...]:
    """The stored consumers, by name; those of one ``library``, of one ``target``, if given."""
    with using(database) as store, store.reading():
        platform = line_target(store, target)
        check_not_blank("the library", library)
        kept = store.consumers() if library is None else users_of(store, library)
        return tuple(each for each in kept if platform in {None, each.details.target})


def show_consumer(name: str, *, database: Database = None, target: str | None = None) -> ShownConsumer:
    """All that is stored of one consumer. Raises :class:`SnapshotNotFound`."""
    with using(database) as store, store.reading():
        found = named(store, name, target)
        if len(found) > 1:
            targets = ", ".join(each.details.target for each in found)
            raise UsageError(f"{name}: there is one for each of {targets}", "choose one with --target")
        key = found[0].details.key
        return ShownConsumer(found[0], store.consumer_imports()[key], tuple(sorted(store.consumer_types()[key])))


def remove_consumers(
    names: Sequence[str], *, actor: str = "", database: Database = None, target: str | None = None
) -> tuple[ConsumerDetails, ...]:
    """Take consumers out of the store, by names or patterns (``curl.deb:*``). Raises :class:`SnapshotNotFound`."""
    with using(database, write=True) as store:
        found = {each.details.key: each.details for name in names for each in named(store, name, target)}
        store.remove_consumers(tuple(found), actor or user())
    return tuple(found[key] for key in sorted(found))


def named(store: Store, name: str, target: str | None = None) -> list[StoredConsumer]:
    """The consumers that a name or pattern means. Raises :class:`SnapshotNotFound` where there is none."""
    platform = line_target(store, target)
    every = store.consumers()
    own = [each for each in every if platform in {None, each.details.target}]
    found = [each for each in own if each.details.name == name] or [
        each for each in own if fnmatchcase(each.details.name, name)
    ]
    if not found:
        raise SnapshotNotFound(f"{name}: no such consumer", "see `abistore consumers list`")
    return found


def asked_numbers(store: Store) -> set[tuple[str, int]]:
    """What the stored consumers ask DLLs for by number: the name of the DLL, in lower case, and the number."""
    return {
        (each.library.lower(), int(each.symbol[1:]))
        for imports in store.consumer_imports().values()
        for each in imports
        if each.library and each.symbol[:1] == "#" and each.symbol[1:].isdecimal()
    }


def consumers_of(store: Store, library: str, target: str, sonames: Collection[str]) -> list[Consumer]:
    """The stored consumers that ask the loader for a library of a target, with what they import and were built with."""
    own = [
        each.details
        for each in store.consumers()
        if each.details.target == target and asks_for(each.details, library, sonames)
    ]
    imports, types = (store.consumer_imports(), store.consumer_types()) if own else ({}, {})
    return [Consumer(each, imports[each.key], types[each.key]) for each in own]


def users_of(store: Store, library: str) -> tuple[StoredConsumer, ...]:
    """The stored consumers that ask the loader for a library, by any name that it had in a release."""
    every = store.consumers()
    sonames = {release.soname for release in store.releases(library) if release.soname} if every else set()
    return tuple(each for each in every if asks_for(each.details, library, sonames))
