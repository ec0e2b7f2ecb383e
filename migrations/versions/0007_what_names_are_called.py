"""An index of what functions and variables are called, so that one query finds them in all lines."""

import json
import re
from collections import Counter
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

from abistore.model.declarations import Name
from abistore.store import names

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

Identifier = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
NAMED = "kind IN ('function', 'variable') AND name.id > :last AND name.id <= :last + 10000"
NAMES = f"SELECT kind, spelling, id FROM name WHERE {NAMED}"
DESCRIBED = (
    "SELECT DISTINCT kind, spelling, name.id, shape.body FROM entry JOIN name ON name.id = name_id "
    f"JOIN shape ON shape.id = shape_id WHERE facet <> 0 AND {NAMED}"
)
DISPLAYED = re.compile(r'\["(?:Function|Variable)",("[^"\\]*(?:\\.[^"\\]*)*")').match


def upgrade() -> None:
    """The rows are derived from names and shapes by what reads them."""
    op.create_table(
        "calling",
        sa.Column("word", Identifier, autoincrement=False, nullable=False, comment="The CRC-32 of a qualified name"),
        sa.Column("name_id", Identifier, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["name_id"], ["name.id"], name=op.f("fk_calling_name_id")),
        sa.PrimaryKeyConstraint("word", "name_id", name=op.f("pk_calling")),
        comment="What a programmer may call a function or variable: see abistore.store.names",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "calling_sum",
        sa.Column(
            "bucket", Identifier, autoincrement=False, nullable=False, comment="The first 10 of 32 bits of a word"
        ),
        sa.Column("sum", Identifier, nullable=False, comment="The sum over the rows of calling that have such words"),
        sa.PrimaryKeyConstraint("bucket", name=op.f("pk_calling_sum")),
        sqlite_strict=True,
    )
    _fill(op.get_bind())


def _fill(connection: sa.Connection) -> None:
    last_name = connection.execute(sa.text("SELECT coalesce(max(id), 0) FROM name")).scalar_one()
    sums: Counter[int] = Counter()
    statement = sa.text("INSERT INTO calling (word, name_id) VALUES (:word, :name)")
    for last in range(0, last_name, 10_000):
        if rows := sorted(set(_rows(connection, last))):
            connection.execute(statement, [{"word": word, "name": name} for word, name in rows])
            sums += Counter(names.sums(rows))
    statement = sa.text("INSERT INTO calling_sum (bucket, sum) VALUES (:bucket, :sum)")
    if sums:
        connection.execute(statement, [{"bucket": bucket, "sum": total} for bucket, total in sorted(sums.items())])


def _rows(connection: sa.Connection, last: int) -> Iterator[tuple[int, int]]:
    named = connection.execute(sa.text(NAMES), {"last": last})
    yield from names.of_symbols((Name(kind, spelling), identifier) for kind, spelling, identifier in named)
    described = connection.execute(sa.text(DESCRIBED), {"last": last})
    yield from names.of_displays(
        (Name(kind, spelling), identifier, json.loads(found[1]))
        for kind, spelling, identifier, body in described
        if (found := DISPLAYED(body))
    )
