"""Short ids of comparisons, by which later calls mean them.

An id is a digest of both sides and of what they were judged by. So one of stored releases is known again by every
server of the store; one of files by the server that compared them, for as long as it keeps the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from hashlib import blake2b
from itertools import permutations
from typing import TypeAlias

import msgspec

from abistore.interface import OpenStore, Release, Report, Side, Verdict, remembered, requirement
from abistore.mcp.answers.units import encoded
from abistore.mcp.call import Call
from abistore.mcp.refusals import Refusal
from abistore.model.judging.engine import ENGINE

SHOWN = 8
"""The digits that answers show."""

STRICT = "strict_abi"
_Keyed: TypeAlias = tuple[Release, bytes]

_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(Report).decode


def keep(call: Call, report: Report) -> str:
    """The short id of a comparison, whose report is kept for later calls."""
    identity = identity_of(report)
    call.keep = identity, _encode(_ungated(report))
    return identity[:SHOWN]


def _ungated(report: Report) -> Report:
    """The report as no gate has seen it: another one may ask."""
    code = Verdict[report.verdict].exit_code
    return msgspec.structs.replace(report, status="ok", code="", error="", hint="", fail_on="api_break", exit_code=code)


def identity_of(report: Report) -> str:
    """The whole id of a comparison."""
    ruled = (report.policy, report.policy_digest, report.suppression_digest)
    return _identity(_key(report.old), _key(report.new), encoded((ruled, report.engine)))


def kept_report(call: Call) -> Report | None:
    """The report that the server keeps of the comparison which the arguments name."""
    return None if call.kept is None else _decode(call.kept)


def report_of(call: Call, digits: str, *, judge: bool = True) -> Report:
    """The report of the comparison whose id begins with ``digits``. Raises :class:`Refusal`.

    With ``judge=False`` only what the server keeps and what the store remembers is told.
    """
    report = kept_report(call)
    if report is None:
        with call.store() as store:
            report = _stored(store, digits.lower(), judge)
    if report is None:
        raise Refusal(
            "NOT_FOUND",
            f"no comparison is known by {digits}",
            "compare again with abi_compare or abi_summary: comparisons of files are kept by the server that made them",
        )
    keep(call, report)
    return report


def _stored(store: OpenStore, digits: str, judge: bool) -> Report | None:
    """The verdict about two stored releases of a line, by the strict policy, where it has this id."""
    ending = encoded(((STRICT, "", ""), str(ENGINE)))
    for old, new in _pairs(store):
        if _identity(old[1], new[1], ending).startswith(digits):
            line = new[0].line
            ask = partial(store.verdict, require=requirement("none")) if judge else partial(remembered, database=store)
            other = old[0].version
            return ask(new[0].reference, against=other, target=line.target, profile=line.profile).report
    return None


def _pairs(store: OpenStore) -> Iterator[tuple[_Keyed, _Keyed]]:
    """All pairs of releases of one line, with what their ids are made of."""
    for listed in store.lines():
        line = listed.line
        releases = store.releases(line.library, target=line.target, profile=line.profile)
        keyed = [(release, _key(release.side)) for release in releases if not release.candidate]
        yield from permutations(keyed, 2)


def _key(side: Side) -> bytes:
    return encoded((side.library, side.version, side.digest, side.target))


def _identity(old: bytes, new: bytes, ruled: bytes) -> str:
    return blake2b(old + b"\0" + new + b"\0" + ruled, digest_size=16).hexdigest()
