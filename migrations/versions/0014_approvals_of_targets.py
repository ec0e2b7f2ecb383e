"""On which target an approval holds, and where the line stood when it was given."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Rows that are there hold on all targets, as they did, and stay as they are: they are sealed."""
    target = "The one that it holds on, NULL for all"
    op.add_column("approval", sa.Column("target", sa.Text(), comment=target))
    stood_at = "The version that the line ended with when it was given, NULL where nobody knows"
    op.add_column("approval", sa.Column("stood_at", sa.Text(), comment=stood_at))
    if op.get_bind().dialect.name != "sqlite":
        op.create_table_comment(
            "approval", "Append-only; of a finding in a library, for one scope and target, the last row holds"
        )
