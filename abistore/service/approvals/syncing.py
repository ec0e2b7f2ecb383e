"""The ledger out to a reviewed file, and from it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from abistore.errors import PolicyError, SnapshotNotFound, UsageError
from abistore.model.judging.approvals import Approval
from abistore.model.labels.blanks import check_not_blank
from abistore.service.approvals.approving import in_force
from abistore.service.approvals.terms import until_of
from abistore.service.approvals.undone import stood_at
from abistore.service.database import Database, line_target, user, using

if TYPE_CHECKING:
    from abistore.store.store import Store


class ExportedLedger(msgspec.Struct, frozen=True):
    """The approvals in force as the text of a file, and how many there are."""

    text: str
    count: int


class SyncedLedger(msgspec.Struct, frozen=True):
    """How a file differs from the ledger: approvals that are ``added`` or replaced, and those that are ``withdrawn``.

    ``done`` tells that it was written; else it is only looked at. Of what is added, ``held`` was approved on the same
    terms by hand, and ``reopened`` are withdrawals by hand that the file overrules.
    """

    added: tuple[Approval, ...]
    withdrawn: tuple[Approval, ...]
    done: bool
    held: tuple[Approval, ...] = ()
    reopened: tuple[Approval, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the ledger says, or said, something else than the file."""
        return bool(self.added or self.withdrawn)


def export_approvals(
    library: str | None = None, form: Literal["yaml", "json"] = "yaml", *, database: Database = None
) -> ExportedLedger:
    """What is approved in one library, or in all, as a file for review and for :func:`sync_approvals`."""
    check_not_blank("the library", library)
    from abistore.service.approvals.file import written  # few calls need pydantic

    with using(database) as store:
        found = [one for one in in_force(store.approvals()) if library in {None, one.library}]
    return ExportedLedger(written(found, form), len(found))


def sync_approvals(
    path: str | Path, *, check: bool = False, actor: str = "", database: Database = None
) -> SyncedLedger:
    """Make the ledger say what a reviewed file says: all of it, or nothing.

    What the file says and the ledger does not is added, with the file as its origin. What came from a file of this
    name and is no longer in it is withdrawn; what people approved otherwise stays. With ``check`` nothing is written.
    Raises :class:`PolicyError` for a file that is not sound, :class:`SnapshotNotFound` for an unknown library.
    """
    from abistore.service.approvals.file import origin_of, read_approvals  # few calls need pydantic

    who = actor or user()
    said = read_approvals(path, who)
    with using(database, write=not check) as store:
        said = tuple(msgspec.structs.replace(one, target=line_target(store, one.target or None) or "") for one in said)
        known = {line.library for line in store.lines()}
        for one in said:
            if one.library not in known:
                raise SnapshotNotFound(f"{path}: no library {one.library} is stored", "ingest a release of it first")
        with store.reading() if check else store.transaction():
            told = store.approvals()
            standing = {one.key: one for one in in_force(told)}
            last = {one.key: one for one in told}
            said = tuple(_with_place(store, one, standing.get(one.key)) for one in said)
            added = tuple(one for one in said if one.key not in standing or standing[one.key].terms != one.terms)
            for one in added:
                _check_end(path, one, store.scheme(one.library))
            gone = standing.keys() - {one.key for one in said}
            origin = origin_of(Path(path))
            withdrawn = tuple(
                _withdrawn(standing[key], origin, who) for key in sorted(gone) if standing[key].origin == origin
            )
            if not check and (added or withdrawn):
                store.approve((*added, *withdrawn))
    held = tuple(
        one
        for one in added
        if one.key in standing and msgspec.structs.replace(standing[one.key], origin=origin).terms == one.terms
    )
    reopened = tuple(last[one.key] for one in added if one.key in last and last[one.key].withdrawn)
    return SyncedLedger(added, withdrawn, not check, held, reopened)


def _check_end(path: str | Path, one: Approval, scheme: str) -> None:
    """Refuse an end that no release of the library ever reaches: the approval would let nothing through."""
    try:
        until_of(one.until, scheme)
    except UsageError as error:
        raise PolicyError(f"{path}: {one.library} {one.identity}: until: {error.message}", error.hint) from error


def _with_place(store: Store, one: Approval, before: Approval | None) -> Approval:
    """What an entry says with where the library stands; where it stood before as long as the rest is the same."""
    if one.stood_at:
        return one
    if before is not None and msgspec.structs.replace(one, stood_at=before.stood_at).terms == before.terms:
        return msgspec.structs.replace(one, stood_at=before.stood_at)
    return msgspec.structs.replace(one, stood_at=stood_at(store, one.library, one.target, one.profile))


def _withdrawn(one: Approval, origin: str, actor: str) -> Approval:
    said = {"reason": f"no longer in {origin}", "approver": actor, "actor": actor, "until": "", "ticket": ""}
    return msgspec.structs.replace(one, withdrawn=True, approved=datetime.now(UTC), **said)
