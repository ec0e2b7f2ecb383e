"""Checksums of verdicts, of what they consist of, and of findings."""

from hashlib import blake2b

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

Checksum = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SEALED = (
    "id, old_id, new_id, verdict, breaking, api_breaks, risk_changes, compatible, notices, suppressed, not_checked, "
    "added, removed, changed, policy, policy_digest, suppression_digest, engine, judged"
)
ADDED = (
    ("verdict", "parts", "Of its parts"),
    ("verdict", "checksum", "Of all its columns"),
    ("finding", "checksum", "Of its key and its first verdict; the key is of its body"),
)
_encode = msgspec.json.Encoder(order="deterministic").encode


def upgrade() -> None:
    for table, column, comment in ADDED:
        op.add_column(table, sa.Column(column, Checksum, nullable=True, comment=comment))
    _fill_verdicts()
    _fill_findings()
    for table in ("verdict", "finding"):
        with op.batch_alter_table(table, table_kwargs={"sqlite_strict": True}) as batch:
            for _, column, _ in (each for each in ADDED if each[0] == table):
                batch.alter_column(column, nullable=False, existing_type=Checksum)


def _of_bytes(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=16, person=b"abistore-1").digest()[:5], "big")


def _checksum(*values: object) -> int:
    return _of_bytes(_encode(values))


def _fill_verdicts() -> None:
    connection = op.get_bind()
    statement = sa.text("UPDATE verdict SET parts = :parts, checksum = :seal WHERE id = :id")
    for row in connection.execute(sa.text(f"SELECT {SEALED} FROM verdict ORDER BY id")).all():
        select = sa.text("SELECT part, body FROM verdict_part WHERE verdict_id = :id")
        bodies = sorted((part, bytes(body)) for part, body in connection.execute(select, {"id": row[0]}))
        parts = _checksum(*((part, _of_bytes(body)) for part, body in bodies))
        connection.execute(statement, {"parts": parts, "seal": _checksum(*row, parts), "id": row[0]})


def _fill_findings() -> None:
    connection = op.get_bind()
    last = -1
    select = sa.text("SELECT id, key, verdict_id FROM finding WHERE id > :last ORDER BY id LIMIT 5000")
    while rows := connection.execute(select, {"last": last}).all():
        last = rows[-1][0]
        filled = [{"id": row, "seal": _checksum(bytes(key), verdict)} for row, key, verdict in rows]
        connection.execute(sa.text("UPDATE finding SET checksum = :seal WHERE id = :id"), filled)
