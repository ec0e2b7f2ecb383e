"""Rules that the gates of a library obey, whatever they are asked."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

Identifier = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Small = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Nothing was bound before."""
    rules = sa.Column(
        "rules", Identifier, nullable=False, server_default=sa.text("0"), comment="The sum over all bound rules"
    )
    op.add_column("root", rules)
    op.create_table(
        "bound_rule",
        sa.Column("id", Identifier, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False, comment=comment) for name, comment in _TEXTS),
        *(sa.Column(name, Small, nullable=False, comment=comment) for name, comment in _WORDS),
        sa.Column("checksum", Identifier, nullable=False, comment="Of all its columns"),
        sa.PrimaryKeyConstraint("id", name="pk_bound_rule"),
        sa.CheckConstraint("since_soname IN (0, 1)", name=op.f("ck_bound_rule_since_soname")),
        sa.CheckConstraint("withdrawn IN (0, 1)", name=op.f("ck_bound_rule_withdrawn")),
        comment="Append-only; of a pattern the last row holds",
        sqlite_strict=True,
    )


_TEXTS = (
    ("pattern", "A glob of names of libraries"),
    ("policy", "Empty where none is bound"),
    ("policy_text", "The policy's file, empty for a profile"),
    ("scheme", "Empty where none is bound"),
    ("require", "Facets, separated by commas"),
    ("reason", None),
    ("actor", None),
    ("bound", "ISO 8601, UTC"),
)
_WORDS = (
    ("since_soname", "1 where no release may break an earlier one of its SONAME"),
    ("withdrawn", "1 where it takes back what was bound"),
)
