"""Checksums of rows, sums that tell whether rows are missing, names by digest, a chained audit, what was read here.

Which releases were read from a file here, and which came in as JSON, nobody recorded: a JSON snapshot carries the
provenance of the file it was made from, the name of the reader included, so that this proves nothing. None is taken
for read here; the next ingest of such a file reads it once more, finds the same content and notes so.

Lines of another platform than Linux, such as FreeBSD, get its name into their target where all their releases are of
it. A line that holds releases of several stays as it is: those can still be read, and new ones get lines of their own.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

Checksum = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Small = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")

FACETS = ("symbol", "layout", "source")
LINUX = {"sysv", "gnu", "linux"}
OPEN = 2**31 - 1
MASK = (1 << 40) - 1
BATCH = 5000

ADDED = {
    "library": {"lines": Checksum, "checksum": Checksum},
    "line": {"releases": Checksum, "candidates": Checksum, "moves": Checksum, "checksum": Checksum},
    "snapshot": {
        "size": Checksum,
        "read_here": Small,
        "members": Checksum,
        "places": Checksum,
        "checksum": Checksum,
    },
    "name": {"digest": sa.LargeBinary(), "entries": Checksum},
    "baseline_move": {"checksum": Checksum},
    "audit": {"digest": sa.LargeBinary()},
}
COMMENTS = {
    "library.lines": "The sum over its lines, as far as they never change",
    "library.checksum": "Of all its columns",
    "line.releases": "The sum over its releases",
    "line.candidates": "The sum over its candidates",
    "line.moves": "The sum over its baselines' moves",
    "line.checksum": "Of all its columns; 0 before its first snapshot",
    "snapshot.size": "The file's, in bytes",
    "snapshot.read_here": "1 where it was read from the file itself, and not from JSON",
    "snapshot.members": "The sum over its entries",
    "snapshot.places": "Of its locations, NULL where it has none",
    "snapshot.checksum": "Of all its columns, and its line's labels",
    "name.entries": "The sum over its entries in all lines",
    "baseline_move.checksum": "Of all its columns, and its line's labels",
    "audit.digest": "Of this row and of the digest of the row before",
}
SEALED = (
    "snapshot.id, library.name, line.target, line.profile, snapshot.sequence, snapshot.version, "
    "snapshot.superseded, snapshot.digest, snapshot.sha256, snapshot.size, snapshot.read_here, "
    "snapshot.build_id, snapshot.soname, snapshot.exports, snapshot.declarations, snapshot.facets, "
    "snapshot.target, snapshot.provenance, snapshot.evidence, snapshot.revision, snapshot.url, "
    "snapshot.ingested, snapshot.released, snapshot.candidate, snapshot.members, snapshot.places"
)
LABELS = "JOIN line ON line.id = {0}.line_id JOIN library ON library.id = line.library_id"


def upgrade() -> None:
    _create_root()
    for table, columns in ADDED.items():
        for column, type_ in columns.items():
            op.add_column(table, sa.Column(column, type_, nullable=True, comment=COMMENTS.get(f"{table}.{column}")))
    _name_platforms()
    _fill_names()
    _fill_entry_sums()
    _fill_cards()
    _fill_moves()
    _fill_lines()
    _fill_audit()
    _constrain()


def _create_root() -> None:
    op.create_table(
        "root",
        sa.Column("id", Checksum, autoincrement=False, nullable=False),
        sa.Column("libraries", Checksum, nullable=False, comment="The sum over all libraries"),
        sa.Column("audit", sa.LargeBinary(), nullable=False, comment="The digest of the last row of the audit"),
        sa.CheckConstraint("id = 1", name=op.f("ck_root_one")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_root")),
        comment="One row, that tells whether a library or the end of the audit is missing",
        sqlite_strict=True,
    )
    op.get_bind().execute(sa.text("INSERT INTO root (id, libraries, audit) VALUES (1, 0, :none)"), {"none": b""})


def _constrain() -> None:
    with op.batch_alter_table("name", table_kwargs={"sqlite_strict": True}) as batch:
        batch.drop_constraint("uq_name_kind_spelling", type_="unique")
        batch.alter_column("digest", nullable=False, existing_type=sa.LargeBinary())
        batch.alter_column("entries", nullable=False, existing_type=Checksum)
        batch.create_unique_constraint(op.f("uq_name_digest"), ["digest"])
    if op.get_bind().dialect.name != "sqlite":
        op.create_table_comment(
            "name", "Unique by the digest of kind and spelling: a spelling may be longer than an index allows"
        )
    for table in ("library", "line", "snapshot", "baseline_move", "audit"):
        with op.batch_alter_table(table, table_kwargs={"sqlite_strict": True}) as batch:
            for column, type_ in ADDED[table].items():
                if column != "places":
                    batch.alter_column(column, nullable=False, existing_type=type_)
            if table == "snapshot":
                batch.create_check_constraint(op.f("ck_snapshot_read_here"), "read_here IN (0, 1)")
    op.create_index("ix_snapshot_size", "snapshot", ["size"], unique=False)


# --- what is computed: as abistore did when this schema was new ---------------------------------------------------


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16, person=b"abistore-1").digest()


_encode = msgspec.json.Encoder(order="deterministic").encode


def _checksum(*values: object) -> int:
    return int.from_bytes(_digest(_encode(values))[:5], "big")


def _key(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "big")


def _member(facet: int, name: int, shape: int) -> int:
    return ((name + facet) * shape >> 44) & MASK


def _entry(line: int, facet: int, shape: int, first: int, last: int) -> int:
    place = line * 0x9E3779B97F4A7C15 + facet * 0xC2B2AE3D27D4EB4F
    place += first * 0x165667B19E3779F9 + last * 0xD6E8FEB86659FD93
    return (shape * (place & (1 << 64) - 1 | 1) >> 44) & MASK


# --- filling ------------------------------------------------------------------------------------------------------


def _rows(statement: str, **values: Any) -> list[Any]:
    return list(op.get_bind().execute(sa.text(statement), values).all())


def _change(statement: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        op.get_bind().execute(sa.text(statement), rows)


def _batches(columns: str, table: str) -> Iterator[list[Any]]:
    last = -1
    while rows := _rows(f"SELECT id, {columns} FROM {table} WHERE id > :last ORDER BY id LIMIT {BATCH}", last=last):
        yield rows
        last = rows[-1][0]


def _name_platforms() -> None:
    platforms = defaultdict(set)
    for line, target in _rows("SELECT line_id, target FROM snapshot"):
        os_abi = json.loads(target).get("os_abi", "sysv")
        platforms[line].add("" if os_abi in LINUX else f"-{os_abi}")
    for line, found in platforms.items():
        if len(found) == 1 and (suffix := found.pop()):
            _change("UPDATE line SET target = target || :suffix WHERE id = :line", [{"suffix": suffix, "line": line}])


def _fill_names() -> None:
    for rows in _batches("kind, spelling", "name"):
        filled = [{"id": id_, "digest": _digest(_encode((kind, text)))} for id_, kind, text in rows]
        _change("UPDATE name SET digest = :digest, entries = 0 WHERE id = :id", filled)


def _fill_entry_sums() -> None:
    """The sums over the entries: of each name, and of each snapshot, line by line."""
    for (line,) in _rows("SELECT id FROM line ORDER BY id"):
        names: dict[int, int] = defaultdict(int)
        steps: list[dict[int, int]] = [defaultdict(int) for _ in FACETS]
        statement = (
            "SELECT entry.facet, entry.name_id, entry.first_seq, entry.last_seq, name.digest, shape.digest FROM entry "
            "JOIN name ON name.id = entry.name_id JOIN shape ON shape.id = entry.shape_id WHERE entry.line_id = :line"
        )
        for facet, name_id, first, last, name, shape in _rows(statement, line=line):
            names[name_id] += _entry(line, facet, _key(shape), first, last)
            member = _member(facet, _key(name), _key(shape))
            steps[facet][first] += member
            steps[facet][last + 1] -= member
        sums = [{"id": id_, "sum": sum_} for id_, sum_ in sorted(names.items())]
        _change("UPDATE name SET entries = entries + :sum WHERE id = :id", sums)
        _fill_members(line, steps)


def _fill_members(line: int, steps: list[dict[int, int]]) -> None:
    cards = _rows("SELECT id, sequence, facets FROM snapshot WHERE line_id = :line ORDER BY sequence", line=line)
    totals = []
    for step in steps:
        places = sorted({card[1] for card in cards} | step.keys())
        totals.append(dict(zip(places, accumulate(step.get(place, 0) for place in places), strict=True)))
    filled = []
    for id_, sequence, facets in cards:
        counts = json.loads(facets)
        held = [number for number, facet in enumerate(FACETS) if counts.get(facet)]
        filled.append({"id": id_, "members": sum(totals[number][sequence] for number in held)})
    _change("UPDATE snapshot SET members = :members WHERE id = :id", filled)


def _fill_cards() -> None:
    for rows in _batches("provenance", "snapshot"):
        filled = [{"id": id_, "size": json.loads(provenance).get("size", 0)} for id_, provenance in rows]
        _change("UPDATE snapshot SET size = :size, read_here = 0 WHERE id = :id", filled)
    for id_, body in _rows("SELECT snapshot_id, body FROM location"):
        places = int.from_bytes(_digest(body)[:5], "big")
        _change("UPDATE snapshot SET places = :places WHERE id = :id", [{"id": id_, "places": places}])
    rows = _rows(f"SELECT {SEALED} FROM snapshot {LABELS.format('snapshot')}")
    _change("UPDATE snapshot SET checksum = :sum WHERE id = :id", [{"id": r[0], "sum": _checksum(*r)} for r in rows])


def _fill_moves() -> None:
    columns = (
        "id, library.name, line.target, line.profile, channel, version, moved, actor, reason, baseline_move.digest"
    )
    rows = _rows(f"SELECT baseline_move.{columns} FROM baseline_move {LABELS.format('baseline_move')}")
    filled = [{"id": row[0], "sum": _checksum(*row)} for row in rows]
    _change("UPDATE baseline_move SET checksum = :sum WHERE id = :id", filled)


def _fill_lines() -> None:
    moves = {
        line: int(total) for line, total in _rows("SELECT line_id, sum(checksum) FROM baseline_move GROUP BY line_id")
    }
    cards: dict[tuple[int, int], int] = {}
    statement = "SELECT line_id, candidate, sum(checksum * (1 - superseded)) FROM snapshot GROUP BY line_id, candidate"
    for line, candidate, total in _rows(statement):
        cards[line, candidate] = int(total)
    for id_, *identity in _rows("SELECT id, library_id, target, profile FROM line"):
        sums = [cards.get((id_, 0), 0), cards.get((id_, 1), 0), moves.get(id_, 0)]
        used = any((id_, candidate) in cards for candidate in (0, 1))
        seal = _checksum(*identity, *sums) if used else 0
        columns = dict(zip(("releases", "candidates", "moves", "seal"), (*sums, seal), strict=True))
        assigned = "releases = :releases, candidates = :candidates, moves = :moves, checksum = :seal"
        _change(f"UPDATE line SET {assigned} WHERE id = :id", [{"id": id_, **columns}])
    _fill_libraries()


def _fill_libraries() -> None:
    total = 0
    for id_, name, scheme in _rows("SELECT id, name, scheme FROM library"):
        of_library = "SELECT target, profile FROM line WHERE checksum <> 0 AND library_id = :id"
        lines = sum(_checksum(*row) for row in _rows(of_library, id=id_))
        seal = _checksum(name, scheme, lines)
        statement = "UPDATE library SET lines = :lines, checksum = :seal WHERE id = :id"
        _change(statement, [{"id": id_, "lines": lines, "seal": seal}])
        total += seal if lines else 0
    _change("UPDATE root SET libraries = :total", [{"total": total}])


def _fill_audit() -> None:
    before = b""
    for rows in _batches("at, actor, action, subject, detail", "audit"):
        filled = []
        for id_, *said in rows:
            before = _digest(_encode((before, *said)))
            filled.append({"id": id_, "digest": before})
        _change("UPDATE audit SET digest = :digest WHERE id = :id", filled)
    _change("UPDATE root SET audit = :last", [{"last": before}])
