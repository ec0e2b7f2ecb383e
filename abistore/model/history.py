"""What the store remembers about snapshots: lines, releases, baselines, verdicts, and who did what."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from abistore.model.findings import Verdict
from abistore.model.names import Facet, Name
from abistore.model.snapshot import Evidence, Provenance, Target, Variants


@dataclass(frozen=True, slots=True, order=True)
class LineKey:
    """What has one history: a library, on one target, in one build profile (``default`` unless the caller says)."""

    library: str
    target: str
    profile: str = "default"

    def __str__(self) -> str:
        return f"{self.library} ({self.target}, {self.profile})"


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What the caller says about a snapshot that it ingests; the rest is in the snapshot's provenance.

    ``version`` is the release's label; ``replace`` allows another binary under a taken label. ``revision`` is the
    source revision and ``url`` the CI job. ``actor`` is who ingests, for the audit.
    """

    version: str
    profile: str = "default"
    library: str | None = None
    replace: bool = False
    revision: str | None = None
    url: str | None = None
    actor: str = ""
    released: datetime | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """One stored snapshot's card: everything but its entries. ``sequence`` is the order of ingestion in its line."""

    line: LineKey
    version: str
    sequence: int
    digest: str
    target: Target
    soname: str | None
    exports: int
    declarations: int
    ingested: datetime
    released: datetime | None
    revision: str | None
    url: str | None
    provenance: Provenance
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class IngestOutcome:
    """What an ingest did: ``known`` is true where the very file was stored before and nothing was written."""

    release: Release
    known: bool
    replaced: bool
    entries_written: int
    shapes_written: int


@dataclass(frozen=True, slots=True)
class BaselineMove:
    """One move of a baseline channel; ``release`` is ``None`` where the channel was cleared."""

    line: LineKey
    channel: str
    version: str | None
    moved: datetime
    actor: str
    reason: str


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """An immutable judgement: these two snapshots, under this policy, by these rules."""

    old_digest: str
    new_digest: str
    policy: str
    engine: str
    verdict: Verdict
    breaking: int
    api_breaks: int
    risk_changes: int
    compatible: int
    judged: datetime
    comparison: bytes = field(repr=False, default=b"")
    """The whole comparison as the JSON report renders it, UTF-8."""


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One release in which a declaration appeared, changed or vanished, with its shapes before and after."""

    release: Release
    name: Name
    facet: Facet
    action: Literal["appeared", "changed", "vanished", "not-observed"]
    before: Variants
    after: Variants


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One mutation of the store, written in the same transaction as what it describes."""

    at: datetime
    actor: str
    action: str
    subject: str
    detail: str
