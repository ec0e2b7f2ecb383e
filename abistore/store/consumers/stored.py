"""Reading consumers: each row is sealed, and the root has the sum of the seals."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import select

from abistore.model.history import LineKey
from abistore.model.judging.consumers import (
    BuiltType,
    ConsumedSymbol,
    ConsumerDetails,
    ConsumerKey,
    StoredConsumer,
    Unseen,
)
from abistore.model.names import Name
from abistore.store.database import seals, tables
from abistore.store.database.database import AMONG, Database
from abistore.store.database.failures import damaged
from abistore.store.history.sealed import sealed_rows
from abistore.store.releases.lines import OF_LINE
from abistore.store.snapshots.memory import RowMemory, checked_name
from abistore.store.snapshots.read import NAMES

_CONSUMER, _ROOT, _TYPE = tables.consumer.c, tables.root.c, tables.consumer_type.c
_NAME, _SHAPE = tables.name.c, tables.shape.c
COLUMNS = (
    *("name", "target", "file", "sha256", "needed", "unseen", "package"),
    *("imports", "types", "added", "actor", "imported", "built"),
)
"""What the seal of a consumer is of, after its id."""

_EVERY = (
    select(_ROOT.consumers, _CONSUMER.id, *(_CONSUMER[column] for column in COLUMNS), _CONSUMER.checksum)
    .select_from(tables.root.outerjoin(tables.consumer, _ROOT.id == 1))
    .order_by(_CONSUMER.name, _CONSUMER.target)
)
_IMPORTS = select(_CONSUMER.name, _CONSUMER.target, _CONSUMER.imported, tables.consumer_import.c.body).select_from(
    tables.consumer.outerjoin(tables.consumer_import)
)
_TYPES = (
    select(_CONSUMER.name, _CONSUMER.target, _CONSUMER.built, _TYPE.name_id, _TYPE.shape_id, _TYPE.file)
    .select_from(tables.consumer.outerjoin(tables.consumer_type))
    .order_by(_CONSUMER.id, _TYPE.name_id, _TYPE.shape_id)
)
_SHAPES = select(_SHAPE.id, _SHAPE.body, _SHAPE.digest).where(_SHAPE.id.in_(AMONG))
_EVER = (
    select(_NAME.kind, _NAME.spelling)
    .distinct()
    .select_from(tables.entry.join(tables.name).join(tables.line).join(tables.library))
    .where(OF_LINE, tables.entry.c.facet.in_((0, 1)), _NAME.kind.not_in(("import", "library")))
)
_decode = msgspec.json.Decoder(tuple[ConsumedSymbol, ...]).decode
_texts = msgspec.json.Decoder(tuple[str, ...]).decode
_unseen = msgspec.json.Decoder(tuple[Unseen, ...]).decode


def every(database: Database) -> tuple[StoredConsumer, ...]:
    """All consumers, by name. Raises :class:`StoreError` where one was changed or taken away."""
    return tuple(map(_read, sealed_rows(database, _EVERY, "a consumer")))


def _read(values: Sequence[Any]) -> StoredConsumer:
    told = dict(zip(COLUMNS, values, strict=True))
    details = ConsumerDetails(
        **{column: told[column] for column in ("name", "target", "file", "sha256", "package")},
        needed=_texts(told["needed"]),
        unseen=_unseen(told["unseen"]),
    )
    return StoredConsumer(details, told["imports"], told["types"], datetime.fromisoformat(told["added"]), told["actor"])


def imports(database: Database) -> Mapping[ConsumerKey, tuple[ConsumedSymbol, ...]]:
    """What each consumer imports, sorted. Raises :class:`StoreError` where that was changed or taken away."""
    every(database)  # the rows that hold the seals
    found = {}
    for name, target, seal, body in database.rows(_IMPORTS):
        if body is None or seals.of_bytes(body) != seal:
            raise damaged(database.where, f"what the consumer {name} imports")
        found[name, target] = _decode(zlib.decompress(body))
    return found


def pack(symbols: Sequence[ConsumedSymbol]) -> bytes:
    """What :func:`imports` unpacks."""
    return zlib.compress(msgspec.json.encode(symbols), 6)


def types(database: Database, memory: RowMemory) -> Mapping[ConsumerKey, Mapping[Name, BuiltType]]:
    """The types that each consumer was built with. Raises :class:`StoreError` where one was changed or taken away."""
    every(database)  # the rows that hold the seals
    rows = database.rows(_TYPES)
    names = _names(database, sorted({row[3] for row in rows if row[3] is not None}))
    shapes = _shapes(database, sorted({row[4] for row in rows if row[4] is not None}), memory)
    left: dict[ConsumerKey, int] = {}
    found: dict[ConsumerKey, dict[Name, BuiltType]] = {}
    for name, target, built, name_id, shape_id, file in rows:
        own = found.setdefault((name, target), {})
        left.setdefault((name, target), built)
        if name_id is None:
            continue
        if name_id not in names or shape_id not in shapes:
            raise damaged(database.where, f"a type that the consumer {name} was built with")
        (built_name, name_key), (shape, shape_key) = names[name_id], shapes[shape_id]
        left[name, target] -= seal(name_key, shape_key, file)
        before = own.get(built_name)
        own[built_name] = BuiltType((*before.shapes, shape) if before else (shape,), file)
    for (name, _), missing in left.items():
        if missing:
            raise damaged(database.where, f"a type that the consumer {name} was built with")
    return found


def _names(database: Database, identifiers: Sequence[int]) -> dict[int, tuple[Name, int]]:
    return {
        identifier: (checked_name(database, kind, spelling, key), seals.key(key))
        for identifier, kind, spelling, key in database.within(NAMES, identifiers)
    }


def _shapes(database: Database, identifiers: Sequence[int], memory: RowMemory) -> dict[int, tuple[Any, int]]:
    return {
        identifier: (memory.whole_shape(database, identifier, body, key), seals.key(key))
        for identifier, body, key in database.within(_SHAPES, identifiers)
    }


def seal(name: int, shape: int, file: str) -> int:
    """The checksum of one type of a consumer: ``name`` and ``shape`` are keys of digests."""
    return (seals.member(0, name, shape) + zlib.crc32(file.encode())) & seals.MASK


def problems(database: Database) -> Iterator[str]:
    """What is wrong with what consumers import and were built with."""
    imports(database)
    types(database, RowMemory())
    yield from ()


def ever_named(database: Database, line: LineKey) -> frozenset[Name]:
    """The exports, and the names that debug information describes, of all snapshots that a line ever had."""
    values = {"library": line.library, "target": line.target, "profile": line.profile}
    return frozenset(Name(kind, spelling) for kind, spelling in database.rows(_EVER, values))
