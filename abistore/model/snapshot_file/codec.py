"""Snapshots as JSON: versioned, deterministic, loss-free and small, because everything repeated is said once.

A file is one object. ``names``, ``types`` and ``shapes`` are tables, one row a line; rows mention rows by their number,
types only earlier ones. ``entries`` lists, for each facet, rows of a name's number and its shapes' numbers. Trailing
fields of a row that have their default value are left out. ``digest`` is of all the rest, however it is laid out; files
of older versions have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from abistore.errors import SnapshotError
from abistore.model.budget import fitted, weakened
from abistore.model.digest import digest, sort_variants
from abistore.model.names import FACETS, Facet, Name, by_name
from abistore.model.shapes import (
    Alias,
    AnyShape,
    Declared,
    Enum,
    Foreign,
    Function,
    Import,
    Library,
    Opaque,
    Record,
    Symbol,
    TypeRef,
    Variable,
)
from abistore.model.snapshot import Evidence, Exported, Location, Provenance, Snapshot, Target, Variants
from abistore.model.snapshot_file.sound import check
from abistore.model.snapshot_file.wire import MAX_DEPTH, RowReader, RowWriter, resolve
from abistore.model.words.characters import json_bytes

FORMAT_NAME: Final = "abistore-snapshot"
FORMAT_VERSION: Final = 1

_Read = TypeVar("_Read", bound=msgspec.Struct)

HINT: Final = "write it again with `abistore dump`"
CHANGED: Final = (
    "fetch it again; if it was edited on purpose, take its digest out and write it anew with `abistore dump`"
)

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


class Header(msgspec.Struct):
    """What tells a snapshot from any other JSON, read before all else."""

    format: str = ""
    version: int = 0


class File(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file, as far as its rows are not understood yet."""

    format: str
    version: int
    library: str
    release: str | None
    target: Target
    evidence: tuple[Evidence, ...]
    provenance: Provenance
    names: list[Name]
    types: list[list[Any]]
    shapes: list[list[Any]]
    entries: dict[Facet, list[list[int]]]
    files: list[str]
    locations: list[tuple[int, int, int]]
    exported: Exported | None = None
    digest: str | None = None


# --- writing ------------------------------------------------------------------------------------------------------


class _Numbers(dict[Name, int]):
    """Numbers for names, in the order of first mention."""

    def __missing__(self, name: Name) -> int:
        number = self[name] = len(self)
        return number


class _Writer:
    """The tables of one file while it is written. Numbers are given in the order of first mention."""

    def __init__(self) -> None:
        self.names = _Numbers()
        self.name_number: Callable[[Name], int] = self.names.__getitem__
        self.types: list[list[Any]] = []
        self.shapes: list[list[Any]] = []
        self._known_types: dict[TypeRef, int] = {}
        self._known_shapes: dict[AnyShape, int] = {}
        self._seen_types: dict[int, int] = {}
        self._seen_shapes: dict[int, int] = {}
        self._depth = 0
        self._rows = RowWriter(self.type_number, self.name_number)

    def type_number(self, reference: TypeRef) -> int:
        """Identity is asked first: it is several times cheaper than hashing a nested type."""
        number = self._seen_types.get(id(reference))
        if number is None:
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise SnapshotError("a type nests deeper than a snapshot can hold", f"the limit is {MAX_DEPTH} levels")
            number = self._known_types.get(reference)
            if number is None:
                row = self._rows.row(reference)
                number = self._known_types[reference] = len(self.types)
                self.types.append(row)
            self._seen_types[id(reference)] = number
            self._depth -= 1
        return number

    def shape_number(self, shape: AnyShape) -> int:
        number = self._seen_shapes.get(id(shape))
        if number is None:
            number = self._known_shapes.get(shape)
            if number is None:
                row = self._rows.row(shape)
                number = self._known_shapes[shape] = len(self.shapes)
                self.shapes.append(row)
            self._seen_shapes[id(shape)] = number
        return number


def to_json(snapshot: Snapshot) -> bytes:
    """``snapshot`` as UTF-8 JSON; equal snapshots give equal bytes.

    Raises :class:`SnapshotError` where a type nests deeper than :data:`MAX_DEPTH`.
    """
    writer = _Writer()
    encode = msgspec.json.Encoder(order="deterministic").encode
    entries = {facet: _entry_rows(writer, snapshot, facet) for facet in FACETS if facet in snapshot.entries}
    files = {file: number for number, file in enumerate(sorted({place.file for place in snapshot.locations.values()}))}
    locations = [
        (writer.name_number(name), files[place.file], place.line)
        for name, place in sorted(snapshot.locations.items(), key=by_name)
    ]
    parts = [
        ("library", encode(snapshot.library)),
        ("release", encode(snapshot.version)),
        ("target", encode(snapshot.target)),
        ("evidence", encode(snapshot.evidence)),
        ("provenance", encode(snapshot.provenance)),
        *([("exported", encode(snapshot.exported))] if snapshot.exported else []),
        ("entries", b"{%b}" % b",\n".join(b'"%b":%b' % (facet.encode(), rows) for facet, rows in entries.items())),
        ("locations", _lines(locations)),
        ("files", _lines(files)),
        ("names", _lines(writer.names)),
        ("types", _lines(writer.types)),
        ("shapes", _lines(writer.shapes)),
    ]
    said = digest(b"".join(value.replace(b"\n", b"") for _, value in parts)).hex()
    head = [("format", encode(FORMAT_NAME)), ("version", encode(FORMAT_VERSION)), ("digest", encode(said))]
    return json_bytes(b"{%b}\n" % b",\n".join(b'"%b":%b' % (key.encode(), value) for key, value in (*head, *parts)))


def _entry_rows(writer: _Writer, snapshot: Snapshot, facet: Facet) -> bytes:
    return _lines(
        [writer.name_number(name), *map(writer.shape_number, shapes)]
        for name, shapes in sorted(snapshot.entries[facet].items(), key=by_name)
    )


def _lines(rows: Iterable[object]) -> bytes:
    """An array with one row a line. In JSON no string holds a line feed as such."""
    return b"[%b]" % msgspec.json.Encoder().encode_lines(rows)[:-1].replace(b"\n", b",\n")


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
    if file.digest is not None and file.digest != _digest(file):
        raise SnapshotError("the snapshot was changed since it was written: its digest is of something else", CHANGED)
    return file


def _digest(file: File) -> str:
    """The digest of what a file says, as :func:`to_json` would lay it out."""
    encode = msgspec.json.Encoder(order="deterministic").encode
    entries = [b'"%b":%b' % (facet.encode(), encode(file.entries[facet])) for facet in FACETS if facet in file.entries]
    before = (file.library, file.release, file.target, file.evidence, file.provenance)
    after = (file.locations, file.files, file.names, file.types, file.shapes)
    parts = [*map(encode, before), b"{%b}" % b",".join(entries), *map(encode, after)]
    if file.exported:
        parts.insert(len(before), encode(file.exported))
    return digest(b"".join(parts)).hex()


def _snapshot(file: File) -> Snapshot:
    _check_tables(file)
    shapes, refused = _shapes(file)
    told: dict[Facet, int] = {}
    entries: dict[Facet, Mapping[Name, Variants]] = {}
    for facet in FACETS:
        if facet in file.entries:
            found = {resolve(file.names, row[0]): _shapes_of(row, shapes) for row in map(_checked, file.entries[facet])}
            fitting, more = (found, 0) if facet == "symbol" else fitted(found)
            entries[facet] = {name: _variants(facet, name, each) for name, each in fitting.items()}
            told[facet] = refused + more if facet != "symbol" else 0
    locations = {resolve(file.names, name): _location(file, place, line) for name, place, line in file.locations}
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


def _location(file: File, place: int, line: int) -> Location:
    found = Location(resolve(file.files, place), line)
    check(found, f"a location in {found.file[:60]}")
    return found


def _shapes(file: File) -> tuple[list[AnyShape], int]:
    """The table of shapes, and how many types were too large for them."""
    reader = RowReader(file.names)
    for number, row in enumerate(file.types):
        _placed(f"row {number} of types", reader.add_type, row)
    shapes = [_placed(f"row {number} of shapes", reader.shape, row) for number, row in enumerate(file.shapes)]
    return shapes, reader.budget.refused


def _placed(place: str, read: Callable[[list[Any]], _Read], row: list[Any]) -> _Read:
    """What a row says. Raises :class:`SnapshotError`, which names the row, where that is nothing."""
    try:
        found = read(row)
    except (msgspec.MsgspecError, SnapshotError) as error:
        raise SnapshotError(f"malformed snapshot: {place}: {error}") from error
    check(found, place)
    return found


def _check_tables(file: File) -> None:
    """Raise :class:`SnapshotError` where a name is none, or a number is one that no store holds."""
    for number, name in enumerate(file.names):
        if not name.spelling and name.kind != "library":
            raise SnapshotError(f"malformed snapshot: row {number} of names: {name.kind} without a name")
    for seen in file.evidence:
        check(seen, f"evidence of {seen.facet}")
    check(file.provenance, "provenance")


def _checked(row: list[int]) -> list[int]:
    if len(row) < 2:
        raise SnapshotError(f"malformed snapshot: an entry without a shape: {row}")
    return row


def _shapes_of(row: list[int], shapes: Sequence[AnyShape]) -> tuple[AnyShape, ...]:
    return tuple(resolve(shapes, number) for number in row[1:])


def _variants(facet: Facet, name: Name, shapes: Sequence[AnyShape]) -> Variants:
    variants = sort_variants(shapes)
    for shape in variants:
        if (facet == "symbol", name.kind, type(shape)) not in ALLOWED:
            raise SnapshotError(f"malformed snapshot: a {type(shape).__name__} as the {facet} of {name}")
    return variants
