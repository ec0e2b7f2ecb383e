"""Approvals: breaks that people accepted, where and until when."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

Identifier = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Small = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Nothing was approved before."""
    approvals = sa.Column(
        "approvals", Identifier, nullable=False, server_default=sa.text("0"), comment="The sum over all approvals"
    )
    op.add_column("root", approvals)
    facts = "JSON: what the finding says, NULL where no stored comparison had it"
    origin = "Where it came from, empty where somebody typed it here"
    op.create_table(
        "approval",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("library_id", Identifier, nullable=False),
        sa.Column("identity", sa.Text(), nullable=False, comment="The finding's, in hexadecimal digits"),
        sa.Column("facts", sa.Text(), comment=facts),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("scope", "until", "reason", "ticket", "approver", "actor")
        ),
        sa.Column("approved", sa.Text(), nullable=False, comment="ISO 8601, UTC"),
        sa.Column("origin", sa.Text(), nullable=False, comment=origin),
        sa.Column("withdrawn", Small, nullable=False, comment="1 where it takes back what was approved"),
        sa.Column("checksum", Identifier, nullable=False, comment="Of all its columns, its library's name"),
        sa.CheckConstraint("withdrawn IN (0, 1)", name=op.f("ck_approval_withdrawn")),
        sa.ForeignKeyConstraint(["library_id"], ["library.id"], name="fk_approval_library_id"),
        sa.PrimaryKeyConstraint("id", name="pk_approval"),
        comment="Append-only; of a finding in a library, for one scope, the last row holds",
        sqlite_strict=True,
    )
    op.create_index("ix_approval_library_id", "approval", ["library_id"], unique=False)
