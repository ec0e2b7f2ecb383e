"""Checksums that tell damage where rows are read.

A row has a checksum of what it says. What it belongs to has the sum of these, which tells whether a row is missing: a
line has that of its snapshots, a library of its lines, the root of the libraries. A sum is kept by adding the
difference, so that a change costs what it changes, and two writers need not know of each other.
"""

from __future__ import annotations

from abistore.model.digest import digest, encode

MASK = (1 << 40) - 1
"""Checksums have 40 bits: eight million of them have a sum that a database's integer holds."""

_LINE, _FACET, _FIRST, _LAST = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93
_WORD = (1 << 64) - 1


def checksum(*values: object) -> int:
    """The checksum of a row that says ``values``."""
    return of_bytes(encode(values))


def of_bytes(data: bytes) -> int:
    """The checksum of ``data``."""
    return int.from_bytes(digest(data)[:5], "big")


def key(digest: bytes) -> int:
    """A digest as the number that :func:`member` and :func:`entry` take."""
    return int.from_bytes(digest[:8], "big")


def member(facet: int, name: int, shape: int) -> int:
    """The checksum of one shape of a name in one facet of a snapshot: ``name`` and ``shape`` are keys of digests.

    A snapshot has thousands: a product mixes two digests as well as a third one would, in a tenth of the time.
    """
    return ((name + facet) * shape >> 44) & MASK


def entry(line: int, facet: int, shape: int, first: int, last: int) -> int:
    """The checksum of an entry of a name; ``shape`` is the key of its digest."""
    place = (line * _LINE + facet * _FACET + first * _FIRST + last * _LAST) & _WORD | 1
    return (shape * place >> 44) & MASK
