"""Stored environments: what was recorded, replaced and removed there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import bindparam, insert, select, update

from abistore.errors import SnapshotNotFound
from abistore.model.environments import Environment, EnvironmentMember, RecordedMembers, replaced_by
from abistore.model.words import did_you_mean, near
from abistore.store import tables
from abistore.store.database import Database, damaged, now, record, stamp
from abistore.store.tables import checksum
from abistore.store.timeline import sealed_rows

_ROOT, _ENVIRONMENT, _MEMBER = tables.root.c, tables.environment.c, tables.environment_member.c
_TEXTS: Final = ("kind", "name", "target", "profile", "version", "digest", "soname", "sha256", "file")
COLUMNS: Final = (*_TEXTS, "recorded", "actor", "until", "ended_by")
"""What the seal of a member is of, after its id and the name of its environment."""

_EVERY = (
    select(_ROOT.environments, _ENVIRONMENT.id, _ENVIRONMENT.name, _ENVIRONMENT.created, _ENVIRONMENT.actor)
    .add_columns(_ENVIRONMENT.checksum)
    .select_from(tables.root.outerjoin(tables.environment, _ROOT.id == 1))
    .order_by(_ENVIRONMENT.name)
)
_MEMBERS = (
    select(_ENVIRONMENT.name, _ENVIRONMENT.members, _MEMBER.id, *(_MEMBER[each] for each in COLUMNS), _MEMBER.checksum)
    .select_from(tables.environment.outerjoin(tables.environment_member))
    .order_by(_MEMBER.id)
)
_HOLD = select(_ROOT.id).with_for_update()
_FIND = select(_ENVIRONMENT.id).where(_ENVIRONMENT.name == bindparam("environment"))
_ROWS = select(_MEMBER.id, *(_MEMBER[each] for each in COLUMNS), _MEMBER.checksum).where(
    _MEMBER.environment_id == bindparam("identifier")
)
_INSERT, _INSERT_MEMBER = insert(tables.environment), insert(tables.environment_member)
_SEAL = update(tables.environment).where(_ENVIRONMENT.id == bindparam("identifier"))
_CHANGE_MEMBER = update(tables.environment_member).where(_MEMBER.id == bindparam("identifier"))
_COUNT = update(tables.root).values(environments=_ROOT.environments + bindparam("seal"))
_COUNT_MEMBER = _SEAL.values(members=_ENVIRONMENT.members + bindparam("seal"))


def every(database: Database) -> tuple[Environment, ...]:
    """All environments, by name. Raises :class:`StoreError` where one, or a member, was changed or taken away."""
    found = sealed_rows(database, _EVERY, "an environment")
    members = _members(database)
    return tuple(
        Environment(
            name,
            datetime.fromisoformat(created),
            actor,
            tuple(sorted((each for each in members[name] if not each.until), key=_order)),
            tuple(sorted((each for each in members[name] if each.until), key=_ended)),
        )
        for name, created, actor in found
    )


def _order(member: EnvironmentMember) -> tuple[object, ...]:
    return *member.slot, member.recorded, member.content


def _ended(member: EnvironmentMember) -> tuple[object, ...]:
    return member.until, *_order(member)


def _members(database: Database) -> Mapping[str, list[EnvironmentMember]]:
    missing: dict[str, int] = {}
    found: dict[str, list[EnvironmentMember]] = {}
    for name, total, identifier, *values, seal in database.rows(_MEMBERS):
        own = found.setdefault(name, [])
        missing.setdefault(name, total)
        if identifier is None:
            continue
        if checksum(identifier, name, *values) != seal:
            raise damaged(database.where, f"a member of the environment {name}")
        missing[name] -= seal
        own.append(_read(values))
    for name, left in missing.items():
        if left:
            raise damaged(database.where, f"a member of the environment {name} is missing")
    return found


def _read(values: Sequence[Any]) -> EnvironmentMember:
    told = dict(zip(COLUMNS, values, strict=True))
    moments = {each: told[each] and datetime.fromisoformat(told[each]) for each in ("recorded", "until")}
    return EnvironmentMember(**{**told, **moments})


def named(database: Database, name: str) -> Environment:
    """One environment. Raises :class:`SnapshotNotFound`."""
    known = {each.name: each for each in every(database)}
    if name not in known:
        stored = f"recorded: {', '.join(known)}" if known else f"record what is there: abistore env record {name} ..."
        raise SnapshotNotFound(f"{name}: no such environment", did_you_mean(near(name, list(known)), stored))
    return known[name]


def record_members(
    database: Database, name: str, new: Sequence[EnvironmentMember], *, beside: bool, actor: str
) -> RecordedMembers:
    """Record members of an environment, all or none, and create it where it is new.

    What :func:`replaced_by` names is replaced. Raises :class:`UsageError`.
    """
    with database.transaction():
        database.rows(_HOLD)
        identifier = _held(database, name, now(), actor)
        members = [each for each in _members(database)[name] if not each.until]
        added, replaced, known = list[EnvironmentMember](), list[EnvironmentMember](), list[EnvironmentMember]()
        for each in new:
            gone = replaced_by(members, each, beside=beside)
            is_known = any(one.content == each.content for one in members)
            (known if is_known else added).append(each)
            if not is_known:
                _write(database, identifier, name, each)
            _end(database, name, gone, each.recorded, actor)
            members = [one for one in members if one not in gone] + [each] * (not is_known)
            replaced += gone
            if gone or not is_known:
                record(database, actor, "env-record", f"{each.label} in {name}", _detail(each, gone))
    return RecordedMembers(name, tuple(added), tuple(replaced), (), tuple(known))


def _detail(member: EnvironmentMember, replaced: Sequence[EnvironmentMember]) -> str:
    gone = ", ".join(each.version or each.sha256 for each in replaced)
    return "; ".join(filter(None, (member.target, f"sha256 {member.sha256 or '-'}", gone and f"replaces {gone}")))


def remove_members(
    database: Database, name: str, meant: Callable[[EnvironmentMember], bool], moment: datetime, actor: str
) -> RecordedMembers:
    """Take the members that are meant out of an environment. Raises :class:`SnapshotNotFound` for an unknown one."""
    with database.transaction():
        database.rows(_HOLD)
        gone = tuple(each for each in named(database, name).members if meant(each))
        _end(database, name, gone, moment, actor)
        for each in gone:
            record(database, actor, "env-remove", f"{each.label} in {name}", _detail(each, ()))
    return RecordedMembers(name, removed=gone)


def bring(database: Database, there: Environment) -> int:
    """Write what another store recorded of an environment and this one did not; how many rows that changed.

    What ended on either side has ended. Members that both sides have beside each other stay so.
    """
    database.rows(_HOLD)
    is_new = not database.rows(_FIND, {"environment": there.name})
    identifier = _held(database, there.name, stamp(there.created), there.actor)
    here = {_identity(each): each for each in _members(database)[there.name]}
    changed = 0
    for each in (*there.earlier, *there.members):
        same = here.get(_identity(each))
        if same is None:
            _write(database, identifier, there.name, each)
        elif each.until and not same.until:
            _end(database, there.name, [same], each.until, each.ended_by)
        else:
            continue
        changed += 1
    return changed + is_new


def _identity(member: EnvironmentMember) -> EnvironmentMember:
    return replace(member, until=None, ended_by="")


def _held(database: Database, name: str, created: str, actor: str) -> int:
    """The id of an environment, which is created where it is new."""
    rows = database.rows(_FIND, {"environment": name})
    if rows:
        return int(rows[0][0])
    identifier = database.insert(
        _INSERT, {"name": name, "created": created, "actor": actor, "members": 0, "checksum": 0}
    )
    seal = checksum(identifier, name, created, actor)
    database.run(_SEAL.values(checksum=seal), {"identifier": identifier})
    database.run(_COUNT, {"seal": seal})
    return identifier


def _write(database: Database, environment: int, name: str, member: EnvironmentMember) -> None:
    columns = _columns(member)
    identifier = database.insert(_INSERT_MEMBER, {"environment_id": environment, **columns, "checksum": 0})
    seal = checksum(identifier, name, *columns.values())
    database.run(_CHANGE_MEMBER.values(checksum=seal), {"identifier": identifier})
    database.run(_COUNT_MEMBER, {"identifier": environment, "seal": seal})


def _end(database: Database, name: str, ended: Sequence[EnvironmentMember], moment: datetime, actor: str) -> None:
    """Note that members are there no longer."""
    wanted = [_columns(each) for each in ended]
    environment = _held(database, name, "", "")
    for identifier, *values, before in database.rows(_ROWS, {"identifier": environment}):
        columns = dict(zip(COLUMNS, values, strict=True))
        if columns in wanted:
            columns |= {"until": stamp(moment), "ended_by": actor}
            seal = checksum(identifier, name, *columns.values())
            database.run(_CHANGE_MEMBER.values({**columns, "checksum": seal}), {"identifier": identifier})
            database.run(_COUNT_MEMBER, {"identifier": environment, "seal": seal - before})


def _columns(member: EnvironmentMember) -> dict[str, str | None]:
    return {
        **{each: getattr(member, each) for each in _TEXTS},
        "recorded": stamp(member.recorded),
        "actor": member.actor,
        "until": stamp(member.until) if member.until else None,
        "ended_by": member.ended_by,
    }
