"""Findings as rows: each is written once, and shared by all judgements that have it."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import msgspec
from sqlalchemy import bindparam, case, func, select, update

from abistore.errors import StoreError
from abistore.model.digest import digest, encode
from abistore.model.findings import Finding, named_now, with_consequences
from abistore.model.judging.identity import IDENTITY_SIZE, identity
from abistore.model.names import Name
from abistore.model.snapshot import Location
from abistore.store.database import tables
from abistore.store.database.database import AMONG, Database
from abistore.store.database.failures import damaged
from abistore.store.database.on_conflict import insert_new
from abistore.store.database.seals import checksum
from abistore.store.history.common_words import COMMON_WORDS

_decode = msgspec.json.Decoder(Finding).decode
_decode_steps = msgspec.json.Decoder(list[int]).decode

_FINDING, _CONSEQUENCE = tables.finding.c, tables.consequence.c
_NEW = insert_new(tables.finding)
_NEW_CONSEQUENCE = insert_new(tables.consequence)
_BY_ID = select(_FINDING.id, _FINDING.key, _FINDING.body, _FINDING.verdict_id, _FINDING.checksum).where(
    _FINDING.id.in_(AMONG)
)
_EXISTING = select(_FINDING.id).where(_FINDING.id.in_(AMONG))
_BY_KEY = select(_FINDING.key, _FINDING.id).where(_FINDING.key.in_(AMONG))
_OF_OTHERS = select(_FINDING.id).where(
    _FINDING.id.in_(AMONG),
    _FINDING.verdict_id.in_(select(tables.verdict.c.id).where(tables.verdict.c.brought.is_not(None))),
)
_SET_FIRST = (
    update(tables.finding)
    .where(_FINDING.id == bindparam("row"))
    .values(verdict_id=bindparam("verdict"), checksum=bindparam("seal"))
)
_NEXT = select(_FINDING.id).where(_FINDING.id > bindparam("last")).order_by(_FINDING.id).limit(500)
_BETWEEN = _FINDING.key.between(bindparam("low"), bindparam("high"))
_CALLED = select(_FINDING.id).where(_BETWEEN)
_COUNTED = select(func.coalesce(func.sum(case((_BETWEEN, 1), else_=0)), 0))
_TOLD_WITHIN = select(_CONSEQUENCE.finding_id).where(_CONSEQUENCE.identity.between(bindparam("low"), bindparam("high")))

KEY_SIZE = 16
_KEPT = 4
"""How many judgements back a finding is remembered by its object: a history has two for a release."""


class WrittenFindings:
    """The rows of findings that were written lately, by the object: one judgement shares most with the last."""

    def __init__(self) -> None:
        self.rows: dict[int, int] = {}
        self._kept: list[tuple[Sequence[Finding], dict[int, int]]] = []
        """The objects are kept, so that no other can take the place of one."""

    def keep(self, findings: Sequence[Finding], rows: Sequence[int]) -> None:
        """Remember what one judgement has, and forget what was not in the last few."""
        self._kept = [*self._kept, (findings, dict(zip(map(id, findings), rows, strict=True)))][-_KEPT:]
        self.rows = {}
        for _, latest in self._kept:
            self.rows.update(latest)


@dataclass(frozen=True, slots=True)
class FindingRows:
    """The rows of a judgement's findings, as far as they are stored."""

    rows: list[int]
    """One for each finding; 0 where there is none yet."""
    keys: dict[int, bytes]
    """The keys of those that have none, by their place."""
    bodies: dict[bytes, bytes]
    """What is to be written, by key."""
    others: dict[int, bytes]
    """The keys of those that only a judgement of another store had so far, by their row."""


def look_up(database: Database, findings: Sequence[Finding], written: WrittenFindings) -> FindingRows:
    """Which of ``findings`` are stored."""
    rows = [written.rows.get(each, 0) for each in map(id, findings)]
    bodies: dict[bytes, bytes] = {}
    keys: dict[int, bytes] = {}
    for place, row in enumerate(rows):
        if not row:
            keys[place], body = _row(findings[place])
            bodies[keys[place]] = body
    found = _ids(database, sorted(bodies))
    for place, key in keys.items():
        rows[place] = found.get(key, 0)
    keys = {place: key for place, key in keys.items() if key not in found}
    others = {row for (row,) in database.within(_OF_OTHERS, sorted(found.values()))}
    return FindingRows(
        rows,
        keys,
        {key: bodies[key] for key in sorted(set(keys.values()))},
        {row: key for key, row in found.items() if row in others},
    )


def write(database: Database, findings: Sequence[Finding], found: FindingRows, verdict: int) -> list[int]:
    """Write what is missing, as first had by ``verdict``: the row of each finding.

    So is from now on what only other stores had found: they answer nobody here.
    """
    set_first(database, found.others, dict.fromkeys(found.others, verdict))
    # in one order in every process: two writers that add the same rows must not wait for each other in a circle
    new = [
        {"key": key, "verdict_id": verdict, "body": _deflated(body), "checksum": checksum(key, verdict)}
        for key, body in found.bodies.items()
    ]
    database.many(_NEW, new)
    added = _ids(database, list(found.bodies))
    rows = [*found.rows]
    nested: set[tuple[bytes, int]] = set()
    for place, key in found.keys.items():
        rows[place] = added[key]
        nested.update((identity(each), added[key]) for each in with_consequences(findings[place].consequences))
    told = [{"identity": called, "finding_id": row} for called, row in sorted(nested)]
    database.many(_NEW_CONSEQUENCE, told)
    return rows


def set_first(database: Database, keys: Mapping[int, bytes], verdicts: Mapping[int, int]) -> None:
    """Have each of these rows first had by the judgement that ``verdicts`` tells."""
    moved = [
        {"row": row, "verdict": verdict, "seal": checksum(keys[row], verdict)}
        for row, verdict in sorted(verdicts.items())
    ]
    database.many(_SET_FIRST, moved)


def read(database: Database, identifiers: Iterable[int]) -> dict[int, Finding]:
    """The findings of these rows, without places, their kinds called as they are now.

    Raises :class:`StoreError` where one is damaged or missing.
    """
    wanted = sorted(set(identifiers))
    rows = database.within(_BY_ID, wanted)
    found = {row: _finding(database, *columns) for row, *columns in rows}
    if len(found) < len(wanted):
        raise damaged(database.where, "a finding of a stored verdict is missing")
    return found


def bodies(database: Database, identifiers: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
    """The key and the JSON of each of these rows. Raises :class:`StoreError` where one is damaged or missing."""
    read(database, identifiers)  # verifies them
    return {row: (bytes(key), _inflated(body)) for row, key, body, *_ in database.within(_BY_ID, identifiers)}


def bring(database: Database, brought: Mapping[bytes, bytes], verdict: int) -> tuple[dict[bytes, int], int]:
    """Write findings of another store by their keys, each with its JSON: the row of each, and how many are new.

    Raises :class:`ValueError` where a body is none, or not that of its key.
    """
    before = _ids(database, sorted(brought))
    new = {key: brought[key] for key in sorted(brought.keys() - before.keys())}
    read_ = {key: _of_key(key, body) for key, body in new.items()}
    rows = [
        {"key": key, "verdict_id": verdict, "body": _deflated(body), "checksum": checksum(key, verdict)}
        for key, body in new.items()
    ]
    database.many(_NEW, rows)
    added = _ids(database, list(new))
    nested = {
        (identity(each), added[key]) for key, found in read_.items() for each in with_consequences(found.consequences)
    }
    database.many(_NEW_CONSEQUENCE, [{"identity": called, "finding_id": row} for called, row in sorted(nested)])
    return before | added, len(new)


def _of_key(key: bytes, body: bytes) -> Finding:
    if len(key) != KEY_SIZE or digest(body)[: KEY_SIZE - IDENTITY_SIZE] != key[IDENTITY_SIZE:]:
        raise ValueError(f"the finding {key.hex()} has another digest")
    return named_now(_decode(body))


def exist(database: Database, identifiers: Iterable[int]) -> None:
    """Raise :class:`StoreError` where one of these rows does not exist."""
    wanted = set(identifiers)
    found = {row[0] for row in database.within(_EXISTING, sorted(wanted))}
    if wanted != found:
        raise damaged(database.where, "a finding of a stored verdict is missing")


def problems(database: Database) -> Iterator[str]:
    """What is wrong with the stored findings, a sentence each."""
    told = {tuple(row) for row in database.rows(select(_CONSEQUENCE.identity, _CONSEQUENCE.finding_id))}
    last = -1
    while rows := database.rows(_NEXT, {"last": last}):
        last = rows[-1][0]
        for (row,) in rows:
            try:
                (finding,) = read(database, [row]).values()
            except StoreError as error:
                database.go_on(error)
                yield error.message
                continue
            nested = {(identity(each), row) for each in with_consequences(finding.consequences)}
            if not nested <= told:
                yield f"finding {row}: what says where a consequence is told is missing"
            told -= nested
    if told:
        yield f"{len(told)} rows of consequence say what no finding does"


def called(database: Database, beginning: str) -> list[int]:
    """The rows that hold a finding or consequence whose identity begins with these hexadecimal digits, newest first.

    Raises :class:`StoreError` where the index of findings is damaged.
    """
    own = identified_by(database, beginning)
    # once more without the index
    if database.rows(_COUNTED, _keys(beginning))[0][0] != len(own):
        raise damaged(database.where, "the index of findings")
    low, high = _range(beginning)
    nested = [row[0] for row in database.rows(_TOLD_WITHIN, {"low": low, "high": high})]
    return sorted({*own, *nested}, reverse=True)


def identified_by(database: Database, beginning: str) -> list[int]:
    """The rows of the findings whose own identity begins with these hexadecimal digits."""
    return [row[0] for row in database.rows(_CALLED, _keys(beginning))]


def _keys(beginning: str) -> dict[str, bytes]:
    low, high = _range(beginning)
    return {"low": low.ljust(KEY_SIZE, b"\0"), "high": high.ljust(KEY_SIZE, b"\xff")}


def _range(beginning: str) -> tuple[bytes, bytes]:
    width = 2 * IDENTITY_SIZE
    low, high = (bytes.fromhex(beginning[:width].ljust(width, digit)) for digit in "0f")
    return low, high


def pack(identifiers: Iterable[int]) -> bytes:
    """Row ids as bytes: sorted, by their differences."""
    return zlib.compress(encode([after - before for before, after in pairwise([0, *sorted(identifiers)])]))


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
    body = encode(bare(finding))
    return identity(finding) + digest(body)[: KEY_SIZE - IDENTITY_SIZE], body


def _finding(database: Database, key: bytes, body: bytes, verdict: int, seal: int) -> Finding:
    try:
        text = _inflated(body)
        if digest(text)[: KEY_SIZE - IDENTITY_SIZE] == key[IDENTITY_SIZE:] and checksum(key, verdict) == seal:
            return named_now(_decode(text))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise damaged(database.where, "a stored finding") from error
    raise damaged(database.where, f"the stored finding {key.hex()}")


def _inflated(body: bytes) -> bytes:
    return zlib.decompressobj(-zlib.MAX_WBITS, COMMON_WORDS).decompress(body)


def _deflated(body: bytes) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_DEFAULT_STRATEGY, COMMON_WORDS)
    return deflate.compress(body) + deflate.flush()


def _ids(database: Database, keys: Sequence[bytes]) -> dict[bytes, int]:
    return {bytes(key): row for key, row in database.within(_BY_KEY, keys)}
