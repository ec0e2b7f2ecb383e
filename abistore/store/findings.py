"""Findings as rows: each is written once, and shared by all judgements that have it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import msgspec

from abistore.errors import StoreError
from abistore.model.digest import digest
from abistore.model.findings import IDENTITY_SIZE, Finding, identity
from abistore.model.names import Name
from abistore.model.snapshot import Location
from abistore.store.common_words import COMMON_WORDS
from abistore.store.database import Database

_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(Finding).decode
_decode_steps = msgspec.json.Decoder(list[int]).decode

KEY_SIZE = 16
_KEPT = 4
"""How many judgements back a finding is remembered by its object: a history has two for a release."""


@dataclass(slots=True)
class Written:
    """The rows of findings that were written lately, by the object: one judgement shares most with the last."""

    generations: list[dict[int, tuple[Finding, int]]] = field(default_factory=list)

    def get(self, finding: Finding) -> int | None:
        """The id of the row of this very object."""
        for generation in reversed(self.generations):
            if (known := generation.get(id(finding))) is not None:
                return known[1]
        return None

    def keep(self, rows: Iterable[tuple[Finding, int]]) -> None:
        """Remember what one judgement has; the object is kept, so that no other can take its place."""
        self.generations = [*self.generations, {id(row[0]): row for row in rows}][-_KEPT:]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one judgement's findings: ids of those that are stored, and what is to be written of the others."""

    stored: dict[int, int]
    """Row ids by the finding's object."""
    missing: dict[bytes, bytes]
    """Bodies by key."""
    keys: dict[int, bytes]
    """Keys by the finding's object, of those that were not remembered."""
    findings: Sequence[Finding]


def look_up(database: Database, findings: Sequence[Finding], written: Written) -> Rows:
    """Which of ``findings`` are stored."""
    stored: dict[int, int] = {}
    keys: dict[int, bytes] = {}
    bodies: dict[bytes, bytes] = {}
    for finding in findings:
        known = written.get(finding)
        if known is not None:
            stored[id(finding)] = known
        else:
            key, body = _row(finding)
            keys[id(finding)], bodies[key] = key, body
    found = dict(_ids(database, sorted(bodies)))
    stored.update((each, found[key]) for each, key in keys.items() if key in found)
    return Rows(stored, {key: body for key, body in bodies.items() if key not in found}, keys, findings)


def write(database: Database, rows: Rows, verdict: int, written: Written) -> dict[int, int]:
    """Write what is missing, as first had by ``verdict``: the ids of all findings, by their objects."""
    # in one order in every process: two writers that add the same rows must not wait for each other in a circle
    missing = sorted(rows.missing)
    statement = "INSERT INTO finding (key, verdict_id, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    database.many(statement, [(key, verdict, _deflated(rows.missing[key])) for key in missing])
    added = dict(_ids(database, missing))
    identifiers = {**rows.stored, **{each: added[key] for each, key in rows.keys.items() if key in added}}
    new = [(finding, identifiers[id(finding)]) for finding in rows.findings if rows.keys.get(id(finding)) in added]
    nested = {(identity(each), row) for finding, row in new for each in _every(finding.consequences)}
    statement = "INSERT INTO consequence (identity, finding_id) VALUES (?, ?) ON CONFLICT DO NOTHING"
    database.many(statement, sorted(nested))
    written.keep((finding, identifiers[id(finding)]) for finding in rows.findings)
    return identifiers


def read(database: Database, identifiers: Iterable[int]) -> dict[int, Finding]:
    """The findings of these rows, without places. Raises :class:`StoreError` where one is damaged or missing."""
    wanted = sorted(set(identifiers))
    rows = database.within("SELECT id, key, body FROM finding WHERE id IN ({})", wanted)
    found = {row: _finding(key, body) for row, key, body in rows}
    if len(found) < len(wanted):
        raise StoreError("a finding of a stored verdict is missing", "restore a backup")
    return found


def called(database: Database, beginning: str) -> list[int]:
    """The rows that hold a finding or consequence whose identity begins with these hexadecimal digits, newest first."""
    statement = "SELECT finding_id FROM consequence WHERE identity >= ? AND identity <= ?"
    within = [row[0] for row in database.rows(statement, _range(beginning))]
    return sorted({*identified_by(database, beginning), *within}, reverse=True)


def identified_by(database: Database, beginning: str) -> list[int]:
    """The rows of the findings whose own identity begins with these hexadecimal digits."""
    low, high = _range(beginning)
    keys = (low.ljust(KEY_SIZE, b"\0"), high.ljust(KEY_SIZE, b"\xff"))
    return [row[0] for row in database.rows("SELECT id FROM finding WHERE key >= ? AND key <= ?", keys)]


def _range(beginning: str) -> tuple[bytes, bytes]:
    width = 2 * IDENTITY_SIZE
    low, high = (bytes.fromhex(beginning[:width].ljust(width, digit)) for digit in "0f")
    return low, high


def pack(identifiers: Iterable[int]) -> bytes:
    """Row ids as bytes: sorted, by their differences."""
    return zlib.compress(_encode([after - before for before, after in pairwise([0, *sorted(identifiers)])]))


def unpack(body: bytes) -> list[int]:
    """The row ids in ``body``."""
    try:
        return list(accumulate(_decode_steps(zlib.decompress(body))))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise StoreError("a stored verdict's list of findings is damaged", "restore a backup") from error


Places = Mapping[Name, Location]


def placed(finding: Finding, old: Places, new: Places) -> Finding:
    """``finding`` with where its declaration stands, and those of its consequences."""
    where = old.get(finding.name) if finding.gone else new.get(finding.name) or old.get(finding.name)
    if where is None and not finding.consequences:
        return finding
    consequences = tuple(placed(each, old, new) for each in finding.consequences)
    return msgspec.structs.replace(finding, location=where, consequences=consequences)


def bare(finding: Finding) -> Finding:
    """``finding`` without what the releases tell: where declarations stand."""
    if finding.location is None and not finding.consequences:
        return finding
    return msgspec.structs.replace(finding, location=None, consequences=tuple(map(bare, finding.consequences)))


def _row(finding: Finding) -> tuple[bytes, bytes]:
    body = _encode(bare(finding))
    return identity(finding) + digest(body)[: KEY_SIZE - IDENTITY_SIZE], body


def _finding(key: bytes, body: bytes) -> Finding:
    try:
        text = zlib.decompressobj(-zlib.MAX_WBITS, COMMON_WORDS).decompress(body)
        if digest(text)[: KEY_SIZE - IDENTITY_SIZE] == key[IDENTITY_SIZE:]:
            return _decode(text)
    except (zlib.error, msgspec.MsgspecError) as error:
        raise StoreError("a stored finding is damaged", "restore a backup") from error
    raise StoreError(f"the stored finding {key.hex()} has another body", "restore a backup")


def _deflated(body: bytes) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, COMMON_WORDS)
    return deflate.compress(body) + deflate.flush()


def _ids(database: Database, keys: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
    yield from ((key, row) for key, row in database.within("SELECT key, id FROM finding WHERE key IN ({})", keys))


def _every(findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield finding
        yield from _every(finding.consequences)
