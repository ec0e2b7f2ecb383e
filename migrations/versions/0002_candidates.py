"""Snapshots that failed their gate are kept as candidates, and a baseline's move remembers the content it names."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

Small = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")

CURRENT_DIGEST = """
UPDATE baseline_move SET digest = (
    SELECT snapshot.digest FROM snapshot WHERE snapshot.line_id = baseline_move.line_id
    AND snapshot.version = baseline_move.version AND snapshot.superseded = 0
)
WHERE id IN (SELECT max(id) FROM baseline_move GROUP BY line_id, channel)
"""
"""Where a channel stands now, its content is known; what an earlier move named may have been replaced since."""


def upgrade() -> None:
    candidate = sa.Column(
        "candidate", Small, nullable=False, server_default=sa.text("0"), comment="1 where it failed its gate"
    )
    op.add_column("snapshot", candidate)
    op.add_column("baseline_move", sa.Column("digest", sa.LargeBinary(), comment="The content that it was moved to"))
    op.drop_index("uq_snapshot_current_version", table_name="snapshot")
    op.create_index(
        "uq_snapshot_current_version",
        "snapshot",
        ["line_id", "version", "candidate"],
        unique=True,
        sqlite_where=sa.text("superseded = 0"),
        postgresql_where=sa.text("superseded = 0"),
    )
    op.execute(CURRENT_DIGEST)
