"""A verdict's columns are what a timeline shows of it, and findings are rows that verdicts share."""

import json
import zlib
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import sqlalchemy as sa
from alembic import op

from abistore.store.verdicts import COMMON_WORDS

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

Identifier = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Small = sa.SmallInteger().with_variant(sa.Integer(), "sqlite")
Json = dict[str, Any]

IMPACTS = {"advice": -2, "notice": -1, "compatible": 0, "risk": 1, "api_break": 2, "breaking": 3}
OLD = ("id", "old_digest", "new_digest", "policy", "engine", "verdict", "breaking", "api_breaks", "risk_changes")
OLD_COLUMNS = (*OLD, "compatible", "judged", "comparison")
COUNTS = ("notices", "suppressed", "not_checked", "added", "removed", "changed")
TYPES = "SELECT DISTINCT kind, spelling FROM name WHERE kind IN ('variable', 'record', 'enum', 'alias')"


def upgrade() -> None:
    """Stored reports become rows; those that cannot be read stay as they are, in ``unread_verdict``."""
    _set_aside()
    _create()
    connection = op.get_bind()
    kinds = {spelling: kind for kind, spelling in connection.execute(sa.text(TYPES))}
    known: dict[bytes, int] = {}
    last, unread = 0, 0
    statement = sa.text(f"SELECT {', '.join(OLD_COLUMNS)} FROM unread_verdict WHERE id > :last ORDER BY id LIMIT 1")
    while row := connection.execute(statement, {"last": last}).mappings().first():
        last = row["id"]
        if _convert(connection, dict(row), kinds, known):
            connection.execute(sa.text("DELETE FROM unread_verdict WHERE id = :id"), {"id": last})
        else:
            unread += 1
    if not unread:
        op.drop_table("unread_verdict")


def _set_aside() -> None:
    op.drop_index("ix_verdict_old_digest_new_digest", table_name="verdict")
    op.rename_table("verdict", "unread_verdict")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE unread_verdict RENAME CONSTRAINT pk_verdict TO pk_unread_verdict")
        op.execute("ALTER SEQUENCE verdict_id_seq RENAME TO unread_verdict_id_seq")


def _create() -> None:
    op.create_table(
        "verdict",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("old_id", Identifier, nullable=False),
        sa.Column("new_id", Identifier, nullable=False),
        *(
            sa.Column(name, sa.Text(), nullable=False)
            for name in ("policy", "policy_digest", "suppression_digest", "engine")
        ),
        sa.Column("verdict", Small, nullable=False),
        *(
            sa.Column(name, sa.Integer(), nullable=False)
            for name in ("breaking", "api_breaks", "risk_changes", "compatible", *COUNTS)
        ),
        sa.Column("judged", sa.Text(), nullable=False, comment="ISO 8601, UTC"),
        sa.ForeignKeyConstraint(["new_id"], ["snapshot.id"], name=op.f("fk_verdict_new_id")),
        sa.ForeignKeyConstraint(["old_id"], ["snapshot.id"], name=op.f("fk_verdict_old_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verdict")),
        comment="Append-only judgements: what a timeline shows of them",
        sqlite_strict=True,
    )
    op.create_index("ix_verdict_new_id_old_id", "verdict", ["new_id", "old_id"], unique=False)
    op.create_table(
        "finding",
        sa.Column("id", Identifier, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False, comment="Its identity, then a digest of its body"),
        sa.Column("verdict_id", Identifier, nullable=False, comment="The first that had it"),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="JSON, deflated with a dictionary"),
        sa.ForeignKeyConstraint(["verdict_id"], ["verdict.id"], name=op.f("fk_finding_verdict_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_finding")),
        sa.UniqueConstraint("key", name=op.f("uq_finding_key")),
        comment="Content-addressed and append-only, shared by all verdicts: facts, and nothing that the releases tell",
        sqlite_strict=True,
    )
    op.create_table(
        "verdict_part",
        sa.Column("verdict_id", Identifier, autoincrement=False, nullable=False),
        sa.Column(
            "part", sa.Text(), nullable=False, comment="findings, suppressed, advice: ids, packed; remarks: JSON, zlib"
        ),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["verdict_id"], ["verdict.id"], name=op.f("fk_verdict_part_verdict_id")),
        sa.PrimaryKeyConstraint("verdict_id", "part", name=op.f("pk_verdict_part")),
        comment="What a verdict consists of, as far as a timeline does not show it",
        sqlite_strict=True,
    )
    op.create_table(
        "consequence",
        sa.Column("identity", sa.LargeBinary(), nullable=False),
        sa.Column("finding_id", Identifier, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["finding_id"], ["finding.id"], name=op.f("fk_consequence_finding_id")),
        sa.PrimaryKeyConstraint("identity", "finding_id", name=op.f("pk_consequence")),
        comment="In which findings a consequence of this identity is told",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )


def _convert(connection: sa.Connection, row: Json, kinds: dict[str, str], known: dict[bytes, int]) -> bool:
    """Write the rows of one stored report; false where it cannot be read, or is about nothing that is stored."""
    report = _report(row["comparison"])
    sides = _sides(connection, row, report) if report else None
    if report is None or sides is None:
        return False
    verdict = _verdict(connection, row, report, sides)
    gone = {card["kind"] for card in report.get("kinds", ()) if card["action"] == "removed"}
    for part in ("changes", "suppressed", "advice"):
        changes = [_finding(change, kinds, gone) for change in report.get(part, ())]
        if changes:
            name = "findings" if part == "changes" else part
            _write_part(connection, verdict, name, _pack([_row(connection, each, verdict, known) for each in changes]))
    remarks = {"not_checked": [_unchecked(item, kinds) for item in report["not_checked"]], "notes": report["notes"]}
    if said := {name: value for name, value in remarks.items() if value}:
        _write_part(connection, verdict, "remarks", zlib.compress(_encode(said)))
    return True


def _report(comparison: bytes) -> Json | None:
    try:
        report = json.loads(zlib.decompress(comparison))
    except (zlib.error, ValueError):
        return None
    needed = {"summary", "changes", "suppressed_count", "not_checked", "notes", "old", "new"}
    return report if isinstance(report, dict) and needed <= report.keys() else None


def _sides(connection: sa.Connection, row: Json, report: Json) -> tuple[int, int] | None:
    """The two snapshots that a report is about: of those with its content, the ones in one line with its labels."""
    statement = sa.text(
        "SELECT snapshot.id, line_id, version, evidence, library.name AS library FROM snapshot "
        "JOIN line ON line.id = line_id JOIN library ON library.id = library_id WHERE digest = :digest"
    )
    found: list[list[tuple[bool, bool, sa.RowMapping]]] = []
    for side in ("old", "new"):
        card = report[side]
        rows = connection.execute(statement, {"digest": row[f"{side}_digest"]}).mappings().all()
        labels = [(each["library"], each["version"]) == (card["library"], card["version"]) for each in rows]
        seen = [json.loads(each["evidence"]) == card["evidence"] for each in rows]
        found.append(list(zip(labels, seen, rows, strict=True)))
    pairs = [
        (old[2]["line_id"] == new[2]["line_id"], old[:2], new[:2], old[2]["id"], new[2]["id"])
        for old in found[0]
        for new in found[1]
    ]
    return max(pairs)[-2:] if pairs else None


def _verdict(connection: sa.Connection, row: Json, report: Json, sides: tuple[int, int]) -> int:
    policy, _, digests = row["policy"].partition("/")
    policy_digest, _, suppression_digest = digests.partition("/")
    summary, churn = report["summary"], report.get("churn") or {}
    counted = ("breaking", "api_breaks", "risk_changes", "compatible")
    values = {
        **{name: row[name] for name in ("engine", "verdict", *counted, "judged")},
        "old_id": sides[0],
        "new_id": sides[1],
        "policy": policy,
        "policy_digest": policy_digest.strip("-"),
        "suppression_digest": suppression_digest.strip("-"),
        "notices": summary["total_changes"] - sum(summary[name] for name in counted),
        "suppressed": report["suppressed_count"],
        "not_checked": len(report["not_checked"]),
        **{name: churn.get(name, 0) for name in ("added", "removed", "changed")},
    }
    columns = ", ".join(values)
    places = ", ".join(f":{name}" for name in values)
    statement = sa.text(f"INSERT INTO verdict ({columns}) VALUES ({places}) RETURNING id")
    return int(connection.execute(statement, values).scalar_one())


def _finding(change: Json, kinds: dict[str, str], gone: set[str]) -> Json:
    """A finding of the report's change, with what is not its default, in the order of its fields."""
    default = change.get("default_impact")
    values: Json = {
        "kind": change["kind"],
        "name": [change["subject"], change["symbol"]],
        "part": change["part"],
        "description": change["description"],
        "impact": IMPACTS[change["impact"]],
        "facet": change["facet"],
    }
    optional: Json = {
        "old_value": change["old_value"],
        "new_value": change["new_value"],
        "affected": [[kinds.get(each, "function"), each] for each in change["affected"]] or None,
        "consequences": [_finding(each, kinds, gone) for each in change["consequences"]] or None,
        "default_impact": IMPACTS[default] if default else None,
        "reason": change.get("reason") or None,
        "suppressed_by": change.get("suppressed_by") or None,
        "gone": change["kind"] in gone or None,
        "suppression_reason": change.get("suppression_reason") or None,
        "suppression_expires": change.get("suppression_expires"),
    }
    return values | {name: value for name, value in optional.items() if value is not None}


def _unchecked(item: Json, kinds: dict[str, str]) -> Json:
    return {**item, "names": [[kinds.get(each, "function"), each] for each in item["names"]]}


def _row(connection: sa.Connection, finding: Json, verdict: int, known: dict[bytes, int]) -> int:
    body = _encode(finding)
    key = _identity(finding) + blake2b(body, digest_size=16, person=b"abistore-1").digest()[:10]
    if key in known:
        return known[key]
    statement = sa.text("INSERT INTO finding (key, verdict_id, body) VALUES (:key, :verdict, :body) RETURNING id")
    values = {"key": key, "verdict": verdict, "body": _deflated(body)}
    identifier = known[key] = int(connection.execute(statement, values).scalar_one())
    statement = sa.text("INSERT INTO consequence (identity, finding_id) VALUES (:identity, :finding)")
    for nested in sorted({_identity(each) for each in _every(finding.get("consequences", ()))}):
        connection.execute(statement, {"identity": nested, "finding": identifier})
    return identifier


def _identity(finding: Json) -> bytes:
    words = "\0".join((finding["kind"], *finding["name"], finding["part"]))
    return blake2b(words.encode(), digest_size=6).digest()


def _every(findings: Iterable[Json]) -> Iterator[Json]:
    for finding in findings:
        yield finding
        yield from _every(finding.get("consequences", ()))


def _write_part(connection: sa.Connection, verdict: int, part: str, body: bytes) -> None:
    statement = sa.text("INSERT INTO verdict_part (verdict_id, part, body) VALUES (:verdict, :part, :body)")
    connection.execute(statement, {"verdict": verdict, "part": part, "body": body})


def _pack(identifiers: list[int]) -> bytes:
    ordered = sorted(identifiers)
    steps = [after - before for before, after in zip([0, *ordered], ordered, strict=False)]
    return zlib.compress(_encode(steps))


def _encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _deflated(body: bytes) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, COMMON_WORDS)
    return deflate.compress(body) + deflate.flush()
