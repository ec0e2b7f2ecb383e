"""The ledger of accepted breaks as a reviewed file: YAML or JSON, bounded and checked."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from pydantic import Field

from abistore.diffing.policy_documents import StrictDocument, place_of, read_source, read_yaml
from abistore.errors import PolicyError, SnapshotNotFound, UsageError
from abistore.model.approvals import EVERY_TARGET, FOREVER, Approval, ApprovedFacts, in_force, origin_of
from abistore.model.declarations import Kind
from abistore.model.history import DEFAULT_PROFILE
from abistore.model.labels import check_not_blank
from abistore.model.words import json_text
from abistore.service.approved_gates import stood_at
from abistore.service.approving import check_finding, check_to_come, scope_of, until_of
from abistore.service.database import Database, line_target, user, using
from abistore.service.snapshots import check_label, check_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from abistore.store.store import Store

MOST = 5_000
"""How many approvals a file may have: a person reviews it."""

HEAD = """\
# Breaks that are accepted. `abistore approve sync FILE` makes the database say what this file says.
# Review each: the finding is what abistore calls the change; `what` says it in words, and is checked against it.
"""


class WhatIsApproved(StrictDocument):
    """The finding in words, so that a person can review the file. It must match the identity."""

    kind: str = Field(description="The kind of change.")
    subject: Kind = Field(description="The kind of declaration: function, record, ...")
    symbol: str = Field(description="The declaration, in the linker's spelling (types: in the source's spelling).")
    part: str = Field("", description="The field, enumerator or parameter.")
    old_value: str | None = Field(None, description="The old value.")
    new_value: str | None = Field(None, description="The new value.")
    covers: tuple[str, ...] | None = Field(
        None,
        description="The identities of consequences that are approved with it. Absent in approvals from before"
        " identities covered consequences.",
    )


class ApprovalEntry(StrictDocument):
    """One accepted break."""

    finding: str = Field(description="The full identity of the finding.")
    library: str = Field(description="The library with the finding.")
    what: WhatIsApproved | None = Field(None, description="The content of the finding.")
    reason: str = Field(description="The reason for accepting the break.", min_length=1)
    approver: str = Field(description="Who decided.", min_length=1)
    ticket: str = Field("", description="The discussion.")
    scope: str = Field(FOREVER, description="forever, release:VERSION or branch:CHANNEL.")
    until: str = Field("", description="The last valid date, version or SONAME: 2026-12-31, 2.1, libfoo.so.1.")
    target: str = Field("", description="The target that it applies to: elf-x86_64-64-little. Default: all.")
    profile: str = Field(DEFAULT_PROFILE, description="The build profile that it applies to, or all. Default: default.")
    stood_at: str = Field(
        "",
        description="The latest version of the library when it was approved. The approval is void if the finding was"
        " undone after that version and occurs again. Default: the latest version in the database at import.",
    )


class ApprovalDocument(StrictDocument):
    """A file of accepted breaks."""

    described = "docs/questions/approvals.md"

    project: str = Field(
        description="The project that the file belongs to, in one word. Entries removed from the file are withdrawn; "
        "approvals of other projects are not.",
        min_length=1,
    )
    approvals: tuple[ApprovalEntry, ...] = Field(description="In any order.", max_length=MOST)


class ReviewedFile(NamedTuple):
    """What a file says, whose it is, and how the ledger calls it."""

    project: str
    origin: str
    approvals: tuple[Approval, ...]


def read_approvals(path: str | Path, actor: str) -> ReviewedFile:
    """What a file says is approved. Raises :class:`PolicyError` for what is not sound."""
    source = read_source(Path(path))
    found: dict[tuple[str, ...], Approval] = {}
    now = datetime.now(UTC)
    document = read_yaml(source, ApprovalDocument)
    check_project(document.project)
    origin = origin_of(source.path.name, document.project)
    for number, entry in enumerate(document.approvals):
        where = f"{source.path}: {place_of(('approvals', number))}"
        try:
            one = _approval(entry, origin, actor, now)
        except UsageError as error:
            raise PolicyError(f"{where}{error.message}", error.hint) from error
        if one.key in found:
            raise PolicyError(f"{where}{entry.finding} is approved twice for {one.scope}", "keep one of them")
        found[one.key] = one
    return ReviewedFile(document.project, origin, tuple(found[key] for key in sorted(found)))


def check_project(name: str) -> None:
    """Raise :class:`UsageError` for a project's name that is not one word."""
    if any(each.isspace() for each in name):
        raise UsageError(f"not a project's name: {name[:40]!r}", "give one word, such as libfoo")
    check_label("library", name.replace("/", "-"))


def _approval(entry: ApprovalEntry, origin: str, actor: str, now: datetime) -> Approval:
    check_label("library", entry.library)
    for what in ("reason", "approver", "ticket", "target", "profile"):
        check_note(what, getattr(entry, what))
    check_note("origin", origin)
    for name in sorted(entry.model_fields_set):
        check_not_blank(name, getattr(entry, name))
    facts = ApprovedFacts(**entry.what.model_dump()) if entry.what else None
    check_finding(entry.finding, facts)
    texts = (entry.reason.strip(), entry.ticket.strip(), entry.approver.strip(), actor)
    scope, until = scope_of(entry.scope), until_of(entry.until)
    if entry.stood_at:
        check_label("version", entry.stood_at)
    target = "" if entry.target == EVERY_TARGET else entry.target
    said = (entry.library, entry.finding, facts, scope, until, *texts, now, origin)
    return Approval(*said, target=target, stood_at=entry.stood_at, profile=entry.profile.strip() or DEFAULT_PROFILE)


def written(approvals: Iterable[Approval], project: str, form: Literal["yaml", "json"] = "yaml") -> str:
    """Approvals as a file that :func:`read_approvals` reads."""
    entries = [_entry(one) for one in approvals]
    if form == "json":
        return json_text(json.dumps({"project": project, "approvals": entries}, indent=2, ensure_ascii=False))
    lines = [HEAD.rstrip(), f"project: {json.dumps(project)}", "approvals:" if entries else "approvals: []"]
    for entry in entries:
        words = [f"{key}: {json_text(json.dumps(value, ensure_ascii=False))}" for key, value in entry.items()]
        lines += [f"  {'- ' if number == 0 else '  '}{word}" for number, word in enumerate(words)]
    return "\n".join(lines)


def _entry(one: Approval) -> dict[str, Any]:
    facts = one.facts
    what = {name: getattr(facts, name) for name in WhatIsApproved.model_fields} if facts else None
    told = {
        "finding": one.identity,
        "library": one.library,
        "what": {name: value for name, value in what.items() if value not in (None, "", ())} if what else None,
        "reason": one.reason,
        "approver": one.approver,
        "ticket": one.ticket,
        "scope": one.scope,
        "until": one.until,
        "target": one.target,
        "profile": one.profile if one.profile != DEFAULT_PROFILE else "",
        "stood_at": one.stood_at,
    }
    return {name: value for name, value in told.items() if value}


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

    check_not_blank("the library", library)
    with using(database) as store:
        found = [one for one in in_force(store.approvals()) if library in {None, one.library}]
    names = {one.project for one in found if one.project}
    names = names or ({library} if library else {one.library for one in found})
    if project is None and len(names) != 1:
        raise UsageError("the file names no project", "name the project: --project NAME")
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
