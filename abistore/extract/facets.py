"""Joins the facets of a library into its snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Final

import msgspec

import abistore
from abistore.extract.input_file import InputFile
from abistore.extract.reader import ExtractOptions
from abistore.model.cpp_names.qualified import last_component
from abistore.model.declared import Declared
from abistore.model.labels.sonames import library_name
from abistore.model.layout.undescribed import UNDESCRIBED_HINT, methods_in, told_undescribed, undescribed_classes
from abistore.model.mangling.symbols import is_mangled
from abistore.model.names import EXPORTS, TYPES, Facet, Name
from abistore.model.shapes import Opaque
from abistore.model.snapshot import (
    CLASS_NOT_DESCRIBED,
    Evidence,
    HeadersRead,
    Location,
    Provenance,
    Snapshot,
    Target,
    Variants,
)

MOST_NAMED: Final = 3
"""How many classes the evidence names."""


class FacetReading(msgspec.Struct, frozen=True):
    """What was read of one facet, and how much could be seen: ``evidence`` names the facet.

    ``headers`` tells which headers were read, of the facet that is read from them.
    """

    evidence: Evidence
    entries: Mapping[Name, Variants] = {}
    locations: Mapping[Name, Location] = {}
    compilers: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    debug_files: tuple[str, ...] = ()
    headers: HeadersRead | None = None


def unread(
    file: InputFile,
    options: ExtractOptions,
    name: str | None,
    target: Target,
    *,
    reader: str,
    build_id: str | None = None,
    product_version: str | None = None,
) -> Snapshot:
    """The snapshot of ``file`` before any facet is read. ``name`` is what the library calls itself."""
    return Snapshot(
        library=options.library or library_name(PurePath(name or file.path.name).name),
        version=options.version,
        target=target,
        entries={},
        provenance=Provenance(
            file=file.path.name,
            size=file.size,
            build_id=build_id,
            reader=reader,
            abistore=abistore.__version__,
            product_version=product_version or msgspec.UNSET,
        ),
    )


def symbol_facet(
    entries: Mapping[Name, Variants], exports: int, unrecorded: Iterable[str] | None = None
) -> FacetReading:
    """The symbols of a file that tells all of them; ``unrecorded`` are the facts that its format has no word for."""
    unsaid = msgspec.UNSET if unrecorded is None else tuple(sorted(unrecorded))
    evidence = Evidence("symbol", "full", source="file", described=exports, expected=exports, unrecorded=unsaid)
    return FacetReading(evidence, entries)


def join(binary: Snapshot, readings: Iterable[FacetReading]) -> Snapshot:
    """The snapshot of a file: ``binary`` tells which file it is, ``readings`` what each facet shows.

    A facet whose evidence is missing has no entries: an empty one would say that the library declares nothing.
    """
    entries: dict[Facet, Mapping[Name, Variants]] = {}
    locations: dict[Name, Location] = {}
    evidence = []
    provenance = binary.provenance
    for reading in readings:
        evidence.append(reading.evidence)
        if reading.evidence.state != "missing":
            entries[reading.evidence.facet] = reading.entries
        locations = {**reading.locations, **locations}
        provenance = msgspec.structs.replace(
            provenance,
            compilers=provenance.compilers + reading.compilers,
            languages=provenance.languages + reading.languages,
            debug_files=provenance.debug_files + reading.debug_files,
        )
    found = msgspec.structs.replace(
        binary, entries=entries, evidence=tuple(evidence), locations=locations, provenance=provenance
    )
    return _telling_undescribed(found) if "layout" in entries else found


def _telling_undescribed(snapshot: Snapshot) -> Snapshot:
    """The snapshot whose evidence tells the classes that debug information leaves out, where that is all it lacks."""
    seen = snapshot.evidence_of("layout")
    names = undescribed_classes(snapshot, methods_in(snapshot)) if seen.state == "full" else ()
    if not names:
        return snapshot
    first = ", ".join(name.spelling for name in sorted(names)[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    detail = "; ".join(filter(None, (seen.detail, f"{told_undescribed(names)}: {first}{more}")))
    told = msgspec.structs.replace(seen, reason=CLASS_NOT_DESCRIBED, detail=detail, hint=UNDESCRIBED_HINT)
    evidence = (told if each.facet == "layout" else each for each in snapshot.evidence)
    return msgspec.structs.replace(snapshot, evidence=tuple(evidence))


def with_headers(snapshot: Snapshot, reading: FacetReading) -> Snapshot:
    """The snapshot with what public headers declare. Where both tell a place, the debug information is kept."""
    seen = (*(each for each in snapshot.evidence if each.facet != reading.evidence.facet), reading.evidence)
    if reading.evidence.state == "missing":
        return msgspec.structs.replace(snapshot, evidence=seen)
    headers = _with_own_names(reading.headers, snapshot, reading.entries) if reading.headers else None
    return msgspec.structs.replace(
        snapshot,
        entries={**snapshot.entries, reading.evidence.facet: reading.entries},
        evidence=seen,
        locations={**reading.locations, **snapshot.locations},
        provenance=msgspec.structs.replace(snapshot.provenance, headers=headers or msgspec.UNSET),
    )


def _with_own_names(read: HeadersRead, snapshot: Snapshot, declared: Mapping[Name, Variants]) -> HeadersRead:
    """What was read, where other text than the public names no more than the library has and headers do not declare."""
    aside = frozenset(read.aside or ())
    words = {*read.behind, *(word for each in read.untaken for word in each.names)} | aside
    if not words:
        return read
    own = {word for word in words if _is_declared(word, declared)}
    missing = {each.spelling for each in snapshot.entries.get("symbol", {}) if each.kind in EXPORTS} | {
        last_component(each.spelling) for each in snapshot.entries.get("layout", {}) if each.kind in TYPES
    }
    mangled = "\n".join(each for each in missing if is_mangled(each))
    kept = {word for word in words if word in missing or f"{len(word)}{word}" in mangled}
    unread = None if read.aside is None else tuple(word for word in read.aside if word in kept)
    kept -= own
    told = ((each, tuple(name for name in each.names if name in kept)) for each in read.untaken)
    branches = tuple(msgspec.structs.replace(each, names=names) for each, names in told if names)
    behind = tuple(word for word in read.behind if word in kept)
    return msgspec.structs.replace(read, untaken=branches, behind=behind, aside=unread)


def _is_declared(word: str, declared: Mapping[Name, Variants]) -> bool:
    """Whether headers declare an export called so, or define a type."""
    if any(Name(kind, word) in declared for kind in EXPORTS):
        return True
    types = (shape for kind in TYPES for shape in declared.get(Name(kind, word), ()))
    return any(not isinstance(shape, Declared | Opaque) for shape in types)
