"""What people say of releases and findings: tags of a release, and reviews of a finding."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

Identifier = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Seals leave out the tags of a release that has none, so that no row of before is sealed anew."""
    op.add_column("snapshot", sa.Column("tags", sa.Text(), comment="JSON: the tags, NULL where it has none"))
    reviews = sa.Column(
        "reviews", Identifier, nullable=False, server_default=sa.text("0"), comment="The sum over all reviews"
    )
    op.add_column("root", reviews)
    op.create_table(
        "review",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("library_id", Identifier, nullable=False),
        sa.Column("identity", sa.Text(), nullable=False, comment="The finding's, in hexadecimal digits"),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reviewed", sa.Text(), nullable=False, comment="ISO 8601, UTC"),
        sa.Column("checksum", Identifier, nullable=False, comment="Of all its columns, its library's name"),
        sa.ForeignKeyConstraint(["library_id"], ["library.id"], name="fk_review_library_id"),
        sa.PrimaryKeyConstraint("id", name="pk_review"),
        comment="Append-only; what was said of a finding last holds",
        sqlite_strict=True,
    )
    op.create_index("ix_review_library_id", "review", ["library_id"], unique=False)
