"""Adding consumers to a store, and taking them out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec
from sqlalchemy import bindparam, delete, insert, select, update

from abistore.model.digest import digest, encode, name_digest
from abistore.model.judging.consumers import Consumer, ConsumerKey
from abistore.model.names import Name
from abistore.store.consumers import stored
from abistore.store.consumers.stored import COLUMNS, pack
from abistore.store.database import seals, tables
from abistore.store.database.audit import now, record
from abistore.store.database.database import Database
from abistore.store.snapshots.entries import name_ids, shape_ids

_CONSUMER, _ROOT = tables.consumer.c, tables.root.c
_HOLD = select(_ROOT.id).with_for_update()
_FIND = select(_CONSUMER.id, *(_CONSUMER[column] for column in COLUMNS), _CONSUMER.checksum).where(
    _CONSUMER.name == bindparam("name"), _CONSUMER.target == bindparam("target")
)
_INSERT = insert(tables.consumer)
_SEAL = update(tables.consumer).where(_CONSUMER.id == bindparam("identifier"))
_COUNT = update(tables.root).values(consumers=_ROOT.consumers + bindparam("seal"))
_PARTS = (tables.consumer_import, tables.consumer_type)
_DELETE = (
    *(delete(table).where(table.c.consumer_id == bindparam("identifier")) for table in _PARTS),
    delete(tables.consumer).where(_CONSUMER.id == bindparam("identifier")),
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
        self.sum = sum(stored.seal(_key(name), seals.key(shape), file) for name, shape, file in keys)


def _key(name: Name) -> int:
    return seals.key(name_digest(name.kind, name.spelling))


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
    seal = seals.checksum(identifier, *(columns[column] for column in COLUMNS))
    database.run(_SEAL.values(checksum=seal), {"identifier": identifier})
    database.run(insert(tables.consumer_import), {"consumer_id": identifier, "body": pack(consumer.imports)})
    database.many(insert(tables.consumer_type), [{"consumer_id": identifier, **row} for row in types.rows])
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
        "imported": seals.of_bytes(pack(consumer.imports)),
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
