"""Identities of findings with their values, after the place: keys, and where consequences are told."""

import json
import zlib
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import msgspec
import sqlalchemy as sa
from alembic import op

from abistore.model.kind_names import first_name
from abistore.store.verdicts import COMMON_WORDS

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

Json = dict[str, Any]
SOME = "SELECT id, key, verdict_id, body, checksum FROM finding WHERE id > :last ORDER BY id LIMIT 5000"
_encode = msgspec.json.Encoder(order="deterministic").encode


def upgrade() -> None:
    """What cannot be read keeps its key, and is told by ``db check`` as before."""
    connection = op.get_bind()
    connection.execute(sa.text("DELETE FROM consequence"))
    last = -1
    while rows := connection.execute(sa.text(SOME), {"last": last}).all():
        last = rows[-1][0]
        keys, told = [], []
        for row, old_key, verdict, body, seal in rows:
            if finding := _finding(body):
                key = _identity(finding) + bytes(old_key)[6:12]
                sound = seal == _checksum(bytes(old_key), verdict)
                keys.append({"id": row, "key": key, "seal": _checksum(key, verdict) if sound else seal})
                told += [{"identity": each, "row": row} for each in sorted({*map(_identity, _nested(finding))})]
        if keys:
            connection.execute(sa.text("UPDATE finding SET key = :key, checksum = :seal WHERE id = :id"), keys)
        if told:
            connection.execute(sa.text("INSERT INTO consequence (identity, finding_id) VALUES (:identity, :row)"), told)


def _finding(body: bytes) -> Json | None:
    try:
        found = json.loads(zlib.decompressobj(-zlib.MAX_WBITS, COMMON_WORDS).decompress(body))
    except (zlib.error, ValueError):
        return None
    return found if isinstance(found, dict) and {"kind", "name", "part"} <= found.keys() else None


def _nested(finding: Json) -> Iterator[Json]:
    for each in finding.get("consequences", ()):
        yield each
        yield from _nested(each)


def _identity(finding: Json) -> bytes:
    words = "\0".join((first_name(finding["kind"]), *finding["name"], finding["part"]))
    values = _encode([_canonical(finding.get("old_value")), _canonical(finding.get("new_value"))])
    return blake2b(words.encode(), digest_size=6).digest() + blake2b(values, digest_size=4).digest()


def _canonical(value: str | None) -> str | None:
    return None if value is None else " ".join(value.split())


def _checksum(*values: object) -> int:
    return int.from_bytes(blake2b(_encode(values), digest_size=16, person=b"abistore-1").digest()[:5], "big")
