"""Packing a snapshot's source locations into one small value: lines move in every release, so rows would not pay."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from itertools import accumulate

import msgspec

from abistore.model.names import Name
from abistore.model.snapshot import Location


class PackedLocations(msgspec.Struct, frozen=True, array_like=True):
    """The columns of the locations, in the order of name ids; ``steps`` are the differences of these."""

    files: list[str]
    steps: list[int]
    file: list[int]
    line: list[int]


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(PackedLocations).decode


def pack(locations: Mapping[Name, Location], identifiers: Mapping[Name, int]) -> bytes:
    """``locations`` as bytes; every name must have one of the ``identifiers``."""
    rows = sorted((identifiers[name], location.file, location.line) for name, location in locations.items())
    files = sorted({row[1] for row in rows})
    index = {file: position for position, file in enumerate(files)}
    steps = [row[0] - previous for row, previous in zip(rows, [0, *(row[0] for row in rows)], strict=False)]
    return zlib.compress(
        _encode(PackedLocations(files, steps, [index[row[1]] for row in rows], [row[2] for row in rows])), 6
    )


def columns(body: bytes) -> PackedLocations:
    """The columns in ``body``."""
    return _decode(zlib.decompress(body))


def unpack(body: bytes) -> dict[int, Location]:
    """The locations in ``body``, by name id."""
    packed = columns(body)
    places = zip(accumulate(packed.steps), packed.file, packed.line, strict=True)
    return {identifier: Location(packed.files[file], line) for identifier, file, line in places}


class StoredLocations(Mapping[Name, Location]):
    """Locations, each made when it is looked at; ``rows`` tells where each name's are in the columns."""

    def __init__(self, packed: PackedLocations, rows: Mapping[Name, int]) -> None:
        self._packed = packed
        self._rows = rows

    def __getitem__(self, name: Name) -> Location:
        row = self._rows[name]
        return Location(self._packed.files[self._packed.file[row]], self._packed.line[row])

    def __iter__(self) -> Iterator[Name]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
