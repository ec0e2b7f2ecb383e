"""The tables of a store, as SQLAlchemy Core metadata, and the checksums that rows carry.

A row has a checksum of what it says. What it belongs to has the sum of these, which tells whether a row is missing: a
line has that of its snapshots, a library of its lines, the root of the libraries. A sum is kept by adding the
difference, so that a change costs what it changes, and two writers need not know of each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    text,
)
from sqlalchemy.schema import SchemaItem

from abistore.model.snapshot import digest, encode

Part: TypeAlias = tuple[str, tuple[str, ...]]
"""What a table consists of, such as a ``unique index`` of some columns."""

Parts: TypeAlias = Mapping[str, set[Part]]
"""The parts of each table."""


def column_part(name: str) -> Part:
    """A column."""
    return "column", (name,)


def key_part(columns: Iterable[str]) -> Part:
    """A primary key."""
    return "primary key", tuple(columns)


def index_part(unique: bool | None, columns: Iterable[str]) -> Part:
    """An index, or a constraint that is kept by one."""
    return "unique index" if unique else "index", tuple(columns)


def reference_part(table: str, columns: Iterable[str]) -> Part:
    """A foreign key."""
    return f"reference to {table}", tuple(columns)


def inspected(connection: Connection, tables: Sequence[str]) -> Parts:
    """The parts of each of ``tables``, by SQLAlchemy: a server is asked once for all of them."""
    found: dict[str, set[Part]] = {table: set() for table in tables}
    if not tables:  # no names would mean all
        return found
    inspector = inspect(connection)
    for (_, table), columns in inspector.get_multi_columns(filter_names=tables).items():
        found[table] |= {column_part(column["name"]) for column in columns}
    for (_, table), indexes in inspector.get_multi_indexes(filter_names=tables).items():
        found[table] |= {
            index_part(index["unique"], (name or "" for name in index["column_names"])) for index in indexes
        }
    for (_, table), uniques in inspector.get_multi_unique_constraints(filter_names=tables).items():
        found[table] |= {index_part(True, unique["column_names"]) for unique in uniques}
    for (_, table), key in inspector.get_multi_pk_constraint(filter_names=tables).items():
        found[table] |= {key_part(key["constrained_columns"])} if key else set()
    for (_, table), references in inspector.get_multi_foreign_keys(filter_names=tables).items():
        found[table] |= {reference_part(each["referred_table"], each["constrained_columns"]) for each in references}
    return found


MASK = (1 << 40) - 1
"""Checksums have 40 bits: eight million of them have a sum that a database's integer holds."""

_LINE, _FACET, _FIRST, _LAST = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93
_WORD = (1 << 64) - 1


def checksum(*values: object) -> int:
    """The checksum of a row that says ``values``."""
    return of_bytes(encode(values))


def of_bytes(data: bytes) -> int:
    """The checksum of ``data``."""
    return int.from_bytes(digest(data)[:5], "big")


def key(digest: bytes) -> int:
    """A digest as the number that :func:`member` and :func:`entry` take."""
    return int.from_bytes(digest[:8], "big")


def member(facet: int, name: int, shape: int) -> int:
    """The checksum of one shape of a name in one facet of a snapshot: ``name`` and ``shape`` are keys of digests.

    A snapshot has thousands: a product mixes two digests as well as a third one would, in a tenth of the time.
    """
    return ((name + facet) * shape >> 44) & MASK


def entry_seal(line: int, facet: int, shape: int, first: int, last: int) -> int:
    """The checksum of an entry of a name; ``shape`` is the key of its digest."""
    place = (line * _LINE + facet * _FACET + first * _FIRST + last * _LAST) & _WORD | 1
    return (shape * place >> 44) & MASK


class StoredBytes(LargeBinary):
    """Bytes as the drivers take and give them: in a damaged file a number may stand for them, which is no length."""

    def bind_processor(self, dialect: Dialect) -> None:
        """Pass the bytes on."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """Pass on what was read."""


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

Identifier = BigInteger().with_variant(Integer(), "sqlite")
Small = SmallInteger().with_variant(Integer(), "sqlite")
Checksum = BigInteger().with_variant(Integer(), "sqlite")
"""Of a row, or the sum of those of several rows: see :mod:`abistore.store.tables`."""


def _table(name: str, *parts: SchemaItem, **options: Any) -> Table:
    """A table of the store; one in SQLite too holds nothing but what its columns say."""
    return Table(name, metadata, *parts, **options, sqlite_strict=True)


root = _table(
    "root",
    Column("id", Identifier, primary_key=True, autoincrement=False),
    Column("libraries", Checksum, nullable=False, comment="The sum over all libraries"),
    Column("audit", StoredBytes, nullable=False, comment="The digest of the last row of the audit"),
    Column("reviews", Checksum, nullable=False, server_default=text("0"), comment="The sum over all reviews"),
    Column("approvals", Checksum, nullable=False, server_default=text("0"), comment="The sum over all approvals"),
    Column("consumers", Checksum, nullable=False, server_default=text("0"), comment="The sum over all consumers"),
    Column("environments", Checksum, nullable=False, server_default=text("0"), comment="The sum over all environments"),
    Column("rules", Checksum, nullable=False, server_default=text("0"), comment="The sum over all bound rules"),
    CheckConstraint("id = 1", name="one"),
    comment="One row, that tells whether a library, the end of the audit, a review or an approval is missing",
)

library = _table(
    "library",
    Column("id", Identifier, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("scheme", Text, nullable=False),
    Column("lines", Checksum, nullable=False, comment="The sum over its lines, as far as they never change"),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns"),
    comment="A lineage name, and the scheme that orders its versions",
)

line = _table(
    "line",
    Column("id", Identifier, primary_key=True),
    Column("library_id", Identifier, ForeignKey("library.id"), nullable=False),
    Column("target", Text, nullable=False),
    Column("profile", Text, nullable=False),
    Column("releases", Checksum, nullable=False, comment="The sum over its releases"),
    Column("candidates", Checksum, nullable=False, comment="The sum over its candidates"),
    Column("moves", Checksum, nullable=False, comment="The sum over its baselines' moves"),
    Column(
        "scheme", Text, comment="What ordered its versions before schema 0004; NULL where its library's scheme does"
    ),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns; 0 before its first snapshot"),
    UniqueConstraint("library_id", "target", "profile"),
    comment="What has one history: a library, on one target, in one build profile",
)

CURRENT_VERSION = Index(
    "uq_snapshot_current_version", "line_id", "version", "candidate", unique=True, sqlite_where=text("superseded = 0")
)
"""Its condition for PostgreSQL is said where that is connected to: saying it here loads a dialect that few need."""

snapshot = _table(
    "snapshot",
    Column("id", Identifier, primary_key=True),
    Column("line_id", Identifier, ForeignKey("line.id"), nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("version", Text, nullable=False),
    Column("superseded", Small, nullable=False, comment="1 where another binary has replaced this one"),
    Column("digest", StoredBytes, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("size", Identifier, nullable=False, comment="The file's, in bytes"),
    Column("read_here", Small, nullable=False, comment="1 where it was read from the file itself, and not from JSON"),
    Column("build_id", Text),
    Column("soname", Text),
    Column("exports", Integer, nullable=False),
    Column("declarations", Integer, nullable=False),
    Column("facets", Text, nullable=False, comment="JSON: how many names each observed facet has"),
    Column("target", Text, nullable=False, comment="JSON"),
    Column("provenance", Text, nullable=False, comment="JSON"),
    Column("evidence", Text, nullable=False, comment="JSON"),
    Column("revision", Text),
    Column("url", Text),
    Column("ingested", Text, nullable=False, comment="ISO 8601, UTC"),
    Column("released", Text, comment="ISO 8601, UTC"),
    Column("candidate", Small, nullable=False, server_default=text("0"), comment="1 where it failed its gate"),
    Column("members", Checksum, nullable=False, comment="The sum over its entries"),
    Column("places", Checksum, comment="Of its locations, NULL where it has none"),
    Column("former", StoredBytes, comment="Its digest before schema 0009, NULL where it was ingested since"),
    Column("tags", Text, comment="JSON: the tags, NULL where it has none"),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns, and its line's labels"),
    UniqueConstraint("line_id", "sequence"),
    CheckConstraint("sequence >= 1", name="sequence"),
    CheckConstraint("superseded IN (0, 1)", name="superseded"),
    CheckConstraint("read_here IN (0, 1)", name="read_here"),
    Index("ix_snapshot_digest", "digest"),
    Index("ix_snapshot_former", "former"),
    Index("ix_snapshot_sha256", "sha256"),
    Index("ix_snapshot_size", "size"),
    CURRENT_VERSION,
)

location = _table(
    "location",
    Column("snapshot_id", Identifier, ForeignKey("snapshot.id"), primary_key=True, autoincrement=False),
    Column("body", StoredBytes, nullable=False),
    comment="Where a snapshot's declarations stand, packed: lines move in every release",
)

name = _table(
    "name",
    Column("id", Identifier, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("spelling", Text, nullable=False),
    Column("digest", StoredBytes, nullable=False, unique=True),
    Column("entries", Checksum, nullable=False, comment="The sum over its entries in all lines"),
    comment="Unique by the digest of kind and spelling: a spelling may be longer than an index allows",
)

calling = _table(
    "calling",
    Column("word", Identifier, primary_key=True, autoincrement=False, comment="The CRC-32 of a qualified name"),
    Column("name_id", Identifier, ForeignKey("name.id"), primary_key=True, autoincrement=False),
    comment="What a programmer may call a function or variable: see abistore.store.names",
    sqlite_with_rowid=False,
)

calling_sum = _table(
    "calling_sum",
    Column("bucket", Identifier, primary_key=True, autoincrement=False, comment="The first 10 of 32 bits of a word"),
    Column("sum", Checksum, nullable=False, comment="The sum over the rows of calling that have such words"),
)

shape = _table(
    "shape",
    Column("id", Identifier, primary_key=True),
    Column("digest", StoredBytes, nullable=False, unique=True),
    Column("body", Text, nullable=False, comment="The canonical JSON that the digest is of"),
    comment="Content-addressed and append-only, shared by all lines",
)

entry = _table(
    "entry",
    Column("line_id", Identifier, ForeignKey("line.id"), primary_key=True, autoincrement=False),
    Column("last_seq", Integer, primary_key=True, autoincrement=False),
    Column("facet", Small, primary_key=True, autoincrement=False, comment="0 symbol, 1 layout, 2 source"),
    Column("name_id", Identifier, ForeignKey("name.id"), primary_key=True, autoincrement=False),
    Column("shape_id", Identifier, ForeignKey("shape.id"), primary_key=True, autoincrement=False),
    Column("first_seq", Integer, nullable=False),
    CheckConstraint("first_seq >= 1 AND first_seq <= last_seq", name="interval"),
    Index("ix_entry_name_id", "name_id"),
    comment="A name had a shape in a line's snapshots first_seq..last_seq, as far as they observed the facet",
    sqlite_with_rowid=False,
)

OPEN = 2**31 - 1
"""``last_seq`` of an entry that held in the line's latest snapshot of its facet."""

baseline_move = _table(
    "baseline_move",
    Column("id", Identifier, primary_key=True),
    Column("line_id", Identifier, ForeignKey("line.id"), nullable=False),
    Column("channel", Text, nullable=False),
    Column("version", Text, comment="NULL where the channel was cleared"),
    Column("moved", Text, nullable=False, comment="ISO 8601, UTC"),
    Column("actor", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("digest", StoredBytes, comment="The content that it was moved to"),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns, and its line's labels"),
    Index("ix_baseline_move_line_id_channel", "line_id", "channel"),
    comment="Append-only; a channel stands where its last move put it",
)

verdict = _table(
    "verdict",
    Column("id", Identifier, primary_key=True),
    Column("old_id", Identifier, ForeignKey("snapshot.id"), nullable=False),
    Column("new_id", Identifier, ForeignKey("snapshot.id"), nullable=False),
    Column("policy", Text, nullable=False),
    Column("policy_digest", Text, nullable=False),
    Column("suppression_digest", Text, nullable=False),
    Column("engine", Text, nullable=False),
    Column("verdict", Small, nullable=False),
    Column("breaking", Integer, nullable=False),
    Column("api_breaks", Integer, nullable=False),
    Column("risk_changes", Integer, nullable=False),
    Column("compatible", Integer, nullable=False),
    Column("notices", Integer, nullable=False),
    Column("suppressed", Integer, nullable=False),
    Column("not_checked", Integer, nullable=False),
    Column("added", Integer, nullable=False),
    Column("removed", Integer, nullable=False),
    Column("changed", Integer, nullable=False),
    Column("judged", Text, nullable=False, comment="ISO 8601, UTC"),
    Column("evidence", Text, comment="JSON: what both sides showed, NULL in rows of before schema 0012"),
    Column("asker", Text, comment="Who or what asked, NULL in rows of before schema 0012"),
    Column("brought", Small, comment="1 where another store gave it, NULL where this one did"),
    Column("parts", Checksum, nullable=False, comment="Of its parts"),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns that are not NULL"),
    Index("ix_verdict_new_id_old_id", "new_id", "old_id"),
    comment="Append-only judgements: what a timeline shows of them",
)

finding = _table(
    "finding",
    Column("id", Identifier, primary_key=True),
    Column("key", StoredBytes, nullable=False, unique=True, comment="Its identity, then a digest of its body"),
    Column("verdict_id", Identifier, ForeignKey("verdict.id"), nullable=False, comment="The first that had it"),
    Column("body", StoredBytes, nullable=False, comment="JSON, deflated with a dictionary"),
    Column("checksum", Checksum, nullable=False, comment="Of its key and its first verdict; the key is of its body"),
    comment="Content-addressed and append-only, shared by all verdicts: facts, and nothing that the releases tell",
)

consequence = _table(
    "consequence",
    Column("identity", StoredBytes, primary_key=True),
    Column("finding_id", Identifier, ForeignKey("finding.id"), primary_key=True, autoincrement=False),
    comment="In which findings a consequence of this identity is told",
    sqlite_with_rowid=False,
)

verdict_part = _table(
    "verdict_part",
    Column("verdict_id", Identifier, ForeignKey("verdict.id"), primary_key=True, autoincrement=False),
    Column("part", Text, primary_key=True, comment="findings, suppressed, advice: ids, packed; remarks: JSON, zlib"),
    Column("body", StoredBytes, nullable=False),
    comment="What a verdict consists of, as far as a timeline does not show it",
)

review = _table(
    "review",
    Column("id", Identifier, primary_key=True),
    Column("library_id", Identifier, ForeignKey("library.id"), nullable=False),
    Column("identity", Text, nullable=False, comment="The finding's, in hexadecimal digits"),
    Column("state", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("reviewed", Text, nullable=False, comment="ISO 8601, UTC"),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns, its library's name"),
    Index("ix_review_library_id", "library_id"),
    comment="Append-only; what was said of a finding last holds",
)

approval = _table(
    "approval",
    Column("id", Identifier, primary_key=True),
    Column("library_id", Identifier, ForeignKey("library.id"), nullable=False),
    Column("identity", Text, nullable=False, comment="The finding's, in hexadecimal digits"),
    Column("facts", Text, comment="JSON: what the finding says, NULL where no stored comparison had it"),
    Column("scope", Text, nullable=False),
    Column("until", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("ticket", Text, nullable=False),
    Column("approver", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("approved", Text, nullable=False, comment="ISO 8601, UTC"),
    Column("origin", Text, nullable=False, comment="Where it came from, empty where somebody typed it here"),
    Column("withdrawn", Small, nullable=False, comment="1 where it takes back what was approved"),
    Column("target", Text, comment="The one that it holds on, NULL for all"),
    Column("stood_at", Text, comment="The version that the line ended with when it was given, NULL where nobody knows"),
    Column("profile", Text, comment="The build profile that it holds in, all for each, NULL for the default one"),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns, its library's name"),
    Index("ix_approval_library_id", "library_id"),
    CheckConstraint("withdrawn IN (0, 1)", name="withdrawn"),
    comment="Append-only; of a finding in a library, for one scope, target and profile, the last row holds",
)

consumer = _table(
    "consumer",
    Column("id", Identifier, primary_key=True),
    Column("name", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("file", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("needed", Text, nullable=False, comment="JSON: the libraries that it asks the loader for"),
    Column("unseen", Text, nullable=False, comment="JSON: what of it is not checked"),
    Column("package", Text, nullable=False, comment="What it was found in, empty where it was a file of its own"),
    Column("imports", Integer, nullable=False),
    Column("types", Integer, nullable=False),
    Column("added", Text, nullable=False, comment="ISO 8601, UTC"),
    Column("actor", Text, nullable=False),
    Column("imported", Checksum, nullable=False, comment="Of what it imports"),
    Column("built", Checksum, nullable=False, comment="The sum over the types that it was built with"),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns"),
    UniqueConstraint("name", "target"),
    comment="A program, or a library that uses others",
)

consumer_import = _table(
    "consumer_import",
    Column("consumer_id", Identifier, ForeignKey("consumer.id"), primary_key=True, autoincrement=False),
    Column("body", StoredBytes, nullable=False, comment="JSON, zlib"),
    comment="The symbols that a consumer imports, packed: they are asked for together",
)

consumer_type = _table(
    "consumer_type",
    Column("consumer_id", Identifier, ForeignKey("consumer.id"), primary_key=True, autoincrement=False),
    Column("name_id", Identifier, ForeignKey("name.id"), primary_key=True, autoincrement=False),
    Column("shape_id", Identifier, ForeignKey("shape.id"), primary_key=True, autoincrement=False),
    Column("file", Text, nullable=False, comment="The base name of the file that declares it, empty if not known"),
    comment="A type that a consumer was built with, as its debug information shows it",
    sqlite_with_rowid=False,
)

environment = _table(
    "environment",
    Column("id", Identifier, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created", Text, nullable=False, comment="ISO 8601, UTC"),
    Column("actor", Text, nullable=False),
    Column("members", Checksum, nullable=False, comment="The sum over its members"),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns but the sum"),
    comment="Where libraries and programs run together: production, a suite, a product",
)

environment_member = _table(
    "environment_member",
    Column("id", Identifier, primary_key=True),
    Column("environment_id", Identifier, ForeignKey("environment.id"), nullable=False),
    Column("kind", Text, nullable=False, comment="library, or program: a stored consumer"),
    Column("name", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("profile", Text, nullable=False, comment="Empty for a program"),
    Column("version", Text, nullable=False, comment="Empty for a program"),
    Column("digest", Text, nullable=False, comment="The content's, in hexadecimal digits, empty for a program"),
    Column("soname", Text, nullable=False, comment="What programs ask the loader for, empty for a program"),
    Column("sha256", Text, nullable=False, comment="The file's"),
    Column("file", Text, nullable=False, comment="The file's name"),
    Column("recorded", Text, nullable=False, comment="ISO 8601, UTC"),
    Column("actor", Text, nullable=False),
    Column("until", Text, comment="ISO 8601, UTC: when it was replaced or removed, NULL for what is there"),
    Column("ended_by", Text, nullable=False, comment="Who replaced or removed it, empty for what is there"),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns, its environment's name"),
    Index("ix_environment_member_environment_id", "environment_id"),
    CheckConstraint("kind IN ('library', 'program')", name="kind"),
    comment="What was recorded of an environment: rows that were replaced stay as its history",
)

bound_rule = _table(
    "bound_rule",
    Column("id", Identifier, primary_key=True),
    Column("pattern", Text, nullable=False, comment="A glob of names of libraries"),
    Column("policy", Text, nullable=False, comment="Empty where none is bound"),
    Column("policy_text", Text, nullable=False, comment="The policy's file, empty for a profile"),
    Column("scheme", Text, nullable=False, comment="Empty where none is bound"),
    Column("require", Text, nullable=False, comment="Facets, separated by commas"),
    Column("reason", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("bound", Text, nullable=False, comment="ISO 8601, UTC"),
    Column("since_soname", Small, nullable=False, comment="1 where no release may break an earlier one of its SONAME"),
    Column("withdrawn", Small, nullable=False, comment="1 where it takes back what was bound"),
    Column("checksum", Checksum, nullable=False, comment="Of all its columns"),
    CheckConstraint("since_soname IN (0, 1)", name="since_soname"),
    CheckConstraint("withdrawn IN (0, 1)", name="withdrawn"),
    comment="Append-only; of a pattern the last row holds",
)

audit = _table(
    "audit",
    Column("id", Identifier, primary_key=True),
    Column("at", Text, nullable=False, comment="ISO 8601, UTC"),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("digest", StoredBytes, nullable=False, comment="Of this row and of the digest of the row before"),
    comment="Every mutation, written in the same transaction",
)

version = Table(
    "abistore_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="abistore_version_pkc"),
    comment="Alembic's: which schema the database has; its presence also tells a store from anybody else's database",
)
