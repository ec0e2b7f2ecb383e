"""Who uses a symbol or a type, and which exports no known consumer uses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from abistore.errors import SnapshotNotFound, UsageError
from abistore.model.judging.consumers import ConsumedSymbol, ConsumerKey, StoredConsumer, Unseen
from abistore.model.names import EXPORTS, Name
from abistore.report.wording import lengthened
from abistore.service.consumers.fitting import ReleaseNeeds
from abistore.service.consumers.keeping import users_of
from abistore.service.database import Database, line_target, using
from abistore.service.inventory.inventory import Inventory, exports, in_line
from abistore.service.spelled import declarations_near

ASKING: Final[frozenset[Unseen]] = frozenset({"asks-at-run-time"})
"""What hides which exports a program uses; its types may hide in other ways."""


class ConsumerUse(msgspec.Struct, frozen=True):
    """A consumer that uses a symbol or a type: it imports ``symbols``, and was built with ``types``."""

    name: str
    target: str
    symbols: tuple[str, ...]
    types: tuple[str, ...]


class UsersOfName(msgspec.Struct, frozen=True):
    """The known consumers of a library that use a name, out of all ``consumers``.

    ``unseen`` are those that may use it besides: they ask for symbols while they run, or it is a type, and theirs are
    not known.
    """

    library: str
    names: tuple[Name, ...]
    consumers: int
    users: tuple[ConsumerUse, ...]
    unseen: tuple[str, ...]


class UnusedExports(msgspec.Struct, frozen=True):
    """The exports of a release that none of so many known ``consumers`` imports: candidates for removal.

    ``unseen`` are consumers that ask for symbols while they run: what these use is not known.
    """

    inventory: Inventory
    consumers: int
    unseen: tuple[str, ...]


def consumers_using(library: str, name: str, *, database: Database = None, target: str | None = None) -> UsersOfName:
    """The stored consumers that import a symbol of a library, or were built with a type of it.

    ``name`` is spelled as the linker does, or as the source does. Raises :class:`SnapshotNotFound`.
    """
    with using(database) as store, store.reading():
        events = store.logs(lengthened(name), library)
        names = tuple(sorted({event.name for line in events.values() for event in line}))
        if not names:
            if library not in {key.library for key in store.lines()}:
                raise store.no_library(library)
            hint = declarations_near(name, store.spellings(library))
            raise SnapshotNotFound(f"{name}: no release of {library} has it", hint)
        known = _on(users_of(store, library), line_target(store, target))
        imports, types = store.consumer_imports(), store.consumer_types()
        users = [_use(each, names, imports, types[each.details.key]) for each in known]
    found = tuple(each for each in users if each.symbols or each.types)
    seen = {(each.name, each.target) for each in found}
    lacks = ASKING if all(name.kind in EXPORTS for name in names) else None
    unseen = tuple(
        each.details.name
        for each in known
        if each.details.key not in seen and (set(each.details.unseen) & lacks if lacks else each.details.unseen)
    )
    return UsersOfName(library, names, len(known), found, unseen)


def _on(known: Collection[StoredConsumer], target: str | None) -> list[StoredConsumer]:
    return [each for each in known if target in {None, each.details.target}]


def _use(
    consumer: StoredConsumer,
    names: Collection[Name],
    imports: Mapping[ConsumerKey, Collection[ConsumedSymbol]],
    types: Collection[Name],
) -> ConsumerUse:
    asked = {each.symbol for each in imports[consumer.details.key]}
    symbols = tuple(name.spelling for name in names if name.kind in EXPORTS and name.spelling in asked)
    return ConsumerUse(*consumer.details.key, symbols, tuple(name.spelling for name in names if name in types))


def unused_exports(
    reference: str,
    pattern: str | None = None,
    *,
    regex: bool = False,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> UnusedExports:
    """The exports of a release, or of the latest one of a library, that no stored consumer imports.

    Raises :class:`SnapshotNotFound`, and :class:`UsageError` where no consumer of the library is stored: then nothing
    tells what is used.
    """
    with using(database) as store, store.reading():
        release, ordered = in_line(store, reference, target, profile)
        library = release.line.library
        known = _on(users_of(store, library), release.line.target)
        if not known:
            message = f"{library}: no consumer of it is stored for {release.line.target}"
            raise UsageError(message, "store programs that use it with `abistore consumers add`")
        sonames = {each.soname for each in ordered if each.soname}
        needs = ReleaseNeeds(store.load(release), sonames, store.ever_named(release.line))
        imports = store.consumer_imports()
        used = {one.symbol for each in known for one in needs.own(imports[each.details.key])}
        found = exports(
            f"{library}@{release.version}",
            pattern,
            regex=regex,
            database=database,
            target=release.line.target,
            profile=release.line.profile,
        )
    ordinals = needs.ordinals(used)
    kept = tuple(one for one in found.items if one.name.spelling not in used | ordinals)
    unseen = tuple(each.details.name for each in known if ASKING & set(each.details.unseen))
    return UnusedExports(msgspec.structs.replace(found, items=kept), len(known), unseen)
