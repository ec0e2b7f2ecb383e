"""One digest for shapes and snapshots: the same facts give the same bytes, whoever read them, in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Final, TypeAlias

import msgspec

from abistore.model.blake2 import blake2b
from abistore.model.names import FACETS, Name, by_name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Snapshot, Variants

FORMAT = b"abistore-1"
"""Mixed into every digest, of names and of the audit's rows too."""

SIZE = 16
"""Digest length in bytes."""

AT_ONCE: Final = 1 << 10
"""So many names are encoded together: the bytes of large libraries need not be held all at once."""

Rows: TypeAlias = Sequence[tuple[Name, Variants]]

encode = msgspec.json.Encoder(order="deterministic").encode
"""A shape's canonical bytes: UTF-8 JSON objects without white space, tag first, fields with their default left out."""


def digest(data: bytes) -> bytes:
    """The 16-byte BLAKE2b of ``data`` under this format."""
    return begun(data).digest()


def name_digest(kind: str, spelling: str) -> bytes:
    """The digest of a name, by which a store finds it: spellings may be longer than an index allows."""
    return digest(encode((kind, spelling)))


def sort_variants(shapes: Iterable[AnyShape]) -> Variants:
    """Distinct ``shapes`` in the order of their canonical bytes."""
    found = tuple(shapes)
    return found if len(found) < 2 else tuple(sorted(set(found), key=encode))


def snapshot_digest(snapshot: Snapshot, canonical: Callable[[AnyShape], bytes] = encode) -> bytes:
    """The digest of what a snapshot says: its target and every (facet, name, shapes), and no provenance.

    ``canonical`` gives a shape's canonical bytes; a caller that needs these as well can keep them.
    """
    encoded = _encoded if canonical is encode else partial(_joined, canonical)
    state = begun(encode(snapshot.target))
    for facet in FACETS:
        if facet in snapshot.entries:
            state.update(b'["%b",[' % facet.encode())
            rows = sorted(snapshot.entries[facet].items(), key=by_name)
            for start in range(0, len(rows), AT_ONCE):
                state.update(b"," if start else b"")
                state.update(encoded(rows[start : start + AT_ONCE]))
            state.update(b"]]")
    return state.digest()


def _encoded(rows: Rows) -> bytes:
    """Names with their shapes, as a list without its brackets. All in one go is several times as fast as one by one."""
    return encode(rows)[1:-1]


def _joined(canonical: Callable[[AnyShape], bytes], rows: Rows) -> bytes:
    """The same, of bytes that a caller has for each shape."""
    return b",".join([b"[%b,[%b]]" % (encode(name), b",".join(map(canonical, shapes))) for name, shapes in rows])


def begun(data: bytes) -> blake2b:
    """A digest under this format that has seen ``data``, to go on with."""
    state = _state().copy()  # twice as fast as a new one
    state.update(data)
    return state


@cache
def _state() -> blake2b:
    return blake2b(digest_size=SIZE, person=FORMAT)
