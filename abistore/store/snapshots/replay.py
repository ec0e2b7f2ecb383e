"""A line's snapshots, one after the other, by the entries that begin and end: whether each says what it said.

Nothing is decoded: a snapshot's digest is of the canonical bytes of its shapes, which are what is stored.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping

from sqlalchemy import select

from abistore.model.digest import begun, digest, encode, name_digest
from abistore.model.names import FACETS, Facet
from abistore.store.database import seals, tables
from abistore.store.database.database import Database
from abistore.store.releases import cards

Key = tuple[str, str]
"""Kind and spelling of a name."""


class _State:
    """What holds in one facet at one moment: for each name the bodies of its shapes, and its part of the digest."""

    def __init__(self) -> None:
        self.sum = 0
        self._names: list[Key] = []
        self._bodies: dict[Key, set[bytes]] = defaultdict(set)
        self._parts: dict[Key, bytes] = {}

    def change(self, key: Key, body: bytes, seal: int, begins: bool) -> None:
        """Let a shape of a name begin, or end."""
        self.sum += seal if begins else -seal
        bodies = self._bodies[key]
        (bodies.add if begins else bodies.discard)(body)
        place = bisect_left(self._names, key)
        known = self._names[place : place + 1] == [key]
        if bodies:
            self._parts[key] = b"%b,[%b]]" % (encode(key), b",".join(sorted(bodies)))
            if not known:
                self._names.insert(place, key)
        elif known:
            del self._names[place]

    def parts(self) -> list[bytes]:
        """What the digest is of, name by name."""
        return [self._parts[key] for key in self._names]


def line_problems(database: Database, line: int, what: str) -> Iterator[str]:
    """What is wrong with the snapshots of the line ``what``."""
    changes, missing = _changes(database, line)
    yield from (f"{what}: {problem}" for problem in missing)
    states = [_State() for _ in FACETS]
    card = tables.snapshot.c
    columns = (card.sequence, card.version, card.target, card.facets, card.digest, card.members)
    statement = select(*columns).where(card.line_id == line).order_by(card.sequence)
    for sequence, version, target, facets, key, members in database.rows(statement):
        for moment in sorted(moment for moment in changes if moment <= sequence):
            for facet, name, body, seal, begins in changes.pop(moment):
                states[facet].change(name, body, seal, begins)
        counts = cards.facet_counts(facets)
        held = [number for number, facet in enumerate(FACETS) if counts.get(facet)]
        if sum(states[number].sum for number in held) != members:
            yield f"{what} {version}, number {sequence}: an entry is missing or was changed"
        elif _digest(target, counts, states) != key:
            yield f"{what} {version}, number {sequence}: it has another digest than it was stored with, {key.hex()}"


Change = tuple[int, Key, bytes, int, bool]
"""A facet, a name, a shape's canonical bytes, the checksum of both, and whether it begins."""


def _changes(database: Database, line: int) -> tuple[dict[int, list[Change]], list[str]]:
    """What begins and ends in which snapshot of a line, ends first; and what is missing."""
    entry, name = tables.entry.c, tables.name.c
    statement = (
        select(entry.facet, entry.first_seq, entry.last_seq, name.kind, name.spelling, tables.shape.c.body)
        .select_from(tables.entry.outerjoin(tables.name).outerjoin(tables.shape))
        .where(entry.line_id == line)
    )
    begin: dict[int, list[Change]] = defaultdict(list)
    end: dict[int, list[Change]] = defaultdict(list)
    missing: dict[str, None] = {}
    for facet, first, last, kind, spelling, body in database.rows(statement):
        if kind is None or body is None:
            missing["the name of an entry is missing" if kind is None else "the shape of an entry is missing"] = None
            continue
        if facet not in range(len(FACETS)):
            missing[f"an entry is of facet {facet}"] = None
            continue
        key, shape = (kind, spelling), body.encode()
        seal = seals.member(facet, seals.key(name_digest(*key)), seals.key(digest(shape)))
        begin[first].append((facet, key, shape, seal, True))
        end[last + 1].append((facet, key, shape, seal, False))
    moments = sorted(begin.keys() | end.keys())
    return {moment: [*end[moment], *begin[moment]] for moment in moments}, list(missing)


def _digest(target: str, counts: Mapping[Facet, int], states: list[_State]) -> bytes:
    """What :func:`abistore.model.digest.snapshot_digest` gives for the snapshot."""
    state = begun(target.encode())
    for number, facet in enumerate(FACETS):
        if facet in counts:
            parts = states[number].parts() if counts[facet] else []
            state.update(b'["%b",[' % facet.encode())
            if parts:
                state.update(b"[%b" % b",[".join(parts))
            state.update(b"]]")
    return state.digest()
