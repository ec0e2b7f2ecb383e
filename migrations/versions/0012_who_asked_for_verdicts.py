"""Who asked for a verdict, and what both sides showed when it was given."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Rows that are there say neither, and stay as they are: they are sealed."""
    evidence = "JSON: what both sides showed, NULL in rows of before schema 0012"
    op.add_column("verdict", sa.Column("evidence", sa.Text(), comment=evidence))
    asker = "Who or what asked, NULL in rows of before schema 0012"
    op.add_column("verdict", sa.Column("asker", sa.Text(), comment=asker))
