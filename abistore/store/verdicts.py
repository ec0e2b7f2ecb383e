"""Stored judgements and their findings: immutable rows, each written once."""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate, islice, pairwise
from typing import Final, NamedTuple, cast

import msgspec
from msgspec import structs
from sqlalchemy import Text, and_, bindparam, case, func, insert, select, update

from abistore.errors import StoreError
from abistore.model.declarations import Facet, Name
from abistore.model.findings import (
    IDENTITY_SIZE,
    Churn,
    Comparison,
    Finding,
    Impact,
    NotChecked,
    RulingFile,
    RulingKey,
    Verdict,
    identity,
    named_now,
    order,
    unequal_evidence,
    with_consequences,
)
from abistore.model.history import LineKey, Release, SeenFacets, StoredVerdict, VerdictSummary
from abistore.model.snapshot import Evidence, Location, decoder, digest, encode
from abistore.store import releases as cards
from abistore.store import tables
from abistore.store.database import AMONG, Database, Row, damaged, insert_new, record, stamp
from abistore.store.releases import OF_LINE, labels
from abistore.store.snapshots import RowMemory, places
from abistore.store.tables import checksum, of_bytes

COMMON_WORDS: Final = (
    b"type_no_longer_used opaque_storage_changed private_type_changed func_return_changed return_type_reinterpreted "
    b"enum_member_removed enum_member_value_changed typedef_redefined vtable_changed type_alignment_changed "
    b"struct_field_offset_changed type_field_removed type_field_added type_field_type_changed field_type_respelled "
    b"func_params_changed param_type_respelled param_pointee_qualifier_added type_removed type_added func_removed "
    b"func_added var_removed var_added var_type_changed enum_member_added union_field_added type_size_changed "
    b"unsigned long unsigned int const char std::vector<std::__cxx11::basic_string<char, std::allocator<char>>> "
    b"operator= ::~ no export uses the type any more the enumerator is new the type is new the function is new "
    b"a private definition changed the room is given in another way the base moved the field moved the field is gone "
    b"a field was added at the end an alternative was added the value differs the alignment differs the size differs "
    b"the type of the field changed the function returns another type the parameter has another type bytes "
    b'{"kind":"type_","name":["variable","_ZTVN","name":["enum","name":["record","name":["function","_ZN",'
    b'"part":"result","description":"the function is no longer exported","impact":0,"facet":"symbol",'
    b'"impact":1,"facet":"layout","old_value":"offset ","impact":3,"facet":"layout","old_value":"struct ",'
    b'"new_value":"int","affected":[["function","_ZNK],["function","_ZN],"consequences":[{"kind":"type_size_changed",'
    b'"name":["record","part":"","description":"the size differs","impact":3,"facet":"layout","old_value":"",'
    b'"new_value":"","affected":[["function",""]],"gone":true}'
)
"""Never to change: what was written with it is read with it. Other words need another column, or rows of their own."""

_decode = decoder(Finding)
_decode_steps = decoder(list[int])

_FINDING, _CONSEQUENCE = tables.finding.c, tables.consequence.c
_NEW = insert_new(tables.finding)
_NEW_CONSEQUENCE = insert_new(tables.consequence)
_FINDINGS_BY_ID = select(_FINDING.id, _FINDING.key, _FINDING.body, _FINDING.verdict_id, _FINDING.checksum).where(
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
    .values(
        verdict_id=bindparam("verdict", type_=_FINDING.verdict_id.type),
        checksum=bindparam("seal", type_=_FINDING.checksum.type),
    )
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

    def forget(self) -> None:
        """Remember nothing."""
        self.rows, self._kept = {}, []

    def keep(self, findings: Sequence[Finding], rows: Sequence[int]) -> None:
        """Remember what one judgement has, and forget what was not in the last few."""
        self._kept = [*self._kept, (findings, dict(zip(map(id, findings), rows, strict=True)))][-_KEPT:]
        self.rows = {}
        for _, latest in self._kept:
            self.rows.update(latest)


class FindingRows(msgspec.Struct, frozen=True):
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
    rows = database.within(_FINDINGS_BY_ID, wanted)
    found = {row: _finding(database, *columns) for row, *columns in rows}
    if len(found) < len(wanted):
        raise damaged(database.where, "a finding of a stored verdict is missing")
    return found


def bodies(database: Database, identifiers: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
    """The key and the JSON of each of these rows. Raises :class:`StoreError` where one is damaged or missing."""
    read(database, identifiers)  # verifies them
    return {row: (bytes(key), _inflated(body)) for row, key, body, *_ in database.within(_FINDINGS_BY_ID, identifiers)}


def bring_findings(database: Database, brought: Mapping[bytes, bytes], verdict: int) -> tuple[dict[bytes, int], int]:
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


def finding_problems(database: Database) -> Iterator[str]:
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
                yield f"finding {row}: the row that locates a consequence is missing"
            told -= nested
    if told:
        yield f"{len(told)} rows of consequence belong to no finding"


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


_VERDICT = tables.verdict.c
_COUNTS = ("breaking", "api_breaks", "risk_changes", "compatible", "notices", "suppressed", "not_checked")
SUMMARY = (
    *("verdict", *_COUNTS),
    *("added", "removed", "changed", "policy", "policy_digest", "suppression_digest", "engine", "judged"),
)
BROUGHT = (*SUMMARY, "evidence", "asker")
"""The columns of a verdict that another store takes over: all that is not made anew there."""

SEALED = (
    *(_VERDICT.id, _VERDICT.old_id, _VERDICT.new_id),
    *(_VERDICT[column] for column in SUMMARY),
    *(_VERDICT.evidence, _VERDICT.asker, _VERDICT.brought, _VERDICT.parts, _VERDICT.checksum),
)
"""What a row's checksum is of, and that. A column that is NULL is left out."""
_GIVEN_HERE = _VERDICT.brought.is_(None)
"""What another store says of two releases answers nobody here: it is judged anew."""

_KEY = ("old_id", "new_id", "policy", "policy_digest", "suppression_digest", "engine")
_LATEST = (
    select(*SEALED)
    .where(_GIVEN_HERE, *(_VERDICT[column] == bindparam(column) for column in _KEY))
    .order_by(_VERDICT.id.desc())
    .limit(1)
)
OF_ALL = select(*SEALED).where(_GIVEN_HERE, _VERDICT.engine == bindparam("engine")).order_by(_VERDICT.id)
_OF_LINE = OF_ALL.select_from(
    tables.verdict.join(tables.snapshot, tables.snapshot.c.id == _VERDICT.new_id).join(tables.line).join(tables.library)
).where(OF_LINE)
_BY_ID = select(*SEALED).where(_VERDICT.id == bindparam("verdict"))
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


_decode_remarks = decoder(_Remarks)
_decode_evidence = decoder(cast("type[SeenFacets]", SeenFacets))


_STATES = (
    select(tables.library.c.name, tables.line.c.target, tables.line.c.profile)
    .add_columns(func.count(), func.sum(tables.verdict.c.checksum))
    .select_from(tables.verdict.join(tables.snapshot, tables.verdict.c.new_id == tables.snapshot.c.id))
    .join(tables.line)
    .join(tables.library)
    .group_by(tables.line.c.id, tables.library.c.name)
)


def states(database: Database) -> dict[LineKey, tuple[int, int]]:
    """How many judgements each line's releases have, and the sum over them: it is another where one is."""
    return {LineKey(*row[:3]): (row[3], int(row[4])) for row in database.rows(_STATES)}


def find(
    database: Database, sides: tuple[Release, Release], ruling: RulingKey, engine: str, memory: RowMemory
) -> StoredVerdict | None:
    """The latest judgement of these two releases under this ruling by this engine that this store gave."""
    row = _latest(database, (*(cards.identifier(database, side) for side in sides), *ruling, engine))
    return _loaded(database, row, sides, memory) if row else None


def summaries(database: Database, line: LineKey, engine: str) -> Mapping[tuple[int, int, RulingKey], VerdictSummary]:
    """The latest judgements that this store gave between releases of ``line``, by their sequence numbers and ruling."""
    rows = database.rows(_OF_LINE, {**labels(line), "engine": engine})
    releases = cards.by_identifier(database, line) if rows else {}
    found = told(database, rows, releases)
    return {(old.sequence, new.sequence, each.ruling): each for old, new, each in found}


def told(
    database: Database, rows: Sequence[Row], releases: Mapping[int, Release]
) -> Iterator[tuple[Release, Release, VerdictSummary]]:
    """What rows of :data:`OF_ALL` say of ``releases``, which are by row."""
    _check(database, rows)
    for _, old_id, new_id, *row in rows:
        if (old := releases.get(old_id)) and (new := releases.get(new_id)):
            yield old, new, _summary(row[:-3], (old.evidence, new.evidence))


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
    return {seen.facet: seen.state for seen in release.evidence}


def _count(findings: Sequence[Finding], impact: Impact) -> int:
    """How many findings have an impact; they are in the order of reports, worst first."""
    begin, end = (cut(findings, -impact, key=lambda each: -each.impact) for cut in (bisect_left, bisect_right))
    return end - begin


def save(database: Database, given: Sequence[StoredVerdict], actor: str, written: WrittenFindings) -> None:
    """Remember judgements, but those whose side was pruned since; a no-op where it is the latest of its key."""
    try:
        with database.transaction():
            database.keep_tables_free()
            for each in given:
                if cards.is_stored(database, each.old) and cards.is_stored(database, each.new):
                    _save(database, each, actor, written)
    except BaseException:
        written.forget()  # rows that were taken back
        raise


def _save(database: Database, given: StoredVerdict, actor: str, written: WrittenFindings) -> None:
    comparison, told = given.comparison, summary(given)
    sides = (cards.identifier(database, given.old), cards.identifier(database, given.new))
    every = [finding for part in LISTS for finding in getattr(comparison, part)]
    found = look_up(database, every, written)
    last = _latest(database, (*sides, *told.ruling, told.engine))
    said = last[1 : len(SUMMARY)] if last else ()  # without the day
    says_as_much = not found.keys and _values(told)[:-1] == tuple(said)
    if last and says_as_much and parts_of(database, last[0]) == _packed(comparison, found.rows):
        return
    verdict = _insert(database, sides, told)
    origin = encode(told.evidence).decode(), told.asker
    rows = write(database, every, found, verdict)
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


_OF_NEW = select(*SEALED).where(_VERDICT.new_id.in_(AMONG))


def every(database: Database, among: Sequence[int]) -> Iterator[StoredRow]:
    """All judgements of these snapshots, oldest first. Raises :class:`StoreError` where one is damaged."""
    return stored_rows(database, sorted(database.within(_OF_NEW, among), key=lambda row: int(row[0])))


def stored_rows(database: Database, rows: Iterable[Row]) -> Iterator[StoredRow]:
    """The judgements of rows of :data:`SEALED`. Raises :class:`StoreError` where one is damaged."""
    for row in rows:
        parts = parts_of(database, row[0])
        lists = {part: unpack(parts[part]) for part in LISTS if part in parts}
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
    rows, new = bring_findings(database, {key: body for own in lists.values() for key, body in own.items()}, verdict)
    parts = {part: pack(rows[key] for key in own) for part, own in lists.items() if own}
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
            lists = (unpack(parts[part]) for part in LISTS if part in parts)
            exist(database, [row for part in lists for row in part])
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
            parts[part] = pack(own)
    remarks = _Remarks(*(getattr(comparison, name) for name in _Remarks.__struct_fields__))
    return parts | ({"remarks": zlib.compress(encode(remarks))} if remarks != _Remarks() else {})


def _latest(database: Database, key: tuple[object, ...]) -> Row | None:
    rows = database.rows(_LATEST, dict(zip(_KEY, key, strict=True)))
    _check(database, rows)
    return (rows[0][0], *rows[0][3:-3]) if rows else None


def _loaded(database: Database, row: Row, sides: tuple[Release, Release], memory: RowMemory) -> StoredVerdict:
    old, new = sides
    parts = parts_of(database, row[0])
    ids = {part: unpack(parts[part]) if part in parts else [] for part in LISTS}
    stored = read(database, (each for part in ids.values() for each in part))
    where = [places(database, side, memory) for side in sides]
    found = {identifier: placed(finding, *where) for identifier, finding in stored.items()}
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
