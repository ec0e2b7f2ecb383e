"""Looking into one snapshot: its card, and its declarations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from abistore.errors import SnapshotNotFound
from abistore.limits import limits_for
from abistore.model.cpp_names.normal import normal_name
from abistore.model.cpp_names.spelling import spelled_out
from abistore.model.digest import snapshot_digest
from abistore.model.history import Release
from abistore.model.names import FACETS, SELF, Facet, Kind, Name
from abistore.model.reach.graph import Reach
from abistore.model.snapshot import Evidence, Location, Provenance, ReleaseTag, Snapshot
from abistore.report.wording import lengthened
from abistore.service.database import Database
from abistore.service.declared_exports import DeclaredExports, declared_exports
from abistore.service.facts import Facts, facts_of
from abistore.service.operands import Selection, operands
from abistore.service.spelled import LINKED, declarations_near, display


class StoredFacts(msgspec.Struct, frozen=True):
    """What the store knows of a snapshot beside its content."""

    profile: str
    sequence: int
    ingested: datetime
    released: datetime | None
    revision: str | None
    url: str | None
    tags: tuple[ReleaseTag, ...] = ()


class SnapshotCard(msgspec.Struct, frozen=True):
    """A snapshot at a glance. ``counts`` are distinct names by kind; ``exports`` are functions and variables."""

    library: str
    version: str | None
    digest: str
    target: str
    exports: int
    counts: Mapping[Kind, int]
    facts: Facts | None
    evidence: tuple[Evidence, ...]
    provenance: Provenance
    stored: StoredFacts | None
    headers: DeclaredExports | None = None


class TypeUsers(msgspec.Struct, frozen=True):
    """The exports, by their linker names, that use a type: by value, so that its layout matters, or only by pointer."""

    by_value: tuple[str, ...]
    by_pointer: tuple[str, ...]


class DeclarationText(msgspec.Struct, frozen=True):
    """One declaration as one facet saw it, in C or C++ with offsets and holes: one text for each variant.

    ``used`` says which exports use a type; it is ``None`` for functions and variables.
    """

    name: Name
    display: str
    facet: Facet
    location: Location | None
    texts: tuple[str, ...]
    used: TypeUsers | None


def card(operand: str | Path, *, database: Database = None, selection: Selection | None = None) -> SnapshotCard:
    """The card of a stored or captured snapshot."""
    with operands(database, selection) as reader:
        found = reader.read(operand)
    snapshot = found.snapshot
    kinds = Counter(name.kind for name in {name for entries in snapshot.entries.values() for name in entries})
    return SnapshotCard(
        library=snapshot.library,
        version=snapshot.version,
        digest=found.release.digest if found.release else snapshot_digest(snapshot).hex(),
        target=str(snapshot.target),
        exports=snapshot.exports,
        counts=dict(sorted(kinds.items())),
        facts=facts_of(snapshot.facts, elf=snapshot.target.format == "elf") if snapshot.facts else None,
        evidence=snapshot.evidence,
        provenance=snapshot.provenance,
        stored=_stored(found.release) if found.release else None,
        headers=_headers(snapshot),
    )


def _headers(snapshot: Snapshot) -> DeclaredExports | None:
    if snapshot.evidence_of("source").state == "missing":
        return None
    with limits_for(snapshot.weight, f"telling declarations of {snapshot.label}"):
        return declared_exports(snapshot)


def declarations(
    operand: str | Path, name: str, *, database: Database = None, selection: Selection | None = None
) -> tuple[DeclarationText, ...]:
    """The declarations called ``name``, in each facet that saw them. Raises :class:`SnapshotNotFound`."""
    with operands(database, selection) as reader:
        snapshot = reader.read(operand).snapshot
    with limits_for(snapshot.weight, f"telling declarations of {snapshot.label}"):
        return _declarations(snapshot, find(snapshot, name))


def _declarations(snapshot: Snapshot, names: tuple[Name, ...]) -> tuple[DeclarationText, ...]:
    reach = Reach(snapshot)
    return tuple(
        DeclarationText(
            name=one,
            display=display(one, snapshot.variants("layout", one)),
            facet=facet,
            location=snapshot.locations.get(one),
            texts=tuple(spelled_out(one, snapshot.variants(facet, one), snapshot)),
            used=None if one.kind in LINKED else _users(reach, one),
        )
        for one in names
        for facet in FACETS
        if snapshot.variants(facet, one)
    )


def _users(reach: Reach, name: Name) -> TypeUsers:
    by_value = reach.exports_reaching(name, by_value=True)
    others = set(reach.exports_reaching(name)) - set(by_value)
    return TypeUsers(tuple(one.spelling for one in by_value), tuple(one.spelling for one in sorted(others)))


def find(snapshot: Snapshot, text: str) -> tuple[Name, ...]:
    """The names that ``text`` means: by linker name, normal spelling, or qualified name with or without parameters.

    Raises :class:`SnapshotNotFound` with the nearest names as the hint.
    """
    names = sorted({name for entries in snapshot.entries.values() for name in entries} - {SELF})
    wanted = {normal_name(one) for one in lengthened(text)}
    exact = tuple(name for name in names if name.spelling in {text, *wanted})
    if exact:
        return exact
    shown = {name: display(name, snapshot.variants("layout", name)) for name in names}
    described = tuple(name for name in names if wanted & {shown[name], shown[name].partition("(")[0]})
    if described:
        return described
    unseen = "; its types are not known, for want of debug information" if not snapshot.entries.get("layout") else ""
    raise SnapshotNotFound(
        f"{snapshot.library}: no declaration is called {text}{unseen}", declarations_near(text, shown.values())
    )


def _stored(release: Release) -> StoredFacts:
    return StoredFacts(
        release.line.profile,
        release.sequence,
        release.ingested,
        release.released,
        release.revision,
        release.url,
        release.tags,
    )
