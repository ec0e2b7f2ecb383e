"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Identifier = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Small = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("PRAGMA application_id = 0x61626973")
    op.create_table(
        "audit",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("at", sa.Text(), nullable=False, comment="ISO 8601, UTC"),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
        comment="Every mutation, written in the same transaction",
        sqlite_strict=True,
    )
    op.create_table(
        "library",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scheme", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_library")),
        sa.UniqueConstraint("name", name=op.f("uq_library_name")),
        comment="A lineage name, and the scheme that orders its versions",
        sqlite_strict=True,
    )
    op.create_table(
        "name",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("spelling", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_name")),
        sa.UniqueConstraint("kind", "spelling", name=op.f("uq_name_kind_spelling")),
        sqlite_strict=True,
    )
    op.create_table(
        "shape",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False, comment="The canonical JSON that the digest is of"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shape")),
        sa.UniqueConstraint("digest", name=op.f("uq_shape_digest")),
        comment="Content-addressed and append-only, shared by all lines",
        sqlite_strict=True,
    )
    op.create_table(
        "verdict",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("old_digest", sa.LargeBinary(), nullable=False),
        sa.Column("new_digest", sa.LargeBinary(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("verdict", Small, nullable=False),
        sa.Column("breaking", sa.Integer(), nullable=False),
        sa.Column("api_breaks", sa.Integer(), nullable=False),
        sa.Column("risk_changes", sa.Integer(), nullable=False),
        sa.Column("compatible", sa.Integer(), nullable=False),
        sa.Column("judged", sa.Text(), nullable=False, comment="ISO 8601, UTC"),
        sa.Column("comparison", sa.LargeBinary(), nullable=False, comment="The JSON report, zlib"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verdict")),
        comment="Append-only judgements",
        sqlite_strict=True,
    )
    op.create_index("ix_verdict_old_digest_new_digest", "verdict", ["old_digest", "new_digest"], unique=False)
    op.create_table(
        "line",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("library_id", Identifier, nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["library_id"], ["library.id"], name=op.f("fk_line_library_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_line")),
        sa.UniqueConstraint("library_id", "target", "profile", name=op.f("uq_line_library_id_target_profile")),
        comment="What has one history: a library, on one target, in one build profile",
        sqlite_strict=True,
    )
    op.create_table(
        "baseline_move",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("line_id", Identifier, nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=True, comment="NULL where the channel was cleared"),
        sa.Column("moved", sa.Text(), nullable=False, comment="ISO 8601, UTC"),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["line_id"], ["line.id"], name=op.f("fk_baseline_move_line_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_baseline_move")),
        comment="Append-only; a channel stands where its last move put it",
        sqlite_strict=True,
    )
    op.create_index("ix_baseline_move_line_id_channel", "baseline_move", ["line_id", "channel"], unique=False)
    op.create_table(
        "entry",
        sa.Column("line_id", Identifier, autoincrement=False, nullable=False),
        sa.Column("last_seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("facet", Small, autoincrement=False, nullable=False, comment="0 symbol, 1 layout, 2 source"),
        sa.Column("name_id", Identifier, autoincrement=False, nullable=False),
        sa.Column("shape_id", Identifier, autoincrement=False, nullable=False),
        sa.Column("first_seq", sa.Integer(), nullable=False),
        sa.CheckConstraint("first_seq >= 1 AND first_seq <= last_seq", name=op.f("ck_entry_interval")),
        sa.ForeignKeyConstraint(["line_id"], ["line.id"], name=op.f("fk_entry_line_id")),
        sa.ForeignKeyConstraint(["name_id"], ["name.id"], name=op.f("fk_entry_name_id")),
        sa.ForeignKeyConstraint(["shape_id"], ["shape.id"], name=op.f("fk_entry_shape_id")),
        sa.PrimaryKeyConstraint("line_id", "last_seq", "facet", "name_id", "shape_id", name=op.f("pk_entry")),
        comment="A name had a shape in a line's snapshots first_seq..last_seq, as far as they observed the facet",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("ix_entry_name_id", "entry", ["name_id"], unique=False)
    op.create_table(
        "snapshot",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("line_id", Identifier, nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("superseded", Small, nullable=False, comment="1 where another binary has replaced this one"),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("build_id", sa.Text(), nullable=True),
        sa.Column("soname", sa.Text(), nullable=True),
        sa.Column("exports", sa.Integer(), nullable=False),
        sa.Column("declarations", sa.Integer(), nullable=False),
        sa.Column("facets", sa.Text(), nullable=False, comment="JSON: how many names each observed facet has"),
        sa.Column("target", sa.Text(), nullable=False, comment="JSON"),
        sa.Column("provenance", sa.Text(), nullable=False, comment="JSON"),
        sa.Column("evidence", sa.Text(), nullable=False, comment="JSON"),
        sa.Column("revision", sa.Text(), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("ingested", sa.Text(), nullable=False, comment="ISO 8601, UTC"),
        sa.Column("released", sa.Text(), nullable=True, comment="ISO 8601, UTC"),
        sa.CheckConstraint("sequence >= 1", name=op.f("ck_snapshot_sequence")),
        sa.CheckConstraint("superseded IN (0, 1)", name=op.f("ck_snapshot_superseded")),
        sa.ForeignKeyConstraint(["line_id"], ["line.id"], name=op.f("fk_snapshot_line_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot")),
        sa.UniqueConstraint("line_id", "sequence", name=op.f("uq_snapshot_line_id_sequence")),
        sqlite_strict=True,
    )
    op.create_index("ix_snapshot_digest", "snapshot", ["digest"], unique=False)
    op.create_index("ix_snapshot_sha256", "snapshot", ["sha256"], unique=False)
    op.create_index(
        "uq_snapshot_current_version",
        "snapshot",
        ["line_id", "version"],
        unique=True,
        sqlite_where=sa.text("superseded = 0"),
        postgresql_where=sa.text("superseded = 0"),
    )
    op.create_table(
        "location",
        sa.Column("snapshot_id", Identifier, autoincrement=False, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshot.id"], name=op.f("fk_location_snapshot_id")),
        sa.PrimaryKeyConstraint("snapshot_id", name=op.f("pk_location")),
        comment="Where a snapshot's declarations stand, packed: lines move in every release",
        sqlite_strict=True,
    )
