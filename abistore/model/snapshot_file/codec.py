"""Snapshots as JSON: versioned, deterministic, loss-free, and with one declaration a line.

A file is one object: see :class:`abistore.model.snapshot_file.document.File`. Shapes stand in it in the canonical JSON
that digests are of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final

import msgspec

from abistore.errors import SnapshotError
from abistore.model.budget import TypeBudget, weakened
from abistore.model.declared import Declared
from abistore.model.digest import AT_ONCE, begun, digest, encode, sort_variants
from abistore.model.names import FACETS, Facet, Name, by_name
from abistore.model.shapes import Alias, Enum, Foreign, Function, Opaque, Record, Variable
from abistore.model.snapshot import Snapshot, Variants
from abistore.model.snapshot_file.document import FORMAT_NAME, FORMAT_VERSION, File, Header, Seen
from abistore.model.snapshot_file.sound import Sound
from abistore.model.tables import Import, Library, Symbol
from abistore.model.words.characters import json_bytes

HINT: Final = "write it again with `abistore dump`"
CHANGED: Final = (
    "fetch it again; if it was edited on purpose, take its digest out and write it anew with `abistore dump`"
)

SPELLED_OUT: Final = 1 << 10
"""Letters of a shape beyond which a type in it may be too large, or too deep."""

ALLOWED: Final[frozenset[tuple[bool, str, type]]] = frozenset(
    [
        *((True, kind, Symbol) for kind in ("function", "variable")),
        (True, "import", Import),
        (True, "library", Library),
        (False, "function", Function),
        (False, "variable", Variable),
        *((False, "record", shape) for shape in (Record, Opaque, Foreign)),
        *((False, "enum", shape) for shape in (Enum, Opaque, Foreign)),
        *((False, "alias", shape) for shape in (Alias, Opaque, Foreign)),
        *((False, kind, Declared) for kind in ("function", "variable", "record", "enum", "alias")),
    ]
)
"""Which shapes an entry may hold: (in the symbol facet, kind of its name, class of the shape)."""

_LINES: Final = msgspec.json.Encoder(order="deterministic").encode_lines

# --- writing ------------------------------------------------------------------------------------------------------


def to_json(snapshot: Snapshot) -> bytes:
    """``snapshot`` as UTF-8 JSON; equal snapshots give equal bytes.

    Raises :class:`SnapshotError` where a type nests deeper than can be written.
    """
    try:
        parts = dict(_parts(snapshot))
    except RecursionError as error:
        raise SnapshotError("a type nests deeper than a snapshot can hold", "give it a name") from error
    state = begun(b"")
    for piece in chain.from_iterable(parts.values()):
        state.update(piece.replace(b"\n", b""))
    head = {"format": FORMAT_NAME, "version": FORMAT_VERSION, "digest": state.hexdigest()}
    laid = [b"{"]
    for key, pieces in ({key: [encode(value)] for key, value in head.items()} | parts).items():
        laid += [b'"%b":' % key.encode(), *pieces, b",\n"]
    laid[-1] = b"}\n"
    return json_bytes(b"".join(laid))


def _parts(snapshot: Snapshot) -> Iterable[tuple[str, list[bytes]]]:
    """What the digest is of, without line feeds, each in pieces as it is laid out."""
    yield "library", [encode(snapshot.library)]
    yield "release", [encode(snapshot.version)]
    yield "target", [encode(snapshot.target)]
    yield "evidence", [encode(snapshot.evidence)]
    yield "provenance", [encode(snapshot.provenance)]
    if snapshot.exported:
        yield "exported", [encode(snapshot.exported)]
    yield "facets", [encode([facet for facet in FACETS if facet in snapshot.entries])]
    yield "names", [b"[", *_names(snapshot), b"]"]


def _names(snapshot: Snapshot) -> Iterator[bytes]:
    """The rows, some at a time: the bytes of large libraries need not be held twice."""
    rows, between = _rows(snapshot), b""
    while some := list(islice(rows, AT_ONCE)):
        yield between + _LINES(some)[:-1].replace(b"\n", b",\n")  # in JSON no string holds a line feed as such
        between = b",\n"


def _rows(snapshot: Snapshot) -> Iterator[tuple[Name, Seen]]:
    """Each name with what was seen of it, sorted."""
    symbols, layout, source = (snapshot.entries.get(facet, {}) for facet in FACETS)
    places = snapshot.locations
    for name, _ in sorted(dict.fromkeys([*symbols, *layout, *source, *places]).items(), key=by_name):
        yield name, Seen(symbols.get(name, ()), layout.get(name, ()), source.get(name, ()), places.get(name))


# --- reading ------------------------------------------------------------------------------------------------------


def from_json(data: bytes) -> Snapshot:
    """The snapshot that :func:`to_json` wrote.

    Raises :class:`SnapshotError` for anything else: other JSON, a truncated file, a newer format.
    """
    try:
        return _snapshot(_file(data))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SnapshotError(f"malformed snapshot: {error}", HINT) from error
    except RecursionError as error:
        raise SnapshotError("malformed snapshot: nested too deeply", HINT) from error
    except SnapshotError as error:
        error.hint = error.hint or HINT
        raise


def _file(data: bytes) -> File:
    header = msgspec.json.decode(data, type=Header)
    if header.format != FORMAT_NAME:
        raise SnapshotError("not an abistore snapshot", "snapshots are written with `abistore dump`")
    if header.version != FORMAT_VERSION:
        raise SnapshotError(
            f"snapshot format {header.version} is not known here (this abistore reads {FORMAT_VERSION})",
            "upgrade abistore, or write the snapshot again with this version",
        )
    file = msgspec.json.decode(data, type=File)
    if file.digest is not None and file.digest != digest(file.said()).hex():
        raise SnapshotError("the snapshot was changed since it was written: its digest is of something else", CHANGED)
    return file


def _snapshot(file: File) -> Snapshot:
    sound = Sound()
    for seen in file.evidence:
        sound.check(seen, f"evidence of {seen.facet}")
    sound.check(file.provenance, "provenance")
    budgets = {facet: TypeBudget() for facet in FACETS if facet in file.facets}
    entries: dict[Facet, dict[Name, Variants]] = {facet: {} for facet in budgets}
    for name, said in file.names:
        for facet in FACETS:
            if shapes := said.of(facet):
                if facet not in budgets:
                    raise SnapshotError(f"malformed snapshot: the {facet} of {name}, although {facet} was not observed")
                entries[facet][name] = _variants(facet, name, shapes, (sound, budgets[facet]))
    locations = {name: said.at for name, said in file.names if said.at is not None}
    for name, place in locations.items():
        sound.check(place, f"the location of {name}")
    told = {facet: budget.refused for facet, budget in budgets.items()}
    return Snapshot(
        library=file.library,
        version=file.release,
        target=file.target,
        entries=entries,
        evidence=tuple(weakened(seen, told.get(seen.facet, 0)) for seen in file.evidence),
        provenance=file.provenance,
        locations=locations,
        exported=file.exported,
    )


def _variants(facet: Facet, name: Name, shapes: Variants, defences: tuple[Sound, TypeBudget]) -> Variants:
    """The shapes of an entry, as far as they can be spelled out. Raises :class:`SnapshotError`, which names it."""
    sound, budget = defences
    if not name.spelling and name.kind != "library":
        raise SnapshotError(f"malformed snapshot: a {name.kind} without a name in the {facet} facet")
    fitting = []
    for shape in shapes:
        if (facet == "symbol", name.kind, type(shape)) not in ALLOWED:
            raise SnapshotError(f"malformed snapshot: a {type(shape).__name__} as the {facet} of {name}")
        sound.check(shape, f"the {facet} of {name}")
        fitting.append(budget.shape(shape) if len(encode(shape)) > SPELLED_OUT else shape)
    return sort_variants(fitting)
