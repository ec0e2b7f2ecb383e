"""The archive of a library: an xz-compressed tar file with a JSON snapshot for each release.

Neighbouring releases are nearly the same, so that a further one costs about a kilobyte. The same snapshots give the
same bytes.
"""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from abistore.model.declarations import Name
from abistore.model.snapshot import Snapshot
from abistore.model.snapshot_files import File, Seen, to_json
from abistore.model.structure import without_cycle_collection
from examples.obtain import PROJECT

FOLDER = PROJECT / "tests" / "pairs"
SUFFIX = ".tar.xz"
MEMBER = ".json"

NAMES, BETWEEN, END = b'"names":[', b",\n", b"]}\n"
"""How a snapshot file lays out its declarations: one a line, at its end."""

Row: TypeAlias = tuple[Name, Seen]
_decode = msgspec.json.Decoder(Row).decode


def path_of(library: str) -> Path:
    """Where the snapshots of a library are."""
    return FOLDER / f"{library}{SUFFIX}"


def library_of(path: Path) -> str:
    """The library of an archive."""
    return path.name.removesuffix(SUFFIX)


def read(library: str) -> dict[str, Snapshot]:
    """The snapshots of a library by version; empty where it has no archive."""
    path = path_of(library)
    return unpack(path.read_bytes()) if path.exists() else {}


def pack(snapshots: Mapping[str, Snapshot]) -> bytes:
    """The archive of these snapshots by version, in their order."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for version, snapshot in snapshots.items():
            text = to_json(snapshot)
            member = tarfile.TarInfo(version + MEMBER)  # by default of no user, and of 1970
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def unpack(packed: bytes) -> dict[str, Snapshot]:
    """The snapshots of an archive by version, in its order.

    They share what is said in the same words: a line is read once for all releases.
    """
    rows: dict[bytes, Row] = {}
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:xz") as archive, without_cycle_collection():
        texts = ((member.name, archive.extractfile(member)) for member in archive)
        return {name.removesuffix(MEMBER): _snapshot(text.read(), rows) for name, text in texts if text}


def _snapshot(text: bytes, known: dict[bytes, Row]) -> Snapshot:
    """A snapshot that :func:`pack` wrote, which needs none of the checks that one from elsewhere does."""
    head, _, names = text.partition(NAMES)
    rows = []
    for line in filter(None, names.removesuffix(END).split(BETWEEN)):
        row = known.get(line)
        if row is None:
            row = known[line] = _decode(line)
        rows.append(row)
    file = msgspec.json.decode(head + NAMES + END, type=File)
    return Snapshot(
        library=file.library,
        version=file.release,
        target=file.target,
        entries={facet: {name: shapes for name, seen in rows if (shapes := seen.of(facet))} for facet in file.facets},
        evidence=file.evidence,
        provenance=file.provenance,
        locations={name: seen.at for name, seen in rows if seen.at is not None},
    )
