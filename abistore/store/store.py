"""The store: a history of snapshots behind one object."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from abistore.model.history import IngestOutcome, IngestRequest, LineKey, Release
from abistore.model.snapshot import Snapshot
from abistore.store import read, releases, write
from abistore.store.connect import open_store
from abistore.store.database import Database


class Store:
    """A context manager around one connection. Use it in one thread; any number of processes may have one each."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._memory = read.Memory()

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
        self, sha256: str, version: str | None = None, profile: str = "default", library: str | None = None
    ) -> Release | None:
        """The release that was read from the very file with this SHA-256 (hexadecimal), where there is one."""
        return releases.known(self.database, sha256, version, profile, library)

    def ingest(self, snapshot: Snapshot, request: IngestRequest) -> IngestOutcome:
        """Remember ``snapshot`` as a release, all or nothing; a no-op where it is stored with this content.

        Raises :class:`VersionTaken` where another binary has the version and the request does not replace it.
        """
        return write.ingest(self.database, snapshot, request)

    def lines(self) -> tuple[LineKey, ...]:
        """All lines, sorted."""
        return releases.lines(self.database)

    def releases(self, library: str, target: str | None = None, profile: str | None = None) -> tuple[Release, ...]:
        """The releases of a library, line by line, each line in release order. Empty where there are none."""
        return releases.releases(self.database, library, target, profile)

    def previous(self, release: Release) -> Release | None:
        """The release before this one in its line, in release order."""
        return releases.previous(self.database, release)

    def load(self, release: Release) -> Snapshot:
        """The snapshot as it was ingested, under the release's library and version."""
        return self.load_many([release])[0]

    def load_many(self, wanted: Sequence[Release]) -> tuple[Snapshot, ...]:
        """The snapshots of several releases; equal shapes are the same object, decoded once."""
        return read.load_many(self.database, wanted, self._memory)
