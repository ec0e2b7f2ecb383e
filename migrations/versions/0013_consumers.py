"""Consumers: programs, and libraries that use others."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

Identifier = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Bytes = sa.LargeBinary


def upgrade() -> None:
    """Nothing was known of consumers before."""
    consumers = sa.Column(
        "consumers", Identifier, nullable=False, server_default=sa.text("0"), comment="The sum over all consumers"
    )
    op.add_column("root", consumers)
    op.create_table(
        "consumer",
        sa.Column("id", Identifier, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("name", "target", "file", "sha256")),
        sa.Column("needed", sa.Text(), nullable=False, comment="JSON: the libraries that it asks the loader for"),
        sa.Column("unseen", sa.Text(), nullable=False, comment="JSON: what of it is not checked"),
        sa.Column(
            "package",
            sa.Text(),
            nullable=False,
            comment="What it was found in, empty where it was a file of its own",
        ),
        sa.Column("imports", sa.Integer(), nullable=False),
        sa.Column("types", sa.Integer(), nullable=False),
        sa.Column("added", sa.Text(), nullable=False, comment="ISO 8601, UTC"),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("imported", Identifier, nullable=False, comment="Of what it imports"),
        sa.Column("built", Identifier, nullable=False, comment="The sum over the types that it was built with"),
        sa.Column("checksum", Identifier, nullable=False, comment="Of all its columns"),
        sa.PrimaryKeyConstraint("id", name="pk_consumer"),
        sa.UniqueConstraint("name", "target", name="uq_consumer_name_target"),
        comment="A program, or a library that uses others",
        sqlite_strict=True,
    )
    op.create_table(
        "consumer_import",
        sa.Column("consumer_id", Identifier, nullable=False, autoincrement=False),
        sa.Column("body", Bytes(), nullable=False, comment="JSON, zlib"),
        sa.ForeignKeyConstraint(["consumer_id"], ["consumer.id"], name="fk_consumer_import_consumer_id"),
        sa.PrimaryKeyConstraint("consumer_id", name="pk_consumer_import"),
        comment="The symbols that a consumer imports, packed: they are asked for together",
        sqlite_strict=True,
    )
    file = "The base name of the file that declares it, empty if not known"
    op.create_table(
        "consumer_type",
        *(
            sa.Column(f"{of}_id", Identifier, nullable=False, autoincrement=False)
            for of in ("consumer", "name", "shape")
        ),
        sa.Column("file", sa.Text(), nullable=False, comment=file),
        *(
            sa.ForeignKeyConstraint([f"{of}_id"], [f"{of}.id"], name=f"fk_consumer_type_{of}_id")
            for of in ("consumer", "name", "shape")
        ),
        sa.PrimaryKeyConstraint("consumer_id", "name_id", "shape_id", name="pk_consumer_type"),
        comment="A type that a consumer was built with, as its debug information shows it",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
