"""Rules that are bound in the store, as an append-only ledger."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import bindparam, insert, select, update

from abistore.model.history import Side
from abistore.model.rules import Binding, in_force, stricter
from abistore.store import tables
from abistore.store.database import Database, record, stamp
from abistore.store.tables import checksum
from abistore.store.timeline import sealed_rows

_ROOT, _RULE = tables.root.c, tables.bound_rule.c
COLUMNS: Final = (
    *("pattern", "policy", "policy_text", "scheme", "require", "reason", "actor", "bound"),
    *("since_soname", "withdrawn"),
)
"""What the seal of a rule is of, after its id."""

_EVERY = (
    select(_ROOT.rules, _RULE.id, *(_RULE[each] for each in COLUMNS), _RULE.checksum)
    .select_from(tables.root.outerjoin(tables.bound_rule, _ROOT.id == 1))
    .order_by(_RULE.id)
)
_HOLD = select(_ROOT.id).with_for_update()
_INSERT = insert(tables.bound_rule)
_SEAL = update(tables.bound_rule).where(_RULE.id == bindparam("identifier"))
_COUNT = update(tables.root).values(rules=_ROOT.rules + bindparam("seal"))


def every(database: Database) -> tuple[Binding, ...]:
    """All that was bound and taken back, oldest first. Raises :class:`StoreError` where a row is not as written."""
    return tuple(map(_read, sealed_rows(database, _EVERY, "a bound rule")))


def _read(values: Sequence[Any]) -> Binding:
    told = dict(zip(COLUMNS, values, strict=True))
    words = {each: bool(told[each]) for each in ("since_soname", "withdrawn")}
    require = tuple(filter(None, told["require"].split(",")))
    return Binding(**{**told, **words, "require": require, "bound": datetime.fromisoformat(told["bound"])})


def bind(database: Database, said: Binding) -> bool:
    """Write a rule down, or that it is taken back; false where the last one of its pattern said the same."""
    with database.transaction():
        database.rows(_HOLD)
        last = {one.pattern: one for one in every(database)}.get(said.pattern)
        if last is not None and last.terms == said.terms:
            return False
        append(database, said)
        record(database, said.actor, *_audited(said, last))
        return True


def _audited(said: Binding, last: Binding | None) -> tuple[str, str, str]:
    before = last.words if last and not last.withdrawn else ""
    if said.withdrawn:
        return "unbind", said.pattern, "; ".join(filter(None, (before, said.reason)))
    told = said.words, said.reason, before and f"was {before}"
    return "bind", said.pattern, "; ".join(filter(None, told))


def append(database: Database, said: Binding) -> None:
    """Write a row, whatever was bound before."""
    values = {
        **{each: getattr(said, each) for each in COLUMNS},
        "require": ",".join(said.require),
        "bound": stamp(said.bound),
        "since_soname": int(said.since_soname),
        "withdrawn": int(said.withdrawn),
    }
    identifier = database.insert(_INSERT, {**values, "checksum": 0})
    seal = checksum(identifier, *(values[each] for each in COLUMNS))
    database.run(_SEAL.values(checksum=seal), {"identifier": identifier})
    database.run(_COUNT, {"seal": seal})


def bring(database: Database, told: Sequence[Binding], prefer: Side | None) -> tuple[int, list[str]]:
    """Bind what another store binds, so that the stricter of both holds: how many rows that writes, and conflicts.

    What is bound here stays bound where it was taken back there. Two policies, or two schemes, of one pattern are a
    conflict, unless a side is preferred.
    """
    new, conflicts = brought(every(database), told, prefer)
    for one in new:
        append(database, one)
    return len(new), conflicts


def brought(ledger: Sequence[Binding], told: Sequence[Binding], prefer: Side | None) -> tuple[list[Binding], list[str]]:
    """The rows that :func:`bring` writes, and the conflicts."""
    known = {one.pattern for one in ledger}
    new = [one for one in told if one.pattern not in known]
    here, conflicts = {one.pattern: one for one in in_force(ledger)}, list[str]()
    for one in in_force(told):
        if one.pattern not in known or one in ledger:
            continue
        own = here.get(one.pattern)
        demands = stricter(own, one) if own else None
        if own is None or (demands is None and prefer == "there"):
            new.append(one)
        elif demands is None and prefer is None:
            conflicts.append(f"{one.pattern!r} is bound to {one.words} there, and to {own.words} here")
        elif demands is not None and not _same(own, demands):
            new.append(replace(one, **_named(demands)))
    return new, conflicts


_DEMANDS = ("policy", "policy_text", "scheme", "require", "since_soname")


def _named(demands: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(_DEMANDS, demands, strict=True))


def _same(one: Binding, demands: Sequence[Any]) -> bool:
    return tuple(getattr(one, each) for each in _DEMANDS) == tuple(demands)
