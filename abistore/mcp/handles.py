"""Short ids of comparisons, by which later calls mean them.

An id has digits of both contents, then of both labels, then of these and what they were judged by. So one of stored
releases is found again by every server of the store, by the index of digests and at the same cost however long the
history is; one of files by the server that compared them, for as long as it keeps the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import product
from typing import Literal

import msgspec

from abistore.interface import (
    OpenStore,
    Release,
    Report,
    ReportedFinding,
    Side,
    Verdict,
    releases_of_digest,
    reviews,
    verdict_between,
    with_approvals,
    without_said,
)
from abistore.mcp.answers.answer import brief
from abistore.mcp.answers.changes import ReviewItem
from abistore.mcp.answers.units import encoded
from abistore.mcp.call import Call
from abistore.mcp.refusals import Code, Refusal
from abistore.model.judging.engine import ENGINE

SHOWN = 16
"""The digits that answers show: fewer do not tell what findings were judged by."""

_STRICT = ("strict_abi", "", "", str(ENGINE))


_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(Report).decode


def keep(call: Call, report: Report) -> str:
    """The short id of a comparison, whose report is kept for later calls."""
    identity = identity_of(report)
    call.keep = identity, _encode(_ungated(report))
    return identity[:SHOWN]


def _ungated(report: Report) -> Report:
    """The report as no gate has seen it, and nobody has said anything of it: another one may ask, at another time."""
    code = Verdict[report.verdict].exit_code
    bump = report.bump
    told = msgspec.structs.replace(bump, decides=False) if bump is not None and bump.rule == "scheme" else None
    asked = msgspec.structs.replace(without_said(report), status="ok", code="", error="", hint="", bump=told)
    return msgspec.structs.replace(asked, fail_on="api_break", exit_code=code)


def identity_of(report: Report) -> str:
    """The whole id of a comparison."""
    ruled = (report.policy, report.policy_digest, report.suppression_digest, report.engine)
    return _identity(report.old, report.new, ruled)


def kept_report(call: Call) -> Report | None:
    """The report that the server keeps of the comparison which the arguments name."""
    return None if call.kept is None else _decode(call.kept)


def report_of(call: Call, digits: str, *, judge: bool = True) -> Report:
    """The report of the comparison whose id begins with ``digits``. Raises :class:`Refusal`.

    With ``judge=False`` only what the server keeps and what the store remembers is told.
    """
    report = kept_report(call)
    if report is None and len(digits) >= SHOWN:
        with call.store() as store:
            report = _stored(store, digits.lower(), judge)
    if report is None:
        raise Refusal(
            "NOT_FOUND",
            f"no comparison is known by {digits}",
            "compare again with abi_compare or abi_summary: comparisons of files are kept by the server that made them",
        )
    keep(call, report)
    return _ungated(report)


def told_report(call: Call, digits: str) -> Report:
    """The same with what people say of its findings by now: nothing that was withdrawn lets a gate pass."""
    report = report_of(call, digits)
    if call.has_no_store:
        return report
    with call.store() as store:
        return with_approvals(report, database=store)


def findings_of(report: Report) -> tuple[ReportedFinding, ...]:
    """Everything that a comparison found: what counts, what is suppressed, advice, and the consequences of each."""
    top = (*report.changes, *report.suppressed, *report.advice)
    return tuple(each for change in top for each in (change, *change.consequences))


def one_finding(found: Iterable[ReportedFinding], digits: str) -> ReportedFinding:
    """The one whose id begins with ``digits``. Raises :class:`Refusal` where none does, or several do."""
    meant = {each.id: each for each in reversed(tuple(found)) if each.id.startswith(digits.lower())}
    if len(meant) == 1:
        return next(iter(meant.values()))
    code: Code = "AMBIGUOUS_REF" if meant else "NOT_FOUND"
    hint = f"give more digits: {', '.join(sorted(meant)[:3])}" if meant else "abi_findings lists them"
    raise Refusal(code, f"{len(meant) or 'no'} findings begin with {brief(digits, 80)}", hint)


def reviewed(call: Call, library: str) -> Mapping[str, ReviewItem]:
    """What people said of findings in a library, by identity."""
    if call.has_no_store:
        return {}
    with call.store() as store:
        said = reviews(library, database=store)
    return {one.identity: ReviewItem(one.state, brief(one.note), one.actor) for one in said}


def _stored(store: OpenStore, digits: str, judge: bool) -> Report | None:
    """The verdict about two stored releases of a line, by the strict policy, where it has this id."""
    pairs = {_identity(old.side, new.side, _STRICT): (old, new) for old, new in _pairs(store, digits)}
    found = [identity for identity in sorted(pairs) if identity.startswith(digits)]
    if len(found) > 1:
        told = "; ".join(f"{identity} is {pairs[identity][0].side} -> {pairs[identity][1].side}" for identity in found)
        raise Refusal("AMBIGUOUS_REF", f"comparison_id {digits}: {told}", "give more digits")
    return verdict_between(*pairs[found[0]], database=store, judge=judge).report if found else None


def _pairs(store: OpenStore, digits: str) -> Iterator[tuple[Release, Release]]:
    """The pairs of releases of one line whose comparison may have an id that begins so: an index has them."""
    for old, new in product(*(_sides(store, digits, place) for place in (0, 1))):
        if old != new and old.line == new.line:
            yield old, new


def _sides(store: OpenStore, digits: str, place: Literal[0, 1]) -> list[Release]:
    content, label = digits[4 * place : 4 * place + 4], digits[8 + 2 * place : 10 + 2 * place]
    found = releases_of_digest(content, database=store)
    return [release for release in found if _label(release.side).startswith(label)]


def _identity(old: Side, new: Side, ruled: tuple[str, ...]) -> str:
    """Four digits of each content, two of each label, and twenty of everything."""
    every = b"\0".join((_key(old), _key(new), encoded(ruled)))
    whole = blake2b(every, digest_size=10).hexdigest()
    return f"{old.digest[:4]:0<4}{new.digest[:4]:0<4}{_label(old)}{_label(new)}{whole}"


def _label(side: Side) -> str:
    return blake2b(_key(side), digest_size=1).hexdigest()


def _key(side: Side) -> bytes:
    return encoded((side.library, side.version, side.digest, side.target))
