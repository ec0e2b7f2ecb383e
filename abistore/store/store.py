"""The store: a history of snapshots behind one object, with references, checks and maintenance."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial, wraps
from itertools import groupby
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeAlias, TypeVar

import msgspec
from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, case, func, select

from abistore.errors import AmbiguousReference, SchemaMismatch, SnapshotNotFound, StoreError
from abistore.limits import limits_for
from abistore.model.approvals import BuiltType, ConsumerKey
from abistore.model.declarations import Name
from abistore.model.findings import RulingKey
from abistore.model.history import (
    CANDIDATE,
    DEFAULT_CHANNEL,
    AuditRecord,
    BaselineMove,
    IngestOutcome,
    IngestRequest,
    LineKey,
    LogEvent,
    Merged,
    Progress,
    Release,
    Sighting,
    StoredVerdict,
    StoreStats,
)
from abistore.model.labels import check_not_blank
from abistore.model.snapshot import Snapshot, digest, name_digest
from abistore.model.versions import channel_in
from abistore.model.words import LOOSELY_ALIKE, close, did_you_mean, near
from abistore.store import consumers as stored_consumers
from abistore.store import database as audit
from abistore.store import environments as stored_environments
from abistore.store import ingest as write
from abistore.store import names as calling
from abistore.store import opening, order, snapshots, tables, timeline, verdicts
from abistore.store import releases as cards
from abistore.store import rules as bound_rules
from abistore.store.database import HEAD, Database, damaged, revision
from abistore.store.ingest import place
from abistore.store.names import spellings, spellings_near
from abistore.store.opening import open_store, structure_problems
from abistore.store.order import (
    builds,
    by_line,
    candidates,
    elsewhere,
    foremost,
    forget,
    hold,
    known,
    lines,
    may_know,
    move,
    no_library,
    of_package,
    ordered_releases,
    orders,
    overview,
    preceding,
    scheme_of,
    set_scheme,
    with_types,
)
from abistore.store.releases import digests_of, scheme
from abistore.store.snapshots import RowMemory, line_problems, unpack
from abistore.store.timeline import returned
from abistore.store.verdicts import WrittenFindings
from abistore.store.walking import LineWalk
from abistore.store.whole import loading_lines, whole_lines

if TYPE_CHECKING:
    from abistore.store.bundle_files import AnyRecord
    from abistore.store.gathering import BundleSelection
    from abistore.store.merging import MergeWish
    from abistore.store.pruning import Prunable

LISTED = 8
_DIGEST = re.compile(r"[0-9a-f]{6,32}")


def resolve(database: Database, reference: str, *, target: str | None = None, profile: str | None = None) -> Release:
    """The one release that ``reference`` names.

    ``library@version``, ``library@latest``, ``library@prev``, ``library@baseline[:channel]``,
    ``library@candidate:version``, or at least six hexadecimal digits of a digest. Raises :class:`SnapshotNotFound`
    where there is none, or more than one.
    """
    library, at, label = reference.partition("@")
    check_not_blank("the profile", profile)
    if not at:
        return _by_digest(database, reference, target, profile)
    if label.startswith(CANDIDATE):
        return _candidate(database, reference, target, profile)
    found = ordered_releases(database, library, target, profile)
    if not found:
        raise no_library(database, library, target, profile)
    candidates = [release for line in by_line(found).values() for release in _labelled(database, line, label)]
    if not candidates:
        raise _no_label(database, library, label, found)
    return _only(reference, candidates)


def _candidate(database: Database, reference: str, target: str | None, profile: str | None) -> Release:
    library, _, label = reference.partition("@")
    version = label.removeprefix(CANDIDATE)
    kept = candidates(database, library, target, profile)
    found = [candidate for candidate in kept if candidate.version == version]
    if found:
        return _only(reference, found)
    if not kept and not ordered_releases(database, library, target, profile):
        raise no_library(database, library, target, profile)
    names = list(dict.fromkeys(candidate.version for candidate in kept))
    hint = f"kept: {', '.join(names)}" if names else "no candidate is kept; `abistore list` shows the releases"
    raise SnapshotNotFound(f"{reference}: no such candidate", hint)


def _labelled(database: Database, line: Sequence[Release], label: str) -> Sequence[Release]:
    """What ``label`` names among the releases of one line, which are in release order: at most one."""
    if label == "latest":
        return foremost(database, line)[-1:]
    if label == "prev":
        return foremost(database, line)[-2:-1]
    channel = channel_in(label)
    version = label if channel is None else order.current(database, line[0].line, channel)
    return [release for release in line if release.version == version]


def _only(reference: str, candidates: Sequence[Release]) -> Release:
    if len(candidates) > 1:
        # the profile that a caller means who says none
        candidates = [release for release in candidates if release.line.profile == "default"] or candidates
    if len(candidates) == 1:
        return candidates[0]
    lines_ = "; ".join(f"--target {release.line.target} --profile {release.line.profile}" for release in candidates)
    raise AmbiguousReference(f"{reference}: stored in {len(candidates)} lines", f"select one: {lines_}")


def _no_label(database: Database, library: str, label: str, found: Sequence[Release]) -> SnapshotNotFound:
    channel = channel_in(label)
    if label == "prev":
        return SnapshotNotFound(f"{library}: no release before the latest", "ingest an older one")
    if channel is not None:
        return no_baseline(database, {release.line for release in found}, channel)
    channels = sorted({move.channel for move in order.standing(database, library)})
    versions = list(dict.fromkeys(release.version for release in found))
    if label in {candidate.version for candidate in candidates(database, library)}:
        meant = [f"{CANDIDATE}{label}"]
    else:
        meant = [f"baseline:{label}"] if label in channels else near(label, versions, alike=LOOSELY_ALIKE)
    stored = f"stored{' last' if len(versions) > LISTED else ''}: {', '.join(versions[-LISTED:])}"
    return SnapshotNotFound(f"{library}@{label}: no such version", did_you_mean(meant, stored))


def no_baseline(database: Database, meant: Collection[LineKey], channel: str) -> SnapshotNotFound:
    """Why ``channel`` names nothing in the lines that are meant: with where it is set, or what may be meant."""
    (library,) = {line.library for line in meant}
    moves = order.standing(database, library)
    message = f"{library}: no baseline is set in channel {channel}"
    others = [move for move in moves if move.channel == channel and move.line not in meant]
    if others:
        places = "; ".join(f"{move.line} at {move.version}" for move in others)
        hint = f"it is set for {places}, which --target and --profile choose"
        kind = elsewhere([move.line for move in others], min(line.target for line in meant))
        return kind(f"{message} of {' or '.join(map(str, sorted(meant)))}", hint)
    words = close(channel, sorted({move.channel for move in moves}))
    proposed = [f"baseline:{word}" for word in words if word != channel]
    named = "" if channel == DEFAULT_CHANNEL else f" --channel {quote(channel)}"
    command = f"abistore db baseline set {quote(library)}@VERSION{named}"
    return SnapshotNotFound(message, did_you_mean(proposed, f"set it: {command}"))


def _by_digest(database: Database, reference: str, target: str | None, profile: str | None) -> Release:
    prefix = reference.lower()
    if not _DIGEST.fullmatch(prefix):
        names = {line.library for line in lines(database)}
        if reference in names:
            raise SnapshotNotFound(f"{reference}: which release?", f"use {reference}@latest or {reference}@VERSION")
        hint = "say LIBRARY@VERSION"
        raise SnapshotNotFound(f"{reference}: neither a reference nor a digest", hint)
    found = _beginning(database, cards.SNAPSHOT.digest, prefix) or _beginning(database, cards.SNAPSHOT.former, prefix)
    if not found:
        raise SnapshotNotFound(f"{reference}: no snapshot has this digest", "`abistore list` shows the digests")
    digests = sorted({release.digest for release in found})
    if len(digests) > 1:
        raise AmbiguousReference(
            f"{reference}: {len(digests)} digests begin with this", f"give more digits: {', '.join(digests)}"
        )
    selected = [
        release
        for release in found
        if target in {None, release.line.target} and profile in {None, release.line.profile}
    ]
    if not selected:
        kind = elsewhere([release.line for release in found], target)
        raise kind(f"{reference}: not stored for {target or profile}", f"stored for {found[-1].line}")
    return _newest(database, selected)


def _beginning(database: Database, digest: ColumnElement[bytes], prefix: str) -> list[Release]:
    """The snapshots whose ``digest``, that of today or the former one, begins so."""
    low, high = cards.between(prefix)
    found = cards.find(database, and_(digest >= low, digest <= high))
    # once more without the index, which may be damaged
    within = case((and_(digest >= low, digest <= high), 1), else_=0)
    ((count,),) = database.rows(select(func.coalesce(func.sum(within), 0)))
    if len(found) != count:
        raise damaged(database.where, "the index of the digests")
    return found


def _newest(database: Database, found: Sequence[Release]) -> Release:
    """Of snapshots with one content: the latest release, else the latest candidate, else the latest of all."""
    key = found[-1].line
    for current in (ordered_releases, candidates):
        stored = current(database, key.library, key.target, key.profile)
        if standing := [one for one in found if one in stored]:
            return standing[-1]
    return found[-1]


Problems: TypeAlias = Iterator[str]
Part: TypeAlias = tuple[str, Callable[[Database], Problems]]

_BATCH = 5000

_NAME, _SHAPE, _ENTRY, _CARD = tables.name.c, tables.shape.c, tables.entry.c, tables.snapshot.c
_LAST: BindParameter[int] = bindparam("last")
_NAMES = (
    select(_NAME.id, _NAME.kind, _NAME.spelling, _NAME.digest, _NAME.entries)
    .where(_NAME.id > _LAST)
    .order_by(_NAME.id)
    .limit(_BATCH)
)
_ENTRIES = (
    select(_ENTRY.name_id, _ENTRY.line_id, _ENTRY.facet, _SHAPE.digest, _ENTRY.first_seq, _ENTRY.last_seq)
    .select_from(tables.entry.join(tables.shape))
    .where(_ENTRY.name_id.between(bindparam("first"), _LAST))
    .order_by(_ENTRY.name_id)
)
_SHAPES = select(_SHAPE.id, _SHAPE.digest, _SHAPE.body).where(_SHAPE.id > _LAST).order_by(_SHAPE.id).limit(_BATCH)
_PLACES = (
    select(_CARD.id, _CARD.places, tables.location.c.body)
    .select_from(tables.snapshot.outerjoin(tables.location))
    .where(_CARD.id > _LAST)
    .order_by(_CARD.id)
    .limit(50)
)
_LABELS = (tables.library.c.name, tables.line.c.target, tables.line.c.profile)
_LINES = select(tables.line.c.id, *_LABELS).select_from(tables.line.join(tables.library)).order_by(*_LABELS)


def check(database: Database, *, quick: bool = False, progress: Progress | None = None) -> tuple[str, ...]:
    """Everything that is wrong with the store, a sentence each; empty where it is sound.

    ``quick`` is the database's own structure, its indexes, and what tells missing rows: the sums and the audit's chain.
    Else every digest too, and every release as it was when it came. ``progress`` is told what is looked at, and which
    part of all is done, from 0 to 1.
    """
    if (found_schema := revision(database)) != HEAD:
        message = f"{database.where}: the store has the schema {found_schema}, this abistore verifies {HEAD}"
        raise SchemaMismatch(message, "verify it with the abistore that wrote it, or run `abistore db upgrade`")
    parts = list(_QUICK) if quick else [*_QUICK, *_LONG, *_lines(database)]
    found: dict[str, None] = {}
    for number, (what, part) in enumerate(parts):
        if progress:
            progress(what, number / len(parts))
        try:
            with database.reading():  # each part of one moment: others may write meanwhile
                found.update(dict.fromkeys(part(database)))
        except StoreError as error:
            found[error.message] = None
        except (msgspec.MsgspecError, zlib.error) as error:
            found[f"{what}: damaged ({error})"] = None
    return tuple(found)


def _sums(database: Database) -> Problems:
    """The rows of libraries, lines, releases and baselines: each by its checksum, all by the sums over them."""
    for library in sorted({line.key.library for line in cards.every(database)}):
        for condition in (cards.RELEASES, cards.CANDIDATES):
            yield from _told(database, partial(cards.of_library, database, condition, (library, None, None)))
    yield from _told(database, lambda: cards.find(database, cards.SNAPSHOT.superseded == 1))
    yield from _told(database, lambda: order.standing(database))


def _told(database: Database, read: Callable[[], object]) -> Problems:
    try:
        read()
    except StoreError as error:
        database.go_on(error)
        yield error.message


def _read_whole(read: Callable[[Database], object]) -> Callable[[Database], Problems]:
    """A check that reads all rows of one kind, which are verified by that."""
    return lambda database: _told(database, lambda: read(database))


def _names(database: Database) -> Problems:
    """Each name by its digest, and by the sum over its entries."""
    last = -1
    while rows := database.rows(_NAMES, {"last": last}):
        first, last = rows[0][0], rows[-1][0]
        sums = _entry_sums(database, first, last)
        for identifier, kind, spelling, key, total in rows:
            if name_digest(kind, spelling) != key:
                yield f"name {identifier}, {kind} {spelling}: it has another digest"
            if sums.get(identifier, 0) != total:
                yield f"name {identifier}, {kind} {spelling}: an entry is missing or was changed"


def _entry_sums(database: Database, first: int, last: int) -> dict[int, int]:
    """The sum over the entries of each name from one id to another, which the index of names gives."""
    rows = database.rows(_ENTRIES, {"first": first, "last": last})
    return {
        name: sum(tables.entry_seal(line, facet, tables.key(shape), *span) for _, line, facet, shape, *span in own)
        for name, own in groupby(rows, key=lambda row: row[0])
    }


def _shapes(database: Database) -> Problems:
    last = -1
    while rows := database.rows(_SHAPES, {"last": last}):
        for identifier, key, body in rows:
            if digest(body.encode()) != key:
                yield f"shape {key.hex()}: its body has another digest"
            last = identifier


def _locations(database: Database) -> Problems:
    last = -1
    names = {row[0] for row in database.rows(select(tables.name.c.id))}
    while rows := database.rows(_PLACES, {"last": last}):
        for last, places, body in rows:
            if (places is None) != (body is None) or (body is not None and tables.of_bytes(body) != places):
                yield f"snapshot {last}: its locations are missing or were changed"
            elif body is not None and not unpack(body).keys() <= names:
                yield f"snapshot {last}: the name of a location is missing"


def _lines(database: Database) -> Iterator[Part]:
    """A part for each line: every snapshot that it ever had, as its entries tell it."""
    try:
        rows = database.rows(_LINES)
    except StoreError:
        return  # the parts before tell why
    for identifier, *labels in rows:
        what = str(LineKey(*labels))
        yield what, partial(line_problems, line=identifier, what=what)


_QUICK: tuple[Part, ...] = (
    ("the database's schema", structure_problems),
    ("the database's structure", lambda database: database.problems()),
    ("releases and baselines", _sums),
    ("the audit", _read_whole(audit.verify)),
    ("what names are called", calling.check),
    ("reviews", _read_whole(timeline.every_review)),
    ("approvals", _read_whole(timeline.every_approval)),
    ("consumers", _read_whole(stored_consumers.every)),
    ("environments", _read_whole(stored_environments.every)),
    ("bound rules", _read_whole(bound_rules.every)),
)
_LONG: tuple[Part, ...] = (
    ("names", _names),
    ("shapes", _shapes),
    ("locations", _locations),
    ("verdicts", verdicts.problems),
    ("findings", verdicts.finding_problems),
    ("what consumers import", stored_consumers.problems),
)


def stats(database: Database) -> StoreStats:
    """How much the store holds."""
    counted = select(func.count())
    tables_ = (tables.library, tables.line, tables.name, tables.shape, tables.entry, tables.verdict, tables.audit)
    counts = {table.name: int(database.rows(counted.select_from(table))[0][0]) for table in tables_}
    selected = (cards.RELEASES, cards.SNAPSHOT.superseded == 1, cards.CANDIDATES)
    releases, superseded, candidates = (
        int(database.rows(counted.select_from(tables.snapshot).where(condition))[0][0]) for condition in selected
    )
    return StoreStats(
        revision=revision(database) or "",
        size=database.size(),
        libraries=counts["library"],
        lines=counts["line"],
        releases=releases,
        superseded=superseded,
        candidates=candidates,
        names=counts["name"],
        shapes=counts["shape"],
        entries=counts["entry"],
        verdicts=counts["verdict"],
        audit_records=counts["audit"],
    )


def vacuum(database: Database) -> tuple[int, int]:
    """Give free space back to the disk: the size in bytes before and after."""
    before = database.size()
    database.vacuum()
    return before, database.size()


Words = ParamSpec("Words")
Answer = TypeVar("Answer")


def _method(act: Callable[Concatenate[Database, Words], Answer]) -> Callable[Concatenate[Store, Words], Answer]:
    @wraps(act)
    def acted(store: Store, /, *words: Words.args, **options: Words.kwargs) -> Answer:
        return store.database.retried(lambda: act(store.database, *words, **options))

    return acted


def _question(ask: Callable[Concatenate[Database, Words], Answer]) -> Callable[Concatenate[Store, Words], Answer]:
    """A method that reads in one transaction: else what others store between two statements would look like damage."""

    @wraps(ask)
    def asked(store: Store, /, *words: Words.args, **options: Words.kwargs) -> Answer:
        with store.database.reading():
            return ask(store.database, *words, **options)

    return asked


class Store:
    """A context manager around one connection. Use it in one thread; any number of processes may have one each."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._memory = RowMemory()
        self._written = WrittenFindings()

    @classmethod
    def open(
        cls,
        url_or_path: str | Path,
        *,
        write: bool,
        create: bool = True,
        busy_seconds: float = 60,
        upgrade: bool = True,
    ) -> Store:
        """Open the store at a path or SQLAlchemy URL, creating it where there is none and ``create`` allows.

        A store of an older schema is upgraded where ``write`` and ``upgrade`` allow, with a backup beside it; one that
        is a little older or newer is read as it is. Raises :class:`SchemaMismatch` for another schema or a foreign
        database, :class:`StoreError` where it cannot be opened.
        """
        found = open_store(url_or_path, write=write, create=create, busy_seconds=busy_seconds, upgrade=upgrade)
        return cls(found)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the connection."""
        self.database.close()

    transaction = _method(Database.transaction)
    batch = _method(Database.batch)
    part = _method(Database.part)
    reading = _method(Database.reading)

    known = _method(known)
    may_know = _method(may_know)
    of_package = _method(of_package)
    place = _method(place)
    hold = _method(hold)
    forget = _method(forget)
    supplement = _method(order.supplement)
    amend = _method(order.amend)
    tag = _method(order.add)
    untag = _method(order.take)
    review = _method(timeline.add_review)
    review_all = _method(timeline.add_all)
    approve = _method(timeline.add_approval)
    add_consumers = _method(stored_consumers.add)
    remove_consumers = _method(stored_consumers.remove)
    bind = _method(bound_rules.bind)
    record_members = _method(stored_environments.record_members)
    remove_members = _method(stored_environments.remove_members)
    scheme = _method(scheme)
    set_scheme = _method(set_scheme)
    audit_since = _question(audit.records_after)
    audit_head = _question(audit.head)
    audit_added = _question(audit.records_since)
    audit = _method(audit.records)
    check = _method(check)
    vacuum = _method(vacuum)

    lines = _question(lines)
    line_states = _question(cards.states)
    verdict_states = _question(verdicts.states)
    consumers_state = _question(stored_consumers.state)
    overview = _question(overview)
    whole_lines = _question(whole_lines)
    loading_lines = _question(loading_lines)
    releases = _question(ordered_releases)
    candidates = _question(candidates)
    builds = _question(builds)
    no_library = _question(no_library)
    preceding = _question(preceding)
    foremost = _question(foremost)
    resolve = _question(resolve)
    of_digest = _question(cards.of_digest)
    of_file = _question(cards.of_file)

    spellings = _question(spellings)
    spellings_near = _question(spellings_near)
    lines_with_types = _question(with_types)
    verdict_summaries = _question(verdicts.summaries)
    summary_of = staticmethod(verdicts.summary)
    scheme_of = _question(scheme_of)
    orders = _question(orders)
    stats = _question(stats)
    baseline_history = _question(order.history)
    baselines = _question(order.standing)
    reviews = _question(timeline.every_review)
    approvals = _question(timeline.every_approval)
    consumers = _question(stored_consumers.every)
    consumer_imports = _question(stored_consumers.imports)
    environments = _question(stored_environments.every)
    rules = _question(bound_rules.every)
    environment = _question(stored_environments.named)
    ever_named = _question(stored_consumers.ever_named)
    returned_exports = _question(returned)

    def audit_records(self) -> tuple[AuditRecord, ...]:
        """The whole audit, newest first. Raises :class:`StoreError` where a record was changed or taken away."""
        with self.reading():
            return tuple(audit.all_records(self.database))[::-1]

    def ingest(self, snapshot: Snapshot, request: IngestRequest) -> IngestOutcome:
        """Remember ``snapshot`` as a release, all or nothing; a no-op where it is stored with this content.

        Raises :class:`VersionTaken` where another binary has the version and the request does not replace it.
        """
        with limits_for(snapshot.weight, f"storing {request.library or snapshot.library} {request.version}"):
            return self.database.retried(lambda: write.ingest(self.database, snapshot, request))

    def no_baseline(self, line: LineKey, channel: str) -> SnapshotNotFound:
        """The error that tells that a line's channel is not set, with where it is, or what may be meant."""
        with self.reading():
            return no_baseline(self.database, {line}, channel)

    def previous(self, release: Release) -> Release | None:
        """The release before this one in its line, in release order."""
        return self.preceding(release.line, release.version, release.sequence)

    def set_baseline(
        self, line: LineKey, channel: str, version: str | None, actor: str = "", reason: str = ""
    ) -> BaselineMove:
        """Put a line's baseline channel at a version, as :func:`abistore.store.order.move` says."""
        return self.database.retried(lambda: move(self.database, line, channel, version, actor=actor, reason=reason))

    def load(self, release: Release) -> Snapshot:
        """The snapshot as it was ingested, under the release's library and version."""
        return self.load_many([release])[0]

    def load_many(self, wanted: Sequence[Release]) -> tuple[Snapshot, ...]:
        """The snapshots of several releases; equal shapes are the same object, decoded once."""
        with self.reading():
            return snapshots.load_many(self.database, wanted, self._memory)

    def consumer_types(self) -> Mapping[ConsumerKey, Mapping[Name, BuiltType]]:
        """The types that each consumer was built with; equal shapes are the same object, decoded once."""
        with self.reading():
            return stored_consumers.types(self.database, self._memory)

    def library_facts(self) -> Mapping[LineKey, tuple[timeline.LibraryFacts, ...]]:
        """What all lines say of their libraries as a whole, such as the dependencies, without whole snapshots."""
        with self.reading():
            return timeline.library_facts(self.database, self._memory)

    def walk(self) -> LineWalk:
        """A walk through the releases of one line. Each costs what differs from the one before."""
        return LineWalk(self.database)

    def logs(self, spellings: Sequence[str], library: str | None = None) -> dict[LineKey, tuple[LogEvent, ...]]:
        """The releases in which a declaration appeared, changed and vanished, in each line of a library that had it.

        ``library`` is any where it is ``None``. Each of ``spellings`` is a type's or function's qualified name, a
        demangled one, or a symbol: the first that means anything in a line is what it is asked for.
        """
        with self.reading():
            return timeline.logs(self.database, spellings, library, self._memory)

    def find_verdict(self, old: Release, new: Release, ruling: RulingKey, engine: str) -> StoredVerdict | None:
        """The latest judgement of these two releases under this ruling by this engine."""
        with self.reading():
            return verdicts.find(self.database, (old, new), ruling, engine, self._memory)

    def save_verdicts(self, given: Sequence[StoredVerdict], actor: str = "") -> None:
        """Remember judgements, in one transaction, but those whose side was pruned since.

        It is a no-op where the same judgement is the latest of its key.
        """
        self.database.retried(lambda: verdicts.save(self.database, given, actor, self._written))

    def audit_of(self, library: str) -> Callable[[AuditRecord], bool]:
        """What tells whether a record of the audit is about a library. Raises :class:`SnapshotNotFound`."""
        stored = [one for one in self.lines() if one.library == library]
        if not stored and not self.candidates(library):
            raise self.no_library(library)
        with self.reading():
            digests = frozenset(digests_of(self.database, library))
        return lambda record: audit.concerns(record.subject, (library,), digests)

    def bundle(self, selection: BundleSelection | None = None) -> bytes:
        """What the store holds, or a part of it, as a file: the same store gives the same bytes."""
        from abistore.store import bundle_files  # few calls need it
        from abistore.store.gathering import EVERYTHING, gather

        return bundle_files.write(gather(self.database, selection or EVERYTHING))

    def merge(self, records: Iterable[AnyRecord], wish: MergeWish) -> Merged:
        """Bring what a bundle, or another store, holds into this one. Raises :class:`BundleError`."""
        from abistore.store.merging import merge  # few calls need it

        return merge(self.database, records, wish)

    def merge_store(self, source: Store, wish: MergeWish) -> Merged:
        """Bring another store into this one, a large one in slices. Raises as :meth:`merge` does."""
        from abistore.store.merging import merge_store  # few calls need it

        return merge_store(self.database, source.database, wish)

    def prunable(self, library: str | None, *, keep_last: int, before: datetime | None) -> tuple[Prunable, ...]:
        """What :meth:`prune` would remove."""
        from abistore.store.pruning import chosen  # few calls need it

        with self.reading():
            return chosen(self.database, library, keep_last=keep_last, before=before)

    def prune(
        self, library: str | None, *, keep_last: int, before: datetime | None, actor: str = "", reason: str = ""
    ) -> tuple[Prunable, ...]:
        """Remove snapshots that are no releases and that nothing needs, but for the last of each line."""
        from abistore.store.pruning import prune

        self._memory.forget()
        return prune(self.database, library, keep_last=keep_last, before=before, actor=actor, reason=reason)

    def findings(self, identity: str, most: int) -> tuple[tuple[Sighting, ...], int]:
        """The findings, and consequences, whose identity begins with ``identity``, and how many rows hold more.

        What was found last comes first. Each comes once, in the judgement that had it first.
        """
        with self.reading():
            return timeline.sightings(self.database, identity, most, self._memory)

    def found_elsewhere(self, identity: str) -> tuple[Release, Release] | None:
        """The sides between which another store has a finding that this one has not, by a judgement that it brought."""
        with self.reading():
            return timeline.elsewhere(self.database, identity)

    def backup(self, destination: str | Path) -> Path:
        """Write a consistent copy of an SQLite store to a new file, while others use it. Raises :class:`StoreError`."""
        opening.copy(self.database, Path(destination))
        return Path(destination)
