"""Environments: which libraries and programs run together."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

Identifier = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Nothing was recorded of environments before."""
    environments = sa.Column(
        "environments", Identifier, nullable=False, server_default=sa.text("0"), comment="The sum over all environments"
    )
    op.add_column("root", environments)
    op.create_table(
        "environment",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False, comment="ISO 8601, UTC"),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("members", Identifier, nullable=False, comment="The sum over its members"),
        sa.Column("checksum", Identifier, nullable=False, comment="Of all its columns but the sum"),
        sa.PrimaryKeyConstraint("id", name="pk_environment"),
        sa.UniqueConstraint("name", name="uq_environment_name"),
        comment="Where libraries and programs run together: production, a suite, a product",
        sqlite_strict=True,
    )
    op.create_table(
        "environment_member",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("environment_id", Identifier, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False, comment=comment) for name, comment in _TEXTS),
        sa.Column("until", sa.Text(), comment="ISO 8601, UTC: when it was replaced or removed, NULL for what is there"),
        sa.Column("ended_by", sa.Text(), nullable=False, comment="Who replaced or removed it, empty for what is there"),
        sa.Column("checksum", Identifier, nullable=False, comment="Of all its columns, its environment's name"),
        sa.ForeignKeyConstraint(["environment_id"], ["environment.id"], name="fk_environment_member_environment_id"),
        sa.PrimaryKeyConstraint("id", name="pk_environment_member"),
        sa.CheckConstraint("kind IN ('library', 'program')", name=op.f("ck_environment_member_kind")),
        comment="What was recorded of an environment: rows that were replaced stay as its history",
        sqlite_strict=True,
    )
    op.create_index("ix_environment_member_environment_id", "environment_member", ["environment_id"])


_TEXTS = (
    ("kind", "library, or program: a stored consumer"),
    ("name", None),
    ("target", None),
    ("profile", "Empty for a program"),
    ("version", "Empty for a program"),
    ("digest", "The content's, in hexadecimal digits, empty for a program"),
    ("soname", "What programs ask the loader for, empty for a program"),
    ("sha256", "The file's"),
    ("file", "The file's name"),
    ("recorded", "ISO 8601, UTC"),
    ("actor", None),
)
