"""Which verdicts another store gave."""

from hashlib import blake2b

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

SEALED = (
    "id, old_id, new_id, verdict, breaking, api_breaks, risk_changes, compatible, notices, suppressed, not_checked, "
    "added, removed, changed, policy, policy_digest, suppression_digest, engine, judged, evidence, asker"
)
Small = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")
_encode = msgspec.json.Encoder(order="deterministic").encode


def upgrade() -> None:
    """Rows that are there do not say it: in a store that another was brought into, none is taken for its own."""
    brought = "1 where another store gave it, NULL where this one did"
    op.add_column("verdict", sa.Column("brought", Small, comment=brought))
    if op.get_bind().execute(sa.text("SELECT 1 FROM audit WHERE action = 'merge' LIMIT 1")).first():
        _mark_all()


def _mark_all() -> None:
    """Mark each row under a new checksum. A damaged row keeps the one that tells its damage."""
    connection = op.get_bind()
    statement = sa.text("UPDATE verdict SET brought = 1, checksum = :seal WHERE id = :id")
    for *row, parts, seal in connection.execute(sa.text(f"SELECT {SEALED}, parts, checksum FROM verdict")).all():
        said = [value for value in row if value is not None]
        if _checksum(*said, parts) == seal:
            connection.execute(statement, {"seal": _checksum(*said, 1, parts), "id": row[0]})


def _checksum(*values: object) -> int:
    return int.from_bytes(blake2b(_encode(values), digest_size=16, person=b"abistore-1").digest()[:5], "big")
