"""Looking after a store: the database, baselines, the order of releases, and facts about them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from abistore.errors import DamagedStore, StaleBaseline, UsageError
from abistore.limits import limits_for
from abistore.model.history import (
    DEFAULT_CHANNEL,
    Amendment,
    AuditRecord,
    BaselineMove,
    LineKey,
    LineOrder,
    PruneReason,
    Release,
    ReleaseFacts,
    StoreStats,
    StoreUpgrade,
    TaggedRelease,
)
from abistore.model.labels import AUTO, Given, check_not_blank
from abistore.model.snapshot import ReleaseTag, snapshot_digest
from abistore.model.versions import LabelOrder, position, series
from abistore.service.database import Database, busy_seconds, line_target, locate, user, using
from abistore.service.listing import lines_of, releases_of
from abistore.service.snapshots import check_label, check_note
from abistore.urls import masked

if TYPE_CHECKING:
    from abistore.store.store import Store

UNSET = "none"
"""What to expect of a channel that is not set."""


class BaselinePlan(Given, frozen=True):
    """Which channel moves, why and by whom; ``target`` and ``profile`` choose among a library's lines.

    What the caller has seen is checked in the transaction that moves it: ``expect`` is the version at which the channel
    stands (``none``: it is not set), ``expect_digest`` that release's digest, and ``digest`` that of the release it
    moves to.
    """

    channel: str = DEFAULT_CHANNEL
    reason: str = ""
    actor: str = ""
    target: str | None = None
    profile: str | None = None
    expect: str | None = None
    expect_digest: str | None = None
    digest: str | None = None


PLAIN = BaselinePlan()


def set_baseline(reference: str, plan: BaselinePlan = PLAIN, *, database: Database = None) -> BaselineMove:
    """Point a channel at a stored release.

    Raises :class:`SnapshotNotFound`, :class:`UsageError`, :class:`StaleBaseline`.
    """
    with using(database, write=True) as store, store.transaction():
        release = store.resolve(reference, target=line_target(store, plan.target), profile=plan.profile)
        store.hold(release.line)
        if release not in releases_of(store, release.line):
            what = "a candidate" if release.candidate else "replaced or removed"
            hint = (
                "a baseline points at a release: ingest the file again without --against, or suppress the failing "
                "findings"
            )
            raise UsageError(f"{reference}: {release.reference} of this digest is {what}, and no release", hint)
        _check_seen(store, release, plan)
        return store.set_baseline(release.line, plan.channel, release.version, plan.actor or user(), plan.reason)


def set_release_baseline(
    reference: str, plan: BaselinePlan = PLAIN, *, database: Database = None
) -> tuple[BaselineMove, ...]:
    """Point a channel at a version in all lines of a library, and of those in its release: one move, or none.

    ``plan.expect`` must hold in every line. Raises :class:`UsageError` where a line has no such release.
    """
    from abistore.service.ledger import lines_at

    with using(database, write=True) as store, store.transaction():
        meant = lines_at(store, reference, plan.target, plan.profile)
        for key, missing in zip(meant.keys, meant.why, strict=True):
            store.hold(key)
            if missing:
                raise UsageError(f"{key}: {missing}", "store the release there too, or choose lines with --target")
        found = [each for each in meant.releases if each is not None]
        for each in found:
            _check_seen(store, each, plan)
        actor = plan.actor or user()
        return tuple(store.set_baseline(one.line, plan.channel, one.version, actor, plan.reason) for one in found)


def _check_seen(store: Store, release: Release, plan: BaselinePlan) -> None:
    """Raise :class:`StaleBaseline` where the store does not hold what the caller has seen."""
    check_digest(release, plan.digest)
    if plan.expect is None:
        return
    stands = standing_release(store, release, plan.channel)
    version = stands.version if stands else UNSET
    if version != plan.expect or not (stands.digest if stands else "").startswith(plan.expect_digest or ""):
        same = version == plan.expect
        there = f"{version}, but with another binary than expected" if same else f"{version}, not at {plan.expect}"
        message = f"{release.line}: baseline {plan.channel} is at {there}"
        raise StaleBaseline(message, "check where it is now, and decide again")


def standing_release(store: Store, beside: Release, channel: str) -> Release | None:
    """The release at which a channel of a release's line stands."""
    line = beside.line
    moves = (move for move in store.baselines(line.library) if (move.line, move.channel) == (line, channel))
    version = next((move.version for move in moves), None)
    return next((one for one in releases_of(store, line) if one.version == version), None)


def check_digest(release: Release, digest: str | None) -> None:
    """Raise :class:`StaleBaseline` unless the release's digest begins with these digits, where any are given."""
    if digest is None:
        return
    check_not_blank("the digest", digest)
    if not release.digest.startswith(digest.lower()):
        message = f"{release.reference}: has the digest {release.digest[:12]}, and not {digest[:12]}"
        raise StaleBaseline(message, "another binary is stored under this version: check it, and decide again")


def clear_baseline(library: str, plan: BaselinePlan = PLAIN, *, database: Database = None) -> tuple[BaselineMove, ...]:
    """Clear a channel in the lines of a library. Raises :class:`SnapshotNotFound`."""
    with using(database, write=True) as store:
        keys = lines_of(store, library, plan.target, plan.profile)
        return tuple(store.set_baseline(key, plan.channel, None, plan.actor or user(), plan.reason) for key in keys)


def baselines(library: str | None = None, *, database: Database = None) -> tuple[BaselineMove, ...]:
    """Where every channel points now, with who moved it there. Raises :class:`SnapshotNotFound`."""
    with using(database) as store:
        if library is not None:
            lines_of(store, library, None, None)
        return store.baselines(library)


def baseline_history(
    library: str, *, channel: str | None = None, database: Database = None
) -> tuple[BaselineMove, ...]:
    """Every move of a library's channels, oldest first. Raises :class:`SnapshotNotFound`."""
    check_not_blank("the channel", channel)
    with using(database) as store:
        lines_of(store, library, None, None)
        return store.baseline_history(library, channel)


class InitialisedStore(msgspec.Struct, frozen=True):
    """The store's place, with passwords hidden, and whether it was created just now.

    ``folder`` is the outermost folder that was created for it; ``None`` if its folder was there.
    """

    database: str
    created: bool
    folder: str | None = None


class VacuumedStore(msgspec.Struct, frozen=True):
    """The database's size in bytes before and after, and how many bytes were freed."""

    before: int
    after: int
    freed: int


def db_init(*, database: Database = None) -> InitialisedStore:
    """Create the store if there is none. Raises :class:`StoreError`."""
    from abistore.store.opening import initialise

    where = locate(database)
    created, folder = initialise(where, busy_seconds())
    return InitialisedStore(masked(where), created, masked(str(folder)) if folder else None)


def db_upgrade(*, database: Database = None) -> StoreUpgrade:
    """Bring the store to this abistore's schema, with a backup beside it. Raises :class:`SchemaMismatch`."""
    from abistore.store.opening import upgrade

    return upgrade(locate(database), busy_seconds())


def db_check(
    *, quick: bool = False, database: Database = None, progress: Callable[[str, float], None] | None = None
) -> tuple[str, ...]:
    """Everything that is wrong with the store, in one sentence each; empty if it is sound.

    ``quick`` checks only the database's structure, the sums over its rows and the audit.
    """
    with using(database) as store:
        return store.check(quick=quick, progress=progress)


def db_stats(*, database: Database = None) -> StoreStats:
    """How much the store holds."""
    with using(database) as store:
        return store.stats()


def db_backup(destination: str | Path, *, database: Database = None) -> Path:
    """Write a consistent copy of the store to a new file, while others use it. Raises :class:`StoreError`."""
    with using(database) as store:
        return store.backup(destination)


def db_forget(
    reference: str,
    *,
    actor: str = "",
    reason: str = "",
    digest: str | None = None,
    database: Database = None,
    target: str | None = None,
    profile: str | None = None,
) -> Release:
    """Remove a stored release. Raises :class:`SnapshotNotFound`, :class:`UsageError` if it is a baseline.

    Raises :class:`StaleBaseline` unless its digest begins with ``digest``.
    """
    with using(database, write=True) as store:
        release = store.resolve(reference, target=line_target(store, target), profile=profile)
        check_digest(release, digest)
        store.forget(release, actor or user(), reason)
    return release


def db_vacuum(*, database: Database = None) -> VacuumedStore:
    """Give free space back to the disk. A server keeps space for later rows, and may have grown."""
    with using(database, write=True) as store:
        before, after = store.vacuum()
    return VacuumedStore(before, after, max(0, before - after))


class AuditQuery(Given, frozen=True, kw_only=True):
    """Which records of the audit are wanted: of a library, by somebody, of an action such as ``ingest``, of a time.

    ``since`` is the first moment, and ``until`` the first after the time. ``skip`` leaves out the newest.
    """

    library: str = ""
    actor: str = ""
    action: str = ""
    since: datetime | None = None
    until: datetime | None = None
    skip: int = 0

    def wants(self, record: AuditRecord) -> bool:
        """Whether a record is one of them, as far as its library does not matter."""
        return (
            self.actor in {"", record.actor}
            and self.action in {"", record.action}
            and (self.since is None or record.at >= self.since)
            and (self.until is None or record.at < self.until)
        )


EVERY_RECORD = AuditQuery()


def db_audit(
    *, limit: int = 100, query: AuditQuery = EVERY_RECORD, database: Database = None
) -> tuple[AuditRecord, ...]:
    """The changes of the database that ``query`` wants, newest first, ``limit`` at most.

    Raises :class:`SnapshotNotFound` for an unknown library.
    """
    with using(database) as store:
        if query == EVERY_RECORD:
            return store.audit(limit)
        of_library = store.audit_of(query.library) if query.library else None
        wanted = (one for one in store.audit_records() if query.wants(one) and (not of_library or of_library(one)))
        return tuple(islice(wanted, query.skip, query.skip + limit))


class SchemeCard(msgspec.Struct, frozen=True):
    """The version scheme of a library, and how each line is ordered."""

    library: str
    scheme: str
    lines: tuple[LineOrder, ...]


def db_scheme(library: str, scheme: str | None = None, *, database: Database = None) -> SchemeCard:
    """How a library's versions are ordered; ``scheme`` declares another order.

    Raises :class:`SnapshotNotFound` for an unknown library, :class:`UsageError` if the scheme cannot read a version.
    """
    with using(database, write=scheme is not None) as store:
        lines_of(store, library, None, None)
        orders = store.orders(library) if scheme is None else store.set_scheme(library, scheme, user())
        return SchemeCard(library, store.scheme(library), orders)


def standing_note(store: Store, release: Release) -> str:
    """The note about a release that is not ordered by its version; empty if it is."""
    scheme = store.scheme_of(release.line)
    standing = position(release.version, release.sequence, scheme).standing
    if standing is LabelOrder.VERSION:
        return ""
    behind = release not in store.foremost(releases_of(store, release.line))
    if standing is LabelOrder.UNORDERED:
        kind = "version" if scheme == AUTO else f"{scheme} version"
        latest = ", and is not @latest" if behind else ""
        return f"{release.version} is not a {kind}: it is ordered after all versions, by ingestion{latest}"
    name = series(release.version, scheme)
    return f"in series {name}: it is ordered after all versions without a name, and is not @latest" if behind else ""


class EditPlan(Given, frozen=True):
    """A correction of a release: the new values, the facts to ``clear``, the reason and the actor."""

    said: ReleaseFacts
    clear: tuple[str, ...] = ()
    reason: str = ""
    actor: str = ""
    target: str | None = None
    profile: str | None = None


def release_edit(reference: str, plan: EditPlan, *, database: Database = None) -> Amendment:
    """Correct the facts of a stored release. Raises :class:`SnapshotNotFound`, :class:`UsageError`."""
    said = {"released": plan.said.released, "revision": plan.said.revision, "url": plan.said.url}
    given = [fact for fact, value in said.items() if value is not None]
    if not given and not plan.clear:
        raise UsageError(f"{reference}: nothing to change", "pass --released, --revision, --url or --clear")
    for fact in given:
        if fact in plan.clear:
            raise UsageError(f"--{fact} and --clear {fact} exclude each other", "pass one of them")
        if said[fact] == "":
            raise UsageError(
                f"the {fact} is empty", f"is a variable of the script unset? --clear {fact} removes the value"
            )
    for what, text in (("revision", plan.said.revision), ("url", plan.said.url), ("actor", plan.actor)):
        check_label(what, text)
    with using(database, write=True) as store:
        release = store.resolve(reference, target=line_target(store, plan.target), profile=plan.profile)
        return store.amend(release, plan.said, clear=plan.clear, actor=plan.actor or user(), reason=plan.reason)


TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~-]{0,63}")


class TagPlan(Given, frozen=True):
    """What becomes of a tag: it is put on with a note, or with ``remove`` taken away; by whom.

    ``digest`` is the beginning of the digest that the release must have. ``sign`` is the file of the key that signs it.
    """

    note: str = ""
    remove: bool = False
    actor: str = ""
    digest: str | None = None
    sign: Path | None = None
    target: str | None = None
    profile: str | None = None


ADD = TagPlan()


def release_tag(reference: str, tag: str, plan: TagPlan = ADD, *, database: Database = None) -> TaggedRelease:
    """Put a tag on a stored release, or take it away. A tag that is there stays as it is, with its note.

    A signed one takes the place of the one that is there. Raises :class:`SnapshotNotFound`, :class:`UsageError`,
    :class:`StaleBaseline`, and to sign :class:`SigningKeyError` and :class:`DamagedStore`.
    """
    if plan.remove and (plan.note or plan.sign):
        raise UsageError("--remove excludes --note and --sign", "pass one of them")
    found = tag_of(tag, plan.note)
    with using(database, write=True) as store:
        release = store.resolve(reference, target=line_target(store, plan.target), profile=plan.profile)
        check_digest(release, plan.digest)
        actor = plan.actor or user()
        if plan.sign is not None:
            found = _signed(store, release, found, plan.sign)
        return store.untag(release, tag, actor) if plan.remove else store.tag(release, [found], actor)


def _signed(store: Store, release: Release, tag: ReleaseTag, key: Path) -> ReleaseTag:
    """The tag with a signature; it keeps the note that it has."""
    from abistore.service.signatures import signed_tag, signing_key

    check_contents(store, release)
    note = tag.note or next((each.note for each in release.tags if each.name == tag.name), "")
    return signed_tag(release, ReleaseTag(tag.name, note), signing_key(key))


def check_contents(store: Store, release: Release) -> None:
    """Raise :class:`DamagedStore` unless what is stored of a release has its digest: what a signature is of."""
    with limits_for(release.declarations << 10, f"reading {release.reference}"):
        if snapshot_digest(store.load(release)).hex() != release.digest:
            raise DamagedStore(f"{release.reference}: the stored contents have another digest")


def tag_of(name: str, note: str = "") -> ReleaseTag:
    """A tag. Raises :class:`UsageError` for what cannot be one."""
    if not TAG.fullmatch(name):
        raise UsageError(f"not a tag: {name[:80]!r}", "give a word such as lts, of letters, digits and ._+~-")
    check_note("note", note)
    return ReleaseTag(name, note)


_AGE: Final = re.compile(r"([1-9]\d{0,4})\s*(d|days?|w|weeks?)")
AGE_HINT: Final = "write e.g. 30d, '8 weeks' or a day as 2026-01-31"


class RetentionPlan(Given, frozen=True, kw_only=True):
    """What may stay: of each line the last ``keep_last`` snapshots, and what was stored on ``before`` or later.

    One of both is needed: with neither, all builds would go.
    """

    keep_last: int | None = None
    before: datetime | None = None
    library: str | None = None
    dry_run: bool = False
    actor: str = ""
    reason: str = ""


class PrunedSnapshot(msgspec.Struct, frozen=True):
    """A snapshot that went, or that would go."""

    line: LineKey
    version: str
    reason: PruneReason
    digest: str
    ingested: datetime


class PrunedStore(msgspec.Struct, frozen=True):
    """What went, and the store's size in bytes before and after; with ``dry_run`` nothing went."""

    snapshots: tuple[PrunedSnapshot, ...]
    before: int
    after: int
    dry_run: bool = False


def db_prune(plan: RetentionPlan, *, database: Database = None) -> PrunedStore:
    """Remove candidates, replaced snapshots and builds between releases, and give their space back.

    Releases stay, and what a baseline stands or stood at, what people accepted or reviewed findings of, and the newest
    snapshot of each line. Raises :class:`UsageError` for a plan that keeps nothing, :class:`SnapshotNotFound` for an
    unknown library.
    """
    if plan.keep_last is None and plan.before is None:
        raise UsageError("no rule selects the builds to keep", "give --keep-last, --older-than, or both")
    if plan.keep_last is not None and plan.keep_last < 1:
        raise UsageError("--keep-last is at least 1", "the newest build of a line is always kept")
    last = plan.keep_last or 1
    with using(database, write=not plan.dry_run) as store:
        if plan.library is not None and plan.library not in {key.library for key in store.lines()}:
            raise store.no_library(plan.library)
        size = store.stats().size
        if plan.dry_run:
            found = store.prunable(plan.library, keep_last=last, before=plan.before)
            after = size
        else:
            found = store.prune(
                plan.library, keep_last=last, before=plan.before, actor=plan.actor or user(), reason=plan.reason
            )
            after = store.vacuum()[1] if found else size
    snapshots = tuple(
        PrunedSnapshot(each.release.line, each.release.version, each.reason, each.release.digest, each.release.ingested)
        for each in found
    )
    return PrunedStore(snapshots, size, after, plan.dry_run)


def older_than(text: str, today: date | None = None) -> datetime:
    """The moment that an age (``30d``, ``8 weeks``) or a day stands for. Raises :class:`UsageError`."""
    day = today or datetime.now(UTC).date()
    read = _AGE.fullmatch(text.strip().lower())
    try:
        if read is not None:
            day -= timedelta(days=int(read[1]) * (7 if read[2].startswith("w") else 1))
        else:
            day = date.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is not an age", AGE_HINT) from None
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
