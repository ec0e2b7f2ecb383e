"""Stored judgements: immutable rows, each under the ruling and the rules that gave it."""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

import msgspec
from msgspec import structs
from sqlalchemy import Text, and_, bindparam, insert, select, update

from abistore.errors import StoreError
from abistore.model.digest import encode
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
from abistore.model.history import LineKey, Release, SeenFacets, StoredVerdict, VerdictSummary
from abistore.model.names import Facet
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
BROUGHT = (*SUMMARY, "evidence", "asker")
"""The columns of a verdict that another store takes over: all that is not made anew there."""

_SEALED = (
    *(_VERDICT.id, _VERDICT.old_id, _VERDICT.new_id),
    *(_VERDICT[column] for column in SUMMARY),
    *(_VERDICT.evidence, _VERDICT.asker, _VERDICT.brought, _VERDICT.parts, _VERDICT.checksum),
)
"""What a row's checksum is of, and that. A column that is NULL is left out."""
_GIVEN_HERE = _VERDICT.brought.is_(None)
"""What another store says of two releases answers nobody here: it is judged anew."""

_KEY = ("old_id", "new_id", "policy", "policy_digest", "suppression_digest", "engine")
_LATEST = (
    select(*_SEALED)
    .where(_GIVEN_HERE, *(_VERDICT[column] == bindparam(column) for column in _KEY))
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
    .where(OF_LINE, _GIVEN_HERE, _VERDICT.engine == bindparam("engine"))
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


_decode_remarks = msgspec.json.Decoder(_Remarks).decode
_decode_evidence = msgspec.json.Decoder(SeenFacets).decode


def find(
    database: Database, sides: tuple[Release, Release], ruling: RulingKey, engine: str, memory: RowMemory
) -> StoredVerdict | None:
    """The latest judgement of these two releases under this ruling by this engine that this store gave."""
    row = _latest(database, (*(cards.identifier(database, side) for side in sides), *ruling, engine))
    return _loaded(database, row, sides, memory) if row else None


def summaries(database: Database, line: LineKey, engine: str) -> Mapping[tuple[int, int, RulingKey], VerdictSummary]:
    """The latest judgements that this store gave between releases of ``line``, by their sequence numbers and ruling."""
    rows = database.rows(_OF_LINE, {**labels(line), "engine": engine})
    _check(database, rows)
    releases = cards.by_identifier(database, line) if rows else {}
    found = {}
    for _, old_id, new_id, *row in rows:
        old, new = releases.get(old_id), releases.get(new_id)
        if old and new:  # releases of two lines are compared too
            told = _summary(row[:-3], (old.evidence, new.evidence))
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
        evidence=(_seen(given.old), _seen(given.new)),
        asker=given.asker,
    )


def _seen(release: Release) -> dict[Facet, str]:
    """How much of each facet a release shows."""
    return {seen.facet: seen.state for seen in release.evidence}


def _count(findings: Sequence[Finding], impact: Impact) -> int:
    """How many findings have an impact; they are in the order of reports, worst first."""
    begin, end = (cut(findings, -impact, key=lambda each: -each.impact) for cut in (bisect_left, bisect_right))
    return end - begin


def save(database: Database, given: Sequence[StoredVerdict], actor: str, written: WrittenFindings) -> None:
    """Remember judgements, but those whose side was pruned since; a no-op where it is the latest of its key."""
    with database.transaction():
        database.keep_tables_free()
        for each in given:
            if cards.is_stored(database, each.old) and cards.is_stored(database, each.new):
                _save(database, each, actor, written)


def _save(database: Database, given: StoredVerdict, actor: str, written: WrittenFindings) -> None:
    comparison, told = given.comparison, summary(given)
    sides = (cards.identifier(database, given.old), cards.identifier(database, given.new))
    every = [finding for part in LISTS for finding in getattr(comparison, part)]
    found = findings.look_up(database, every, written)
    last = _latest(database, (*sides, *told.ruling, told.engine))
    said = last[1 : len(SUMMARY)] if last else ()  # without the day
    says_as_much = not found.keys and _values(told)[:-1] == tuple(said)
    if last and says_as_much and parts_of(database, last[0]) == _packed(comparison, found.rows):
        return
    verdict = _insert(database, sides, told)
    origin = encode(told.evidence).decode(), told.asker
    rows = findings.write(database, every, found, verdict)
    parts = _packed(comparison, rows)
    database.many(_INSERT_PART, [{"verdict_id": verdict, "part": part, "body": body} for part, body in parts.items()])
    seal = checksum(verdict, *sides, *_values(told), *origin, _seal_of(parts))
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
        if checksum(*(value for value in row if value is not None)) != seal:
            raise damaged(database.where, f"the row of verdict {row[0]}")


class StoredRow(NamedTuple):
    """A judgement as its rows have it: the rows of its sides and of its findings, and its remarks as JSON."""

    old: int
    new: int
    values: dict[str, int | str | None]
    """The columns of :data:`BROUGHT`."""
    lists: dict[str, list[int]]
    remarks: bytes


def every(database: Database) -> Iterator[StoredRow]:
    """All judgements, oldest first. Raises :class:`StoreError` where one is damaged."""
    for row in database.rows(select(*_SEALED).order_by(_VERDICT.id)):
        parts = parts_of(database, row[0])
        lists = {part: findings.unpack(parts[part]) for part in LISTS if part in parts}
        remarks = zlib.decompress(parts["remarks"]) if "remarks" in parts else b""
        yield StoredRow(row[1], row[2], dict(zip(BROUGHT, row[3:-3], strict=True)), lists, remarks)


def has(database: Database, sides: tuple[int, int], values: Mapping[str, object]) -> bool:
    """Whether a judgement of these two rows with these values of :data:`BROUGHT` is stored."""
    same = and_(*(_VERDICT[column] == values[column] for column in BROUGHT))
    return bool(
        database.rows(select(_VERDICT.id).where(_VERDICT.old_id == sides[0], _VERDICT.new_id == sides[1], same))
    )


def bring(
    database: Database,
    sides: tuple[int, int],
    values: Mapping[str, object],
    lists: Mapping[str, Mapping[bytes, bytes]],
    remarks: bytes,
) -> int:
    """Write a judgement of another store, each list as its findings' keys and JSON; how many findings are new.

    It is kept and travels on, and never answers for this store.
    Raises :class:`ValueError` where it is none.
    """
    _checked(values, remarks)
    row = {"old_id": sides[0], "new_id": sides[1], **values, "brought": 1, "parts": 0, "checksum": 0}
    verdict = database.insert(_INSERT, row)
    rows, new = findings.bring(database, {key: body for own in lists.values() for key, body in own.items()}, verdict)
    parts = {part: findings.pack(rows[key] for key in own) for part, own in lists.items() if own}
    parts |= {"remarks": zlib.compress(remarks)} if remarks else {}
    database.many(_INSERT_PART, [{"verdict_id": verdict, "part": part, "body": body} for part, body in parts.items()])
    said = (values[column] for column in BROUGHT if values[column] is not None)
    seal = checksum(verdict, *sides, *said, 1, _seal_of(parts))
    database.run(_SEAL.values(parts=_seal_of(parts), checksum=seal), {"identifier": verdict})
    return new


def _checked(values: Mapping[str, object], remarks: bytes) -> None:
    """Raise :class:`ValueError` where the values are none of a judgement, or the remarks none."""
    if values.keys() != set(BROUGHT):
        raise ValueError("a verdict has other columns than this abistore knows")
    for column in BROUGHT:
        wanted = str if isinstance(_VERDICT[column].type, Text) else int
        if type(values[column]) is not wanted and not (values[column] is None and _VERDICT[column].nullable):
            raise ValueError(f"{column} of a verdict is {values[column]!r}")
    Verdict(int(str(values["verdict"])))
    datetime.fromisoformat(str(values["judged"]))
    if any(isinstance(value, int) and not 0 <= value < 1 << 31 for value in values.values()):
        raise ValueError("a count of a verdict is out of range")
    if values["evidence"] is not None:
        _decode_evidence(str(values["evidence"]))
    if remarks:
        _decode_remarks(remarks)


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
    return parts | ({"remarks": zlib.compress(encode(remarks))} if remarks != _Remarks() else {})


def _latest(database: Database, key: tuple[object, ...]) -> Row | None:
    """The id and the summary of the latest judgement of a key."""
    rows = database.rows(_LATEST, dict(zip(_KEY, key, strict=True)))
    _check(database, rows)
    return (rows[0][0], *rows[0][3:-3]) if rows else None


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
    return StoredVerdict(old, new, comparison, told.churn, told.judged, told.asker)


def _read_remarks(body: bytes) -> _Remarks:
    try:
        return _decode_remarks(zlib.decompress(body))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise StoreError("what a stored verdict says is damaged", "restore a backup") from error


def _insert(database: Database, sides: tuple[int, int], told: VerdictSummary) -> int:
    summary = dict(zip(SUMMARY, _values(told), strict=True))
    origin = {"evidence": encode(told.evidence).decode(), "asker": told.asker}
    sealed = {"parts": 0, "checksum": 0}
    return database.insert(_INSERT, {"old_id": sides[0], "new_id": sides[1], **summary, **origin, **sealed})


def _values(told: VerdictSummary) -> tuple[object, ...]:
    """A summary as the columns of :data:`SUMMARY` have it."""
    counts = (getattr(told, column) for column in _COUNTS)
    churn = (told.churn.added, told.churn.removed, told.churn.changed)
    return (int(told.verdict), *counts, *churn, *told.ruling, told.engine, stamp(told.judged))


def _summary(row: Row, evidence: tuple[Iterable[Evidence], Iterable[Evidence]]) -> VerdictSummary:
    (verdict, *counts), churn, (*ruling, engine, judged, seen, asker) = row[:8], row[8:11], row[11:]
    return VerdictSummary(
        verdict=Verdict(verdict),
        **dict(zip(_COUNTS, counts, strict=True)),
        churn=Churn(*churn),
        unequal_evidence=unequal_evidence(*evidence),
        ruling=RulingKey(*ruling),
        engine=engine,
        judged=datetime.fromisoformat(judged),
        evidence=_decode_evidence(seen) if seen is not None else None,
        asker=asker or "",
    )
