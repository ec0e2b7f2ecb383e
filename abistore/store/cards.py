"""A stored snapshot's card: everything of a release but its entries."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from abistore.errors import StoreError
from abistore.model.history import LineKey, Release
from abistore.model.names import FACETS, SELF, Facet
from abistore.model.shapes import Library
from abistore.model.snapshot import Evidence, Provenance, Snapshot, Target
from abistore.store.database import Database, Row

COLUMNS = (
    "library.name, line.target, line.profile, snapshot.version, snapshot.sequence, snapshot.digest, snapshot.target, "
    "snapshot.soname, snapshot.exports, snapshot.declarations, snapshot.ingested, snapshot.released, "
    "snapshot.revision, snapshot.url, snapshot.provenance, snapshot.evidence, snapshot.candidate"
)
RELEASES = "snapshot.superseded = 0 AND snapshot.candidate = 0"
"""The condition for what is a release now: neither replaced, nor taken back, nor a candidate."""

CANDIDATES = "snapshot.superseded = 0 AND snapshot.candidate = 1"
"""The condition for what failed its gate and was kept."""

SOURCES = "snapshot JOIN line ON line.id = snapshot.line_id JOIN library ON library.id = line.library_id"

encode = msgspec.json.Encoder(order="deterministic").encode
_target = msgspec.json.Decoder(Target).decode
_provenance = msgspec.json.Decoder(Provenance).decode
_evidence = msgspec.json.Decoder(tuple[Evidence, ...]).decode
facet_counts = msgspec.json.Decoder(dict[Facet, int]).decode


def find(database: Database, condition: str, parameters: tuple[Any, ...]) -> list[Release]:
    """The releases that ``condition`` selects, in the order of ingestion.

    Raises :class:`StoreError` where a card is damaged.
    """
    statement = f"SELECT {COLUMNS} FROM {SOURCES} WHERE {condition} ORDER BY snapshot.id"
    try:
        return [_release(row) for row in database.rows(statement, parameters)]
    except (msgspec.MsgspecError, ValueError) as error:
        message = f"{database.where}: a release's card is damaged ({error})"
        raise StoreError(message, "restore a backup") from error


def soname(snapshot: Snapshot) -> str | None:
    """The SONAME that the snapshot's library carries."""
    for shape in snapshot.variants("symbol", SELF):
        if isinstance(shape, Library):
            return shape.soname
    return None


def exports(snapshot: Snapshot) -> int:
    """How many function and variable names the binary exports."""
    return sum(name.kind in {"function", "variable"} for name in snapshot.entries.get("symbol", {}))


def declarations(snapshot: Snapshot) -> int:
    """How many declarations of its own any facet saw: all names but imports and the library itself."""
    names = {name for facet in FACETS for name in snapshot.entries.get(facet, {})}
    return sum(name.kind not in {"import", "library"} for name in names)


def _release(row: Row) -> Release:
    (library, target, profile, version, sequence, digest, platform, soname, exports, declarations) = row[:10]
    (ingested, released, revision, url, provenance, evidence, candidate) = row[10:]
    return Release(
        line=LineKey(library, target, profile),
        version=version,
        sequence=sequence,
        digest=digest.hex(),
        target=_target(platform),
        soname=soname,
        exports=exports,
        declarations=declarations,
        ingested=datetime.fromisoformat(ingested),
        released=datetime.fromisoformat(released) if released else None,
        revision=revision,
        url=url,
        provenance=_provenance(provenance),
        evidence=_evidence(evidence),
        candidate=bool(candidate),
    )


def evidence_state(evidence: tuple[Evidence, ...], facet: Facet) -> str:
    """How much ``facet`` saw: ``full``, ``partial`` or ``missing``."""
    return next((part.state for part in evidence if part.facet == facet), "missing")


def speaks(count: int | None, full: bool) -> bool:
    """Whether a facet with ``count`` names (``None``: not observed) says anything about the declarations' history.

    An empty facet that did not see everything does not: it must not end what was seen before.
    """
    return count is not None and (count > 0 or full)
