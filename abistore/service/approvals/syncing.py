"""The ledger out to a reviewed file, and from it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from abistore.errors import PolicyError, SnapshotNotFound, UsageError
from abistore.model.judging.approvals import Approval, in_force
from abistore.model.labels.blanks import check_not_blank
from abistore.service.approvals.terms import check_to_come, until_of
from abistore.service.approvals.undone import stood_at
from abistore.service.database import Database, line_target, user, using

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abistore.service.approvals.file import ReviewedFile
    from abistore.store.store import Store


class ExportedLedger(msgspec.Struct, frozen=True):
    """The approvals in force as the text of a file, and how many there are."""

    text: str
    count: int


class SyncedLedger(msgspec.Struct, frozen=True):
    """How a file differs from the ledger: approvals that are ``added`` or changed, and those that are ``withdrawn``.

    ``done`` tells that it was written; else it is only looked at. Of what is added, ``held`` was approved on the same
    terms by hand, ``replaced`` is what this file said before, and ``reopened`` are withdrawals by hand that the file
    overrules.
    """

    added: tuple[Approval, ...]
    withdrawn: tuple[Approval, ...]
    done: bool
    held: tuple[Approval, ...] = ()
    reopened: tuple[Approval, ...] = ()
    replaced: tuple[Approval, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the ledger says, or said, something else than the file."""
        return bool(self.added or self.withdrawn)


def export_approvals(
    library: str | None = None,
    form: Literal["yaml", "json"] = "yaml",
    *,
    project: str | None = None,
    database: Database = None,
) -> ExportedLedger:
    """What is approved in one library, or in all, as a file for review and for :func:`sync_approvals`.

    ``project`` says whose file it is; the default is the one whose file said them, else the library's name. Raises
    :class:`UsageError` without either.
    """
    from abistore.service.approvals.file import check_project, written  # few calls need pydantic

    check_not_blank("the library", library)
    with using(database) as store:
        found = [one for one in in_force(store.approvals()) if library in {None, one.library}]
    names = {one.project for one in found if one.project}
    names = names or ({library} if library else {one.library for one in found})
    if project is None and len(names) != 1:
        raise UsageError("nothing says whose file it is", "name the project: --project NAME")
    whose = names.pop() if project is None else project
    check_project(whose)
    return ExportedLedger(written(found, whose, form), len(found))


def sync_approvals(
    path: str | Path, *, check: bool = False, actor: str = "", today: date | None = None, database: Database = None
) -> SyncedLedger:
    """Make the ledger say what a project's reviewed file says: all of it, or nothing.

    What the file says and the ledger does not is added, with the file as its origin. What came from this project's file
    and is no longer in it is withdrawn; what people or other projects approved stays. With ``check`` nothing is
    written. Raises :class:`PolicyError` for a file that is not sound or adds an end that is over ``today``,
    :class:`SnapshotNotFound` for an unknown library.
    """
    from abistore.service.approvals.file import read_approvals  # few calls need pydantic

    who = actor or user()
    file = read_approvals(path, who)
    with using(database, write=not check) as store, store.reading() if check else store.transaction():
        said = tuple(_meant(store, path, one) for one in file.approvals)
        told = store.approvals()
        synced = _differences(store, file, said, told, who)
        for one in synced.added:
            _check_end(path, one, store.scheme(one.library), today or datetime.now(UTC).date())
        if not check and synced.differs:
            store.approve((*synced.added, *synced.withdrawn))
    return msgspec.structs.replace(synced, done=not check)


def _meant(store: Store, path: str | Path, one: Approval) -> Approval:
    """An entry with its target in full. Raises :class:`SnapshotNotFound` for an unknown library."""
    if one.library not in {line.library for line in store.lines()}:
        raise SnapshotNotFound(f"{path}: no library {one.library} is stored", "ingest a release of it first")
    return msgspec.structs.replace(one, target=line_target(store, one.target or None) or "")


def _differences(
    store: Store, file: ReviewedFile, said: Sequence[Approval], told: Sequence[Approval], actor: str
) -> SyncedLedger:
    """What a file changes of what was told before."""
    standing, last = {one.key: one for one in in_force(told)}, {one.key: one for one in told}
    by_hand = {one.about: one for one in standing.values() if not one.project}
    said = tuple(_with_place(store, one, standing.get(one.key) or by_hand.get(one.about)) for one in said)
    added = tuple(one for one in said if one.key not in standing or standing[one.key].said != one.said)
    mine = {key for key, one in standing.items() if one.project == file.project}
    withdrawn = tuple(_withdrawn(standing[key], file, actor) for key in sorted(mine - {one.key for one in said}))
    return SyncedLedger(
        added,
        withdrawn,
        done=False,
        held=tuple(one for one in added if one.about in by_hand and by_hand[one.about].said == one.said),
        reopened=tuple(last[one.key] for one in added if one.key in last and last[one.key].withdrawn),
        replaced=tuple(standing[one.key] for one in added if one.key in standing),
    )


def _check_end(path: str | Path, one: Approval, scheme: str, today: date) -> None:
    """Refuse an end that is over, or that no release of the library ever reaches: it would let nothing through."""
    try:
        until_of(one.until, scheme)
        check_to_come(one.until, today)
    except UsageError as error:
        raise PolicyError(f"{path}: {one.library} {one.identity}: until: {error.message}", error.hint) from error


def _with_place(store: Store, one: Approval, before: Approval | None) -> Approval:
    """What an entry says with where the library stands; where it stood before as long as the rest is the same."""
    if one.stood_at:
        return one
    if before is not None and msgspec.structs.replace(one, stood_at=before.stood_at).said == before.said:
        return msgspec.structs.replace(one, stood_at=before.stood_at)
    return msgspec.structs.replace(one, stood_at=stood_at(store, one.library, one.target, one.profile))


def _withdrawn(one: Approval, file: ReviewedFile, actor: str) -> Approval:
    said = {"reason": f"no longer in {file.origin}", "approver": actor, "actor": actor, "until": "", "ticket": ""}
    return msgspec.structs.replace(one, withdrawn=True, approved=datetime.now(UTC), origin=file.origin, **said)
