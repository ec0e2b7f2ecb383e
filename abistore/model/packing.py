"""Snapshots packed for another process of this program, which stores them without decoding a shape.

The digests of names, shapes and the whole are packed, too: whoever stores a snapshot need not encode it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

import msgspec

from abistore.errors import SnapshotError
from abistore.model.declarations import FACETS, Facet, Name, by_name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import (
    SIZE,
    Evidence,
    Exported,
    Location,
    Provenance,
    Snapshot,
    Target,
    Variants,
    decoder,
    digest,
    encode,
    name_digest,
    snapshot_digest,
)

_decode = decoder(cast("type[AnyShape]", AnyShape))


class _Facet(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The names of a facet by their numbers, how many shapes each has, and the numbers of these one after the other."""

    facet: Facet
    names: list[int]
    counts: list[int]
    shapes: list[int]


class _Places(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where names are declared, by the numbers of names and files."""

    files: list[str]
    names: list[int]
    file: list[int]
    line: list[int]


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """A snapshot. ``names`` and ``shapes`` come once each, with their digests one after the other."""

    library: str
    version: str | None
    target: Target
    evidence: tuple[Evidence, ...]
    provenance: Provenance
    exported: Exported | None
    digest: bytes
    names: tuple[Name, ...]
    name_digests: bytes
    shapes: tuple[bytes, ...]
    shape_digests: bytes
    facets: tuple[_Facet, ...]
    places: _Places


def packed(snapshot: Snapshot) -> bytes:
    """A snapshot for :func:`unpacked`."""
    keys: dict[int, int] = {}
    bodies: dict[bytes, int] = {}
    texts: list[bytes] = []

    def canonical(shape: AnyShape) -> bytes:
        """Encode ``shape``, once however many names share it."""
        number = keys.get(id(shape))
        if number is None:
            body = encode(shape)
            number = keys[id(shape)] = bodies.setdefault(body, len(bodies))
            if number == len(texts):
                texts.append(body)
        return texts[number]

    whole = snapshot_digest(snapshot, canonical)
    names: dict[Name, int] = {}
    facets = []
    for facet in FACETS:
        if facet in snapshot.entries:
            rows = sorted(snapshot.entries[facet].items(), key=by_name)
            numbers = [names.setdefault(name, len(names)) for name, _ in rows]
            shapes = [keys[id(shape)] for _, variants in rows for shape in variants]
            facets.append(_Facet(facet, numbers, [len(variants) for _, variants in rows], shapes))
    places = _places(snapshot.locations, names)
    return _encode(
        _Packed(
            *(snapshot.library, snapshot.version, snapshot.target, snapshot.evidence, snapshot.provenance),
            exported=snapshot.exported,
            digest=whole,
            names=tuple(names),
            name_digests=b"".join([name_digest(name.kind, name.spelling) for name in names]),
            shapes=tuple(texts),
            shape_digests=b"".join(map(digest, texts)),
            facets=tuple(facets),
            places=places,
        )
    )


def _places(locations: Mapping[Name, Location], names: dict[Name, int]) -> _Places:
    files: dict[str, int] = {}
    numbers = [names.setdefault(name, len(names)) for name in locations]
    file = [files.setdefault(place.file, len(files)) for place in locations.values()]
    return _Places(list(files), numbers, file, [place.line for place in locations.values()])


_encode = msgspec.msgpack.Encoder().encode
_read: Final = msgspec.msgpack.Decoder(_Packed).decode


def unpacked(data: bytes) -> Snapshot:
    """The snapshot that :func:`packed` packed; its shapes are decoded when they are looked at.

    Nothing is checked but the form: the data comes from this program. Raises :class:`SnapshotError`.
    """
    try:
        found = _read(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SnapshotError(f"malformed snapshot of another process: {error}") from error
    places = found.places
    where = [Location(places.files[file], line) for file, line in zip(places.file, places.line, strict=True)]
    return Snapshot(
        found.library,
        found.version,
        found.target,
        PackedEntries(found),
        found.evidence,
        found.provenance,
        dict(zip([found.names[number] for number in places.names], where, strict=True)),
        found.exported,
    )


class PackedEntries(Mapping[Facet, Mapping[Name, Variants]]):
    """The entries of a snapshot that was packed, with their digests and that of the snapshot."""

    def __init__(self, found: _Packed) -> None:
        self.digest = found.digest
        self.names = dict(zip(found.names, _cut(found.name_digests), strict=True))
        """The digests of names."""
        self.shape_digests: Sequence[bytes] = _cut(found.shape_digests)
        self.bodies = dict(zip(self.shape_digests, found.shapes, strict=True))
        """The canonical encoding of every shape, by its digest."""
        shapes = _Shapes(found.shapes)
        self._facets = {each.facet: PackedFacet(shapes, _held(each, found.names)) for each in found.facets}

    def __getitem__(self, facet: Facet) -> PackedFacet:
        return self._facets[facet]

    def __iter__(self) -> Iterator[Facet]:
        return iter(self._facets)

    def __len__(self) -> int:
        return len(self._facets)


class PackedFacet(Mapping[Name, Variants]):
    """The entries of a facet: ``numbers`` are those of the shapes of each name, sorted by name."""

    def __init__(self, shapes: _Shapes, numbers: Mapping[Name, Sequence[int]]) -> None:
        self._shapes, self.numbers = shapes, numbers

    def __getitem__(self, name: Name) -> Variants:
        return tuple([self._shapes[number] for number in self.numbers[name]])

    def __iter__(self) -> Iterator[Name]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def __contains__(self, name: object) -> bool:
        return name in self.numbers


class _Shapes:
    """Shapes by their numbers, each decoded once."""

    def __init__(self, bodies: Sequence[bytes]) -> None:
        self._bodies = bodies
        self._decoded: dict[int, AnyShape] = {}

    def __getitem__(self, number: int) -> AnyShape:
        found = self._decoded.get(number)
        if found is None:
            found = self._decoded[number] = _decode(self._bodies[number])
        return found


def _held(facet: _Facet, names: Sequence[Name]) -> dict[Name, Sequence[int]]:
    if len(facet.shapes) == len(facet.names):  # nearly every name has one shape
        return {names[name]: (shape,) for name, shape in zip(facet.names, facet.shapes, strict=True)}
    held: dict[Name, Sequence[int]] = {}
    start = 0
    for name, count in zip(facet.names, facet.counts, strict=True):
        held[names[name]] = facet.shapes[start : start + count]
        start += count
    return held


def _cut(digests: bytes) -> list[bytes]:
    return [digests[start : start + SIZE] for start in range(0, len(digests), SIZE)]
