"""Stored judgements: immutable rows, each under the ruling and the rules that gave it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from abistore.errors import StoreError
from abistore.model.findings import Churn, Comparison, Finding, Impact, RulingKey, identified, unequal_evidence
from abistore.model.history import LineKey, Release, StoredFinding, StoredVerdict, VerdictSummary
from abistore.store import cards
from abistore.store.audit import record, stamp
from abistore.store.database import Database
from abistore.store.releases import releases


class _Body(msgspec.Struct, frozen=True):
    comparison: Comparison
    churn: Churn


_decode = msgspec.json.Decoder(_Body).decode
_COLUMNS = (
    "old_digest, new_digest, policy, engine, verdict, "
    "breaking, api_breaks, risk_changes, compatible, judged, comparison"
)


def find(database: Database, old: Release, new: Release, ruling: RulingKey, engine: str) -> StoredVerdict | None:
    """The latest judgement of these two releases under this ruling by this engine."""
    condition = "old_digest = ? AND new_digest = ? AND policy = ? AND engine = ?"
    parameters = (bytes.fromhex(old.digest), bytes.fromhex(new.digest), _text(ruling), engine)
    statement = f"SELECT judged, comparison FROM verdict WHERE {condition} ORDER BY id DESC LIMIT 1"
    for judged, data in database.rows(statement, parameters):
        body = _read(data)
        comparison = msgspec.structs.replace(body.comparison, old=old.side, new=new.side)
        return StoredVerdict(old, new, comparison, body.churn, datetime.fromisoformat(judged))
    return None


def summaries(database: Database, line: LineKey, engine: str) -> Mapping[tuple[int, int, RulingKey], VerdictSummary]:
    """The latest judgements between releases of ``line``, by their sequence numbers and ruling."""
    by_digest: dict[bytes, list[Release]] = {}
    for release in releases(database, line.library, line.target, line.profile):
        by_digest.setdefault(bytes.fromhex(release.digest), []).append(release)
    found = {}
    statement = "SELECT old_digest, new_digest, judged, comparison FROM verdict WHERE engine = ? ORDER BY id"
    for old_digest, new_digest, judged, data in database.rows(statement, (engine,)):
        if old_digest not in by_digest or new_digest not in by_digest:
            continue
        body = _read(data)
        for old in by_digest[old_digest]:
            for new in by_digest[new_digest]:
                given = StoredVerdict(old, new, body.comparison, body.churn, datetime.fromisoformat(judged))
                found[old.sequence, new.sequence, RulingKey.of(body.comparison)] = summary(given)
    return found


def summary(given: StoredVerdict) -> VerdictSummary:
    """What a timeline shows of a judgement."""
    comparison = given.comparison
    return VerdictSummary(
        verdict=comparison.verdict,
        breaking=comparison.count(Impact.BREAKING),
        api_breaks=comparison.count(Impact.API_BREAK),
        risk_changes=comparison.count(Impact.RISK),
        compatible=comparison.count(Impact.COMPATIBLE),
        notices=comparison.count(Impact.NOTICE),
        suppressed=len(comparison.suppressed),
        not_checked=len(comparison.not_checked),
        churn=given.churn,
        unequal_evidence=unequal_evidence(given.old.evidence, given.new.evidence),
        ruling=RulingKey.of(comparison),
        engine=comparison.engine,
        judged=given.judged,
    )


def findings(database: Database, identity: str) -> Iterator[StoredFinding]:
    """The findings, and consequences, whose identity begins with ``identity``: newest judgement first."""
    statement = "SELECT old_digest, new_digest, judged, comparison FROM verdict ORDER BY id DESC"
    for *digests, judged, data in database.rows(statement):
        comparison = _read(data).comparison
        found = [each for each in _every((*comparison.findings,)) if each[0].startswith(identity)]
        found += [each for each in _every((*comparison.suppressed,)) if each[0].startswith(identity)]
        found += [each for each in _every((*comparison.advice,)) if each[0].startswith(identity)]
        for name, finding in found:
            old, new = (cards.find(database, "snapshot.digest = ?", (digest,))[0] for digest in digests)
            yield StoredFinding(old, new, datetime.fromisoformat(judged), name, finding)


def _every(found: Sequence[Finding]) -> Iterator[tuple[str, Finding]]:
    for identity, finding in identified(found):
        yield identity, finding
        yield from _every(finding.consequences)


def save(database: Database, given: Sequence[StoredVerdict], actor: str) -> None:
    """Remember judgements; each is a no-op where the same one is the latest of its key."""
    with database.transaction():
        for each in given:
            _save(database, each, actor)


def _save(database: Database, given: StoredVerdict, actor: str) -> None:
    comparison, ruling = given.comparison, RulingKey.of(given.comparison)
    last = find(database, given.old, given.new, ruling, comparison.engine)
    if last is not None and (last.comparison, last.churn) == (comparison, given.churn):
        return
    told = summary(given)
    values = (
        bytes.fromhex(given.old.digest),
        bytes.fromhex(given.new.digest),
        *(_text(ruling), comparison.engine, int(told.verdict), told.breaking, told.api_breaks),
        *(told.risk_changes, told.compatible, stamp(given.judged)),
        zlib.compress(msgspec.json.encode(_Body(comparison, given.churn))),
    )
    places = ", ".join("?" * len(values))
    database.run(f"INSERT INTO verdict ({_COLUMNS}) VALUES ({places})", values)
    detail = f"{told.verdict.name} under {_text(ruling)} by {comparison.engine}"
    record(database, actor, "verdict", f"{given.old.digest} {given.new.digest}", detail)


def _text(ruling: RulingKey) -> str:
    if not ruling.policy_digest and not ruling.suppression_digest:
        return ruling.policy
    return f"{ruling.policy}/{ruling.policy_digest or '-'}/{ruling.suppression_digest or '-'}"


def _read(data: bytes) -> _Body:
    try:
        return _decode(zlib.decompress(data))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise StoreError("a stored verdict is damaged", "restore a backup") from error
