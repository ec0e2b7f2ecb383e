"""Whether what the database itself keeps is whole: its pages, its indexes, its references."""

from __future__ import annotations

from collections.abc import Iterator

from abistore.store.database.database import Database

_INDEXES = """
SELECT index.indexrelid::regclass::text, of.relname, pg_get_expr(index.indpred, index.indrelid),
       (SELECT string_agg(quote_ident(attname), ', ' ORDER BY place) FROM unnest(index.indkey) WITH ORDINALITY
        AS key(number, place) JOIN pg_attribute ON attrelid = index.indrelid AND attnum = key.number)
FROM pg_index AS index JOIN pg_class AS of ON of.oid = index.indrelid
WHERE of.relnamespace = current_schema()::regnamespace ORDER BY 1
"""
_THROUGH_INDEXES = ("enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashagg")
_WITHOUT_INDEXES = ("enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan")


def structure_problems(database: Database) -> Iterator[str]:
    """What the database says about itself, and whether its indexes say what its tables do."""
    yield from _sqlite(database) if database.is_sqlite else _postgresql(database)


def _sqlite(database: Database) -> Iterator[str]:
    for (message,) in database.rows("PRAGMA integrity_check"):
        if message != "ok":  # one row may have a line for each of a hundred cells
            first, *more = [line for line in message.splitlines() if not line.startswith("***")]
            yield f"database: {first}{f' (and {len(more)} more)' if more else ''}"
    for table, row, parent, _ in database.rows("PRAGMA foreign_key_check"):
        yield f"database: row {row} of {table} refers to nothing in {parent}"


def _postgresql(database: Database) -> Iterator[str]:
    for index, table, condition, columns in database.rows(_INDEXES):
        where = f" WHERE {condition}" if condition else ""
        # in the index's own order, so that there is one plan when all others are off
        rows = f"SELECT {columns} FROM {table}{where} ORDER BY {columns}"
        statement = f"SELECT count(*), coalesce(sum(hashtextextended(said::text, 0)::numeric), 0) FROM ({rows}) AS said"
        through, without = (_under(database, off, statement) for off in (_THROUGH_INDEXES, _WITHOUT_INDEXES))
        if through != without:
            yield f"index {index}: it does not say what its table {table} does"


def _under(database: Database, off: tuple[str, ...], statement: str) -> tuple[object, ...]:
    """The one row of a statement, planned without what is ``off``."""
    try:
        for setting in off:
            database.run(f"SET {setting} = off")
        return tuple(database.rows(statement)[0])
    finally:
        for setting in off:
            database.run(f"RESET {setting}")
