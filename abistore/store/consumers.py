"""Stored programs: what they import and the types they were built with."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, insert, select, update

from abistore.model.approvals import (
    BuiltType,
    ConsumedSymbol,
    Consumer,
    ConsumerDetails,
    ConsumerKey,
    StoredConsumer,
    Unseen,
)
from abistore.model.declarations import Name
from abistore.model.history import LineKey
from abistore.model.snapshot import decoder, digest, encode, name_digest
from abistore.store import tables
from abistore.store.database import AMONG, Database, damaged, now, record
from abistore.store.ingest import name_ids, shape_ids
from abistore.store.releases import OF_LINE
from abistore.store.snapshots import NAMES, RowMemory, checked_name
from abistore.store.timeline import sealed_rows

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
_decode = decoder(tuple[ConsumedSymbol, ...])
_texts = decoder(tuple[str, ...])
_unseen = decoder(tuple[Unseen, ...])


def state(database: Database) -> int:
    """The sum over all consumers: it is another where one is."""
    return int(database.rows(select(_ROOT.consumers))[0][0])


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
        if body is None or tables.of_bytes(body) != seal:
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
        identifier: (checked_name(database, kind, spelling, key), tables.key(key))
        for identifier, kind, spelling, key in database.within(NAMES, identifiers)
    }


def _shapes(database: Database, identifiers: Sequence[int], memory: RowMemory) -> dict[int, tuple[Any, int]]:
    return {
        identifier: (memory.whole_shape(database, identifier, body, key), tables.key(key))
        for identifier, body, key in database.within(_SHAPES, identifiers)
    }


def seal(name: int, shape: int, file: str) -> int:
    """The checksum of one type of a consumer: ``name`` and ``shape`` are keys of digests."""
    return (tables.member(0, name, shape) + zlib.crc32(file.encode())) & tables.MASK


def problems(database: Database) -> Iterator[str]:
    """What is wrong with what consumers import and were built with."""
    imports(database)
    types(database, RowMemory())
    yield from ()


def ever_named(database: Database, line: LineKey) -> frozenset[Name]:
    """The exports, and the names that debug information describes, of all snapshots that a line ever had."""
    values = {"library": line.library, "target": line.target, "profile": line.profile}
    return frozenset(Name(kind, spelling) for kind, spelling in database.rows(_EVER, values))


_ADD_CONSUMER, _ROOT_ROW = tables.consumer.c, tables.root.c
_HOLD = select(_ROOT_ROW.id).with_for_update()
_FIND = select(_ADD_CONSUMER.id, *(_ADD_CONSUMER[column] for column in COLUMNS), _ADD_CONSUMER.checksum).where(
    _ADD_CONSUMER.name == bindparam("name"), _ADD_CONSUMER.target == bindparam("target")
)
_INSERT, _NEW_TYPE = insert(tables.consumer), insert(tables.consumer_type)
_SEAL = update(tables.consumer).where(_ADD_CONSUMER.id == bindparam("identifier"))
_COUNT = update(tables.root).values(consumers=_ROOT_ROW.consumers + bindparam("seal"))
_PARTS = (tables.consumer_import, tables.consumer_type)
_DELETE = (
    *(delete(table).where(table.c.consumer_id == bindparam("identifier")) for table in _PARTS),
    delete(tables.consumer).where(_ADD_CONSUMER.id == bindparam("identifier")),
)


def add(database: Database, added: Sequence[Consumer], actor: str = "") -> tuple[bool, ...]:
    """Remember consumers, all or none; false for each that is stored as it is.

    One of the same name and target takes the place of the one before.
    """
    with database.transaction():
        database.keep_tables_free()
        rows = [_TypeRows(database, each) for each in added]
        database.rows(_HOLD)  # late, as names and shapes come before the root for every writer
        return tuple(_add(database, each, types, actor) for each, types in zip(added, rows, strict=True))


def bring(database: Database, consumer: Consumer, added: str, actor: str) -> None:
    """Write a consumer of another store, as it was ``added`` there; it takes the place of one that is here."""
    types = _TypeRows(database, consumer)
    database.rows(_HOLD)
    before = _stored(database, consumer.details.key)
    if before is not None:
        _delete(database, before)
    _write(database, _columns(consumer, types) | {"added": added, "actor": actor}, consumer, types)


class _TypeRows:
    """The types of a consumer as rows to be, and the sum of their seals."""

    def __init__(self, database: Database, consumer: Consumer) -> None:
        bodies = {digest(body): body for built in consumer.types.values() for body in map(encode, built.shapes)}
        names = name_ids(database, consumer.types)
        shapes, _ = shape_ids(database, bodies, bodies)
        keys = [
            (name, digest(encode(shape)), built.file)
            for name, built in sorted(consumer.types.items())
            for shape in built.shapes
        ]
        self.rows = [{"name_id": names[name], "shape_id": shapes[shape], "file": file} for name, shape, file in keys]
        self.sum = sum(seal(_key(name), tables.key(shape), file) for name, shape, file in keys)


def _key(name: Name) -> int:
    return tables.key(name_digest(name.kind, name.spelling))


def _add(database: Database, consumer: Consumer, types: _TypeRows, actor: str) -> bool:
    columns = _columns(consumer, types)
    before = _stored(database, consumer.details.key)
    if before is not None:
        if all(before[column] == value for column, value in columns.items()):
            return False
        _delete(database, before)
    _write(database, columns | {"added": now(), "actor": actor}, consumer, types)
    told = consumer.details
    action = "replace-consumer" if before else "add-consumer"
    record(database, actor, action, f"{told.name} ({told.target})", f"sha256 {told.sha256 or '-'}")
    return True


def _write(database: Database, columns: Mapping[str, object], consumer: Consumer, types: _TypeRows) -> None:
    identifier = database.insert(_INSERT, {**columns, "checksum": 0})
    seal = tables.checksum(identifier, *(columns[column] for column in COLUMNS))
    database.run(_SEAL.values(checksum=seal), {"identifier": identifier})
    database.run(insert(tables.consumer_import), {"consumer_id": identifier, "body": pack(consumer.imports)})
    database.many(_NEW_TYPE, [{"consumer_id": identifier, **row} for row in types.rows])
    database.run(_COUNT, {"seal": seal})


def _columns(consumer: Consumer, types: _TypeRows) -> dict[str, object]:
    """The columns of a consumer's row, but for when it was added and by whom."""
    told = consumer.details
    return {
        **{column: getattr(told, column) for column in ("name", "target", "file", "sha256", "package")},
        "needed": msgspec.json.encode(told.needed).decode(),
        "unseen": msgspec.json.encode(told.unseen).decode(),
        "imports": len(consumer.imports),
        "types": len(consumer.types),
        "imported": tables.of_bytes(pack(consumer.imports)),
        "built": types.sum,
    }


def _stored(database: Database, key: ConsumerKey) -> Mapping[str, object] | None:
    rows = database.rows(_FIND, {"name": key[0], "target": key[1]})
    return dict(zip(("id", *COLUMNS, "checksum"), rows[0], strict=True)) if rows else None


def _delete(database: Database, row: Mapping[str, object]) -> None:
    for statement in _DELETE:
        database.run(statement, {"identifier": row["id"]})
    seal = row["checksum"]
    assert isinstance(seal, int)
    database.run(_COUNT, {"seal": -seal})


def remove(database: Database, keys: Collection[ConsumerKey], actor: str = "") -> int:
    """Take consumers out, all at once; how many there were. What is shared of their types stays."""
    removed = 0
    with database.transaction():
        database.rows(_HOLD)
        for key in sorted(keys):
            row = _stored(database, key)
            if row is None:
                continue
            _delete(database, row)
            record(database, actor, "remove-consumer", f"{key[0]} ({key[1]})", f"sha256 {row['sha256'] or '-'}")
            removed += 1
    return removed
