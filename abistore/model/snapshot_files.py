"""Snapshots as JSON files: written, read, and checked where they come from outside.

Checks of snapshots from outside: no empty qualifier, negative size, or number too large for a database.

What passes them can be spelled, drawn, compared, stored and judged.

A file is one object: see :class:`abistore.model.snapshot_files.File`. Shapes stand in it in the canonical JSON
that digests are of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import Any, Final

import msgspec

from abistore.errors import SnapshotError
from abistore.model import shapes
from abistore.model.declarations import FACETS, TYPES, Declared, Facet, Name, by_name
from abistore.model.shapes import Alias, Enum, Foreign, Function, Import, Library, Opaque, Record, Symbol, Variable
from abistore.model.snapshot import (
    AT_ONCE,
    Evidence,
    Exported,
    Location,
    Provenance,
    Snapshot,
    Target,
    Variants,
    begun,
    digest,
    encode,
    sort_variants,
)
from abistore.model.structure import TypeBudget, held, is_struct, weakened
from abistore.model.words import json_bytes

FORMAT_NAME: Final = "abistore-snapshot"
FORMAT_VERSION: Final = 2


class Header(msgspec.Struct):
    """The fields that mark a file as a snapshot. They are read first."""

    format: str = ""
    version: int = 0


class Seen(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What was seen of one name: its shapes in each facet, and where it is declared."""

    symbol: Variants = ()
    layout: Variants = ()
    source: Variants = ()
    at: Location | None = None

    def of(self, facet: Facet) -> Variants:
        """The shapes that ``facet`` saw."""
        return self.symbol if facet == "symbol" else self.layout if facet == "layout" else self.source


class File(msgspec.Struct, forbid_unknown_fields=True):
    """A snapshot as it is written: one object, in which each name comes once.

    ``release`` is the version label of the library. ``exported`` is what a store said about the release. ``facets`` are
    those that were observed, whatever they saw. ``digest`` is of all the rest: 16 bytes of BLAKE2b in hexadecimal.
    """

    format: str
    version: int
    library: str
    release: str | None
    target: Target
    evidence: tuple[Evidence, ...]
    provenance: Provenance
    facets: tuple[Facet, ...]
    names: list[tuple[Name, Seen]]
    exported: Exported | None = None
    digest: str | None = None

    def said(self) -> bytes:
        """What the digest is of, however the file is laid out."""
        exported = [self.exported] if self.exported else []
        before = (self.library, self.release, self.target, self.evidence, self.provenance, *exported)
        return b"".join(map(encode, (*before, self.facets, self.names)))


LARGEST: Final = 1 << 63
"""What counts, sizes and lines stay below: databases hold no more."""

WIDEST: Final = 1 << 70
"""What numbers of a declaration stay below: 64 bits, told in bits."""

QUALIFIERS: Final = frozenset({"atomic", "const", "restrict", "volatile", "&", "&&"})

SIGNED: Final = frozenset({(shapes.Enumerator, "value")})
"""Numbers of any sign and width."""


class Sound:
    """Checks structs and all that they hold; equal types are checked once."""

    def __init__(self) -> None:
        self._known: set[shapes.Node] = set()

    def check(self, struct: msgspec.Struct, place: str) -> None:
        """Raise :class:`SnapshotError` where ``struct``, which stands at ``place``, says what nothing can say."""
        try:
            self._check(struct)
        except _Unsound as error:
            raise SnapshotError(f"malformed snapshot: {place}: {error}") from error

    def _check(self, struct: msgspec.Struct) -> None:
        if isinstance(struct, shapes.Node):
            if struct in self._known:
                return
            self._known.add(struct)
        for field, form in _asked(type(struct)):
            value = getattr(struct, field)
            if value is None or value == () or value is msgspec.UNSET:
                if form == "qualifiers" and isinstance(struct, shapes.Qualified):
                    raise _Unsound(f"{field} contains 'nothing', which is not a qualifier")
                continue
            for one in value if isinstance(value, tuple) else (value,):
                if form == "part":
                    self._part(one, field)
                elif why := _why_not(struct, form, one):
                    raise _Unsound(f"{field} {why}")

    def _part(self, struct: msgspec.Struct, field: str) -> None:
        try:
            self._check(struct)
        except _Unsound as error:
            raise _Unsound(f"{field}: {error}") from None


class _Unsound(Exception):
    """What is wrong, and in which field."""


def _why_not(struct: msgspec.Struct, form: str, value: Any) -> str:
    """Why a field cannot have this value; empty where it can."""
    match form:
        case "number":
            most = LARGEST if isinstance(struct, Evidence | Location | Provenance) else WIDEST
            return "" if 0 <= value < most else f"is not a number from 0 to {most - 1}: {str(value)[:60]}"
        case "qualifiers":
            return "" if value in QUALIFIERS else f"contains {value[:60]!r}, which is not a qualifier"
        case "type name":
            return "" if value.kind in TYPES and value.spelling else f"is {str(value)[:60]!r}, which is not a type"
    return ""


@cache
def _asked(struct: type[msgspec.Struct]) -> tuple[tuple[str, str], ...]:
    found = ((field, _form(struct, field, classes)) for field, classes in held(struct).items())
    return tuple((field, form) for field, form in found if form)


def _form(struct: type[msgspec.Struct], field: str, classes: tuple[Any, ...]) -> str:
    if field == "qualifiers":
        return "qualifiers"
    if int in classes:
        return "" if (struct, field) in SIGNED else "number"
    if Name in classes:
        return "type name"
    return "part" if any(map(is_struct, classes)) else ""


HINT: Final = "write it again with `abistore export`"
CHANGED: Final = (
    "download it again; if it was edited on purpose, remove its digest and write it again with `abistore export`"
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
        raise SnapshotError("not an abistore snapshot", "snapshots are written with `abistore export`")
    if header.version != FORMAT_VERSION:
        raise SnapshotError(
            f"snapshot format {header.version} is not supported (this abistore reads {FORMAT_VERSION})",
            "upgrade abistore, or write the snapshot again with this version",
        )
    file = msgspec.json.decode(data, type=File)
    if file.digest is not None and file.digest != digest(file.said()).hex():
        raise SnapshotError("the snapshot was changed after it was written: its digest does not match", CHANGED)
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
