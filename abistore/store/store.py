"""The store: a history of snapshots behind one object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, TypeVar

from abistore.errors import AbistoreError, SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.findings import RulingKey
from abistore.model.history import (
    DEFAULT_PROFILE,
    Amendment,
    AuditRecord,
    BaselineMove,
    IngestOutcome,
    IngestRequest,
    LineKey,
    LineOrder,
    LogEvent,
    Release,
    ReleaseFacts,
    Sighting,
    StoredVerdict,
    StoreStats,
    VerdictSummary,
)
from abistore.model.snapshot import Snapshot
from abistore.store import checking, maintenance
from abistore.store.database import audit, copying
from abistore.store.database.database import Database
from abistore.store.history import sightings, timeline, verdicts
from abistore.store.history.findings import WrittenFindings
from abistore.store.history.walking import LineWalk
from abistore.store.opening import open_store
from abistore.store.releases import amending, baselines, cards, forgetting, holding, lines, releases, resolve, schemes
from abistore.store.snapshots import naming, read, write
from abistore.store.snapshots.memory import RowMemory
from abistore.store.snapshots.write import LabelHolder

Words = ParamSpec("Words")
Answer = TypeVar("Answer")


def of_one_moment(
    ask: Callable[Concatenate[Store, Words], Answer],
) -> Callable[Concatenate[Store, Words], Answer]:
    """Makes a method read in one transaction: else what others store between two statements would look like damage."""

    @wraps(ask)
    def asked(store: Store, /, *words: Words.args, **options: Words.kwargs) -> Answer:
        with store.database.reading():
            return ask(store, *words, **options)

    return asked


class Store:
    """A context manager around one connection. Use it in one thread; any number of processes may have one each."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._memory = RowMemory()
        self._written = WrittenFindings()

    @classmethod
    def open(cls, url_or_path: str | Path, *, write: bool, create: bool = True, busy_seconds: float = 60) -> Store:
        """Open the store at a path or SQLAlchemy URL, creating it where there is none and ``create`` allows.

        A store of an older schema is upgraded where ``write`` allows, with a backup beside it. Raises
        :class:`SchemaMismatch` for a newer schema or a foreign database, :class:`StoreError` where it cannot be opened.
        """
        return cls(open_store(url_or_path, write=write, create=create, busy_seconds=busy_seconds))

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the connection."""
        self.database.close()

    def known(
        self, sha256: str, version: str | None = None, profile: str = DEFAULT_PROFILE, library: str | None = None
    ) -> Release | None:
        """The release that was read from the very file with this SHA-256 (hexadecimal), where there is one."""
        return releases.known(self.database, sha256, version, profile, library)

    def may_know(
        self, size: int, version: str | None = None, profile: str = DEFAULT_PROFILE, library: str | None = None
    ) -> bool:
        """Whether :meth:`known` can find a file of ``size`` bytes: where not, its digest need not be computed."""
        return releases.may_know(self.database, size, version, profile, library)

    def ingest(self, snapshot: Snapshot, request: IngestRequest) -> IngestOutcome:
        """Remember ``snapshot`` as a release, all or nothing; a no-op where it is stored with this content.

        Raises :class:`VersionTaken` where another binary has the version and the request does not replace it.
        """
        with limits_for(snapshot.weight, f"storing {request.library or snapshot.library} {request.version}"):
            return write.ingest(self.database, snapshot, request)

    def place(self, snapshot: Snapshot, request: IngestRequest) -> LabelHolder:
        """What :meth:`ingest` would find under the label of ``request`` now, raising what it would raise."""
        return write.place(self.database, snapshot, request)

    def transaction(self) -> AbstractContextManager[None]:
        """All that is written within is written together, or not at all."""
        return self.database.transaction()

    def reading(self) -> AbstractContextManager[None]:
        """All that is read within is of one moment."""
        return self.database.reading()

    def hold(self, line: LineKey) -> None:
        """Keep a line as it is, for all others, until the transaction ends; it is created where it is new."""
        holding.hold(self.database, line)

    @of_one_moment
    def lines(self) -> tuple[LineKey, ...]:
        """All lines that have a current release, sorted."""
        return releases.lines(self.database)

    @of_one_moment
    def lines_of_candidates(self) -> tuple[LineKey, ...]:
        """All lines that keep a candidate, sorted; they need not have a release."""
        return releases.lines(self.database, cards.CANDIDATES)

    @of_one_moment
    def releases(self, library: str, target: str | None = None, profile: str | None = None) -> tuple[Release, ...]:
        """The releases of a library, line by line, each line in release order. Empty where there are none."""
        return releases.releases(self.database, library, target, profile)

    @of_one_moment
    def candidates(self, library: str, target: str | None = None, profile: str | None = None) -> tuple[Release, ...]:
        """What failed its gate and was kept, line by line, in the order of ingestion. No release is among them."""
        return releases.candidates(self.database, library, target, profile)

    def forget(self, release: Release, actor: str = "", reason: str = "") -> None:
        """Take a release out of its line; see :func:`abistore.store.releases.forgetting.forget`."""
        forgetting.forget(self.database, release, actor, reason)

    def supplement(self, release: Release, said: ReleaseFacts, actor: str = "") -> Amendment:
        """Fill the empty facts of a release: day, revision, CI job. A fact with another value stays."""
        return amending.supplement(self.database, release, said, actor)

    def amend(
        self, release: Release, said: ReleaseFacts, *, clear: Sequence[str] = (), actor: str, reason: str
    ) -> Amendment:
        """Correct the facts of a release (day, revision, CI job); ``clear`` names those that become empty."""
        return amending.amend(self.database, release, said, clear=clear, actor=actor, reason=reason)

    @of_one_moment
    def no_library(self, library: str, target: str | None = None, profile: str | None = None) -> AbistoreError:
        """The error that tells that nothing is stored of a library, with what was probably meant."""
        return releases.no_library(self.database, library, target, profile)

    @of_one_moment
    def no_baseline(self, line: LineKey, channel: str) -> SnapshotNotFound:
        """The error that tells that a line's channel is not set, with where it is, or what may be meant."""
        return resolve.no_baseline(self.database, {line}, channel)

    @of_one_moment
    def previous(self, release: Release) -> Release | None:
        """The release before this one in its line, in release order."""
        return releases.preceding(self.database, release.line, release.version, release.sequence)

    @of_one_moment
    def preceding(self, line: LineKey, version: str) -> Release | None:
        """The release of a line before the place that ``version`` would have in release order, were it stored now."""
        return releases.preceding(self.database, line, version)

    @of_one_moment
    def foremost(self, ordered: Sequence[Release]) -> tuple[Release, ...]:
        """Those releases of a line, in release order, among which ``latest`` and ``prev`` choose."""
        return releases.foremost(self.database, ordered)

    def load(self, release: Release) -> Snapshot:
        """The snapshot as it was ingested, under the release's library and version."""
        return self.load_many([release])[0]

    @of_one_moment
    def load_many(self, wanted: Sequence[Release]) -> tuple[Snapshot, ...]:
        """The snapshots of several releases; equal shapes are the same object, decoded once."""
        return read.load_many(self.database, wanted, self._memory)

    def walk(self) -> LineWalk:
        """What goes through the releases of one line, each at the cost of what differs from the one before."""
        return LineWalk(self.database)

    @of_one_moment
    def resolve(self, reference: str, *, target: str | None = None, profile: str | None = None) -> Release:
        """The one release that a reference names: see :func:`abistore.store.releases.resolve.resolve`.

        Raises :class:`SnapshotNotFound` where there is none, or more than one.
        """
        return resolve.resolve(self.database, reference, target, profile)

    @of_one_moment
    def logs(self, spellings: Sequence[str], library: str | None = None) -> dict[LineKey, tuple[LogEvent, ...]]:
        """The releases in which a declaration appeared, changed and vanished, in each line of a library that had it.

        ``library`` is any where it is ``None``. Each of ``spellings`` is a type's or function's qualified name, a
        demangled one, or a symbol: the first that means anything in a line is what it is asked for.
        """
        return timeline.logs(self.database, spellings, library, self._memory)

    @of_one_moment
    def spellings(self, library: str | None = None) -> tuple[str, ...]:
        """What a programmer calls the declarations of a library (``None``: of all), sorted."""
        return naming.spellings(self.database, library)

    @of_one_moment
    def spellings_near(self, text: str) -> tuple[str, ...]:
        """What a programmer calls those declarations of all libraries that ``text`` may have been meant to be."""
        return naming.spellings_near(self.database, text)

    @of_one_moment
    def lines_with_types(self) -> frozenset[LineKey]:
        """The lines of which a release showed types."""
        return releases.with_types(self.database)

    def set_baseline(
        self, line: LineKey, channel: str, version: str | None, actor: str = "", reason: str = ""
    ) -> BaselineMove:
        """Put a line's baseline channel at a version (``None`` clears it); a no-op where it stands there.

        Raises :class:`SnapshotNotFound` where the line has no such release.
        """
        return baselines.move(self.database, line, channel, version, actor=actor, reason=reason)

    @of_one_moment
    def baselines(self, library: str | None = None) -> tuple[BaselineMove, ...]:
        """Where the channels stand: the last move of each, by line and channel, cleared ones left out."""
        return baselines.standing(self.database, library)

    @of_one_moment
    def baseline_history(self, library: str, channel: str | None = None) -> tuple[BaselineMove, ...]:
        """All moves of a library's channels, oldest first."""
        return baselines.history(self.database, library, channel)

    @of_one_moment
    def find_verdict(self, old: Release, new: Release, ruling: RulingKey, engine: str) -> StoredVerdict | None:
        """The latest judgement of these two releases under this ruling by this engine."""
        return verdicts.find(self.database, (old, new), ruling, engine, self._memory)

    def summary_of(self, given: StoredVerdict) -> VerdictSummary:
        """What a timeline shows of a judgement."""
        return verdicts.summary(given)

    def save_verdicts(self, given: Sequence[StoredVerdict], actor: str = "") -> None:
        """Remember judgements, in one transaction; each is a no-op where the same one is the latest of its key."""
        verdicts.save(self.database, given, actor, self._written)

    @of_one_moment
    def verdict_summaries(self, line: LineKey, engine: str) -> Mapping[tuple[int, int, RulingKey], VerdictSummary]:
        """The latest judgements by an engine between releases of a line, by their sequence numbers and ruling."""
        return verdicts.summaries(self.database, line, engine)

    @of_one_moment
    def findings(self, identity: str, most: int) -> tuple[tuple[Sighting, ...], int]:
        """The findings, and consequences, whose identity begins with ``identity``, and how many rows hold more.

        What was found last comes first. Each comes once, in the judgement that had it first.
        """
        return sightings.sightings(self.database, identity, most, self._memory)

    def scheme(self, library: str) -> str:
        """The version scheme declared for a library; ``auto`` where none is."""
        return lines.scheme(self.database, library)

    @of_one_moment
    def scheme_of(self, line: LineKey) -> str:
        """The scheme that orders a line."""
        return releases.scheme_of(self.database, line)

    @of_one_moment
    def orders(self, library: str) -> tuple[LineOrder, ...]:
        """How each line of a library is ordered."""
        return schemes.orders(self.database, library)

    def set_scheme(self, library: str, scheme: str, actor: str = "") -> tuple[LineOrder, ...]:
        """Declare how a library's versions are ordered: ``auto pep440 semver debian plain``. What moved is told.

        Raises :class:`UsageError` where the scheme is unknown or does not read a stored version.
        """
        return schemes.set_scheme(self.database, library, scheme, actor)

    def audit(self, limit: int = 100) -> tuple[AuditRecord, ...]:
        """The last ``limit`` mutations, newest first."""
        return audit.records(self.database, limit)

    @of_one_moment
    def stats(self) -> StoreStats:
        """How much the store holds."""
        return maintenance.stats(self.database)

    def check(self, *, quick: bool = False, progress: Callable[[str, float], None] | None = None) -> tuple[str, ...]:
        """Everything that is wrong with the store, a sentence each; see :func:`abistore.store.checking.check`."""
        return checking.check(self.database, quick, progress)

    def backup(self, destination: str | Path) -> Path:
        """Write a consistent copy of an SQLite store to a new file, while others use it. Raises :class:`StoreError`."""
        copying.copy(self.database, Path(destination))
        return Path(destination)

    def vacuum(self) -> tuple[int, int]:
        """Give free space back to the disk: the size in bytes before and after. The store must be open for writing."""
        return maintenance.vacuum(self.database)
