"""In which build profile an approval holds."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Rows that are there stay as they are, and hold in the default profile only: nobody said another one."""
    profile = "The build profile that it holds in, all for each, NULL for the default one"
    op.add_column("approval", sa.Column("profile", sa.Text(), comment=profile))
    if op.get_bind().dialect.name != "sqlite":
        op.create_table_comment(
            "approval", "Append-only; of a finding in a library, for one scope, target and profile, the last row holds"
        )
