"""Headers of a package that belong to another one of its libraries, as the exports tell that they declare."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from typing import Final

import msgspec

from abistore.extract.facets import FacetReading
from abistore.model.declared import NOT_EXPORTED, Declared
from abistore.model.header_modes import HeadersMode
from abistore.model.names import EXPORTS, Name
from abistore.model.references import references
from abistore.model.shapes import Function
from abistore.model.snapshot import HEADERS_OF_OTHERS, HeadersRead, Variants
from abistore.model.words.counting import counted

MOST_NAMED: Final = 3
"""How many headers the evidence names."""


def without_others(reading: FacetReading, exports: Collection[Name], words: Set[str]) -> FacetReading:
    """The reading of a package for several libraries without what belongs to others than the one with ``exports``.

    ``words`` has one of each header that declares an export. What is declared stays with a library where its own
    headers include it, or its declarations use it.
    """
    read = reading.headers
    if read is None or not (reading.evidence.declares_all or _parsed_own(reading, read, exports, words)):
        return reading
    others = headers_of_others(reading, exports, {each.file: each.includes for each in read.outlines})
    if not others:
        return reading
    left = _left_out(reading, others)
    names = sorted(others)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    detail = f"{counted(len(names), 'header')} of other libraries of the package: {', '.join(names[:MOST_NAMED])}{more}"
    evidence = reading.evidence
    if evidence.state == "full":
        evidence = msgspec.structs.replace(evidence, reason=HEADERS_OF_OTHERS, detail=detail)
    return msgspec.structs.replace(
        reading,
        evidence=evidence,
        entries={name: shapes for name, shapes in reading.entries.items() if name not in left},
        locations={name: place for name, place in reading.locations.items() if name not in left},
        headers=_without(read, left, tuple(names)),
    )


def _parsed_own(reading: FacetReading, read: HeadersRead, exports: Collection[Name], words: Set[str]) -> bool:
    """Whether no header that did not parse declares an export."""
    if all(name in reading.entries for name in exports):
        return True
    return bool(read.set_aside) and read.aside is not None and words.isdisjoint(read.aside)


def headers_of_others(
    reading: FacetReading, exports: Collection[Name], includes: Mapping[str, Iterable[str]]
) -> frozenset[str]:
    """The headers of functions and variables that this library does not export, and what only these lead to or use.

    A header without any, which none of these includes and that includes none of them, may be of every library.
    """
    own, foreign, files = set[str](), set[str](), set[str]()
    for name, place in reading.locations.items():
        files.add(place.file)
        if name in exports:
            own.add(place.file)
        elif _needs_export(name, reading.entries.get(name, ())):
            foreign.add(place.file)
    foreign -= own
    if not own or not foreign:
        return frozenset()
    behind = {file: _reached(file, includes) for file in files.union(includes, own, foreign)}
    kept = set[str]().union(*(behind[file] for file in own))
    of_foreign = set[str]().union(*(behind[file] for file in foreign))
    for file in behind.keys() - kept - foreign:
        if not behind[file].isdisjoint(own) or (file not in of_foreign and behind[file].isdisjoint(foreign)):
            kept |= behind[file]
    return frozenset(behind.keys() - kept)


def _needs_export(name: Name, shapes: Variants) -> bool:
    """Whether programs can use a function or variable only where a library exports it."""
    if name.kind not in EXPORTS:
        return False
    traits = [trait for shape in shapes if isinstance(shape, Declared) for trait in shape.traits]
    methods = (shape.method for shape in shapes if isinstance(shape, Function) and shape.method is not None)
    left_out = any(each.deleted or each.virtual == "pure" or each.access == "private" for each in methods)
    return not left_out and NOT_EXPORTED.isdisjoint(traits)


def _reached(file: str, includes: Mapping[str, Iterable[str]]) -> Set[str]:
    found, pending = {file}, [file]
    while pending:
        more = set(includes.get(pending.pop(), ())) - found
        found |= more
        pending += more
    return found


def _left_out(reading: FacetReading, others: Set[str]) -> Set[Name]:
    """What stands in headers of others and nothing of the library uses."""
    left = {name for name, place in reading.locations.items() if place.file in others}
    pending = [name for name in reading.entries if name in reading.locations and name not in left]
    seen = set(pending)
    while pending:
        name = pending.pop()
        used = {each for shape in reading.entries.get(name, ()) for each, _ in references(shape, name)} - seen
        seen |= used
        pending += used
    return left - seen


def _without(read: HeadersRead, left: Set[Name], others: tuple[str, ...]) -> HeadersRead:
    modes = (
        HeadersMode(each.name, tuple(entry for entry in each.entries if entry.name not in left), each.failure)
        for each in read.modes
    )
    return msgspec.structs.replace(
        read, others=others, modes=tuple(each for each in modes if each.entries or each.failure)
    )
