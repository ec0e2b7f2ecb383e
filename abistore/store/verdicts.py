"""Stored judgements: immutable rows, each under the ruling and the rules that gave it."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice

import msgspec
from msgspec import structs

from abistore.errors import StoreError
from abistore.model.findings import (
    Churn,
    Comparison,
    Impact,
    NotChecked,
    RulingFile,
    RulingKey,
    Verdict,
    order,
    unequal_evidence,
)
from abistore.model.history import LineKey, Release, StoredVerdict, VerdictSummary
from abistore.model.snapshot import Evidence
from abistore.store import cards, findings
from abistore.store.audit import record, stamp
from abistore.store.database import Database, Row
from abistore.store.findings import Written
from abistore.store.memory import Memory
from abistore.store.read import places

SUMMARY = (
    "verdict.verdict, verdict.breaking, verdict.api_breaks, verdict.risk_changes, verdict.compatible, verdict.notices, "
    "verdict.suppressed, verdict.not_checked, verdict.added, verdict.removed, verdict.changed, "
    "verdict.policy, verdict.policy_digest, verdict.suppression_digest, verdict.engine, verdict.judged"
)
_KEY = "old_id = ? AND new_id = ? AND policy = ? AND policy_digest = ? AND suppression_digest = ? AND engine = ?"
_SIDES = "verdict JOIN snapshot AS old ON old.id = verdict.old_id JOIN snapshot AS new ON new.id = verdict.new_id"
LISTS = ("findings", "suppressed", "advice")
"""The parts of a judgement that are lists of findings."""

_evidence = msgspec.json.Decoder(tuple[Evidence, ...]).decode


class _Remarks(msgspec.Struct, frozen=True, omit_defaults=True):
    """What else a comparison says."""

    not_checked: tuple[NotChecked, ...] = ()
    notes: tuple[str, ...] = ()
    policy_file: RulingFile | None = None
    suppression_files: tuple[RulingFile, ...] = ()


_encode = msgspec.json.Encoder(order="deterministic").encode
_decode_remarks = msgspec.json.Decoder(_Remarks).decode


def find(
    database: Database, sides: tuple[Release, Release], ruling: RulingKey, engine: str, memory: Memory
) -> StoredVerdict | None:
    """The latest judgement of these two releases under this ruling by this engine."""
    row = _latest(database, (*(cards.identifier(database, side) for side in sides), *ruling, engine))
    return _loaded(database, row, sides, memory) if row else None


def summaries(database: Database, line: LineKey, engine: str) -> Mapping[tuple[int, int, RulingKey], VerdictSummary]:
    """The latest judgements between releases of ``line``, by their sequence numbers and ruling."""
    statement = (
        f"SELECT old.sequence, new.sequence, old.evidence, new.evidence, {SUMMARY} FROM {_SIDES} "
        "JOIN line ON line.id = new.line_id JOIN library ON library.id = line.library_id "
        "WHERE library.name = ? AND line.target = ? AND line.profile = ? AND old.line_id = new.line_id "
        "AND verdict.engine = ? ORDER BY verdict.id"
    )
    rows = database.rows(statement, (line.library, line.target, line.profile, engine))
    seen = {text: _evidence(text) for row in rows for text in row[2:4]}
    told = ((row[0], row[1], _summary(row[4:], (seen[row[2]], seen[row[3]]))) for row in rows)
    return {(old, new, summary.ruling): summary for old, new, summary in told}


def summary(given: StoredVerdict) -> VerdictSummary:
    """What a timeline shows of a judgement."""
    comparison = given.comparison
    counts = Counter(finding.impact for finding in comparison.findings)
    return VerdictSummary(
        verdict=comparison.verdict,
        breaking=counts[Impact.BREAKING],
        api_breaks=counts[Impact.API_BREAK],
        risk_changes=counts[Impact.RISK],
        compatible=counts[Impact.COMPATIBLE],
        notices=counts[Impact.NOTICE],
        suppressed=len(comparison.suppressed),
        not_checked=len(comparison.not_checked),
        churn=given.churn,
        unequal_evidence=unequal_evidence(given.old.evidence, given.new.evidence),
        ruling=RulingKey.of(comparison),
        engine=comparison.engine,
        judged=given.judged,
    )


def save(database: Database, given: Sequence[StoredVerdict], actor: str, written: Written) -> None:
    """Remember judgements; each is a no-op where the same one is the latest of its key."""
    with database.transaction():
        for each in given:
            _save(database, each, actor, written)


def _save(database: Database, given: StoredVerdict, actor: str, written: Written) -> None:
    comparison, told = given.comparison, summary(given)
    sides = (cards.identifier(database, given.old), cards.identifier(database, given.new))
    every = [finding for part in LISTS for finding in getattr(comparison, part)]
    found = findings.look_up(database, every, written)
    last = _latest(database, (*sides, *told.ruling, told.engine))
    says_as_much = last is not None and not found.keys and _values(told)[:-1] == tuple(last[1:-1])
    if last and says_as_much and parts_of(database, last[0]) == _packed(comparison, found.rows):
        return
    verdict = _insert(database, sides, told)
    rows = findings.write(database, every, found, verdict)
    statement = "INSERT INTO verdict_part (verdict_id, part, body) VALUES (?, ?, ?)"
    database.many(statement, [(verdict, part, body) for part, body in _packed(comparison, rows).items()])
    written.keep(every, rows)
    detail = f"{told.verdict.name} under {' '.join(filter(None, told.ruling))} by {told.engine}"
    record(database, actor, "verdict", f"{given.old.digest} {given.new.digest}", detail)


def parts_of(database: Database, verdict: int) -> dict[str, bytes]:
    """What a judgement consists of beside its row: packed lists of findings, and remarks."""
    statement = "SELECT part, body FROM verdict_part WHERE verdict_id = ?"
    return {part: bytes(body) for part, body in database.rows(statement, (verdict,))}


def _packed(comparison: Comparison, rows: Sequence[int]) -> dict[str, bytes]:
    """The parts of a judgement; ``rows`` are those of all its findings, list by list."""
    parts: dict[str, bytes] = {}
    left = iter(rows)
    for part in LISTS:
        if own := list(islice(left, len(getattr(comparison, part)))):
            parts[part] = findings.pack(own)
    remarks = _Remarks(*(getattr(comparison, name) for name in _Remarks.__struct_fields__))
    return parts | ({"remarks": zlib.compress(_encode(remarks))} if remarks != _Remarks() else {})


def _latest(database: Database, key: tuple[object, ...]) -> Row | None:
    """The id and the summary of the latest judgement of a key."""
    statement = f"SELECT id, {SUMMARY} FROM verdict WHERE {_KEY} ORDER BY id DESC LIMIT 1"
    return next(iter(database.rows(statement, key)), None)


def _loaded(database: Database, row: Row, sides: tuple[Release, Release], memory: Memory) -> StoredVerdict:
    old, new = sides
    parts = parts_of(database, row[0])
    ids = {part: findings.unpack(parts[part]) if part in parts else [] for part in LISTS}
    stored = findings.read(database, (each for part in ids.values() for each in part))
    where = [places(database, side, memory) for side in sides]
    found = {identifier: findings.placed(finding, *where) for identifier, finding in stored.items()}
    kept, suppressed, advice = (tuple(sorted((found[each] for each in ids[part]), key=order)) for part in LISTS)
    remarks = _read_remarks(parts["remarks"]) if "remarks" in parts else _Remarks()
    told = _summary(row[1:], (old.evidence, new.evidence))
    comparison = Comparison(
        old=old.side,
        new=new.side,
        verdict=told.verdict,
        findings=kept,
        suppressed=suppressed,
        advice=advice,
        engine=told.engine,
        **told.ruling._asdict(),
        **structs.asdict(remarks),
    )
    return StoredVerdict(old, new, comparison, told.churn, told.judged)


def _read_remarks(body: bytes) -> _Remarks:
    try:
        return _decode_remarks(zlib.decompress(body))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise StoreError("what a stored verdict says is damaged", "restore a backup") from error


def _insert(database: Database, sides: tuple[int, int], told: VerdictSummary) -> int:
    columns = SUMMARY.replace("verdict.", "")
    values = (*sides, *_values(told))
    places = ", ".join("?" * len(values))
    return database.insert(f"INSERT INTO verdict (old_id, new_id, {columns}) VALUES ({places})", values)


def _values(told: VerdictSummary) -> tuple[object, ...]:
    """A summary as the columns of :data:`SUMMARY` have it."""
    counts = (told.breaking, told.api_breaks, told.risk_changes, told.compatible, told.notices, told.suppressed)
    churn = (told.churn.added, told.churn.removed, told.churn.changed)
    return (int(told.verdict), *counts, told.not_checked, *churn, *told.ruling, told.engine, stamp(told.judged))


def _summary(row: Row, evidence: tuple[Iterable[Evidence], Iterable[Evidence]]) -> VerdictSummary:
    verdict, breaking, api_breaks, risk_changes, compatible, notices, suppressed, not_checked = row[:8]
    *churn, policy, policy_digest, suppression_digest, engine, judged = row[8:]
    return VerdictSummary(
        verdict=Verdict(verdict),
        breaking=breaking,
        api_breaks=api_breaks,
        risk_changes=risk_changes,
        compatible=compatible,
        notices=notices,
        suppressed=suppressed,
        not_checked=not_checked,
        churn=Churn(*churn),
        unequal_evidence=unequal_evidence(*evidence),
        ruling=RulingKey(policy, policy_digest, suppression_digest),
        engine=engine,
        judged=datetime.fromisoformat(judged),
    )
