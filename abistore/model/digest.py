"""One digest for shapes and snapshots: the same facts give the same bytes, whoever read them, in whatever order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from abistore.model.names import FACETS, by_name
from abistore.model.shapes import AnyShape
from abistore.model.snapshot import Snapshot, Variants

if TYPE_CHECKING:
    from hashlib import blake2b

FORMAT = b"abistore-1"
"""Mixed into every digest, of names and of the audit's rows too."""

SIZE = 16
"""Digest length in bytes."""

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
    state = begun(encode(snapshot.target))
    update = state.update
    for facet in FACETS:
        if facet in snapshot.entries:
            update(b'["%b",[' % facet.encode())
            begin = b"["
            for name, variants in sorted(snapshot.entries[facet].items(), key=by_name):
                update(begin)
                update(encode(name))
                begin = b",["
                for shape in variants:
                    update(begin)
                    update(canonical(shape))
                    begin = b","
                update(b"]]")
                begin = b",["
            update(b"]]")
    return state.digest()


def begun(data: bytes) -> blake2b:
    """A digest under this format that has seen ``data``, to go on with."""
    state = _state().copy()  # twice as fast as a new one
    state.update(data)
    return state


@cache
def _state() -> blake2b:
    from hashlib import blake2b  # loads OpenSSL, which writing a snapshot does not need

    return blake2b(digest_size=SIZE, person=FORMAT)
