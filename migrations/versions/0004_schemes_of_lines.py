"""A line may keep the order that it had before labels were ordered each by itself.

Which lines need to is found by the upgrade that runs this (`abistore.store.order`).
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

COMMENT = "What ordered its versions before schema 0004; NULL where its library's scheme does"


def upgrade() -> None:
    op.add_column("line", sa.Column("scheme", sa.Text(), comment=COMMENT))
