"""The store: a history of snapshots behind one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.findings import RulingKey
from abistore.model.history import (
    AuditRecord,
    BaselineMove,
    IngestOutcome,
    IngestRequest,
    LineKey,
    LogEvent,
    Release,
    Sighting,
    StoredVerdict,
)
from abistore.model.judging.consumers import BuiltType, ConsumerKey
from abistore.model.names import Name
from abistore.model.snapshot import Snapshot
from abistore.model.stores.merging import Merged
from abistore.store.checking import check
from abistore.store.consumers import stored, writing
from abistore.store.database import audit, copying
from abistore.store.database.database import Database
from abistore.store.history import approvals, reviews, sightings, timeline, verdicts
from abistore.store.history.findings import WrittenFindings
from abistore.store.history.returning import returned
from abistore.store.history.walking import LineWalk
from abistore.store.maintenance import stats, vacuum
from abistore.store.opening import open_store
from abistore.store.releases import amending, baselines, tagging
from abistore.store.releases.baselines import move
from abistore.store.releases.cards import digests_of
from abistore.store.releases.forgetting import forget
from abistore.store.releases.holding import hold
from abistore.store.releases.lines import scheme
from abistore.store.releases.overview import overview
from abistore.store.releases.releases import (
    candidates,
    foremost,
    known,
    lines,
    may_know,
    no_library,
    of_package,
    preceding,
    releases,
    scheme_of,
    with_types,
)
from abistore.store.releases.resolve import no_baseline, of_digest, resolve
from abistore.store.releases.schemes import orders, set_scheme
from abistore.store.snapshots import read, write
from abistore.store.snapshots.memory import RowMemory
from abistore.store.snapshots.naming import spellings, spellings_near
from abistore.store.snapshots.write import place

if TYPE_CHECKING:
    from abistore.store.bundles.merging import MergeWish
    from abistore.store.bundles.records import AnyRecord
    from abistore.store.bundles.selection import BundleSelection
    from abistore.store.pruning.choosing import Prunable

Words = ParamSpec("Words")
Answer = TypeVar("Answer")


def _method(act: Callable[Concatenate[Database, Words], Answer]) -> Callable[Concatenate[Store, Words], Answer]:
    """A function of a database as a method of the store."""

    @wraps(act)
    def acted(store: Store, /, *words: Words.args, **options: Words.kwargs) -> Answer:
        return act(store.database, *words, **options)

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
    reading = _method(Database.reading)

    known = _method(known)
    may_know = _method(may_know)
    of_package = _method(of_package)
    place = _method(place)
    hold = _method(hold)
    forget = _method(forget)
    supplement = _method(amending.supplement)
    amend = _method(amending.amend)
    tag = _method(tagging.add)
    untag = _method(tagging.take)
    review = _method(reviews.add)
    review_all = _method(reviews.add_all)
    approve = _method(approvals.add)
    add_consumers = _method(writing.add)
    remove_consumers = _method(writing.remove)
    scheme = _method(scheme)
    set_scheme = _method(set_scheme)
    audit = _method(audit.records)
    check = _method(check)
    vacuum = _method(vacuum)

    lines = _question(lines)
    overview = _question(overview)
    releases = _question(releases)
    candidates = _question(candidates)
    no_library = _question(no_library)
    preceding = _question(preceding)
    foremost = _question(foremost)
    resolve = _question(resolve)
    of_digest = _question(of_digest)
    spellings = _question(spellings)
    spellings_near = _question(spellings_near)
    lines_with_types = _question(with_types)
    verdict_summaries = _question(verdicts.summaries)
    summary_of = staticmethod(verdicts.summary)
    scheme_of = _question(scheme_of)
    orders = _question(orders)
    stats = _question(stats)
    baseline_history = _question(baselines.history)
    baselines = _question(baselines.standing)
    reviews = _question(reviews.every)
    approvals = _question(approvals.every)
    consumers = _question(stored.every)
    consumer_imports = _question(stored.imports)
    ever_named = _question(stored.ever_named)
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
            return write.ingest(self.database, snapshot, request)

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
        """Put a line's baseline channel at a version, as :func:`abistore.store.releases.baselines.move` says."""
        return move(self.database, line, channel, version, actor=actor, reason=reason)

    def load(self, release: Release) -> Snapshot:
        """The snapshot as it was ingested, under the release's library and version."""
        return self.load_many([release])[0]

    def load_many(self, wanted: Sequence[Release]) -> tuple[Snapshot, ...]:
        """The snapshots of several releases; equal shapes are the same object, decoded once."""
        with self.reading():
            return read.load_many(self.database, wanted, self._memory)

    def consumer_types(self) -> Mapping[ConsumerKey, Mapping[Name, BuiltType]]:
        """The types that each consumer was built with; equal shapes are the same object, decoded once."""
        with self.reading():
            return stored.types(self.database, self._memory)

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
        verdicts.save(self.database, given, actor, self._written)

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
        from abistore.store.bundles import file  # few calls need it
        from abistore.store.bundles.gather import gather
        from abistore.store.bundles.selection import EVERYTHING

        return file.write(gather(self.database, selection or EVERYTHING))

    def merge(self, records: Iterable[AnyRecord], wish: MergeWish) -> Merged:
        """Bring what a bundle, or another store, holds into this one. Raises :class:`BundleError`."""
        from abistore.store.bundles.contents import contents  # few calls need it
        from abistore.store.bundles.merging import merge

        return merge(self.database, contents(records, wish.source), wish)

    def prunable(self, library: str | None, *, keep_last: int, before: datetime | None) -> tuple[Prunable, ...]:
        """What :meth:`prune` would remove."""
        from abistore.store.pruning.pruning import chosen  # few calls need it

        with self.reading():
            return chosen(self.database, library, keep_last=keep_last, before=before)

    def prune(
        self, library: str | None, *, keep_last: int, before: datetime | None, actor: str = "", reason: str = ""
    ) -> tuple[Prunable, ...]:
        """Remove snapshots that are no releases and that nothing needs, but for the last of each line."""
        from abistore.store.pruning.pruning import prune

        self._memory.forget()
        return prune(self.database, library, keep_last=keep_last, before=before, actor=actor, reason=reason)

    def findings(self, identity: str, most: int) -> tuple[tuple[Sighting, ...], int]:
        """The findings, and consequences, whose identity begins with ``identity``, and how many rows hold more.

        What was found last comes first. Each comes once, in the judgement that had it first.
        """
        with self.reading():
            return sightings.sightings(self.database, identity, most, self._memory)

    def found_elsewhere(self, identity: str) -> tuple[Release, Release] | None:
        """The sides between which another store has a finding that this one has not, by a judgement that it brought."""
        with self.reading():
            return sightings.elsewhere(self.database, identity)

    def backup(self, destination: str | Path) -> Path:
        """Write a consistent copy of an SQLite store to a new file, while others use it. Raises :class:`StoreError`."""
        copying.copy(self.database, Path(destination))
        return Path(destination)
