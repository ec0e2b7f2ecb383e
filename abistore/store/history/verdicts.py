"""Stored judgements: immutable rows, each under the ruling and the rules that gave it."""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

import msgspec
from msgspec import structs
from sqlalchemy import bindparam, insert, select, update

from abistore.errors import StoreError
from abistore.model.findings import (
    Churn,
    Comparison,
    Finding,
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
from abistore.store.database import tables
from abistore.store.database.audit import record, stamp
from abistore.store.database.database import Database, Row
from abistore.store.database.failures import damaged
from abistore.store.database.seals import checksum, of_bytes
from abistore.store.history import findings
from abistore.store.history.findings import WrittenFindings
from abistore.store.releases import cards
from abistore.store.releases.lines import OF_LINE, labels
from abistore.store.snapshots.memory import RowMemory
from abistore.store.snapshots.read import places

_VERDICT = tables.verdict.c
_COUNTS = ("breaking", "api_breaks", "risk_changes", "compatible", "notices", "suppressed", "not_checked")
SUMMARY = (
    *("verdict", *_COUNTS),
    *("added", "removed", "changed", "policy", "policy_digest", "suppression_digest", "engine", "judged"),
)
_SEALED = (
    *(_VERDICT.id, _VERDICT.old_id, _VERDICT.new_id),
    *(_VERDICT[column] for column in SUMMARY),
    *(_VERDICT.parts, _VERDICT.checksum),
)
"""What a row's checksum is of, and that."""

_KEY = ("old_id", "new_id", "policy", "policy_digest", "suppression_digest", "engine")
_LATEST = (
    select(*_SEALED)
    .where(*(_VERDICT[column] == bindparam(column) for column in _KEY))
    .order_by(_VERDICT.id.desc())
    .limit(1)
)
_OF_LINE = (
    select(*_SEALED)
    .select_from(
        tables.verdict.join(tables.snapshot, tables.snapshot.c.id == _VERDICT.new_id)
        .join(tables.line)
        .join(tables.library)
    )
    .where(OF_LINE, _VERDICT.engine == bindparam("engine"))
    .order_by(_VERDICT.id)
)
_BY_ID = select(*_SEALED).where(_VERDICT.id == bindparam("verdict"))
_PARTS = select(tables.verdict_part.c.part, tables.verdict_part.c.body).where(
    tables.verdict_part.c.verdict_id == bindparam("verdict")
)
_INSERT = insert(tables.verdict)
_INSERT_PART = insert(tables.verdict_part)
_SEAL = update(tables.verdict).where(_VERDICT.id == bindparam("identifier"))
LISTS = ("findings", "suppressed", "advice")
"""The parts of a judgement that are lists of findings."""


class _Remarks(msgspec.Struct, frozen=True, omit_defaults=True):
    """What else a comparison says."""

    not_checked: tuple[NotChecked, ...] = ()
    notes: tuple[str, ...] = ()
    policy_file: RulingFile | None = None
    suppression_files: tuple[RulingFile, ...] = ()


_encode = msgspec.json.Encoder(order="deterministic").encode
_decode_remarks = msgspec.json.Decoder(_Remarks).decode


def find(
    database: Database, sides: tuple[Release, Release], ruling: RulingKey, engine: str, memory: RowMemory
) -> StoredVerdict | None:
    """The latest judgement of these two releases under this ruling by this engine."""
    row = _latest(database, (*(cards.identifier(database, side) for side in sides), *ruling, engine))
    return _loaded(database, row, sides, memory) if row else None


def summaries(database: Database, line: LineKey, engine: str) -> Mapping[tuple[int, int, RulingKey], VerdictSummary]:
    """The latest judgements between releases of ``line``, by their sequence numbers and ruling."""
    rows = database.rows(_OF_LINE, {**labels(line), "engine": engine})
    _check(database, rows)
    releases = cards.by_identifier(database, line) if rows else {}
    found = {}
    for _, old_id, new_id, *row in rows:
        old, new = releases.get(old_id), releases.get(new_id)
        if old and new:  # releases of two lines are compared too
            told = _summary(row[:-2], (old.evidence, new.evidence))
            found[old.sequence, new.sequence, told.ruling] = told
    return found


def summary(given: StoredVerdict) -> VerdictSummary:
    """What a timeline shows of a judgement."""
    comparison = given.comparison
    counts = [_count(comparison.findings, impact) for impact in reversed(Impact) if impact is not Impact.ADVICE]
    return VerdictSummary(
        verdict=comparison.verdict,
        **dict(zip(_COUNTS, (*counts, len(comparison.suppressed), len(comparison.not_checked)), strict=True)),
        churn=given.churn,
        unequal_evidence=unequal_evidence(given.old.evidence, given.new.evidence),
        ruling=RulingKey.of(comparison),
        engine=comparison.engine,
        judged=given.judged,
    )


def _count(findings: Sequence[Finding], impact: Impact) -> int:
    """How many findings have an impact; they are in the order of reports, worst first."""
    begin, end = (cut(findings, -impact, key=_lightness) for cut in (bisect_left, bisect_right))
    return end - begin


def _lightness(finding: Finding) -> int:
    return -finding.impact


def save(database: Database, given: Sequence[StoredVerdict], actor: str, written: WrittenFindings) -> None:
    """Remember judgements; each is a no-op where the same one is the latest of its key."""
    with database.transaction():
        for each in given:
            _save(database, each, actor, written)


def _save(database: Database, given: StoredVerdict, actor: str, written: WrittenFindings) -> None:
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
    parts = _packed(comparison, rows)
    database.many(_INSERT_PART, [{"verdict_id": verdict, "part": part, "body": body} for part, body in parts.items()])
    seal = checksum(verdict, *sides, *_values(told), _seal_of(parts))
    database.run(_SEAL.values(parts=_seal_of(parts), checksum=seal), {"identifier": verdict})
    written.keep(every, rows)
    detail = f"{told.verdict.name} under {' '.join(filter(None, told.ruling))} by {told.engine}"
    record(database, actor, "verdict", f"{given.old.digest} {given.new.digest}", detail)


def parts_of(database: Database, verdict: int) -> dict[str, bytes]:
    """What a judgement consists of beside its row: packed lists of findings, and remarks.

    Raises :class:`StoreError` where a part, or the row, is damaged or missing.
    """
    rows = database.rows(_BY_ID, {"verdict": verdict})
    _check(database, rows)
    parts = {part: bytes(body) for part, body in database.rows(_PARTS, {"verdict": verdict})}
    if not rows or _seal_of(parts) != rows[0][-2]:
        raise damaged(database.where, f"what verdict {verdict} consists of")
    return parts


def _seal_of(parts: Mapping[str, bytes]) -> int:
    return checksum(*((part, of_bytes(body)) for part, body in sorted(parts.items())))


def _check(database: Database, rows: Iterable[Row]) -> None:
    for *row, seal in rows:
        if checksum(*row) != seal:
            raise damaged(database.where, f"the row of verdict {row[0]}")


def problems(database: Database) -> Iterator[str]:
    """What is wrong with the stored judgements, a sentence each."""
    for (identifier,) in database.rows(select(_VERDICT.id).order_by(_VERDICT.id)):
        try:
            parts = parts_of(database, identifier)
            lists = (findings.unpack(parts[part]) for part in LISTS if part in parts)
            findings.exist(database, [row for part in lists for row in part])
            if "remarks" in parts:
                _read_remarks(parts["remarks"])
        except StoreError as error:
            database.go_on(error)
            yield error.message


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
    rows = database.rows(_LATEST, dict(zip(_KEY, key, strict=True)))
    _check(database, rows)
    return (rows[0][0], *rows[0][3:-2]) if rows else None


def _loaded(database: Database, row: Row, sides: tuple[Release, Release], memory: RowMemory) -> StoredVerdict:
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
    summary = dict(zip(SUMMARY, _values(told), strict=True))
    return database.insert(_INSERT, {"old_id": sides[0], "new_id": sides[1], **summary, "parts": 0, "checksum": 0})


def _values(told: VerdictSummary) -> tuple[object, ...]:
    """A summary as the columns of :data:`SUMMARY` have it."""
    counts = (getattr(told, column) for column in _COUNTS)
    churn = (told.churn.added, told.churn.removed, told.churn.changed)
    return (int(told.verdict), *counts, *churn, *told.ruling, told.engine, stamp(told.judged))


def _summary(row: Row, evidence: tuple[Iterable[Evidence], Iterable[Evidence]]) -> VerdictSummary:
    (verdict, *counts), churn, (*ruling, engine, judged) = row[:8], row[8:11], row[11:]
    return VerdictSummary(
        verdict=Verdict(verdict),
        **dict(zip(_COUNTS, counts, strict=True)),
        churn=Churn(*churn),
        unequal_evidence=unequal_evidence(*evidence),
        ruling=RulingKey(*ruling),
        engine=engine,
        judged=datetime.fromisoformat(judged),
    )
